"""Conversations that nobody sees before they are whole; titles and totals of conversations.

Spec: docs/spec/gateway/conversations.md. :class:`ForkPart` is a part of the store; the functions run
in the writer's thread.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from blockwire.jsontext import encode_json
from blockwire.ports import Append, ConversationRow
from blockwire.stores.changes import added_totals
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.rows import decode_totals

if TYPE_CHECKING:
    from blockwire.stores.sqlite.writer import Writer

__all__ = ["ForkPart", "note_conversation"]


class ForkPart:
    """The part of :class:`~blockwire.stores.sqlite.store.SqliteStore` that hides and reveals."""

    if TYPE_CHECKING:

        def _open_writer(self) -> Writer: ...

    async def create_hidden_conversation(self, row: ConversationRow) -> None:
        """Insert ``row``, hidden."""
        await self._open_writer().perform(lambda ledger: ledger.create_conversation(row, hide=True))

    async def reveal_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Let everybody see a hidden conversation, and return it."""
        return await self._open_writer().perform(
            lambda ledger: ledger.reveal_conversation(conversation_id)
        )


def note_conversation(connection: sqlite3.Connection, conversation_no: int, change: Append) -> None:
    """Write what ``change`` says of the conversation as a whole."""
    if change.auto_title is not None:
        keys = {"conversation_no": conversation_no, "auto_title": change.auto_title}
        connection.execute(SQL["set_auto_title"], keys)
    if change.totals:
        number = {"conversation_no": conversation_no}
        (text,) = connection.execute(SQL["load_totals"], number).fetchone()
        totals = added_totals(decode_totals(text), change.totals)
        parameters = {**number, "totals": encode_json({**totals}).decode()}
        connection.execute(SQL["save_totals"], parameters)
