"""The items of an archive on their way into conversations that nobody sees yet.

Spec: docs/spec/gateway/exports.md, "Import".
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncGenerator
from typing import Final

import anyio

from blockwire.archives import (
    ArchiveError,
    ArchiveItem,
    AttachmentStarted,
    ConversationCompleted,
    ConversationStarted,
    IgnoredLine,
    MessageLine,
    TurnLine,
)
from blockwire.errors import BlockwireError
from blockwire.gateway.imports.adapting import adapted_row
from blockwire.gateway.imports.conversation import ImportParts, IncomingConversation
from blockwire.ports.imports import Imported

__all__ = ["Importer", "Target"]

IGNORED_TYPES_MAX: Final = 32
"""Types of unknown lines that are told by name."""

_log: Final = logging.getLogger(__name__)


class Importer:
    """Takes the items of one archive.

    Args:
        target: Where they go; None only proves the archive.
        conversations_max: Conversations of one archive.

    Attributes:
        imported: The conversations that are complete.
        ignored: How often each unknown type of line came.
    """

    def __init__(self, target: Target | None, *, conversations_max: int) -> None:
        self._target = target
        self._conversations_max = conversations_max
        self._digest = hashlib.sha256()
        self.imported: list[Imported] = []
        self.ignored: dict[str, int] = {}

    @property
    def digest(self) -> str:
        """What was imported, whenever and by whatever program its archive was written."""
        return self._digest.hexdigest()

    async def take_all(self, items: AsyncGenerator[ArchiveItem, None]) -> None:
        """Take all items."""
        count = 0
        async for item in items:
            match item:
                case IgnoredLine(type=kind):
                    name = kind if len(self.ignored) < IGNORED_TYPES_MAX else "others"
                    self.ignored[name] = self.ignored.get(name, 0) + 1
                case ConversationStarted():
                    count += 1
                    if count > self._conversations_max:
                        raise ArchiveError(
                            "limit_exceeded",
                            f"over {self._conversations_max} conversations",
                            item.line,
                        )
                case ConversationCompleted(sha256=sha256):
                    self._digest.update(sha256.encode())
            if self._target is not None:
                imported = await self._target.take(item, items)
                if imported is not None:
                    self.imported.append(imported)

    def keep(self) -> None:
        """Know that what was imported is revealed."""
        if self._target is not None:
            self._target.hidden_ids.clear()

    async def give_up(self) -> None:
        """Delete what was stored so far; harmless when repeated."""
        if self._target is not None:
            await self._target.delete()


class Target:
    """Stores the conversations of one archive, hidden.

    Attributes:
        hidden_ids: Conversations that were made and are not revealed.
    """

    def __init__(self, parts: ImportParts, tenant: str | None) -> None:
        self._parts = parts
        self._tenant = tenant
        self._one: IncomingConversation | None = None
        self.hidden_ids: list[str] = []

    async def take(
        self, item: ArchiveItem, items: AsyncGenerator[ArchiveItem, None]
    ) -> Imported | None:
        """Take one item, and of ``items`` what belongs to it; return a complete conversation."""
        one = self._one
        match item:
            case ConversationStarted():
                await self._start(item)
            case AttachmentStarted() if one is not None:
                await one.add_attachment(item, items)
            case MessageLine() if one is not None:
                await one.add_message(item)
            case TurnLine() if one is not None:
                one.turn_count += 1
            case ConversationCompleted() if one is not None:
                self._one = None
                return await one.complete()
            case _:
                pass
        return None

    async def _start(self, item: ConversationStarted) -> None:
        parts = self._parts
        row = adapted_row(
            item, parts.ids.new_id("conversation"), parts.clock.now_ms(), self._tenant
        )
        self.hidden_ids.append(row.id)
        await parts.store.create_hidden_conversation(row)
        self._one = IncomingConversation(parts, row, str(item.conversation["id"]))

    async def delete(self) -> None:
        """Delete the conversations that are not revealed."""
        with anyio.CancelScope(shield=True):
            while self.hidden_ids:
                try:
                    await self._parts.store.delete_conversation(self.hidden_ids.pop())
                except BlockwireError as error:
                    # The next start deletes it.
                    _log.warning("a part of an import stays hidden: %s", error.code)
