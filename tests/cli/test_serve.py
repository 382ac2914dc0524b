"""``serve`` as a service: its log, its manager, its signals, on real processes and sockets."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
import subprocess
import threading
import time
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blockwire.gateway.access.auth import hash_token
from tests.support.programs import Gateway, call, command, decoded, environment

pytestmark = pytest.mark.timeout(120)

STUBBORN = """trap '' TERM INT
cat > /dev/null
echo working
while :; do sleep 0.1; done
"""


class Errors:
    """What a gateway says on standard error, as it comes."""

    def __init__(self, gateway: Gateway) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        # Taken over: whoever waits for the process reads its standard output alone.
        stream, gateway.process.stderr = gateway.process.stderr, None
        assert stream is not None
        self._stream = stream
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with self._stream:
            for line in self._stream:
                with self._changed:
                    self.lines.append(line.decode().rstrip("\n"))
                    self._changed.notify_all()

    def until(self, text: str) -> str:
        """Return the first line that holds ``text``, once it is there."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(text in x for x in self.lines), 30), (
                f"no {text!r} in {self.lines}"
            )
            return next(line for line in self.lines if text in line)


class Stream:
    """An event stream, read by hand."""

    def __init__(self, port: int, path: str, **headers: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        lines = [
            f"GET {path} HTTP/1.1",
            "Host: 127.0.0.1",
            *(f"{k}: {v}" for k, v in headers.items()),
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.data = b""

    def until(self, text: bytes) -> bytes:
        while text not in self.data:
            piece = self._socket.recv(65_536)
            assert piece, f"it ended without {text!r}: {self.data[-300:]!r}"
            self.data += piece
        return self.data

    def until_over(self) -> None:
        """Return when the answer has ended, or was cut because nobody had read it yet."""
        while not self.data.endswith(b"\r\n0\r\n\r\n"):
            piece = self._socket.recv(65_536)
            if not piece:
                break
            self.data += piece
        self._socket.close()

    def rest(self) -> bytes:
        while piece := self._socket.recv(65_536):
            self.data += piece
        self._socket.close()
        return self.data


def ended(gateway: Gateway, number: int | None = None) -> int:
    """Return the exit status, after a signal if one is given."""
    if number is not None:
        gateway.process.send_signal(number)
    gateway.process.communicate(timeout=60)
    return gateway.process.returncode


def refused(url: str, path: str, **more: Any) -> tuple[int, str, str | None]:
    """Return status, code and ``Retry-After`` of a request that is refused."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(url, path, **more)
    with caught.value as answer:
        code = decoded(answer.read())["error"]["code"]
        return answer.code, code, answer.headers["retry-after"]


def stubborn_engine(folder: Path) -> list[str]:
    (folder / "agent.sh").write_text(STUBBORN, encoding="utf-8")
    (folder / "c.toml").write_text(
        '[engines.x]\nkind = "command"\ncommand = ["sh", "agent.sh"]\nkill_grace_s = 30\n',
        encoding="utf-8",
    )
    return ["--config", "c.toml"]


def is_alive(name: str, folder: Path) -> bool:
    """Whether a process runs whose working directory is ``folder`` and whose line has ``name``."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if (entry / "cwd").resolve() == folder and name.encode() in (
                entry / "cmdline"
            ).read_bytes():
                return True
    return False


# stopping ---------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:operations:stop-graceful")
def test_sigterm_ends_turns_for_their_readers_and_streams_with_their_cursor(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path)
    with Gateway(env, "--engine", "external", cwd=tmp_path) as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        turns = f"/v1/conversations/{made['id']}/turns"
        turn = call(gateway.url, turns, method="POST", body={"content": "Hi"})
        stream = Stream(gateway.port, f"/v1/conversations/{made['id']}/events")
        stream.until(b"event: turn.started")

        status = gateway.stop()
        streamed = stream.rest()
        gateway.restart()
        after = call(gateway.url, f"{turns}/{turn['id']}")
        events = call(
            gateway.url,
            f"/v1/conversations/{made['id']}/events",
            headers={"accept": "application/json"},
        )["items"]
        gateway.stop()

    assert status == 0
    assert b'"code":"turn_interrupted"' in streamed
    assert streamed.endswith(b"0\r\n\r\n"), "the stream ends as HTTP says"
    seqs = [int(line[4:]) for line in streamed.split(b"\n") if line.startswith(b"id: ")]
    assert seqs[-1] == after["seq"] == events[-1]["seq"], "a reader misses nothing"
    assert after["status"] == "interrupted"


@pytest.mark.requirement("gateway:operations:stop-bound")
def test_a_program_that_will_not_end_does_not_hold_up_a_stop(tmp_path: Path) -> None:
    env = environment(tmp_path, BLOCKWIRE_STOP_S_MAX="1")
    with Gateway(env, *stubborn_engine(tmp_path), cwd=tmp_path) as gateway:
        errors = Errors(gateway)
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        turns = f"/v1/conversations/{made['id']}/turns"
        turn = call(gateway.url, turns, method="POST", body={"content": "Hi"})
        waiting = Stream(gateway.port, f"{turns}/{turn['id']}?wait=60")
        stream = Stream(gateway.port, f"/v1/conversations/{made['id']}/events")
        stream.until(b"working")

        # The program has thirty seconds; the test has twenty.
        gateway.process.send_signal(signal.SIGTERM)
        stream.rest()
        answered = waiting.rest()
        gateway.process.wait(timeout=20)
        status = ended(gateway)

    assert b'"status":"interrupted"' in answered or answered.startswith(b"HTTP/1.1 503 ")
    assert status == 0
    assert not is_alive("agent.sh", tmp_path)
    assert not any("Traceback" in line for line in errors.lines)


@pytest.mark.requirement("gateway:operations:stop-hard")
def test_a_second_sigterm_ends_it_at_once_and_leaves_no_program_behind(tmp_path: Path) -> None:
    env = environment(tmp_path)
    with Gateway(env, *stubborn_engine(tmp_path), cwd=tmp_path) as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        path = f"/v1/conversations/{made['id']}"
        turn = call(gateway.url, f"{path}/turns", method="POST", body={"content": "Hi"})
        stream = Stream(gateway.port, f"{path}/events")
        stream.until(b"working")

        gateway.process.send_signal(signal.SIGTERM)
        stream.rest()  # its turns are over, and its program has thirty seconds
        assert is_alive("agent.sh", tmp_path)
        gateway.process.send_signal(signal.SIGTERM)
        gateway.process.wait(timeout=20)
        status = ended(gateway)

        assert status == 128 + signal.SIGTERM
        deadline_s = time.monotonic() + 10
        while is_alive("agent.sh", tmp_path):
            assert time.monotonic() < deadline_s, "a program outlives its gateway"
        gateway.restart()
        assert call(gateway.url, f"{path}/turns/{turn['id']}")["status"] == "interrupted"


def test_ctrl_c_stops_as_sigterm_does_and_says_130(tmp_path: Path) -> None:
    with Gateway(environment(tmp_path), "--store", "memory:", cwd=tmp_path) as gateway:
        gateway.process.send_signal(signal.SIGINT)
        _, errors = gateway.process.communicate(timeout=30)

    assert gateway.process.returncode == 130
    assert b"Traceback" not in errors


@pytest.mark.requirement("gateway:operations:hangup")
def test_a_gateway_whose_terminal_is_gone_stops(tmp_path: Path) -> None:
    near, far = pty.openpty()
    arguments = command("serve", "--port", "0", "--store", "memory:")
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *arguments],
        stdin=far,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    os.close(far)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"listening on ")
        os.close(near)
        _, errors = process.communicate(timeout=30)

    assert process.returncode == 128 + signal.SIGHUP
    assert b"configuration" not in errors


