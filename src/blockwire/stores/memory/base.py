"""What every part of the memory store works on."""

from __future__ import annotations

from blockwire.errors import StoreError
from blockwire.stores.memory.state import MemoryConversation

__all__ = ["MemoryBase"]


class MemoryBase:
    """Conversations by id, and whether the store is open."""

    def __init__(self) -> None:
        self._conversations: dict[str, MemoryConversation] = {}
        self._is_open = False

    def _check_open(self) -> None:
        if not self._is_open:
            raise StoreError("store_closed", "the store is not open")

    def _find(self, conversation_id: str) -> MemoryConversation | None:
        self._check_open()
        return self._conversations.get(conversation_id)
