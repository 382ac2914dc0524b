"""Copy mode: keys move a cursor on the history and select what is copied.

Spec: docs/spec/host/copying.md, "By keyboard".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from blockwire.host.compositor import Rectangle
from blockwire.host.rectangle import (
    Corners,
    corners,
    rectangle_range,
    rectangle_text,
    shown_rectangle,
)
from blockwire.host.textcursor import Cell, TextCursor
from blockwire.screen import Screen, SelectionUnit

Move: TypeAlias = Callable[[TextCursor, Cell, int], None]
"""A move of a cursor from a cell, in a window of so many rows."""

MOVES: Final[Mapping[str, Move]] = MappingProxyType(
    {
        "up": lambda cursor, cell, _rows: cursor.move_rows(cell, -1),
        "down": lambda cursor, cell, _rows: cursor.move_rows(cell, 1),
        "page-up": lambda cursor, cell, rows: cursor.move_pages(cell, -max(rows - 1, 1)),
        "page-down": lambda cursor, cell, rows: cursor.move_pages(cell, max(rows - 1, 1)),
        "half-page-up": lambda cursor, cell, rows: cursor.move_pages(cell, -max(rows // 2, 1)),
        "half-page-down": lambda cursor, cell, rows: cursor.move_pages(cell, max(rows // 2, 1)),
        "left": lambda cursor, cell, _rows: cursor.move_cells(cell, is_right=False),
        "right": lambda cursor, cell, _rows: cursor.move_cells(cell, is_right=True),
        "line-start": lambda cursor, cell, _rows: cursor.move_in_line(cell, "start"),
        "line-first": lambda cursor, cell, _rows: cursor.move_in_line(cell, "first"),
        "line-end": lambda cursor, cell, _rows: cursor.move_in_line(cell, "end"),
        "word": lambda cursor, cell, _rows: cursor.move_words(cell, "next"),
        "word-back": lambda cursor, cell, _rows: cursor.move_words(cell, "back"),
        "word-end": lambda cursor, cell, _rows: cursor.move_words(cell, "end"),
        "block-up": lambda cursor, cell, _rows: cursor.move_blocks(cell, is_down=False),
        "block-down": lambda cursor, cell, _rows: cursor.move_blocks(cell, is_down=True),
        "top": lambda cursor, _cell, _rows: cursor.move_to_edge(is_end=False),
        "bottom": lambda cursor, _cell, _rows: cursor.move_to_edge(is_end=True),
        "view-top": lambda cursor, _cell, _rows: _begin(cursor, 0),
        "view-middle": lambda cursor, _cell, rows: _begin(cursor, (rows - 1) // 2),
        "view-bottom": lambda cursor, _cell, rows: _begin(cursor, rows - 1),
    }
)
"""What each action of copy mode that moves does."""

SELECTIONS: Final[Mapping[str, SelectionUnit]] = MappingProxyType(
    {
        "select": "character",
        "select-line": "line",
        "select-block": "block",
        "select-rectangle": "rectangle",
    }
)
"""What each action of copy mode that selects begins with."""

# Moves from row to row, which keep to a column over shorter rows.
VERTICAL: Final = frozenset(
    {"up", "down", "page-up", "page-down", "half-page-up", "half-page-down"}
)


class CopyMode:
    """What keys do in copy mode; there is a cursor from :meth:`begin` on.

    Attributes:
        cursor: Moved by keys, and by a click.
    """

    def __init__(self, screen: Screen) -> None:
        self.cursor = TextCursor(screen)
        self._screen = screen

    def begin(self, row: int, column: int) -> None:
        """Put the cursor on the text nearest to a cell of the window."""
        self.cursor.goal = None
        self.cursor.begin(row, column)

    def do(self, action: str) -> None:
        """Move or select, as an action of :data:`MOVES` or :data:`SELECTIONS` says, or turn round."""
        cell = self.cursor.cell()
        if action == "other-end":
            self._turn(cell)
        elif action in SELECTIONS:
            self._select(SELECTIONS[action], cell)
        else:
            self._move(action, cell)

    def scroll(self, rows: int) -> None:
        """Scroll under the cursor, as a wheel does."""
        self.cursor.scroll(self.cursor.cell(), rows)
        self.extend()

    def extend(self) -> None:
        """Select up to where the cursor is now, if something was selected and still is."""
        selection = self._screen.selection
        if (at := self._corners()) is not None:
            selection.cover(rectangle_range(self._screen, at))
        else:
            selection.extend_to(self.cursor.range_at(self.cursor.cell()))

    def text(self) -> str:
        """Return what copying gives."""
        at = self._corners()
        return self._screen.selection.text() if at is None else rectangle_text(self._screen, at)

    def rectangle(self) -> Rectangle | None:
        """Return what is selected of the window, if it is a rectangle."""
        at = self._corners()
        return None if at is None else shown_rectangle(self._screen.view(), at)

    def _corners(self) -> Corners | None:
        """Return the rectangle that is selected, if one is."""
        selection, anchor = self._screen.selection, self._screen.viewport.anchor
        if selection.unit != "rectangle" or selection.origin is None or anchor is None:
            return None
        here = self.cursor.range_at(self.cursor.cell())
        return corners(self._screen, selection.origin, here, self.cursor.goal)

    def _turn(self, cell: Cell) -> None:
        """Go to where the selection began, and select up to where the cursor was."""
        selection = self._screen.selection
        if (origin := selection.origin) is not None:
            self.cursor.goal = None
            selection.begin(self.cursor.range_at(cell), selection.unit)
            self.cursor.go_to(origin.start)
            self.extend()

    def _move(self, action: str, cell: Cell) -> None:
        if action not in VERTICAL:
            self.cursor.goal = None
        elif self.cursor.goal is None:
            self.cursor.goal = cell.column
        MOVES[action](self.cursor, cell, self._screen.viewport.rows)
        self.extend()

    def _select(self, unit: SelectionUnit, cell: Cell) -> None:
        selection = self._screen.selection
        if selection.chosen is not None and selection.unit == unit:
            selection.clear()
        else:
            selection.begin(self.cursor.range_at(cell), unit)


def _begin(cursor: TextCursor, row: int) -> None:
    cursor.begin(row, 0)
