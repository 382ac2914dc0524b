"""Conversations that nobody sees before they are whole."""

from __future__ import annotations

import msgspec

from blockwire.errors import StoreError
from blockwire.ports import ConversationRow
from blockwire.stores.memory.base import MemoryBase
from blockwire.stores.memory.state import MemoryConversation

__all__ = ["MemoryForks"]


class MemoryForks(MemoryBase):
    """The part of the memory store that hides and reveals."""

    def __init__(self) -> None:
        super().__init__()
        self._hidden: set[str] = set()

    async def create_hidden_conversation(self, row: ConversationRow) -> None:
        """Insert ``row``, hidden."""
        if self._find(row.id) is not None:
            raise StoreError("conversation_exists", "a conversation with this id exists")
        row = msgspec.structs.replace(row, head_seq=0, public_head_seq=0)
        self._conversations[row.id] = MemoryConversation(row)
        self._hidden.add(row.id)

    async def reveal_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Let everybody see a hidden conversation, and return it."""
        conversation = self._find(conversation_id)
        self._hidden.discard(conversation_id)
        return None if conversation is None else conversation.row
