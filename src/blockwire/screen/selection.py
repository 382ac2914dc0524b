"""What a person has selected, and its text.

Spec: docs/spec/terminal/history.md, "Selection". A selection is two positions of the history; no
painted cell is ever read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from blockwire.screen.history import History
from blockwire.screen.layout import shown_line
from blockwire.screen.positions import (
    LIVE_SEGMENT_ID,
    Change,
    Position,
    Range,
    index_in,
    range_after,
)
from blockwire.terminal import LogicalLine, ShownLine

SelectionUnit: TypeAlias = Literal["character", "word", "line", "block", "rectangle"]
"""What one step of a selection is: with one, two or three clicks, or by a key.

A rectangle is made by whoever knows the columns (:meth:`Selection.cover`), of characters.
"""

# What a double click takes: a word, a name of a file or an address; else one character, or blanks.
_WORD: Final = re.compile(r"[\w./:~@%+#?&=-]+|\s+|.", re.DOTALL)


class Selection:
    """At most one selection.

    Attributes:
        chosen: What is selected; None if nothing is.
        unit: What :meth:`extend_to` adds whole.
    """

    def __init__(self, history: History) -> None:
        self.chosen: Range | None = None
        self.unit: SelectionUnit = "character"
        self._history = history
        self._origin: Range | None = None

    @property
    def origin(self) -> Range | None:
        """What it began with, wherever that is now; None if nothing is selected."""
        return self._origin

    def begin(self, at: Range, unit: SelectionUnit = "character") -> None:
        """Select the word, line or block in which a place is, or the character that it is.

        Args:
            at: As of :meth:`Viewport.range_at`; right of a text there is no character.
            unit: What to select.
        """
        self.unit = unit
        self._origin = self.chosen = self._unit_at(at)

    def extend_to(self, at: Range) -> None:
        """Select from where it began up to a place, both included; nothing if it was cleared."""
        if self._origin is None:
            return
        here = self._unit_at(at)
        start = min(self._origin.start, here.start)
        self.chosen = Range(start, max(self._origin.end, here.end))

    def cover(self, chosen: Range) -> None:
        """Select a range that holds where it began; nothing if it was cleared."""
        if self._origin is not None:
            self.chosen = chosen

    def select(self, chosen: Range) -> None:
        """Select from one position up to another."""
        self.unit = "character"
        self._origin = self.chosen = chosen

    def clear(self) -> None:
        """Select nothing."""
        self._origin = self.chosen = None

    def follow_change(self, change: Change) -> None:
        """Keep the selection if its text is what it was, else clear it."""
        if self._origin is None or self.chosen is None:
            return
        self._origin = range_after(change, self._origin)
        self.chosen = range_after(change, self.chosen)
        if self._origin is None or self.chosen is None:
            self.clear()

    def text(self) -> str:
        """Return what copying gives."""
        return "" if self.chosen is None else copy(self._history, self.chosen)

    def _unit_at(self, at: Range) -> Range:
        if self.unit in {"character", "rectangle"}:
            return at
        segment_id = at.start.segment_id
        segment = self._history.segment(segment_id)
        if self.unit == "block":
            end = segment.content.scalar_count
            return Range(Position(segment_id, 0), Position(segment_id, end))
        parts = _line_parts(self._history, at.start)
        text = "".join(part.shown.shown for part in parts)
        if self.unit == "line":
            return _range_of(parts, 0, len(text))
        return _range_of(parts, *_word_at(text, sum(part.to_index(at.start) for part in parts)))


def copy(history: History, chosen: Range) -> str:
    """Return the text of a range of the history, as it is copied.

    Rows of one line are joined, breaks are one LF each, and between two segments stands one LF,
    unless the first ends in one already or its line goes on in the live screen.
    """
    start, end = chosen
    parts: list[str] = []
    for segment_id in history.ids(start.segment_id, end.segment_id):
        first = start.offset if segment_id == start.segment_id else 0
        has_break = False
        for line in history.segment(segment_id).lines(first):
            if end <= Position(segment_id, line.start):
                break
            shown = shown_line(line, history.paper.ambiguous_width)
            from_index, to_index = (
                index_in(shown, segment_id, line.start, position) for position in chosen
            )
            parts.append(shown.copy(from_index, to_index))
            text_end = line.start + len(shown.text)
            behind = Position(segment_id, text_end + line.break_chars)
            if line.break_chars and start < behind and end > Position(segment_id, text_end):
                parts.append("\n")
            has_break = line.break_chars > 0 or (not shown.text and line.start > 0)
        if segment_id < end.segment_id and not (has_break or history.goes_on_live(segment_id)):
            parts.append("\n")
    return "".join(parts)


class _LinePart(NamedTuple):
    """A line, as far as it is in one segment."""

    segment_id: int
    line: LogicalLine
    shown: ShownLine

    def to_index(self, position: Position) -> int:
        return index_in(self.shown, self.segment_id, self.line.start, position)

    def to_position(self, index: int) -> Position:
        offset = self.shown.to_scalar(index)
        part = index - self.shown.to_shown(offset)
        return Position(self.segment_id, self.line.start + offset, part)


def _line_parts(history: History, position: Position) -> list[_LinePart]:
    """Return the line at a place: in two parts if its last rows are live and its first have left."""
    part = _line_part(history, position)
    last_id = history.end_id - 1
    if part.segment_id == LIVE_SEGMENT_ID:
        is_rest = part.line.start == 0 and history.has(last_id) and history.goes_on_live(last_id)
        end = Position(last_id, history.segment(last_id).content.scalar_count) if is_rest else None
        return [part] if end is None else [_line_part(history, end), part]
    end_offset = part.line.start + len(part.shown.text)
    is_open = end_offset == history.segment(part.segment_id).content.scalar_count
    if is_open and history.goes_on_live(part.segment_id) and history.has(LIVE_SEGMENT_ID):
        return [part, _line_part(history, Position(LIVE_SEGMENT_ID, 0))]
    return [part]


def _line_part(history: History, position: Position) -> _LinePart:
    line = next(history.segment(position.segment_id).lines(position.offset))
    shown = shown_line(line, history.paper.ambiguous_width)
    return _LinePart(position.segment_id, line, shown)


def _range_of(parts: Sequence[_LinePart], start: int, end: int) -> Range:
    """Return where what is shown of a line from one index up to another stands, clusters whole."""
    head, tail = parts[0], parts[-1]
    edge = 0 if head is tail else len(head.shown.shown)
    begins, begin = (head, start) if start < edge else (tail, start - edge)
    ends, behind = (head, end) if start < end <= edge else (tail, end - edge)
    begin, _ = begins.shown.widen(begin, len(begins.shown.shown))
    _, behind = ends.shown.widen(0, behind)
    return Range(begins.to_position(begin), ends.to_position(behind))


def _word_at(text: str, index: int) -> tuple[int, int]:
    for match in _WORD.finditer(text):
        if match.end() > index:
            return match.span()
    return len(text), len(text)
