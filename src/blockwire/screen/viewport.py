"""What of the history is seen: its tail, or what a reader looks at.

Spec: docs/spec/terminal/history.md, "The reader's place". Nothing that arrives moves a reader, and
only a reader's own way to the last row makes the tail be followed again.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from blockwire.screen.heights import Place
from blockwire.screen.history import History, ViewRow
from blockwire.screen.positions import Anchor, Change, Position, Range, anchor_after

# Rows of the page before that are seen on the next one.
PAGE_OVERLAP_ROWS: Final = 1

# A place that is looked up stands this far down: one part of so many.
REVEALED_PART: Final = 3

View: TypeAlias = tuple[ViewRow | None, ...]
"""One entry for each row of the viewport, from the top; None where there is nothing."""


class Viewport:
    """A window of some rows on the history.

    Attributes:
        rows: At least 1.
        anchor: What a reader looks at; None while the tail is followed.
        scrolled_cells: How far lines that are not wrapped are scrolled sideways.
    """

    def __init__(self, history: History, rows: int) -> None:
        self.rows = rows
        self.anchor: Anchor | None = None
        self.scrolled_cells = 0
        self._history = history
        # The newest segment that grew behind a reader's back.
        self._grown_id = -1
        # The last view, and what it is valid for; None if what was seen has changed.
        self._seen: View = ()
        self._seen_for: tuple[object, ...] | None = None

    @property
    def is_following(self) -> bool:
        """Whether the last row stays visible whatever comes."""
        return self.anchor is None

    @property
    def has_unseen(self) -> bool:
        """Whether text arrived below what a reader sees."""
        last = self._last_seen()
        return (
            self.anchor is not None
            and last is not None
            and self._grown_id >= last.segment_id
            and last != self._history.last_place()
        )

    @property
    def rows_below(self) -> int:
        """Rows below what is seen; an estimate, as :attr:`History.total_rows`."""
        last = self._last_seen()
        if last is None:
            return 0
        return max(self._history.total_rows - self._history.rows_before(last) - 1, 0)

    def view(self) -> View:
        """Return what is seen; the same object as long as that cannot have changed."""
        key = self._history.paper, self.rows, self.anchor, self.scrolled_cells
        if self._seen_for != key:
            seen = self._new_view()
            if seen != self._seen:
                self._seen = seen
            self._seen_for = key
        return self._seen

    def first_seen_id(self) -> int:
        """Return the oldest segment that is seen; the next one to come if none is."""
        first = next((row for row in self.view() if row is not None), None)
        return self._history.end_id if first is None else first.place.segment_id

    def range_at(self, row: int, column: int) -> Range | None:
        """Return what has a cell: from before to behind its cluster.

        Right of a text it is nothing, at its end; above or below everything, nothing at the
        beginning or the end; None if the history is empty.

        Args:
            row: Of the viewport; others are taken as the first or last one.
            column: From 0.
        """
        if self._history.is_empty:
            return None
        view = self.view()
        row = min(max(row, 0), self.rows - 1)
        found = view[row]
        if found is None:
            is_above = any(view[row:])
            history = self._history
            position = Position(history.first_id, 0) if is_above else history.end_position
            return Range(position, position)
        start, end = found.row.indexes_at(column)
        return Range(found.position(start), found.position(end))

    def scroll(self, rows: int) -> None:
        """Move on by so many rows, or back if negative, as far as there are any."""
        if self._history.is_empty:
            return
        top, _moved = self._history.move(self._top()[0], rows)
        self._look_from(top)

    def scroll_pages(self, pages: int) -> None:
        """Move on by so many screens, or back if negative."""
        self.scroll(pages * max(self.rows - PAGE_OVERLAP_ROWS, 1))

    def scroll_home(self) -> None:
        """Go to the first row."""
        if not self._history.is_empty:
            self._look_from(Place(self._history.first_id, 0))

    def scroll_end(self) -> None:
        """Go to the last row, and follow it."""
        self.anchor = None

    def scroll_to_row(self, row: int) -> None:
        """Go to a row of the whole history, as far as heights are known: for a scroll bar."""
        if not self._history.is_empty:
            self._look_from(self._history.place_at(row))

    def scroll_sideways(self, cells: int) -> None:
        """Move lines that are not wrapped; the farthest is the end of the widest one that is seen."""
        widest_cells = max(
            (self._history.overflow_cells(row.place) for row in self.view() if row), default=0
        )
        self.scrolled_cells = min(max(self.scrolled_cells + cells, 0), widest_cells)

    def reveal(self, position: Position) -> None:
        """Read where a position is, and if it is not seen, go there."""
        place = self._history.place_of(position)
        for number, seen in enumerate(self.view()):
            if seen is not None and seen.place == place:
                self._read(Anchor(position, number))
                return
        wanted_row = self.rows // REVEALED_PART
        _top, moved = self._history.move(place, -wanted_row)
        self._read(Anchor(position, -moved))

    def follow_change(self, change: Change) -> None:
        """Keep a reader's place after the history changed."""
        if self._may_show(change):
            self._seen_for = None
        if self.anchor is None:
            return
        self.anchor = anchor_after(change, self.anchor)
        if change.kind in {"appended", "extended"}:
            self._grown_id = max(self._grown_id, change.segment_id)

    def _may_show(self, change: Change) -> bool:
        """Tell whether a change may concern what was seen last."""
        first, last = (self._seen[0], self._seen[-1]) if self._seen else (None, None)
        if first is None or last is None:
            return True
        last_id = change.end_id - 1 if change.kind == "trimmed" else change.segment_id
        is_above = last_id < first.place.segment_id
        is_below = change.segment_id > last.place.segment_id and self.anchor is not None
        return not (is_above or is_below)

    def _new_view(self) -> View:
        if self._history.is_empty:
            return (None,) * self.rows
        top, blank_rows = self._top()
        count = self.rows - blank_rows
        seen = tuple(self._history.rows_from(top, count, self.scrolled_cells))
        return (*(None,) * blank_rows, *seen, *(None,) * (count - len(seen)))

    def _top(self) -> tuple[Place, int]:
        """Return the first row that is seen, and the empty ones above it."""
        history = self._history
        if self.anchor is None:
            return self._top_of_tail(), 0
        row = min(self.anchor.row, self.rows - 1)
        top, moved = history.move(history.place_of(self.anchor.position), -row)
        return top, row + moved

    def _top_of_tail(self) -> Place:
        return self._history.move(self._history.last_place(), 1 - self.rows)[0]

    def _look_from(self, top: Place) -> None:
        if top >= self._top_of_tail():
            self.scroll_end()
            return
        [first] = self._history.rows_from(top, 1)
        self._read(Anchor(first.position(first.row.start), 0))

    def _read(self, anchor: Anchor) -> None:
        if self.anchor is None:
            self._grown_id = -1
        self.anchor = anchor

    def _last_seen(self) -> Place | None:
        return next((row.place for row in reversed(self.view()) if row is not None), None)
