"""What a person types into a search box, as clauses over words.

Spec: docs/spec/gateway/search.md, "Queries". Everything parses as words: ``words`` (all of them),
``"a phrase"``, ``begin*``, ``-without``. A quotation mark that nobody closes reaches to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from blockwire.errors import RemoteProtocolError
from blockwire.text.words import Run, split_runs

__all__ = [
    "PREFIX_CHARS_MIN",
    "QUERY_CHARS_MAX",
    "QUERY_CLAUSES_MAX",
    "QUERY_WORDS_MAX",
    "Clause",
    "Phrase",
    "SearchQuery",
    "parse_query",
]

QUERY_CHARS_MAX: Final = 512
"""Scalars of a query."""

QUERY_CLAUSES_MAX: Final = 16
"""Words and phrases of a query, wanted and unwanted ones together."""

QUERY_WORDS_MAX: Final = 128
"""Words that they give together; a CJK phrase gives one a character."""

PREFIX_CHARS_MIN: Final = 2
"""Scalars of a beginning; a shorter one is taken as the word that it spells."""

_PIECE: Final = re.compile(r'\s*((?:-(?!-))?)(?:"([^"]*)"?(\*?)|([^\s"]+))')


class Phrase(Struct, frozen=True):
    """Words that follow each other; of the last one only the beginning, if ``is_prefix``."""

    words: tuple[str, ...]
    is_prefix: bool = False


class Clause(Struct, frozen=True):
    """One thing to look for: any of these phrases."""

    phrases: tuple[Phrase, ...]


class SearchQuery(Struct, frozen=True):
    """What a text must hold, all of it (at least one), and what it must not."""

    wanted: tuple[Clause, ...]
    unwanted: tuple[Clause, ...] = ()


def parse_query(text: str) -> SearchQuery:
    """Return what ``text`` asks for.

    Raises:
        RemoteProtocolError: ``invalid_query`` if it is too long, has too many words, or asks for no
            word at all.
    """
    if len(text) > QUERY_CHARS_MAX:
        raise _invalid(f"a query has at most {QUERY_CHARS_MAX} characters; take some words out")
    wanted: dict[Clause, None] = {}
    unwanted: dict[Clause, None] = {}
    for minus, phrase, phrase_star, piece in _pieces(text):
        if piece:
            bare = piece.rstrip("*")
            clause = _clause(bare, is_prefix=len(bare) < len(piece), is_quoted=False)
        else:
            clause = _clause(phrase, is_prefix=bool(phrase_star), is_quoted=True)
        if clause is not None:
            (unwanted if minus else wanted).setdefault(clause)
    clauses = [*wanted, *unwanted]
    word_count = sum(len(phrase.words) for clause in clauses for phrase in clause.phrases)
    if len(clauses) > QUERY_CLAUSES_MAX or word_count > QUERY_WORDS_MAX:
        raise _invalid(
            f"a query has at most {QUERY_CLAUSES_MAX} words or phrases, of {QUERY_WORDS_MAX} words "
            "together; take some out"
        )
    if not wanted:
        raise _invalid(
            "name at least one word to look for; signs alone, or -words alone, find nothing"
        )
    return SearchQuery(tuple(wanted), tuple(unwanted))


def _pieces(text: str) -> Iterator[tuple[str, str, str, str]]:
    for match in _PIECE.finditer(text):
        yield match[1], match[2] or "", match[3] or "", match[4] or ""


def _invalid(detail: str) -> RemoteProtocolError:
    return RemoteProtocolError("invalid_query", detail)


def _clause(text: str, *, is_prefix: bool, is_quoted: bool) -> Clause | None:
    runs = list(split_runs(text))
    if not runs:
        return None
    *before, last = runs
    head = tuple(word.text for run in before for word in run.words)
    tails = _tails(last, is_prefix=is_prefix, is_exact=is_quoted or bool(before))
    return Clause(tuple(Phrase(head + tail.words, tail.is_prefix) for tail in tails))


def _tails(run: Run, *, is_prefix: bool, is_exact: bool) -> list[Phrase]:
    """Return what the last run of a piece may be: phrases, any of which will do."""
    words = tuple(word.text for word in run.words)
    if run.kind == "solid":
        # The text may go on: its last character is then no word of its own, but the start of a pair.
        return [Phrase(words[:-1])] if len(words) > 1 else [Phrase(words, is_prefix=True)]
    if run.kind == "emoji":
        return [Phrase(words)]
    is_prefix = is_prefix and len(words[0]) >= PREFIX_CHARS_MIN
    if not run.is_name:
        return [Phrase(words, is_prefix)]
    whole = Phrase(words[:1], is_prefix)
    if is_exact:
        # Beside other words a name stands as it is written in a text: the whole, then the parts.
        return [whole if is_prefix else Phrase(words)]
    return [whole, Phrase(words[1:], is_prefix)]
