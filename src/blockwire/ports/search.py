"""Finding words in what is stored.

Spec: docs/spec/gateway/search.md.

A store finds the same blocks in the same order as any other: what matches, and how well, is decided by
:mod:`blockwire.text.matching`; an index only makes it fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from blockwire.jsontext import Json
from blockwire.text import SearchQuery

__all__ = ["IndexState", "SearchHit", "SearchPage", "SearchRequest", "SearchStore"]


class SearchRequest(Struct, frozen=True, kw_only=True):
    """What to look for, and where; what is None does not narrow it.

    Attributes:
        query: The words.
        tenant: Whose conversations; None for those of all.
        conversation_id: Only this conversation; an unknown one has nothing.
        role: Only messages of this role.
        block_type: Only blocks of this type.
        since: Only messages created at or after it, Unix milliseconds.
        until: Only messages created before it, Unix milliseconds.
        tag: Only conversations that have it.
        cursor: ``next_cursor`` of the page before, of the same request.
        limit: Hits of the page, at least 1.
    """

    query: SearchQuery
    tenant: str | None = None
    conversation_id: str | None = None
    role: str | None = None
    block_type: str | None = None
    since: int | None = None
    until: int | None = None
    tag: str | None = None
    cursor: str | None = None
    limit: int = 20


class SearchHit(Struct, frozen=True):
    """One block that was found, as public views see it, and its message without its content.

    The title is the automatic one where nobody gave another.
    """

    conversation_id: str
    conversation_title: str | None
    envelope: dict[str, Json]
    block: dict[str, Json]


class SearchPage(Struct, frozen=True):
    """Hits, the best first; ``is_building`` tells that older messages are not in the index yet."""

    hits: Sequence[SearchHit]
    next_cursor: str | None
    is_building: bool = False


class IndexState(Struct, frozen=True):
    """How many messages still wait to be indexed; 0 when the index is complete."""

    waiting_count: int


class SearchStore(Protocol):
    """The part of a store that finds messages by their words.

    What a block has to be found by is in the index when the append that finished its message is
    committed, and out of it when the deletion of its conversation is.
    """

    async def search(self, request: SearchRequest) -> SearchPage:
        """Return a page of blocks that match.

        Raises:
            StoreError: ``invalid_cursor`` for one of another request, or whose place was deleted.
        """
        ...

    async def rebuild_index(self) -> IndexState:
        """Forget the index; the store makes it again in the background, in small steps.

        Returns how much that is. What is not finished when the store is closed goes on when it is opened again.
        """
        ...

    async def index_state(self) -> IndexState:
        """Return how far that is."""
        ...
