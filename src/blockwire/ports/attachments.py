"""Files that messages refer to.

Spec: docs/spec/gateway/attachments.md.

A conversation *holds* an attachment that was uploaded into it or that an event of it names
(:attr:`~blockwire.ports.Append.attachments`). What is not named for long enough is collected; what
no conversation holds any more is gone. The same bytes are kept once, however many ids they have.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from typing import Protocol

from msgspec import Struct

from blockwire.content import View

__all__ = ["AttachmentQuota", "AttachmentRow", "AttachmentStore", "AttachmentUsage"]


class AttachmentRow(Struct, frozen=True, kw_only=True):
    """What is known of one attachment; its bytes are read apart.

    Attributes:
        id: ``att_...``; the same bytes may have several.
        name: File name that people see.
        media_type: Sniffed from the content, else ``application/octet-stream``.
        size_bytes: Of the content.
        sha256: Of the content, hexadecimal.
        created_at: Unix milliseconds.
        tenant: That of the conversation it was uploaded into; only conversations of this tenant
            come to hold it.
    """

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: int
    tenant: str | None = None


class AttachmentUsage(Struct, frozen=True):
    """How much is kept.

    Attributes:
        tenant_bytes: Of all attachments of one tenant, each counted in full.
        total_bytes: Of all contents of all tenants, as they lie in the store, with uploads under
            way.
    """

    tenant_bytes: int
    total_bytes: int


class AttachmentQuota(Struct, frozen=True, kw_only=True):
    """What all attachments must stay below, in bytes, with a new one; None is no bound.

    Attributes:
        tenant_bytes: Those of the conversation's tenant.
        total_bytes: All contents in the store.
    """

    tenant_bytes: int | None = None
    total_bytes: int | None = None


class AttachmentStore(Protocol):
    """The part of a store that keeps attachments."""

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
        quota: AttachmentQuota | None = None,
        claimed_type: str | None = None,
    ) -> AttachmentRow:
        """Store the bytes of ``chunks`` as they arrive; visible once all are durable.

        ``media_type`` None has it sniffed from the content; ``claimed_type`` may make that more
        precise (:mod:`blockwire.content.filetypes`). Other changes are committed in between: no
        single commit takes more than a chunk. Nothing remains of an upload that fails, whoever
        ends it.

        Raises StoreError ``conversation_not_found``, ``attachment_exists``,
        ``attachment_too_large``, ``quota_exceeded`` (of the tenant), ``storage_exceeded`` (of all
        tenants), and whatever ``chunks`` raises.
        """
        ...

    async def load_attachment(
        self, attachment_id: str, *, view: View = "owner", conversation_id: str | None = None
    ) -> AttachmentRow | None:
        """Return the row, or None where there is none that the view sees.

        The public sees what an event names that it gets itself. With ``conversation_id``, only
        what this conversation holds.
        """
        ...

    async def list_holders(self, attachment_id: str) -> Sequence[str]:
        """Return the ids of the conversations that hold the attachment."""
        ...

    async def list_attachments(self, conversation_id: str) -> Sequence[AttachmentRow]:
        """Return what the conversation holds, oldest first."""
        ...

    async def read_attachment(self, attachment_id: str, *, offset: int, bytes_max: int) -> bytes:
        """Return bytes of the content from ``offset``; fewer than ``bytes_max`` only at the end.

        Raises StoreError ``attachment_not_found``.
        """
        ...

    async def measure_attachments(self, tenant: str | None) -> AttachmentUsage:
        """Return how much is kept of ``tenant`` (None: of conversations without), and in all."""
        ...

    async def collect_attachments(self, *, created_before: int, limit: int) -> int:
        """Remove attachments that were created before and that no event names, oldest first.

        Returns how many, at most ``limit``. It and an append that names one of them exclude each
        other: the append either comes first and keeps it, or finds nothing.
        """
        ...
