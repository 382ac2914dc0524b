"""Outer terminals on real ptys around the host, and a judge that has a main and another screen."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

import pyte

from tests.suites import PROJECT
from tests.support.programs import WAIT_S, Screen

ENTER: Final = b"\x1b[?1049h"
LEAVE: Final = b"\x1b[?1049l"
_SWITCH: Final = re.compile(rb"\x1b\[\?1049([hl])")
_SWITCH_BYTES: Final = len(ENTER)
# pyte knows neither; the first would be drawn.
_UNKNOWN: Final = re.compile(rb"\x1b\[\d* q|\x1b\[2[23];2t|\x18")

ASK: Final = b"\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b[c"
ANSWER: Final = b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\\x1b]11;rgb:0000/1010/2020\x1b\\\x1b[?62;22c"

# A shell as small as can be: it starts a program in a group of its own, and sees it stop and end. What
# is typed while the program is stopped lets it go on.
SHELL: Final = r"""
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
ours = termios.tcgetattr(0)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    os.setpgid(child, child)
except OSError:
    pass
print(f"job {child};", flush=True)
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    same = "sane" if termios.tcgetattr(0) == ours else "odd"
    if not os.WIFSTOPPED(status):
        print(f"ended {os.waitstatus_to_exitcode(status)} {same};", flush=True)
        break
    print(f"stopped {os.WSTOPSIG(status)} {same};", flush=True)
    os.read(0, 100)
    os.tcsetpgrp(0, child)
    os.killpg(child, signal.SIGCONT)
"""

BACKGROUND: Final = SHELL.replace("    os.tcsetpgrp(0, os.getpgrp())\n    signal", "    signal")
assert BACKGROUND != SHELL


class OuterScreen:
    """What a terminal shows that keeps its main screen while a program has the other one.

    Attributes:
        main: The main screen with its scrollback.
        alternate: The other one, as it was last.
        is_alternate: Which of them is seen.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.size = (columns, rows)
        self.main = Screen(columns, rows)
        self.alternate = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.alternate)
        self.is_alternate = False
        self._held = b""

    def feed(self, data: bytes) -> None:
        data = self._held + data
        while found := _SWITCH.search(data):
            self._show(data[: found.start()])
            data = data[found.end() :]
            is_entered = found[1] == b"h"
            if is_entered and not self.is_alternate:
                self.alternate.reset()
            self.is_alternate = is_entered
        # A switch that is not all here yet.
        at = data.rfind(b"\x1b", max(len(data) - _SWITCH_BYTES, 0))
        at = len(data) if at < 0 else at
        self._held = data[at:]
        self._show(data[:at])

    def resize(self, columns: int, rows: int) -> None:
        self.size = (columns, rows)
        self.alternate.resize(rows, columns)

    def _show(self, data: bytes) -> None:
        data = _UNKNOWN.sub(b"", data)
        if self.is_alternate:
            self._stream.feed(data)
        else:
            self.main.feed(data)

    @property
    def rows(self) -> list[str]:
        """The rows of the other screen, without blanks at their ends."""
        return [row.rstrip() for row in self.alternate.display]

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


