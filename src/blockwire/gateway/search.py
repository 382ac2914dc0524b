"""Searching, as routes ask for it: hits with snippets, cut now from what everybody may see.

Spec: docs/spec/gateway/search.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, cast

import anyio.to_thread
from msgspec import Struct

from blockwire.content import OWNER_ROLES, ROLES, block_parts
from blockwire.gateway.core import GatewayCore
from blockwire.gateway.shapes import list_shape
from blockwire.jsontext import Json
from blockwire.ports import SearchHit, SearchRequest
from blockwire.text import SearchQuery, cut_snippet, parse_query

__all__ = ["SEARCHED_ROLES", "SearchFilters", "SearchMethods"]

SEARCHED_ROLES: Final = tuple(sorted(ROLES - OWNER_ROLES))
"""Roles of messages that can be found."""

# Searches that read at the same time; others wait, so that reading goes on for everybody else.
_SEARCHES_AT_ONCE: Final = 2

# Blocks whose text is one member: a place in it is a place in that member.
_ONE_TEXT: Final = frozenset({"prose", "code", "reasoning", "speech"})


class SearchFilters(Struct, frozen=True, kw_only=True):
    """What narrows a search; see :class:`~blockwire.ports.SearchRequest`."""

    conversation_id: str | None = None
    role: str | None = None
    block_type: str | None = None
    since: int | None = None
    until: int | None = None
    tag: str | None = None


class SearchMethods(GatewayCore):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that searches."""

    _searching: asyncio.Semaphore | None = None

    async def search(
        self,
        text: str,
        filters: SearchFilters,
        *,
        cursor: str | None,
        limit: int,
        tenant: str | None,
    ) -> dict[str, Json]:
        """Return a page of hits, and whether the index is ``ready`` or still ``building``.

        The answer is the same for owners and for the public: it knows nothing private.

        Raises:
            RemoteProtocolError: ``invalid_query``.
            StoreError: ``invalid_cursor``.
        """
        query = parse_query(text)
        request = SearchRequest(
            query=query,
            tenant=tenant,
            conversation_id=filters.conversation_id,
            role=filters.role,
            block_type=filters.block_type,
            since=filters.since,
            until=filters.until,
            tag=filters.tag,
            cursor=cursor,
            limit=self._limit(limit),
        )
        if self._searching is None:
            self._searching = asyncio.Semaphore(_SEARCHES_AT_ONCE)
        async with self._searching:
            page = await self.store.search(request)
            # Of long blocks this takes milliseconds each.
            items = await anyio.to_thread.run_sync(_hit_shapes, query, page.hits)
        index = "building" if page.is_building else "ready"
        return {**list_shape(items, page.next_cursor), "index": index}


def _hit_shapes(query: SearchQuery, hits: Sequence[SearchHit]) -> list[dict[str, Json]]:
    return [_hit_shape(query, hit) for hit in hits]


def _hit_shape(query: SearchQuery, hit: SearchHit) -> dict[str, Json]:
    shape: dict[str, Json] = {
        "conversation_id": hit.conversation_id,
        "message_id": hit.envelope["id"],
        "role": hit.envelope["role"],
        "created_at": hit.envelope["created_at"],
        "block_id": hit.block["id"],
        "block_type": hit.block["type"],
        "snippet": _snippet_shape(query, hit),
    }
    optional = {"title": hit.conversation_title, "turn_id": hit.envelope.get("turn_id")}
    return shape | {name: value for name, value in optional.items() if value is not None}


def _snippet_shape(query: SearchQuery, hit: SearchHit) -> dict[str, Json]:
    cuts = [(cut_snippet(query, part), part) for part in block_parts(hit.block)]
    # The part with the most of it, the first of equals.
    snippet, part = max(cuts, key=lambda pair: len(pair[0].matches))
    shape: dict[str, Json] = {
        "text": snippet.text,
        "matches": [{"start": start, "end": end} for start, end in snippet.matches],
        "at_start": snippet.start == 0,
        "at_end": snippet.start + len(snippet.text) == len(part),
    }
    if cast("str", hit.block["type"]) in _ONE_TEXT:
        shape["offset"] = snippet.start
    return shape
