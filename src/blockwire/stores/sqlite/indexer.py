"""The search index on the writer's connection: what comes in, what goes, what is still to do.

Spec: docs/spec/gateway/search.md, "Index" and "Deletion". Works in the transaction that is open.

FTS5 notes a deletion beside what it deletes, and forgets both when its segments are merged. So a deletion
is followed by a *purge*: all segments become one, in steps, after which nothing of the deleted words is in
the file (with ``secure_delete``, which zeroes the pages that become free).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final, cast

from blockwire.content import Message
from blockwire.stores.sqlite.documents import WORDS_VERSION, DocumentRow, document_rows
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.rows import message_from_row

__all__ = ["Indexer", "prepare_index"]

# Messages of one step of building, and bytes of their JSON unless one has more: about 20 ms.
_BUILD_COUNT_MAX: Final = 64
_BUILD_BYTES_MAX: Final = 512 * 1024

# Pages (of 4 KiB) of one step of a purge: about 20 ms. That many steps are taken in the transaction that
# deletes, which is all for an index of some megabytes; the others when there is time.
_PURGE_PAGES: Final = 250
_PURGE_STEPS_AT_ONCE: Final = 4

# Messages whose documents are in memory while a conversation is taken out.
_REMOVED_AT_ONCE: Final = 256

# A merge that changed fewer rows had nothing to do.
_MERGE_ROWS_MIN: Final = 2

_PURGE_DONE, _PURGE_DUE, _PURGE_UNDER_WAY = 0, 1, 2


def prepare_index(connection: sqlite3.Connection) -> None:
    """Let the index be made again if another release, or another Unicode, made its words.

    It would not be known which words are in it, and so which to take out.
    """
    _, version, _ = connection.execute(SQL["load_search_state"]).fetchone()
    if version == WORDS_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        Indexer(connection).start_again()
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class Indexer:
    """Keeps the index equal to the finished messages.

    What it knows is written down in the same transaction, and read again after :meth:`forget`.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.forget()

    def forget(self) -> None:
        """Know what the file says: the transaction was rolled back."""
        self._has_removed = False
        self._new_messages: list[tuple[int, int]] = []
        self._new_documents: list[DocumentRow] = []
        row = self._connection.execute(SQL["load_search_state"]).fetchone()
        self._waiting_no: int = row[0]
        self._version: str = row[1]
        self._purge: int = row[2]

    @property
    def is_due(self) -> bool:
        """Whether there is something to do for :meth:`step`."""
        return self._waiting_no > 0 or self._purge != _PURGE_DONE

    def _save(self) -> None:
        parameters = {
            "waiting_no": self._waiting_no,
            "words_version": self._version,
            "purge": self._purge,
        }
        self._connection.execute(SQL["save_search_state"], parameters)

    # with what is stored ------------------------------------------------------------------
    def add(self, conversation_no: int, messages: Iterable[tuple[int, Message]]) -> None:
        """Index messages that were just stored, by their numbers, at the end of the transaction.

        One whose number waits to be indexed (it was used before) waits, too.
        """
        keys = {"conversation_no": conversation_no}
        (tenant,) = self._connection.execute(SQL["tenant_of"], keys).fetchone()
        for message_no, message in messages:
            if message_no > self._waiting_no:
                self._collect(message_no, conversation_no, tenant, message)

    def _collect(
        self, message_no: int, conversation_no: int, tenant: str | None, message: Message
    ) -> None:
        created_at = cast("int", message["created_at"])
        self._new_messages.append((message_no, created_at))
        self._new_documents += document_rows(message_no, conversation_no, tenant, message)

    def _insert_collected(self) -> None:
        """Write what was collected.

        In one go: any other statement may open a savepoint, for which FTS5 writes a segment, and many
        small segments take three times as long.
        """
        messages, self._new_messages = self._new_messages, []
        documents, self._new_documents = self._new_documents, []
        if messages:
            self._connection.executemany(SQL["index_message"], messages)
            self._connection.executemany(SQL["index_document"], documents)

    def remove(self, conversation_id: str) -> None:
        """Take out a conversation that is about to be deleted."""
        keys = {"id": conversation_id}
        found = self._connection.execute(SQL["find_deleted"], keys).fetchone()
        if found is None:
            return
        self._insert_collected()
        conversation_no, tenant = found
        keys = {"conversation_no": conversation_no}
        rows = self._connection.execute(SQL["list_messages_of"], keys).fetchall()
        # FTS5 wants numbers to rise.
        numbers = sorted(number for (number,) in rows if number > self._waiting_no)
        for start in range(0, len(numbers), _REMOVED_AT_ONCE):
            some = numbers[start : start + _REMOVED_AT_ONCE]
            documents: list[DocumentRow] = []
            for number in some:
                documents += document_rows(number, conversation_no, tenant, self._load(number))
            self._connection.executemany(SQL["unindex_document"], documents)
            self._connection.executemany(SQL["unindex_message"], [(number,) for number in some])
            self._has_removed = True

    def flush(self) -> None:
        """Write what was collected; begin the purge that removals made necessary."""
        self._insert_collected()
        if not self._has_removed:
            return
        self._has_removed = False
        self._write_out()
        self._purge = _PURGE_DUE
        for _ in range(_PURGE_STEPS_AT_ONCE):
            if self._purge == _PURGE_DONE:
                break
            self._merge()
        self._save()

    def _write_out(self) -> None:
        """Let FTS5 write what it holds back until the commit, which a merge would not see."""
        self._connection.execute("SAVEPOINT written")
        self._connection.execute("RELEASE written")

    def _load(self, message_no: int) -> Message:
        row = self._connection.execute(SQL["read_message"], {"no": message_no}).fetchone()
        return message_from_row(row).message

    # when there is time -------------------------------------------------------------------
    def start_again(self) -> None:
        """Empty the index and let all messages wait for it."""
        self._insert_collected()
        self._write_out()
        self._connection.execute(SQL["clear_index"])
        self._connection.execute(SQL["clear_indexed_messages"])
        (self._waiting_no,) = self._connection.execute(SQL["last_message"]).fetchone()
        self._version = WORDS_VERSION
        self._purge = _PURGE_DONE
        self._save()

    def step(self) -> bool:
        """Do a little of what is to do; return whether a purge was finished by it."""
        if self._purge == _PURGE_DONE:
            self._build()
            return False
        self._merge()
        self._save()
        return self._purge == _PURGE_DONE

    def _merge(self) -> None:
        pages = -_PURGE_PAGES if self._purge == _PURGE_DUE else _PURGE_PAGES
        before = self._connection.total_changes
        self._connection.execute(SQL["merge_index"], {"pages": pages})
        is_done = self._connection.total_changes - before < _MERGE_ROWS_MIN
        self._purge = _PURGE_DONE if is_done else _PURGE_UNDER_WAY

    def _build(self) -> None:
        """Index the newest messages that wait."""
        keys = {"waiting_no": self._waiting_no, "limit": _BUILD_COUNT_MAX}
        rows = self._connection.execute(SQL["list_waiting"], keys).fetchall()
        taken: list[tuple[int, int, str | None, int]] = []
        room_bytes = _BUILD_BYTES_MAX
        for row in rows:
            room_bytes -= row[3]
            if taken and room_bytes < 0:
                break
            taken.append(row)
        for message_no, conversation_no, tenant, _ in reversed(taken):
            self._collect(message_no, conversation_no, tenant, self._load(message_no))
        self._insert_collected()
        self._waiting_no = taken[-1][0] - 1 if taken else 0
        self._save()
