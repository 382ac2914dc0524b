"""Attachments: streamed up and down.

Spec: docs/spec/gateway/attachments.md.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import anyio

from blockwire.content.filetypes import INLINE_TYPES
from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import Call, PeerGoneError
from blockwire.gateway.http.dispositions import disposition, read_file_name
from blockwire.gateway.http.http_errors import error_body
from blockwire.gateway.http.multipart import HEAD_BYTES_MAX, FormFile, read_boundary
from blockwire.gateway.http.operation import Operation, Parameter, Response
from blockwire.gateway.http.ranges import ByteRange, matches_tag, read_range
from blockwire.gateway.routes.common import NOT_MODIFIED, VIEW, json_of
from blockwire.gateway.routes.refusals import (
    CONVERSATION_ERRORS,
    FILE_ERRORS,
    HELD_ERRORS,
    STREAM_ERRORS,
)
from blockwire.jsontext import encode_json
from blockwire.ports import AttachmentRow

__all__ = ["ATTACHMENT_OPERATIONS"]

_log: Final = logging.getLogger(__name__)

# What a form needs around its file.
_FORM_BYTES: Final = 2 * HEAD_BYTES_MAX
# What a program says that knows nothing of the file; curl says so of any body.
_NO_CLAIMS: Final = frozenset({"", "application/x-www-form-urlencoded"})
# A sender may be that much slower, on average, than nothing at all.
_BYTES_PER_S_MIN: Final = 1_024

# Whatever a file holds: nothing in it runs, and no page of another site may show it.
_POLICY: Final = b"sandbox; default-src 'none'"
_SEND_BYTES: Final = 65_536


# up ---------------------------------------------------------------------------------------
async def upload_attachment(call: Call) -> Answer:
    """Answer 201 with what is known of the file that the body holds."""
    if call.headers.get("content-encoding", "identity").lower() != "identity":
        raise RemoteProtocolError("unsupported_encoding", "a file is sent as it is")
    content_type = call.headers.get("content-type", "")
    is_form = content_type.partition(";")[0].strip().lower() == "multipart/form-data"
    _check_announced(call, _FORM_BYTES if is_form else 0)
    name = call.query.get("name")
    with call.surface.limits.open_stream(call.caller.name):
        async with aclosing(_paced(call)) as body:
            if not is_form:
                claimed = None if content_type.lower() in _NO_CLAIMS else content_type
                shape = await call.service.write_attachment(
                    call.conversation_id,
                    body,
                    name=name or _announced_name(call),
                    claimed_type=claimed,
                    tenant=call.tenant,
                )
            else:
                form = FormFile(read_boundary(content_type))
                async with aclosing(_form_content(form, body)) as content:
                    # With the first piece comes the name.
                    first = await anext(content, b"")
                    shape = await call.service.write_attachment(
                        call.conversation_id,
                        _joined(first, content),
                        name=name or form.file_name,
                        claimed_type=form.media_type,
                        tenant=call.tenant,
                    )
    return json_answer(shape, status=201, location=f"/v1/attachments/{shape['id']}")


def _check_announced(call: Call, around_bytes: int) -> None:
    announced = call.headers.get("content-length", "")
    bytes_max = call.surface.settings.attachment_bytes_max
    if announced.isdecimal() and int(announced) > bytes_max + around_bytes:
        raise RemoteProtocolError(
            "attachment_too_large", f"an attachment may have {bytes_max} bytes"
        )


def _announced_name(call: Call) -> str | None:
    header = call.headers.get("content-disposition")
    if header is None:
        return None
    return read_file_name(header.encode("latin-1").decode("utf-8", "replace"))


async def _paced(call: Call) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives; give up a sender that is silent or far too slow.

    Raises:
        RemoteProtocolError: ``request_timeout``, ``gateway_stopping``.
        PeerGoneError: Before the end of the body.
    """
    idle_s = call.surface.http.attachment_idle_s
    began_s = anyio.current_time()
    size_bytes = 0
    async with aclosing(call.chunks()) as chunks:
        while True:
            data: bytes | None = None
            with anyio.move_on_after(idle_s) as limit:
                data = await anext(chunks, b"")
            size_bytes += len(data or b"")
            due_bytes = (anyio.current_time() - began_s - idle_s) * _BYTES_PER_S_MIN
            if limit.cancelled_caught or size_bytes < due_bytes:
                raise RemoteProtocolError(
                    "request_timeout",
                    f"an upload is silent for {idle_s:g} s at most, and no slower than "
                    f"{_BYTES_PER_S_MIN} bytes/s",
                    retryable=True,
                )
            if not data:
                return
            yield data


