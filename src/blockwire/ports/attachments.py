"""Files that messages refer to.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from typing import Protocol

from msgspec import Struct

__all__ = ["AttachmentRow", "AttachmentStore"]


class AttachmentRow(Struct, frozen=True, kw_only=True):
    """What is known of one attachment; its bytes are read apart.

    Attributes:
        id: ``att_...``; the same bytes may have several.
        name: File name that people see.
        media_type: Sniffed from the content, else ``application/octet-stream``.
        size_bytes: Of the content.
        sha256: Of the content, hexadecimal.
        created_at: Unix milliseconds.
    """

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: int


class AttachmentStore(Protocol):
    """The part of a store that keeps attachments.

    A conversation *holds* an attachment that was uploaded into it or that a message of it names.
    What no conversation holds any more is gone.
    """

    async def write_attachment(  # noqa: PLR0913 - what is known of a file
        self,
        conversation_id: str,
        *,
        attachment_id: str,
        name: str,
        media_type: str | None,
        created_at: int,
        chunks: AsyncIterable[bytes],
        size_bytes_max: int,
    ) -> AttachmentRow:
        """Store the bytes of ``chunks`` as they arrive; visible once all are durable.

        ``media_type`` None has it sniffed from the first bytes. Nothing remains of an upload that
        fails. Raises StoreError ``conversation_not_found``, ``attachment_exists``,
        ``attachment_too_large``.
        """
        ...

    async def load_attachment(self, attachment_id: str) -> AttachmentRow | None:
        """Return the row, or None."""
        ...

    async def list_holders(self, attachment_id: str) -> Sequence[str]:
        """Return the ids of the conversations that hold the attachment."""
        ...

    async def list_attachments(self, conversation_id: str) -> Sequence[AttachmentRow]:
        """Return what the conversation holds, oldest first."""
        ...

    async def read_attachment(self, attachment_id: str, *, offset: int, bytes_max: int) -> bytes:
        """Return bytes of the content from ``offset``; fewer than ``bytes_max`` only at the end."""
        ...
