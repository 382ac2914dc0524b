"""Commands and the gateway at hand: found through the store, lost, moved, stopped."""

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from blockwire.cli import gateways, main
from blockwire.cli.system import SystemClock, armed_faults
from blockwire.errors import LocalProtocolError
from blockwire.stores import StoreLock
from tests.cli.conftest import Run
from tests.support.programs import Gateway, call, environment

pytestmark = pytest.mark.timeout(60)


class Heard(io.TextIOWrapper):
    """Standard output that acts in a thread, once, as soon as a word was written."""

    def __init__(self, word: str, act: Callable[[], None]) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self.text = ""
        self._word = word
        self._act: Callable[[], None] | None = act

    def write(self, text: str) -> int:
        self.text += text
        if self._act is not None and self._word in self.text:
            act, self._act = self._act, None
            threading.Thread(target=act, daemon=True).start()
        return len(text)


@pytest.fixture
def gateway(home: Path) -> Iterator[Gateway]:
    with Gateway(environment(home), "--engine", "external", cwd=home) as running:
        yield running


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def post(gateway: Gateway, *events: dict[str, Any], first_seq: int = 1) -> tuple[str, str]:
    """Post events to the turn that runs; return the ids of conversation and turn."""
    (conversation,) = call(gateway.url, "/v1/conversations")["items"]
    turn_id = conversation["running_turn_id"]
    lines = b"".join(
        _line({**event, "turn_id": turn_id, "producer_seq": seq})
        for seq, event in enumerate(events, first_seq)
    )
    path = f"/v1/conversations/{conversation['id']}/turns/{turn_id}/events"
    acks = call(gateway.url, path, method="POST", body=lines)
    assert "error" not in acks[-1], acks
    return conversation["id"], turn_id


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode() + b"\n"


def prose(text: str) -> list[dict[str, Any]]:
    block = {"id": "b1", "type": "prose", "markdown": text}
    return [
        {"type": "content.block.started", "block": block},
        {"type": "content.block.completed", "block_id": "b1"},
    ]


END = {"type": "turn.completed", "status": "completed"}


