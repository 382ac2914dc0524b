"""Exports and imports through the service, as its routes do them."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from blockwire.archives import ArchiveReader, MessageLine
from blockwire.content import Message, View
from blockwire.gateway.exports import ExportFormat
from blockwire.gateway.imports.methods import ImportResult
from blockwire.gateway.service import GatewayService
from blockwire.jsontext import ENVELOPED_DEPTH_MAX, decode_json


async def exported(
    service: GatewayService,
    conversation_id: str,
    export_format: ExportFormat = "jsonl",
    *,
    view: View = "owner",
    tenant: str | None = None,
) -> bytes:
    """Return a whole export."""
    async with service.exporting(
        conversation_id, export_format, view=view, tenant=tenant
    ) as export:
        return b"".join([piece async for piece in export.pieces])


async def exported_json(service: GatewayService, conversation_id: str, view: View) -> Any:
    """Return the document of an export as JSON."""
    data = await exported(service, conversation_id, "json", view=view)
    return decode_json(data, depth_max=ENVELOPED_DEPTH_MAX)


def archived_messages(archive: bytes) -> list[Message]:
    """Return the messages of an archive."""
    reader = ArchiveReader()
    items = [*reader.receive_data(archive), *reader.receive_eof()]
    return [item.message for item in items if isinstance(item, MessageLine)]


async def pieces(data: bytes, size_bytes: int = 10_000) -> AsyncIterator[bytes]:
    """Yield data as it comes over a wire."""
    for start in range(0, len(data), size_bytes):
        yield data[start : start + size_bytes]


async def imported(
    service: GatewayService, archive: bytes, *, key: str | None = None, tenant: str | None = None
) -> ImportResult:
    """Import an archive."""
    async with aclosing(pieces(archive)) as chunks:  # type: ignore[type-var]
        return await service.import_archive(chunks, idempotency_key=key, tenant=tenant)


async def imported_ids(service: GatewayService, archive: bytes, **options: Any) -> list[str]:
    """Import an archive and return the ids of its conversations."""
    result: Any = await imported(service, archive, **options)
    return [conversation["id"] for conversation in result.shape["conversations"]]
