"""Terminal history as simply as it can be said: everything is laid out from scratch, each time.

Texts have LF as their only break, no tabs and no prefixes: those have tables of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from blockwire.screen import LIVE_SEGMENT_ID
from blockwire.text import WrapMode, label_controls, wrap


class NaiveRow(NamedTuple):
    """What a row shows, and from where in its segment."""

    segment_id: int
    offset: int
    text: str


class LiveRow(NamedTuple):
    """A row of the live screen."""

    text: str
    is_wrapped: bool = False

    @property
    def line(self) -> str:
        """The text with the break that ends it, if one does."""
        return self.text + "\n" * (not self.is_wrapped)


class NaiveSegment(NamedTuple):
    """A segment: its text, whether it is a Block's, and whether a last break makes another line.

    The live screen has rows as they are.
    """

    text: str
    mode: WrapMode
    is_lines: bool = False
    rows: tuple[LiveRow, ...] = ()

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
        if segment.rows:
            offset = 0
            for live_row in segment.rows:
                rows.append(NaiveRow(segment_id, offset, fitting(live_row.text, columns)))
                offset += len(live_row.line)
            continue
        for start, text in segment.lines():
            # In these texts a label takes the place of one character.
            offset = start
            for row in wrap(label_controls(text), columns, mode=segment.mode):
                rows.append(NaiveRow(segment_id, offset, row))
                offset += len(row)
    return rows


def fitting(text: str, columns: int) -> str:
    """Return as many whole characters as there are columns for."""
    cells = 0
    for index, char in enumerate(text):
        cells += 1 + (char in "漢字")
        if cells > columns:
            return text[:index]
    return text


def copied(segments: Segments, start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text from one (segment, offset) up to another."""
    parts = []
    ids = [segment_id for segment_id in segments if start[0] <= segment_id <= end[0]]
    for segment_id, next_id in zip(ids, [*ids[1:], None], strict=True):
        text = segments[segment_id].text
        first = start[1] if segment_id == start[0] else 0
        behind = end[1] if segment_id == end[0] else len(text)
        parts.append(label_controls(text[first:behind]))
        goes_on = segments[segment_id].mode == "character" and next_id == LIVE_SEGMENT_ID
        if next_id is not None and not text.endswith("\n") and not goes_on:
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
