"""Spans to rows: greedy word wrapping that is stable under growth.

Spec: docs/spec/rendering/terminal.md.

The rows of a text that ends at a break opportunity are a prefix of the rows of every longer text,
which is what lets a stream print a paragraph before it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blockwire.render.spans import PLAIN, Row, Span, TerminalLook, join_spans, slice_spans
from blockwire.text import width, wrap

__all__ = ["TEXT_COLUMNS_MIN", "text_columns", "wrap_spans"]

TEXT_COLUMNS_MIN: Final = 8
"""Columns that a prefix must leave for text; else it is dropped."""


def text_columns(look: TerminalLook, prefix_columns: int) -> int:
    """Return the columns left beside a prefix, or all of them when too few would be left."""
    left = look.columns - prefix_columns
    return left if left >= TEXT_COLUMNS_MIN else max(look.columns, 1)


def wrap_spans(
    spans: Sequence[Span],
    look: TerminalLook,
    *,
    first_prefix: tuple[Span, ...] = (),
    rest_prefix: tuple[Span, ...] = (),
) -> list[Row]:
    """Return the rows of one logical line, at least one, each with its prefix."""
    prefix_text = "".join(span.text for span in first_prefix)
    prefix_columns = width(prefix_text, ambiguous_width=look.ambiguous_width)
    columns = text_columns(look, prefix_columns)
    if columns + prefix_columns > look.columns:
        first_prefix = rest_prefix = ()
    text = "".join(span.text for span in spans)
    rows: list[Row] = []
    start = 0
    for piece in wrap(text, columns, ambiguous_width=look.ambiguous_width):
        prefix = rest_prefix if rows else first_prefix
        # The blanks at which a row was broken are not drawn.
        end = start + len(piece.rstrip(" "))
        rows.append(Row(join_spans((*prefix, *slice_spans(spans, start, end)))))
        start += len(piece)
    return rows


def indent(columns: int) -> tuple[Span, ...]:
    """Return a prefix of blanks."""
    return (Span(" " * columns, PLAIN),) if columns else ()
