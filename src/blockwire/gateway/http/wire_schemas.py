"""JSON Schemas (2020-12) of what routes take and answer with, by name.

Spec: docs/spec/gateway/reading.md, "Shapes". Messages, blocks and events are described by
``content``; here they are referred to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blockwire.archives import archive_schema
from blockwire.content.vocabulary import (
    NAME_CHARS_MAX,
    TERMINAL_STATUSES,
    TIME_MAX,
    TURN_STATUSES,
)
from blockwire.gateway.access.callers import SCOPES
from blockwire.gateway.access.tokens import TOKEN_NAME_PATTERN
from blockwire.gateway.bodies import TAGS_MAX
from blockwire.gateway.http.answer import PROTOCOL
from blockwire.jsontext import Json

__all__ = ["WIRE_SCHEMAS"]

_Schema = dict[str, Json]

_TEXT: Final[_Schema] = {"type": "string"}
_NAME: Final[_Schema] = {"type": "string", "maxLength": NAME_CHARS_MAX}
_ID: Final[_Schema] = {"type": "string", "minLength": 1, "maxLength": NAME_CHARS_MAX}
_CODE: Final[_Schema] = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
_TIME: Final[_Schema] = {
    "type": "integer",
    "minimum": 0,
    "maximum": TIME_MAX,
    "description": "Unix milliseconds.",
}
_SEQ: Final[_Schema] = {"type": "integer", "minimum": 0, "maximum": TIME_MAX}
_COUNT: Final[_Schema] = {"type": "integer", "minimum": 0}
_OBJECT: Final[_Schema] = {"type": "object"}
_IDS: Final[_Schema] = {"type": "array", "items": _ID}
_TAGS: Final[_Schema] = {"type": "array", "items": {**_ID}, "maxItems": TAGS_MAX}


def _ref(name: str) -> _Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: str, /, *, is_closed: bool = False, **properties: Json) -> _Schema:
    schema: _Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = [*required.split()]
    if is_closed:
        schema["additionalProperties"] = False
    return schema


def _nullable(schema: _Schema) -> _Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _page(item: str) -> _Schema:
    return _object(
        "items next_cursor",
        items={"type": "array", "items": _ref(item)},
        next_cursor={"type": ["string", "null"], "description": "Opaque; null on the last page."},
    )


_COST: Final[_Schema] = {
    "type": "object",
    "additionalProperties": {"type": "number", "minimum": 0},
    "description": "By currency; there only for engines whose prices are configured.",
}
_CONTENT: Final[_Schema] = {
    "description": "Text is one prose block; blocks without an id get one.",
    "anyOf": [_TEXT, {"type": "array", "items": _OBJECT}],
}

_SCOPES: Final[_Schema] = {
    "type": "array", "items": {"enum": [*sorted(SCOPES)]}, "minItems": 1, "maxItems": 64,
}  # fmt: skip
_TOKEN_NAME: Final[_Schema] = {"type": "string", "pattern": f"^{TOKEN_NAME_PATTERN}$"}
_TOKEN: Final[dict[str, Any]] = {
    "name": _TOKEN_NAME,
    "scopes": _SCOPES,
    "tenant": _TOKEN_NAME,
    "created_at": _TIME,
    "expires_at": _TIME,
    "revoked_at": _TIME,
    "used_at": {**_TIME, "description": "To the hour."},
}
_SHARE: Final[dict[str, Any]] = {"id": _ID, "created_at": _TIME, "expires_at": _TIME}

WIRE_SCHEMAS: Final[Mapping[str, _Schema]] = {
    "error": _object(
        "error",
        error=_object(
            "code message retryable",
            code=_CODE,
            message=_TEXT,
            retryable={"type": "boolean"},
            pointer={"type": "string", "description": "JSON Pointer to what is wrong."},
        ),
    ),
    "conversation": _object(
        "id tags created_at updated_at head_seq",
        id=_ID,
        title=_NAME,
        tags=_TAGS,
        metadata=_OBJECT,
        created_at=_TIME,
        updated_at=_TIME,
        head_seq=_SEQ,
        running_turn_id=_ID,
        queued_turn_ids={**_IDS, "description": "Turns that wait for it, in order."},
        system={"type": "string", "description": "System prompt; owner view only."},
        usage=_object(
            "turns",
            turns={**_SEQ, "description": "Turns that ended."},
            cost=_COST,
        ) | {"description": "Sums over its turns: their number, each count of tokens, cost."},
    ),
    "conversation_request": _object(
        "",
        is_closed=True,
        title=_nullable(_NAME),
        tags=_nullable(_TAGS),
        system={"type": ["string", "null"], "description": "System prompt of its turns."},
        metadata={"type": ["object", "null"]},
    ),
    "conversation_list": _page("conversation"),
    "conversation_turn": _object(
        "id conversation_id status engine created_at request_message_id message_id seq durable",
        id=_ID,
        conversation_id=_ID,
        status={"enum": [*TURN_STATUSES]},
        engine=_NAME,
        model=_NAME,
        provider=_NAME,
        created_at=_TIME,
        started_at=_TIME,
        completed_at=_TIME,
        usage=_OBJECT,
        cost=_COST,
        retry_of={**_ID, "description": "The turn whose question it asks again."},
        position={"type": "integer", "minimum": 1, "description": "Queued: its place in line."},
        content={"type": "array", "items": _OBJECT, "description": "Queued: what was asked."},
        error=_object("code message", code=_CODE, message=_TEXT, retryable={"type": "boolean"}),
        finish_reason=_TEXT,
        reason=_TEXT,
        request={"type": "object", "description": "What a suspended turn waits for."},
        request_message_id=_ID,
        message_id={**_ID, "description": "Equal to `id`."},
        seq={**_SEQ, "description": "Of the last event that this reflects."},
        durable={"type": "boolean"},
        message={
            **_nullable(_ref("message")),
            "description": "When one turn is read; null where the view does not see it, or queued.",
        },
        open_block_ids=_IDS,
    ),
    "turn_request": _object(
        "content",
        is_closed=True,
        content=_CONTENT,
        engine=_NAME,
        model=_NAME,
        options=_OBJECT,
        if_last_turn={
            "type": ["string", "null"],
            "description": "Refuse unless this is the last turn; null: unless there is none.",
        },
    ),
    "retry_request": _object(
        "",
        is_closed=True,
        engine=_NAME,
        model=_NAME,
        options=_OBJECT,
        if_last_turn={"type": ["string", "null"], "description": "As of a submit."},
    ),
    "fork_request": _object(
        "",
        is_closed=True,
        turn_id={**_ID, "description": "Up to and with this turn; else all that is over."},
        title={**_nullable(_NAME), "description": "Else that of the other conversation."},
    ),
    "turn_list": _page("conversation_turn"),
    "resume_request": _object(
        "request_id answer", is_closed=True, request_id=_ID, answer={"description": "Any value."}
    ),
    "message_list": _object(
        "items next_cursor previous_cursor",
        items={"type": "array", "items": _ref("message")},
        next_cursor={"type": ["string", "null"], "description": "Opaque; null on the last page."},
        previous_cursor={
            "type": ["string", "null"],
            "description": "Goes on at the other end, by the other one of `before` and `after`.",
        },
    ),
    "message_request": {
        "description": "A complete message; `id`, `status`, `created_at` and ids of blocks may be "
        "missing. Unknown members are kept.",
        **_object(
            "role content",
            id=_ID,
            role=_TEXT,
            status={"enum": [*sorted(TERMINAL_STATUSES)]},
            content=_CONTENT,
            created_at=_TIME,
        ),
    },
    "event_page": _object(
        "items next_cursor at_end",
        items={"type": "array", "items": _ref("event")},
        next_cursor={"type": "string", "description": "For `after`; always there."},
        at_end={"type": "boolean", "description": "Nothing more was committed at that moment."},
    ),
    "producer_event": {
        "description": "One line: an event without numbers.",
        **_object(
            "type",
            type=_TEXT,
            producer_seq={
                "type": "integer",
                "minimum": 1,
                "description": "Contiguous in the turn; repeats are acknowledged and ignored.",
            },
        ),
    },
    "acknowledgement": _object(
        "producer_seq seq",
        producer_seq={**_SEQ, "description": "The last line that is committed; 0 unnumbered."},
        seq=_SEQ,
    ),
    "capabilities": _object(
        "protocol version engines models replays previews dialects scopes limits",
        protocol={"const": int(PROTOCOL)},
        version=_TEXT,
        engines={"type": "array", "items": _TEXT, "description": "The first is the default."},
        models={
            "type": "object",
            "additionalProperties": {"type": "array", "items": _NAME, "minItems": 1},
            "description": "By engine: models that the configuration names, its default first. "
            "Others may work, too.",
        },
        replays={
            "type": "array",
            "items": _NAME,
            "description": "Those of the engines that play recordings, whatever they are asked.",
        },
        previews={"type": "boolean", "description": "Small pictures of images can be had."},
        dialects={"type": "array", "items": _TEXT},
        scopes={"type": "array", "items": _TEXT, "description": "Of whoever asks."},
        limits={"type": "object", "additionalProperties": {"type": "number"}},
    ),
    "attachment": _object(
        "id name media_type size_bytes sha256 created_at",
        id=_ID,
        name=_NAME,
        media_type={**_NAME, "description": "Found by looking at the content."},
        size_bytes={"type": "integer", "minimum": 0},
        sha256={"type": "string", "pattern": "^[0-9a-f]{64}$"},
        created_at=_TIME,
    ),
    "file_content": {"type": "string", "contentMediaType": "application/octet-stream"},
    "file_form": _object(
        "file", file={"type": "string", "contentMediaType": "application/octet-stream"}
    ),
    "conversation_export": _object(
        "conversation seq messages",
        conversation=_ref("conversation"),
        seq={**_SEQ, "description": "Of the last event that this reflects."},
        messages={"type": "array", "items": _ref("message")},
    ),
    "import_result": _object(
        "conversations ignored_lines",
        conversations={
            "type": "array",
            "items": _object(
                "id source_id message_count attachment_count",
                id=_ID,
                source_id={**_ID, "description": "Its id in the archive."},
                message_count=_COUNT,
                attachment_count=_COUNT,
                turns_dropped={**_COUNT, "description": "Turns, whose messages are kept."},
                attachments_renamed={**_COUNT, "description": "Their ids were taken here."},
                attachments_missing={**_COUNT, "description": "Named, and not in the archive."},
            ),
        },
        ignored_lines={
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "description": "How many lines of each unknown type were passed over.",
        },
    ),
    "archive_line": archive_schema("#/components/schemas/complete_message"),
    "token": _object("name scopes created_at", **_TOKEN),
    "new_token": _object(
        "name scopes created_at token",
        **_TOKEN,
        token={"type": "string", "description": "The secret. It is kept nowhere."},
    ),
    "token_list": _page("token"),
    "token_request": _object(
        "name scopes",
        is_closed=True,
        name=_TOKEN_NAME,
        scopes=_SCOPES,
        tenant=_nullable(_TOKEN_NAME),
        expires_at=_nullable(_TIME),
    ),
    "login_request": _object("token", is_closed=True, token=_TEXT),
    "login": _object("scopes expires_at", scopes=_SCOPES, expires_at=_TIME),
    "ticket": _object("ticket expires_at", ticket=_TEXT, expires_at=_TIME),
    "share": _object("id created_at", **_SHARE),
    "new_share": _object(
        "id created_at secret fragment",
        **_SHARE,
        secret={"type": "string", "description": "Sent as Bearer. It is kept nowhere."},
        fragment={"type": "string", "description": "For the part of a URL that no server sees."},
    ),
    "share_list": _page("share"),
    "share_request": _object(
        "",
        is_closed=True,
        expires_at={**_nullable(_TIME), "description": "null: never; else in 30 days."},
    ),
    "search_hit": _object(
        "conversation_id message_id role created_at block_id block_type snippet",
        conversation_id=_ID,
        title={**_NAME, "description": "Of the conversation."},
        message_id=_ID,
        turn_id=_ID,
        role=_TEXT,
        created_at=_TIME,
        block_id=_ID,
        block_type=_TEXT,
        snippet=_object(
            "text matches at_start at_end",
            text={"type": "string", "description": "A stretch of the block, as it stands there."},
            matches={
                "type": "array",
                "description": "What was found, in `text`, in Unicode scalar values.",
                "items": _object("start end", start=_SEQ, end=_SEQ),
            },
            at_start={"type": "boolean", "description": "Nothing is cut before it."},
            at_end={"type": "boolean", "description": "Nothing is cut behind it."},
            offset={**_SEQ, "description": "Where it stands, if the block has one text."},
        ),
    ),
    "search_page": _object(
        "items next_cursor index",
        items={"type": "array", "items": _ref("search_hit")},
        next_cursor={"type": ["string", "null"], "description": "Opaque; null on the last page."},
        index={
            "enum": ["ready", "building"],
            "description": "`building`: the index is being made, older messages may be missing.",
        },
    ),
    "health": _object("status", status={"enum": ["ok", "ready"]}),
}  # fmt: skip
"""Schemas by name; references are those of the OpenAPI document."""
