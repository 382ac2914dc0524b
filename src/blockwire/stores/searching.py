"""Which of the blocks that match come on which page, in which order: the same for every store.

Spec: docs/spec/gateway/search.md, "Order". A store brings an index: it lists matching documents, newest
first, and loads one. A *document* is one visible block of one finished message; its number is that of the
message in the store and that of the block in the message.

The best come first of a *window* of the newest candidates; the next window follows. Blocks that the query
is about (*strong* ones) have their windows before the others. So a page costs what a window costs,
however many blocks match, and nothing depends on blocks that the caller does not see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from blockwire.content import Block, Message, block_parts
from blockwire.errors import StoreError
from blockwire.ports import ConversationRow, SearchHit, SearchPage, SearchRequest
from blockwire.stores.cursors import SearchPlace, decode_search_cursor, encode_search_cursor
from blockwire.text import TextWords

__all__ = ["BLOCK_BITS", "Candidate", "SearchIndex", "document_no", "find_page"]

BLOCK_BITS: Final = 12
"""Bits of a document's number that are the block's; they number SEARCHED_BLOCKS_MAX blocks."""

# Candidates that are ranked together, and scalars of text that are read for it; one is read in any case.
_WINDOW_COUNT: Final = 200
_WINDOW_CHARS: Final = 2_000_000

# Bytes of a request's digest in a cursor.
_DIGEST_BYTES: Final = 9

_Place = tuple[str, str, str]


def document_no(message_no: int, block_index: int) -> int:
    """Return the number of a block's document."""
    return message_no << BLOCK_BITS | block_index


class Candidate(Struct, frozen=True):
    """One document as it is stored."""

    conversation: ConversationRow
    message: Message
    block: Block

    @property
    def place(self) -> _Place:
        """Names that the caller sees anyway; numbers would tell how much else is stored."""
        return self.conversation.id, str(self.message["id"]), str(self.block["id"])


class SearchIndex(Protocol):
    """What a store brings, all of it as of one commit."""

    def list_documents(self, *, is_strong: bool, before: int | None, limit: int) -> Sequence[int]:
        """Return the highest numbers below ``before`` of matching documents, highest first."""
        ...

    def load(self, document: int) -> Candidate:
        """Return a document that was listed."""
        ...

    def find(self, place: _Place) -> int | None:
        """Return the number of the document at ``place``, or None when it is gone."""
        ...


class _Found(Struct, frozen=True):
    """A hit and where in the list it stands; ``start`` is the newest of its window."""

    candidate: Candidate
    is_strong: bool
    start: _Place
    score: int
    document: int

    @property
    def rank(self) -> tuple[int, int]:
        return -self.score, -self.document


def find_page(request: SearchRequest, index: SearchIndex, *, is_building: bool) -> SearchPage:
    """Return a page of hits.

    Raises:
        StoreError: ``invalid_cursor``.
    """
    digest = _digest(request)
    after = None if request.cursor is None else decode_search_cursor(request.cursor, digest)
    found: list[_Found] = []
    for hit in _hits(request, index, after):
        found.append(hit)
        if len(found) > request.limit:
            break
    more = len(found) > request.limit
    found = found[: request.limit]
    cursor = None
    if more:
        last = found[-1]
        place = SearchPlace(last.is_strong, last.start, last.score, last.candidate.place)
        cursor = encode_search_cursor(place, digest)
    return SearchPage([_hit(one.candidate) for one in found], cursor, is_building)


def _hit(candidate: Candidate) -> SearchHit:
    envelope = {name: value for name, value in candidate.message.items() if name != "content"}
    conversation = candidate.conversation
    title = conversation.auto_title if conversation.title is None else conversation.title
    return SearchHit(conversation.id, title, envelope, candidate.block)


def _digest(request: SearchRequest) -> str:
    """Return what tells one request from another; a cursor is good for its own only."""
    bare = msgspec.structs.replace(request, cursor=None, limit=0)
    data = msgspec.json.encode(bare)
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def _hits(
    request: SearchRequest, index: SearchIndex, after: SearchPlace | None
) -> Iterator[_Found]:
    """Yield all hits behind ``after``, in order."""
    before = rank = None
    if after is not None:
        # The window as it was, whatever came since.
        before = _locate(index, after.start) + 1
        rank = (-after.score, -_locate(index, after.last))
    for is_strong in (True, False):
        if after is not None and is_strong and not after.is_strong:
            continue
        while window := _window(request, index, is_strong=is_strong, before=before):
            yield from (hit for hit in window if rank is None or hit.rank > rank)
            rank = None
            before = min(hit.document for hit in window)
        before = rank = None


def _locate(index: SearchIndex, place: _Place) -> int:
    document = index.find(place)
    if document is None:
        raise StoreError("invalid_cursor", "where the last page ended is deleted; search again")
    return document


def _window(
    request: SearchRequest, index: SearchIndex, *, is_strong: bool, before: int | None
) -> list[_Found]:
    """Return the next candidates, the best first."""
    window: list[_Found] = []
    start: _Place | None = None
    room_chars = _WINDOW_CHARS
    for document in index.list_documents(is_strong=is_strong, before=before, limit=_WINDOW_COUNT):
        candidate = index.load(document)
        start = start or candidate.place
        parts = block_parts(candidate.block)
        room_chars -= sum(map(len, parts))
        if window and room_chars < 0:
            break
        score = TextWords(parts).score(request.query)
        window.append(_Found(candidate, is_strong, start, score, document))
    window.sort(key=lambda hit: hit.rank)
    return window
