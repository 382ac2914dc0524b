"""The one definition of what blocks, messages and events are made of.

Spec: docs/spec/content/model.md and docs/spec/content/events.md.

The tables below are what the validators check and what the published JSON Schemas are generated
from, so the two cannot drift apart. Members that a table does not name are kept as they came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from blockwire.content.vocabulary import (
    MESSAGE_STATUSES,
    NAME_CHARS_MAX,
    ROLES,
    TERMINAL_STATUSES,
    TOOL_STATUSES,
    VISIBILITIES,
)
from blockwire.jsontext import SAFE_INTEGER_MAX, Json

__all__ = [
    "BLOCK_FIELDS",
    "CODE",
    "COMMON_BLOCK_FIELDS",
    "CONTROLS",
    "ENUMS",
    "EVENT_FIELDS",
    "MESSAGE_FIELDS",
    "REQUEST_FIELDS",
    "SCALARS",
    "STAMP_FIELDS",
    "STARTED_EXTRAS",
    "TOOL_CHANGES",
    "TURN_FIELDS",
    "Field",
    "Kind",
    "is_id",
    "is_name",
]

Kind = Literal[
    "text",
    "spoken",
    "id",
    "name",
    "code",
    "value",
    "object",
    "integer",
    "boolean",
    "ids",
    "role",
    "message_status",
    "terminal_status",
    "tool_status",
    "visibility",
    "request_kind",
    "block",
    "blocks",
    "complete_message",
    "messages",
    "turns",
    "tool_changes",
    "request",
]


class Field(NamedTuple):
    """What one member holds, and whether it must be there."""

    kind: Kind
    required: bool = False


def _fields(**members: Field) -> Mapping[str, Field]:
    return MappingProxyType(members)


COMMON_BLOCK_FIELDS: Final = _fields(
    id=Field("id", required=True),
    type=Field("id", required=True),
    provider_data=Field("value"),
)

_TOOL_MEMBERS: Final[dict[str, Field]] = {
    "input": Field("value"),
    "output": Field("value"),
    "error": Field("value"),
    "input_json": Field("text"),
    "output_json": Field("text"),
    "error_json": Field("text"),
    "started_at": Field("integer"),
    "completed_at": Field("integer"),
    "attachments": Field("ids"),
}

BLOCK_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = MappingProxyType(
    {
        "prose": _fields(markdown=Field("text", required=True)),
        "code": _fields(text=Field("text", required=True), language=Field("name")),
        "tool": _fields(
            tool=Field("name", required=True),
            status=Field("tool_status", required=True),
            **_TOOL_MEMBERS,
        ),
        "reasoning": _fields(text=Field("text", required=True), visibility=Field("visibility")),
        "error": _fields(
            code=Field("code", required=True),
            message=Field("text", required=True),
            retryable=Field("boolean"),
        ),
        "attachment": _fields(
            attachment_id=Field("id", required=True),
            name=Field("name", required=True),
            media_type=Field("name", required=True),
        ),
        "notice": _fields(code=Field("code", required=True), message=Field("text", required=True)),
        "speech": _fields(text=Field("spoken", required=True)),
    }
)

# What ``content.block.updated`` may replace in an open tool block.
TOOL_CHANGES: Final[Mapping[str, Field]] = MappingProxyType(
    {"status": Field("tool_status"), **_TOOL_MEMBERS, "provider_data": Field("value")}
)

REQUEST_FIELDS: Final = _fields(
    id=Field("id", required=True),
    kind=Field("request_kind", required=True),
    prompt=Field("text", required=True),
    options=Field("value"),
    block_id=Field("id"),
)

# What a snapshot says about a turn; the other members are those of the gateway's turn.
TURN_FIELDS: Final = _fields(
    id=Field("id", required=True),
    status=Field("name"),
    finish_reason=Field("name"),
    reason=Field("name"),
    error_code=Field("name"),
    request=Field("request"),
    open_block_ids=Field("ids"),
)

# What the gateway stamps on an event last.
STAMP_FIELDS: Final = _fields(
    conversation_id=Field("id"),
    seq=Field("integer"),
    prev_seq=Field("integer"),
    ts=Field("integer"),
)

MESSAGE_FIELDS: Final = _fields(
    id=Field("id", required=True),
    role=Field("role", required=True),
    status=Field("message_status", required=True),
    content=Field("blocks", required=True),
    created_at=Field("integer", required=True),
    completed_at=Field("integer"),
    model=Field("name"),
    provider=Field("name"),
    author=Field("name"),
    turn_id=Field("id"),
    conversation_id=Field("id"),
    usage=Field("object"),
    metadata=Field("value"),
    metadata_json=Field("text"),
)

# Members of ``turn.started`` beyond its own that are members of the message.
STARTED_EXTRAS: Final[Mapping[str, Field]] = MappingProxyType(
    {name: MESSAGE_FIELDS[name] for name in ("author", "metadata", "metadata_json")}
)

_TURN_ID: Final = Field("id", required=True)
_BLOCK_ID: Final = Field("id", required=True)
_END_FIELDS: Final = _fields(
    turn_id=_TURN_ID,
    status=Field("terminal_status", required=True),
    usage=Field("object"),
    finish_reason=Field("name"),
    reason=Field("name"),
    error_code=Field("name"),
)

EVENT_FIELDS: Final[Mapping[str, Mapping[str, Field]]] = MappingProxyType(
    {
        "turn.started": _fields(
            turn_id=_TURN_ID,
            role=Field("role", required=True),
            created_at=Field("integer", required=True),
            model=Field("name"),
            provider=Field("name"),
        ),
        "content.block.started": _fields(turn_id=_TURN_ID, block=Field("block", required=True)),
        "content.block.delta": _fields(
            turn_id=_TURN_ID,
            block_id=_BLOCK_ID,
            field=Field("name", required=True),
            text=Field("text", required=True),
        ),
        "content.block.updated": _fields(
            turn_id=_TURN_ID, block_id=_BLOCK_ID, set=Field("tool_changes", required=True)
        ),
        "content.block.completed": _fields(
            turn_id=_TURN_ID,
            block_id=_BLOCK_ID,
            block=Field("block"),
            provider_data=Field("value"),
        ),
        "turn.suspended": _fields(turn_id=_TURN_ID, request=Field("request", required=True)),
        "turn.resumed": _fields(turn_id=_TURN_ID),
        "turn.completed": _END_FIELDS,
        "turn.failed": _END_FIELDS,
        "turn.cancelled": _END_FIELDS,
        "message.created": _fields(message=Field("complete_message", required=True)),
        "conversation.snapshot": _fields(
            messages=Field("messages", required=True),
            turns=Field("turns", required=True),
            open_block_ids=Field("ids", required=True),
            reset=Field("boolean"),
            more_before=Field("text"),
        ),
    }
)

# C0, DEL and C1: nothing that people see as a name may hold one.
CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,255}\Z")

ENUMS: Final[Mapping[Kind, tuple[str, ...]]] = MappingProxyType(
    {
        "role": tuple(sorted(ROLES)),
        "message_status": tuple(sorted(MESSAGE_STATUSES)),
        "terminal_status": tuple(sorted(TERMINAL_STATUSES)),
        "tool_status": TOOL_STATUSES,
        "visibility": VISIBILITIES,
        "request_kind": ("question", "approval"),
    }
)


def is_name(value: Json) -> bool:
    """Return whether people may be shown ``value`` as a name."""
    return isinstance(value, str) and len(value) <= NAME_CHARS_MAX and not CONTROLS.search(value)


def is_id(value: Json) -> bool:
    """Return whether ``value`` may identify something: a name with a visible character."""
    return is_name(value) and isinstance(value, str) and bool(value.strip())


def _is_integer(value: Json) -> bool:
    return type(value) is int and 0 <= value <= SAFE_INTEGER_MAX


# kind -> (test, code when it fails, what it should be). Kinds of nested records are checked
# by the validators; enumerations by ENUMS.
SCALARS: Final[Mapping[Kind, tuple[Callable[[Json], bool], str, str]]] = MappingProxyType(
    {
        "text": (lambda value: isinstance(value, str), "invalid_member", "a string"),
        "spoken": (
            lambda value: isinstance(value, str) and bool(value.strip()),
            "invalid_member",
            "a string that is not blank",
        ),
        "id": (
            is_id,
            "invalid_name",
            f"a string with 1 to {NAME_CHARS_MAX} characters, not blank, without controls",
        ),
        "name": (
            is_name,
            "invalid_name",
            f"a string of at most {NAME_CHARS_MAX} characters without controls",
        ),
        "code": (
            lambda value: isinstance(value, str) and CODE.match(value) is not None,
            "invalid_member",
            "a snake_case code",
        ),
        "value": (lambda _value: True, "invalid_member", "any JSON value"),
        "object": (lambda value: isinstance(value, dict), "invalid_member", "an object"),
        "integer": (_is_integer, "invalid_member", "an integer from 0 to 2^53-1"),
        "boolean": (lambda value: isinstance(value, bool), "invalid_member", "true or false"),
        "ids": (
            lambda value: isinstance(value, list) and all(map(is_id, value)),
            "invalid_member",
            "an array of ids",
        ),
    }
)
