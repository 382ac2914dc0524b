"""What the memory store keeps of one conversation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from blockwire.jsontext import Json
from blockwire.ports import ConversationRow, Entry, MessageRow, ShareRow, TurnRow
from blockwire.stores.spans import Span

__all__ = ["MemoryConversation"]

_seq: Final = attrgetter("seq")


class MemoryConversation:
    """One conversation.

    Attributes:
        row: As stored.
        log: In order, without a gap; the first begins behind ``start_seq``.
        start_seq: Events up to here have left the log.
        is_mergeable: A block was completed, or a message finished, since it was merged.
    """

    def __init__(self, row: ConversationRow) -> None:
        self.row = row
        self.log: list[Span] = []
        self.start_seq = 0
        self.is_mergeable = False
        # In the order in which they were stored.
        self.turns: dict[str, TurnRow] = {}
        # With the length of their JSON in bytes.
        self.messages: dict[Json, tuple[MessageRow, int]] = {}
        self.shares: dict[str, ShareRow] = {}

    def keep(self, entries: Sequence[Entry]) -> None:
        """Append entries to the log."""
        self.log += [Span(e.seq, e.seq, e.owner_frame, e.public_frame) for e in entries]

    def index_after(self, cursor: int) -> int:
        """Return where in the log the first entry with a number above ``cursor`` is."""
        return bisect_right(self.log, cursor, key=_seq)

    def turn_with_key(self, key: str | None) -> TurnRow | None:
        """Return the turn that was submitted with this idempotency key, or None."""
        if key is None:
            return None
        return next((turn for turn in self.turns.values() if turn.idempotency_key == key), None)

    def find_message(self, message_id: str) -> MessageRow | None:
        """Return the finished message, or None."""
        pair = self.messages.get(message_id)
        return None if pair is None else pair[0]

    def count_messages_after_start(self) -> int:
        """Return how many messages were finished behind the beginning of the log."""
        return sum(row.finished_seq > self.start_seq for row, _ in self.messages.values())
