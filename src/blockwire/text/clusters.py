"""Grapheme clusters, and how many terminal cells they take.

Spec: docs/spec/text.md: the width of a text is the sum over its grapheme
clusters; ``ambiguous_width`` is one setting for text and frames.

Both rest on the tables of wcwidth (Unicode 17): a cluster with emoji presentation (by itself, by
U+FE0F, by ZWJ or as a pair of regional indicators) takes 2 cells, U+FE0E makes a wide emoji take
1, a bare U+26A0 takes 1 as UAX 11 has it. There is no table of exceptions of our own. The one
known miss of its segmentation (rule GB9c joins across an Indic linker even where no consonant
stands before it) is undone here.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from wcwidth import iter_graphemes, wcswidth
from wcwidth.table_grapheme import EXTENDED_PICTOGRAPHIC, INCB_CONSONANT, INCB_EXTEND, INCB_LINKER

# Cells of a character whose East Asian Width is Ambiguous; some East Asian terminals use 2.
AmbiguousWidth: TypeAlias = Literal[1, 2]


def _ranges(table: Sequence[tuple[int, int]]) -> str:
    """Return the inside of a character class."""
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in table)


_LINKER: Final = re.compile(f"[{_ranges(INCB_LINKER)}]")

# A linker with other extending characters around it, before a consonant but not after one.
# Possessive, so that a long run of marks takes linear time.
_FALSE_CONJUNCT: Final = re.compile(
    rf"(?:\A|[^{_ranges(INCB_CONSONANT)}{_ranges(INCB_EXTEND)}{_ranges(INCB_LINKER)}])"
    rf"[{_ranges(INCB_EXTEND)}]*+[{_ranges(INCB_LINKER)}]"
    rf"[{_ranges(INCB_EXTEND)}{_ranges(INCB_LINKER)}]*+(?=[{_ranges(INCB_CONSONANT)}])"
)

# In texts of these characters, wcswidth of the whole is the sum over the clusters, and ten times
# as fast: no script with conjuncts or spacing marks, no conjoining jamo, no controls, no U+3164
# (which wcswidth overlooks between an emoji and its modifier), ZWJ only where it joins two emoji.
# A test looks for exceptions.
_PLAIN: Final = (
    r"\x20-\x7e\xa0-\xac\xae-\u0482\u048a-\u0530\u0590-\u05f4\u0606-\u061b\u061d-\u06dc"
    r"\u06de-\u070d\u0e01-\u0e4f\u1d00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u20f0\u2100-\u2bff"
    r"\u2c60-\u2c7f\u2e00-\u3029\u3030-\u3163\u3165-\ua48c\ua720-\ua7ff\uac00-\ud7a3\uf900-\ufa6d"
    r"\ufb00-\ufdff\ufe0e\ufe0f\ufe30-\ufefe\uff01-\uff9f\uffe0-\uffe6"
    r"\U0001f000-\U0001faff\U00020000-\U0002fa1d"
)
_EMOJI: Final = _ranges(EXTENDED_PICTOGRAPHIC)
_ADDITIVE: Final = re.compile(
    rf"(?:[{_PLAIN}]++"
    rf"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}][\ufe0f\U0001f3fb-\U0001f3ff]))\u200d(?=[{_EMOJI}])"
    r")*+"
)


def clusters(text: str) -> Iterator[str]:
    """Yield the extended grapheme clusters of ``text`` (UAX 29); joined, they are ``text``."""
    if text.isascii() and "\r" not in text:
        return iter(text)
    if _LINKER.search(text):
        return _without_false_conjuncts(iter_graphemes(text))
    return iter_graphemes(text)


def width(text: str, *, ambiguous_width: AmbiguousWidth = 1) -> int:
    """Return the cells that ``text`` takes on one row: the sum over its clusters.

    Controls, line breaks and Tab take no cell of their own; label or expand them before.
    """
    if text.isascii() and text.isprintable():
        return len(text)
    if _ADDITIVE.fullmatch(text):
        return wcswidth(text, None, "auto", ambiguous_width)
    return sum(cluster_width(cluster, ambiguous_width) for cluster in clusters(text))


def cluster_width(cluster: str, ambiguous_width: AmbiguousWidth) -> int:
    """Return the cells that one cluster takes; none for a control."""
    return max(0, wcswidth(cluster, None, "auto", ambiguous_width))


def cut(text: str, width_cells: int, *, ambiguous_width: AmbiguousWidth = 1) -> str:
    """Return the longest beginning of ``text`` that fits into ``width_cells``, in whole clusters.

    It may be a cell short where a wide cluster did not fit.
    """
    if text.isascii() and text.isprintable():
        return text[: max(width_cells, 0)]
    used_cells = 0
    length = 0
    for cluster in clusters(text):
        used_cells += cluster_width(cluster, ambiguous_width)
        if used_cells > width_cells:
            break
        length += len(cluster)
    return text[:length]


def _without_false_conjuncts(joined: Iterator[str]) -> Iterator[str]:
    for cluster in joined:
        start = 0
        for match in _FALSE_CONJUNCT.finditer(cluster):
            yield cluster[start : match.end()]
            start = match.end()
        yield cluster[start:]
