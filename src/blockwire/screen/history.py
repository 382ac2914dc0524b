"""Everything that was shown and is retained, in order, and the way through its rows.

Spec: docs/spec/terminal/history.md. The one owner of segments: a change is noted at once and costs
next to nothing; rows are counted when they are looked at, or by :meth:`History.refine`. The last
segment is the live screen, if that has rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from blockwire.screen.heights import Place
from blockwire.screen.layout import LaidLine, Paper
from blockwire.screen.live import LiveSegment, follow_rows
from blockwire.screen.ordinary import OrdinaryRow, OrdinaryText
from blockwire.screen.positions import (
    LIVE_SEGMENT_ID,
    Change,
    ChangeKind,
    LiveMove,
    Position,
    Range,
    index_in,
)
from blockwire.screen.rows import Row
from blockwire.screen.segments import Segment
from blockwire.screen.sequence import SegmentSequence
from blockwire.terminal import (
    BlockAppended,
    BlockExtended,
    BlockSuffixReplaced,
    BlockUpdated,
    BlockView,
    Effect,
)

# What a segment is counted with, its text aside: about the memory that it takes.
SEGMENT_COST_BYTES: Final = 512

# Lines that are kept laid out: a few screens of them.
LAID_LINES_MAX: Final = 512


class ViewRow(NamedTuple):
    """A row, and where in the history it is."""

    place: Place
    row: Row

    def position(self, index: int) -> Position:
        """Return the position before an index of what its line shows."""
        line = self.row.line
        offset = line.to_scalar(index)
        part = index - line.to_shown(offset)
        return Position(self.place.segment_id, self.row.line_start + offset, part)

    def columns_of(self, chosen: Range, columns: int) -> tuple[int, int]:
        """Return from where up to where this row belongs to a selection or a match.

        Args:
            chosen: Anywhere in the history.
            columns: Of the screen.
        """
        row, segment_id = self.row, self.place.segment_id
        start, end = (index_in(row.line, segment_id, row.line_start, it) for it in chosen)
        return self.row.columns_of(start, end, columns)


class _Laid(NamedTuple):
    stamp: object
    paper: Paper
    line: LaidLine


class History:
    """The segments that are retained.

    Attributes:
        paper: The screen that rows are made for.
        cost_bytes: Of all segments, against the capacity.
    """

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        self.cost_bytes = 0
        self._segments = SegmentSequence(LiveSegment((), paper))
        self._ordinary_ids: set[int] = set()
        self._ids: dict[tuple[str, str], int] = {}
        self._laid: dict[tuple[int, int], _Laid] = {}
        # Changed and not counted since; everything from an id on is to be looked at after a resize.
        self._changed: dict[int, None] = {}
        self._unrefined_id = 0

    @property
    def first_id(self) -> int:
        """The oldest segment that is retained, or the next one to come."""
        return self._segments.id_or_next(0)

    @property
    def end_id(self) -> int:
        """The id of the next segment; the live screen is behind it."""
        return self._segments.end_id

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing, not even on the live screen."""
        return len(self._segments) == 0

    @property
    def live_rows(self) -> tuple[OrdinaryRow, ...]:
        """What the live screen shows."""
        return self._segments.live.rows

    @property
    def total_rows(self) -> int:
        """The rows of everything; an estimate until :meth:`refine` has nothing left to do."""
        return self._segments.total_rows

    @property
    def end_position(self) -> Position:
        """The place behind everything."""
        return self._segments.end_position

    def segment(self, segment_id: int) -> Segment:
        """Return a segment that is there."""
        return self._segments[segment_id]

    def has(self, segment_id: int) -> bool:
        """Tell whether a segment is there."""
        return segment_id in self._segments

    def ids(self, first_id: int, last_id: int) -> Iterator[int]:
        """Yield the segments that are there from one id up to another, both included."""
        return self._segments.ids(first_id, last_id)

    def goes_on_live(self, segment_id: int) -> bool:
        """Tell whether the last line of a segment goes on in the live screen."""
        ordinary = self._segments[segment_id].ordinary
        return segment_id == self.end_id - 1 and ordinary is not None and ordinary.is_open

    def segment_id(self, block: BlockView) -> int | None:
        """Return which segment shows a Block; None if it was trimmed."""
        return self._ids.get((block.context_id, block.block_id))

    def apply(self, effect: Effect) -> Change | None:
        """Take note of what became of a Block; return what that changes here, if anything."""
        if isinstance(effect, BlockAppended):
            self._ids[effect.block.context_id, effect.block.block_id] = self.end_id
            return self._append(Segment(effect.block, self.paper))
        if isinstance(effect, BlockExtended):
            return self._change("extended", effect.block, effect.start)
        if isinstance(effect, BlockSuffixReplaced):
            return self._change("suffix_replaced", effect.block, effect.retain)
        if isinstance(effect, BlockUpdated):
            return self._change("updated", effect.block, 0)
        return None

    def append_ordinary(self, rows: Iterable[OrdinaryRow]) -> list[Change]:
        """Add rows behind all others but those of the live screen; return what that changes."""
        return self._add_rows(rows)[0]

    def advance_live(
        self, left: Sequence[OrdinaryRow], rows: Sequence[OrdinaryRow]
    ) -> list[Change]:
        """Add rows that left the live screen, and replace those that it has; return what that changes.

        Args:
            left: In their order, be they what the live screen had or not.
            rows: All that it has now.
        """
        before = self._segments.live
        moves = follow_rows(before.rows, left, rows)
        is_same = not left and all(move == (number, True) for number, move in enumerate(moves))
        if is_same and len(rows) == len(moves):
            return []
        changes, starts = self._add_rows(left)
        live = LiveSegment(tuple(rows), self.paper)
        self._segments.set_live(live)
        starts += (Position(LIVE_SEGMENT_ID, start) for start in live.row_starts)
        if not is_same:
            starts = starts or [self.end_position]
            numbers = [-1, *(move.number for move in moves)]
            live_moves = (
                LiveMove(start, starts[move.number], move.is_kept, move.number == number + 1)
                for start, move, number in zip(before.row_starts, moves, numbers, strict=False)
            )
            changes.append(Change("live_changed", LIVE_SEGMENT_ID, moves=tuple(live_moves)))
        if len(left) + len(rows) > len(moves):
            kept = before.content.scalar_count if is_same else 0
            changes.append(Change("extended", LIVE_SEGMENT_ID, kept, end_id=self.end_id))
        return changes

    def erase_ordinary(self) -> list[Change]:
        """Forget all ordinary output that is not on the live screen; return what that changes."""
        runs: list[tuple[int, int]] = []
        gone_ids = sorted(self._ordinary_ids)
        for segment_id in gone_ids:
            is_next = bool(runs) and runs[-1][1] == segment_id
            first_id = runs.pop()[0] if is_next else segment_id
            runs.append((first_id, segment_id + 1))
        self._remove(gone_ids)
        # The ids of what went last come again.
        self._laid.clear()
        return [
            Change("trimmed", first_id, end_id=end_id, next_id=self._segments.id_or_next(end_id))
            for first_id, end_id in runs
        ]

    def drop_first(self) -> BlockView | None:
        """Forget the oldest segment for good; return its Block if it is one."""
        segment_id = self._segments.oldest_id
        block = self._segments[segment_id].block
        self._remove([segment_id])
        if block is not None:
            del self._ids[block.context_id, block.block_id]
        return block

    def set_paper(self, paper: Paper) -> None:
        """Make rows for another screen from now on; heights stay as estimates."""
        if paper != self.paper:
            self.paper = paper
            self._unrefined_id = self._segments.oldest_id

    def refine(self, budget_rows: int) -> bool:
        """Count rows that were estimated, about so many; return whether there are more."""
        while budget_rows > 0:
            if self._changed:
                # The last one: the first is far to find in a dict that lost many from its front.
                segment_id, _ = self._changed.popitem()
            elif self._unrefined_id < self.end_id:
                segment_id = self._segments.id_or_next(self._unrefined_id)
                self._unrefined_id = segment_id + 1
            else:
                return False
            budget_rows -= max(self._measure(segment_id, budget_rows), 1)
            if not self._segments[segment_id].is_measured:
                self._changed[segment_id] = None
        return bool(self._changed) or self._unrefined_id < self.end_id

    def last_place(self) -> Place:
        """Return the last row; there must be one."""
        segment_id = self._segments.last_id
        assert segment_id is not None, "something is there"
        return Place(segment_id, self._height(segment_id) - 1)

    def place_of(self, position: Position) -> Place:
        """Return the row in which a position stands, as near as there is one; there must be rows."""
        segment_id = self._segments.id_from(position.segment_id)
        if segment_id is None:
            return self.last_place()
        if segment_id != position.segment_id:
            return Place(segment_id, 0)
        self._height(segment_id)
        start, top = self._segments[segment_id].line_at(position.offset)
        line = self._laid_line(segment_id, start)
        row = line.row_of(index_in(line.shown, segment_id, start, position))
        return Place(segment_id, top + row)

    def move(self, place: Place, rows: int) -> tuple[Place, int]:
        """Return the row so many rows further on (back, if negative), and how many it really was."""
        segment_id, row = place
        target = row + rows
        while target < 0 and (before_id := self._segments.id_before(segment_id)) is not None:
            segment_id = before_id
            target += self._height(segment_id)
        while target >= (height := self._height(segment_id)):
            next_id = self._segments.id_from(segment_id + 1)
            if next_id is None:
                break
            segment_id = next_id
            target -= height
        reached = min(max(target, 0), height - 1)
        return Place(segment_id, reached), rows - (target - reached)

    def rows_from(self, place: Place, count: int, scrolled_cells: int = 0) -> Iterator[ViewRow]:
        """Yield so many rows from a place on, or as many as there are."""
        segment_id, row = place
        while count > 0:
            if row >= self._height(segment_id):
                next_id = self._segments.id_from(segment_id + 1)
                if next_id is None:
                    return
                segment_id, row = next_id, 0
                continue
            yield self._view_row(Place(segment_id, row), scrolled_cells)
            row, count = row + 1, count - 1

    def rows_before(self, place: Place) -> int:
        """Return the rows before a place; an estimate, as :attr:`total_rows`."""
        return self._segments.rows_before(place)

    def place_at(self, row: int) -> Place:
        """Return the place of a row of the whole history, as far as heights are known."""
        place = self._segments.place_at(min(max(row, 0), self.total_rows - 1))
        return place._replace(row=min(place.row, self._height(place.segment_id) - 1))

    def overflow_cells(self, place: Place) -> int:
        """Return the cells by which the line of a row is too wide for it, if it is not wrapped."""
        start, _top = self._segments[place.segment_id].line_at_row(place.row)
        return self._laid_line(place.segment_id, start).overflow_cells

    def _add_rows(self, rows: Iterable[OrdinaryRow]) -> tuple[list[Change], list[Position]]:
        """Add rows to ordinary output; return what that changes, and where each row begins."""
        changes: list[Change] = []
        starts: list[Position] = []
        coming = deque(rows)
        while coming:
            segment_id = self.end_id - 1
            text = self._segments[segment_id].ordinary if segment_id in self._segments else None
            is_new = text is None or text.is_full
            if text is None or is_new:
                segment_id, text = self.end_id, OrdinaryText()
            kept = text.scalar_count
            while coming and not text.is_full:
                starts.append(Position(segment_id, text.scalar_count))
                text.add(coming.popleft())
            if is_new:
                changes.append(self._append(Segment(text, self.paper)))
            else:
                changes.append(self._note("extended", segment_id, kept))
        return changes, starts

    def _remove(self, segment_ids: Sequence[int]) -> None:
        for segment_id in segment_ids:
            self.cost_bytes -= self._segments[segment_id].cost_bytes
            self._changed.pop(segment_id, None)
            self._ordinary_ids.discard(segment_id)
        self._segments.remove(segment_ids)
        self._unrefined_id = min(max(self._unrefined_id, self._segments.oldest_id), self.end_id)

    def _append(self, segment: Segment) -> Change:
        segment_id = self._segments.append(segment)
        if segment.block is None:
            self._ordinary_ids.add(segment_id)
        # It is among those that changed; the walk after a resize need not come by if it is over.
        self._unrefined_id += self._unrefined_id == segment_id
        return self._note("appended", segment_id, 0)

    def _change(self, kind: ChangeKind, block: BlockView, kept: int) -> Change | None:
        segment_id = self.segment_id(block)
        return None if segment_id is None else self._note(kind, segment_id, kept)

    def _note(self, kind: ChangeKind, segment_id: int, kept: int) -> Change:
        segment = self._segments[segment_id]
        self._forget(segment_id, kept)
        cost_bytes = SEGMENT_COST_BYTES + segment.content.cost_bytes
        self.cost_bytes += cost_bytes - segment.cost_bytes
        segment.cost_bytes = cost_bytes
        self._segments.set_height(segment_id, segment.estimate_rows())
        self._changed[segment_id] = None
        return Change(kind, segment_id, kept)

    def _forget(self, segment_id: int, kept: int) -> None:
        """Count lines anew, and keep no rows of them; those of a Block before them stay."""
        segment = self._segments[segment_id]
        forgotten = segment.forget(kept, self.paper)
        if segment.block is not None:
            for start in forgotten:
                self._laid.pop((segment_id, start), None)

    def _height(self, segment_id: int) -> int:
        """Return the rows of a segment, counted."""
        if segment_id != LIVE_SEGMENT_ID:
            self._measure(segment_id)
        return self._segments.height(segment_id)

    def _measure(self, segment_id: int, budget_rows: int | None = None) -> int:
        segment = self._segments[segment_id]
        if segment.paper != self.paper:
            self._forget(segment_id, 0)
        elif segment.is_measured:
            return 0
        spent_rows = segment.measure(budget_rows)
        height_rows = segment.height_rows if segment.is_measured else segment.estimate_rows()
        self._segments.set_height(segment_id, height_rows)
        return spent_rows

    def _view_row(self, place: Place, scrolled_cells: int) -> ViewRow:
        start, top = self._segments[place.segment_id].line_at_row(place.row)
        line = self._laid_line(place.segment_id, start)
        return ViewRow(place, line.row(place.row - top, scrolled_cells))

    def _laid_line(self, segment_id: int, start: int) -> LaidLine:
        segment = self._segments[segment_id]
        key = segment_id, start
        laid = self._laid.pop(key, None)
        stamp = segment.stamp(start)
        if laid is None or laid.stamp != stamp or laid.paper != self.paper:
            laid = _Laid(stamp, self.paper, segment.lay_out(start, self.paper))
            if len(self._laid) >= LAID_LINES_MAX:
                del self._laid[next(iter(self._laid))]
        self._laid[key] = laid
        return laid.line
