"""Tokens and share links for programs without an event loop.

Spec: docs/how-to/tokens.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from blockwire.client.access import Share, Token
from blockwire.client.async_client import AsyncClient

__all__ = ["BlockingAccessCalls"]

_T = TypeVar("_T")


class BlockingAccessCalls:
    """The part of :class:`~blockwire.client.Client` that lets others in."""

    _client: AsyncClient

    def _run(self, work: Callable[[], Awaitable[_T]]) -> _T:
        raise NotImplementedError

    def create_token(
        self,
        name: str,
        scopes: Iterable[str],
        *,
        tenant: str | None = None,
        expires_at: int | None = None,
    ) -> Token:
        """See :meth:`AsyncClient.create_token`."""
        return self._run(
            lambda: self._client.create_token(name, scopes, tenant=tenant, expires_at=expires_at)
        )

    def list_tokens(self) -> list[Token]:
        """See :meth:`AsyncClient.list_tokens`."""
        return self._run(self._client.list_tokens)

    def revoke_token(self, name: str, *, forget: bool = False) -> None:
        """See :meth:`AsyncClient.revoke_token`."""
        self._run(lambda: self._client.revoke_token(name, forget=forget))

    def create_share(self, conversation_id: str, *, days: float | None = 30) -> Share:
        """See :meth:`AsyncClient.create_share`."""
        return self._run(lambda: self._client.create_share(conversation_id, days=days))

    def list_shares(self, conversation_id: str) -> list[Share]:
        """See :meth:`AsyncClient.list_shares`."""
        return self._run(lambda: self._client.list_shares(conversation_id))

    def delete_share(self, conversation_id: str, share_id: str) -> None:
        """See :meth:`AsyncClient.delete_share`."""
        self._run(lambda: self._client.delete_share(conversation_id, share_id))
