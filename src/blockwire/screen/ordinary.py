"""Ordinary output: rows that left the live screen of a program, as logical lines.

Spec: docs/spec/terminal/history.md, "Ordinary output".
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from blockwire.terminal import LogicalLine, Span

# A segment leaves as a whole, so it must not become large: lines, and bytes, after which the next
# line begins another one.
SEGMENT_LINES_MAX: Final = 256
SEGMENT_BYTES_MAX: Final = 65_536

# Scalars after which a line ends even if its rows go on: what is laid out is always a whole line.
LINE_CHARS_MAX: Final = 65_536

# What a line and a span are counted with, their texts aside: about the memory that they take.
LINE_COST_BYTES: Final = 64
SPAN_COST_BYTES: Final = 64


class OrdinaryRow(NamedTuple):
    """A row that left the live screen.

    Attributes:
        spans: Its text without the blanks that only fill it; no line breaks, and what acts is shown
            as a label.
        is_wrapped: Whether its line goes on in the next row; one without text ends its line.
    """

    spans: tuple[Span, ...]
    is_wrapped: bool = False


class OrdinaryText:
    """Some lines of ordinary output; each ends in LF, save for one that goes on.

    Attributes:
        scalar_count: Of all lines with their breaks.
        cost_bytes: What it counts for against the capacity.
        is_open: Whether the next row continues the last line.
    """

    __slots__ = ("_breaks", "_lines", "_starts", "cost_bytes", "is_open", "scalar_count")

    def __init__(self) -> None:
        self._lines: list[list[Span]] = []
        self._starts = array("Q")
        self._breaks = bytearray()
        self.scalar_count = 0
        self.cost_bytes = 0
        self.is_open = False

    @property
    def is_full(self) -> bool:
        """Whether the next line begins another segment."""
        is_long = len(self._lines) >= SEGMENT_LINES_MAX or self.cost_bytes >= SEGMENT_BYTES_MAX
        return is_long and not self.is_open

    def add(self, row: OrdinaryRow) -> None:
        """Add a row: to the last line if that goes on, else as a new one."""
        if not self.is_open:
            self._lines.append([])
            self._starts.append(self.scalar_count)
            self._breaks.append(0)
            self.cost_bytes += LINE_COST_BYTES
        line = self._lines[-1]
        row_start = self.scalar_count
        for span in row.spans:
            text = span.text
            if text:
                line.append(span)
                self.scalar_count += len(text)
                text_bytes = len(text) if text.isascii() else len(text.encode(errors="replace"))
                self.cost_bytes += SPAN_COST_BYTES + text_bytes
        length = self.scalar_count - self._starts[-1]
        # Each row but the last has a place of its own in its line.
        has_text = self.scalar_count > row_start
        self.is_open = row.is_wrapped and has_text and length < LINE_CHARS_MAX
        if not self.is_open:
            self._breaks[-1] = 1
            self.scalar_count += 1

    def text(self) -> str:
        """Return all lines with their breaks."""
        parts = zip(self._lines, self._breaks, strict=True)
        return "".join(
            ["".join([span.text for span in line]) + "\n" * breaks for line, breaks in parts]
        )

    def lines(self, start: int = 0) -> Iterator[LogicalLine]:
        """Yield the lines from the one that holds scalar ``start``; at least one."""
        first = bisect_right(self._starts, min(start, self.scalar_count - 1)) - 1
        for index in range(max(first, 0), len(self._lines)):
            yield LogicalLine(
                self._starts[index], tuple(self._lines[index]), self._breaks[index], None
            )
