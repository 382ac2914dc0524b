"""Attachments of the memory store.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator, Sequence
from contextlib import aclosing

from msgspec import Struct

from blockwire.content import View
from blockwire.errors import StoreError
from blockwire.ports import Append, AttachmentQuota, AttachmentRow, AttachmentUsage, CheckProblem
from blockwire.stores.changes import conversation_not_found
from blockwire.stores.holds import Hold, hold_problems
from blockwire.stores.memory.base import MemoryBase
from blockwire.stores.memory.state import MemoryConversation
from blockwire.stores.uploads import (
    UploadMeter,
    attachment_not_found,
    even_chunks,
    quota_error,
)

__all__ = ["KeptAttachment", "MemoryAttachments"]


class KeptAttachment(Struct):
    """One attachment.

    Attributes:
        row: What is known of it.
        content: Shared with those of the same hash.
        home_id: The conversation that it was uploaded into, while that is there.
    """

    row: AttachmentRow
    content: bytes
    home_id: str | None


class MemoryAttachments(MemoryBase):
    """The methods of the port that concern attachments."""

    def __init__(self) -> None:
        super().__init__()
        self._attachments: dict[str, KeptAttachment] = {}
        # What each conversation names, there or not, and whether visibly.
        self._names: dict[str, dict[str, bool]] = {}
        # Of uploads under way.
        self._staged_bytes = 0

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
        """Keep the bytes of ``chunks``."""
        quota = quota or AttachmentQuota()
        tenant = self._tenant_for_upload(conversation_id, attachment_id)
        meter = UploadMeter(size_bytes_max)
        pieces: list[bytes] = []
        try:
            async with aclosing(even_chunks(chunks, meter)) as even:
                async for piece in even:
                    self._check_quota(tenant, meter.size_bytes, len(piece), quota)
                    pieces.append(piece)
                    self._staged_bytes += len(piece)
        finally:
            self._staged_bytes -= sum(map(len, pieces))
        tenant = self._tenant_for_upload(conversation_id, attachment_id)
        self._check_quota(tenant, meter.size_bytes, 0, quota)
        row = AttachmentRow(
            id=attachment_id,
            name=name,
            media_type=media_type or meter.media_type(claimed_type),
            size_bytes=meter.size_bytes,
            sha256=meter.sha256,
            created_at=created_at,
            tenant=tenant,
        )
        content = self._contents().get(row.sha256)
        if content is None:
            content = b"".join(pieces)
        self._attachments[attachment_id] = KeptAttachment(row, content, conversation_id)
        return row

    def _tenant_for_upload(self, conversation_id: str, attachment_id: str) -> str | None:
        conversation = self._find(conversation_id)
        if conversation is None:
            raise conversation_not_found()
        if attachment_id in self._attachments:
            raise StoreError("attachment_exists", "an attachment with this id exists")
        return conversation.row.tenant

    def _contents(self) -> dict[str, bytes]:
        return {kept.row.sha256: kept.content for kept in self._attachments.values()}

    def _usage(self, tenant: str | None) -> AttachmentUsage:
        return AttachmentUsage(
            sum(
                kept.row.size_bytes
                for kept in self._attachments.values()
                if kept.row.tenant == tenant
            ),
            sum(map(len, self._contents().values())) + self._staged_bytes,
        )

    def _check_quota(
        self, tenant: str | None, size_bytes: int, more_bytes: int, quota: AttachmentQuota
    ) -> None:
        usage = self._usage(tenant)
        if quota.tenant_bytes is not None and usage.tenant_bytes + size_bytes > quota.tenant_bytes:
            raise quota_error(of_tenant=True)
        if quota.total_bytes is not None and usage.total_bytes + more_bytes > quota.total_bytes:
            raise quota_error(of_tenant=False)

    async def load_attachment(
        self, attachment_id: str, *, view: View = "owner", conversation_id: str | None = None
    ) -> AttachmentRow | None:
        """Return the row that the view sees, or None."""
        self._check_open()
        kept = self._attachments.get(attachment_id)
        if kept is None:
            return None
        is_public = view == "public"
        holders = self._namers(kept, public_only=True) if is_public else self._holders(kept)
        if conversation_id is not None:
            return kept.row if conversation_id in holders else None
        return kept.row if view == "owner" or holders else None

    async def list_holders(self, attachment_id: str) -> Sequence[str]:
        """Return the ids of the conversations that hold the attachment."""
        self._check_open()
        kept = self._attachments.get(attachment_id)
        return [] if kept is None else sorted(self._holders(kept))

    async def list_attachments(self, conversation_id: str) -> Sequence[AttachmentRow]:
        """Return what the conversation holds, oldest first."""
        self._check_open()
        rows = [
            kept.row
            for kept in self._attachments.values()
            if conversation_id in self._holders(kept)
        ]
        return sorted(rows, key=lambda row: (row.created_at, row.id))

    async def read_attachment(self, attachment_id: str, *, offset: int, bytes_max: int) -> bytes:
        """Return bytes of the content from ``offset``."""
        self._check_open()
        kept = self._attachments.get(attachment_id)
        if kept is None:
            raise attachment_not_found()
        return kept.content[offset : offset + bytes_max]

    async def measure_attachments(self, tenant: str | None) -> AttachmentUsage:
        """Return how much is kept."""
        self._check_open()
        return self._usage(tenant)

    async def collect_attachments(self, *, created_before: int, limit: int) -> int:
        """Remove old attachments that no event names."""
        self._check_open()
        found = sorted(
            (kept.row.created_at, kept.row.id)
            for kept in self._attachments.values()
            if not self._namers(kept) and kept.row.created_at < created_before
        )[:limit]
        for _, attachment_id in found:
            del self._attachments[attachment_id]
        return len(found)

    def _namers(self, kept: KeptAttachment, *, public_only: bool = False) -> set[str]:
        """Return the conversations of its tenant that name an attachment."""
        return {
            conversation_id
            for conversation_id, names in self._names.items()
            if kept.row.id in names
            and (names[kept.row.id] or not public_only)
            and self._conversations[conversation_id].row.tenant == kept.row.tenant
        }

    def _holders(self, kept: KeptAttachment) -> set[str]:
        return {*self._namers(kept), *([] if kept.home_id is None else [kept.home_id])}

    def _hold_attachments(self, change: Append) -> None:
        names = self._names.setdefault(change.conversation_id, {})
        for attachment_id, is_public in change.attachments:
            names[attachment_id] = names.get(attachment_id, False) or is_public

    def _hold_problems(self, conversation: MemoryConversation) -> Iterator[CheckProblem]:
        names = self._names.get(conversation.row.id, {})

        def find_hold(name: str) -> Hold:
            if name in names:
                return "public" if names[name] else "private"
            kept = self._attachments.get(name)
            is_own = kept is not None and kept.home_id == conversation.row.id
            return "none" if is_own else "foreign"

        for row, _ in conversation.messages.values():
            yield from hold_problems(conversation.row.id, row.message, find_hold)

    def _release_attachments(self, conversation_id: str) -> None:
        held = [
            kept for kept in self._attachments.values() if conversation_id in self._holders(kept)
        ]
        self._names.pop(conversation_id, None)
        for kept in held:
            if kept.home_id == conversation_id:
                kept.home_id = None
            if not self._holders(kept):
                del self._attachments[kept.row.id]