class Outer:
    """A terminal in which a small shell runs one command, the only one of its session.

    Args:
        command: What the shell runs.
        env: Its environment; what is not said is that of a terminal of today.
        columns: Of the window.
        rows: Likewise.
        before: Written to the terminal before anything runs.
        answer: What is answered when the host asks.
        in_background: Whether the shell keeps the terminal for itself at first.

    Attributes:
        output: All that was written.
        screen: What it shows.
        is_deaf: While set nothing is read.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        columns: int = 80,
        rows: int = 24,
        before: bytes = b"",
        answer: bytes = ANSWER,
        in_background: bool = False,
    ) -> None:
        self.output = b""
        self.screen = OuterScreen(columns, rows)
        self.answer = answer
        self._near, self.far = pty.openpty()
        self.set_size(columns, rows)
        self.found = termios.tcgetattr(self.far)
        self._asked_count = 0
        self._receive(before)
        kept = {
            name: os.environ[name]
            for name in ("PATH", "COVERAGE_PROCESS_START")
            if name in os.environ
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", SHELL if not in_background else BACKGROUND, *command],
            stdin=self.far,
            stdout=self.far,
            stderr=self.far,
            cwd=PROJECT,
            env={
                **kept,
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "HOME": "/nonexistent",
                "PYTHONPATH": f"{PROJECT}/src:{PROJECT}",
                **(env or {}),
            },
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pid in [*self.processes(), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.hang_up()
        if self.far >= 0:
            os.close(self.far)
        self.process.wait(timeout=WAIT_S)

    def hang_up(self) -> None:
        """Close the window."""
        if self._near >= 0:
            os.close(self._near)
            self._near = -1

    # what somebody does ---------------------------------------------------------------------
    def press(self, keys: str | bytes) -> None:
        data = keys.encode() if isinstance(keys, str) else keys
        while data:
            data = data[os.write(self._near, data[:1_000]) :]
            if data:
                self._read_some(0)

    def set_size(self, columns: int, rows: int) -> None:
        """Resize the window; the kernel tells the foreground."""
        self.screen.resize(columns, rows)
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # what is seen ---------------------------------------------------------------------------
    def until(
        self, is_so: Callable[[], object], *, pause_s: float = 0.0, bytes_max: int = 65_536
    ) -> None:
        """Be a terminal until a condition holds.

        Args:
            is_so: The condition.
            pause_s: How long it rests after each read.
            bytes_max: How much it reads at once.
        """
        end_s = time.monotonic() + WAIT_S
        while not is_so():
            assert time.monotonic() < end_s, f"it never came: {self.output[-500:]!r}"
            self._read_some(0.01, bytes_max)
            if pause_s:
                # Being slow is what this terminal does.
                time.sleep(pause_s)

    def until_shown(self, text: str) -> None:
        """Wait until the other screen shows a text."""
        self.until(lambda: self.screen.is_alternate and text in self.screen.text)

    def read_to_end(self) -> int:
        """Return the status that the shell has seen: negative for a signal."""
        self.until(lambda: re.search(rb"ended (-?\d+) \w+;", self.output))
        found = re.search(rb"ended (-?\d+) (\w+);", self.output)
        assert found is not None
        assert found[2] == b"sane", "the settings of the terminal are not those that were found"
        self.process.wait(timeout=WAIT_S)
        while self._read_some(0.05):
            pass
        return int(found[1])

    def _read_some(self, wait_s: float, bytes_max: int = 65_536) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_READ)
            if not selector.select(wait_s):
                return False
        self._receive(os.read(self._near, bytes_max))
        return True

    def _receive(self, data: bytes) -> None:
        self.output += data
        self.screen.feed(data)
        while self.output.count(ASK) > self._asked_count:
            self._asked_count += 1
            if self.answer:
                os.write(self._near, self.answer)

    @property
    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.far)

    @property
    def is_raw(self) -> bool:
        return not self.settings[3] & (termios.ICANON | termios.ISIG | termios.ECHO)

    @property
    def job(self) -> int:
        """The process that the shell started: the watchdog."""
        self.until(lambda: re.search(rb"job (\d+);", self.output))
        found = re.search(rb"job (\d+);", self.output)
        assert found is not None
        return int(found[1])

    @property
    def host(self) -> int:
        """The only child of the watchdog."""
        (pid,) = children(self.job)
        return pid

    @property
    def program(self) -> int:
        """The only child of the host."""
        (pid,) = children(self.host)
        return pid

    def processes(self) -> list[int]:
        """All that runs below the shell."""
        found: list[int] = []
        waiting = children(self.process.pid)
        while waiting:
            found.append(pid := waiting.pop())
            waiting += children(pid)
        return found


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        path = f"/proc/{pid}/task/{pid}/children"
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - as others read it
            return [int(word) for word in file.read().split()]
    return []


def is_alive(pid: int) -> bool:
    """Whether a process runs, a zombie not counted."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123 - as others read it
            return file.read().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
