"""Whether a text has what a query asks for, how well, and where: the meaning of a search.

Spec: docs/spec/gateway/search.md, "Order" and "Snippets". An index only finds candidates faster. How
well a text matches depends on the query and this text alone: what else is stored, and for whom, cannot
be told from the order of what is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Final

from msgspec import Struct

from blockwire.text.clusters import clusters
from blockwire.text.search_query import Clause, Phrase, SearchQuery
from blockwire.text.words import Word, fold_words, split_words

__all__ = [
    "PART_BREAK",
    "SNIPPET_CHARS",
    "Snippet",
    "TextWords",
    "cut_snippet",
    "find_places",
    "strong_words",
]

PART_BREAK: Final = "\ue000"
"""The word between two parts of one text, so that no phrase reaches across; nobody can type it."""

SNIPPET_CHARS: Final = 160
"""Scalars of a snippet, about: it ends at the end of a word and holds one match in any case."""

# Scalars looked at around a cut, so that it parts no cluster of ordinary length.
_CLUSTER_CONTEXT: Final = 32

# BM25 without statistics of a collection: how fast repetition stops to count, how much length does,
# and the length, in words, that counts as ordinary.
_K1: Final = 1.2
_B: Final = 0.75
_ORDINARY_WORDS: Final = 100

# From this share of the best possible score on, a word says what a text is about: twice in an ordinary
# paragraph is, once in a long text is not.
_STRONG_SHARE: Final = 0.7

# Shares are compared and travel in cursors as integers.
_SCORE_SCALE: Final = 1_000_000


class TextWords:
    """The words of one text, in order."""

    __slots__ = ("words",)

    def __init__(self, parts: Iterable[str]) -> None:
        words: list[str] = []
        for part in parts:
            if words:
                words.append(PART_BREAK)
            words += fold_words(part)
        while words and words[-1] == PART_BREAK:
            words.pop()
        self.words: Sequence[str] = words

    def matches(self, query: SearchQuery) -> bool:
        """Return whether the text has all that is wanted and nothing that is not."""
        return all(self._count(clause) for clause in query.wanted) and not any(
            self._count(clause) for clause in query.unwanted
        )

    def score(self, query: SearchQuery) -> int:
        """Return how well the text matches: the sum over what is wanted, each up to 1,000,000."""
        length = len(self.words)
        return sum(
            int(_share(self._count(clause), length) * _SCORE_SCALE) for clause in query.wanted
        )

    def is_strong(self, query: SearchQuery) -> bool:
        """Return whether each wanted clause has a phrase of strong words only."""
        strong = strong_words(self.words)
        return all(
            any(_all_in(strong, phrase) for phrase in clause.phrases) for clause in query.wanted
        )

    def _count(self, clause: Clause) -> int:
        return max(_count_phrase(self.words, phrase) for phrase in clause.phrases)


def _count_phrase(words: Sequence[str], phrase: Phrase) -> int:
    first = phrase.words[0]
    if len(phrase.words) > 1:
        return sum(_stands_at(words, start, phrase) for start in _places_of(words, first))
    if phrase.is_prefix:
        return sum(word.startswith(first) for word in words)
    return words.count(first)


def _places_of(words: Sequence[str], word: str) -> Iterator[int]:
    place = -1
    with suppress(ValueError):
        while True:
            place = words.index(word, place + 1)
            yield place


def _stands_at(words: Sequence[str], start: int, phrase: Phrase) -> bool:
    count = len(phrase.words)
    if not phrase.is_prefix:
        return tuple(words[start : start + count]) == phrase.words
    last = start + count - 1
    return (
        last < len(words)
        and words[last].startswith(phrase.words[-1])
        and tuple(words[start:last]) == phrase.words[:-1]
    )


def _all_in(strong: Iterable[str], phrase: Phrase) -> bool:
    *words, last = phrase.words
    have = set(strong)
    if not have.issuperset(words):
        return False
    return any(word.startswith(last) for word in have) if phrase.is_prefix else last in have


def _share(count: int, length: int) -> float:
    return count / (count + _K1 * (1 - _B + _B * length / _ORDINARY_WORDS))


def strong_words(words: Sequence[str]) -> list[str]:
    """Return the words that say what a text of these words is about, in order of first use."""
    length = len(words)
    if _share(1, length) >= _STRONG_SHARE:
        return [word for word in dict.fromkeys(words) if word != PART_BREAK]
    return [
        word
        for word, count in Counter(words).items()
        if count > 1 and word != PART_BREAK and _share(count, length) >= _STRONG_SHARE
    ]


# snippets -----------------------------------------------------------------------------------
class Snippet(Struct, frozen=True):
    """A stretch of a text around what was found.

    Attributes:
        text: As it stands in the text.
        start: Where it begins in the text, in scalars.
        is_cut: Whether the text goes on behind it.
        matches: Where in ``text`` what was asked for stands, in scalars, in order, apart.
    """

    text: str
    start: int
    is_cut: bool
    matches: Sequence[tuple[int, int]]


def find_places(query: SearchQuery, text: str) -> list[tuple[int, int]]:
    """Return where ``text`` has something of what is wanted, in order; touching ones are one."""
    found = list(split_words(text))
    words = [word.text for word in found]
    spans: set[tuple[int, int]] = set()
    for clause in query.wanted:
        for phrase in clause.phrases:
            spans.update(_phrase_spans(found, words, phrase))
    places: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if places and start <= places[-1][1]:
            places[-1] = (places[-1][0], max(end, places[-1][1]))
        else:
            places.append((start, end))
    return places


def _phrase_spans(
    found: Sequence[Word], words: Sequence[str], phrase: Phrase
) -> Iterator[tuple[int, int]]:
    count = len(phrase.words)
    for start in range(len(words) - count + 1):
        if _stands_at(words, start, phrase):
            stretch = found[start : start + count]
            end = max(word.end for word in stretch)
            if phrase.is_prefix and start + count < len(found):
                # Of a pair of characters only the first was asked for; the next pair begins behind it.
                following = found[start + count].start
                end = following if stretch[-1].start < following < end else end
            yield stretch[0].start, end


def cut_snippet(query: SearchQuery, text: str, *, chars: int = SNIPPET_CHARS) -> Snippet:
    """Return the stretch of ``text`` with the most of what is wanted, the first of equals."""
    places = find_places(query, text)
    start, end = _best_window(places, text, chars)
    inside = [(a - start, b - start) for a, b in places if a >= start and b <= end]
    return Snippet(text[start:end], start, end < len(text), inside)


def _best_window(places: Sequence[tuple[int, int]], text: str, chars: int) -> tuple[int, int]:
    """Return where to cut: around the stretch of at most ``chars`` that holds most places."""
    first, last = _densest(places, chars) if places else (0, 0)
    room = max(chars - (last - first), 0)
    start = max(first - room // 3, 0)
    end = min(max(start + chars, last), len(text))
    if start > 0:
        # What does not fit whole is left out, at both ends.
        blank = next((at for at in range(start, first) if text[at].isspace()), None)
        start = _boundary_before(text, start) if blank is None else blank + 1
    if end < len(text):
        blank = next((at for at in range(end, last, -1) if text[at].isspace()), None)
        end = max(_boundary_before(text, end), last) if blank is None else blank
    return start, end


def _densest(places: Sequence[tuple[int, int]], chars: int) -> tuple[int, int]:
    best, best_count, last = 0, 0, 0
    for index, (start, _) in enumerate(places):
        last = max(last, index)
        while last + 1 < len(places) and places[last + 1][1] <= start + chars:
            last += 1
        if last - index + 1 > best_count:
            best, best_count = index, last - index + 1
    return places[best][0], places[best + best_count - 1][1]


def _boundary_before(text: str, index: int) -> int:
    """Return the last boundary of clusters up to ``index``, as far as the text around tells."""
    start = max(index - _CLUSTER_CONTEXT, 0)
    lengths = map(len, clusters(text[start : index + _CLUSTER_CONTEXT]))
    return max(place for place in accumulate(lengths, initial=start) if place <= index)
