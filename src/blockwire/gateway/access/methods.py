"""Tokens, tickets and share links, as routes ask for them.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, cast

from blockwire.content import TIME_MAX
from blockwire.content.fields import Field
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.callers import SCOPES, Caller
from blockwire.gateway.access.keyring import SHARE_S, Given
from blockwire.gateway.access.tokens import TOKEN_NAME_PATTERN
from blockwire.gateway.bodies import checked_body
from blockwire.gateway.core import GatewayCore
from blockwire.gateway.shapes import list_shape
from blockwire.jsontext import Json
from blockwire.ports import ShareRow, TokenRow

__all__ = ["TOKEN_NAME", "AccessMethods", "check_token_request"]

TOKEN_NAME: Final = re.compile(rf"{TOKEN_NAME_PATTERN}\Z")

TOKEN_FIELDS: Final[Mapping[str, Field]] = {
    "name": Field("value", required=True),
    "scopes": Field("value", required=True),
    "tenant": Field("value"),
    "expires_at": Field("value"),
}
SHARE_FIELDS: Final[Mapping[str, Field]] = {"expires_at": Field("value")}


class AccessMethods(GatewayCore):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that lets others in."""

    # tokens -------------------------------------------------------------------------------
    async def create_token(self, body: Json, tenant: str | None) -> dict[str, Json]:
        """Return a new token with its secret, which nobody can tell again.

        Args:
            body: ``{name, scopes, tenant?, expires_at?}``.
            tenant: Of the caller: it makes tokens of its own tenant only; None of any.

        Raises:
            RemoteProtocolError: ``invalid_member``, ``invalid_name``, ``insufficient_scope``,
                ``limit_exceeded`` and the codes of every body.
            StoreError: ``token_exists``.
        """
        members = checked_body(body, TOKEN_FIELDS)
        now_ms = self._clock.now_ms()
        name, scopes = members["name"], members["scopes"]
        wanted, expires_at = members.get("tenant"), members.get("expires_at")
        check_token_request(name, scopes, wanted, expires_at, now_ms=now_ms)
        if tenant is not None and wanted not in {None, tenant}:
            raise RemoteProtocolError("insufficient_scope", "the token is one of another tenant")
        row, secret = await self.keyring.create_token(
            cast("str", name),
            cast("list[str]", scopes),
            tenant=tenant if tenant is not None else cast("str | None", wanted),
            expires_at=cast("int | None", expires_at),
        )
        self._reach("acknowledge.before")
        return {**token_shape(row), "token": secret}

    def list_tokens(self, tenant: str | None) -> dict[str, Json]:
        """Return the tokens of the store by name, those of one tenant, never with a secret."""
        rows = [row for row in self.keyring.tokens if tenant is None or row.tenant == tenant]
        return list_shape([token_shape(row) for row in rows], None)

    # tickets ------------------------------------------------------------------------------
    async def create_ticket(self, conversation_id: str, caller: Caller) -> dict[str, Json]:
        """Return a ticket for event streams of a conversation.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``too_many_tickets``.
        """
        async with self._registry.using(conversation_id, caller.tenant):
            given: Given = self.keyring.issue_ticket(caller, conversation_id)
        return {"ticket": given.secret, "expires_at": given.expires_at}

    # shares -------------------------------------------------------------------------------
    async def create_share(
        self, conversation_id: str, body: Json, tenant: str | None
    ) -> dict[str, Json]:
        """Return a new share link with its secret, which nobody can tell again.

        Args:
            conversation_id: What it shows.
            body: ``{expires_at?}``; null for a link that does not expire.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``invalid_member`` and the codes of
                every body.
            StoreError: ``too_many_shares``.
        """
        members = checked_body(body, SHARE_FIELDS)
        now_ms = self._clock.now_ms()
        expires_at: Json = members.get("expires_at", now_ms + SHARE_S * 1000)
        _check_time(expires_at, now_ms=now_ms)
        async with self._registry.using(conversation_id, tenant):
            row, secret = await self.keyring.create_share(
                self._ids.new_id("share"), conversation_id, cast("int | None", expires_at)
            )
        self._reach("acknowledge.before")
        fragment = f"share={conversation_id}:{secret}"
        return {**share_shape(row), "secret": secret, "fragment": fragment}

    async def list_shares(self, conversation_id: str, tenant: str | None) -> dict[str, Json]:
        """Return the share links of a conversation, oldest first, never with a secret.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with self._registry.using(conversation_id, tenant):
            rows = await self.keyring.list_shares(conversation_id)
        return list_shape([share_shape(row) for row in rows], None)

    async def delete_share(self, conversation_id: str, share_id: str, tenant: str | None) -> None:
        """Take a share link back; whoever reads through it is shown out.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``share_not_found``.
        """
        async with self._registry.using(conversation_id, tenant):
            await self.keyring.delete_share(conversation_id, share_id)
        self._reach("acknowledge.before")


def check_token_request(
    name: Json, scopes: Json, tenant: Json, expires_at: Json, *, now_ms: int
) -> None:
    """Refuse a token that cannot be made.

    Raises:
        RemoteProtocolError: ``invalid_name``, ``invalid_member``, with a pointer.
    """
    if not isinstance(name, str) or not TOKEN_NAME.match(name):
        raise RemoteProtocolError(
            "invalid_name", "1 to 64 letters, digits, dots, dashes and underscores", pointer="/name"
        )
    names = (
        [scope for scope in scopes if isinstance(scope, str)] if isinstance(scopes, list) else []
    )
    if not names or names != scopes or not SCOPES.issuperset(names):
        detail = f"some of {', '.join(sorted(SCOPES))}"
        raise RemoteProtocolError("invalid_member", detail, pointer="/scopes")
    if tenant is not None and (not isinstance(tenant, str) or not TOKEN_NAME.match(tenant)):
        raise RemoteProtocolError(
            "invalid_name",
            "1 to 64 letters, digits, dots, dashes and underscores",
            pointer="/tenant",
        )
    _check_time(expires_at, now_ms=now_ms)


def _check_time(expires_at: Json, *, now_ms: int) -> None:
    if expires_at is None:
        return
    is_time = isinstance(expires_at, int) and not isinstance(expires_at, bool)
    if not is_time or not now_ms < cast("int", expires_at) <= TIME_MAX:
        raise RemoteProtocolError(
            "invalid_member", "Unix milliseconds in the future, or null", pointer="/expires_at"
        )


def token_shape(row: TokenRow) -> dict[str, Json]:
    """Return a token as people may see it."""
    shape: dict[str, Json] = {
        "name": row.name,
        "scopes": [*row.scopes],
        "created_at": row.created_at,
    }
    optional = {
        "tenant": row.tenant,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
        "used_at": row.used_at,
    }
    return {**shape, **{name: value for name, value in optional.items() if value is not None}}


def share_shape(row: ShareRow) -> dict[str, Json]:
    """Return a share link as its owner may see it."""
    shape: dict[str, Json] = {"id": row.id, "created_at": row.created_at}
    return shape if row.expires_at is None else {**shape, "expires_at": row.expires_at}
