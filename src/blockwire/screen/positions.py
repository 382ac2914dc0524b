"""Places in the history that outlive layout, and what a change does to them.

Spec: docs/spec/terminal/history.md, "What stays". This is the one copy of its table.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from blockwire.terminal import ShownLine

ChangeKind: TypeAlias = Literal["appended", "extended", "suffix_replaced", "updated", "trimmed"]


class Position(NamedTuple):
    """A place between two characters of the history; positions sort as the history reads.

    Attributes:
        segment_id: Ids count up in the order of the history and are never used again.
        offset: Scalars of the segment's logical text before it.
        part: Characters before it of what the scalar at ``offset`` shows; more than 0 only inside
            of a label or of the blanks of a Tab.
    """

    segment_id: int
    offset: int
    part: int = 0


class Change(NamedTuple):
    """What became of the history.

    Attributes:
        segment_id: Which segment; if ``trimmed``, the first one that stayed or is still to come.
        kept: Scalars at the beginning of its text that are what they were.
    """

    kind: ChangeKind
    segment_id: int
    kept: int = 0


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
    position = anchor.position
    if change.kind == "trimmed":
        if position.segment_id < change.segment_id:
            return Anchor(Position(change.segment_id, 0), 0)
    elif change.segment_id == position.segment_id:
        if change.kind == "updated":
            return anchor._replace(position=Position(position.segment_id, 0))
        if change.kind == "suffix_replaced" and position.offset >= change.kept:
            return anchor._replace(position=Position(position.segment_id, change.kept))
    return anchor


def survives(change: Change, chosen: Range) -> bool:
    """Tell whether a selection, or a match of a search, is after a change what it was."""
    start, end = chosen
    if change.kind == "trimmed":
        return start.segment_id >= change.segment_id
    if not start.segment_id <= change.segment_id <= end.segment_id:
        return True
    if change.kind == "suffix_replaced":
        return end <= Position(change.segment_id, change.kept)
    return change.kind != "updated"


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
