"""Text to the words by which it is found: folded, identifiers taken apart, CJK in pairs.

Spec: docs/spec/gateway/search.md, "Words". The same function cuts what is indexed and what is asked,
so that both agree whatever it decides. A word holds letters, digits and marks only, never a blank.

Three kinds of stretches make words; whatever lies between them parts words and is not searched:

- *plain*: letters, digits and underscores. A name such as ``parseHttpRequest`` or ``parse_http`` gives
  itself as one word, then its parts.
- *solid*: scripts written without blanks (Han, kana, Hangul, Thai ...). Each character gives a word with
  the one after it, the last one a word of its own, so that any piece of it can be found.
- *emoji*: each one a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import add
from typing import Final, Literal, NamedTuple
from unicodedata import category, combining, normalize

from wcwidth.table_grapheme import EXTENDED_PICTOGRAPHIC

__all__ = ["WORD_CHARS_MAX", "Run", "RunKind", "Word", "fold_words", "split_runs", "split_words"]

WORD_CHARS_MAX: Final = 64
"""Scalars of a word that count; longer ones (hashes, encoded data) are found by their beginning."""

RunKind = Literal["plain", "solid", "emoji"]

# Scripts that are written without blanks. Conjoining jamo are among them: they compose to syllables.
_SOLID: Final = (
    "\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ec0-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u103f\u1050-\u1055\u1100-\u11ff\u1780-\u17b3"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\uff66-\uff9d\uffa0-\uffdc"
    "\U0001b000-\U0001b16f\U00020000-\U0002fa1f\U00030000-\U000323af"
)
_JAMO: Final = (
    "[\u1100-\u115f\ua960-\ua97c]+[\u1160-\u11a7\ud7b0-\ud7c6]*[\u11a8-\u11ff\ud7cb-\ud7fb]*"
)

# Half-width voicing marks are letters by category, and marks by nature.
_VOICING: Final = "\uff9e\uff9f"
# Soft hyphen, joiners: inside a word and no part of it.
_INVISIBLE: Final = "\u00ad\u034f\u200c\u200d\u2060\ufeff"
_VARIATION: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Where marks are looked for; no plane beyond has any but variation selectors.
_MARKS_FROM, _MARKS_TO = 0x300, 0x1F000

# Letters that keep a stroke when decomposed, as they are typed without it.
_STROKES: Final = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ŧ": "t",
        "\u0131": "i",
        "æ": "ae",
        "œ": "oe",
    }
)
# Combining classes of accents: above, below, attached, doubled, Hebrew and Arabic points. Marks that
# make another letter (voicing, nukta, virama, Thai vowels) have others.
_ACCENT_CLASS_MIN: Final = 200
_POINT_CLASSES: Final = range(10, 36)

# What colours a terminal; without it, "31m" would be part of the word behind it.
_CONTROL_SEQUENCE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")

# Where a name has an inner boundary; the run that it stands in; and what counts of a word.
_ASCII_BOUNDARY: Final = re.compile(r"[A-Z_](?:(?<=_)|(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
_ASCII_RUN: Final = re.compile(r"[A-Za-z0-9_]+")
_ASCII_WORD: Final = re.compile(rf"([a-z0-9]{{1,{WORD_CHARS_MAX}}})[a-z0-9]*")


class Word(NamedTuple):
    """One word of a text: as it is compared, and where it stands, in scalars."""

    text: str
    start: int
    end: int


class Run(NamedTuple):
    """One stretch of a text and its words, in order.

    ``is_name`` tells a name of several parts: its first word is the whole, the others are the parts.
    """

    kind: RunKind
    words: Sequence[Word]
    is_name: bool


class _Patterns(NamedTuple):
    run: re.Pattern[str]
    cluster: re.Pattern[str]


@lru_cache(1)
def _patterns() -> _Patterns:
    """Return what finds runs, and the clusters of a solid one; made when first needed, in 20 ms."""
    marks = "".join(_mark_ranges()) + _VOICING + _VARIATION
    plain = rf"[^\W{_SOLID}{_VOICING}](?:[^\W{_SOLID}{_VOICING}]|[{marks}{_INVISIBLE}])*"
    emoji = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in EXTENDED_PICTOGRAPHIC)
    flags = "\U0001f1e6-\U0001f1ff"
    cluster = rf"(?:{_JAMO}|[{_SOLID}])[{marks}{_INVISIBLE}]*"
    return _Patterns(
        run=re.compile(
            rf"(?P<solid>(?:{cluster})+)|(?P<emoji>[{flags}]{{1,2}}|[{emoji}])|(?P<plain>{plain})"
        ),
        cluster=re.compile(cluster),
    )


def _mark_ranges() -> Iterator[str]:
    start = None
    for code in range(_MARKS_FROM, _MARKS_TO + 1):
        is_mark = category(chr(code))[0] == "M"
        if is_mark and start is None:
            start = code
        elif not is_mark and start is not None:
            yield rf"\U{start:08x}-\U{code - 1:08x}"
            start = None


def split_runs(text: str) -> Iterator[Run]:
    """Yield the stretches of ``text`` that have words, with their words and places."""
    text = _without_colours(text)
    patterns = _patterns()
    for match in patterns.run.finditer(text):
        kind: RunKind = match.lastgroup  # type: ignore[assignment]  # the groups have these names
        start, end = match.span()
        is_name = False
        if kind == "solid":
            spans = [found.span() for found in patterns.cluster.finditer(text, start, end)]
            words = [(text[a:b] + text[c:d], a, d) for (a, b), (c, d) in pairwise(spans)]
            words.append((text[slice(*spans[-1])], *spans[-1]))
        elif kind == "emoji":
            words = [(match[0], start, end)]
        else:
            parts = _parts(match[0])
            words = [(match[0][a:b], start + a, start + b) for a, b in parts]
            is_name = len(parts) > 1
            if is_name:
                words.insert(0, (match[0], start, end))
        folded = [Word(word, a, b) for raw, a, b in words if (word := _fold(raw))]
        if folded:
            yield Run(kind, folded, is_name and len(folded) > 1)


def _without_colours(text: str) -> str:
    """Return ``text`` with blanks for control sequences, so that places stay what they are."""
    if "\x1b" not in text:
        return text
    return _CONTROL_SEQUENCE.sub(lambda match: " " * len(match[0]), text)


def split_words(text: str) -> Iterator[Word]:
    """Yield the words of ``text`` with their places."""
    for run in split_runs(text):
        yield from run.words


def fold_words(text: str) -> list[str]:
    """Return the words of ``text``, as :func:`split_words` does, without places and faster."""
    text = _without_colours(text)
    words: list[str] = []
    if text.isascii():
        _add_ascii(words, text)
        return words
    patterns = _patterns()
    for match in patterns.run.finditer(text):
        raw = match[0]
        if raw.isascii():
            _add_ascii(words, raw)
        elif match.lastgroup == "solid":
            clusters = patterns.cluster.findall(raw)
            words += filter(None, map(_fold, map(add, clusters, clusters[1:])))
            words += filter(None, [_fold(clusters[-1])])
        else:
            _add_run(words, raw)
    return words


def _add_ascii(words: list[str], text: str) -> None:
    lower = text.lower()
    start = 0
    while boundary := _ASCII_BOUNDARY.search(text, start):
        at = boundary.start()
        while at > start and (text[at - 1].isalnum() or text[at - 1] == "_"):
            at -= 1
        name = _ASCII_RUN.match(text, at)
        assert name is not None, "the boundary stands in it"
        words += _ASCII_WORD.findall(lower, start, at)
        _add_run(words, name[0])
        start = name.end()
    words += _ASCII_WORD.findall(lower, start)


def _add_run(words: list[str], run: str) -> None:
    parts = _parts(run)
    pieces = [run[a:b] for a, b in parts]
    words += filter(None, map(_fold, [run, *pieces] if len(parts) > 1 else pieces))


def _parts(run: str) -> list[tuple[int, int]]:
    """Return where the parts of a name lie: between underscores and where capitals begin."""
    parts: list[tuple[int, int]] = []
    start = 0
    for piece in run.split("_"):
        end = start + len(piece)
        if piece:
            cuts = [start, *(start + cut for cut in _camel_cuts(piece)), end]
            parts += pairwise(cuts)
        start = end + 1
    return parts


def _camel_cuts(piece: str) -> Iterable[int]:
    lower = piece.lower()
    if piece[1:] == lower[1:] or piece.isupper() or len(lower) != len(piece):
        return ()
    return [
        index
        for index in range(1, len(piece))
        if piece[index].isupper()
        and (
            not piece[index - 1].isupper()
            or (index + 1 < len(piece) and piece[index + 1].islower())
        )
    ]


@lru_cache(4096)
def _fold(raw: str) -> str:
    """Return ``raw`` without case, accents, widths and joints; maybe nothing."""
    if raw.isascii():
        return raw.lower().replace("_", "")[:WORD_CHARS_MAX]
    decomposed = normalize("NFKD", normalize("NFKD", raw).casefold())
    kept = "".join(char for char in decomposed if _counts(char)).translate(_STROKES)
    return normalize("NFC", kept)[:WORD_CHARS_MAX]


def _counts(char: str) -> bool:
    if char.isalnum():
        return True
    kind = category(char)
    if kind in {"So", "Sk"}:
        return not char.isascii()
    # Variation selectors and what encloses (keycaps) have class 0, and so have vowel signs.
    if (
        kind not in {"Mn", "Mc"}
        or "\ufe00" <= char <= "\ufe0f"
        or char == "\u034f"
        or char >= "\U000e0100"
    ):
        return False
    mark_class = combining(char)
    return mark_class < _ACCENT_CLASS_MIN and mark_class not in _POINT_CLASSES
