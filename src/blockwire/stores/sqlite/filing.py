"""What the writer does with attachments, inside the transaction that is open.

Spec: docs/spec/gateway/attachments.md, "Storing". Lives in the writer's thread. Content that nobody
has any more loses its hash at once, in the transaction that decided it, and its chunks a few at a
time: zeroing a gigabyte in one commit would hold up everybody.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from blockwire.errors import StoreError
from blockwire.ports import AttachmentQuota, AttachmentRow
from blockwire.stores.changes import conversation_not_found
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.uploads import quota_error

__all__ = ["Filing", "Upload"]

# Chunks that one transaction removes: 4 MiB.
_CHUNKS_PER_PURGE: Final = 16


class Upload:
    """One upload, on its way from the event loop through the writer's thread.

    Attributes:
        blob_no: Its content, once the writer began it.
        attachment_no: What it became, once the writer finished it.
        tenant: Whose it will be.
        chunk_count: How many chunks were given to the writer.
    """

    __slots__ = ("attachment_no", "blob_no", "chunk_count", "conversation_id", "quota", "tenant")

    def __init__(self, conversation_id: str, quota: AttachmentQuota) -> None:
        self.conversation_id = conversation_id
        self.quota = quota
        self.blob_no: int | None = None
        self.attachment_no: int | None = None
        self.tenant: str | None = None
        self.chunk_count = 0


class Filing:
    """Blobs, attachments and holds, on the writer's connection.

    Attributes:
        abandoned: Numbers of blobs whose chunks are to be removed.
        has_removed: Whether chunks were removed that may still be in the WAL.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute(SQL["list_abandoned"])
        self.has_removed = False
        # What uploads got in the open transaction, as they were before.
        self._changed: list[tuple[Upload, int | None, int | None]] = []
        self.abandoned: dict[int, None] = dict.fromkeys(number for (number,) in rows)

    def keep(self) -> None:
        """Take what happened for true: the transaction was committed."""
        self._changed.clear()

    def forget(self) -> None:
        """Take back what uploads got: the transaction was rolled back, and its numbers are free."""
        for upload, blob_no, attachment_no in reversed(self._changed):
            upload.blob_no, upload.attachment_no = blob_no, attachment_no
        self._changed.clear()

    # uploads ------------------------------------------------------------------------------
    def begin(self, upload: Upload, attachment_id: str) -> None:
        """Make room for the content; refuses what could not be finished."""
        _, upload.tenant = self._check_place(upload.conversation_id, attachment_id)
        self._changed.append((upload, upload.blob_no, upload.attachment_no))
        upload.blob_no = self._connection.execute(SQL["insert_blob"]).lastrowid

    def _check_place(self, conversation_id: str, attachment_id: str) -> tuple[int, str | None]:
        keys = {"id": conversation_id}
        found = self._connection.execute(SQL["tenant_of_conversation"], keys).fetchone()
        if found is None:
            raise conversation_not_found()
        keys = {"id": attachment_id}
        if self._connection.execute(SQL["find_attachment"], keys).fetchone() is not None:
            raise StoreError("attachment_exists", "an attachment with this id exists")
        number, tenant = found
        return number, tenant

    def _check_quota(
        self, tenant: str | None, size_bytes: int, more_bytes: int, quota: AttachmentQuota
    ) -> None:
        keys = {"tenant": tenant}
        tenant_bytes, total_bytes = self._connection.execute(
            SQL["measure_attachments"], keys
        ).fetchone()
        if quota.tenant_bytes is not None and tenant_bytes + size_bytes > quota.tenant_bytes:
            raise quota_error(of_tenant=True)
        if quota.total_bytes is not None and total_bytes + more_bytes > quota.total_bytes:
            raise quota_error(of_tenant=False)

    def write(self, upload: Upload, chunk_no: int, data: bytes, size_bytes: int) -> None:
        """Add a chunk; ``size_bytes`` is what the content has as far as it is known."""
        self._check_quota(upload.tenant, size_bytes, len(data), upload.quota)
        keys = {"blob_no": upload.blob_no}
        parameters = {**keys, "chunk_no": chunk_no, "data": data}
        self._connection.execute(SQL["insert_chunk"], parameters)
        self._connection.execute(SQL["resize_blob"], {**keys, "more_bytes": len(data)})

    def finish(self, upload: Upload, row: AttachmentRow) -> AttachmentRow:
        """Make the content an attachment; return it as stored."""
        conversation_no, tenant = self._check_place(upload.conversation_id, row.id)
        self._check_quota(tenant, row.size_bytes, 0, upload.quota)
        blob_no = upload.blob_no
        keys = {"digest": row.sha256}
        same = self._connection.execute(SQL["find_blob"], keys).fetchone()
        if same is None:
            self._connection.execute(SQL["seal_blob"], {**keys, "blob_no": blob_no})
        else:
            self._abandon(blob_no)
            (blob_no,) = same
        parameters = {
            "id": row.id,
            "blob_no": blob_no,
            "conversation_no": conversation_no,
            "tenant": tenant,
            "name": row.name,
            "media_type": row.media_type,
            "size_bytes": row.size_bytes,
            "created_at": row.created_at,
        }
        cursor = self._connection.execute(SQL["insert_attachment"], parameters)
        self._changed.append((upload, upload.blob_no, upload.attachment_no))
        upload.attachment_no = cursor.lastrowid
        return msgspec.structs.replace(row, tenant=tenant)

    def discard(self, upload: Upload) -> None:
        """Give an upload up, also one whose caller left before it heard of the end."""
        if upload.attachment_no is not None:
            keys = {"no": upload.attachment_no}
            if self._connection.execute(SQL["find_unnamed"], keys).fetchone() is not None:
                self._delete(upload.attachment_no)
        self._abandon(upload.blob_no)

    def _abandon(self, blob_no: int | None) -> None:
        if blob_no is not None:
            self.abandoned[blob_no] = None

    def purge(self) -> bool:
        """Remove some chunks of abandoned blobs; return whether there are more."""
        if not self.abandoned:
            return False
        blob_no = next(iter(self.abandoned))
        keys = {"blob_no": blob_no}
        if self._connection.execute(SQL["find_abandoned"], keys).fetchone() is None:
            # Gone, or the transaction that abandoned it was rolled back.
            del self.abandoned[blob_no]
            return bool(self.abandoned)
        chunks = self._connection.execute(
            SQL["list_chunks"], {**keys, "limit": _CHUNKS_PER_PURGE}
        ).fetchall()
        for chunk_no, _ in chunks:
            self._connection.execute(SQL["delete_chunk"], {**keys, "chunk_no": chunk_no})
        self.has_removed = self.has_removed or bool(chunks)
        less_bytes = sum(size_bytes for _, size_bytes in chunks)
        self._connection.execute(SQL["resize_blob"], {**keys, "more_bytes": -less_bytes})
        if len(chunks) < _CHUNKS_PER_PURGE:
            self._connection.execute(SQL["delete_blob"], keys)
        return True

    # holds --------------------------------------------------------------------------------
    def hold(self, conversation_no: int, named: Sequence[tuple[str, bool]]) -> None:
        """Note what the conversation names; it holds what of that is there, and of its tenant."""
        for attachment_id, is_public in named:
            keys = {"id": attachment_id}
            parameters = {**keys, "conversation_no": conversation_no, "is_public": int(is_public)}
            self._connection.execute(SQL["hold_attachment"], parameters)
            self._connection.execute(SQL["name_attachment"], parameters)

    def list_held(self, conversation_id: str) -> list[int]:
        """Return what the conversation holds, for :meth:`release` after its deletion."""
        keys = {"conversation_id": conversation_id}
        return sorted({number for (number,) in self._connection.execute(SQL["list_held"], keys)})

    def release(self, numbers: Sequence[int]) -> bool:
        """Remove those that nobody holds any more; return whether there were any.

        Args:
            numbers: What a conversation held that is gone now.
        """
        is_any = False
        for number in numbers:
            keys = {"no": number}
            if self._connection.execute(SQL["find_hold"], keys).fetchone() is not None:
                continue
            if not self._connection.execute(SQL["unname_attachment"], keys).rowcount:
                self._delete(number)
                is_any = True
        return is_any

    def collect(self, created_before: int, limit: int) -> int:
        """Remove old attachments that no event names; return how many."""
        keys = {"created_before": created_before, "limit": limit}
        numbers = self._connection.execute(SQL["list_unnamed"], keys).fetchall()
        for (number,) in numbers:
            self._delete(number)
        return len(numbers)

    def _delete(self, number: int) -> None:
        keys = {"no": number}
        (blob_no,) = self._connection.execute(SQL["load_attachment_blob"], keys).fetchone()
        self._connection.execute(SQL["delete_attachment"], keys)
        blob_keys = {"blob_no": blob_no}
        if self._connection.execute(SQL["abandon_blob"], blob_keys).rowcount:
            self._abandon(blob_no)
