"""Spans of a frame: cut, filled up, and looked at in another way.

Spec: docs/spec/host/drawing.md, "Frames".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from blockwire.host.emulator import PLAIN_LOOK, LiveSpan, Look
from blockwire.host.painter_rows import PaintRow
from blockwire.host.sgr import LOOKS_KEPT
from blockwire.text import AmbiguousWidth, clusters, cut, width


def cells_of(spans: Iterable[LiveSpan], ambiguous_width: AmbiguousWidth) -> int:
    """Return how wide spans are."""
    return width("".join([span.text for span in spans]), ambiguous_width=ambiguous_width)


def fit(
    spans: Iterable[LiveSpan], cells: int, ambiguous_width: AmbiguousWidth, fill: Look = PLAIN_LOOK
) -> PaintRow:
    """Return spans cut between clusters, and filled up with blanks, to be just so wide."""
    fitted: list[LiveSpan] = []
    for text, look in spans:
        kept = cut(text, cells, ambiguous_width=ambiguous_width)
        fitted.append(LiveSpan(kept, look))
        cells -= width(kept, ambiguous_width=ambiguous_width)
        if len(kept) < len(text):
            break
    if cells > 0:
        fitted.append(LiveSpan(" " * cells, fill))
    return tuple([span for span in fitted if span.text])


def mark(
    spans: PaintRow, start: int, end: int, over: Look, ambiguous_width: AmbiguousWidth
) -> PaintRow:
    """Return spans with a look laid over columns, whole clusters of them.

    Args:
        spans: Of a row, from column 0.
        start: The first column.
        end: The column behind the last.
        over: As of :func:`overlay`.
        ambiguous_width: As of the painter.
    """
    marked: list[LiveSpan] = []
    column = 0
    for span in spans:
        text, look = span
        behind = column + width(text, ambiguous_width=ambiguous_width)
        if behind <= start or column >= end:
            marked.append(span)
        else:
            first = len(cut(text, start - column, ambiguous_width=ambiguous_width))
            last = _reach(text, end - column, ambiguous_width)
            marked += (
                LiveSpan(text[:first], look),
                LiveSpan(text[first:last], overlay(look, over)),
                LiveSpan(text[last:], look),
            )
        column = behind
    return tuple([span for span in marked if span.text])


@lru_cache(LOOKS_KEPT)
def overlay(look: Look, over: Look) -> Look:
    """Return a look with another one laid over it, so that the other one can be seen.

    What is inverse is so again where the other one inverts too; in new colours nothing is inverse,
    and nothing is dim.
    """
    attributes = set(look.attributes)
    if over.background is not None:
        attributes -= {"inverse", "dim"}
    if "inverse" in over.attributes:
        attributes ^= {"inverse"}
    attributes |= set(over.attributes) - {"inverse"}
    return Look(
        over.foreground or look.foreground,
        over.background or look.background,
        tuple(sorted(attributes)),
        look.link,
    )


def _reach(text: str, cells: int, ambiguous_width: AmbiguousWidth) -> int:
    """Return the end of the clusters that have one of the first ``cells`` cells."""
    kept = cut(text, cells, ambiguous_width=ambiguous_width)
    if len(kept) < len(text) and width(kept, ambiguous_width=ambiguous_width) < cells:
        return len(kept) + len(next(clusters(text[len(kept) :])))
    return len(kept)
