"""``blockwire`` as real processes: gateways that can be killed, and programs in terminals.

Every wait is for a condition and has an end of its own; nothing sleeps in the hope that something
has happened meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import json  # what programs print is read with other code than theirs
import os
import pty
import selectors
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyte

WAIT_S: Final = 55.0
"""How long anything may take on a machine that does ten other things."""


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """Return an environment in which only ``folder`` is known."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "PYTHONPATH", "COVERAGE_PROCESS_START")
        if name in os.environ
    }
    return {
        **kept,
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        **changes,
    }


def at_once(folder: Path) -> str:
    """Return the path of a configuration whose recorded answers come at once."""
    path = folder / "fast.toml"
    path.write_text('[engines.fast]\nkind = "replay"\nspeed = 0.0\n', encoding="utf-8")
    return str(path)


def command(*arguments: str) -> list[str]:
    """Return the command line of ``blockwire`` with the Python that runs the tests."""
    return [sys.executable, "-m", "blockwire", *arguments]


def command_after(setup: str, *arguments: str) -> list[str]:
    """Return the command line of ``blockwire`` in a Python in which ``setup`` was run before.

    What would only be seen of slow work on a slow machine can be arranged there.
    """
    program = (
        f"{setup}\nimport sys\nfrom blockwire.__main__ import run\n"
        "sys.argv[0] = 'blockwire'\nrun()\n"
    )
    return [sys.executable, "-c", program, *arguments]


def run(
    *arguments: str, env: dict[str, str], cwd: Path | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Return what a command did, its output in a pipe."""
    return subprocess.run(
        command(*arguments),
        input=stdin,
        capture_output=True,
        env=env,
        cwd=cwd,
        timeout=WAIT_S,
        check=False,
    )


class Gateway:
    """``blockwire serve`` in a process of its own."""

    def __init__(self, env: dict[str, str], *arguments: str, cwd: Path | None = None) -> None:
        self._env = env
        self._arguments = arguments
        self._cwd = cwd
        self.port = 0
        self.process = self._start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command("serve", "--port", str(self.port), *self._arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._env,
            cwd=self._cwd,
        )
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        if not line.startswith("listening on "):
            _, errors = process.communicate()
            raise AssertionError(f"it did not start: {line}{errors.decode()}")
        self.port = int(line.rpartition(":")[2])
        return process

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self.process.communicate()

    def restart(self) -> None:
        """Start another one on the same port and store."""
        self.process = self._start()

    def stop(self) -> int:
        """End it politely and return its exit status."""
        self.process.terminate()
        self.process.communicate(timeout=WAIT_S)
        return self.process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.kill()


class Screen:
    """What a terminal shows, scrollback included."""

    def __init__(self, columns: int, rows: int = 24) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=1.0)
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        self._stream.feed(data)

    def lines(self) -> list[str]:
        """Return all rows from the first that scrolled away to the last with text."""
        columns = self._screen.columns
        old = [
            "".join(row[x].data for x in range(columns)).rstrip()
            for row in self._screen.history.top
        ]
        rows = old + [row.rstrip() for row in self._screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows


class Terminal:
    """A program on a pseudo-terminal; its standard error goes elsewhere.

    Attributes:
        output: All bytes that it wrote.
        screen: What they show.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        env: dict[str, str],
        columns: int = 80,
        rows: int = 24,
        cwd: Path | None = None,
    ) -> None:
        self.output = b""
        self.screen = Screen(columns, rows)
        self.chunks: list[bytes] = []
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._fd: int | None = near
        try:
            self.process = subprocess.Popen(
                list(arguments),
                stdin=far,
                stdout=far,
                stderr=subprocess.PIPE,
                env=env,
                cwd=cwd,
                start_new_session=True,
            )
        finally:
            os.close(far)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._close()
        self.process.communicate()

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def read(self, until: Callable[[], bool], *, within_s: float = WAIT_S) -> None:
        """Read until a condition holds; an end of output before that is a failure."""
        for _chunk in self.read_chunks(within_s=within_s):
            if until():
                return
        if not until():
            raise AssertionError(f"it ended before: {self.output.decode(errors='replace')[-500:]}")

    def read_chunks(self, *, within_s: float = WAIT_S) -> Iterator[bytes]:
        """Yield each piece of output, after the screen has taken it, to the end of output."""
        end_s = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            while self._fd is not None:
                selector.register(self._fd, selectors.EVENT_READ)
                if not selector.select(max(end_s - time.monotonic(), 0)):
                    shown = self.output.decode(errors="replace")[-500:]
                    raise AssertionError(f"nothing more within {within_s} s after: {shown}")
                selector.unregister(self._fd)
                try:
                    chunk = os.read(self._fd, 65_536)
                except OSError:  # Linux says so when the last writer has closed it
                    chunk = b""
                if not chunk:
                    self._close()
                    return
                self.output += chunk
                self.chunks.append(chunk)
                self.screen.feed(chunk)
                yield chunk

    def read_to_end(self) -> int:
        """Read everything and return the exit status."""
        for _chunk in self.read_chunks():
            pass
        return self.process.wait(timeout=WAIT_S)

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def type(self, text: str) -> None:
        """Type ``text`` at its keyboard."""
        assert self._fd is not None, "it has ended"
        os.write(self._fd, text.encode())

    def errors(self) -> str:
        """Return what it said on standard error; it has ended."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


class Network:
    """A TCP proxy that can be cut: connections break, and new ones are refused until it is back."""

    def __init__(self, port: int, *, is_kept: bool = False) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_down = False
        self.cut_count = 0
        self.carried = bytearray()
        """What came back from the other side, of all connections together; kept if asked for."""
        self._is_kept = is_kept
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Break every connection, and each that comes, until :meth:`mend`."""
        with self._lock:
            self._is_down = True
            self.cut_count += len(self._open) // 2
            for sock in self._open:
                # A reset, not a clean end.
                with contextlib.suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    sock.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        with self._lock:
            self._is_down = False

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._is_down:
                    near.close()
                    continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(
                    target=self._pump, args=(source, sink, source is far), daemon=True
                ).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if is_answer and self._is_kept:
                    with self._lock:
                        self.carried += data
                sink.sendall(data)
        with self._lock:
            self._open -= {source, sink}
        for sock in (source, sink):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            if sock is source:
                sock.close()


def decoded(text: bytes | str) -> Any:
    """Return JSON as Python's own reader sees it: not the code under test."""
    return json.JSONDecoder().decode(text.decode() if isinstance(text, bytes) else text)


def call(
    url: str,
    path: str,
    *,
    method: str = "GET",
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> Any:
    """Return the JSON answer of a gateway, asked with Python's own client."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
    request = urllib.request.Request(
        f"{url}{path}",
        data=data,
        method=method,
        headers={"content-type": kind, **(headers or {})},
    )
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        text = answer.read()
    if isinstance(body, bytes):
        return [decoded(line) for line in text.split(b"\n") if line]
    return decoded(text) if text else None
