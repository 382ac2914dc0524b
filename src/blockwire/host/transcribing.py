"""The history as plain rows, for the main screen after the host has gone.

Spec: docs/spec/host/index.md, "Transcript".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from blockwire.host.emulator import Look
from blockwire.host.sgr import RESET, ColourDepth, sgr
from blockwire.screen import Place, Screen
from blockwire.terminal import Span
from blockwire.text import label_controls

# More than any history has: heights may be estimates, so the rows end where there are no more.
ROWS_MAX: Final = 2**62

# Attributes in which blanks are seen.
_BLANK_MARKS: Final = frozenset({"inverse", "strikethrough", "underline"})


def transcript_rows(
    screen: Screen, *, colours: ColourDepth, last_rows: int | None = None
) -> Iterator[str]:
    """Yield the rows of everything that is retained, from the oldest, in the width of the screen.

    Each row is there once, without the blanks at its end, and ends in the plain look; nothing in it
    acts but SGR, and without colours not even that. Empty rows at the very end are left out.

    Args:
        screen: Its history must not change meanwhile.
        colours: That the terminal shows.
        last_rows: How many rows at most, the newest; None for all.
    """
    history = screen.history
    if history.is_empty:
        return
    seen = history.rows_from(Place(history.first_id, 0), ROWS_MAX)
    rows = _without_last_blanks(_styled(row.row.spans, colours) for row in seen)
    yield from rows if last_rows is None else deque(rows, maxlen=max(last_rows, 0))


def _without_last_blanks(rows: Iterator[str]) -> Iterator[str]:
    blank_rows = 0
    for row in rows:
        if row:
            yield from [""] * blank_rows
            yield row
            blank_rows = 0
        else:
            blank_rows += 1


def _styled(spans: tuple[Span, ...], colours: ColourDepth) -> str:
    parts: list[str] = []
    for span in _without_end(spans):
        text = label_controls(span.text, breaks="label", tabs="label")
        codes = "" if colours == "none" else sgr(_look(span), colours)
        parts.append(f"\x1b[{codes}m{text}{RESET}" if codes else text)
    return "".join(parts)


def _without_end(spans: tuple[Span, ...]) -> list[Span]:
    """Return spans without the blanks at their end that nobody sees."""
    kept = list(spans)
    while kept:
        last = kept.pop()
        text = last.text.rstrip(" ") if _has_unseen_blanks(last) else last.text
        if text:
            return [*kept, Span(text=text, style=last.style)]
    return []


def _has_unseen_blanks(span: Span) -> bool:
    look = _look(span)
    return look.background is None and _BLANK_MARKS.isdisjoint(look.attributes)


def _look(span: Span) -> Look:
    style = span.style
    if not style:
        return Look()
    return Look(
        style.foreground or None,
        style.background or None,
        tuple(sorted(style.attributes or ())),
    )
