"""Conversations: create, list, read, change, delete.

Spec: docs/spec/gateway/routes.md.
"""

from __future__ import annotations

from typing import Final, cast

from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Operation, Response
from blockwire.gateway.routes.common import (
    CURSOR,
    KEYS,
    LIMIT,
    NOT_MODIFIED,
    VIEW,
    json_of,
)
from blockwire.gateway.routes.refusals import (
    BODY_ERRORS,
    CONVERSATION_ERRORS,
    CURSOR_ERRORS,
    TURN_ERRORS,
)
from blockwire.gateway.shapes import shared_shape

__all__ = ["CONVERSATION_OPERATIONS"]

_PATH: Final = "/v1/conversations/{conversation_id}"


async def create_conversation(call: Call) -> Answer:
    """Answer 201 with a new conversation."""
    body = await call.json_body(default={})
    conversation = await call.service.create_conversation(
        body, tenant=call.tenant, view=call.view()
    )
    location = f"/v1/conversations/{cast('str', conversation['id'])}"
    return json_answer(conversation, status=201, location=location)


async def list_conversations(call: Call) -> Answer:
    """Answer with a page of conversations, newest first."""
    page = await call.service.list_conversations(
        cursor=call.query.get("cursor"),
        limit=call.limit(),
        tenant=call.tenant,
        view=call.view(),
    )
    return json_answer(page, has_etag=True)


async def read_conversation(call: Call) -> Answer:
    """Answer with a conversation."""
    conversation = await call.service.read_conversation(
        call.conversation_id, call.tenant, view=call.view()
    )
    if call.caller.conversation_id is not None:
        conversation = shared_shape(conversation)
    return json_answer(conversation, has_etag=True)


async def update_conversation(call: Call) -> Answer:
    """Answer with the conversation, title, tags, system and metadata replaced as asked."""
    body = await call.json_body()
    conversation = await call.service.update_conversation(
        call.conversation_id, body, call.tenant, view=call.view()
    )
    return json_answer(conversation)


async def delete_conversation(call: Call) -> Answer:
    """Answer 204; of the conversation nothing is left."""
    await call.no_body()
    await call.service.delete_conversation(call.conversation_id, call.tenant)
    return Answer(status=204)


async def fork_conversation(call: Call) -> Answer:
    """Answer 201 with a new conversation that begins like this one."""
    body = await call.json_body(default={})
    conversation = await call.service.fork_conversation(
        call.conversation_id, body, tenant=call.tenant, view=call.view()
    )
    location = f"/v1/conversations/{cast('str', conversation['id'])}"
    return json_answer(conversation, status=201, location=location)


CONVERSATION_OPERATIONS: Final = (
    Operation(
        method="POST",
        path="/v1/conversations",
        id="create_conversation",
        summary="Create a conversation.",
        respond=create_conversation,
        scope="write",
        tag="conversations",
        parameters=(KEYS, VIEW),
        request={"application/json": "conversation_request"},
        is_request_optional=True,
        responses={201: json_of("conversation", "The new conversation.", location="Where it is.")},
        errors=BODY_ERRORS,
    ),
    Operation(
        method="GET",
        path="/v1/conversations",
        id="list_conversations",
        summary="List conversations, newest first.",
        respond=list_conversations,
        scope="read",
        tag="conversations",
        parameters=(CURSOR, LIMIT, VIEW),
        responses={200: json_of("conversation_list", "A page.", etag="Of it."), 304: NOT_MODIFIED},
        errors=CURSOR_ERRORS,
    ),
    Operation(
        method="GET",
        path=_PATH,
        id="read_conversation",
        summary="Read a conversation.",
        respond=read_conversation,
        scope="read",
        tag="conversations",
        parameters=(VIEW,),
        is_shared=True,
        responses={200: json_of("conversation", "It.", etag="Of it."), 304: NOT_MODIFIED},
        errors=CONVERSATION_ERRORS,
    ),
    Operation(
        method="PATCH",
        path=_PATH,
        id="update_conversation",
        summary="Change title, tags, system prompt or metadata; null takes a member back.",
        respond=update_conversation,
        scope="write",
        tag="conversations",
        parameters=(KEYS, VIEW),
        request={"application/json": "conversation_request"},
        responses={200: json_of("conversation", "The conversation as it is now.")},
        errors=(*BODY_ERRORS, *CONVERSATION_ERRORS),
    ),
    Operation(
        method="DELETE",
        path=_PATH,
        id="delete_conversation",
        summary="Delete a conversation: nothing of it is left.",
        respond=delete_conversation,
        scope="write",
        tag="conversations",
        responses={204: Response(description="It is gone.")},
        errors=(*BODY_ERRORS, *CONVERSATION_ERRORS),
    ),
    Operation(
        method="POST",
        path=_PATH + "/fork",
        id="fork_conversation",
        summary="Begin a new conversation with the messages of this one, up to a turn.",
        respond=fork_conversation,
        scope="write",
        tag="conversations",
        parameters=(KEYS, VIEW),
        request={"application/json": "fork_request"},
        is_request_optional=True,
        responses={201: json_of("conversation", "The new conversation.", location="Where it is.")},
        errors=(*BODY_ERRORS, *TURN_ERRORS, "turn_not_over"),
    ),
)
