"""Exports and imports for programs without an event loop.

Spec: docs/spec/gateway/exports.md.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable
from typing import TypeVar

from blockwire.client.async_client import AsyncClient
from blockwire.client.transfers import ExportFormat, ImportResult
from blockwire.content import View

__all__ = ["BlockingTransferCalls"]

_T = TypeVar("_T")


class BlockingTransferCalls:
    """The part of :class:`~blockwire.client.Client` that exports and imports."""

    _client: AsyncClient

    def _run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        raise NotImplementedError

    def _iterate(self, items: AsyncGenerator[_T, None]) -> Generator[_T, None, None]:
        raise NotImplementedError

    def export(
        self,
        conversation_id: str,
        export_format: ExportFormat = "jsonl",
        *,
        view: View | None = None,
    ) -> Generator[bytes, None, None]:
        """See :meth:`AsyncClient.export`."""
        return self._iterate(self._client.export(conversation_id, export_format, view=view))

    def import_archive(
        self,
        archive: AsyncIterable[bytes] | Iterable[bytes],
        *,
        idempotency_key: str | None = None,
    ) -> ImportResult:
        """See :meth:`AsyncClient.import_archive`; ``archive`` is taken in the loop's thread."""
        return self._run(
            lambda: self._client.import_archive(archive, idempotency_key=idempotency_key)
        )
