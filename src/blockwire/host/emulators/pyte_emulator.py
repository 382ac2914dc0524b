"""The screen of a program in pure Python, on pyte: for systems without a native library.

Spec: docs/spec/host/emulation.md. Slow: under one
megabyte in a second.
"""

from __future__ import annotations

from typing import Final

from blockwire.host.emulator import (
    BLANK_ROW,
    Cursor,
    LiveRow,
    MouseTracking,
    ProgramModes,
    to_ordinary,
)
from blockwire.host.emulators.cells import Cell, count_rows_in_use, row_of_cells
from blockwire.host.emulators.pyte_reader import ProgramReader
from blockwire.host.emulators.pyte_screen import Line
from blockwire.screen import OrdinaryRow
from blockwire.text import AmbiguousWidth

__all__ = ["new_emulator"]

_MOUSE: Final[tuple[tuple[int, MouseTracking], ...]] = (
    (1003, "any"),
    (1002, "drag"),
    (1000, "press"),
    (9, "press"),
)


def new_emulator(
    columns: int,
    rows: int,
    *,
    foreground: str | None,
    background: str | None,
    ambiguous_width: AmbiguousWidth,
) -> PyteEmulator:
    """Return an emulator of this library; see :func:`blockwire.host.emulator.best_emulator`."""
    # Who asks for colours is answered before the emulator sees it.
    del foreground, background
    return PyteEmulator(columns, rows, ambiguous_width)


class PyteEmulator:
    """An :class:`~blockwire.host.emulator.Emulator`."""

    def __init__(self, columns: int, rows: int, ambiguous_width: AmbiguousWidth) -> None:
        self._ambiguous_width = ambiguous_width
        self._reader = ProgramReader(columns, rows)
        self._screen = self._reader.screen
        self._live: tuple[LiveRow, ...] = (BLANK_ROW,) * rows

    @property
    def columns(self) -> int:
        """Its width in cells."""
        return int(self._screen.columns)

    @property
    def rows(self) -> int:
        """Its height in cells."""
        return int(self._screen.lines)

    def feed(self, data: bytes) -> bytes:
        """Show ``data`` and return the replies to it."""
        return self._reader.feed(data)

    def take_scrolled(self) -> list[OrdinaryRow]:
        """Return the rows that left at the top since the last call."""
        lines = self._screen.scrolled
        self._screen.scrolled = []
        return [to_ordinary(self._read(line)) for line in lines]

    def _read(self, line: Line) -> LiveRow:
        end = line.written(self.columns)
        if not end:
            return BLANK_ROW
        cells = [
            Cell(line[at].data, 2 if at + 1 < end and line[at + 1].data == "" else 1, line[at].look)
            for at in range(end)
            if line[at].data
        ]
        return row_of_cells(cells, self._ambiguous_width, is_wrapped=line.is_wrapped)

    def take_top(self, count: int) -> list[OrdinaryRow]:
        """Let the first ``count`` rows leave; nothing while the alternate screen is shown."""
        screen = self._screen
        count = min(count, self.rows)
        if count <= 0 or screen.is_alternate:
            return []
        rows = [to_ordinary(row) for row in self.live_rows()[:count]]
        lines = [screen.buffer.get(row) for row in range(count, self.rows)]
        screen.buffer.clear()
        screen.buffer.update({row: line for row, line in enumerate(lines) if line is not None})
        screen.cursor.x, screen.cursor.y, *_ = self.cursor
        screen.cursor.y = max(screen.cursor.y - count, 0)
        screen.dirty.update(range(self.rows))
        return rows

    def end_row(self) -> None:
        """Begin the next row; nothing while the alternate screen is shown."""
        screen = self._screen
        if screen.is_alternate:
            return
        margins = screen.margins
        screen.margins = None
        screen.carriage_return()
        screen.index()
        screen.margins = margins

    def live_rows(self) -> tuple[LiveRow, ...]:
        """Return all rows of the active screen."""
        dirty = self._screen.dirty
        if dirty:
            rows = list(self._live[: self.rows]) + [BLANK_ROW] * (self.rows - len(self._live))
            # Rows that only moved are the same objects.
            known = {row: row for row in rows}
            for index in dirty:
                row = self._read(self._screen.buffer.get(index, Line()))
                rows[index] = known.get(row, row)
            dirty.clear()
            if len(rows) != len(self._live) or any(
                old is not new for old, new in zip(self._live, rows, strict=True)
            ):
                self._live = tuple(rows)
        return self._live

    def rows_in_use(self) -> int:
        """Return how many rows there are down to the last that is not blank or has the cursor."""
        return count_rows_in_use(self.live_rows(), self._screen.cursor.y)

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is, and how it is shown."""
        cursor = self._screen.cursor
        return Cursor(
            min(cursor.x, self.columns - 1),
            cursor.y,
            is_visible=self._screen.has_mode(25),
            shape=self._reader.shape,
        )

    @property
    def is_wrap_pending(self) -> bool:
        """Whether the next character goes to the next row."""
        return bool(self._screen.cursor.x >= self.columns)

    @property
    def modes(self) -> ProgramModes:
        """What the program has asked for."""
        is_on = self._screen.has_mode
        return ProgramModes(
            is_alternate=self._screen.is_alternate,
            application_cursor=is_on(1),
            application_keypad=is_on(66),
            bracketed_paste=is_on(2004),
            focus_events=is_on(1004),
            mouse=next((name for mode, name in _MOUSE if is_on(mode)), "off"),
            mouse_sgr=is_on(1006),
            alternate_scroll=is_on(1007),
            synchronized=is_on(2026),
        )

    def resize(self, columns: int, rows: int) -> None:
        """Take another size; lines of the primary screen are broken anew."""
        if (columns, rows) != (self.columns, self.rows):
            self._screen.resize(rows, columns)
            # Whoever draws has to draw anew, so nobody need wait for the rest.
            self._screen.switch_mode(2026, is_private=True, is_on=False)
