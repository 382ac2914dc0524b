"""Which conversations are in memory: each at most once, idle ones only while there is room.

Spec: docs/spec/gateway/reading.md, "Memory".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from blockwire.gateway.turns.conversation import Conversation, conversation_not_found

__all__ = ["Registry"]

_LOOKS_MAX: Final = 16
"""Conversations looked at each time one is let go."""


class Registry:
    """Finds, loads, shares and drops conversations.

    Args:
        make: Returns a conversation that is not loaded yet.
        idle_max: Conversations that nobody uses and that have no unfinished turn.
    """

    def __init__(self, make: Callable[[str], Conversation], *, idle_max: int) -> None:
        self._make = make
        self._idle_max = idle_max
        # The one used last is last.
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def find(self, conversation_id: str) -> Conversation:
        """Return the one object for this id, loaded or not."""
        conversation = self._known.get(conversation_id)
        if conversation is None:
            conversation = self._known[conversation_id] = self._make(conversation_id)
        else:
            self._known.move_to_end(conversation_id)
        return conversation

    def peek(self, conversation_id: str) -> Conversation | None:
        """Return the conversation if it is in memory and loaded."""
        conversation = self._known.get(conversation_id)
        return conversation if conversation is not None and conversation.is_loaded else None

    def all(self) -> list[Conversation]:
        """Return those in memory."""
        return list(self._known.values())

    @asynccontextmanager
    async def using(self, conversation_id: str, tenant: str | None) -> AsyncIterator[Conversation]:
        """Give out a loaded conversation and keep it in memory meanwhile.

        Args:
            conversation_id: Any text.
            tenant: Whose conversation it must be; None for whoever may see all.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, also for another tenant's.
            StoreError: It cannot be read.
        """
        conversation = self.find(conversation_id)
        with self.holding(conversation):
            if not conversation.is_loaded:
                async with conversation.changing():
                    pass
            if conversation.is_gone or (tenant is not None and conversation.row.tenant != tenant):
                raise conversation_not_found()
            yield conversation

    @contextmanager
    def holding(self, conversation: Conversation) -> Iterator[None]:
        """Keep a conversation in memory meanwhile."""
        conversation.pins += 1
        try:
            yield
        finally:
            conversation.pins -= 1
            if conversation.can_leave and (conversation.is_gone or not conversation.is_loaded):
                self._drop(conversation)
            self._drop_idle()

    def _drop_idle(self) -> None:
        """Drop idle conversations beyond the bound, the one used longest ago first.

        Those in use go to the back of the queue, a few at a time: with more in use than may be
        idle, nobody pays for a look at them all.
        """
        for _ in range(_LOOKS_MAX):
            if len(self._known) <= self._idle_max:
                return
            oldest = next(iter(self._known.values()))
            if oldest.can_leave:
                self._drop(oldest)
            else:
                self._known.move_to_end(oldest.id)

    def _drop(self, conversation: Conversation) -> None:
        if self._known.get(conversation.id) is conversation:
            del self._known[conversation.id]