# reloading --------------------------------------------------------------------------------
def token_file(folder: Path, *names: str) -> None:
    path = folder / "tokens.toml"
    path.write_text(
        "".join(
            f'[[tokens]]\nname = "{name}"\nsha256 = "{hash_token(name)}"\n'
            'scopes = ["read", "write", "metrics"]\n'
            for name in names
        ),
        encoding="utf-8",
    )
    path.chmod(0o600)


@pytest.mark.requirement("gateway:operations:reload-told", "gateway:operations:reload-tokens")
def test_sighup_takes_what_may_change_and_says_so(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        'token_file = "tokens.toml"\n[engines.one]\nkind = "external"\n', encoding="utf-8"
    )
    token_file(tmp_path, "ann", "bob")
    with Gateway(environment(tmp_path), "--config", "config.toml", cwd=tmp_path) as gateway:
        errors = Errors(gateway)
        ann, bob = ({"authorization": f"Bearer {name}"} for name in ("ann", "bob"))
        made = call(gateway.url, "/v1/conversations", method="POST", body={}, headers=bob)
        stream = Stream(
            gateway.port, f"/v1/conversations/{made['id']}/events", authorization="Bearer bob"
        )
        stream.until(b"subscription.ready")

        token_file(tmp_path, "ann", "eve")
        config.write_text(
            'token_file = "tokens.toml"\nlog_level = "info"\nport = 1\n'
            '[engines.two]\nkind = "command"\ncommand = ["cat"]\nenv = { KEY = "hunter2-hunter2" }\n',
            encoding="utf-8",
        )
        gateway.process.send_signal(signal.SIGHUP)
        errors.until("token eve: new")
        stream.until_over()

        engines = call(gateway.url, "/v1/capabilities", headers=ann)["engines"]
        assert refused(gateway.url, "/v1/conversations", headers=bob)[:2] == (401, "unauthorized")
        asked = call(
            gateway.url,
            f"/v1/conversations/{made['id']}/turns",
            method="POST",
            body={"content": "Hi"},
            headers=ann,
        )
        errors.until("route=/v1/conversations/{conversation_id}/turns")
        status = gateway.stop()

    told = "\n".join(errors.lines)
    assert engines[0] == "two"
    assert "one" not in engines
    assert asked["engine"] == "two"
    assert "port: 0 -> 1" not in told, "a flag beats the file"
    for sentence in (
        "log_level: warning -> info",
        "engine one: gone",
        "engine two: new",
        "token bob: gone",
        "token eve: new",
    ):
        assert sentence in told
    assert "hunter2" not in told
    assert status == 0


