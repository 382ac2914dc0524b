"""``blockwire chat`` on a pty of its own, which is its controlling terminal."""

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
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, Self

from blockwire.terminal import PassThrough, Reply
from tests.suites import PROJECT
from tests.support.programs import WAIT_S, environment
from tests.tty.terminals import Answers, Brain
from tests.tui.drawing.judges import PyteJudge

TAKE_CONTROL: Final = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
_RUN: Final = TAKE_CONTROL + "import sys\nfrom blockwire.__main__ import run\nrun()\n"
_ASKED: Final = re.compile(rb"\x1b\[c|\x1b\[6n")


class ChatBrain(Brain):
    """A terminal with a screen of somebody else; with ``all`` it shows Blocks, too."""

    def __init__(self, answers: Answers, judge: PyteJudge) -> None:
        super().__init__(answers)
        self.judge = judge

    def receive(self, data: bytes) -> bytes:
        self.output += data
        answers = b""
        for effect in self.endpoint.receive_data(data):
            if isinstance(effect, PassThrough):
                answers += self._show(effect.data)
            elif isinstance(effect, Reply) and self.answers == "all":
                answers += effect.data
        return answers

    def _show(self, data: bytes) -> bytes:
        answers = b""
        at = 0
        for asked in _ASKED.finditer(data):
            self.judge.feed(data[at : asked.start()])
            at = asked.end()
            if asked[0] == b"\x1b[c":
                answers += b"\x1b[?62;22c"
            else:
                row, column = self.judge.place()
                answers += b"\x1b[%d;%dR" % (row + 1, column + 1)
        self.judge.feed(data[at:])
        return answers


class ChatTerminal:
    """The program, and its terminal.

    Attributes:
        brain: What the terminal thinks.
        judge: What it shows.
    """

    PROGRAM: ClassVar[Sequence[str]] = (sys.executable, "-c", _RUN, "chat")

    def __init__(
        self,
        *arguments: str,
        place: Path,
        answers: Answers = "device",
        columns: int = 80,
        rows: int = 24,
        **variables: str,
    ) -> None:
        self.judge = PyteJudge(columns, rows)
        self.brain = ChatBrain(answers, self.judge)
        self._near, self.far = pty.openpty()
        self._set_size(columns, rows)
        self.found = termios.tcgetattr(self.far)
        self.process = subprocess.Popen(
            [*self.PROGRAM, *arguments],
            stdin=self.far,
            stdout=self.far,
            stderr=subprocess.PIPE,
            cwd=place,
            env={**environment(place), "PYTHONPATH": str(PROJECT / "src"), **variables},
            start_new_session=True,
        )

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size, as a terminal does: first itself, then the program."""
        self.judge.resize(columns, rows)
        self._set_size(columns, rows)

    def press(self, text: str) -> None:
        """Press keys."""
        os.write(self._near, text.encode())

    def press_some(self, data: bytes) -> int:
        """Press as many keys as the terminal takes at once, and return how many."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_WRITE)
            # What is not read yet waits in the terminal, which holds 4,096 bytes.
            return os.write(self._near, data[:1_024]) if data and selector.select(0) else 0

    def read(self, until: Callable[[], bool]) -> None:
        """Be a terminal until a condition holds."""
        end_s = time.monotonic() + WAIT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_READ)
            while not until():
                assert time.monotonic() < end_s, self._state()
                # A change of the device's settings can be seen, and not be waited for.
                if selector.select(0.01):
                    self._read_once()

    def _read_once(self) -> None:
        if answers := self.brain.receive(os.read(self._near, 65_536)):
            os.write(self._near, answers)

    def _state(self) -> str:
        shown = "\n".join(self.judge.text())
        return f"it never came:\n{shown}\n{self.brain.output[-300:]!r}"

    def until_shown(self, *texts: str) -> None:
        """Be a terminal until the window and its scrollback show all of ``texts``."""
        self.read(lambda: all(text in "\n".join(self.judge.text()) for text in texts))

    def quiet_bytes(self, within_s: float) -> int:
        """Return how much is written in a time in which nothing happens."""
        before = len(self.brain.output)
        end_s = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_READ)
            while (left_s := end_s - time.monotonic()) > 0:
                if selector.select(left_s):
                    self._read_once()
        return len(self.brain.output) - before

    def leave(self) -> int:
        """Press Ctrl-D, and return the status."""
        self.press("\x04")
        return self.read_to_end()

    def read_to_end(self) -> int:
        """Be a terminal until the program has ended, and return its status."""
        self.read(lambda: self.process.poll() is not None)
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_READ)
            while selector.select(0):
                self._read_once()
        return self.process.returncode

    def errors(self) -> str:
        """Return what it said on standard error; it has ended."""
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    @property
    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.far)

    @property
    def is_restored(self) -> bool:
        return self.settings == self.found

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
        os.close(self._near)
        os.close(self.far)
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
