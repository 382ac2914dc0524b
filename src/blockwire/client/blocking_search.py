"""Searches for programs without an event loop.

Spec: docs/spec/gateway/search.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import TypeVar, Unpack

from blockwire.client.async_client import AsyncClient
from blockwire.client.search import SearchFilters, SearchHit, SearchPage

__all__ = ["BlockingSearchCalls"]

_T = TypeVar("_T")


class BlockingSearchCalls:
    """The part of :class:`~blockwire.client.Client` that searches."""

    _client: AsyncClient

    def _run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        raise NotImplementedError

    def _iterate(self, items: AsyncGenerator[_T, None]) -> Generator[_T, None, None]:
        raise NotImplementedError

    def search_page(
        self,
        query: str,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        **filters: Unpack[SearchFilters],
    ) -> SearchPage:
        """See :meth:`AsyncClient.search_page`."""
        return self._run(
            lambda: self._client.search_page(query, cursor=cursor, limit=limit, **filters)
        )

    def search(
        self, query: str, **filters: Unpack[SearchFilters]
    ) -> Generator[SearchHit, None, None]:
        """See :meth:`AsyncClient.search`."""
        return self._iterate(self._client.search(query, **filters))
