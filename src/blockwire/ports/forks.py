"""Conversations that are made in many steps, and that nobody sees before they are whole.

Spec: docs/spec/gateway/conversations.md, "Fork".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from blockwire.ports.store import ConversationRow

__all__ = ["ForkStore"]


class ForkStore(Protocol):
    """The part of a store that hides a conversation until it is whole."""

    async def create_hidden_conversation(self, row: ConversationRow) -> None:
        """Insert ``row``, hidden: it is appended to like others, and neither loaded nor listed.

        A hidden conversation is deleted when the store is opened again. Raises StoreError
        ``conversation_exists``.
        """
        ...

    async def reveal_conversation(self, conversation_id: str) -> ConversationRow | None:
        """Let everybody see a hidden conversation, and return it; None where there is none."""
        ...
