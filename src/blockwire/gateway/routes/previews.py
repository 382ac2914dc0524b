"""Previews of attached images.

Spec: docs/spec/gateway/attachments.md, "Previews". Whoever may have the image may have its preview.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from blockwire.gateway.http.answer import Answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Operation, Parameter, Response
from blockwire.gateway.previews.previewer import (
    PREVIEW_PX_DEFAULT,
    PREVIEW_PX_MAX,
    PREVIEW_PX_MIN,
)
from blockwire.gateway.routes.common import NOT_MODIFIED, VIEW
from blockwire.gateway.routes.refusals import HELD_ERRORS

__all__ = ["PREVIEW_OPERATIONS"]

_HEADERS: Final = (
    ("cache-control", "private, no-cache"),
    ("content-security-policy", "sandbox; default-src 'none'"),
    ("content-disposition", "inline"),
)


async def read_preview(call: Call) -> Answer:
    """Answer with a small picture of an attached image."""
    size_px = call.number(
        "size", default=PREVIEW_PX_DEFAULT, low=PREVIEW_PX_MIN, high=PREVIEW_PX_MAX
    )
    row = await call.service.find_attachment(
        call.path["attachment_id"],
        view=call.view(),
        tenant=call.tenant,
        conversation_id=call.caller.conversation_id,
    )
    pieces = partial(call.service.read_attachment, row.id, 0, row.size_bytes)
    make = partial(call.surface.previewer.preview, row, size_px, pieces)
    with call.surface.limits.open_stream(call.caller.name):
        picture = await call.while_here(make)
    is_webp = picture.startswith(b"RIFF")
    return Answer(
        body=picture,
        media_type="image/webp" if is_webp else "image/png",
        headers=_HEADERS,
        has_etag=True,
    )


PREVIEW_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/v1/attachments/{attachment_id}/preview",
        id="read_preview",
        summary="A small picture of an attached image.",
        respond=read_preview,
        scope="read",
        tag="attachments",
        parameters=(
            VIEW,
            Parameter(
                name="size",
                description="Width and height at most, in pixels.",
                schema={
                    "type": "integer",
                    "minimum": PREVIEW_PX_MIN,
                    "maximum": PREVIEW_PX_MAX,
                    "default": PREVIEW_PX_DEFAULT,
                },
            ),
        ),
        responses={
            200: Response(
                description="The first picture of the image, without what was said beside it.",
                schemas={"image/webp": None, "image/png": None},
            ),
            304: NOT_MODIFIED,
        },
        errors=(
            "attachment_not_found", "not_previewable", "image_too_large", "too_many_previews",
            "preview_unavailable", *HELD_ERRORS,
        ),
        is_shared=True,
    ),
)  # fmt: skip
