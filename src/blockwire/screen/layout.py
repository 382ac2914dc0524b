"""A logical line cut into rows for one width.

Spec: docs/spec/terminal/history.md, "Rows"; lines.md for the layouts; docs/spec/text.md for widths
and breaks.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from blockwire.screen.rows import Row, blank, on_fill, window
from blockwire.terminal import (
    DEFAULT_LAYOUT,
    Layout,
    LogicalLine,
    ShownLine,
    Span,
    fit_prefix,
    project_line,
)
from blockwire.text import AmbiguousWidth, WrapMode, clusters, width, wrap

EDGE_MARK: Final = "\u2026"
"""Drawn where a row that is not wrapped goes on beyond the edge."""


class Paper(NamedTuple):
    """What rows depend on.

    Attributes:
        columns: Of the screen; at least 1.
        ambiguous_width: Cells of a character of ambiguous width.
    """

    columns: int
    ambiguous_width: AmbiguousWidth = 1


class LaidLine:
    """The rows of one logical line; made once, drawn row by row.

    Attributes:
        start: Scalars of the segment before the line.
        shown: What the line shows.
        row_count: At least 1.
        overflow_cells: Cells that do not fit, if the line is not wrapped.
    """

    __slots__ = (
        "_drawn", "_ends", "_layout", "_paper", "_prefixes", "_rooms", "_span_ends", "_spans",
        "_starts", "overflow_cells", "row_count", "shown", "start",
    )  # fmt: skip

    def __init__(
        self,
        line: LogicalLine,
        paper: Paper,
        default_wrap: WrapMode,
        row_starts: Sequence[int] | None = None,
    ) -> None:
        """Lay a line out.

        Args:
            line: As its content yields it.
            paper: For which screen.
            default_wrap: How a line is wrapped that has no layout.
            row_starts: Scalars of the line before each row, if it was broken elsewhere; what is too
                wide then is cut at the edge.
        """
        layout = line.layout or DEFAULT_LAYOUT
        self.start = line.start
        self._paper = paper
        self._layout = layout
        mode = default_wrap if line.layout is None else layout.wrap or "word"
        self.shown = shown_line(line, paper.ambiguous_width)
        self._spans = self.shown.show_spans(line.spans)
        self._span_ends = list(accumulate(len(span.text) for span in self._spans))
        self._prefixes, self._rooms = _prefixes(layout, paper)
        self.overflow_cells = 0
        self._starts: Sequence[int] = (0,)
        if row_starts is not None:
            self._starts = [self.shown.to_shown(offset) for offset in row_starts]
        elif mode == "none":
            self.overflow_cells = max(self._width(self.shown.shown) - self._rooms[0], 0)
        else:
            self._starts = array("Q", _row_starts(self.shown, self._rooms, mode))
        self.row_count = len(self._starts)
        self._ends = (*self._starts[1:], len(self.shown.shown))
        self._drawn: dict[tuple[int, int], Row] = {}

    def row_of(self, index: int) -> int:
        """Return the row in which index ``index`` of what is shown stands."""
        return bisect_right(self._starts, index) - 1

    def row(self, number: int, scrolled_cells: int = 0) -> Row:
        """Return a row, as it is to be drawn.

        Args:
            number: From 0.
            scrolled_cells: How far a line that is not wrapped is scrolled sideways.
        """
        hidden_cells = min(scrolled_cells, self.overflow_cells)
        row = self._drawn.get((number, hidden_cells))
        if row is None:
            row = self._drawn[number, hidden_cells] = self._draw(number, hidden_cells)
        return row

    def _draw(self, number: int, hidden_cells: int) -> Row:
        prefix = self._prefixes[min(number, 1)]
        room_cells = self._rooms[min(number, 1)]
        prefix_cells = self._paper.columns - room_cells
        start, end = self._starts[number], self._ends[number]
        fill = self._layout.fill or None
        if self.overflow_cells:
            pad_cells = 0
            spans = self._cut(room_cells, hidden_cells)
        else:
            pad_cells = self._pad_cells(start, end, room_cells)
            end_drawn = self._end_drawn(start, end, room_cells - pad_cells)
            spans = self._slice(start, end_drawn)
            if self._width_of(spans) > room_cells:
                spans = self._cut_end(start, end_drawn, room_cells)
        drawn = (*blank(pad_cells, fill), *on_fill(spans, fill))
        if fill is not None:
            drawn = (*drawn, *blank(room_cells - self._width_of(drawn), fill))
        return Row(
            spans=(*prefix, *drawn),
            is_continued=number + 1 < self.row_count,
            line=self.shown,
            line_start=self.start,
            start=start,
            end=end,
            text_column=prefix_cells + pad_cells,
            hidden_cells=hidden_cells,
        )

    def _width(self, text: str) -> int:
        return width(text, ambiguous_width=self._paper.ambiguous_width)

    def _width_of(self, spans: tuple[Span, ...]) -> int:
        return self._width("".join(span.text for span in spans))

    def _pad_cells(self, start: int, end: int, room_cells: int) -> int:
        align = self._layout.align or "left"
        if align == "left":
            return 0
        free_cells = max(room_cells - self._width(self.shown.shown[start:end].rstrip(" ")), 0)
        return free_cells if align == "right" else free_cells // 2

    def _end_drawn(self, start: int, end: int, room_cells: int) -> int:
        """Leave out the blanks that reach beyond the edge."""
        text = self.shown.shown[start:end]
        excess_cells = max(self._width(text) - room_cells, 0)
        return end - min(excess_cells, len(text) - len(text.rstrip(" ")))

    def _slice(self, start: int, end: int) -> tuple[Span, ...]:
        """Return what is shown from ``start`` up to ``end``, in its styles."""
        spans: list[Span] = []
        place = bisect_right(self._span_ends, start)
        while start < end:
            span, span_end = self._spans[place], self._span_ends[place]
            behind = min(end, span_end)
            at = span_end - len(span.text)
            spans.append(Span(text=span.text[start - at : behind - at], style=span.style))
            start, place = behind, place + 1
        return tuple(spans)

    def _cut_end(self, start: int, end: int, room_cells: int) -> tuple[Span, ...]:
        """Return what fits of a wide character in a row of one cell, or of a row broken elsewhere."""
        text = self.shown.shown[start:end]
        _first, behind, _lead_cells = window(
            text, 0, room_cells, ambiguous_width=self._paper.ambiguous_width
        )
        spans = self._slice(start, start + behind)
        return (*spans, *blank(room_cells - self._width_of(spans), None))

    def _cut(self, room_cells: int, hidden_cells: int) -> tuple[Span, ...]:
        """Return what is seen of a line that is wider than its row, with marks where it goes on."""
        mark_cells = self._width(EDGE_MARK)
        is_marked_left = hidden_cells > 0 and room_cells > 2 * mark_cells
        is_marked_right = hidden_cells < self.overflow_cells and room_cells > 2 * mark_cells
        first_cell = hidden_cells + mark_cells * is_marked_left
        cells = room_cells - mark_cells * (is_marked_left + is_marked_right)
        start, end, lead_cells = window(
            self.shown.shown, first_cell, cells, ambiguous_width=self._paper.ambiguous_width
        )
        mark = (Span(text=EDGE_MARK),)
        spans = (*blank(lead_cells, None), *self._slice(start, end))
        behind = blank(cells - self._width_of(spans), None)
        return (*mark * is_marked_left, *spans, *behind, *mark * is_marked_right)


def count_rows(line: LogicalLine, paper: Paper, default_wrap: WrapMode) -> int:
    """Return the rows of a line without laying it out, where that is enough."""
    layout = DEFAULT_LAYOUT if line.layout is None else line.layout
    if layout.wrap == "none":
        return 1
    text = line_text(line)
    if layout != DEFAULT_LAYOUT or not text.isprintable():
        return LaidLine(line, paper, default_wrap).row_count
    mode = default_wrap if line.layout is None else "word"
    return len(wrap(text, paper.columns, ambiguous_width=paper.ambiguous_width, mode=mode))


def line_text(line: LogicalLine) -> str:
    """Return the text of a line."""
    spans = line.spans
    return spans[0].text if len(spans) == 1 else "".join([span.text for span in spans])


def shown_line(line: LogicalLine, ambiguous_width: AmbiguousWidth) -> ShownLine:
    """Return what a line shows."""
    return project_line(line_text(line), ambiguous_width=ambiguous_width)


def _prefixes(
    layout: Layout, paper: Paper
) -> tuple[tuple[tuple[Span, ...], tuple[Span, ...]], tuple[int, int]]:
    """Return the prefixes of the first and of every other row, and the cells that they leave."""
    if not (layout.first_prefix or layout.rest_prefix):
        return ((), ()), (paper.columns, paper.columns)
    ambiguous_width = paper.ambiguous_width
    first, rest = (
        fit_prefix(prefix or (), paper.columns, ambiguous_width=ambiguous_width)
        for prefix in (layout.first_prefix, layout.rest_prefix)
    )
    first_cells, rest_cells = (
        width("".join(span.text for span in prefix), ambiguous_width=ambiguous_width)
        for prefix in (first, rest)
    )
    return (first, rest), (paper.columns - first_cells, paper.columns - rest_cells)


def _row_starts(line: ShownLine, rooms: tuple[int, int], mode: WrapMode) -> Iterator[int]:
    """Yield where rows begin in what is shown."""
    first_room, rest_room = rooms
    ambiguous_width = line.ambiguous_width
    if mode == "character":
        has_tabs = "\t" in line.searchable
        if has_tabs or first_room != rest_room:
            yield from _character_starts(line, first_room, rest_room)
            return
    rows = wrap(line.shown, first_room, ambiguous_width=ambiguous_width, mode=mode)
    yield 0
    if len(rows) == 1:
        return
    start = len(rows[0])
    rest = rows[1:]
    if first_room != rest_room:
        rest = wrap(line.shown[start:], rest_room, ambiguous_width=ambiguous_width, mode=mode)
    for row in rest:
        yield start
        start += len(row)


def _character_starts(line: ShownLine, room_cells: int, rest_room_cells: int) -> Iterator[int]:
    """As :func:`_row_starts`, where a Tab that reaches the edge fills its row and ends there."""
    tabs = {
        index: replaced.shown_at
        for replaced in line.replaced
        if line.searchable[replaced.found_at] == "\t"
        for index in range(replaced.shown_at + 1, replaced.shown_end)
    }
    yield 0
    start = index = cells = 0
    for cluster in clusters(line.shown):
        cluster_cells = width(cluster, ambiguous_width=line.ambiguous_width)
        is_full = cells + cluster_cells > room_cells and index > start
        if is_full and tabs.get(index, -1) < start:
            yield index
            start, cells, room_cells = index, 0, rest_room_cells
        cells += cluster_cells
        index += len(cluster)