def test_ctrl_c_cancels_the_turn_in_the_gateway_and_prints_its_end(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer() -> None:
        post(gateway, *prose("So far."))

    out = Heard("you", answer)
    again = Heard("So far.", interrupt)
    monkeypatch.setattr(sys, "stdout", _both(out, again))

    status = main(["ask", "hello", "--color", "always", "--width", "60"])

    assert status == 130
    assert "Stopped by user." in again.text
    (conversation,) = call(gateway.url, "/v1/conversations")["items"]
    assert "running_turn_id" not in conversation


def _both(first: Heard, second: Heard) -> io.TextIOWrapper:
    class Both(io.TextIOWrapper):
        def write(self, text: str) -> int:
            first.write(text)
            return second.write(text)

    return Both(io.BytesIO(), encoding="utf-8")


def test_a_turn_that_waits_is_told_and_shown_with_its_question(
    gateway: Gateway, blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspended = {
        "type": "turn.suspended",
        "request": {"id": "req_1", "kind": "approval", "prompt": "Delete everything?"},
    }
    told = Heard("the turn waits for an answer", interrupt)

    def look() -> None:
        post(gateway, *prose("First."), suspended)

    out = Heard("you", look)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", told)
        status = main(["ask", "hello", "--color", "always"])

    assert status == 130
    assert told.text.count("the turn waits for an answer") == 1
    assert blockwire("show").status == 0


def test_show_prints_what_a_waiting_turn_asks(gateway: Gateway, blockwire: Run) -> None:
    made = call(gateway.url, "/v1/conversations", method="POST", body={})
    path = f"/v1/conversations/{made['id']}/turns"
    call(gateway.url, path, method="POST", body={"content": "hello"})
    request = {"id": "req_1", "kind": "approval", "prompt": "Delete everything?"}
    post(gateway, *prose("First."), {"type": "turn.suspended", "request": request})

    shown = blockwire("show")

    drawn = blockwire("show", "--color", "always")

    assert shown.out.endswith("First.\n")
    assert "Delete everything?" in shown.err
    assert drawn.out.index("First.") < drawn.out.index("Delete everything?")
    assert drawn.err == ""


@pytest.mark.parametrize("as_json", [False, True])
def test_watch_goes_on_where_the_gateway_is_now(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    made = call(gateway.url, "/v1/conversations", method="POST", body={})
    path = f"/v1/conversations/{made['id']}/turns"
    call(gateway.url, path, method="POST", body={"content": "hello"})

    def move() -> None:
        gateway.kill()
        gateway.port = 0
        gateway.restart()

    out = Heard("First.", move)
    post(gateway, *prose("First."))
    if as_json:
        buffer = _Bytes(out)
        monkeypatch.setattr(sys, "stdout", buffer)
    else:
        monkeypatch.setattr(sys, "stdout", out)

    status = main(["watch", made["id"], "--until-idle", *(["--json"] if as_json else [])])

    assert status == 0
    assert out.text.count("First.") == 1
    assert out.text.count("interrupted") >= 1


class _Bytes(io.TextIOWrapper):
    def __init__(self, heard: Heard) -> None:
        class Raw(io.BytesIO):
            def write(self, data: Any) -> int:
                heard.write(bytes(data).decode())
                return len(data)

        super().__init__(Raw(), encoding="utf-8")


def test_watch_without_a_name_shows_each_conversation_that_begins(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(name: str) -> None:
        made = call(gateway.url, "/v1/conversations", method="POST", body={"title": name})
        message = {"role": "user", "content": f"Message {name}."}
        path = f"/v1/conversations/{made['id']}/messages"
        call(gateway.url, path, method="POST", body=message)

    told = Heard("waiting for the first", lambda: begin("one"))
    monkeypatch.setattr(sys, "stderr", told)
    out = _both(Heard("Message one.", lambda: begin("two")), Heard("Message two.", interrupt))
    monkeypatch.setattr(sys, "stdout", out)

    assert main(["watch"]) == 130
    assert told.text.count("watching conv_") == 2


def test_an_owner_that_serves_nothing_is_named(
    home: Path, blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways, "OWNER_WAIT_S", 0.2)
    path = home / "data" / "blockwire" / "conversations.db"
    path.parent.mkdir(parents=True)
    lock = StoreLock.acquire(path)
    try:
        ended = blockwire("list")
    finally:
        lock.release()

    assert ended.status == 1
    assert f"process {os.getpid()} uses" in ended.err


def test_an_unwritable_place_is_told_before_anything_starts(
    home: Path, blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "x.db").touch()
    # Root may write everywhere, and tests may run as root.
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != "x.db")
    file = blockwire("ask", "hi", "--store", "sqlite:///x.db")
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name == "x.db")
    folder = blockwire("ask", "hi", "--store", "sqlite:///x.db")

    for ended in (file, folder):
        assert ended.status == 1
        assert ended.err.rstrip().endswith("[store_readonly]")


# system -------------------------------------------------------------------------------------
def test_an_armed_fault_kills_at_its_nth_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append((pid, number)))
    faults = armed_faults({"BLOCKWIRE_CRASH_AT": "commit.before:2"})
    assert faults is not None

    faults.reach("commit.after")
    faults.reach("commit.before")
    assert killed == []
    faults.reach("commit.before")

    assert killed == [(os.getpid(), signal.SIGKILL)]


def test_nothing_is_armed_by_default_and_nonsense_is_refused() -> None:
    assert armed_faults({}) is None
    with pytest.raises(LocalProtocolError):
        armed_faults({"BLOCKWIRE_CRASH_AT": "commit.before:x"})


def test_the_clock_runs() -> None:
    clock = SystemClock()

    assert clock.now_ms() > 1_700_000_000_000
    assert clock.monotonic_s() <= clock.monotonic_s()
