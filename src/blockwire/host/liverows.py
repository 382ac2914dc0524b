"""The live screen of a program as the tail of the history, kept in step.

Spec: docs/spec/host/index.md, "Ordinary output between Blocks". The one owner of which rows are live
and which are history.
"""

from __future__ import annotations

from blockwire.host.emulator import Emulator, LiveRow, to_ordinary
from blockwire.screen import OrdinaryRow, Screen


class LiveRows:
    """An emulator's rows, carried into a screen when somebody is to see or to place something.

    Attributes:
        shown: All rows of the emulator as they were carried last.
    """

    def __init__(self, emulator: Emulator, screen: Screen) -> None:
        self.shown: tuple[LiveRow, ...] = ()
        self._emulator = emulator
        self._screen = screen
        self._count = 0
        # What was made of each row; both are kept, so that an id means one row.
        self._made: dict[int, tuple[LiveRow, OrdinaryRow]] = {}

    def carry(self) -> None:
        """Let the history have the rows that left, and show the others as its tail."""
        left = self._emulator.take_scrolled()
        rows = self._emulator.live_rows()
        # All of another program's whole screen, so that the window shows nothing but it.
        is_whole = self._emulator.modes.is_alternate
        count = len(rows) if is_whole else self._emulator.rows_in_use()
        if not left and count == self._count and _is_same(rows[:count], self.shown[:count]):
            self.shown = rows
            return
        self.shown, self._count = rows, count
        self._screen.advance_live(left, self._ordinary(rows[:count]))

    def make_room(self) -> None:
        """Commit what stands before the place of a new Block.

        A cursor in column 0 leaves its row and those below live; else its row is ended and goes too.
        """
        emulator = self._emulator
        if emulator.modes.is_alternate:
            # Out of sight, and no library tells of the other screen: the Block goes before it.
            self.carry()
            return
        cursor = emulator.cursor
        if cursor.column > 0 or emulator.is_wrap_pending:
            emulator.end_row()
            cursor = emulator.cursor
        left = emulator.take_scrolled()
        left += emulator.take_top(cursor.row)
        self.shown = emulator.live_rows()
        self._count = emulator.rows_in_use()
        self._screen.advance_live(left, self._ordinary(self.shown[: self._count]))

    def _ordinary(self, rows: tuple[LiveRow, ...]) -> list[OrdinaryRow]:
        known, self._made = self._made, {}
        for row in rows:
            self._made[id(row)] = known.get(id(row)) or (row, to_ordinary(row))
        return [self._made[id(row)][1] for row in rows]


def _is_same(rows: tuple[LiveRow, ...], others: tuple[LiveRow, ...]) -> bool:
    return len(rows) == len(others) and all(map(_is, rows, others))


def _is(row: LiveRow, other: LiveRow) -> bool:
    return row is other
