"""A draft as rows of a given width, and where the cursor stands in them.

Spec: docs/spec/chat/input.md, "Rows".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from blockwire.text import TAB_STOP_CELLS, AmbiguousWidth, cut, label_controls, width, wrap
from blockwire.tui.draft import Atom, Draft, Line, Place
from blockwire.tui.promptrows import PromptRow, PromptSpan

__all__ = ["DraftLayout", "LayoutCache", "LineLayout", "Stop", "lay_out_line"]

LINES_KEPT_MAX: Final = 1_024
"""Layouts of lines that are kept; a draft seldom has more lines, and one costs microseconds."""


class Stop(NamedTuple):
    """Where the cursor may stand: row and cells before it."""

    row: int
    column: int


class LineLayout(NamedTuple):
    """One line.

    Attributes:
        rows: At least one.
        stops: Before each atom, and behind the last.
    """

    rows: tuple[PromptRow, ...]
    stops: tuple[Stop, ...]


class _Shown(NamedTuple):
    """What stands for an atom, and its cells."""

    text: str
    cells: int


@lru_cache(maxsize=8_192)
def _shown_cluster(cluster: str, ambiguous_width: AmbiguousWidth) -> _Shown:
    text = label_controls(cluster, breaks="label")
    return _Shown(text, width(text, ambiguous_width=ambiguous_width))


def _shown(atom: Atom, cells_before: int, ambiguous_width: AmbiguousWidth) -> _Shown:
    if not isinstance(atom, str):
        return _Shown(atom.label, len(atom.label))
    return _shown_tab(cells_before) if atom == "\t" else _shown_cluster(atom, ambiguous_width)


def _shown_tab(cells_before: int) -> _Shown:
    blank_cells = TAB_STOP_CELLS - cells_before % TAB_STOP_CELLS
    return _Shown(" " * blank_cells, blank_cells)


def lay_out_line(line: Line, columns: int, ambiguous_width: AmbiguousWidth = 1) -> LineLayout:
    """Return the rows of ``line``, broken between words, none wider than ``columns`` (at least 1).

    A cluster that is wider than a row is not shown; the cursor passes over it all the same.
    """
    shown: list[_Shown] = []
    cells = 0
    for atom in line:
        shown.append(_shown(atom, cells, ambiguous_width))
        cells += shown[-1].cells
    whole = "".join([one.text for one in shown])
    texts = wrap(whole, columns, ambiguous_width=ambiguous_width)
    starts = _offsets(texts)
    stops = tuple(_stops(shown, texts, columns, ambiguous_width))
    ends = _offsets([one.text for one in shown])
    labels = [
        (start, end)
        for atom, start, end in zip(line, ends, ends[1:], strict=False)
        if not isinstance(atom, str)
    ]
    rows = [
        tuple(_spans(cut(text, columns, ambiguous_width=ambiguous_width), start, labels))
        for text, start in zip(texts, starts, strict=False)
    ]
    if stops[-1].row == len(rows):
        rows.append(())
    return LineLayout(tuple(rows), stops)


def _offsets(texts: Sequence[str]) -> list[int]:
    """Return where each of ``texts`` begins when they are joined, and where the last ends."""
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return offsets


def _stops(
    shown: Sequence[_Shown], texts: Sequence[str], columns: int, ambiguous_width: AmbiguousWidth
) -> Iterator[Stop]:
    row = column = 0
    row_end, offset = len(texts[0]), 0
    for text, cells in shown:
        # Blanks at which a row was broken may reach beyond its edge; the cursor does not.
        yield Stop(row, min(column, columns - 1))
        column += cells
        offset += len(text)
        while offset >= row_end and row + 1 < len(texts):
            row += 1
            row_end += len(texts[row])
            # What is left of a label that was broken, too.
            inside = texts[row][: offset - (row_end - len(texts[row]))]
            column = width(inside, ambiguous_width=ambiguous_width)
    # A full row leaves no cell for the cursor: what is typed next begins a row.
    yield Stop(row, column) if column < columns else Stop(row + 1, 0)


def _spans(text: str, start: int, labels: Sequence[tuple[int, int]]) -> Iterator[PromptSpan]:
    """Yield the spans of a row that begins at the offset ``start`` of its line."""
    at = start
    end = start + len(text)
    for label_start, label_end in labels:
        first, last = max(label_start, at), min(label_end, end)
        if first >= last:
            continue
        if at < first:
            yield PromptSpan(text[at - start : first - start], "text")
        yield PromptSpan(text[first - start : last - start], "placeholder")
        at = last
    if at < end:
        yield PromptSpan(text[at - start :], "text")


class DraftLayout:
    """The rows of a draft, and what is above, below and beside its cursor.

    Args:
        lines: Of the draft, laid out.
    """

    __slots__ = ("_first_rows", "_lines", "row_count")

    def __init__(self, lines: Sequence[LineLayout]) -> None:
        self._lines = lines
        self._first_rows: list[int] = []
        self.row_count = 0
        for line in lines:
            self._first_rows.append(self.row_count)
            self.row_count += len(line.rows)

    def rows(self, first: int, end: int) -> tuple[PromptRow, ...]:
        """Return the rows from ``first`` to ``end``."""
        return tuple(row for line in self._lines for row in line.rows)[first:end]

    def stop(self, place: Place) -> Stop:
        """Return where the cursor stands at ``place``, its row counted from the first line."""
        row, column = self._lines[place.row].stops[place.column]
        return Stop(self._first_rows[place.row] + row, column)

    def place(self, row: int, column: int) -> Place:
        """Return the place in ``row``, at ``column`` or the last one before it."""
        line = max(i for i, first in enumerate(self._first_rows) if first <= row)
        inside = row - self._first_rows[line]
        best = 0
        for index, stop in enumerate(self._lines[line].stops):
            if stop.row > inside:
                break
            if stop.row < inside or stop.column <= column:
                best = index
        return Place(line, best)


class LayoutCache:
    """Lays out drafts, and keeps the lines that did not change."""

    def __init__(self, ambiguous_width: AmbiguousWidth) -> None:
        self._ambiguous_width: AmbiguousWidth = ambiguous_width
        self._lines: dict[tuple[Line, int], LineLayout] = {}

    def lay_out(self, draft: Draft, columns: int) -> DraftLayout:
        """Return the layout of ``draft``."""
        return DraftLayout([self._line(line, columns) for line in draft.lines])

    def clear(self) -> None:
        """Keep nothing: what was typed is gone."""
        self._lines.clear()

    def _line(self, line: Line, columns: int) -> LineLayout:
        layout = self._lines.get((line, columns))
        if layout is None:
            if len(self._lines) >= LINES_KEPT_MAX:
                self._lines.clear()
            layout = lay_out_line(line, columns, self._ambiguous_width)
            self._lines[line, columns] = layout
        return layout
