"""Who may come in: tokens, logins and share links.

Spec: docs/spec/gateway/auth.md. A store keeps hashes only: whoever reads it learns no secret. It
decides nothing: what is expired or revoked is for the gateway to refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

__all__ = ["AccessStore", "LoginRow", "ShareRow", "TokenRow"]


class TokenRow(Struct, frozen=True, kw_only=True):
    """One token. Times are Unix milliseconds.

    Attributes:
        name: What people call it; one token has it.
        secret_hash: SHA-256 of the token, hexadecimal.
        scopes: What it allows, sorted.
        tenant: Whose conversations it sees; None sees all.
        created_at: When it was made.
        expires_at: From when on it lets nobody in; None for never.
        revoked_at: When it was taken back.
        used_at: About when it was used last, never exactly; None for never.
    """

    name: str
    secret_hash: str
    scopes: tuple[str, ...]
    created_at: int
    tenant: str | None = None
    expires_at: int | None = None
    revoked_at: int | None = None
    used_at: int | None = None


class LoginRow(Struct, frozen=True, kw_only=True):
    """A browser that traded a token for a cookie.

    Attributes:
        secret_hash: SHA-256 of what the cookie holds, hexadecimal.
        token_hash: Of the token that was traded; the login is worth what that is worth.
        created_at: Unix milliseconds.
        expires_at: Unix milliseconds.
    """

    secret_hash: str
    token_hash: str
    created_at: int
    expires_at: int


class ShareRow(Struct, frozen=True, kw_only=True):
    """A link that shows one conversation to whoever has it.

    Attributes:
        id: ``share_...``; says nothing of the secret.
        conversation_id: What it shows.
        secret_hash: SHA-256 of the secret, hexadecimal.
        created_at: Unix milliseconds.
        expires_at: Unix milliseconds; None for never.
    """

    id: str
    conversation_id: str
    secret_hash: str
    created_at: int
    expires_at: int | None = None


class AccessStore(Protocol):
    """The part of a store that keeps hashed secrets."""

    # tokens -------------------------------------------------------------------------------
    async def create_token(self, row: TokenRow) -> None:
        """Insert ``row``; one of the same name that was revoked makes room.

        Raises StoreError ``token_exists``.
        """
        ...

    async def list_tokens(self) -> Sequence[TokenRow]:
        """Return all tokens by name, revoked ones included."""
        ...

    async def revoke_token(self, name: str, *, revoked_at: int) -> TokenRow | None:
        """Take a token back and end its logins; return it as it is now, or None without one.

        One that was revoked before keeps its time.
        """
        ...

    async def forget_token(self, name: str) -> TokenRow | None:
        """Remove a token, its logins and every trace; return what it was, or None."""
        ...

    async def touch_token(self, name: str, *, used_at: int) -> None:
        """Note when a token was used; nothing for one that is not there."""
        ...

    # logins -------------------------------------------------------------------------------
    async def create_login(self, row: LoginRow, *, count_max: int) -> Sequence[str]:
        """Insert ``row``; those that had expired when it was created go.

        Of one token at most ``count_max`` stay, the newest. Returns the ``secret_hash`` of those
        that had to go for that.
        """
        ...

    async def load_login(self, secret_hash: str) -> LoginRow | None:
        """Return the login, or None."""
        ...

    async def delete_login(self, secret_hash: str) -> bool:
        """End a login; return whether it was there."""
        ...

    # shares -------------------------------------------------------------------------------
    async def create_share(self, row: ShareRow, *, count_max: int) -> None:
        """Insert ``row``; those of its conversation that had expired when it was created go.

        Raises StoreError ``conversation_not_found``, and ``too_many_shares`` when the conversation
        has ``count_max`` others. Shares go with their conversation.
        """
        ...

    async def find_share(self, secret_hash: str) -> ShareRow | None:
        """Return the share with this secret, or None."""
        ...

    async def list_shares(self, conversation_id: str) -> Sequence[ShareRow]:
        """Return the shares of a conversation, oldest first."""
        ...

    async def delete_share(self, conversation_id: str, share_id: str) -> ShareRow | None:
        """Take a share back; return what it was, or None."""
        ...
