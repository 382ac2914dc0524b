"""A window on a program: a real pty, read by an emulator that is not ours, and recorded.

What the program asks of its terminal is answered as a terminal of today with a dark background does.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyte
from painting import BACKGROUND, FOREGROUND

WAIT_S_MAX: Final = 60.0
"""How long anything may take on a machine that has other things to do."""

GAP_S_MAX: Final = 1.0
"""A recording is never still for longer, however long the machine thought."""

READ_BYTES: Final = 65_536

_OTHER_SCREEN: Final = re.compile(rb"(\x1b\[\?1049[hl])")
_ASK_PLACE: Final = b"\x1b[6n"
_QUESTION: Final = re.compile(rb"\x1b\]1[01];\?(?:\x1b\\|\x07)|\x1b\[0?c|\x1b\[6n")


def _colour(number: int, value: str) -> bytes:
    parts = "/".join(value[at : at + 2] * 2 for at in (1, 3, 5))
    return f"\x1b]{number};rgb:{parts}\x1b\\".encode()


class Event(NamedTuple):
    """Something that happened ``at_s`` after the beginning: ``"o"`` output, ``"r"`` a new size."""

    at_s: float
    kind: str
    text: str


class Screen(pyte.Screen):
    """A screen that knows what is dim, and draws clusters as they come.

    pyte has no SGR 2. Nothing of ours ever blinks, so its bit for that stands for it.
    """

    def select_graphic_rendition(self, *attrs: int, **kwargs: Any) -> None:
        """Take SGR 2 and 22 for 5 and 25, where they are no part of a colour."""
        taken: list[int] = []
        rest = list(attrs)
        while rest:
            code = rest.pop(0)
            if code in {38, 48} and rest:
                count = 2 if rest[0] == 5 else 4
                taken += [code, *rest[:count]]
                del rest[:count]
            else:
                taken += {2: [5], 22: [22, 25]}.get(code, [code])
        super().select_graphic_rendition(*taken, **kwargs)

    def draw(self, data: str) -> None:
        """Draw one character after the other; pyte drops what follows a joiner in one piece."""
        for character in data:
            super().draw(character)


class Window:
    """A terminal of fixed size in which one program runs.

    Args:
        command: The program and its arguments.
        env: All of its environment.
        folder: Where it begins.
        columns: Of the window.
        rows: Likewise.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        folder: str,
        columns: int,
        rows: int,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.events: list[Event] = []
        self._screens = [Screen(columns, rows), Screen(columns, rows)]
        self._streams = [pyte.ByteStream(screen) for screen in self._screens]
        self._is_other = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._at_s = 0.0
        self._last_s = time.monotonic()
        self._pid, self._pty = pty.fork()
        if self._pid == 0:
            # The size is there before the program can ask for it.
            _set_size(0, columns, rows)
            os.chdir(folder)
            os.execvpe(command[0], list(command), dict(env))  # noqa: S606 - a program of ours

    @property
    def screen(self) -> Screen:
        """What is seen."""
        return self._screens[self._is_other]

    @property
    def text(self) -> str:
        """What is seen, as text: rows without blanks at their ends."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    # what a person does -----------------------------------------------------------------------
    def press(self, keys: str) -> None:
        """Press keys, given as what a terminal sends for them."""
        data = keys.encode()
        while data:
            data = data[os.write(self._pty, data) :]

    def type(self, text: str, *, pause_s: float = 0.045) -> None:
        """Type a text, one character after the other."""
        for character in text:
            self.press(character)
            self.rest(pause_s)

    def rest(self, within_s: float) -> None:
        """Look on for a while."""
        end_s = time.monotonic() + within_s
        while (left_s := end_s - time.monotonic()) > 0:
            self._read_some(left_s)

    def until(self, is_so: Callable[[str], bool], what: str) -> None:
        """Look on until a condition holds for what is seen."""
        end_s = time.monotonic() + WAIT_S_MAX
        while not is_so(self.text):
            if time.monotonic() > end_s:
                raise TimeoutError(f"it never came: {what}\n{self.text}")
            self._read_some(0.05)

    def until_shown(self, *texts: str) -> None:
        """Look on until the window shows all of ``texts``."""
        self.until(lambda seen: all(text in seen for text in texts), repr(texts))

    def until_gone(self, text: str) -> None:
        """Look on until the window does not show ``text``."""
        self.until(lambda seen: text not in seen, f"no {text!r}")

    def until_still(self, within_s: float = 0.4) -> None:
        """Look on until nothing has been written for a while."""
        end_s = time.monotonic() + WAIT_S_MAX
        while self._read_some(within_s):
            if time.monotonic() > end_s:
                raise TimeoutError(f"it never ended:\n{self.text}")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.columns, self.rows = columns, rows
        for screen in self._screens:
            screen.resize(rows, columns)
        self._note("r", f"{columns}x{rows}")
        _set_size(self._pty, columns, rows)

    def close(self) -> None:
        """Hang up, and wait for the end of the program."""
        os.close(self._pty)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGHUP)
        os.waitpid(self._pid, 0)

    # what a terminal does ---------------------------------------------------------------------
    def _read_some(self, within_s: float) -> bool:
        if not select.select([self._pty], [], [], within_s)[0]:
            return False
        try:
            data = os.read(self._pty, READ_BYTES)
        except OSError:  # Linux: the other end is closed
            data = b""
        if not data:
            raise EOFError(f"the program has ended:\n{self.text}")
        if text := self._decoder.decode(data):
            self._note("o", text)
        self._show(data)
        return True

    def _note(self, kind: str, text: str) -> None:
        now_s = time.monotonic()
        self._at_s += min(now_s - self._last_s, GAP_S_MAX)
        self._last_s = now_s
        self.events.append(Event(round(self._at_s, 3), kind, text))

    def _show(self, data: bytes) -> None:
        shown = 0
        for found in _QUESTION.finditer(data):
            # Up to here only: where the cursor is depends on what was written before.
            self._feed(data[shown : found.end()])
            shown = found.end()
            os.write(self._pty, self._answer(found[0]))
        self._feed(data[shown:])

    def _feed(self, data: bytes) -> None:
        for part in _OTHER_SCREEN.split(data):
            if _OTHER_SCREEN.fullmatch(part):
                self._is_other = part.endswith(b"h")
                if self._is_other:
                    self._screens[1].reset()
            elif part:
                self._streams[self._is_other].feed(part)

    def _answer(self, question: bytes) -> bytes:
        if question == _ASK_PLACE:
            cursor = self.screen.cursor
            return b"\x1b[%d;%dR" % (cursor.y + 1, cursor.x + 1)
        if question.startswith(b"\x1b]10"):
            return _colour(10, FOREGROUND)
        if question.startswith(b"\x1b]11"):
            return _colour(11, BACKGROUND)
        return b"\x1b[?62;22c"


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
