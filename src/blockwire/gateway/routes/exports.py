"""Exports, streamed; and archives that become conversations.

Spec: docs/spec/gateway/exports.md.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Final, cast

import anyio

from blockwire.archives import ARCHIVE_MEDIA_TYPE
from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.exports import EXPORT_FORMATS, Export, ExportFormat
from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import NDJSON_TYPES, Call, PeerGoneError
from blockwire.gateway.http.dispositions import disposition
from blockwire.gateway.http.operation import Operation, Parameter, Response
from blockwire.gateway.http.ranges import matches_tag
from blockwire.gateway.routes.common import NOT_MODIFIED, VIEW, json_of
from blockwire.gateway.routes.refusals import (
    BODY_ERRORS,
    CONTENT_ERRORS,
    CONVERSATION_ERRORS,
    KEY_ERRORS,
    STREAM_ERRORS,
)

__all__ = ["EXPORT_OPERATIONS"]

_log: Final = logging.getLogger(__name__)

DRAIN_BYTES_MAX: Final = 16_777_216
DRAIN_IDLE_S: Final = 0.2
"""What is still read of an archive that is refused."""

# A saved page is opened from a disk, where nothing protects its reader but what it is.
_POLICY: Final = b"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


async def export_conversation(call: Call) -> Answer | None:
    """Answer with the conversation as a file, piece by piece."""
    wanted = call.choice("format", *EXPORT_FORMATS)
    if wanted is None:
        formats = ", ".join(EXPORT_FORMATS)
        raise RemoteProtocolError("invalid_parameter", f"format is one of {formats}")
    export_format = cast("ExportFormat", wanted)
    with call.surface.limits.open_stream(call.caller.name):
        async with call.service.exporting(
            call.conversation_id,
            export_format,
            view=call.view(),
            tenant=call.tenant,
            is_shared=call.caller.conversation_id is not None,
        ) as export:
            tag = export.etag.removeprefix("W/")
            if matches_tag(call.headers.getlist("if-none-match"), tag):
                headers = (("etag", export.etag), ("cache-control", "no-cache"))
                return Answer(status=304, headers=headers)
            await call.start(_headers(export))
            if call.method == "HEAD":
                await _send(call, b"", is_last=True)
            else:
                await _send_all(call, export)
    return None


async def import_archive(call: Call) -> Answer:
    """Answer 201 with the conversations of an archive, or 200 when the key had made them before."""
    call.check_media_type(NDJSON_TYPES)
    with call.surface.limits.open_stream(call.caller.name):
        async with aclosing(_arriving(call)) as chunks:
            try:
                result = await call.service.import_archive(
                    chunks,
                    idempotency_key=call.headers.get("idempotency-key"),
                    tenant=call.tenant,
                )
            except BlockwireError:
                await _drain(chunks)
                raise
    return json_answer(result.shape, status=201 if result.is_new else 200)


async def _arriving(call: Call) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives; a peer that sends nothing for too long is not waited for.

    Raises:
        RemoteProtocolError: ``request_timeout``, ``body_too_large``, ``gateway_stopping``.
        PeerGoneError: Before the end of the body.
    """
    idle_s_max = call.surface.http.body_s_max
    async with aclosing(call.chunks(bytes_max=call.surface.settings.import_bytes_max)) as chunks:
        while True:
            with anyio.move_on_after(idle_s_max) as limit:
                chunk = await anext(chunks, None)
            if limit.cancelled_caught:
                detail = f"nothing came for {idle_s_max:g} s"
                raise RemoteProtocolError("request_timeout", detail, retryable=True)
            if chunk is None:
                return
            yield chunk


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read what is on its way: a peer whose writing fails may never read why."""
    size_bytes = 0
    is_coming = True
    while is_coming and size_bytes < DRAIN_BYTES_MAX:
        is_coming = False
        with anyio.move_on_after(DRAIN_IDLE_S), suppress(BlockwireError):
            piece = await anext(chunks, b"")
            size_bytes += len(piece)
            is_coming = bool(piece)


def _headers(export: Export) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", export.media_type.encode()),
        (b"content-disposition", disposition("attachment", export.file_name).encode()),
        (b"content-security-policy", _POLICY),
        (b"etag", export.etag.encode()),
        (b"cache-control", b"no-cache"),
    ]


async def _send_all(call: Call, export: Export) -> None:
    """Send all pieces; on any failure the connection is cut, so that no part looks whole.

    Raises:
        PeerGoneError: Nobody reads any more.
    """

    async def send_pieces() -> None:
        async for piece in export.pieces:
            await _send(call, piece)
        await _send(call, b"", is_last=True)

    try:
        await call.while_here(send_pieces)
    except PeerGoneError:
        raise
    except BlockwireError as error:
        _log.warning("an export was cut: %s", error.code)
    except Exception as error:  # noqa: BLE001 - whatever it is, the answer must not end well
        _log.error("an export failed", exc_info=error)


async def _send(call: Call, piece: bytes, *, is_last: bool = False) -> None:
    """Send a piece; a peer that takes nothing for too long is not waited for."""
    with anyio.move_on_after(call.surface.http.body_s_max) as limit:
        await call.send({"type": "http.response.body", "body": piece, "more_body": not is_last})
        call.record.sent_bytes += len(piece)
    if limit.cancelled_caught:
        raise PeerGoneError


_FORMAT: Final = Parameter(
    name="format",
    description="`markdown`, `html` and `text` for people, `json` for the messages, `jsonl` for the "
    "archive, which can be imported.",
    schema={"enum": [*EXPORT_FORMATS]},
    is_required=True,
)

EXPORT_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/v1/conversations/{conversation_id}/export",
        id="export_conversation",
        summary="Export a conversation as it is committed now, streamed.",
        respond=export_conversation,
        scope="read",
        tag="exports",
        is_shared=True,
        parameters=(_FORMAT, VIEW),
        responses={
            200: Response(
                description="A file. When the connection breaks, it is not whole.",
                schemas={
                    "text/markdown": None,
                    "text/html": None,
                    "text/plain": None,
                    "application/json": "conversation_export",
                    "application/x-ndjson": "archive_line",
                },
                headers={
                    "content-disposition": "The name of the file.",
                    "etag": "Weak: another one when anything changed.",
                },
            ),
            304: NOT_MODIFIED,
        },
        errors=(*CONVERSATION_ERRORS, *STREAM_ERRORS),
    ),
    Operation(
        method="POST",
        path="/v1/import",
        id="import_archive",
        summary="Make the conversations of an archive, all of them or none, streamed.",
        respond=import_archive,
        scope="write",
        tag="exports",
        parameters=(
            Parameter(
                name="Idempotency-Key",
                where="header",
                description="The same key and conversations make no second import.",
                schema={"type": "string", "minLength": 1, "maxLength": 256},
            ),
        ),
        request={ARCHIVE_MEDIA_TYPE: "archive_line"},
        responses={
            201: json_of("import_result", "The new conversations."),
            200: json_of("import_result", "Those that this key made before."),
        },
        errors=(
            *BODY_ERRORS, "archive_truncated", "archive_mismatch", "archive_order",
            "archive_version_unsupported", "archive_line_too_long", "attachment_exists",
            *KEY_ERRORS, "message_exists", *CONTENT_ERRORS, *STREAM_ERRORS,
        ),
    ),
)  # fmt: skip