BAD = [
    ("not = [toml", "is not TOML"),
    ("nonsense = 1\n", "there is no setting nonsense"),
    ('log_level = "loud"\n', "log_level is one of"),
    ('[engines.x]\nkind = "command"\n', "engines.x"),
    ('token_file = "gone.toml"\n', "gone.toml"),
    ('trusted_proxies = ["nonsense"]\n', "trusted_proxies"),
]


@pytest.mark.requirement("gateway:operations:reload-bad")
def test_a_configuration_that_is_wrong_changes_nothing(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    good = '[engines.one]\nkind = "external"\n'
    config.write_text(good, encoding="utf-8")
    with Gateway(environment(tmp_path), "--config", "config.toml", cwd=tmp_path) as gateway:
        errors = Errors(gateway)
        before = call(gateway.url, "/v1/capabilities")
        for count, (text, sentence) in enumerate(BAD, 1):
            config.write_text(text, encoding="utf-8")
            gateway.process.send_signal(signal.SIGHUP)
            errors.until(sentence)
            assert sum("was not taken: " in line for line in errors.lines) >= count
            assert call(gateway.url, "/v1/capabilities") == before
        config.write_text(good, encoding="utf-8")
        gateway.process.send_signal(signal.SIGHUP)
        errors.until("nothing has changed")
        assert gateway.stop() == 0


# the log and the manager ------------------------------------------------------------------
def test_a_log_of_json_has_one_object_a_line(tmp_path: Path) -> None:
    arguments = ["--store", "memory:", "--log-format", "json", "--log-level", "info"]
    with Gateway(environment(tmp_path), *arguments, cwd=tmp_path) as gateway:
        errors = Errors(gateway)
        call(gateway.url, "/healthz")
        errors.until('"route":"/healthz"')
        call(gateway.url, "/v1/conversations", method="POST", body={"title": "a title of mine"})
        errors.until('"method":"POST"')
        gateway.stop()

    records = [decoded(line) for line in errors.lines if line.startswith("{")]
    assert {"request"} <= {record["message"] for record in records}
    assert all({"ts", "level", "logger", "message"} <= record.keys() for record in records)
    assert not any("a title of mine" in line for line in errors.lines)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(30)
        yield sock


@pytest.mark.requirement("gateway:operations:notify")
def test_a_service_manager_hears_of_start_reload_stop_and_life(
    tmp_path: Path, manager: socket.socket
) -> None:
    env = environment(tmp_path, NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="500000")
    program = ["--program", "sh -c 'env >&2; echo hi'", "--log-level", "debug"]
    said: list[str] = []

    def until(word: str) -> None:
        while True:
            said.append(manager.recv(4096).decode())
            if word in said[-1]:
                return

    with Gateway(env, "--store", "memory:", *program, cwd=tmp_path) as gateway:
        errors = Errors(gateway)
        until("READY=1")
        until("WATCHDOG=1")
        gateway.process.send_signal(signal.SIGHUP)
        until("RELOADING=1")
        until("READY=1")
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        call(
            gateway.url,
            f"/v1/conversations/{made['id']}/turns",
            method="POST",
            body={"content": "Hi"},
        )
        errors.until("BLOCKWIRE_TURN_ID")
        gateway.process.send_signal(signal.SIGTERM)
        until("STOPPING=1")
        assert ended(gateway) == 0

    assert any(f"STATUS=listening on {gateway.url}" in text for text in said)
    assert not any("NOTIFY_SOCKET" in line for line in errors.lines)


def test_figures_are_served(tmp_path: Path) -> None:
    with Gateway(environment(tmp_path), "--store", "memory:", cwd=tmp_path) as gateway:
        scrape = Stream(gateway.port, "/metrics", connection="close")
        text = scrape.rest()
        assert gateway.stop() == 0

    assert text.startswith(b"HTTP/1.1 200 ")
    assert b"blockwire_build_info" in text
    assert b"process_open_fds" in text
