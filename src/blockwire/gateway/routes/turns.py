"""Turns: submit, read, list, cancel, resume.

Spec: docs/spec/gateway/routes.md.
"""

from __future__ import annotations

from typing import Final, cast

from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Operation, Parameter
from blockwire.gateway.routes.common import (
    CURSOR,
    KEYS,
    LIMIT,
    NOT_MODIFIED,
    VIEW,
    WAIT,
    json_of,
)
from blockwire.gateway.routes.refusals import (
    BODY_ERRORS,
    CONTENT_ERRORS,
    CONVERSATION_ERRORS,
    CURSOR_ERRORS,
    HELD_ERRORS,
    KEY_ERRORS,
    TURN_ERRORS,
)
from blockwire.gateway.turns.queueing import SubmitResult

__all__ = ["TURN_OPERATIONS"]

_TURNS: Final = "/v1/conversations/{conversation_id}/turns"
_TURN: Final = _TURNS + "/{turn_id}"


async def submit_turn(call: Call) -> Answer:
    """Answer 202 with a new turn, or 200 with the one that this key started before."""
    body = await call.json_body(may_hold_files=True)
    result = await call.service.submit_turn(
        call.conversation_id,
        body,
        idempotency_key=call.headers.get("idempotency-key"),
        tenant=call.tenant,
    )
    return _submitted(call, result)


async def retry_turn(call: Call) -> Answer:
    """Answer 202 with a new turn that asks the same again, or 200 like a submit."""
    body = await call.json_body(default={})
    result = await call.service.retry_turn(
        call.conversation_id,
        call.turn_id,
        body,
        idempotency_key=call.headers.get("idempotency-key"),
        tenant=call.tenant,
    )
    return _submitted(call, result)


def _submitted(call: Call, result: SubmitResult) -> Answer:
    turn_id = cast("str", result.turn["id"])
    return json_answer(
        result.turn,
        status=202 if result.is_new else 200,
        location=f"/v1/conversations/{call.conversation_id}/turns/{turn_id}",
        blockwire_epoch=str(result.epoch),
    )


async def list_turns(call: Call) -> Answer:
    """Answer with a page of turns, newest first."""
    page = await call.service.list_turns(
        call.conversation_id,
        cursor=call.query.get("cursor"),
        limit=call.limit(),
        tenant=call.tenant,
    )
    return json_answer(page, has_etag=True)


async def read_turn(call: Call) -> Answer:
    """Answer with a turn and its message as committed now; ``wait`` holds until it is over."""
    view, wait_s = call.view(), call.wait_s()

    async def read() -> Answer:
        turn = await call.service.read_turn(
            call.conversation_id, call.turn_id, view=view, tenant=call.tenant, wait_s=wait_s
        )
        return json_answer(turn, has_etag=True)

    if not wait_s:
        return await read()
    with call.surface.limits.open_stream(call.caller.name):
        return await call.while_here(read)


async def cancel_turn(call: Call) -> Answer:
    """Answer 202 with the turn, which is over, or was handed back from the line."""
    await call.no_body()
    turn = await call.service.cancel_turn(call.conversation_id, call.turn_id, call.tenant)
    return json_answer(turn, status=202)


async def resume_turn(call: Call) -> Answer:
    """Answer 202 with the turn, which goes on with the answer."""
    body = await call.json_body()
    turn = await call.service.resume_turn(call.conversation_id, call.turn_id, body, call.tenant)
    return json_answer(turn, status=202)


_KEY: Final = Parameter(
    name="Idempotency-Key",
    where="header",
    description="The same key and body attach to the same turn instead of a second.",
    schema={"type": "string", "minLength": 1, "maxLength": 256},
)
_START_ERRORS: Final = (
    *BODY_ERRORS, *KEY_ERRORS, "last_turn_mismatch", "engine_not_found", "queue_full",
    "turns_in_flight_exceeded",
)  # fmt: skip
_STARTED: Final = {
    202: json_of("conversation_turn", "The new turn, running or queued.", location="Where it is.",
                 blockwire_epoch="What a producer of its events sends along."),
    200: json_of("conversation_turn", "The turn that this key led to before."),
}  # fmt: skip
_GONE: Final = (*TURN_ERRORS, "turn_handed_back")

TURN_OPERATIONS: Final = (
    Operation(
        method="POST",
        path=_TURNS,
        id="submit_turn",
        summary="Submit a question; the answer streams on the conversation's events.",
        respond=submit_turn,
        scope="write",
        tag="turns",
        parameters=(KEYS, _KEY),
        request={"application/json": "turn_request"},
        responses=_STARTED,
        errors=(*CONVERSATION_ERRORS, *_START_ERRORS, *CONTENT_ERRORS),
    ),
    Operation(
        method="GET",
        path=_TURNS,
        id="list_turns",
        summary="List turns without their messages, newest first.",
        respond=list_turns,
        scope="read",
        tag="turns",
        parameters=(CURSOR, LIMIT),
        responses={200: json_of("turn_list", "A page.", etag="Of it."), 304: NOT_MODIFIED},
        errors=(*CONVERSATION_ERRORS, *CURSOR_ERRORS),
    ),
    Operation(
        method="GET",
        path=_TURN,
        id="read_turn",
        summary="Read a turn with its message as committed now, also while it streams.",
        respond=read_turn,
        scope="read",
        tag="turns",
        parameters=(VIEW, WAIT),
        responses={200: json_of("conversation_turn", "It.", etag="Of it."), 304: NOT_MODIFIED},
        errors=(*_GONE, *HELD_ERRORS, "last_turn_mismatch"),
    ),
    Operation(
        method="POST",
        path=_TURN + "/cancel",
        id="cancel_turn",
        summary="Cancel a turn: what was answered is kept; a queued one is handed back.",
        respond=cancel_turn,
        scope="write",
        tag="turns",
        responses={202: json_of("conversation_turn", "The turn, cancelled.")},
        errors=(*BODY_ERRORS, *_GONE, "turn_terminal"),
    ),
    Operation(
        method="POST",
        path=_TURN + "/retry",
        id="retry_turn",
        summary="Ask the question of a turn that is over again, as a new turn.",
        respond=retry_turn,
        scope="write",
        tag="turns",
        parameters=(KEYS, _KEY),
        request={"application/json": "retry_request"},
        is_request_optional=True,
        responses=_STARTED,
        errors=(*TURN_ERRORS, *_START_ERRORS, "turn_not_over"),
    ),
    Operation(
        method="POST",
        path=_TURN + "/resume",
        id="resume_turn",
        summary="Answer a suspended turn.",
        respond=resume_turn,
        scope="write",
        tag="turns",
        parameters=(KEYS,),
        request={"application/json": "resume_request"},
        responses={202: json_of("conversation_turn", "The turn, which goes on.")},
        errors=(*BODY_ERRORS, *_GONE, "turn_terminal", "turn_not_suspended", "request_mismatch"),
    ),
)  # fmt: skip
