"""Attachments as engines find them: a small store of them, blocks that name them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from blockwire.content.filetypes import sniff_type
from blockwire.errors import StoreError
from blockwire.ports import AttachmentRow

PNG = b"\x89PNG\r\n\x1a\n rest"


class Files:
    """Implements :class:`~blockwire.ports.EngineFiles`; ``broken`` ones cannot be read."""

    def __init__(self, contents: dict[str, bytes], *, broken: frozenset[str] = frozenset()) -> None:
        self._contents = contents
        self._broken = broken
        self.reads: list[str] = []

    async def find(self, attachment_id: str) -> AttachmentRow | None:
        content = self._contents.get(attachment_id)
        if content is None:
            return None
        return AttachmentRow(
            id=attachment_id,
            name=f"../{attachment_id}.bin",
            media_type=sniff_type(content[:100]),
            size_bytes=len(content),
            sha256="0" * 64,
            created_at=1,
        )

    async def read(self, row: AttachmentRow) -> AsyncGenerator[bytes, None]:
        self.reads.append(row.id)
        content = self._contents[row.id]
        yield content[:3]
        if row.id in self._broken:
            raise StoreError("attachment_not_found", "it was deleted")
        yield content[3:]


def attachment(name: str = "att_a", **members: Any) -> dict[str, Any]:
    return {
        "id": f"b_{name}",
        "type": "attachment",
        "attachment_id": name,
        "name": f"{name}.png",
        "media_type": "image/png",
        **members,
    }
