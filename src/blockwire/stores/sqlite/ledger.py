"""What one transaction of the writer has done so far, and what it still has to write.

Spec: docs/spec/gateway/persistence.md. Lives in the writer's thread.

Heads and turns are cached across transactions, which is sound because one process owns the store
and all changes pass through here; whatever breaks a transaction empties the caches. A request is
checked before its first statement, so a refused one leaves nothing to undo. Log rows are
collected and written at the end, one row a conversation however many requests it had.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from blockwire.content import TURN_TERMINAL_STATUSES
from blockwire.errors import StoreError
from blockwire.jsontext import encode_json
from blockwire.ports import (
    Append,
    Appended,
    ConversationRow,
    Entry,
    Faults,
    MessageRow,
    RetentionLimits,
    TurnRow,
)
from blockwire.stores.changes import (
    check_new_messages,
    check_turn,
    conversation_not_found,
    finished_rows,
    last_public_seq,
    numbered_turn,
)
from blockwire.stores.entries import stamp_all
from blockwire.stores.sqlite.bulk import advance_turns, insert_log
from blockwire.stores.sqlite.filing import Filing
from blockwire.stores.sqlite.forks import note_conversation
from blockwire.stores.sqlite.indexer import Indexer
from blockwire.stores.sqlite.joining import LOOSE_ROWS_AT_END, LOOSE_ROWS_MAX, join_rows
from blockwire.stores.sqlite.logrows import LogHead, LogRow, extend_log_rows
from blockwire.stores.sqlite.merging import Merger
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.rows import (
    conversation_from_row,
    conversation_parameters,
    turn_from_row,
    turn_parameters,
)
from blockwire.stores.sqlite.trimming import trim_once

__all__ = ["Ledger"]

# Heads, and turns that go on, that are cached; a kilobyte each. Beyond, all are dropped and read again.
_CACHED_COUNT_MAX: Final = 20_000

# Conversations whose rows wait to be joined, after a restart.
_DUE_LOADED_MAX: Final = 1000

_COMPLETED: Final = "content.block.completed"


class Ledger:
    """Performs requests on the writer's connection, inside the transaction that is open there.

    Attributes:
        due: Conversations whose rows should be joined, in the order in which they became due.
        filing: Attachments.
        indexer: The search index.
        merger: Merges completed blocks.
        has_deleted: Whether a conversation was deleted and may still be in the WAL.
    """

    def __init__(self, connection: sqlite3.Connection, *, faults: Faults | None = None) -> None:
        self._connection = connection
        self._faults = faults
        self._heads: dict[str, LogHead] = {}
        self._turns: dict[tuple[str, str], TurnRow] = {}
        self._touched: dict[str, LogHead] = {}
        self._advanced: dict[tuple[int, str], tuple[int, int]] = {}
        self.has_deleted = False
        self.filing = Filing(connection)
        self.indexer = Indexer(connection)
        self.merger = Merger(connection)
        rows = connection.execute(SQL["list_due"], {"limit": _DUE_LOADED_MAX})
        self.due: dict[str, None] = dict.fromkeys(conversation_id for (conversation_id,) in rows)

    @property
    def connection(self) -> sqlite3.Connection:
        """The writer's, for parts of the store that the log does not depend on."""
        return self._connection

    def forget(self) -> None:
        """Drop everything that is not in the file: the transaction was rolled back."""
        self._heads.clear()
        self._turns.clear()
        self._touched.clear()
        self._advanced.clear()
        self.merger.forget()
        self.filing.forget()

    def flush(self) -> None:
        """Write what was collected."""
        touched, self._touched = self._touched, {}
        rows: list[LogRow] = []
        for conversation_id, head in touched.items():
            entries, head.pending = head.pending, []
            before = len(rows)
            extend_log_rows(rows, head, entries)
            head.loose_row_count += len(rows) - before
            if head.loose_row_count >= LOOSE_ROWS_MAX and not head.is_due:
                self._make_due(conversation_id, head)
        insert_log(self._connection, rows)
        if self._advanced:
            advanced, self._advanced = self._advanced, {}
            numbers = [(*numbers, *key) for key, numbers in advanced.items()]
            advance_turns(self._connection, numbers)
        if len(self._heads) > _CACHED_COUNT_MAX or len(self._turns) > _CACHED_COUNT_MAX:
            self._heads.clear()
            self._turns.clear()

    def _make_due(self, conversation_id: str, head: LogHead) -> None:
        # Written down, so that a restart does not forget it; once in so many rows.
        head.is_due = True
        self.due.setdefault(conversation_id)
        self._save_segments(head)

    def _save_segments(self, head: LogHead) -> None:
        parameters = {
            "conversation_no": head.conversation_no,
            "joined_seq": head.joined_seq,
            "is_due": int(head.is_due),
        }
        self._connection.execute(SQL["save_segments"], parameters)

    # appends ------------------------------------------------------------------------------
    def append(self, change: Append) -> Appended:
        """Number ``change`` and collect it; the port says what is refused."""
        head = self._heads.get(change.conversation_id) or self._load_head(change.conversation_id)
        if change.turn is None and not change.finished:
            entries = self._stamp(head, change)
            self.filing.hold(head.conversation_no, change.attachments)
            self._grow(head, change, entries)
            return Appended(entries, None)
        stored = self._checked_turn(head, change)
        entries = self._stamp(head, change)
        turn = None if change.turn is None else numbered_turn(change.turn, stored, entries)
        messages = finished_rows(
            change,
            turn,
            entries,
            head_seq=head.seq + len(entries),
            find_turn=lambda turn_id: self._find_turn(change.conversation_id, turn_id),
        )
        message_rows = self._checked_messages(head, messages)
        # From here on nothing is refused.
        if turn is not None:
            self._save_turn(head, turn, stored)
        if message_rows:
            execute = self._connection.execute
            numbers = [execute(SQL["insert_message"], row).lastrowid or 0 for row in message_rows]
            self.indexer.add(
                head.conversation_no, zip(numbers, (row.message for row in messages), strict=True)
            )
        self.filing.hold(head.conversation_no, change.attachments)
        if change.auto_title is not None or change.totals:
            note_conversation(self._connection, head.conversation_no, change)
        self._grow(head, change, entries)
        return Appended(entries, turn)

    def _load_head(self, conversation_id: str) -> LogHead:
        row = self._connection.execute(SQL["load_head"], {"id": conversation_id}).fetchone()
        if row is None:
            raise conversation_not_found()
        keys = {"conversation_no": row[0], "joined_seq": row[4], "limit": LOOSE_ROWS_MAX}
        (loose_row_count,) = self._connection.execute(SQL["count_loose"], keys).fetchone()
        head = self._heads[conversation_id] = LogHead(row, loose_row_count)
        return head

    def _stamp(self, head: LogHead, change: Append) -> list[Entry]:
        if self._faults is not None:
            self._faults.reach("encode.before")
        entries = stamp_all(
            change.drafts,
            change.conversation_id,
            head_seq=head.seq,
            public_head_seq=head.public_seq,
            ts=change.ts,
        )
        if self._faults is not None:
            self._faults.reach("encode.after")
        return entries

    def _grow(self, head: LogHead, change: Append, entries: list[Entry]) -> None:
        head.updated_at = max(head.updated_at, change.ts)
        if not entries:
            keys = {"conversation_no": head.conversation_no, "updated_at": change.ts}
            self._connection.execute(SQL["touch_conversation"], keys)
        else:
            head.pending += entries
            head.seq = entries[-1].seq
            head.public_seq = last_public_seq(entries, head.public_seq)
            self._touched[change.conversation_id] = head
            if change.finished or any(draft.type == _COMPLETED for draft in change.drafts):
                self._note_completed(head, change.ts)
        turn = change.turn
        is_end = turn is not None and turn.status in TURN_TERMINAL_STATUSES
        if is_end and head.loose_row_count >= LOOSE_ROWS_AT_END and not head.is_due:
            self._make_due(change.conversation_id, head)

    def _note_completed(self, head: LogHead, ts: int) -> None:
        self.merger.note_completed(head.conversation_no)
        if not head.is_mergeable:
            # Written down once, until it is merged.
            head.is_mergeable = True
            keys = {"conversation_no": head.conversation_no, "ts": ts}
            self._connection.execute(SQL["make_mergeable"], keys)

    def _find_turn(self, conversation_id: str, turn_id: str) -> TurnRow | None:
        turn = self._turns.get((conversation_id, turn_id))
        if turn is not None:
            return turn
        keys = {"conversation_id": conversation_id, "id": turn_id}
        row = self._connection.execute(SQL["load_turn"], keys).fetchone()
        if row is None:
            return None
        turn = turn_from_row(row)
        self._keep_turn(turn, is_written=True)
        return turn

    def _checked_turn(self, head: LogHead, change: Append) -> TurnRow | None:
        """Return the turn that ``change`` replaces, if any, after refusing what must be."""
        turn = change.turn
        if turn is None:
            return None
        stored = self._find_turn(change.conversation_id, turn.id)
        key = turn.idempotency_key
        key_owner = None
        if key is not None and (stored is None or stored.idempotency_key != key):
            keys = {"conversation_no": head.conversation_no, "key": key}
            row = self._connection.execute(SQL["find_key_owner"], keys).fetchone()
            key_owner = None if row is None else row[0]
        check_turn(change, stored, key_owner)
        return stored

    def _checked_messages(
        self, head: LogHead, messages: Sequence[MessageRow]
    ) -> list[tuple[int, str, int, int, int, bytes]]:
        def exists(message_id: str) -> bool:
            keys = {"conversation_no": head.conversation_no, "id": message_id}
            return self._connection.execute(SQL["has_message"], keys).fetchone() is not None

        check_new_messages(messages, exists)
        rows = []
        for row in messages:
            data = encode_json(row.message)
            message_id = str(row.message["id"])
            rows.append(
                (
                    head.conversation_no,
                    message_id,
                    row.created_seq,
                    row.finished_seq,
                    len(data),
                    data,
                )
            )
        return rows

    def _save_turn(self, head: LogHead, turn: TurnRow, stored: TurnRow | None) -> None:
        key = (head.conversation_no, turn.id)
        if stored is None:
            parameters = turn_parameters(turn, head.conversation_no)
            self._connection.execute(SQL["insert_turn"], parameters)
        elif turn == msgspec.structs.replace(
            stored, last_seq=turn.last_seq, producer_seq=turn.producer_seq
        ):
            self._advanced[key] = (turn.last_seq, turn.producer_seq)
        else:
            self._advanced.pop(key, None)
            parameters = turn_parameters(turn, head.conversation_no)
            self._connection.execute(SQL["replace_turn"], parameters)
        self._keep_turn(turn, is_written=key not in self._advanced)

    def _keep_turn(self, turn: TurnRow, *, is_written: bool) -> None:
        """Cache a turn that goes on; what is over is hardly ever asked for again."""
        key = (turn.conversation_id, turn.id)
        if is_written and turn.status in TURN_TERMINAL_STATUSES:
            self._turns.pop(key, None)
        else:
            self._turns[key] = turn

    # conversations ------------------------------------------------------------------------
    def create_conversation(self, row: ConversationRow, *, hide: bool = False) -> None:
        """Insert ``row``, with an empty log."""
        parameters = conversation_parameters(row)
        keys = {"id": row.id}
        if self._connection.execute(SQL["has_conversation"], keys).fetchone() is not None:
            raise StoreError("conversation_exists", "a conversation with this id exists")
        self._connection.execute(SQL["insert_conversation"], parameters)
        if hide:
            self._connection.execute(SQL["hide_conversation"], keys)

    def reveal_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Let everybody see a hidden conversation; return its row, or None."""
        self.flush()
        keys = {"id": conversation_id}
        self._connection.execute(SQL["reveal_conversation"], keys)
        stored = self._connection.execute(SQL["load_conversation"], keys).fetchone()
        return None if stored is None else conversation_from_row(stored)

    def delete_hidden(self) -> None:
        """Delete the conversations that an earlier process had not finished."""
        for (conversation_id,) in self._connection.execute(SQL["list_hidden"]).fetchall():
            self.delete_conversation(conversation_id)

    def update_conversation(self, row: ConversationRow) -> ConversationRow | None:
        """Replace what a caller may change; return the row as stored, or None."""
        parameters = conversation_parameters(row)
        self.flush()
        self._heads.pop(row.id, None)
        self._connection.execute(SQL["update_conversation"], parameters)
        stored = self._connection.execute(SQL["load_conversation"], {"id": row.id}).fetchone()
        return None if stored is None else conversation_from_row(stored)

    def delete_conversation(self, conversation_id: str) -> bool:
        """Remove the conversation and all that belongs to it; return whether it existed."""
        self.flush()
        self.due.pop(conversation_id, None)
        self._heads.pop(conversation_id, None)
        for key in [key for key in self._turns if key[0] == conversation_id]:
            del self._turns[key]
        held = self.filing.list_held(conversation_id)
        self.indexer.remove(conversation_id)
        keys = {"id": conversation_id}
        existed = self._connection.execute(SQL["delete_conversation"], keys).rowcount > 0
        self.filing.release(held)
        # The number of a conversation may be used again.
        self.merger.forget()
        self.has_deleted = self.has_deleted or existed
        return existed

    def purge(self) -> bool:
        """Remove some content that nobody has; return whether there is more."""
        is_more = self.filing.purge()
        if not is_more and self.filing.has_removed:
            self.has_deleted, self.filing.has_removed = True, False
        return is_more

    def ping(self) -> None:
        """Change something, so that the commit is a real one."""
        self._connection.execute(SQL["ping"])

    # joining ------------------------------------------------------------------------------
    def join(self, conversation_id: str) -> bool:
        """Join loose rows of one conversation, some hundred; return whether that was all.

        The open transaction has nothing else to do.
        """
        try:
            head = self._heads.get(conversation_id) or self._load_head(conversation_id)
        except StoreError:
            return True
        joined = join_rows(self._connection, head.conversation_no, head.joined_seq)
        head.joined_seq = joined.joined_seq
        # Of a log that was loaded, no more than LOOSE_ROWS_MAX were counted.
        head.loose_row_count = joined.rows_after if joined.is_all else LOOSE_ROWS_MAX
        head.is_due = not joined.is_all
        self._save_segments(head)
        return joined.is_all

    def join_due(self) -> None:
        """Join everything that is due, which may take long."""
        self.flush()
        while self.due:
            conversation_id = next(iter(self.due))
            if self.join(conversation_id):
                del self.due[conversation_id]

    # merging and trimming -----------------------------------------------------------------
    def merge(self) -> bool:
        """Merge some of one conversation; return whether there may be more to do."""
        conversation_id = self.merger.step()
        if conversation_id is None:
            return False
        # Where its segments end has changed.
        self._heads.pop(conversation_id, None)
        return True

    def trim(self, limits: RetentionLimits) -> bool:
        """Remove some that ``limits`` do not keep; return whether there may be more to do."""
        conversation_id = trim_once(self._connection, limits)
        if conversation_id is None:
            return False
        self._heads.pop(conversation_id, None)
        return True
