"""Attachments, as routes ask for them: up, down, and out of messages.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from functools import cached_property, partial

from blockwire.content import View
from blockwire.content.convert import RECORD_SOURCE, source_member
from blockwire.content.inline import InlineFile, extract_inline
from blockwire.content.naming import FILE_NAME_DEFAULT, safe_file_name
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.limits import LimitError
from blockwire.gateway.contents import read_content
from blockwire.gateway.core import GatewayCore
from blockwire.jsontext import Json
from blockwire.ports import AttachmentQuota, AttachmentRow

__all__ = ["AttachmentMethods", "attachment_shape"]


def attachment_shape(row: AttachmentRow) -> dict[str, Json]:
    """Return what clients are told of an attachment."""
    return {
        "id": row.id,
        "name": row.name,
        "media_type": row.media_type,
        "size_bytes": row.size_bytes,
        "sha256": row.sha256,
        "created_at": row.created_at,
    }


class AttachmentMethods(GatewayCore):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that is about attachments."""

    @cached_property
    def _uploads(self) -> Counter[str | None]:
        """Uploads under way, by tenant."""
        return Counter()

    @contextmanager
    def _uploading(self, tenant: str | None) -> Iterator[None]:
        """Count an upload. Raises LimitError ``too_many_uploads``."""
        total, own = self._uploads.total(), self._uploads[tenant]
        if total >= self.settings.uploads_max or own >= self.settings.uploads_tenant_max:
            raise LimitError("too_many_uploads", f"{own} uploads of yours are under way")
        self._uploads[tenant] += 1
        try:
            yield
        finally:
            self._uploads[tenant] -= 1
            # So that it does not grow with tenants of the past.
            self._uploads += Counter()

    async def write_attachment(
        self,
        conversation_id: str,
        chunks: AsyncIterable[bytes],
        *,
        name: str | None,
        claimed_type: str | None,
        tenant: str | None,
    ) -> dict[str, Json]:
        """Store a file and return what is known of it.

        Args:
            conversation_id: Where messages may name it first.
            chunks: Its content as it arrives.
            name: As the sender calls it; made safe.
            claimed_type: What the sender says it is.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``too_many_uploads``.
            StoreError: ``attachment_too_large``, ``quota_exceeded``, ``storage_exceeded``.
        """
        self._running_tasks()
        async with self._registry.using(conversation_id, tenant):
            pass
        with self._uploading(tenant):
            row = await self._write(
                conversation_id,
                chunks,
                attachment_id=self._ids.new_id("attachment"),
                name=safe_file_name(name or FILE_NAME_DEFAULT),
                claimed_type=claimed_type,
            )
        self._reach("acknowledge.before")
        return attachment_shape(row)

    async def _write(
        self,
        conversation_id: str,
        chunks: AsyncIterable[bytes],
        *,
        attachment_id: str,
        name: str,
        claimed_type: str | None,
    ) -> AttachmentRow:
        return await self.store.write_attachment(
            conversation_id,
            attachment_id=attachment_id,
            name=name,
            media_type=None,
            claimed_type=claimed_type,
            created_at=self._clock.now_ms(),
            chunks=chunks,
            size_bytes_max=self.settings.attachment_bytes_max,
            quota=self.attachment_quota(),
        )

    def attachment_quota(self) -> AttachmentQuota:
        """Return what all attachments must stay below."""
        return AttachmentQuota(
            tenant_bytes=self.settings.attachments_tenant_bytes_max or None,
            total_bytes=self.settings.attachments_bytes_max or None,
        )

    async def find_attachment(
        self,
        attachment_id: str,
        *,
        view: View,
        tenant: str | None,
        conversation_id: str | None = None,
    ) -> AttachmentRow:
        """Return what is known of an attachment.

        Args:
            attachment_id: Which.
            view: For whom: the public gets what the public parts of conversations name.
            tenant: Whose it must be.
            conversation_id: The only conversation that the caller sees, if so.

        Raises:
            RemoteProtocolError: ``attachment_not_found``.
        """
        row = await self.store.load_attachment(
            attachment_id, view=view, conversation_id=conversation_id
        )
        if row is None or tenant not in {None, row.tenant}:
            raise RemoteProtocolError("attachment_not_found", "there is no such attachment")
        return row

    async def read_attachment(
        self, attachment_id: str, start: int, end: int
    ) -> AsyncGenerator[bytes, None]:
        """Yield the bytes from ``start`` to before ``end``, a piece at a time.

        Raises:
            StoreError: ``attachment_not_found`` once it is deleted.
        """
        async with aclosing(read_content(self.store, attachment_id, start, end)) as pieces:
            async for data in pieces:
                yield data

    # out of messages ----------------------------------------------------------------------
    def extract_inline(self, content: Json) -> tuple[Json, list[InlineFile]]:
        """Return the content of a message with ids in place of inline files, and those files.

        Raises:
            RemoteProtocolError: ``invalid_member``, ``limit_exceeded``, ``attachment_too_large``.
        """
        content, files = extract_inline(content, partial(self._ids.new_id, "attachment"))
        for file in files:
            if len(file.data) > self.settings.attachment_bytes_max:
                raise RemoteProtocolError(
                    "attachment_too_large",
                    f"an attachment may have {self.settings.attachment_bytes_max} bytes",
                )
        return content, files

    def extract_message(self, message: Json) -> tuple[Json, list[InlineFile]]:
        """Return a message, or whatever has ``content``, without inline files, and those files.

        Raises:
            RemoteProtocolError: As of :meth:`extract_inline`.
        """
        if not isinstance(message, dict) or "content" not in message:
            return message, []
        content, files = self.extract_inline(message["content"])
        if not files:
            return message, []
        # Source texts hold the same files once more.
        sources = {RECORD_SOURCE, source_member("content")}
        rest = {name: value for name, value in message.items() if name not in sources}
        return {**rest, "content": content}, files

    async def store_inline(self, conversation_id: str, files: Sequence[InlineFile]) -> None:
        """Store what was taken out of a message, before the message that names it.

        What is stored when a later one fails is collected like whatever no message names.

        Raises:
            StoreError: ``conversation_not_found``, ``quota_exceeded``, ``storage_exceeded``.
        """
        for file in files:
            async with aclosing(_whole(file.data)) as chunks:
                await self._write(
                    conversation_id,
                    chunks,
                    attachment_id=file.attachment_id,
                    name=file.name,
                    claimed_type=file.media_type,
                )


async def _whole(data: bytes) -> AsyncGenerator[bytes, None]:
    yield data
