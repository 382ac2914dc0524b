"""Terminal history as simply as it can be said: everything is laid out from scratch, each time.

Texts have LF as their only break, no tabs and no prefixes: those have tables of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from blockwire.text import WrapMode, label_controls, wrap


class NaiveRow(NamedTuple):
    """What a row shows, and from where in its segment."""

    segment_id: int
    offset: int
    text: str


class NaiveSegment(NamedTuple):
    """A segment: its text, whether it is a Block's, and whether a last break makes another line."""

    text: str
    mode: WrapMode
    is_lines: bool = False

    def lines(self) -> list[tuple[int, str]]:
        """Return offset and text of each line."""
        texts = self.text.split("\n")
        if len(texts) > 1 and not texts[-1] and not self.is_lines:
            texts.pop()
        found = []
        start = 0
        for text in texts:
            found.append((start, text))
            start += len(text) + 1
        return found


Segments = dict[int, NaiveSegment]


def rows_of(segments: Segments, columns: int) -> list[NaiveRow]:
    """Return all rows."""
    rows = []
    for segment_id, segment in segments.items():
        for start, text in segment.lines():
            # In these texts a label takes the place of one character.
            offset = start
            for row in wrap(label_controls(text), columns, mode=segment.mode):
                rows.append(NaiveRow(segment_id, offset, row))
                offset += len(row)
    return rows


def copied(segments: Segments, start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text from one (segment, offset) up to another."""
    parts = []
    for segment_id in range(start[0], end[0] + 1):
        text = segments[segment_id].text
        first = start[1] if segment_id == start[0] else 0
        behind = end[1] if segment_id == end[0] else len(text)
        parts.append(label_controls(text[first:behind]))
        if segment_id < end[0] and not text.endswith("\n"):
            parts.append("\n")
    return "".join(parts)


def found(segments: Segments, query: str) -> list[tuple[int, int, int]]:
    """Return all places of a query of no capitals: segment, and from where up to where."""
    places = []
    for segment_id, segment in segments.items():
        for start, text in segment.lines():
            shown = label_controls(text).lower()
            at = shown.find(query)
            while at >= 0:
                places.append((segment_id, start + at, start + at + len(query)))
                at = shown.find(query, at + len(query))
    return places
