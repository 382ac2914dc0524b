"""SqliteStore: the port, in front of one writing thread and a few reading ones.

Spec: docs/spec/gateway/persistence.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from blockwire.content import View
from blockwire.errors import StoreError
from blockwire.ports import (
    Append,
    Appended,
    CheckProblem,
    ConversationRow,
    Faults,
    FramePage,
    MessageRow,
    Page,
    TurnRow,
)
from blockwire.stores.sqlite import reader
from blockwire.stores.sqlite.access import SqliteAccess
from blockwire.stores.sqlite.attachments import SqliteAttachments
from blockwire.stores.sqlite.check import check_connection
from blockwire.stores.sqlite.checkpoint import Checkpointer
from blockwire.stores.sqlite.forks import ForkPart
from blockwire.stores.sqlite.imports import SqliteImports
from blockwire.stores.sqlite.indexer import prepare_index
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.lock import StoreLock
from blockwire.stores.sqlite.retention import SqliteRetention
from blockwire.stores.sqlite.schema import (
    Synchronous,
    connect_checkpointer,
    connect_writer,
    migrate,
)
from blockwire.stores.sqlite.search import SqliteSearch
from blockwire.stores.sqlite.writer import Writer

__all__ = ["SqliteStore"]


class SqliteStore(
    ForkPart, SqliteAccess, SqliteAttachments, SqliteImports, SqliteRetention, SqliteSearch
):
    """Implements :class:`~blockwire.ports.Store` in one SQLite file.

    Args:
        path: The file; its folder must exist. Beside it lie ``-wal``, ``-shm`` and ``.lock``.
        synchronous: FULL keeps what was acknowledged through a power loss; NORMAL only through
            the end of the process.
        faults: Told at ``encode``, ``commit`` and ``migrate`` points.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        synchronous: Synchronous = "FULL",
        faults: Faults | None = None,
    ) -> None:
        self.path = Path(path)
        self._synchronous = synchronous
        self._faults = faults
        self._lock: StoreLock | None = None
        self._checkpointer: Checkpointer | None = None
        self._writer: Writer | None = None
        self._readers: reader.ReaderPool | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def open(self) -> None:
        """Take the lock, migrate, be ready.

        Raises:
            StoreError: ``store_locked``, ``store_too_new``, ``store_foreign``, ``store_corrupt``,
                ``store_readonly``, ``store_busy``, ``store_full``, ``store_unavailable``.
        """
        if self._writer is not None:
            raise StoreError("store_locked", "this store is open already")
        writer = self._writer = Writer(
            self._connect, self._note_commit, self._release, faults=self._faults
        )
        try:
            await writer.start()
        except BaseException:
            self._writer = None
            raise
        self._readers = reader.ReaderPool(self.path)
        await writer.perform(Ledger.delete_hidden)

    def _connect(self) -> sqlite3.Connection:
        """Runs in the writer's thread, which closes what this returns."""
        self._lock = StoreLock.acquire(self.path)
        connection = None
        try:
            connection = connect_writer(self.path, synchronous=self._synchronous)
            migrate(connection, faults=self._faults)
            prepare_index(connection)
            self._checkpointer = Checkpointer(
                lambda: connect_checkpointer(self.path, synchronous=self._synchronous)
            )
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def _note_commit(self, size_bytes: int) -> None:
        if self._checkpointer is not None:
            self._checkpointer.note_commit(size_bytes)

    def _release(self) -> None:
        """Runs in the writer's thread when its connection is closed."""
        checkpointer, self._checkpointer = self._checkpointer, None
        if checkpointer is not None:
            checkpointer.stop()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def write_url(self, url: str, key: str | None = None) -> None:
        """Tell other processes where this store is served (:func:`read_owner` finds it).

        ``key`` is for those of the same user, who alone can read it.
        """
        if self._writer is None or self._lock is None:
            raise StoreError("store_closed", "the store is not open")
        self._lock.write_url(url, key)

    async def aclose(self) -> None:
        """Commit what is queued, close the file and release the lock."""
        writer, self._writer = self._writer, None
        readers, self._readers = self._readers, None
        if readers is not None:
            await readers.aclose()
        if writer is not None:
            await writer.stop()

    async def ping(self) -> None:
        """Commit a small change of no meaning."""
        await self._open_writer().perform(Ledger.ping)

    async def join_rows(self) -> None:
        """Join now the rows of the log that would be joined in the next quiet moment."""
        await self._open_writer().perform(Ledger.join_due)

    # conversations ------------------------------------------------------------------------
    async def create_conversation(self, row: ConversationRow) -> None:
        """Insert ``row``, with an empty log."""
        await self._open_writer().perform(lambda ledger: ledger.create_conversation(row))

    async def load_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Return the row, or None."""
        return await self._open_readers().run(reader.load_conversation, conversation_id)

    async def update_conversation(self, row: ConversationRow) -> ConversationRow | None:
        """Replace what a caller may change; return the row as stored, or None."""
        return await self._open_writer().perform(lambda ledger: ledger.update_conversation(row))

    async def list_conversations(
        self, *, tenant: str | None, cursor: str | None, limit: int
    ) -> Page[ConversationRow]:
        """Return a page of conversations, newest first."""
        return await self._open_readers().run(reader.list_conversations, tenant, cursor, limit)

    async def delete_conversation(self, conversation_id: str) -> bool:
        """Remove every trace from the file, its free pages and the WAL."""
        existed = await self._open_writer().perform(
            lambda ledger: ledger.delete_conversation(conversation_id)
        )
        await self.purge_attachments()
        return existed

    # log ----------------------------------------------------------------------------------
    async def append(self, change: Append) -> Appended:
        """Commit ``change`` and return it numbered."""
        size_bytes = 0
        for draft in change.drafts:
            size_bytes += len(draft.owner)
        return await self._open_writer().append(change, size_bytes)

    async def read_frames(
        self,
        conversation_id: str,
        after: int,
        *,
        view: View,
        bytes_max: int,
        up_to: int | None = None,
    ) -> FramePage:
        """Return a stretch of the log for one view."""
        return await self._open_readers().run(
            reader.read_frames, conversation_id, view, (after, up_to), bytes_max
        )

    # messages and turns -------------------------------------------------------------------
    async def list_messages(  # noqa: PLR0913 - a page has two ends and two sizes
        self,
        conversation_id: str,
        *,
        before_seq: int | None,
        after_seq: int | None,
        up_to_seq: int | None,
        limit: int,
        bytes_max: int,
    ) -> Sequence[MessageRow]:
        """Return finished messages by ``created_seq``."""
        bounds = (before_seq, after_seq, up_to_seq)
        return await self._open_readers().run(
            reader.list_messages, conversation_id, bounds, limit, bytes_max
        )

    async def load_message(self, conversation_id: str, message_id: str) -> MessageRow | None:
        """Return the finished message, or None."""
        return await self._open_readers().run(reader.load_message, conversation_id, message_id)

    async def load_turn(self, conversation_id: str, turn_id: str) -> TurnRow | None:
        """Return the turn, or None."""
        return await self._open_readers().run(reader.load_turn, conversation_id, turn_id)

    async def find_turn_by_key(self, conversation_id: str, key: str) -> TurnRow | None:
        """Return the turn submitted with this idempotency key, or None."""
        return await self._open_readers().run(reader.find_turn_by_key, conversation_id, key)

    async def list_turns(
        self, conversation_id: str, *, cursor: str | None, limit: int
    ) -> Page[TurnRow]:
        """Return a page of turns, the one that was stored last first."""
        return await self._open_readers().run(reader.list_turns, conversation_id, cursor, limit)

    async def list_unfinished_turns(self) -> Sequence[TurnRow]:
        """Return all turns that are running or suspended, of all conversations."""
        return await self._open_readers().run(reader.list_unfinished_turns)

    async def check(self) -> Sequence[CheckProblem]:
        """Return what is wrong with the stored data; reads everything."""
        return await self._open_readers().run(check_connection)
