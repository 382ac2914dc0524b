"""Cells as spans: what a row of an emulator says, in texts that take exactly its cells.

Spec: docs/spec/host/emulation.md, "Rows". An emulator and the terminal in which its rows are painted may
disagree about the width of a character. Whoever paints puts one text behind the other, so a text
that is a cell too wide would move all that follows. Here every cell gets a text of its own width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from blockwire.host.emulator import BLANK_ROW, PLAIN_LOOK, LiveRow, LiveSpan, Look
from blockwire.text import AmbiguousWidth, label_controls, width

# For what is drawn with lines, where a terminal takes two cells for each of those.
_STAND_INS: Final = str.maketrans(
    {
        **dict.fromkeys("─━┄┅┈┉╌╍═╴╶╸╺╼╾", "-"),
        **dict.fromkeys("│┃┆┇┊┋╎╏║╵╷╹╻╽╿", "|"),
        **dict.fromkeys(map(chr, range(0x250C, 0x254C)), "+"),
        **dict.fromkeys(map(chr, range(0x2552, 0x2571)), "+"),
        **dict.fromkeys("█▓▒░▉▊▋▌▐▀▄", "#"),
        **dict.fromkeys("•·●○◆◇■□▪▶▲▼◀★☆", "*"),
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2013\u2014\u2015", "-"),
    }
)


class Cell(NamedTuple):
    """One character of a row.

    Attributes:
        text: Its cluster; empty for one that nothing was written to.
        cells: 1, or 2 for a wide one.
        look: How it looks.
    """

    text: str
    cells: int
    look: Look


def row_of_cells(
    cells: Iterable[Cell], ambiguous_width: AmbiguousWidth, *, is_wrapped: bool
) -> LiveRow:
    """Return the row of these cells, each in a text that takes as many columns as it has."""
    spans: list[LiveSpan] = []
    texts: list[str] = []
    look = PLAIN_LOOK
    before = ""
    for cell in cells:
        text = _fit(cell.text or " ", before, cell.cells, ambiguous_width)
        before = text
        if cell.look != look:
            if texts:
                spans.append(LiveSpan("".join(texts), look))
            texts = []
            look = cell.look
        texts.append(text)
    spans.append(LiveSpan("".join(texts), look))
    return row_of_spans(spans, is_wrapped=is_wrapped)


def row_of_spans(spans: list[LiveSpan], *, is_wrapped: bool) -> LiveRow:
    """Return the row of ``spans``, at least one, whose neighbours differ.

    Blanks at its end are left out, unless its line goes on: then they are within the line.
    """
    if is_wrapped:
        return LiveRow(tuple(spans), is_wrapped)
    text, look = spans[-1]
    if look == PLAIN_LOOK:
        text = text.rstrip(" ")
        if not text:
            del spans[-1]
            return LiveRow(tuple(spans)) if spans else BLANK_ROW
        spans[-1] = LiveSpan(text, look)
    return LiveRow(tuple(spans))


def count_rows_in_use(rows: Sequence[LiveRow], cursor_row: int) -> int:
    """Return how many rows there are down to the last that is not blank or has the cursor."""
    count = len(rows)
    while count > cursor_row + 1 and not rows[count - 1].spans:
        count -= 1
    return count


def takes(text: str, cells: int, ambiguous_width: AmbiguousWidth) -> bool:
    """Tell whether ``text`` takes ``cells`` columns, and holds nothing that acts or is not seen."""
    if text.isascii() and text.isprintable():
        return len(text) == cells
    return _is_seen(text) and width(text, ambiguous_width=ambiguous_width) == cells


def _is_seen(text: str) -> bool:
    return label_controls(text, breaks="label", tabs="label") == text


def _fit(text: str, before: str, cells: int, ambiguous_width: AmbiguousWidth) -> str:
    """Return ``text``, or what can stand for it behind ``before``, in ``cells`` columns."""
    if text.isascii() and text.isprintable():
        return text
    if not _is_seen(text):
        text = "".join([scalar for scalar in text if _is_seen(scalar)])
    own = width(text, ambiguous_width=ambiguous_width)
    if own > cells:
        text = text.translate(_STAND_INS)
        text = text if text.isascii() and len(text) == cells else "?".ljust(cells)
    elif own == 0:
        text = "?".ljust(cells)
    elif own < cells:
        text += " " * (cells - own)
    # Two that would be one cluster, such as halves of a flag, must not meet.
    beside = width(before, ambiguous_width=ambiguous_width)
    return text if takes(before + text, beside + cells, ambiguous_width) else "?".ljust(cells)
