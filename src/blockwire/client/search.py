"""Searches: blocks by their words, page by page.

Spec: docs/spec/gateway/search.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Literal, TypedDict, Unpack

import msgspec
from msgspec import Struct

from blockwire.client.failures import ClientError
from blockwire.client.http import Http
from blockwire.jsontext import Json

__all__ = [
    "IndexStatus",
    "SearchCalls",
    "SearchFilters",
    "SearchHit",
    "SearchMatch",
    "SearchPage",
    "SearchSnippet",
]

IndexStatus = Literal["ready", "building"]
"""``building``: the index is being made, and older messages may be missing."""


class SearchFilters(TypedDict, total=False):
    """What narrows a search; None is the same as nothing.

    Attributes:
        conversation_id: Only in this conversation.
        role: Only messages of this role.
        block_type: Only blocks of this type.
        since: Only messages created at or after it, Unix milliseconds.
        until: Only messages created before it, Unix milliseconds.
        tag: Only conversations that have this tag.
    """

    conversation_id: str | None
    role: str | None
    block_type: str | None
    since: int | None
    until: int | None
    tag: str | None


class SearchMatch(Struct, frozen=True):
    """Where in a snippet something stands, in characters."""

    start: int
    end: int


class SearchSnippet(Struct, frozen=True, kw_only=True):
    """A stretch of a block around what was found.

    Attributes:
        text: As it stands in the block.
        matches: What was found, in order.
        at_start: Nothing is cut before it.
        at_end: Nothing is cut behind it.
        offset: Where it stands in the block, if that has one text.
    """

    text: str
    matches: list[SearchMatch]
    at_start: bool
    at_end: bool
    offset: int | None = None


class SearchHit(Struct, frozen=True, kw_only=True):
    """One block that was found.

    Attributes:
        conversation_id: Where.
        message_id: In which message.
        role: Of the message.
        created_at: Of the message.
        block_id: Which block of it.
        block_type: Of what kind.
        snippet: What of it.
        title: Of the conversation.
        turn_id: Of the message.
    """

    conversation_id: str
    message_id: str
    role: str
    created_at: int
    block_id: str
    block_type: str
    snippet: SearchSnippet
    title: str | None = None
    turn_id: str | None = None


class SearchPage(Struct, frozen=True, kw_only=True):
    """One page of hits, the best first.

    Attributes:
        items: The hits.
        next_cursor: For the page behind it; None on the last.
        index: Whether the index is complete.
    """

    items: list[SearchHit]
    next_cursor: str | None
    index: IndexStatus = "ready"


class SearchCalls:
    """The part of :class:`~blockwire.client.AsyncClient` that searches."""

    _http: Http

    async def search_page(
        self,
        query: str,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **filters: Unpack[SearchFilters],
    ) -> SearchPage:
        """Return one page of the blocks that match.

        Args:
            query: All of its words; ``"a phrase"``, ``begin*``, ``-without``.
            cursor: ``next_cursor`` of the page before.
            limit: Hits of the page at most; without it the gateway's default.
            filters: See :class:`SearchFilters`.
        """
        named: dict[str, object] = {**filters}
        named["type"] = named.pop("block_type", None)
        parameters = {name: None if value is None else str(value) for name, value in named.items()}
        answer = await self._http.call(
            "GET",
            "/v1/search",
            query={
                "q": query,
                "cursor": cursor,
                "limit": None if limit is None else str(limit),
                **parameters,
            },
        )
        return _read_page(answer.value, cursor)

    async def search(
        self, query: str, **filters: Unpack[SearchFilters]
    ) -> AsyncGenerator[SearchHit, None]:
        """Yield all blocks that match, the best first; see :meth:`search_page`."""
        cursor: str | None = None
        while True:
            page = await self.search_page(query, cursor=cursor, **filters)
            for hit in page.items:
                yield hit
            cursor = page.next_cursor
            if cursor is None:
                return


def _read_page(value: Json, cursor: str | None) -> SearchPage:
    try:
        page = msgspec.convert(value, SearchPage)
    except msgspec.ValidationError as error:
        raise ClientError(
            "invalid_answer", f"the gateway's page of hits is none: {error}"
        ) from None
    if page.next_cursor is not None and page.next_cursor == cursor:
        # It would be followed for ever.
        raise ClientError("invalid_answer", "a page of hits without an end")
    return page
