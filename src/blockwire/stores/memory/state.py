"""What the memory store keeps of one conversation."""

from __future__ import annotations

from blockwire.jsontext import Json
from blockwire.ports import ConversationRow, Entry, MessageRow, ShareRow, TurnRow

__all__ = ["MemoryConversation"]


class MemoryConversation:
    """One conversation; ``log[seq - 1]`` is the entry ``seq``."""

    def __init__(self, row: ConversationRow) -> None:
        self.row = row
        self.log: list[Entry] = []
        # In the order in which they were stored.
        self.turns: dict[str, TurnRow] = {}
        # With the length of their JSON in bytes.
        self.messages: dict[Json, tuple[MessageRow, int]] = {}
        self.shares: dict[str, ShareRow] = {}

    def turn_with_key(self, key: str | None) -> TurnRow | None:
        """Return the turn that was submitted with this idempotency key, or None."""
        if key is None:
            return None
        return next((turn for turn in self.turns.values() if turn.idempotency_key == key), None)

    def find_message(self, message_id: str) -> MessageRow | None:
        """Return the finished message, or None."""
        pair = self.messages.get(message_id)
        return None if pair is None else pair[0]
