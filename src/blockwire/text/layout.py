"""Tab stops, and lines cut into rows.

Spec: docs/spec/text.md.

A line is text without breaks whose controls are labelled and whose tabs are expanded. Whether it
fits is asked first, because nearly all lines do.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from wcwidth.table_grapheme import GRAPHEME_EXTEND, GRAPHEME_PREPEND, GRAPHEME_SPACINGMARK

from blockwire.errors import LocalProtocolError
from blockwire.text.clusters import AmbiguousWidth, cluster_width, clusters, width

# docs/spec/text.md. Cells from one tab stop to the next, from column 0.
TAB_STOP_CELLS: Final = 8

# docs/spec/text.md.
WrapMode: TypeAlias = Literal["word", "character"]

# Beside a wide character a row may be broken, but East Asian punctuation, small kana and closing
# brackets must not begin a row, and opening brackets must not end one.
_NO_ROW_START: Final = frozenset(
    "!),.:;?]}%\xbb\u2019\u201d\u2025\u2026\u30fb\u3001\u3002\u3005\u3009\u300b\u300d\u300f"
    "\u3011\u3015\u3017\u3019\u301f\u303b\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087"
    "\u308e\u3095\u3096\u309b\u309c\u309d\u309e\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5"
    "\u30e7\u30ee\u30f5\u30f6\u30fc\u30fd\u30fe\uff01\uff05\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
    "\uff3d\uff5d\uff60"
)
_NO_ROW_END: Final = frozenset(
    "([{\xab\u2018\u201c\u3008\u300a\u300c\u300e\u3010\u3014\u3016\u3018\u301d\uff08\uff3b\uff5b"
    "\uff5f"
)

# Korean has blanks between its words.
_HANGUL: Final = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")


def _any_of(*tables: Sequence[tuple[int, int]]) -> str:
    """Return the character class of tables."""
    ranges = [rf"\U{first:08x}-\U{last:08x}" for table in tables for first, last in table]
    return f"[{''.join(ranges)}]"


# A blank with a mark on it is no blank: a word may begin with it, and one that ends in a sign which
# belongs to what follows goes on with it.
# Most characters are in ranges without marks, and quickly passed by.
_UNMARKED: Final = r"(?![\x00-\u02ff\u3041-\u3096\u30a1-\ua66e\uac00-\ud7a3])"
_MARK: Final = _UNMARKED + _any_of(GRAPHEME_EXTEND, GRAPHEME_SPACINGMARK, ((0x200D, 0x200D),))
_SIGN: Final = _any_of(GRAPHEME_PREPEND)
_JOINED: Final = f" (?={_MARK})(?<={_SIGN} )"
_BLANKS: Final = f"(?: (?!{_MARK}))*+"
_INDENT: Final = re.compile(_BLANKS)
_WORD: Final = re.compile(f"((?: (?={_MARK}))?[^ ]*+(?:{_JOINED}[^ ]*+)*+)({_BLANKS})")
_WORD_GOES_ON: Final = re.compile(_JOINED)
_BLANK_MAY_JOIN: Final = re.compile(f"{_SIGN} ")


def expand_tabs(line: str, start_column: int = 0, *, ambiguous_width: AmbiguousWidth = 1) -> str:
    """Return ``line`` with each Tab replaced by the blanks up to the next tab stop.

    Args:
        line: Text without line breaks.
        start_column: The column, from 0, in which the line begins.
        ambiguous_width: As of :func:`blockwire.text.width`.
    """
    if "\t" not in line:
        return line
    first, *others = line.split("\t")
    parts = [first]
    column = start_column + width(first, ambiguous_width=ambiguous_width)
    for part in others:
        blank_cells = TAB_STOP_CELLS - column % TAB_STOP_CELLS
        parts += [" " * blank_cells, part]
        column += blank_cells + width(part, ambiguous_width=ambiguous_width)
    return "".join(parts)


def wrap(
    line: str,
    width_cells: int,
    *,
    ambiguous_width: AmbiguousWidth = 1,
    mode: WrapMode = "word",
) -> list[str]:
    """Return the rows of ``line``, at least one; joined, they are ``line``.

    No row is wider than ``width_cells``, save for a single cluster that is, and in ``word`` mode
    for the blanks at which a row was broken: they stay at its end, where they may reach beyond
    the edge, and the next row begins with a word. Strip them (``row.rstrip(" ")``) to draw.

    ``word`` breaks after blanks and beside wide characters (Hangul, which has blanks, excepted),
    keeps East Asian punctuation where it belongs, and cuts a word only if it is longer than a row.
    ``character`` fills every row. Clusters are never cut.

    Args:
        line: Text without line breaks; tabs expanded.
        width_cells: At least 1.
        ambiguous_width: As of :func:`blockwire.text.width`.
        mode: Where rows may be broken.

    Raises:
        LocalProtocolError: ``invalid_width`` if ``width_cells`` is less than 1.
    """
    if width_cells < 1:
        raise LocalProtocolError("invalid_width", "rows have at least one cell")
    # No character is wider than two cells.
    if 2 * len(line) <= width_cells or width(line, ambiguous_width=ambiguous_width) <= width_cells:
        return [line]
    is_simple = line.isascii() and line.isprintable()
    if mode == "word":
        if is_simple:
            return _ascii_word_rows(line, width_cells)
        return _word_rows(line, width_cells, ambiguous_width)
    if is_simple:
        return [line[at : at + width_cells] for at in range(0, len(line), width_cells)]
    rows = _Rows(width_cells, ambiguous_width)
    rows.add_clusters(line)
    return rows.end()


def _ascii_word_rows(line: str, width_cells: int) -> list[str]:
    """As :func:`_word_rows`, for characters that are one cell each."""
    rows: list[str] = []
    start = 0
    text_end = len(line.rstrip(" "))
    while text_end - start > width_cells:
        edge = start + width_cells
        if line[edge] == " ":
            end = edge
        else:
            blank = line.rfind(" ", start, edge)
            # Blanks at the start of a row indent it: no word ends there.
            is_word_end = blank >= 0 and not line[start : blank + 1].isspace()
            end = blank + 1 if is_word_end else edge
        while line[end] == " ":
            end += 1
        rows.append(line[start:end])
        start = end
    rows.append(line[start:])
    return rows


def _word_rows(line: str, width_cells: int, ambiguous_width: AmbiguousWidth) -> list[str]:
    rows = _Rows(width_cells, ambiguous_width)
    # Blanks at the start indent the first row: no word ends there.
    indent = _INDENT.match(line)
    assert indent is not None, "the pattern matches the empty string"
    position = indent.end()
    rows.add_blanks(line[:position])
    while position < len(line):
        position = rows.add_words(line, position)
        match = _WORD.match(line, position)
        assert match is not None, "the pattern matches the empty string"
        word, blanks = match.groups()
        if not rows.add_if_it_fits(word):
            for piece in _pieces(word):
                rows.add_word(piece)
        rows.add_blanks(blanks)
        position = match.end()
    return rows.end()


class _Rows:
    """Rows under construction."""

    __slots__ = ("_ambiguous_width", "_has_text", "_row", "_rows", "_used_cells", "_width_cells")

    def __init__(self, width_cells: int, ambiguous_width: AmbiguousWidth) -> None:
        self._width_cells = width_cells
        self._ambiguous_width = ambiguous_width
        self._rows: list[str] = []
        self._row: list[str] = []
        self._used_cells = 0
        # Whether the row has more than blanks, so that it may end before the next word.
        self._has_text = False

    def add_if_it_fits(self, text: str) -> bool:
        cells = width(text, ambiguous_width=self._ambiguous_width)
        if self._used_cells + cells > self._width_cells:
            return False
        if text:
            self._row.append(text)
            self._used_cells += cells
            self._has_text = True
        return True

    def add_words(self, line: str, start: int) -> int:
        """Add as many words as seem to fit and do, for speed; return where the rest begins."""
        left = self._width_cells - self._used_cells
        # Of narrow characters, of wide ones.
        for length in (left, left // 2):
            end = line.rfind(" ", start, start + length + 1)
            if end <= start or _WORD_GOES_ON.match(line, end):
                continue
            if self.add_if_it_fits(line[start:end]):
                return end
        return start

    def add_blanks(self, blanks: str) -> None:
        """Add blanks to the row, whether they fit or not."""
        if blanks:
            self._row.append(blanks)
            self._used_cells += len(blanks)

    def add_word(self, word: str) -> None:
        """Add what is not to be cut, on a row of its own if need be; cut it if that is too short."""
        if self.add_if_it_fits(word):
            return
        if self._has_text:
            self._end_row()
            if self.add_if_it_fits(word):
                return
        self.add_clusters(word)

    def add_clusters(self, text: str) -> None:
        for cluster in clusters(text):
            cells = cluster_width(cluster, self._ambiguous_width)
            if self._used_cells + cells > self._width_cells and self._row:
                self._end_row()
            self._row.append(cluster)
            self._used_cells += cells
        self._has_text = True

    def end(self) -> list[str]:
        """End the last row and return all."""
        self._end_row()
        return self._rows

    def _end_row(self) -> None:
        self._rows.append("".join(self._row))
        self._row.clear()
        self._used_cells = 0
        self._has_text = False


def _pieces(word: str) -> Iterator[str]:
    """Yield the parts of a word between which a row may be broken."""
    if word.isascii():
        yield word
        return
    piece = before = ""
    for cluster in clusters(word):
        if before and _may_part(before, cluster):
            yield piece
            piece = ""
        piece += cluster
        before = cluster
    yield piece


def _may_part(before: str, after: str) -> bool:
    """Tell whether a row may be broken between two clusters that are not blanks."""
    return (
        (_is_free(before) or _is_free(after))
        and before[0] not in _NO_ROW_END
        and after[0] not in _NO_ROW_START
    )


def _is_free(cluster: str) -> bool:
    """Tell whether a cluster is a word by itself: ideographs, kana, emoji, but no Hangul.

    Asks for the width of its first character without the setting for ambiguous ones, which would
    take Greek words apart, and without its marks, which would do that to Indic ones.
    """
    first = cluster[0]
    if first < "\u1100" or _HANGUL.match(first):
        return False
    return cluster_width(first, 1) == 2


def last_break(text: str) -> int:
    """Return the largest offset up to which the rows of ``text`` are decided, whatever follows it.

    The rows of ``text[:offset]``, blanks at their ends stripped, are what the rows of every longer
    text begin with. That is the end of the last word that something else follows already.
    """
    # Only what stands after the last blank can hold a break that is nearer.
    after_blank = text.rfind(" ") + 1
    while after_blank > 1 and _BLANK_MAY_JOIN.match(text, after_blank - 2):
        after_blank = text.rfind(" ", 0, after_blank - 1) + 1
    *decided, _growing = _pieces(text[after_blank:])
    return after_blank + sum(map(len, decided))
