"""Calls that let others in: tokens and share links.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from blockwire.client.failures import ClientError
from blockwire.client.http import Http
from blockwire.jsontext import Json

__all__ = ["AccessCalls", "Share", "Token"]

_DAYS: Final = 86_400_000


class Token(Struct, frozen=True, kw_only=True):
    """A token of the gateway's store. Times are Unix milliseconds.

    Attributes:
        name: Its name.
        scopes: What it allows.
        created_at: When it was made.
        tenant: Whose conversations it sees; None sees all.
        expires_at: When it ends; None for never.
        revoked_at: When it was taken back.
        used_at: When it was used last, to the hour.
        token: The secret; only in the answer that made it.
    """

    name: str
    scopes: list[str]
    created_at: int
    tenant: str | None = None
    expires_at: int | None = None
    revoked_at: int | None = None
    used_at: int | None = None
    token: str | None = None

    def __repr__(self) -> str:
        """Return its name, and never the secret."""
        return f"Token(name={self.name!r}, scopes={self.scopes!r})"


class Share(Struct, frozen=True, kw_only=True):
    """A link that shows the public view of one conversation. Times are Unix milliseconds.

    Attributes:
        id: Its id; says nothing of the secret.
        created_at: When it was made.
        expires_at: When it ends; None for never.
        secret: Sent as a token; only in the answer that made it.
        fragment: The part of a link behind ``#``, which no server sees; only there, too.
    """

    id: str
    created_at: int
    expires_at: int | None = None
    secret: str | None = None
    fragment: str | None = None

    def __repr__(self) -> str:
        """Return its id, and never the secret."""
        return f"Share(id={self.id!r})"


class AccessCalls:
    """The part of :class:`~blockwire.client.AsyncClient` that lets others in."""

    _http: Http

    async def create_token(
        self,
        name: str,
        scopes: Iterable[str],
        *,
        tenant: str | None = None,
        expires_at: int | None = None,
    ) -> Token:
        """Return a new token with its secret, which the gateway tells this once.

        Args:
            name: Letters, digits, dots, dashes and underscores.
            scopes: Some of ``read``, ``write``, ``reasoning``, ``admin``.
            tenant: Confine it to the conversations of one tenant.
            expires_at: Unix milliseconds; None for never.
        """
        body: dict[str, Json] = {"name": name, "scopes": [*scopes]}
        body |= {"tenant": tenant} if tenant is not None else {}
        body |= {"expires_at": expires_at} if expires_at is not None else {}
        answer = await self._http.call("POST", "/v1/tokens", body=body)
        return _read(answer.value, Token)

    async def list_tokens(self) -> list[Token]:
        """Return the tokens of the gateway's store by name, without secrets."""
        answer = await self._http.call("GET", "/v1/tokens")
        return _read_items(answer.value, Token)

    async def revoke_token(self, name: str, *, forget: bool = False) -> None:
        """Take a token back at once.

        Args:
            name: Which.
            forget: Also remove it from the list.
        """
        query = {"forget": "1" if forget else None}
        await self._http.call("DELETE", f"/v1/tokens/{quote(name, safe='')}", query=query)

    async def create_share(self, conversation_id: str, *, days: float | None = 30) -> Share:
        """Return a new share link with its secret, which the gateway tells this once.

        Args:
            conversation_id: What it shows.
            days: How long; None for ever.
        """
        expires_at = None if days is None else self._http.timing.now_ms() + int(days * _DAYS)
        answer = await self._http.call(
            "POST", _shares(conversation_id), body={"expires_at": expires_at}
        )
        return _read(answer.value, Share)

    async def list_shares(self, conversation_id: str) -> list[Share]:
        """Return the share links of a conversation, without secrets."""
        answer = await self._http.call("GET", _shares(conversation_id))
        return _read_items(answer.value, Share)

    async def delete_share(self, conversation_id: str, share_id: str) -> None:
        """Take a share link back; whoever reads through it is shown out."""
        await self._http.call("DELETE", f"{_shares(conversation_id)}/{quote(share_id, safe='')}")


def _shares(conversation_id: str) -> str:
    return f"/v1/conversations/{quote(conversation_id, safe='')}/shares"


_Row = TypeVar("_Row", Token, Share)


def _read(value: Json, shape: type[_Row]) -> _Row:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError:
        # The answer holds a secret, and what is said about it should not.
        detail = f"the gateway's {shape.__name__.lower()} is none"
        raise ClientError("invalid_answer", detail) from None


def _read_items(value: Json, shape: type[_Row]) -> list[_Row]:
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise ClientError("invalid_answer", "a list without items")
    return [_read(item, shape) for item in items]