async def _form_content(
    form: FormFile, body: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    """Yield the file; its first piece, which may be empty, once its name is known."""
    is_first = True
    async for data in body:
        piece = form.feed(data)
        if piece or (is_first and form.has_head):
            is_first = False
            yield piece
    form.finish()


async def _joined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    yield first
    async for data in rest:
        yield data


# down -------------------------------------------------------------------------------------
async def download_attachment(call: Call) -> Answer | None:
    """Answer with a file, or the part of it that is asked for."""
    row = await call.service.find_attachment(
        call.path["attachment_id"],
        view=call.view(),
        tenant=call.tenant,
        conversation_id=call.caller.conversation_id,
    )
    etag = f'"{row.sha256}"'
    shared = (("etag", etag), ("cache-control", "private, no-cache"))
    if matches_tag(call.headers.getlist("if-none-match"), etag):
        return Answer(status=304, headers=shared)
    wanted = None
    if call.method == "GET":
        wanted = read_range(
            call.headers.get("range"),
            call.headers.get("if-range"),
            size_bytes=row.size_bytes,
            etag=etag,
        )
    if wanted is not None and wanted.start >= wanted.end:
        refused = RemoteProtocolError(
            "range_not_satisfiable", f"the attachment has {row.size_bytes} bytes"
        )
        return Answer(
            status=416,
            body=encode_json(error_body(refused)),
            headers=(("content-range", f"bytes */{row.size_bytes}"),),
        )
    headers = [(name.encode(), value.encode()) for name, value in shared]
    with call.surface.limits.open_stream(call.caller.name):
        await _send_file(call, row, headers, wanted)
    return None


async def _send_file(
    call: Call, row: AttachmentRow, headers: list[tuple[bytes, bytes]], wanted: ByteRange | None
) -> None:
    part = ByteRange(0, row.size_bytes) if wanted is None else wanted
    headers += _file_headers(row)
    headers.append((b"content-length", b"%d" % (part.end - part.start)))
    if wanted is not None:
        place = f"bytes {part.start}-{part.end - 1}/{row.size_bytes}"
        headers.append((b"content-range", place.encode()))
    await call.start(headers, status=200 if wanted is None else 206)
    if call.method == "HEAD":
        await _send(call, b"", is_last=True)
        return
    pieces = call.service.read_attachment(row.id, part.start, part.end)
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                for start in range(0, len(piece), _SEND_BYTES):
                    call.check_stays()
                    await _send(call, piece[start : start + _SEND_BYTES])
            await _send(call, b"", is_last=True)
    except PeerGoneError:
        raise
    except BlockwireError as error:
        # Deleted, or the caller was dismissed: the answer must not end well.
        _log.warning("a download was cut: %s", error.code)


def _file_headers(row: AttachmentRow) -> list[tuple[bytes, bytes]]:
    is_shown = row.media_type in INLINE_TYPES
    media_type = row.media_type
    if media_type.startswith("text/"):
        media_type += "; charset=utf-8"
    return [
        (b"content-type", media_type.encode()),
        (
            b"content-disposition",
            disposition("inline" if is_shown else "attachment", row.name).encode(),
        ),
        (b"content-security-policy", _POLICY),
        (b"accept-ranges", b"bytes"),
    ]


async def _send(call: Call, piece: bytes, *, is_last: bool = False) -> None:
    """Send a piece; a peer that takes nothing for too long is not waited for."""
    with anyio.move_on_after(call.surface.http.attachment_idle_s) as limit:
        await call.send({"type": "http.response.body", "body": piece, "more_body": not is_last})
        call.record.sent_bytes += len(piece)
    if limit.cancelled_caught:
        raise PeerGoneError


_FILE: Final = Response(
    description="The content.",
    schemas={"*/*": None},
    headers={
        "content-disposition": "`inline` for PNG, JPEG, GIF and WebP, else `attachment`.",
        "etag": "Strong: the SHA-256 of the whole.",
        "accept-ranges": "`bytes`",
    },
)

ATTACHMENT_OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/v1/conversations/{conversation_id}/attachments",
        id="upload_attachment",
        summary="Upload a file, as the body or as the only part of a form.",
        respond=upload_attachment,
        scope="write",
        tag="attachments",
        parameters=(
            Parameter(
                name="name",
                description="Name of the file; else that of the form or of Content-Disposition.",
                schema={"type": "string"},
            ),
        ),
        request={"application/octet-stream": "file_content", "multipart/form-data": "file_form"},
        responses={
            201: json_of("attachment", "What is known of it.", location="Of the content.")
        },
        errors=(
            *CONVERSATION_ERRORS, *FILE_ERRORS, "too_many_uploads", *HELD_ERRORS,
            "request_timeout", "unsupported_encoding", "invalid_multipart",
        ),
    ),
    Operation(
        method="GET",
        path="/v1/attachments/{attachment_id}",
        id="download_attachment",
        summary="Download a file, whole or in part.",
        respond=download_attachment,
        scope="read",
        tag="attachments",
        parameters=(
            VIEW,
            Parameter(
                name="range",
                description="One range of bytes.",
                schema={"type": "string"},
                where="header",
            ),
            Parameter(
                name="if-range",
                description="Answers `range` only where the ETag is still this.",
                schema={"type": "string"},
                where="header",
            ),
        ),
        responses={
            200: _FILE,
            206: Response(
                description="The part that was asked for.",
                schemas={"*/*": None},
                headers={"content-range": "Which part of what."},
            ),
            304: NOT_MODIFIED,
        },
        errors=("attachment_not_found", "range_not_satisfiable", *STREAM_ERRORS),
        is_shared=True,
    ),
)  # fmt: skip
