"""Attachments of the SQLite store.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterable, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final

from blockwire.content import View
from blockwire.errors import StoreError
from blockwire.ports import AttachmentQuota, AttachmentRow, AttachmentUsage
from blockwire.stores.sqlite.base import SqliteBase
from blockwire.stores.sqlite.errors import damaged
from blockwire.stores.sqlite.filing import Upload
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.reader import snapshot
from blockwire.stores.uploads import (
    CHUNK_BYTES,
    UploadMeter,
    attachment_not_found,
    even_chunks,
)

__all__ = ["SqliteAttachments"]

_COLUMNS: Final = AttachmentRow.__struct_fields__


class SqliteAttachments(SqliteBase):
    """The methods of the port that concern attachments."""

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
        """Store the bytes of ``chunks``, a commit each 256 KiB."""
        writer = self._open_writer()
        meter = UploadMeter(size_bytes_max)
        upload = Upload(conversation_id, quota or AttachmentQuota())
        try:
            await writer.perform(lambda ledger: ledger.filing.begin(upload, attachment_id))
            async with aclosing(even_chunks(chunks, meter)) as even:
                async for data in even:
                    await self._write_chunk(upload, data, meter.size_bytes)
            row = AttachmentRow(
                id=attachment_id,
                name=name,
                media_type=media_type or meter.media_type(claimed_type),
                size_bytes=meter.size_bytes,
                sha256=meter.sha256,
                created_at=created_at,
            )
            stored = await writer.perform(lambda ledger: ledger.filing.finish(upload, row))
        except BaseException as error:
            # Of a store that was closed, the next start removes what remains.
            with suppress(StoreError):
                # Not waited for, as the caller may be cancelled; what it does next comes after it.
                discarded = writer.perform(lambda ledger: ledger.filing.discard(upload))
                discarded.add_done_callback(_ignore)
                if isinstance(error, Exception):
                    await self.purge_attachments()
            raise
        await self.purge_attachments()
        return stored

    async def _write_chunk(self, upload: Upload, data: bytes, size_bytes: int) -> None:
        number = upload.chunk_count
        upload.chunk_count += 1
        await self._open_writer().perform(
            lambda ledger: ledger.filing.write(upload, number, data, size_bytes),
            size_bytes=len(data),
        )

    async def load_attachment(
        self, attachment_id: str, *, view: View = "owner", conversation_id: str | None = None
    ) -> AttachmentRow | None:
        """Return the row that the view sees, or None."""
        return await self._open_readers().run(
            _load_attachment, attachment_id, view, conversation_id
        )

    async def list_holders(self, attachment_id: str) -> Sequence[str]:
        """Return the ids of the conversations that hold the attachment."""
        return await self._open_readers().run(_list_holders, attachment_id)

    async def list_attachments(self, conversation_id: str) -> Sequence[AttachmentRow]:
        """Return what the conversation holds, oldest first."""
        return await self._open_readers().run(_list_attachments, conversation_id)

    async def read_attachment(self, attachment_id: str, *, offset: int, bytes_max: int) -> bytes:
        """Return bytes of the content from ``offset``."""
        return await self._open_readers().run(_read_attachment, attachment_id, offset, bytes_max)

    async def measure_attachments(self, tenant: str | None) -> AttachmentUsage:
        """Return how much is kept."""
        return await self._open_readers().run(_measure_attachments, tenant)

    async def collect_attachments(self, *, created_before: int, limit: int) -> int:
        """Remove old attachments that no event names, in one transaction."""
        count = await self._open_writer().perform(
            lambda ledger: ledger.filing.collect(created_before, limit)
        )
        await self.purge_attachments()
        return count

    async def purge_attachments(self) -> None:
        """Remove now the content that would be removed in the next quiet moments."""
        while await self._open_writer().perform(lambda ledger: ledger.purge()):
            pass


def _ignore(done: asyncio.Future[None]) -> None:
    # What cannot be discarded now is removed at the next start.
    if not done.cancelled():
        done.exception()


def _load_attachment(
    connection: sqlite3.Connection, attachment_id: str, view: View, conversation_id: str | None
) -> AttachmentRow | None:
    parameters = {
        "id": attachment_id,
        "conversation_id": conversation_id,
        "public_only": int(view == "public"),
    }
    name = f"load_attachment_{view}" if conversation_id is None else "load_attachment_held"
    row = connection.execute(SQL[name], parameters).fetchone()
    return None if row is None else _row(row)


def _row(values: Sequence[Any]) -> AttachmentRow:
    return AttachmentRow(**dict(zip(_COLUMNS, values, strict=True)))


def _list_holders(connection: sqlite3.Connection, attachment_id: str) -> list[str]:
    rows = connection.execute(SQL["list_holders"], {"id": attachment_id})
    return sorted({conversation_id for (conversation_id,) in rows})


def _list_attachments(connection: sqlite3.Connection, conversation_id: str) -> list[AttachmentRow]:
    keys = {"conversation_id": conversation_id}
    rows = {_row(values) for values in connection.execute(SQL["list_attachments"], keys)}
    return sorted(rows, key=lambda row: (row.created_at, row.id))


def _measure_attachments(connection: sqlite3.Connection, tenant: str | None) -> AttachmentUsage:
    keys = {"tenant": tenant}
    return AttachmentUsage(*connection.execute(SQL["measure_attachments"], keys).fetchone())


def _read_attachment(
    connection: sqlite3.Connection, attachment_id: str, offset: int, bytes_max: int
) -> bytes:
    pieces: list[bytes] = []
    with snapshot(connection):
        found = connection.execute(SQL["find_content"], {"id": attachment_id}).fetchone()
        if found is None:
            raise attachment_not_found()
        blob_no, size_bytes = found
        end = min(offset + bytes_max, size_bytes)
        while offset < end:
            chunk_no, start = divmod(offset, CHUNK_BYTES)
            keys = {"blob_no": blob_no, "chunk_no": chunk_no}
            chunk = connection.execute(SQL["read_chunk"], keys).fetchone()
            piece = b"" if chunk is None else chunk[0][start : start + end - offset]
            if not piece:
                raise damaged()
            pieces.append(piece)
            offset += len(piece)
    return b"".join(pieces)
