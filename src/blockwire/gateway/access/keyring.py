"""The secrets that the gateway has given out and still honours.

Spec: docs/spec/gateway/auth.md. Tokens are few and asked for with every request, so they are held in
memory; logins and shares are looked up in the store; tickets live here only, for a minute. Whoever
asks for something is checked before (``access``); here is what there is.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.access.callers import OPEN_DOOR, Caller
from blockwire.gateway.access.credentials import SecretKind, hash_token, new_secret
from blockwire.gateway.access.limits import LimitError
from blockwire.gateway.access.tokens import Token
from blockwire.ports import Clock, LoginRow, ShareRow, TokenRow
from blockwire.ports.access import AccessStore

__all__ = [
    "LOGINS_PER_TOKEN_MAX", "SHARES_MAX", "TICKET_S", "TOKENS_MAX", "Given", "Keyring",
    "token_exists", "token_not_found",
]  # fmt: skip

TOKENS_MAX: Final = 1_000
"""Tokens of a store, revoked ones included."""

LOGINS_PER_TOKEN_MAX: Final = 32
"""Browsers that are logged in with one token; a further one ends the oldest login."""

LOGIN_S: Final = 7 * 86_400
"""Seconds that a login lasts, unless its token ends before."""

SHARES_MAX: Final = 32
"""Share links of one conversation."""

SHARE_S: Final = 30 * 86_400
"""Seconds that a share link lasts where nothing else is asked for."""

TICKET_S: Final = 60
"""Seconds in which a ticket opens streams."""

TICKETS_PER_CALLER_MAX: Final = 256
"""Tickets of one caller that are good; a further one ends the oldest."""

TICKETS_MAX: Final = 16_384
"""Tickets of all callers that are good."""

_USE_MS: Final = 3_600_000
"""When a token was used last is noted to the hour: enough to find forgotten ones, and no diary."""


class Given(NamedTuple):
    """A secret that was just made, which nobody can tell again, and when it ends."""

    secret: str
    expires_at: int


class _Ticket(NamedTuple):
    caller: Caller
    expires_at: int


class Keyring:
    """Tokens, logins, tickets and shares of one gateway.

    Args:
        store: Keeps the hashes.
        clock: For what expires.
        secret: Makes secrets.
    """

    def __init__(
        self,
        store: AccessStore,
        clock: Clock,
        *,
        secret: Callable[[SecretKind], str] = new_secret,
    ) -> None:
        self._store = store
        self._clock = clock
        self._secret = secret
        self._rows: dict[str, TokenRow] = {}
        self._by_hash: dict[str, TokenRow] = {}
        self._tickets: dict[str, _Ticket] = {}
        self.on_revoked: Callable[[Iterable[str]], None] = lambda _grants: None

    async def load(self) -> None:
        """Read the tokens of the store.

        Raises:
            StoreError: It cannot be read.
        """
        self._hold(await self._store.list_tokens())

    def _hold(self, rows: Iterable[TokenRow]) -> None:
        self._rows = {row.name: row for row in rows}
        self._by_hash = {row.secret_hash: row for row in self._rows.values()}

    # tokens -------------------------------------------------------------------------------
    @property
    def has_tokens(self) -> bool:
        """Whether the store holds a token, though it be expired or revoked."""
        return bool(self._rows)

    @property
    def tokens(self) -> Sequence[TokenRow]:
        """All of them, by name."""
        return [row for _name, row in sorted(self._rows.items())]

    def find_token(self, digest: str) -> Token | None:
        """Return the token with this hash if it lets anybody in now.

        What is looked up is a hash of what was presented, and nobody can steer a hash: how long
        it takes says nothing of the secrets that there are.
        """
        row = self._by_hash.get(digest)
        if row is None or not hmac.compare_digest(row.secret_hash, digest):
            return None
        if row.revoked_at is not None or self._is_over(row.expires_at):
            return None
        return Token(row.name, digest, frozenset(row.scopes), row.tenant, row.expires_at)

    async def note_use(self, digest: str) -> None:
        """Note that a token was used, if it is one of the store; written once an hour."""
        row = self._by_hash.get(digest)
        used_at = self._clock.now_ms() // _USE_MS * _USE_MS
        if row is None or (row.used_at is not None and row.used_at >= used_at):
            return
        self._put(msgspec.structs.replace(row, used_at=used_at))
        try:
            await self._store.touch_token(row.name, used_at=used_at)
        except StoreError:
            # Whoever reads still may; the next hour tries again.
            return

    def _put(self, row: TokenRow) -> None:
        self._hold([*(other for other in self._rows.values() if other.name != row.name), row])

    async def create_token(
        self, name: str, scopes: Iterable[str], *, tenant: str | None, expires_at: int | None
    ) -> tuple[TokenRow, str]:
        """Make a token; return its row and the secret.

        Raises:
            RemoteProtocolError: ``limit_exceeded``.
            StoreError: ``token_exists``.
        """
        known = self._rows.get(name)
        if known is not None and known.tenant != tenant:
            # Also one that was revoked: its row tells its own tenant who was let in, and when.
            raise token_exists()
        if len(self._rows) >= TOKENS_MAX and known is None:
            raise RemoteProtocolError(
                "limit_exceeded", f"there are {TOKENS_MAX} tokens: forget one that was revoked"
            )
        secret = self._secret("token")
        row = TokenRow(
            name=name,
            secret_hash=hash_token(secret),
            scopes=tuple(sorted(set(scopes))),
            created_at=self._clock.now_ms(),
            tenant=tenant,
            expires_at=expires_at,
        )
        await self._store.create_token(row)
        is_first = not self._rows
        self._put(row)
        if is_first:
            # Who came in through the open door has to knock.
            self._end([OPEN_DOOR])
        return row, secret

    async def revoke_token(self, name: str, tenant: str | None) -> TokenRow:
        """Take a token back at once, with all that it let in.

        Args:
            name: Of the token.
            tenant: Whose token it must be; None for any.

        Raises:
            RemoteProtocolError: ``token_not_found``.
        """
        self._check_owner(name, tenant)
        row = await self._store.revoke_token(name, revoked_at=self._clock.now_ms())
        if row is None:
            raise token_not_found()
        self._put(row)
        self._end([row.secret_hash])
        return row

    async def forget_token(self, name: str, tenant: str | None) -> TokenRow:
        """Remove a token altogether, with all that it let in; see :meth:`revoke_token`."""
        self._check_owner(name, tenant)
        row = await self._store.forget_token(name)
        if row is None:
            raise token_not_found()
        self._hold(other for other in self._rows.values() if other.name != name)
        self._end([row.secret_hash])
        return row

    def _check_owner(self, name: str, tenant: str | None) -> None:
        row = self._rows.get(name)
        if row is None or (tenant is not None and row.tenant != tenant):
            raise token_not_found()

    def _end(self, grants: Sequence[str]) -> None:
        ended = set(grants)
        self._tickets = {
            digest: ticket
            for digest, ticket in self._tickets.items()
            if ended.isdisjoint(ticket.caller.grants)
        }
        self.on_revoked(grants)

    # logins -------------------------------------------------------------------------------
    async def log_in(self, token: Token) -> Given:
        """Trade a token for the secret of a cookie."""
        now = self._clock.now_ms()
        expires_at = _sooner(now + LOGIN_S * 1000, token.expires_at)
        secret = self._secret("login")
        row = LoginRow(
            secret_hash=hash_token(secret),
            token_hash=token.sha256,
            created_at=now,
            expires_at=expires_at,
        )
        ended = await self._store.create_login(row, count_max=LOGINS_PER_TOKEN_MAX)
        if ended:
            self._end(ended)
        return Given(secret, expires_at)

    async def find_login(self, digest: str) -> LoginRow | None:
        """Return the login with this hash if it is good; what its token is worth is another matter."""
        row = await self._store.load_login(digest)
        return None if row is None or self._is_over(row.expires_at) else row

    async def log_out(self, digest: str) -> None:
        """End a login; nothing for one that is not there."""
        if await self._store.delete_login(digest):
            self._end([digest])

    # tickets ------------------------------------------------------------------------------
    def issue_ticket(self, caller: Caller, conversation_id: str) -> Given:
        """Return a ticket with which ``caller`` may open streams of one conversation.

        Raises:
            LimitError: ``too_many_tickets``.
        """
        self._drop_tickets(caller.name)
        expires_at = _sooner(self._clock.now_ms() + TICKET_S * 1000, caller.expires_at)
        holder = caller._replace(
            scopes=caller.scopes & {"read", "reasoning"},
            conversation_id=conversation_id,
            via="ticket",
        )
        secret = self._secret("ticket")
        self._tickets[hash_token(secret)] = _Ticket(holder, expires_at)
        return Given(secret, expires_at)

    def _drop_tickets(self, name: str) -> None:
        """Drop tickets that are over, and the oldest of a caller who has too many."""
        self._tickets = {
            digest: ticket
            for digest, ticket in self._tickets.items()
            if not self._is_over(ticket.expires_at)
        }
        own = [digest for digest, ticket in self._tickets.items() if ticket.caller.name == name]
        for digest in own[: len(own) + 1 - TICKETS_PER_CALLER_MAX]:
            del self._tickets[digest]
        if len(self._tickets) >= TICKETS_MAX:
            raise LimitError("too_many_tickets", "too many tickets are out", TICKET_S)

    def find_ticket(self, digest: str) -> Caller | None:
        """Return whoever holds the ticket with this hash, if it is good."""
        ticket = self._tickets.get(digest)
        return None if ticket is None or self._is_over(ticket.expires_at) else ticket.caller

    # shares -------------------------------------------------------------------------------
    async def create_share(
        self, share_id: str, conversation_id: str, expires_at: int | None
    ) -> tuple[ShareRow, str]:
        """Make a link that shows a conversation; return its row and the secret.

        Raises:
            StoreError: ``too_many_shares``, ``conversation_not_found``.
        """
        secret = self._secret("share")
        row = ShareRow(
            id=share_id,
            conversation_id=conversation_id,
            secret_hash=hash_token(secret),
            created_at=self._clock.now_ms(),
            expires_at=expires_at,
        )
        await self._store.create_share(row, count_max=SHARES_MAX)
        return row, secret

    async def list_shares(self, conversation_id: str) -> Sequence[ShareRow]:
        """Return the shares of a conversation, oldest first, expired ones included."""
        return await self._store.list_shares(conversation_id)

    async def find_share(self, digest: str) -> ShareRow | None:
        """Return the share with this hash if it is good."""
        row = await self._store.find_share(digest)
        return None if row is None or self._is_over(row.expires_at) else row

    async def delete_share(self, conversation_id: str, share_id: str) -> None:
        """Take a share back, with all that it let in.

        Raises:
            RemoteProtocolError: ``share_not_found``.
        """
        row = await self._store.delete_share(conversation_id, share_id)
        if row is None:
            raise RemoteProtocolError("share_not_found", "the conversation has no such share")
        self._end([row.secret_hash])

    def _is_over(self, expires_at: int | None) -> bool:
        return expires_at is not None and expires_at <= self._clock.now_ms()


def _sooner(time: int, other: int | None) -> int:
    return time if other is None else min(time, other)


def token_exists() -> StoreError:
    """Return the refusal of a name that a token has, whoever's it is."""
    return StoreError("token_exists", "a token with this name exists")


def token_not_found() -> RemoteProtocolError:
    """Return the refusal of a name that no token of the caller's tenant has."""
    return RemoteProtocolError("token_not_found", "there is no token of this name")
