"""A store that forgets: for tests, demos and whoever wants no file.

Spec: docs/spec/gateway/persistence.md. Keeps the contract of every store but durability. Single
threaded: each method runs to its end without waiting, which makes it atomic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from blockwire.content import TURN_TERMINAL_STATUSES, View
from blockwire.errors import StoreError
from blockwire.jsontext import encode_json
from blockwire.ports import (
    Append,
    Appended,
    CheckProblem,
    ConversationRow,
    Entry,
    FaultPoint,
    Faults,
    FramePage,
    MessageRow,
    Page,
    TurnRow,
)
from blockwire.stores.changes import (
    added_totals,
    check_new_messages,
    check_turn,
    conversation_not_found,
    finished_rows,
    last_public_seq,
    numbered_turn,
)
from blockwire.stores.cursors import decode_list_cursor, decode_turn_cursor, encode_cursor
from blockwire.stores.entries import stamp_all
from blockwire.stores.memory.access import MemoryAccess
from blockwire.stores.memory.attachments import MemoryAttachments
from blockwire.stores.memory.imports import MemoryImports
from blockwire.stores.memory.retention import MemoryRetention, read_page
from blockwire.stores.memory.search import MemorySearch
from blockwire.stores.memory.state import MemoryConversation
from blockwire.stores.verify import check_conversation

__all__ = ["MemoryStore"]

_COMPLETED: Final = "content.block.completed"


class MemoryStore(MemoryAttachments, MemoryAccess, MemoryImports, MemoryRetention, MemorySearch):
    """Implements :class:`~blockwire.ports.Store` in memory.

    Args:
        faults: Told at ``encode`` and ``commit`` points.
    """

    def __init__(self, *, faults: Faults | None = None) -> None:
        super().__init__()
        self._faults = faults

    async def open(self) -> None:
        """Be ready; what was stored before is still there."""
        self._is_open = True
        for conversation_id in self._hidden.copy():
            await self.delete_conversation(conversation_id)

    async def aclose(self) -> None:
        """Refuse everything until it is opened again."""
        self._is_open = False

    async def ping(self) -> None:
        """Return when the store is open."""
        self._check_open()

    # conversations ------------------------------------------------------------------------
    async def create_conversation(self, row: ConversationRow) -> None:
        """Insert ``row``, with an empty log."""
        if self._find(row.id) is not None:
            raise StoreError("conversation_exists", "a conversation with this id exists")
        row = msgspec.structs.replace(row, head_seq=0, public_head_seq=0)
        self._conversations[row.id] = MemoryConversation(row)

    async def load_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Return the row, or None."""
        conversation = self._find(conversation_id)
        is_seen = conversation is not None and conversation_id not in self._hidden
        return conversation.row if conversation is not None and is_seen else None

    async def update_conversation(self, row: ConversationRow) -> ConversationRow | None:
        """Replace what a caller may change; return the row as stored, or None."""
        conversation = self._find(row.id)
        if conversation is None:
            return None
        conversation.row = msgspec.structs.replace(
            conversation.row,
            title=row.title,
            tags=row.tags,
            system=row.system,
            metadata=row.metadata,
            updated_at=max(row.updated_at, conversation.row.updated_at),
        )
        return conversation.row

    async def list_conversations(
        self, *, tenant: str | None, cursor: str | None, limit: int
    ) -> Page[ConversationRow]:
        """Return a page of conversations, newest first."""
        self._check_open()
        place = None if cursor is None else decode_list_cursor(cursor)
        rows = sorted(
            (
                conversation.row
                for conversation in self._conversations.values()
                if (tenant is None or conversation.row.tenant == tenant)
                and conversation.row.id not in self._hidden
            ),
            key=lambda row: (row.created_at, row.id),
            reverse=True,
        )
        rows = [row for row in rows if place is None or (row.created_at, row.id) < place]
        items = rows[:limit]
        more = len(rows) > limit > 0
        return Page(items, encode_cursor(items[-1].created_at, items[-1].id) if more else None)

    async def delete_conversation(self, conversation_id: str) -> bool:
        """Forget the conversation; return whether it existed."""
        self._check_open()
        self._hidden.discard(conversation_id)
        self._release_attachments(conversation_id)
        self._forget_finished(conversation_id)
        self._forget_imported(conversation_id)
        return self._conversations.pop(conversation_id, None) is not None

    # log ----------------------------------------------------------------------------------
    async def append(self, change: Append) -> Appended:
        """Number and keep ``change``."""
        conversation = self._find(change.conversation_id)
        if conversation is None:
            raise conversation_not_found()
        stored = None if change.turn is None else conversation.turns.get(change.turn.id)
        if change.turn is not None:
            key_owner = conversation.turn_with_key(change.turn.idempotency_key)
            check_turn(change, stored, None if key_owner is None else key_owner.id)
        row = conversation.row
        self._reach("encode.before")
        entries = stamp_all(
            change.drafts,
            change.conversation_id,
            head_seq=row.head_seq,
            public_head_seq=row.public_head_seq,
            ts=change.ts,
        )
        self._reach("encode.after")
        turn = None if change.turn is None else numbered_turn(change.turn, stored, entries)
        messages = finished_rows(
            change,
            turn,
            entries,
            head_seq=row.head_seq + len(entries),
            find_turn=conversation.turns.get,
        )
        check_new_messages(messages, conversation.messages.__contains__)
        sized = {row.message["id"]: (row, len(encode_json(row.message))) for row in messages}
        self._reach("commit.before")
        _keep(conversation, change, entries, turn)
        conversation.messages.update(sized)
        self._keep_finished(conversation, messages)
        self._hold_attachments(change)
        self._reach("commit.after")
        return Appended(entries, turn)

    def _reach(self, point: FaultPoint) -> None:
        if self._faults is not None:
            self._faults.reach(point)

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
        conversation = self._find(conversation_id)
        if conversation is None:
            return FramePage(b"", max(after, 0), 0, at_end=True)
        return read_page(conversation, view, (after, up_to), bytes_max)

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
        conversation = self._find(conversation_id)
        if conversation is None:
            return []
        found = [
            (row, size_bytes)
            for row, size_bytes in conversation.messages.values()
            if (before_seq is None or row.created_seq < before_seq)
            and (after_seq is None or row.created_seq > after_seq)
            and (up_to_seq is None or row.finished_seq <= up_to_seq)
        ]
        found.sort(key=lambda pair: pair[0].created_seq, reverse=after_seq is None)
        rows: list[MessageRow] = []
        for row, size_bytes in found[:limit]:
            bytes_max -= size_bytes
            if rows and bytes_max < 0:
                break
            rows.append(row)
        return rows

    async def load_message(self, conversation_id: str, message_id: str) -> MessageRow | None:
        """Return the finished message, or None."""
        conversation = self._find(conversation_id)
        return None if conversation is None else conversation.find_message(message_id)

    async def load_turn(self, conversation_id: str, turn_id: str) -> TurnRow | None:
        """Return the turn, or None."""
        conversation = self._find(conversation_id)
        return None if conversation is None else conversation.turns.get(turn_id)

    async def find_turn_by_key(self, conversation_id: str, key: str) -> TurnRow | None:
        """Return the turn submitted with this idempotency key, or None."""
        conversation = self._find(conversation_id)
        return None if conversation is None else conversation.turn_with_key(key)

    async def list_turns(
        self, conversation_id: str, *, cursor: str | None, limit: int
    ) -> Page[TurnRow]:
        """Return a page of turns, the one that was stored last first."""
        conversation = self._find(conversation_id)
        turns = [] if conversation is None else list(conversation.turns.values())
        end = len(turns) if cursor is None else min(decode_turn_cursor(cursor), len(turns))
        start = max(end - limit, 0)
        items = turns[start:end][::-1]
        return Page(items, encode_cursor(start) if start and items else None)

    async def list_unfinished_turns(self) -> Sequence[TurnRow]:
        """Return all turns that are running or suspended, of all conversations."""
        self._check_open()
        return [
            turn
            for conversation in self._conversations.values()
            for turn in conversation.turns.values()
            if turn.status not in TURN_TERMINAL_STATUSES
        ]

    async def check(self) -> Sequence[CheckProblem]:
        """Return what is wrong with the data."""
        self._check_open()
        problems: list[CheckProblem] = []
        for conversation in self._conversations.values():
            problems += check_conversation(
                conversation.row,
                conversation.log,
                start_seq=conversation.start_seq,
                turns=conversation.turns.values(),
                message_count=conversation.count_messages_after_start(),
                find_message=conversation.find_message,
            )
            problems += self._hold_problems(conversation)
        return problems


def _keep(
    conversation: MemoryConversation,
    change: Append,
    entries: Sequence[Entry],
    turn: TurnRow | None,
) -> None:
    row = conversation.row
    conversation.keep(entries)
    if change.finished or any(draft.type == _COMPLETED for draft in change.drafts):
        conversation.is_mergeable = True
    conversation.row = msgspec.structs.replace(
        row,
        head_seq=row.head_seq + len(entries),
        public_head_seq=last_public_seq(entries, row.public_head_seq),
        updated_at=max(row.updated_at, change.ts),
        auto_title=row.auto_title if row.auto_title is not None else change.auto_title,
        totals=added_totals(row.totals, change.totals),
    )
    if turn is not None:
        conversation.turns[turn.id] = turn
