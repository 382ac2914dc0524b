"""Tokens, logins and share links in memory.

Spec: docs/spec/gateway/auth.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from blockwire.errors import StoreError
from blockwire.ports import LoginRow, ShareRow, TokenRow
from blockwire.stores.changes import conversation_not_found
from blockwire.stores.memory.base import MemoryBase

__all__ = ["MemoryAccess"]


class MemoryAccess(MemoryBase):
    """Implements :class:`~blockwire.ports.AccessStore`; a part of ``MemoryStore``."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, TokenRow] = {}
        self._logins: dict[str, LoginRow] = {}

    # tokens -------------------------------------------------------------------------------
    async def create_token(self, row: TokenRow) -> None:
        """Insert ``row``; a revoked one of the same name makes room."""
        self._check_open()
        known = self._tokens.get(row.name)
        if known is not None and known.revoked_at is None:
            raise StoreError("token_exists", "a token with this name exists")
        self._tokens[row.name] = row

    async def list_tokens(self) -> Sequence[TokenRow]:
        """Return all tokens by name."""
        self._check_open()
        return [row for _name, row in sorted(self._tokens.items())]

    async def revoke_token(self, name: str, *, revoked_at: int) -> TokenRow | None:
        """Take a token back and end its logins."""
        self._check_open()
        row = self._tokens.get(name)
        if row is None:
            return None
        if row.revoked_at is None:
            row = self._tokens[name] = msgspec.structs.replace(row, revoked_at=revoked_at)
        self._end_logins_of(row)
        return row

    async def forget_token(self, name: str) -> TokenRow | None:
        """Remove a token and its logins."""
        self._check_open()
        row = self._tokens.pop(name, None)
        if row is not None:
            self._end_logins_of(row)
        return row

    async def touch_token(self, name: str, *, used_at: int) -> None:
        """Note when a token was used."""
        self._check_open()
        row = self._tokens.get(name)
        if row is not None:
            used_at = max(row.used_at or 0, used_at)
            self._tokens[name] = msgspec.structs.replace(row, used_at=used_at)

    def _end_logins_of(self, token: TokenRow) -> None:
        logins = self._logins.values()
        self._logins = {
            row.secret_hash: row for row in logins if row.token_hash != token.secret_hash
        }

    # logins -------------------------------------------------------------------------------
    async def create_login(self, row: LoginRow, *, count_max: int) -> Sequence[str]:
        """Insert ``row``; expired ones go, and those of its token beyond ``count_max``."""
        self._check_open()
        logins = self._logins.values()
        self._logins = {it.secret_hash: it for it in logins if it.expires_at > row.created_at}
        self._logins[row.secret_hash] = row
        of_token = [it for it in self._logins.values() if it.token_hash == row.token_hash]
        of_token.sort(key=lambda it: (it.created_at, it.secret_hash), reverse=True)
        surplus = [it.secret_hash for it in of_token[count_max:]]
        for secret_hash in surplus:
            del self._logins[secret_hash]
        return surplus

    async def load_login(self, secret_hash: str) -> LoginRow | None:
        """Return the login, or None."""
        self._check_open()
        return self._logins.get(secret_hash)

    async def delete_login(self, secret_hash: str) -> bool:
        """End a login; return whether it was there."""
        self._check_open()
        return self._logins.pop(secret_hash, None) is not None

    # shares -------------------------------------------------------------------------------
    async def create_share(self, row: ShareRow, *, count_max: int) -> None:
        """Insert ``row``; expired ones of its conversation go."""
        self._check_open()
        conversation = self._conversations.get(row.conversation_id)
        if conversation is None:
            raise conversation_not_found()
        for known in list(conversation.shares.values()):
            if known.expires_at is not None and known.expires_at <= row.created_at:
                del conversation.shares[known.id]
        if len(conversation.shares) >= count_max:
            raise StoreError(
                "too_many_shares", f"a conversation has at most {count_max}: take one back"
            )
        conversation.shares[row.id] = row

    async def find_share(self, secret_hash: str) -> ShareRow | None:
        """Return the share with this secret, or None."""
        self._check_open()
        for conversation in self._conversations.values():
            for row in conversation.shares.values():
                if row.secret_hash == secret_hash:
                    return row
        return None

    async def list_shares(self, conversation_id: str) -> Sequence[ShareRow]:
        """Return the shares of a conversation, oldest first."""
        self._check_open()
        conversation = self._conversations.get(conversation_id)
        return [] if conversation is None else list(conversation.shares.values())

    async def delete_share(self, conversation_id: str, share_id: str) -> ShareRow | None:
        """Take a share back; return what it was, or None."""
        self._check_open()
        conversation = self._conversations.get(conversation_id)
        return None if conversation is None else conversation.shares.pop(share_id, None)
