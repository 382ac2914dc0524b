"""A cursor on the history: where it is seen, and the moves that keys make.

Spec: docs/spec/host/copying.md, "By keyboard". The cursor is the anchor of the reader: so what is promised
of the anchor (it stays at its text, in its row, whatever arrives) is promised of the cursor.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, TypeAlias

from blockwire.host.reading import block_behind, block_start_before
from blockwire.screen import Place, Position, Range, Screen, ViewRow

LinePart: TypeAlias = Literal["start", "first", "end"]
WordPart: TypeAlias = Literal["next", "back", "end"]

_WORD: Final = re.compile(r"\w+|[^\w\s]+")


class Cell(NamedTuple):
    """Where the cursor is seen."""

    row: int
    column: int
    seen: ViewRow


class TextCursor:
    """A cursor, as long as something is there to be on.

    Attributes:
        goal: The column that moves from row to row keep to; None after any other move.
    """

    def __init__(self, screen: Screen) -> None:
        self.goal: int | None = None
        self._screen = screen

    def begin(self, row: int, column: int) -> None:
        """Move to a cell of the window, or to the text nearest to it; there must be some."""
        rows = [number for number, seen in enumerate(self._screen.view()) if seen is not None]
        self._put(min(max(row, rows[0]), rows[-1]), column)

    def cell(self) -> Cell:
        """Return where the cursor is: if somebody went to the end, there."""
        viewport = self._screen.viewport
        if viewport.anchor is None:
            self.begin(viewport.rows, 0)
        anchor = viewport.anchor
        assert anchor is not None, "there is one from the beginning on"
        row, seen = self._seen_at(self._screen.history.place_of(anchor.position))
        columns = self._screen.history.paper.columns
        column, _behind = seen.columns_of(Range(anchor.position, anchor.position), columns)
        return Cell(row, min(column, columns - 1), seen)

    def range_at(self, cell: Cell) -> Range:
        """Return the character at a cell."""
        at = self._screen.viewport.range_at(cell.row, cell.column)
        assert at is not None, "the cell is on something"
        return at

    def go_to(self, position: Position) -> None:
        """Move to a place of the history, and show it."""
        self._screen.viewport.reveal(position)

    def move_rows(self, cell: Cell, rows: int) -> None:
        """Move down so many rows, or up if negative, and scroll no more than that needs."""
        target, moved = self._screen.history.move(cell.seen.place, rows)
        row = cell.row + moved
        viewport = self._screen.viewport
        if row < 0:
            viewport.scroll(row)
        elif row >= viewport.rows:
            viewport.scroll(row - viewport.rows + 1)
        self._put_on(target, self._column(cell))

    def move_pages(self, cell: Cell, rows: int) -> None:
        """Move on so many rows with the window; the cursor stays in its row of it if it can."""
        target, _moved = self._screen.history.move(cell.seen.place, rows)
        self._screen.viewport.scroll(rows)
        self._put_on(target, self._column(cell))

    def scroll(self, cell: Cell, rows: int) -> None:
        """Scroll under the cursor, as a wheel does; it stays in its row of the window."""
        self._screen.viewport.scroll(rows)
        self.begin(cell.row, self._column(cell))

    def move_to_edge(self, *, is_end: bool) -> None:
        """Move to the first row of all, or the last."""
        viewport = self._screen.viewport
        if is_end:
            viewport.scroll_end()
        else:
            viewport.scroll_home()
        self.begin(viewport.rows if is_end else 0, 0)

    def move_cells(self, cell: Cell, *, is_right: bool) -> None:
        """Move by one character, within the row."""
        if is_right:
            columns = self._screen.history.paper.columns
            _first, behind = cell.seen.columns_of(self.range_at(cell), columns)
            self._put(cell.row, behind)
        else:
            self._put(cell.row, max(cell.column - 1, 0))

    def move_in_line(self, cell: Cell, part: LinePart) -> None:
        """Move within the whole line, be it in many rows."""
        shown = cell.seen.row.line
        text = shown.shown
        index = {
            "start": 0,
            "first": len(text) - len(text.lstrip()),
            "end": max(len(text) - 1, 0),
        }[part]
        self._go(cell.seen, shown.widen(index, min(index + 1, len(text)))[0])

    def move_words(self, cell: Cell, part: WordPart) -> None:
        """Move to the next word, the end of one, or back, over the ends of lines."""
        here = cell.seen.row.indexes_at(cell.column)[0]
        found = [
            it for it in _stops(cell.seen, part) if (it < here if part == "back" else it > here)
        ]
        seen: ViewRow | None = cell.seen
        if not found:
            seen = self._line_before(cell) if part == "back" else self._line_behind(cell)
            found = [] if seen is None else _stops(seen, part) or [0]
        if seen is not None:
            self._go(seen, found[-1 if part == "back" else 0])

    def move_blocks(self, cell: Cell, *, is_down: bool) -> None:
        """Move to the start of this Block, of the one before, or of the next one."""
        anchor = self._screen.viewport.anchor
        assert anchor is not None, "that is where the cell is"
        target = (
            block_behind(self._screen, cell.seen.place.segment_id)
            if is_down
            else block_start_before(self._screen, anchor.position)
        )
        if target is not None:
            self.go_to(Position(target, 0))

    def _column(self, cell: Cell) -> int:
        return cell.column if self.goal is None else self.goal

    def _put(self, row: int, column: int) -> None:
        """Move to a cell of a row that is there; right of its text, to the last character."""
        viewport = self._screen.viewport
        seen = self._screen.view()[row]
        assert seen is not None, "the caller looked"
        columns = self._screen.history.paper.columns
        first, behind = seen.row.columns_of(seen.row.start, seen.row.end, columns)
        at = viewport.range_at(row, min(max(column, first), max(behind - 1, first)))
        assert at is not None, "there is a row"
        viewport.reveal(at.start)

    def _put_on(self, place: Place, column: int) -> None:
        row, _seen = self._seen_at(place)
        self._put(row, column)

    def _seen_at(self, place: Place) -> tuple[int, ViewRow]:
        """Return where a row is seen that is: that of the anchor, or one that was scrolled to."""
        rows = enumerate(self._screen.view())
        return next((row, seen) for row, seen in rows if seen is not None and seen.place == place)

    def _go(self, seen: ViewRow, index: int) -> None:
        self.go_to(seen.position(index))

    def _line_behind(self, cell: Cell) -> ViewRow | None:
        history = self._screen.history
        for seen in history.rows_from(cell.seen.place, history.total_rows):
            if not _is_same_line(seen, cell.seen):
                return seen
        return None

    def _line_before(self, cell: Cell) -> ViewRow | None:
        history = self._screen.history
        first = history.place_of(cell.seen.position(0))
        target, moved = history.move(first, -1)
        return next(iter(history.rows_from(target, 1))) if moved else None


def _stops(seen: ViewRow, part: WordPart) -> list[int]:
    """Return where in its line words begin, or end."""
    words = _WORD.finditer(seen.row.line.shown)
    return [word.end() - 1 if part == "end" else word.start() for word in words]


def _is_same_line(one: ViewRow, other: ViewRow) -> bool:
    is_here = one.place.segment_id == other.place.segment_id
    return is_here and one.row.line_start == other.row.line_start
