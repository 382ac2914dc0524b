r"""The outer terminal: its size, its colours, and what goes to it and comes from it.

Spec: docs/spec/host/process.md, "The outer terminal".
"""

from __future__ import annotations

import asyncio
import os
import re
import termios
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from blockwire.host.leaving import LEAVE, enter_sequence
from blockwire.host.sgr import ColourDepth
from blockwire.tty.modes import TerminalModes
from blockwire.tty.streams import InputStream, OutputStream, open_again

__all__ = [
    "ASK",
    "BLIND_TERMS",
    "OuterColours",
    "OuterTerminal",
    "Questions",
    "colour_depth",
    "is_remote",
    "window_size",
]

BLIND_TERMS: Final = frozenset({"", "dumb", "unknown"})
"""Values of TERM that say that nothing can be drawn."""

COLUMNS_DEFAULT: Final = 80
ROWS_DEFAULT: Final = 24
CELLS_MAX: Final = 10_000
"""Of a row or a column; larger than any window."""

ASK: Final = b"\x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b[c"
"""Foreground, background, and what every terminal answers, in order: then nothing else comes."""

ANSWER_S: Final = 0.2
ANSWER_REMOTE_S: Final = 1.0
"""How long the first frame waits for the colours."""

LATE_ANSWER_S: Final = 3.0
"""How long an answer may still be on its way when the terminal is given back."""

EARLY_BYTES_MAX: Final = 1_048_576
"""What is typed or pasted while the answer is waited for; more ends the wait."""

_COLOUR: Final = re.compile(
    rb"\x1b\](1[01]);rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})(?:\x07|\x1b\\)"
)
_FENCE: Final = re.compile(rb"\x1b\[\?[0-9;]*c")
_FENCE_BYTES_MAX: Final = 128


class OuterColours(NamedTuple):
    """What the terminal draws with by itself; ``"#rrggbb"``, or None where it has not said."""

    foreground: str | None = None
    background: str | None = None


def is_remote(env: Mapping[str, str]) -> bool:
    """Return whether the terminal is at the other end of a network."""
    return bool(env.get("SSH_CONNECTION") or env.get("SSH_TTY"))


def colour_depth(env: Mapping[str, str], *, wants_colour: bool) -> ColourDepth:
    """Return how many colours the terminal has.

    Args:
        env: Its ``COLORTERM`` and ``TERM`` say it.
        wants_colour: Whether colours are wanted at all.
    """
    if not wants_colour:
        return "none"
    term = env.get("TERM", "")
    if env.get("COLORTERM", "").lower() in {"truecolor", "24bit"} or term.endswith("-direct"):
        return "truecolor"
    return "256" if "256color" in term else "16"


def window_size(fd: int, env: Mapping[str, str]) -> tuple[int, int]:
    """Return columns and rows of a window, each at least 1.

    Args:
        fd: The terminal.
        env: ``COLUMNS`` and ``LINES``, for terminals that do not know.
    """
    try:
        rows, columns = termios.tcgetwinsize(fd)
    except termios.error:
        rows, columns = 0, 0
    columns = columns or _number(env.get("COLUMNS", ""), COLUMNS_DEFAULT)
    rows = rows or _number(env.get("LINES", ""), ROWS_DEFAULT)
    return min(columns, CELLS_MAX), min(rows, CELLS_MAX)


def _number(text: str, default: int) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) <= 5
    return (int(text) if is_number else 0) or default


class Questions:
    """Looks in the input for the answers to :data:`ASK`; takes nothing out of it.

    Attributes:
        colours: What was answered so far.
        is_answered: Whether nothing more will come.
    """

    def __init__(self) -> None:
        self.colours = OuterColours()
        self.is_answered = False
        self._held = b""

    def look(self, data: bytes) -> None:
        """Look at the next bytes of the input."""
        if self.is_answered:
            return
        text = self._held + data
        for found in _COLOUR.finditer(text):
            colour = "#" + "".join(_channel(part) for part in found.groups()[1:])
            if found[1] == b"10":
                self.colours = self.colours._replace(foreground=colour)
            else:
                self.colours = self.colours._replace(background=colour)
        self.is_answered = _FENCE.search(text) is not None
        # An answer may come in pieces.
        self._held = text[-_FENCE_BYTES_MAX:]


def _channel(digits: bytes) -> str:
    most = 16 ** len(digits) - 1
    return f"{round(int(digits, 16) * 255 / most):02x}"


class OuterTerminal:
    """The outer terminal, ours from :meth:`begin` to the end of its modes.

    Args:
        input_fd: Where is read.
        output_fd: Where is written.
        env: What says what it can.
        has_mouse: Whether its mouse is ours.
        take: Returns all that is to be written now.
        on_input: Called with what came; with nothing at the end.
        on_progress: Called when something was written, or nothing can be any more.
    """

    def __init__(  # noqa: PLR0913 - by name
        self,
        *,
        input_fd: int,
        output_fd: int,
        env: Mapping[str, str],
        has_mouse: bool,
        take: Callable[[], bytes],
        on_input: Callable[[bytes], None],
        on_progress: Callable[[], None],
    ) -> None:
        self._output_fd = output_fd
        self._env = env
        self._take = take
        self._on_input = on_input
        self._loop = asyncio.get_running_loop()
        self.modes = TerminalModes(
            input_fd,
            output_fd,
            keys="bytes",
            on_enter=enter_sequence(has_mouse=has_mouse),
            on_leave=LEAVE,
        )
        self.input = InputStream(open_again(input_fd, os.O_RDONLY), self._receive)
        self.output = OutputStream(open_again(output_fd, os.O_WRONLY), self._next, on_progress)
        self.modes.is_cut = lambda: self.output.is_cut
        self.modes.is_reply_expected = lambda: self._is_asked and not self._questions.is_answered
        self.modes.reply_wait_s = lambda: self._asked_s + LATE_ANSWER_S - self._loop.time()
        self._questions = Questions()
        self._question = b""
        self._is_asked = False
        self._asked_s = 0.0
        self._early: bytearray | None = bytearray()
        self._news = asyncio.Event()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of its window now."""
        return window_size(self._output_fd, self._env)

    @property
    def colours(self) -> OuterColours:
        """What it has said of its colours."""
        return self._questions.colours

    async def ask(self) -> None:
        """Ask for the colours, and wait a little. What else comes is kept for :meth:`begin`."""
        self._question = ASK
        self._is_asked = True
        self._asked_s = self._loop.time()
        self.input.resume()
        self.output.wake()
        answer_s = ANSWER_REMOTE_S if is_remote(self._env) else ANSWER_S
        try:
            async with asyncio.timeout(answer_s):
                await self._news.wait()
        except TimeoutError:
            return

    def begin(self) -> None:
        """Give the input to whom it is for, beginning with what came already."""
        early, self._early = self._early, None
        if early:
            # Answers, too: who reads input swallows them whenever they come.
            self._on_input(bytes(early))
        self.input.resume()

    def close(self) -> None:
        """Let go of the descriptors."""
        self.input.close()
        self.output.close()

    def _next(self) -> bytes:
        question, self._question = self._question, b""
        return question or self._take()

    def _receive(self, data: bytes) -> None:
        self._questions.look(data)
        if self._early is None or not data:
            self._on_input(data)
        else:
            self._early += data
        is_much = self._early is not None and len(self._early) > EARLY_BYTES_MAX
        if self._questions.is_answered or is_much or not data:
            self._news.set()
