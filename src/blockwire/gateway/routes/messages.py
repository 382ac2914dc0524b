"""Messages: pages of them, and complete ones from elsewhere.

Spec: docs/spec/gateway/routes.md.
"""

from __future__ import annotations

from typing import Final

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Operation, Parameter
from blockwire.gateway.routes.common import (
    KEYS,
    LIMIT,
    NOT_MODIFIED,
    VIEW,
    json_of,
)
from blockwire.gateway.routes.refusals import (
    BODY_ERRORS,
    CONTENT_ERRORS,
    CONVERSATION_ERRORS,
    CURSOR_ERRORS,
)

__all__ = ["MESSAGE_OPERATIONS"]

_MESSAGES: Final = "/v1/conversations/{conversation_id}/messages"


async def list_messages(call: Call) -> Answer:
    """Answer with a page of messages in their order: the newest, or those around a cursor."""
    if len({"before", "after", "cursor", "around"} & call.query.keys()) > 1:
        raise RemoteProtocolError("invalid_parameter", "one of before, after, cursor and around")
    bytes_max = call.surface.settings.page_bytes_max
    page = await call.service.list_messages(
        call.conversation_id,
        before=call.query.get("before", call.query.get("cursor")),
        after=call.query.get("after"),
        around=call.query.get("around"),
        limit=call.limit(),
        bytes_max=call.number("max_bytes", default=bytes_max, low=1, high=bytes_max),
        view=call.view(),
        tenant=call.tenant,
    )
    return json_answer(page, has_etag=True)


async def append_message(call: Call) -> Answer:
    """Answer 201 with the message as it is kept."""
    body = await call.json_body(may_hold_files=True)
    message = await call.service.append_message(call.conversation_id, body, call.tenant)
    return json_answer(message, status=201)


MESSAGE_OPERATIONS: Final = (
    Operation(
        method="GET",
        path=_MESSAGES,
        id="list_messages",
        summary="List messages by pages, in their order; the newest page without a cursor.",
        respond=list_messages,
        scope="read",
        tag="messages",
        is_shared=True,
        parameters=(
            Parameter(
                name="before",
                description="The newest messages before this cursor.",
                schema={"type": "string"},
            ),
            Parameter(
                name="after",
                description="The oldest messages after this cursor; 0 is the start.",
                schema={"type": "string"},
            ),
            Parameter(
                name="cursor",
                description="The same as `before`, as other lists call it.",
                schema={"type": "string"},
            ),
            Parameter(
                name="around",
                description="Id of a message; a page that holds it.",
                schema={"type": "string"},
            ),
            LIMIT,
            Parameter(
                name="max_bytes",
                description="JSON bytes of the page at most; one message always fits.",
                schema={"type": "integer", "minimum": 1},
            ),
            VIEW,
        ),
        responses={200: json_of("message_list", "A page.", etag="Of it."), 304: NOT_MODIFIED},
        errors=(*CONVERSATION_ERRORS, *CURSOR_ERRORS, "message_not_found"),
    ),
    Operation(
        method="POST",
        path=_MESSAGES,
        id="append_message",
        summary="Append a complete message from elsewhere.",
        respond=append_message,
        scope="write",
        tag="messages",
        parameters=(KEYS,),
        request={"application/json": "message_request"},
        responses={201: json_of("message", "The message as it is kept.")},
        errors=(*BODY_ERRORS, *CONVERSATION_ERRORS, "message_exists", *CONTENT_ERRORS),
    ),
)  # fmt: skip
