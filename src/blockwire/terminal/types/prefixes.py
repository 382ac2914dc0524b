"""How much of a prefix is drawn where there is little room.

Spec: docs/spec/terminal/lines.md, "Prefixes". One rule for every screen that lays out lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from blockwire.terminal.content import Span
from blockwire.terminal.types.projection import project_line
from blockwire.text import AmbiguousWidth, cut, width

# Columns that a prefix leaves for text, if the screen has so many.
TEXT_COLUMNS_MIN: Final = 8


def fit_prefix(
    prefix: Iterable[Span], width_columns: int, *, ambiguous_width: AmbiguousWidth = 1
) -> tuple[Span, ...]:
    """Return what is drawn of a prefix: labels for what acts, and cut at a cluster if need be.

    At least :data:`TEXT_COLUMNS_MIN` columns and at least half of them are left for text.

    Args:
        prefix: A valid one.
        width_columns: Of the whole row.
        ambiguous_width: As of :func:`blockwire.text.width`.
    """
    spans = tuple(prefix)
    line = project_line("".join(span.text for span in spans), ambiguous_width=ambiguous_width)
    room_cells = max(min(width_columns - TEXT_COLUMNS_MIN, width_columns // 2), 0)
    shown = line.show_spans(spans)
    if width(line.shown, ambiguous_width=ambiguous_width) <= room_cells:
        return shown
    left = len(cut(line.shown, room_cells, ambiguous_width=ambiguous_width))
    kept: list[Span] = []
    for span in shown:
        text = span.text[:left]
        if text:
            kept.append(Span(text=text, style=span.style))
        left -= len(text)
    return tuple(kept)
