"""A session of the host in a window that an independent emulator draws, and short words for both."""

from __future__ import annotations

from itertools import count
from typing import Any, Final, Self

import pyte

from blockwire.host.commands import Command, CopyText
from blockwire.host.core import HostCore
from blockwire.host.emulator import Emulator, SwallowingEmulator, best_emulator
from blockwire.host.options import HostOptions
from blockwire.terminal import Span
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.terminal.sessions import append, closing, extend, framed, opening, seal, update

KEYS: Final = {
    "prefix": b"\x1d", "escape": b"\x1b", "enter": b"\r", "backspace": b"\x7f", "space": b" ",
    "up": b"\x1b[A", "down": b"\x1b[B", "right": b"\x1b[C", "left": b"\x1b[D",
    "page-up": b"\x1b[5~", "page-down": b"\x1b[6~", "home": b"\x1b[H", "end": b"\x1b[F",
    "shift-page-up": b"\x1b[5;2~", "shift-page-down": b"\x1b[6;2~", "shift-home": b"\x1b[1;2H",
    "shift-end": b"\x1b[1;2F", "shift-up": b"\x1b[1;2A", "shift-down": b"\x1b[1;2B",
    **{f"ctrl-{letter}": bytes([ord(letter) & 0x1F]) for letter in "abcdefghklnoprstuvwxyz"},
}  # fmt: skip

MOUSE: Final = {"press": "0M", "release": "0m", "drag": "32M", "up": "64M", "down": "65M"}


class OuterStream(pyte.ByteStream):
    """Knows the two scrolling sequences that pyte does not."""

    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}  # noqa: RUF012 - as pyte declares it
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down"}


class OuterScreen(pyte.Screen):
    """The outer terminal."""

    def scroll_up(self, rows: int = 1) -> None:
        self._scroll(rows or 1, self.delete_lines)

    def scroll_down(self, rows: int = 1) -> None:
        self._scroll(rows or 1, self.insert_lines)

    def _scroll(self, rows: int, shift: Any) -> None:
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        shift(rows)
        self.cursor.x, self.cursor.y = x, y


class Window:
    """A window with a session in it.

    Attributes:
        written: What the last :meth:`look` wrote to the outer terminal.
        commands: All that the driver was told.
        typed: All that the program got.
    """

    def __init__(
        self,
        columns: int = 20,
        rows: int = 6,
        *,
        emulator: Emulator | None = None,
        **options: Any,
    ) -> None:
        program = emulator or best_emulator(columns, rows)
        self.core = HostCore(columns, rows, program, HostOptions(**options))
        self.outer = OuterScreen(columns, rows)
        self.now_s = 100.0
        self.written = b""
        self.commands: list[Command] = []
        self.typed = b""
        self._stream = OuterStream(self.outer)
        self._ids = count(1)
        self._states: dict[str, str] = {}

    @classmethod
    def swallowing(cls, columns: int = 20, rows: int = 6, **options: Any) -> Self:
        """Return a window whose emulator shows nothing."""
        return cls(columns, rows, emulator=SwallowingEmulator(columns, rows), **options)

    def output(self, *parts: str | bytes) -> Self:
        """Let the program write."""
        for part in parts:
            data = part if isinstance(part, bytes) else part.replace("\n", "\r\n").encode()
            self.core.receive_output(data, self.now_s)
        return self

    def open(self) -> Self:
        """Let an application open its Context."""
        self.output(framed(opening()))
        self.typed += self.core.data_for_program()
        return self

    def append(self, block_id: str, data: Any, **options: Any) -> Self:
        """Let the application append a Block."""
        if isinstance(data, str):
            type_name = PLAIN
        else:
            type_name = STYLED if all(isinstance(it, Span) for it in data) else LINES
        return self.message(append, block_id, data, type_name=type_name, **options)

    def extend(self, block_id: str, fragment: Any) -> Self:
        base = self._states[block_id]
        return self.output(self._framed(extend, block_id, base, fragment))

    def update(self, block_id: str, data: Any) -> Self:
        return self.message(update, block_id, data)

    def seal(self, block_id: str) -> Self:
        message = seal(str(next(self._ids)), block_id=block_id, context_id="context_1")
        return self.output(framed(message))

    def close(self) -> Self:
        return self.output(framed(closing(str(next(self._ids)), "context_1")))

    def message(self, make: Any, block_id: str, *data: Any, **options: Any) -> Self:
        return self.output(self._framed(make, block_id, *data, **options))

    def keys(self, *names: str) -> Self:
        """Press keys by name, or type a text that is the name of none."""
        for name in names:
            self.input(KEYS.get(name, name.encode()))
            if name == "escape":
                self.wait(0.06)
        return self

    def mouse(self, what: str, row: int, column: int, *, shift: bool = False) -> Self:
        code, final = MOUSE[what][:-1], MOUSE[what][-1]
        number = int(code) + 4 * shift
        return self.input(f"\x1b[<{number};{column + 1};{row + 1}{final}".encode())

    def input(self, data: bytes) -> Self:
        self.core.receive_input(data, self.now_s)
        self._take()
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass, as a driver does: whenever a tick is wanted, there is one."""
        end_s = self.now_s + seconds
        while (wake_at_s := self.core.wake_at_s) is not None and wake_at_s <= end_s:
            self.now_s = max(self.now_s, wake_at_s)
            self.core.tick(self.now_s)
        self.now_s = end_s
        self._take()
        return self

    def resize(self, columns: int, rows: int) -> Self:
        self.core.resize(columns, rows)
        self.outer.resize(rows, columns)
        return self

    def look(self) -> list[str]:
        """Return the rows that a person sees, without the blanks at their end."""
        while self.core.idle():
            pass
        self.written = self.core.paint()
        assert b"\x1b[2J" not in self.written
        assert b"\x1b[3J" not in self.written
        self._stream.feed(self.written)
        self._take()
        return [row.rstrip() for row in self.outer.display]

    def text(self) -> list[str]:
        """Return what is seen of the history and the program, without the status line."""
        rows = self.look()
        return rows[: self.core.program_size[1]]

    @property
    def status(self) -> str:
        return self.look()[-1]

    @property
    def cursor(self) -> tuple[int, int]:
        self.look()
        return self.outer.cursor.y, self.outer.cursor.x

    @property
    def copied(self) -> list[str]:
        self._take()
        return [it.text for it in self.commands if isinstance(it, CopyText)]

    def transcript(self, last_rows: int | None = None) -> list[str]:
        return list(self.core.transcript(last_rows=last_rows))

    def _take(self) -> None:
        self.commands += self.core.take_commands()
        self.typed += self.core.data_for_program()

    def _framed(self, make: Any, block_id: str, *data: Any, **options: Any) -> bytes:
        operation_id = str(next(self._ids))
        self._states[block_id] = operation_id
        message = make(operation_id, *data, block_id=block_id, context_id="context_1", **options)
        return framed(message)
