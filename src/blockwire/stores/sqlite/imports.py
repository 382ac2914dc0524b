"""Imports: all conversations of an archive become visible at once, and its key is remembered.

Spec: docs/spec/gateway/exports.md, "Import".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, cast

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.ports.imports import Imported, ImportRow
from blockwire.stores.changes import conversation_not_found
from blockwire.stores.sqlite.base import SqliteBase
from blockwire.stores.sqlite.errors import damaged
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.queries import SQL

__all__ = ["SqliteImports"]


class SqliteImports(SqliteBase):
    """The part of :class:`~blockwire.stores.sqlite.store.SqliteStore` that completes imports."""

    async def complete_import(
        self,
        conversations: Sequence[Imported],
        *,
        tenant: str | None,
        key: str | None,
        body_hash: str,
    ) -> None:
        """Let everybody see the hidden conversations, all at the same moment."""
        row = ImportRow(body_hash, tuple(conversations))
        await self._open_writer().perform(lambda ledger: _complete(ledger, row, tenant, key))

    async def find_import(self, tenant: str | None, key: str) -> ImportRow | None:
        """Return the import with this key of this tenant, or None."""
        return await self._open_readers().run(_find, tenant, key)


def _complete(ledger: Ledger, row: ImportRow, tenant: str | None, key: str | None) -> None:
    connection = ledger.connection
    for imported in row.conversations:
        keys = {"id": imported.conversation_id}
        if connection.execute(SQL["has_conversation"], keys).fetchone() is None:
            raise conversation_not_found()
    if key is not None and _find(connection, tenant, key) is not None:
        raise StoreError("idempotency_key_exists", "there is an import with this key")
    # From here on nothing is refused.
    ledger.flush()
    for place, imported in enumerate(row.conversations):
        parameters: dict[str, Any] = {"id": imported.conversation_id}
        connection.execute(SQL["reveal_conversation"], parameters)
        if key is not None:
            parameters |= {
                "tenant": tenant,
                "idempotency_key": key,
                "place": place,
                "body_hash": row.body_hash,
                "result": encode_json(imported.result).decode(),
            }
            connection.execute(SQL["insert_import"], parameters)


def _find(connection: sqlite3.Connection, tenant: str | None, key: str) -> ImportRow | None:
    keys = {"tenant": tenant, "idempotency_key": key}
    rows = connection.execute(SQL["find_import"], keys).fetchall()
    if not rows:
        return None
    return ImportRow(rows[0][1], [Imported(row[0], _result(row[2])) for row in rows])


def _result(text: str) -> dict[str, Json]:
    try:
        return cast("dict[str, Json]", decode_json(text.encode()))
    except RemoteProtocolError as error:
        raise damaged() from error
