"""Tokens, logins and share links in SQLite.

Spec: docs/spec/gateway/auth.md. Changes run in the writer's thread inside its transaction, lookups
on a reading connection; deleted rows are zeroed like everything that is deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from blockwire.errors import StoreError
from blockwire.ports import LoginRow, ShareRow, TokenRow
from blockwire.stores.changes import conversation_not_found
from blockwire.stores.sqlite.base import SqliteBase
from blockwire.stores.sqlite.errors import map_errors
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.schema import check_version, connect_reader

__all__ = ["SqliteAccess", "list_tokens_in"]

# The migration that made the tables.
_SCHEMA_VERSION_MIN: Final = 5


class SqliteAccess(SqliteBase):
    """Implements :class:`~blockwire.ports.AccessStore`; a part of ``SqliteStore``."""

    # tokens -------------------------------------------------------------------------------
    async def create_token(self, row: TokenRow) -> None:
        """Insert ``row``; a revoked one of the same name makes room."""

        def work(ledger: Ledger) -> None:
            known = _load_token(ledger.connection, row.name)
            if known is not None and known.revoked_at is None:
                raise StoreError("token_exists", "a token with this name exists")
            ledger.connection.execute(SQL["delete_token"], {"name": row.name})
            parameters = {**msgspec.structs.asdict(row), "scopes": " ".join(row.scopes)}
            ledger.connection.execute(SQL["insert_token"], parameters)

        await self._open_writer().perform(work)

    async def list_tokens(self) -> Sequence[TokenRow]:
        """Return all tokens by name."""
        return await self._open_readers().run(_list_tokens)

    async def revoke_token(self, name: str, *, revoked_at: int) -> TokenRow | None:
        """Take a token back and end its logins."""

        def work(ledger: Ledger) -> TokenRow | None:
            keys = {"name": name, "revoked_at": revoked_at}
            ledger.connection.execute(SQL["revoke_token"], keys)
            token = _load_token(ledger.connection, name)
            if token is not None:
                _delete_logins_of(ledger.connection, token)
            return token

        return await self._open_writer().perform(work)

    async def forget_token(self, name: str) -> TokenRow | None:
        """Remove a token and its logins."""

        def work(ledger: Ledger) -> TokenRow | None:
            token = _load_token(ledger.connection, name)
            if token is not None:
                _delete_logins_of(ledger.connection, token)
                ledger.connection.execute(SQL["delete_token"], {"name": name})
            return token

        return await self._open_writer().perform(work)

    async def touch_token(self, name: str, *, used_at: int) -> None:
        """Note when a token was used."""
        keys = {"name": name, "used_at": used_at}
        await self._open_writer().perform(
            lambda ledger: ledger.connection.execute(SQL["touch_token"], keys).rowcount
        )

    # logins -------------------------------------------------------------------------------
    async def create_login(self, row: LoginRow, *, count_max: int) -> Sequence[str]:
        """Insert ``row``; expired ones go, and those of its token beyond ``count_max``."""

        def work(ledger: Ledger) -> Sequence[str]:
            connection = ledger.connection
            connection.execute(SQL["delete_expired_logins"], {"now": row.created_at})
            connection.execute(SQL["insert_login"], msgspec.structs.asdict(row))
            keys = {"token_hash": row.token_hash, "count_max": count_max}
            surplus = connection.execute(SQL["list_surplus_logins"], keys).fetchall()
            for (secret_hash,) in surplus:
                connection.execute(SQL["delete_login"], {"secret_hash": secret_hash})
            return [secret_hash for (secret_hash,) in surplus]

        return await self._open_writer().perform(work)

    async def load_login(self, secret_hash: str) -> LoginRow | None:
        """Return the login, or None."""
        return await self._open_readers().run(_load_login, secret_hash)

    async def delete_login(self, secret_hash: str) -> bool:
        """End a login; return whether it was there."""
        keys = {"secret_hash": secret_hash}
        return await self._open_writer().perform(
            lambda ledger: ledger.connection.execute(SQL["delete_login"], keys).rowcount > 0
        )

    # shares -------------------------------------------------------------------------------
    async def create_share(self, row: ShareRow, *, count_max: int) -> None:
        """Insert ``row``; expired ones of its conversation go."""

        def work(ledger: Ledger) -> None:
            connection = ledger.connection
            named = {"id": row.conversation_id}
            found = connection.execute(SQL["find_conversation_no"], named).fetchone()
            if found is None:
                raise conversation_not_found()
            keys: dict[str, int] = {"conversation_no": found[0], "now": row.created_at}
            connection.execute(SQL["delete_expired_shares"], keys)
            if connection.execute(SQL["count_shares"], keys).fetchone()[0] >= count_max:
                raise StoreError(
                    "too_many_shares", f"a conversation has at most {count_max}: take one back"
                )
            connection.execute(SQL["insert_share"], {**msgspec.structs.asdict(row), **keys})

        await self._open_writer().perform(work)

    async def find_share(self, secret_hash: str) -> ShareRow | None:
        """Return the share with this secret, or None."""
        return await self._open_readers().run(_find_share, secret_hash)

    async def list_shares(self, conversation_id: str) -> Sequence[ShareRow]:
        """Return the shares of a conversation, oldest first."""
        return await self._open_readers().run(_list_shares, conversation_id)

    async def delete_share(self, conversation_id: str, share_id: str) -> ShareRow | None:
        """Take a share back; return what it was, or None."""

        def work(ledger: Ledger) -> ShareRow | None:
            keys = {"conversation_id": conversation_id, "id": share_id}
            row = ledger.connection.execute(SQL["load_share"], keys).fetchone()
            if row is None:
                return None
            share = _share(row)
            ledger.connection.execute(SQL["delete_share"], {"secret_hash": share.secret_hash})
            return share

        return await self._open_writer().perform(work)


def list_tokens_in(path: Path) -> Sequence[TokenRow]:
    """Return the tokens of the store at ``path`` without opening it, also while a gateway does.

    Empty for a store that an older release wrote. Blocks; call it in a thread.

    Raises:
        StoreError: As of any reading of a store.
    """
    with map_errors():
        connection = connect_reader(path)
        try:
            if check_version(connection) < _SCHEMA_VERSION_MIN:
                return []
            return _list_tokens(connection)
        finally:
            connection.close()


def _list_tokens(connection: sqlite3.Connection) -> Sequence[TokenRow]:
    return [_token(row) for row in connection.execute(SQL["list_tokens"])]


def _load_token(connection: sqlite3.Connection, name: str) -> TokenRow | None:
    row = connection.execute(SQL["load_token"], {"name": name}).fetchone()
    return None if row is None else _token(row)


def _delete_logins_of(connection: sqlite3.Connection, token: TokenRow) -> None:
    connection.execute(SQL["delete_logins_of_token"], {"token_hash": token.secret_hash})


def _load_login(connection: sqlite3.Connection, secret_hash: str) -> LoginRow | None:
    row = connection.execute(SQL["load_login"], {"secret_hash": secret_hash}).fetchone()
    if row is None:
        return None
    return LoginRow(secret_hash=row[0], token_hash=row[1], created_at=row[2], expires_at=row[3])


def _find_share(connection: sqlite3.Connection, secret_hash: str) -> ShareRow | None:
    row = connection.execute(SQL["find_share"], {"secret_hash": secret_hash}).fetchone()
    return None if row is None else _share(row)


def _list_shares(connection: sqlite3.Connection, conversation_id: str) -> Sequence[ShareRow]:
    rows = connection.execute(SQL["list_shares"], {"conversation_id": conversation_id})
    return [_share(row) for row in rows]


def _token(row: Sequence[Any]) -> TokenRow:
    name, secret_hash, scopes, created_at, tenant, expires_at, revoked_at, used_at = row
    return TokenRow(
        name=name,
        secret_hash=secret_hash,
        scopes=tuple(scopes.split()),
        created_at=created_at,
        tenant=tenant,
        expires_at=expires_at,
        revoked_at=revoked_at,
        used_at=used_at,
    )


def _share(row: Sequence[Any]) -> ShareRow:
    share_id, conversation_id, secret_hash, created_at, expires_at = row
    return ShareRow(
        id=share_id,
        conversation_id=conversation_id,
        secret_hash=secret_hash,
        created_at=created_at,
        expires_at=expires_at,
    )
