"""A Markdown table as rows that fit: columns shrink, cells wrap, borders stay straight.

Spec: docs/spec/rendering/terminal.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, Literal, NamedTuple

from blockwire.render.layout import rule_span, wrap_spans
from blockwire.render.spans import (
    Row,
    Span,
    Style,
    TerminalLook,
    join_spans,
    spans_width,
)
from blockwire.text import width

__all__ = ["Align", "Cell", "table_rows"]

Align = Literal["left", "center", "right"]
_BORDER: Final = Style(dim=True)
COLUMN_MIN: Final = 3
"""Columns that each column keeps; where not even that many fit, a table is shown as a list."""
WORD_COLUMNS_MAX: Final = 12
"""Columns up to which a word is kept whole; longer ones, such as addresses, may be broken."""


class Cell(NamedTuple):
    """One cell: its spans on one line, and how they stand."""

    spans: tuple[Span, ...]
    align: Align = "left"


def table_rows(
    header: Sequence[Cell], body: Sequence[Sequence[Cell]], look: TerminalLook
) -> list[Row]:
    """Return the rows of a table, none wider than the screen, all bordered ones equally wide.

    Every row of ``body`` has as many cells as ``header``.
    """
    count = len(header)
    # Borders are ambiguous characters: one setting decides for them and for the text.
    bar = width("│", ambiguous_width=look.ambiguous_width)
    room = look.columns - bar * (count + 1) - 2 * count
    columns = list(zip(header, *body, strict=True))
    wanted = [
        max(1, *(spans_width(cell.spans, look) for cell in column)) + bar - 1 for column in columns
    ]
    fitting: list[int] | None = wanted
    if sum(wanted) > room:
        floors = [
            min(want, _floor(column, look) + bar - 1)
            for column, want in zip(columns, wanted, strict=True)
        ]
        fitting = _fit(wanted, floors, room)
    if fitting is None:
        return _as_list(header, body, look)
    # A rule of two-cell dashes cannot fill an odd width.
    dash = width("─", ambiguous_width=look.ambiguous_width)
    widths = [value - value % dash for value in fitting]
    rows = [_rule("┌┬┐", widths, look)]
    rows += _line([Cell(_bold(cell.spans), cell.align) for cell in header], widths, look)
    rows.append(_rule("├┼┤", widths, look))
    for cells in body:
        rows += _line(cells, widths, look)
    rows.append(_rule("└┴┘", widths, look))
    return rows


def _bold(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(Span(span.text, span.style._replace(bold=True)) for span in spans)


def _fit(wanted: Sequence[int], floors: Sequence[int], room: int) -> list[int] | None:
    """Return column widths that fit into ``room``, which ``wanted`` do not; None if none do.

    The widest shrinks first, and none below its floor.
    """
    if sum(floors) > room:
        return None

    def cut_at(level: int) -> list[int]:
        return [max(low, min(high, level)) for low, high in zip(floors, wanted, strict=True)]

    # The sums grow with the level, and level 0 leaves the floors, which fit.
    level = bisect_right(range(1, max(wanted)), room, key=lambda at: sum(cut_at(at)))
    widths, wider = cut_at(level), cut_at(level + 1)
    spare = room - sum(widths)
    for index in reversed(range(len(widths))):
        if spare and wider[index] > widths[index]:
            widths[index] += 1
            spare -= 1
    return widths


def _floor(column: Sequence[Cell], look: TerminalLook) -> int:
    """Return the columns below which a word of a column would be broken, within bounds."""
    longest = 0
    for cell in column:
        for word in "".join(span.text for span in cell.spans).split():
            columns = width(word, ambiguous_width=look.ambiguous_width)
            # Wide characters may be parted anywhere, as a word of a language without blanks.
            longest = max(longest, columns if columns <= len(word) else COLUMN_MIN)
            if longest >= WORD_COLUMNS_MAX:
                return WORD_COLUMNS_MAX
    return max(longest, COLUMN_MIN)


def _rule(corners: str, widths: Sequence[int], look: TerminalLook) -> Row:
    left, middle, right = corners[0], corners[1], corners[2]
    parts = [rule_span(value + 2, _BORDER, look).text for value in widths]
    return Row((Span(left + middle.join(parts) + right, _BORDER),))


def _line(cells: Sequence[Cell], widths: Sequence[int], look: TerminalLook) -> list[Row]:
    columns = [
        wrap_spans(cell.spans, look._replace(columns=value))
        for cell, value in zip(cells, widths, strict=True)
    ]
    rows: list[Row] = []
    for parts in zip_longest(*columns, fillvalue=Row(())):
        spans: list[Span] = [Span("│", _BORDER)]
        for part, value, cell in zip(parts, widths, cells, strict=True):
            spans += _padded(part.spans, value, cell.align, look)
            spans.append(Span("│", _BORDER))
        rows.append(Row(join_spans(spans)))
    return rows


def _padded(spans: Sequence[Span], columns: int, align: Align, look: TerminalLook) -> list[Span]:
    free = max(columns - spans_width(spans, look), 0)
    before = {"left": 0, "center": free // 2, "right": free}[align]
    return [Span(" " * (before + 1)), *spans, Span(" " * (free - before + 1))]


def _as_list(
    header: Sequence[Cell], body: Sequence[Sequence[Cell]], look: TerminalLook
) -> list[Row]:
    """A screen too narrow for the columns: each cell on its own line, after its heading."""
    rows: list[Row] = []
    for cells in body or [header]:
        for cell, title in zip(cells, header, strict=True):
            rows += wrap_spans([*_bold(title.spans), Span(": "), *cell.spans], look)
        rows.append(Row((rule_span(look.columns, _BORDER, look),)))
    return rows
