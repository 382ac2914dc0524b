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
from blockwire.content.fields import EVENT_FIELDS, STAMP_FIELDS, STARTED_EXTRAS, is_id
from blockwire.content.keys import check_keys
from blockwire.content.validate import check_members, check_open_value, is_type
from blockwire.content.vocabulary import NAME_CHARS_MAX, TURN_ENDS
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, encode_json

__all__ = [
    "are_plain_names",
    "check_event",
    "decode_event",
    "encode_event",
    "event_members",
    "event_type",
]

_encode: Final = msgspec.json.Encoder().encode
_DELTA: Final = "content.block.delta"
_DELTA_MEMBER_COUNT: Final = 1 + len(EVENT_FIELDS[_DELTA])

_CLASSES: Final[Mapping[str, Callable[..., StreamEvent]]] = MappingProxyType(
    {
        "turn.started": TurnStarted,
        "content.block.started": BlockStarted,
        _DELTA: BlockDelta,
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
_TYPE_OF_STATUS: Final[Mapping[str, str]] = MappingProxyType(
    {status: name for name, status in TURN_ENDS.items()}
)
_NOT_EXTRA: Final = frozenset({"type", *ENVELOPE_MEMBERS})


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
            ``block_exists``, ``message_exists``, ``turn_exists``, with a pointer.
    """
    if not isinstance(value, dict):
        raise RemoteProtocolError("invalid_event", "an event is an object", pointer="")
    if value.get("type") == _DELTA:
        delta = _decode_plain_delta(value)
        if delta is not None:
            return delta
    if not keys_checked:
        check_keys(value)
    name = value.get("type")
    if not is_id(name):
        raise RemoteProtocolError("invalid_event", "an event has a type", pointer="/type")
    return _decode_members(cast("str", name), value)


def _decode_members(name: str, value: dict[str, Json]) -> StreamEvent:
    fields = EVENT_FIELDS.get(name)
    if fields is None and not is_type(name):
        raise RemoteProtocolError("invalid_enum", "an event type is lower-case", pointer="/type")
    check_members(value, STAMP_FIELDS, "")
    stamps: dict[str, Any] = {k: value[k] for k in STAMP_FIELDS if k in value}
    if stamps.get("seq") and stamps.get("prev_seq", 0) >= stamps["seq"]:
        raise RemoteProtocolError(
            "invalid_member", "expected a number before seq", pointer="/prev_seq"
        )
    rest = {k: v for k, v in value.items() if k not in _NOT_EXTRA}
    if fields is None:
        return UnknownEvent(type=name, members=rest, **stamps)
    check_members(value, fields, "")
    known: dict[str, Any] = {k: rest.pop(k) for k in fields if k in rest}
    _check_relations(name, known, rest)
    return _CLASSES[name](**known, **stamps, extra=rest or None)


def are_plain_names(turn_id: str, block_id: str, field: str) -> bool:
    """Tell whether the names pass, by the checks of ``fields`` in their cheapest form.

    Printable is stricter than free of controls, and what begins above the blank is not blank.
    """
    return (
        turn_id[:1] > " "
        and block_id[:1] > " "
        and (turn_id + block_id + field).isprintable()
        and len(turn_id) <= NAME_CHARS_MAX
        and len(block_id) <= NAME_CHARS_MAX
        and len(field) <= NAME_CHARS_MAX
    )


def _decode_plain_delta(value: dict[str, Any]) -> BlockDelta | None:
    """Return the event that makes up nearly all of a stream, without the general machinery.

    None when anything about it is unusual; then the general machinery finds out what.
    """
    try:
        turn_id, block_id = value["turn_id"], value["block_id"]
        field, text = value["field"], value["text"]
        if not (
            type(turn_id) is type(block_id) is type(field) is type(text) is str
            and are_plain_names(turn_id, block_id, field)
        ):
            return None
        if len(value) == _DELTA_MEMBER_COUNT:
            return BlockDelta(turn_id, block_id, field, text)
        return _decode_stamped_delta(value, turn_id, block_id, field, text)
    except KeyError:
        return None


def _decode_stamped_delta(
    value: dict[str, Any], turn_id: str, block_id: str, field: str, text: str
) -> BlockDelta | None:
    conversation_id, ts = value["conversation_id"], value["ts"]
    seq, prev_seq = value["seq"], value["prev_seq"]
    if (
        len(value) == _DELTA_MEMBER_COUNT + len(ENVELOPE_MEMBERS)
        and type(seq) is type(prev_seq) is type(ts) is int
        and 0 <= prev_seq < seq <= SAFE_INTEGER_MAX
        and 0 <= ts <= SAFE_INTEGER_MAX
        and type(conversation_id) is str
        and conversation_id[:1] > " "
        and conversation_id.isprintable()
        and len(conversation_id) <= NAME_CHARS_MAX
    ):
        return BlockDelta(
            turn_id,
            block_id,
            field,
            text,
            conversation_id=conversation_id,
            seq=seq,
            prev_seq=prev_seq,
            ts=ts,
        )
    return None


def _check_relations(name: str, known: Mapping[str, Any], rest: Mapping[str, Json]) -> None:
    status = TURN_ENDS.get(name)
    if status is not None and known["status"] != status:
        raise RemoteProtocolError(
            "invalid_enum", f"{name} repeats its word in status", pointer="/status"
        )
    if status is not None and "content" in rest:
        raise RemoteProtocolError(
            "invalid_member", "a terminal event never repeats the answer", pointer="/content"
        )
    if name == "turn.started":
        check_members(rest, STARTED_EXTRAS, "")
    block = known.get("block")
    if name == "content.block.completed" and block is not None:
        if block["type"] != "tool":
            raise RemoteProtocolError(
                "field_not_mutable", "only a tool repeats itself at its end", pointer="/block/type"
            )
        if block["id"] != known["block_id"]:
            raise RemoteProtocolError(
                "invalid_member", "expected the block of block_id", pointer="/block/id"
            )


def check_event(event: StreamEvent) -> StreamEvent:
    """Return ``event`` as the codec would give it back, whoever made it.

    For events of code that we did not write: what passes can be encoded, and decoded again by any
    receiver.

    Raises:
        RemoteProtocolError: See :func:`decode_event`.
        LocalProtocolError: ``invalid_json_value`` for a value that is no JSON.
    """
    members = event_members(event)
    check_open_value(members)
    return decode_event(members, keys_checked=True)


def event_members(event: StreamEvent) -> dict[str, Json]:
    """Return ``event`` as an open object, the stamped members last and only where they are set."""
    name = event_type(event)
    members: dict[str, Json] = {"type": name}
    if isinstance(event, UnknownEvent):
        rest = event.members
    else:
        rest = event.extra or {}
        for field, (_kind, required) in EVENT_FIELDS[name].items():
            value = getattr(event, field)
            if required or (value is not None and value is not False):
                members[field] = value
    # Extra members override nothing that this version knows.
    members.update({k: v for k, v in rest.items() if k not in members and k not in _NOT_EXTRA})
    for stamp in ENVELOPE_MEMBERS:
        if value := getattr(event, stamp):
            members[stamp] = value
    return members


def encode_event(event: StreamEvent) -> bytes:
    """Return ``event`` as compact JSON without line breaks.

    Raises:
        LocalProtocolError: ``invalid_json_value`` if it holds what JSON cannot (it passed no door).
    """
    if type(event) is BlockDelta and event.extra is None:
        try:
            return _encode(event)
        except UnicodeEncodeError:
            raise LocalProtocolError(
                "invalid_json_value", "a string holds a lone surrogate"
            ) from None
    return encode_json(event_members(event))
