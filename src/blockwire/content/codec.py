"""Events <-> open JSON objects.

Spec: docs/spec/content/events.md.

Decoding is strict about what this version knows and lenient about what it does not: unknown
members go to ``extra``, unknown types become :class:`UnknownEvent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from blockwire.content.events import (
    ENVELOPE_MEMBERS,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationSnapshot,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
)
from blockwire.content.fields import EVENT_FIELDS
from blockwire.content.keys import check_keys
from blockwire.content.validate import check_block, check_complete_message, check_members
from blockwire.content.vocabulary import TIME_MAX, TURN_ENDS
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, encode_json

__all__ = ["decode_event", "encode_event", "event_members", "event_type"]

_encode: Final = msgspec.json.Encoder().encode
_DELTA_MEMBERS: Final = frozenset({"type", "turn_id", "block_id", "field", "text"})

_CLASSES: Final[Mapping[str, Callable[..., StreamEvent]]] = MappingProxyType(
    {
        "turn.started": TurnStarted,
        "content.block.started": BlockStarted,
        "content.block.delta": BlockDelta,
        "content.block.updated": BlockUpdated,
        "content.block.completed": BlockCompleted,
        "turn.suspended": TurnSuspended,
        "turn.resumed": TurnResumed,
        "turn.completed": TurnEnded,
        "turn.failed": TurnEnded,
        "turn.cancelled": TurnEnded,
        "message.created": MessageCreated,
        "conversation.snapshot": ConversationSnapshot,
    }
)
# Written even when they hold a default, since the wire form requires them.
_TYPE_OF_STATUS: Final[Mapping[str, str]] = MappingProxyType(
    {status: name for name, status in TURN_ENDS.items()}
)
_RESERVED: Final = frozenset({"type", "seq", "prev_seq", "ts"})


def event_type(event: StreamEvent) -> str:
    """Return the ``type`` that ``event`` has on the wire."""
    if isinstance(event, TurnEnded):
        return _TYPE_OF_STATUS[event.status]
    if isinstance(event, UnknownEvent):
        return event.type
    return cast("str", event.__struct_config__.tag)


def decode_event(value: Json, *, keys_checked: bool = False) -> StreamEvent:
    """Return the event that ``value`` spells.

    Args:
        value: A decoded JSON value; ``seq`` and the other stamped members may be missing.
        keys_checked: The caller has applied the key rule to ``value`` already.

    Raises:
        RemoteProtocolError: ``invalid_event``, ``missing_member``, ``invalid_member``,
            ``invalid_name``, ``invalid_enum``, ``invalid_key``, ``field_not_mutable``,
            ``block_exists``, with a pointer.
    """
    if not isinstance(value, dict):
        raise RemoteProtocolError("invalid_event", "an event is an object", pointer="")
    if value.keys() == _DELTA_MEMBERS and value["type"] == "content.block.delta":
        return _decode_plain_delta(value)
    name = value.get("type")
    if not isinstance(name, str) or not name:
        raise RemoteProtocolError("invalid_event", "an event has a type", pointer="/type")
    if not keys_checked:
        check_keys(value)
    numbers = _numbers(value)
    fields = EVENT_FIELDS.get(name)
    if fields is None:
        members = {k: v for k, v in value.items() if k != "type" and k not in ENVELOPE_MEMBERS}
        return UnknownEvent(type=name, members=members, **numbers)
    check_members(value, fields, "")
    known: dict[str, Any] = {k: value[k] for k in fields if k in value}
    extra = {
        k: v
        for k, v in value.items()
        if k not in fields and k != "type" and k not in ENVELOPE_MEMBERS
    }
    _check_relations(name, known)
    return _CLASSES[name](**known, **numbers, extra=extra or None)


def _decode_plain_delta(value: dict[str, Json]) -> BlockDelta:
    """Decode the event that makes up nearly all of a stream, without the general machinery."""
    check_members(value, EVENT_FIELDS["content.block.delta"], "")
    return BlockDelta(
        cast("str", value["turn_id"]),
        cast("str", value["block_id"]),
        cast("str", value["field"]),
        cast("str", value["text"]),
    )


def _numbers(value: Mapping[str, Json]) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for name in ("seq", "prev_seq", "ts"):
        if name in value:
            number = value[name]
            if type(number) is not int or not 0 <= number <= TIME_MAX:
                raise RemoteProtocolError(
                    "invalid_member", "expected an integer from 0 to 2^53-1", pointer=f"/{name}"
                )
            numbers[name] = number
    if "conversation_id" in value:
        conversation_id = value["conversation_id"]
        if not isinstance(conversation_id, str):
            raise RemoteProtocolError(
                "invalid_member", "expected a string", pointer="/conversation_id"
            )
        numbers["conversation_id"] = conversation_id
    return numbers


def _check_relations(name: str, known: Mapping[str, Any]) -> None:
    status = TURN_ENDS.get(name)
    if status is not None and known["status"] != status:
        raise RemoteProtocolError(
            "invalid_enum", f"{name} repeats its word in status", pointer="/status"
        )
    if name == "message.created":
        check_complete_message(known["message"], "/message")
    if name == "content.block.completed" and "block" in known:
        block = check_block(known["block"], "/block")
        if block["type"] != "tool" or block["id"] != known["block_id"]:
            raise RemoteProtocolError(
                "invalid_member", "only a tool repeats itself when it completes", pointer="/block"
            )


def event_members(event: StreamEvent) -> dict[str, Json]:
    """Return ``event`` as an open object, the stamped members last and only where they are set."""
    members: dict[str, Json] = {"type": event_type(event)}
    if isinstance(event, UnknownEvent):
        members.update(event.members)
    else:
        for name in EVENT_FIELDS[event_type(event)]:
            value = getattr(event, name)
            if value is not None and not (name == "reset" and value is False):
                members[name] = value
    if event.extra:
        members.update({k: v for k, v in event.extra.items() if k not in _RESERVED})
    for name in ENVELOPE_MEMBERS:
        value = getattr(event, name)
        if value:
            members[name] = value
    return members


def encode_event(event: StreamEvent) -> bytes:
    """Return ``event`` as compact JSON without line breaks.

    Raises:
        LocalProtocolError: If it holds a value that JSON cannot (it did not pass a door).
    """
    if type(event) is BlockDelta and event.extra is None:
        return _encode(event)
    return encode_json(event_members(event))
