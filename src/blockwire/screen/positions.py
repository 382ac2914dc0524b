"""Places in the history that outlive layout, and what a change does to them.

Spec: docs/spec/terminal/history.md, "What stays". This is the one copy of its table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final, Literal, NamedTuple, TypeAlias

from blockwire.terminal import ShownLine

ChangeKind: TypeAlias = Literal[
    "appended", "extended", "suffix_replaced", "updated", "trimmed", "live_changed"
]

LIVE_SEGMENT_ID: Final = 2**62
"""The segment of the live screen: behind every other one."""


class Position(NamedTuple):
    """A place between two characters of the history; positions sort as the history reads.

    Attributes:
        segment_id: Ids count up in the order of the history and are never used again, save for
            those of the newest ordinary output when it is erased.
        offset: Scalars of the segment's logical text before it.
        part: Characters before it of what the scalar at ``offset`` shows; more than 0 only inside
            of a label or of the blanks of a Tab.
    """

    segment_id: int
    offset: int
    part: int = 0


class LiveMove(NamedTuple):
    """What became of one row of the live screen.

    Attributes:
        start: Scalars of the live screen before it, as it was.
        to: Where it begins now; if it is gone, where the row begins that is nearest.
        is_kept: Whether it is what it was.
        is_adjoining: Whether it stands directly behind what stood before it.
    """

    start: int
    to: Position
    is_kept: bool
    is_adjoining: bool


class Change(NamedTuple):
    """What became of the history.

    Attributes:
        segment_id: Which segment; if ``trimmed``, the first one that went.
        kept: Scalars at the beginning of its text that are what they were.
        end_id: If ``trimmed``, all segments before this one went; if the live screen was
            ``extended``, the next one to come.
        next_id: If ``trimmed``, the first one behind them that stayed or is still to come.
        moves: If ``live_changed``, one for each row that the live screen had.
    """

    kind: ChangeKind
    segment_id: int
    kept: int = 0
    end_id: int = 0
    next_id: int = 0
    moves: tuple[LiveMove, ...] = ()


class Anchor(NamedTuple):
    """What a reader looks at.

    Attributes:
        position: Of what is to stay where it is.
        row: Of the viewport, from 0, in which it stands.
    """

    position: Position
    row: int


class Range(NamedTuple):
    """What stands from one position up to another."""

    start: Position
    end: Position


def anchor_after(change: Change, anchor: Anchor) -> Anchor:
    """Return where a reader is after a change: in the same row, whatever changed elsewhere."""
    is_trimmed = change.kind == "trimmed" and _went(change, anchor.position)
    return Anchor(position_after(change, anchor.position), 0 if is_trimmed else anchor.row)


def position_after(change: Change, position: Position) -> Position:
    """Return where a place is after a change, or the one that is nearest to it if it is gone."""
    if change.kind == "trimmed":
        return Position(change.next_id, 0) if _went(change, position) else position
    if change.kind == "extended" and change.segment_id == LIVE_SEGMENT_ID:
        # What waited for the next segment, when there was nothing any more, has found one.
        is_waiting = change.end_id <= position.segment_id < LIVE_SEGMENT_ID
        return Position(LIVE_SEGMENT_ID, 0) if is_waiting else position
    if change.segment_id != position.segment_id:
        return position
    if change.kind in {"updated", "suffix_replaced"} and position.offset >= change.kept:
        return Position(position.segment_id, change.kept)
    if change.kind == "live_changed" and change.moves:
        move = change.moves[_row_from(change.moves, position.offset)]
        return _moved(move, position) if move.is_kept else move.to
    return position


def range_after(change: Change, chosen: Range) -> Range | None:
    """Return where a selection, or a match of a search, is after a change; None if it is gone.

    What remains has the text that it had, and what was added in the middle of it.
    """
    start, end = chosen
    if change.kind == "trimmed":
        return (
            None
            if start.segment_id < change.end_id and end.segment_id >= change.segment_id
            else chosen
        )
    if not start.segment_id <= change.segment_id <= end.segment_id:
        return chosen
    if change.kind == "live_changed":
        return _live_range_after(change.moves, chosen)
    if change.kind == "suffix_replaced":
        return chosen if end <= Position(change.segment_id, change.kept) else None
    return None if change.kind == "updated" else chosen


def index_in(line: ShownLine, segment_id: int, line_start: int, position: Position) -> int:
    """Return where a position is among what a line shows: its index, or the end it lies beyond.

    Args:
        line: Of the segment ``segment_id``.
        segment_id: As of positions.
        line_start: Scalars of the segment before the line.
        position: Anywhere.
    """
    if position < Position(segment_id, line_start):
        return 0
    offset = position.offset - line_start
    if position.segment_id > segment_id or offset >= len(line.text):
        return len(line.shown)
    return min(line.to_shown(offset) + position.part, line.to_shown(offset + 1))


def _went(change: Change, position: Position) -> bool:
    return change.segment_id <= position.segment_id < change.end_id


def _live_range_after(moves: tuple[LiveMove, ...], chosen: Range) -> Range | None:
    """Return a range that reaches into the live screen: kept if its rows are, in one piece."""
    start, end = chosen
    is_inside = start.segment_id == LIVE_SEGMENT_ID
    first = _row_from(moves, start.offset) if is_inside else 0
    last = max(bisect_left(moves, end.offset, key=_start) - 1, first)
    touched = moves[first : last + 1]
    is_whole = all(move.is_kept for move in touched) and all(
        move.is_adjoining for move in touched[is_inside:]
    )
    if not is_whole:
        return None
    return Range(_moved(moves[first], start) if is_inside else start, _moved(moves[last], end))


def _row_from(moves: tuple[LiveMove, ...], offset: int) -> int:
    return bisect_right(moves, offset, key=_start) - 1


def _moved(move: LiveMove, position: Position) -> Position:
    offset = move.to.offset + position.offset - move.start
    return Position(move.to.segment_id, offset, position.part)


def _start(move: LiveMove) -> int:
    return move.start
