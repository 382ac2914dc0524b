"""Rows of a frame as cells, and the bytes that write them.

Spec: docs/spec/host/drawing.md, "Rows". This is the last gate: whatever a row holds, what is written is
printable text, looks and links.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, repeat
from typing import Final, NamedTuple, TypeAlias

from blockwire.host.emulator import LiveSpan, Look
from blockwire.host.sgr import LINK_END, RESET, ColourDepth, link_start, sgr
from blockwire.text import AmbiguousWidth, clusters, label_controls, width
from blockwire.text.charset import UTF_8, Charset

PaintRow: TypeAlias = tuple[LiveSpan, ...]
"""A row of a frame, from column 0; what it does not reach is blank."""

# Scalars of one cluster that are written. The longest in use has about ten, and no script needs
# more than 30 marks (UAX 15, "Stream-Safe Text Format"); the rest would only be a weight.
CLUSTER_CHARS_MAX: Final = 32

# Rows that are kept as cells and as bytes: a few screens of them.
ROWS_KEPT: Final = 512
CLUSTERS_KEPT: Final = 8_192

# What is shown for a control that has no picture.
_NO_PICTURE: Final = "\ufffd"

# Characters that nothing in a row of them joins: letters, ideographs, lines, emoji; no marks, no
# conjoining jamo, no regional indicators. Finding clusters takes ten times as long.
_LONERS: Final = re.compile(
    r"[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0530\u2010-\u2027\u2030-\u205e"
    r"\u2070-\u20cf\u2100-\u2bff\u3000-\u3029\u3030-\u3096\u309b-\u3163\u3165-\ua48c"
    r"\uac00-\ud7a3\ue000-\uf8ff\uf900-\ufa6d\uff01-\uff9d\uffe0-\uffe6"
    r"\U0001f300-\U0001f3fa\U0001f400-\U0001faff\U00020000-\U0002fa1d]*+"
)

# What makes blanks visible.
_BLANK_MARKS: Final = frozenset(
    {"inverse", "underline", "double_underline", "curly_underline", "strikethrough", "overline"}
)


class Cells(NamedTuple):
    """A row cell by cell, up to the last one that is not blank.

    Attributes:
        texts: The cluster in each; in the second cell of a wide one nothing.
        looks: As many.
        fragile: Columns of clusters that not all terminals give as many cells as we do.
    """

    texts: tuple[str, ...]
    looks: tuple[Look, ...]
    fragile: frozenset[int]


class RowEncoder:
    """Writes rows for one width and one kind of terminal, and remembers what it wrote.

    Everything it returns begins and ends in the plain look, so that pieces can be put together.
    """

    def __init__(
        self,
        columns: int,
        *,
        colours: ColourDepth,
        links: bool,
        ambiguous_width: AmbiguousWidth,
        charset: Charset = UTF_8,
    ) -> None:
        self._columns = columns
        self._colours = colours
        self._has_links = links
        self._ambiguous_width = ambiguous_width
        self._charset = charset
        self._cells = lru_cache(ROWS_KEPT)(self._cells_of)
        self._whole = lru_cache(ROWS_KEPT)(self._encode_whole)

    def encode(self, number: int, old: PaintRow | None, new: PaintRow) -> bytes:
        """Return what makes row ``number`` show ``new``; nothing if it does.

        Args:
            number: From 0.
            old: What it shows; None if nobody knows.
            new: What it is to show; whatever is beyond the edge is left out.
        """
        if old is None:
            return _at(number, 0) + self._whole(new)
        was, cells = self._cells(old), self._cells(new)
        if was == cells:
            return b""
        if was.fragile or cells.fragile:
            # Nobody knows where its cells really are.
            return _at(number, 0) + self._whole(new)
        start, end = _difference(was, cells)
        has_rest = len(was.texts) > len(cells.texts)
        run = self._run(cells, start, end) + ("\x1b[K" if has_rest else "")
        return _at(number, start) + self._charset.encode(run)

    def _encode_whole(self, row: PaintRow) -> bytes:
        cells = self._cells(row)
        text = self._run(cells, 0, len(cells.texts))
        # Behind the last column the cursor still stands in it, and would erase it.
        whole = text if len(cells.texts) == self._columns else text + "\x1b[K"
        return self._charset.encode(whole)

    def _run(self, cells: Cells, start: int, end: int) -> str:
        parts: list[str] = []
        is_plain = True
        at = start
        for look, group in groupby(cells.looks[start:end]):
            stop = at + sum(1 for _ in group)
            text = self._text(cells, at, stop)
            codes = sgr(look, self._colours)
            if codes:
                parts.append(f"\x1b[{codes}m" if is_plain else f"\x1b[0;{codes}m")
            elif not is_plain:
                parts.append(RESET)
            is_plain = not codes
            link = link_start(look.link) if look.link is not None and self._has_links else ""
            parts.append(f"{link}{text}{LINK_END}" if link else text)
            at = stop
        if not is_plain:
            parts.append(RESET)
        return "".join(parts)

    def _text(self, cells: Cells, start: int, end: int) -> str:
        texts = cells.texts
        if cells.fragile.isdisjoint(range(start, end)):
            return "".join(texts[start:end])
        return "".join(
            _placed(texts, column) if column in cells.fragile else texts[column]
            for column in range(start, end)
        )

    def _cells_of(self, row: PaintRow) -> Cells:
        texts: list[str] = []
        looks: list[Look] = []
        fragile: list[int] = []
        joined = "".join([span.text for span in row])
        if joined.isascii() and joined.isprintable():
            texts += joined[: self._columns]
            for span in row:
                looks += repeat(span.look, len(span.text))
            del looks[self._columns :]
        else:
            for cluster, look in _clusters(row, joined):
                text, cells, is_fragile = _drawn(cluster, self._ambiguous_width)
                if len(texts) + cells > self._columns:
                    break
                if not cells:
                    continue
                if is_fragile:
                    fragile.append(len(texts))
                texts += (text, *repeat("", cells - 1))
                looks += repeat(look, cells)
        while texts and texts[-1] == " " and _is_unseen(looks[-1]):
            del texts[-1], looks[-1]
        return Cells(tuple(texts), tuple(looks), frozenset(fragile))


def _at(number: int, column: int) -> bytes:
    return b"\x1b[%d;%dH" % (number + 1, column + 1) if column else b"\x1b[%dH" % (number + 1)


def _placed(texts: Sequence[str], column: int) -> str:
    """Return a cluster so that, as wide as a terminal may draw it, the next one is in its place."""
    end = column + 1
    while end < len(texts) and not texts[end]:
        end += 1
    return f"{' ' * (end - column)}\x1b[{column + 1}G{texts[column]}\x1b[{end + 1}G"


def _difference(was: Cells, cells: Cells) -> tuple[int, int]:
    """Return from where up to where a row is to be written, where the rest of it is not erased.

    That cuts no wide cluster: where one stood or is to stand, its first cell differs if any does.
    """
    old = list(zip(was.texts, was.looks, strict=True))
    new = list(zip(cells.texts, cells.looks, strict=True))
    start, end = 0, len(new)
    shared = min(len(old), end)
    while start < shared and old[start] == new[start]:
        start += 1
    if len(old) == end:
        while old[end - 1] == new[end - 1]:
            end -= 1
    return start, end


def _clusters(row: PaintRow, joined: str) -> Iterator[tuple[str, Look]]:
    """Yield the clusters of a row, whatever spans they are in, each in the look of its beginning."""
    looks = chain.from_iterable(repeat(span.look, len(span.text)) for span in row)
    if _LONERS.fullmatch(joined):
        yield from zip(joined, looks, strict=True)
        return
    for cluster in clusters(joined):
        look = next(looks)
        for _ in range(len(cluster) - 1):
            next(looks)
        yield cluster, look


@lru_cache(CLUSTERS_KEPT)
def _drawn(cluster: str, ambiguous_width: AmbiguousWidth) -> tuple[str, int, bool]:
    """Return what is written for a cluster, its cells, and whether terminals disagree on them.

    A control is shown in the one cell that it would have in a terminal's grid. What is invisible
    has none and is left out, or nothing behind it would be in its place.
    """
    text = cluster[:CLUSTER_CHARS_MAX]
    if label_controls(text, breaks="label", tabs="label") != text:
        text = "".join(map(_drawn_char, text))
    cells = width(text, ambiguous_width=ambiguous_width)
    # Marks with a place of their own, above or below, take no cell anywhere.
    is_fragile = not all(map(unicodedata.combining, text[1:]))
    return text if cells else "", cells, is_fragile


def _drawn_char(char: str) -> str:
    label = label_controls(char, breaks="label", tabs="label")
    if len(label) == 1:
        return label
    return _NO_PICTURE if unicodedata.category(char) == "Cc" else ""


def _is_unseen(look: Look) -> bool:
    """Tell whether a blank in this look is as good as none."""
    return (
        look.background is None and look.link is None and _BLANK_MARKS.isdisjoint(look.attributes)
    )
