"""One row of a screen: what a painter draws, and what stands in its cells.

Spec: docs/spec/terminal/history.md, "Rows".
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from blockwire.terminal import ShownLine, Span, Style
from blockwire.text import AmbiguousWidth, clusters, width


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a logical line.

    Attributes:
        spans: Everything to draw from column 0: prefix, alignment, text, fill and marks; nothing in
            it acts. Never wider than the screen; what it does not reach is empty.
        is_continued: Whether the logical line goes on in the next row.
        line: What the whole line shows.
        line_start: Scalars of the segment before the line.
        start: Index in ``line.shown`` of the first character of this row.
        end: Behind its last one; blanks at which the row was broken are before it.
        text_column: Where its text begins to be drawn.
        hidden_cells: Cells of its text that are scrolled out to the left.
    """

    spans: tuple[Span, ...]
    is_continued: bool
    line: ShownLine
    line_start: int
    start: int
    end: int
    text_column: int
    hidden_cells: int = 0

    @property
    def offset(self) -> int:
        """Scalars of the segment before the row."""
        return self.line_start + self.line.to_scalar(self.start)

    def indexes_at(self, column: int) -> tuple[int, int]:
        """Return from where to where in ``line.shown`` the cluster reaches that has this column.

        Left of the text that is its first one; right of it, nothing at its end.
        """
        text = self.line.shown[self.start : self.end]
        cell = max(column - self.text_column, 0) + self.hidden_cells
        row = ShownLine(text, text, text, (), self.line.ambiguous_width)
        start, end = row.cell_range(cell, cell + 1)
        return self.start + start, self.start + end

    def columns_of(self, start: int, end: int, columns: int) -> tuple[int, int]:
        """Return the columns in which the indexes from ``start`` up to ``end`` of the line stand.

        Args:
            start: In ``line.shown``, be it in this row or not.
            end: As ``start``.
            columns: Of the screen.
        """
        first, behind = (
            self._column_of(min(max(index, self.start), self.end), columns)
            for index in self.line.widen(start, end)
        )
        return first, max(first, behind)

    def _column_of(self, index: int, columns: int) -> int:
        before = self.line.shown[self.start : index]
        cells = width(before, ambiguous_width=self.line.ambiguous_width) - self.hidden_cells
        return min(self.text_column + max(cells, 0), columns)


def blank(cells: int, style: Style | None) -> tuple[Span, ...]:
    """Return so many blanks in a style; nothing if there is nothing to be seen of them."""
    if cells <= 0:
        return ()
    return (Span(text=" " * cells, style=style or UNSET),)


def on_fill(spans: tuple[Span, ...], fill: Style | None) -> tuple[Span, ...]:
    """Return spans on the background of a fill, where they have none of their own."""
    if fill is None:
        return spans
    return tuple(
        span
        if span.style and span.style.background
        else Span(
            text=span.text,
            style=replace(span.style, background=fill.background) if span.style else fill,
        )
        for span in spans
    )


def window(
    text: str, first_cell: int, cells: int, *, ambiguous_width: AmbiguousWidth
) -> tuple[int, int, int]:
    """Return what of ``text`` lies wholly within some cells, for a row that is scrolled sideways.

    Returns:
        The first index, the one behind the last, and the cells before the first that stay blank
        because a character of two cells is cut there.
    """
    index = cell = 0
    start = end = -1
    lead_cells = 0
    for cluster in clusters(text):
        behind = cell + width(cluster, ambiguous_width=ambiguous_width)
        if behind > first_cell + cells:
            break
        if cell >= first_cell:
            if start < 0:
                start, lead_cells = index, cell - first_cell
            end = index + len(cluster)
        cell, index = behind, index + len(cluster)
    return (start, end, lead_cells) if start >= 0 else (0, 0, 0)
