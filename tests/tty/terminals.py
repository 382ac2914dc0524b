"""Terminals with Blocks on real ptys: one in the loop of a test, one around a program."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import selectors
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias

from blockwire.terminal import Endpoint, PassThrough, Reply, TerminalSession
from blockwire.terminal.vocabulary import LINES, STYLED
from tests.suites import PROJECT
from tests.support.programs import WAIT_S

DA1_REQUEST: Final = b"\x1b[c"
DA1_ANSWER: Final = b"\x1b[?62;22c"

Answers: TypeAlias = Literal["all", "device", "nothing"]
ENVIRONMENT: Final = {"TERM": "xterm-256color"}


# A session of its own has no controlling terminal until somebody takes one.
_TAKE_CONTROL: Final = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"


class Brain:
    """What a terminal thinks: bytes of a program in, bytes for its input out.

    Attributes:
        output: All that it was sent.
        screen: What of that is no frame.
        answers: What it answers to.
    """

    def __init__(self, answers: Answers = "all") -> None:
        self.answers = answers
        self.output = b""
        self.screen = b""
        self._count = 0
        self.session = TerminalSession(
            new_context_id=self._new_context_id, optional_content_types=(STYLED, LINES)
        )
        self.endpoint = Endpoint(self.session)

    def _new_context_id(self) -> str:
        self._count += 1
        return f"c{self._count}"

    def receive(self, data: bytes) -> bytes:
        """Return the answers to what a program has written."""
        self.output += data
        answers = b""
        for effect in self.endpoint.receive_data(data):
            if isinstance(effect, PassThrough):
                asked_count = effect.data.count(DA1_REQUEST)
                self.screen += effect.data.replace(DA1_REQUEST, b"")
                if self.answers != "nothing":
                    answers += DA1_ANSWER * asked_count
            elif isinstance(effect, Reply) and self.answers == "all":
                answers += effect.data
        return answers

    def texts(self) -> list[str]:
        """Return what the Blocks of all Contexts show."""
        return [
            block.content.text()
            for context in self.session.contexts.values()
            for block in context.blocks.values()
            if block.content is not None
        ]


class LoopTerminal:
    """A terminal in the event loop of a test.

    Attributes:
        fd: The program's end of the pty.
        is_deaf: Set while it reads nothing.
        split: Whether each answer comes byte by byte.
        pause_s: How long it rests after each read.
    """

    def __init__(
        self, answers: Answers = "all", *, split: bool = False, pause_s: float = 0.0
    ) -> None:
        self.brain = Brain(answers)
        self.split = split
        self._pause_s = pause_s
        self.held = b""
        self.is_holding = False
        self._near: int | None = None
        self._near, self.fd = pty.openpty()
        os.set_blocking(self._near, False)
        self.found = termios.tcgetattr(self.fd)
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self.listen()

    def listen(self) -> None:
        if self._near is not None:
            self._loop.add_reader(self._near, self._read)

    def be_deaf(self) -> None:
        assert self._near is not None
        self._loop.remove_reader(self._near)

    def press(self, data: bytes) -> None:
        assert self._near is not None
        pieces = [data[it : it + 1] for it in range(len(data))] if self.split else [data]
        for piece in pieces:
            if piece:
                os.write(self._near, piece)

    def die(self) -> None:
        if self._near is not None:
            self.be_deaf()
            os.close(self._near)
            self._near = None

    def close(self) -> None:
        self.die()
        os.close(self.fd)

    def left_over(self) -> bytes:
        """Return what the next reader of this terminal would get."""
        return left_over(self.fd)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something that a program has written."""
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                self._news.clear()
                await self._news.wait()

    def _read(self) -> None:
        assert self._near is not None
        with contextlib.suppress(BlockingIOError, OSError):
            answers = self.brain.receive(os.read(self._near, 65_536))
            if self.is_holding:
                self.held += answers
            else:
                self.press(answers)
        self._news.set()
        if self._pause_s and self._near is not None:
            self.be_deaf()
            self._loop.call_later(self._pause_s, self.listen)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pause_s = 0.0
        self.close()


def left_over(fd: int) -> bytes:
    """Return what waits to be read from a terminal."""
    attributes = termios.tcgetattr(fd)
    attributes[3] &= ~(termios.ICANON | termios.ECHO)
    attributes[6][termios.VMIN] = 0
    attributes[6][termios.VTIME] = 0
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    return os.read(fd, 65_536)


class ProgramTerminal:
    """A Python program with a terminal of its own, which is its controlling terminal.

    Args:
        source: The program.
        arguments: Behind it.
        answers: What the terminal answers to.
    """

    def __init__(
        self,
        source: str,
        *arguments: str,
        answers: Answers = "all",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.brain = Brain(answers)
        self._near, self.far = pty.openpty()
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.found = termios.tcgetattr(self.far)
        far = self.far
        kept = {
            name: os.environ[name]
            for name in ("PATH", "COVERAGE_PROCESS_START")
            if name in os.environ
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_CONTROL + source, *arguments],
            stdin=far,
            stdout=far,
            stderr=subprocess.PIPE,
            cwd=PROJECT,
            env={**kept, **ENVIRONMENT, "PYTHONPATH": str(PROJECT / "src"), **(environment or {})},
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
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        os.close(self._near)
        os.close(self.far)
        self.process.communicate()

    def press(self, data: bytes) -> bool:
        """Press keys; return False, for conditions that are tried again."""
        os.write(self._near, data)
        return False

    def read(self, until: Callable[[], bool]) -> None:
        """Be a terminal until a condition holds."""
        end_s = time.monotonic() + WAIT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_READ)
            while not until():
                assert time.monotonic() < end_s, f"it never came: {self.brain.output[-300:]!r}"
                # A change of the device's settings can be seen, and not be waited for.
                if selector.select(0.01):
                    self.press(self.brain.receive(os.read(self._near, 65_536)) or b"")

    def read_to_end(self) -> int:
        """Be a terminal until the program has ended, and return its status."""
        self.read(lambda: self.process.poll() is not None)
        # What it wrote last.
        with selectors.DefaultSelector() as selector:
            selector.register(self._near, selectors.EVENT_READ)
            while selector.select(0):
                self.brain.receive(os.read(self._near, 65_536))
        return self.process.returncode

    @property
    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.far)

    def is_restored(self) -> bool:
        return self.settings == self.found
