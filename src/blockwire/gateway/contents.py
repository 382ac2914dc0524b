"""Contents of attachments, a piece at a time: for downloads and for engines.

Spec: docs/spec/gateway/attachments.md, "Download"; docs/spec/gateway/engines.md, "Files".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, cast

from blockwire.content import Block, Message
from blockwire.errors import StoreError
from blockwire.jsontext import Json
from blockwire.ports import AttachmentRow, Store

__all__ = ["ConversationFiles", "read_content", "without_places"]

READ_BYTES: Final = 262_144
"""Content that is read from the store at a time."""

_PLACES: Final = frozenset({"path", "url"})


async def read_content(
    store: Store, attachment_id: str, start: int, end: int
) -> AsyncGenerator[bytes, None]:
    """Yield the bytes from ``start`` to before ``end``.

    Raises:
        StoreError: ``attachment_not_found`` once it is deleted.
    """
    while start < end:
        # To the end of a chunk of the store, so that none is read twice.
        bytes_max = min(end - start, READ_BYTES - start % READ_BYTES)
        data = await store.read_attachment(attachment_id, offset=start, bytes_max=bytes_max)
        if not data:
            raise StoreError("store_corrupt", "an attachment is shorter than it should be")
        yield data
        start += len(data)


def without_places(message: Message) -> Message:
    """Return a message whose attachments say nothing of where their files are.

    Only an engine says so; what a message claims could be any file of this machine.
    """
    blocks = cast("list[Block]", message["content"])
    if not any(block["type"] == "attachment" and block.keys() & _PLACES for block in blocks):
        return message
    content: list[Json] = [
        {name: value for name, value in block.items() if name not in _PLACES}
        if block["type"] == "attachment"
        else block
        for block in blocks
    ]
    return {**message, "content": content}


class ConversationFiles:
    """What an engine may read of attachments: those that the conversation holds.

    Args:
        store: Has them.
        conversation_id: Where the turn belongs.
    """

    def __init__(self, store: Store, conversation_id: str) -> None:
        self._store = store
        self._conversation_id = conversation_id

    async def find(self, attachment_id: str) -> AttachmentRow | None:
        """Return what is known of an attachment, or None."""
        return await self._store.load_attachment(
            attachment_id, conversation_id=self._conversation_id
        )

    async def read(self, row: AttachmentRow) -> AsyncGenerator[bytes, None]:
        """Yield the content of what was found."""
        async with aclosing(read_content(self._store, row.id, 0, row.size_bytes)) as pieces:
            async for data in pieces:
                yield data
