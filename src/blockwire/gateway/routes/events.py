"""Events: live on a stream, in pages, and from outside producers.

Spec: docs/spec/gateway/stream.md, docs/spec/gateway/producers.md.
"""

from __future__ import annotations

from typing import Final

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.entrance import TICKET
from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import NDJSON_TYPES, Call
from blockwire.gateway.http.operation import Operation, Parameter, Response
from blockwire.gateway.http.upload import answer_upload, read_epoch
from blockwire.gateway.routes.common import KEYS, VIEW, WAIT
from blockwire.gateway.routes.refusals import (
    BODY_ERRORS,
    CONVERSATION_ERRORS,
    CURSOR_ERRORS,
    HELD_ERRORS,
    STREAM_ERRORS,
    TURN_ERRORS,
)
from blockwire.gateway.streams.subscription import read_wish, read_wishes, subscribe

__all__ = ["EVENT_OPERATIONS"]

_EVENTS: Final = "/v1/conversations/{conversation_id}/events"
_ONLY_STREAM: Final = ("until",)
_ONLY_PAGE: Final = ("wait",)


async def read_events(call: Call) -> Answer | None:
    """Answer with an event stream, or with a page where JSON is asked for."""
    wants_page = _wants_page(call)
    for name in _ONLY_STREAM if wants_page else _ONLY_PAGE:
        if name in call.query:
            kind = "an event stream" if wants_page else "Accept: application/json"
            raise RemoteProtocolError("invalid_parameter", f"{name} is for {kind}")
    if wants_page:
        return await _answer_page(call)
    wish = read_wish(
        call.conversation_id, call.query.get("after"), call.headers.get("last-event-id", "")
    )
    return await subscribe(call, [wish], is_labelled=False)


async def read_many_events(call: Call) -> Answer | None:
    """Answer with one stream of several conversations."""
    if _wants_page(call):
        raise RemoteProtocolError("not_acceptable", "several conversations come as a stream only")
    if "conversations" not in call.query:
        raise RemoteProtocolError("invalid_parameter", "conversations are listed as a:10,b")
    wishes = read_wishes(
        call.query["conversations"],
        call.headers.get("last-event-id", ""),
        count_max=call.surface.http.stream_conversations_max,
    )
    return await subscribe(call, wishes, is_labelled=True)


async def post_events(call: Call) -> Answer | None:
    """Commit the events of an outside producer, and acknowledge as they are committed."""
    call.check_media_type(NDJSON_TYPES)
    acknowledgements = call.service.post_events(
        call.conversation_id,
        call.turn_id,
        epoch=read_epoch(call.headers.get("blockwire-epoch")),
        chunks=call.chunks(bytes_max=call.surface.http.upload_bytes_max),
        tenant=call.tenant,
        convert=call.converts_keys(),
    )
    with call.surface.limits.open_stream(call.caller.name):
        return await answer_upload(call, acknowledgements)


def _wants_page(call: Call) -> bool:
    accepted = {
        item.partition(";")[0].strip().lower()
        for item in call.headers.get("accept", "*/*").split(",")
    }
    if accepted & {"text/event-stream", "text/*", "*/*"} and "application/json" not in accepted:
        return False
    if "application/json" in accepted:
        return "text/event-stream" not in accepted
    if accepted & {"application/*"}:
        return True
    raise RemoteProtocolError("not_acceptable", "events come as text/event-stream or JSON")


async def _answer_page(call: Call) -> Answer:
    view, wait_s, snapshot = call.view(), call.wait_s(), call.flag("snapshot")
    wish = read_wish(
        call.conversation_id, call.query.get("after"), call.headers.get("last-event-id", "")
    )
    after = wish.cursor
    if after is None:
        after = (await call.service.head(call.conversation_id, call.tenant)).head_seq

    async def read() -> Answer:
        page = await call.service.read_events(
            call.conversation_id,
            after=after,
            snapshot=snapshot,
            view=view,
            limit_bytes=call.surface.settings.page_bytes_max,
            wait_s=wait_s,
            tenant=call.tenant,
        )
        return json_answer(page)

    if not wait_s:
        return await read()
    with call.surface.limits.open_stream(call.caller.name):
        return await call.while_here(read)


