"""Blocks as rows of the search index, and queries as its expressions.

Spec: docs/spec/gateway/search.md. Pure. What is indexed and what is removed come from the same function,
so :data:`WORDS_VERSION` has to change whenever it gives other words for the same message.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final, cast
from unicodedata import unidata_version

from blockwire.content import Message, block_parts, searchable_blocks
from blockwire.ports import SearchRequest
from blockwire.stores.searching import document_no
from blockwire.text import Clause, Phrase, TextWords, strong_words

__all__ = [
    "ALL_DOCUMENTS",
    "WORDS_VERSION",
    "DocumentRow",
    "document_rows",
    "match_expression",
    "word_expression",
]

WORDS_VERSION: Final = f"1/{unidata_version}"
"""How words are made: ours, and the tables of Unicode that decide on letters and marks."""

ALL_DOCUMENTS: Final = "{scope} : (ruser OR rassistant OR rtool)"
"""Matches every document once; messages of other roles have none."""

DocumentRow = tuple[int, str, str, str]
"""Number, words, strong words and scope of a document."""

_PLAIN_NAME: Final = re.compile(r"[a-z0-9_]{1,32}")
_DIGEST_BYTES: Final = 8


def document_rows(
    message_no: int, conversation_no: int, tenant: str | None, message: Message
) -> Iterator[DocumentRow]:
    """Yield the rows of a message's searchable blocks, in the order of their numbers."""
    role = cast("str", message["role"])
    for index, block in searchable_blocks(message):
        words = TextWords(block_parts(block)).words
        scope = _scope(conversation_no, role, cast("str", block["type"]), tenant)
        yield (
            document_no(message_no, index),
            " ".join(words),
            " ".join(strong_words(words)),
            " ".join(scope),
        )


def _scope(
    conversation_no: int | None, role: str | None, block_type: str | None, tenant: str | None
) -> list[str]:
    """Return one word for each of what is not None; the first letter says what it is."""
    words: list[str] = []
    if conversation_no is not None:
        words.append(f"c{conversation_no}")
    if role is not None:
        words.append(_named("r", role))
    if block_type is not None:
        words.append(_named("b", block_type))
    if tenant is not None:
        words.append(f"t{_digest(tenant)}")
    return words


def _named(kind: str, name: str) -> str:
    """Return ``name`` as one word; a name that could be several, or none, by its digest."""
    return f"{kind}{name}" if _PLAIN_NAME.fullmatch(name) else f"_{kind}{_digest(name)}"


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def match_expression(
    request: SearchRequest, conversation_no: int | None, *, is_strong: bool
) -> str:
    """Return what the index is asked for: documents that are strong in what is wanted, or the others."""
    query = request.query
    wanted = " AND ".join(_clause(clause) for clause in query.wanted)
    expression = f"{{words}} : ({wanted})"
    scope = _scope(conversation_no, request.role, request.block_type, request.tenant)
    if scope:
        expression = f"({{scope}} : ({' AND '.join(scope)})) AND ({expression})"
    if query.unwanted:
        unwanted = " OR ".join(_clause(clause) for clause in query.unwanted)
        expression = f"({expression}) NOT ({{words}} : ({unwanted}))"
    strong = " AND ".join(_strong(clause) for clause in query.wanted)
    operator = "AND" if is_strong else "NOT"
    return f"({expression}) {operator} ({{strong}} : ({strong}))"


def word_expression(column: str, word: str) -> str:
    """Return an expression for one word of one column."""
    return f'{{{column}}} : "{word}"'


def _clause(clause: Clause) -> str:
    return _any(_quoted(" ".join(phrase.words), phrase) for phrase in clause.phrases)


def _strong(clause: Clause) -> str:
    return _any(_strong_phrase(phrase) for phrase in clause.phrases)


def _strong_phrase(phrase: Phrase) -> str:
    *words, last = phrase.words
    return "(" + " AND ".join([*(f'"{word}"' for word in words), _quoted(last, phrase)]) + ")"


def _quoted(words: str, phrase: Phrase) -> str:
    return f'"{words}" *' if phrase.is_prefix else f'"{words}"'


def _any(expressions: Iterator[str]) -> str:
    return "(" + " OR ".join(expressions) + ")"
