"""Lines and rows: greedy word wrapping that is stable under growth.

Spec: docs/spec/rendering/terminal.md.

The rows of a text that ends at a break opportunity are a prefix of the rows of every longer text,
which is what lets a stream print a paragraph before it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from blockwire.render.spans import (
    PLAIN,
    Row,
    Span,
    Style,
    TerminalLook,
    cut_spans,
    join_spans,
    slice_spans,
    spans_width,
)
from blockwire.text import width, wrap

__all__ = [
    "BLANK_LINE",
    "BLANK_ROW",
    "TEXT_COLUMNS_MIN",
    "FlowLine",
    "indent",
    "line_rows",
    "rows_of",
    "rule_span",
    "trimmed",
    "wrap_spans",
]

TEXT_COLUMNS_MIN: Final = 4
"""Columns that a prefix must leave for text; else it is dropped."""


class FlowLine(NamedTuple):
    """One line before it is laid out: what every renderer for terminals is made from.

    Attributes:
        spans: Its text.
        first: Prefix of its first row.
        rest: Prefix of each further row.
        kind: ``words`` are wrapped at words; ``code`` and a ``title`` become one row that the
            terminal wraps, ``whole`` one row that fits already.
    """

    spans: tuple[Span, ...] = ()
    first: tuple[Span, ...] = ()
    rest: tuple[Span, ...] = ()
    kind: Literal["words", "code", "title", "whole"] = "words"


BLANK_LINE: Final = FlowLine(kind="whole")
BLANK_ROW: Final = Row(())


def line_rows(line: FlowLine, look: TerminalLook) -> list[Row]:
    """Return the rows of one line."""
    if line.kind == "words":
        return wrap_spans(line.spans, look, first_prefix=line.first, rest_prefix=line.rest)
    if not line.spans:
        return [Row(trimmed(line.first))]
    return [Row(join_spans((*line.first, *line.spans)), is_soft=line.kind != "whole")]


def rows_of(lines: Iterable[FlowLine], look: TerminalLook) -> list[Row]:
    """Return the rows of lines."""
    return [row for line in lines for row in line_rows(line, look)]


def wrap_spans(
    spans: Sequence[Span],
    look: TerminalLook,
    *,
    first_prefix: tuple[Span, ...] = (),
    rest_prefix: tuple[Span, ...] = (),
) -> list[Row]:
    """Return the rows of one logical line, at least one, each with its prefix."""
    prefix_columns = max(spans_width(first_prefix, look), spans_width(rest_prefix, look))
    columns = look.columns - prefix_columns
    if prefix_columns and columns < TEXT_COLUMNS_MIN:
        first_prefix = rest_prefix = ()
        columns = look.columns
    text = "".join(span.text for span in spans)
    pieces = wrap(text, max(columns, 1), ambiguous_width=look.ambiguous_width)
    rows: list[Row] = []
    for piece, part in zip(pieces, cut_spans(spans, map(len, pieces)), strict=True):
        # The blanks at which a row was broken are not drawn.
        drawn = slice_spans(part, 0, len(piece.rstrip(" ")))
        rows.append(Row(join_spans((*first_prefix, *drawn)) if drawn else trimmed(first_prefix)))
        first_prefix = rest_prefix
    return rows


def indent(columns: int) -> tuple[Span, ...]:
    """Return a prefix of blanks."""
    return (Span(" " * columns, PLAIN),)


def rule_span(columns: int, style: Style, look: TerminalLook, *, mark: str = "\u2500") -> Span:
    """Return a horizontal rule of at most ``columns``, at least one mark long."""
    mark_columns = width(mark, ambiguous_width=look.ambiguous_width)
    return Span(mark * max(columns // mark_columns, 1), style)


def trimmed(prefix: Iterable[Span]) -> tuple[Span, ...]:
    """Return the prefix of a blank row: it keeps quote bars but no blanks at its end."""
    spans = join_spans(prefix)
    text = "".join(span.text for span in spans)
    return slice_spans(spans, 0, len(text.rstrip(" ")))