_AFTER: Final = Parameter(
    name="after",
    description="Cursor: 0 is the start, `now` is live only; `Last-Event-ID` beats it.",
    schema={"type": "string", "pattern": "^(now|0|[1-9][0-9]{0,15})$", "default": "0"},
)
_LAST_EVENT_ID: Final = Parameter(
    name="Last-Event-ID",
    where="header",
    description="The id of the last event that the reader has.",
    schema={"type": "string"},
)
_SNAPSHOT: Final = Parameter(
    name="snapshot",
    description="1 sends a snapshot first, which replaces all state; as a page, it alone.",
    schema={"enum": ["0", "1"], "default": "0"},
)
_TICKET: Final = Parameter(
    name=TICKET,
    description="For an EventSource, which sends no token: see `create_ticket`.",
    schema={"type": "string"},
)
_UNTIL: Final = Parameter(
    name="until",
    description="`idle` ends the stream when all is sent and no turn runs.",
    schema={"enum": ["idle"]},
)
_OVER: Final = Response(description="With `until=idle`, to whoever reconnects at the end: stop.")
_READ_ERRORS: Final = (*CONVERSATION_ERRORS, *CURSOR_ERRORS, "not_acceptable", *HELD_ERRORS)

EVENT_OPERATIONS: Final = (
    Operation(
        method="GET",
        path=_EVENTS,
        id="read_events",
        summary="Read events live (SSE), or a page of them (`Accept: application/json`).",
        respond=read_events,
        scope="read",
        tag="events",
        parameters=(_AFTER, _LAST_EVENT_ID, _SNAPSHOT, _UNTIL, VIEW, WAIT, _TICKET),
        is_shared=True,
        responses={
            200: Response(
                description="Frames of `id`, `event` and `data`, or a page.",
                schemas={"text/event-stream": None, "application/json": "event_page"},
            ),
            204: _OVER,
        },
        errors=_READ_ERRORS,
    ),
    Operation(
        method="GET",
        path="/v1/events",
        id="read_many_events",
        summary="Read several conversations on one stream.",
        respond=read_many_events,
        scope="read",
        tag="events",
        parameters=(
            Parameter(
                name="conversations",
                description="`a:10,b`: ids, each with its cursor; without one from the start.",
                schema={"type": "string"},
                is_required=True,
            ),
            _LAST_EVENT_ID,
            _SNAPSHOT,
            _UNTIL,
            VIEW,
        ),
        responses={
            200: Response(
                description="Frames whose `id` is the opaque list of all cursors.",
                schemas={"text/event-stream": None},
            ),
            204: _OVER,
        },
        errors=_READ_ERRORS,
    ),
    Operation(
        method="POST",
        path="/v1/conversations/{conversation_id}/turns/{turn_id}/events",
        id="post_events",
        summary="Append the events of an outside producer, streamed or in batches.",
        respond=post_events,
        scope="write",
        tag="events",
        parameters=(
            KEYS,
            Parameter(
                name="Blockwire-Epoch",
                where="header",
                description="As the submit named it; an older one is shut out.",
                schema={"type": "integer", "minimum": 1},
            ),
        ),
        request={"application/x-ndjson": "producer_event"},
        responses={
            200: Response(
                description="One acknowledgement a commit, as it is committed; a refusal that "
                "comes later is the last line, in the shape of an error.",
                schemas={"application/x-ndjson": "acknowledgement"},
            ),
        },
        errors=(
            *BODY_ERRORS, *TURN_ERRORS, *STREAM_ERRORS, "turn_terminal",
            "turn_not_external", "epoch_fenced", "producer_gap", "invalid_event",
            "event_not_allowed", "turn_mismatch", "block_not_found", "block_exists",
            "block_complete", "field_not_mutable", "tool_status_regression", "limit_exceeded",
        ),
    ),
)  # fmt: skip
