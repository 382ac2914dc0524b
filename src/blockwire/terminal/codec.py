"""Strict bytes to messages and back.

Spec: docs/spec/terminal/json.md, docs/spec/terminal/messages.md.

A short message, which is nearly every one, and lists of spans and lines go through msgspec alone.
It takes the last of members that share a name and forgives blanks, so the result is written again:
if that is as long as what came, nothing was left out. All else is read by
:func:`blockwire.jsontext.decode_json`, which misses nothing and is the faster one for long texts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, check_json_value, decode_json
from blockwire.terminal.bounds import DEPTH_MAX, MESSAGE_BYTES_MAX, PROTOCOL_VERSION
from blockwire.terminal.faults import schema_fault
from blockwire.terminal.identity import identify, is_known_version, known_kind
from blockwire.terminal.messages import (
    MESSAGE_TYPES,
    AppendBody,
    CapabilityQuery,
    CapabilityResponse,
    Empty,
    ExtendBody,
    Identity,
    ReplaceSuffixBody,
    Unsupported,
    UpdateBody,
    WireMessage,
)
from blockwire.terminal.rules import check_message
from blockwire.terminal.vastness import without_vast_numbers
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED, WIRE_KINDS

__all__ = ["ALL_TYPES", "InvalidMessage", "decode_message", "encode_message"]

ALL_TYPES: Final = frozenset({PLAIN, STYLED, LINES})
"""The content types that are known here."""

SHORT_BYTES_MAX: Final = 2_048
"""Of a message that msgspec reads alone. Beyond, the stricter parser is also the faster one for
text; for lists of small objects it never is."""

_PROBE_BYTES: Final = 1_024
_TEXT_OBJECTS_MAX: Final = 5
"""Objects that begin in a message with text: itself, body, content; a string may end like one."""

_CONTENT_LEVEL: Final = 3
"""Levels of JSON around the data of a content: message, body, content."""

_encode: Final = msgspec.json.Encoder().encode
_decode_typed: Final = msgspec.json.Decoder(WireMessage).decode

_TYPE_OF_KIND: Final = MappingProxyType(dict(zip(WIRE_KINDS, MESSAGE_TYPES, strict=True)))

# A union of types would be made anew in every call.
_WITH_CONTENT: Final = (AppendBody, UpdateBody)
_READ_TYPES: Final = frozenset({str, tuple})

# What is understood although its version is not: message -> its body.
_Bodies: TypeAlias = Mapping[type[msgspec.Struct], type[msgspec.Struct]]
_READ_IN_ANY_VERSION: Final[_Bodies] = MappingProxyType({CapabilityQuery: Empty})
_WRITTEN_IN_ANY_VERSION: Final[_Bodies] = MappingProxyType(
    {CapabilityQuery: Empty, CapabilityResponse: Unsupported}
)


class InvalidMessage(RemoteProtocolError):  # noqa: N818 - says what it is, as `invalid_message` does
    """What came is no valid message; nothing changed.

    Attributes:
        code: For reports at this end: ``invalid_unicode``, ``invalid_json``,
            ``duplicate_member``, ``nesting_too_deep``, ``number_out_of_range``,
            ``not_an_object``, ``unknown_version``, ``unknown_kind`` or ``invalid_message``. What
            goes back, if anything does, is ``invalid_message`` always.
        identity: What the answer names; None: there is none.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        identity: Identity | None = None,
        pointer: str | None = None,
    ) -> None:
        super().__init__(code, detail, pointer=pointer)
        self.identity = identity


def decode_message(data: bytes, *, content_types: Collection[str] = ALL_TYPES) -> WireMessage:
    """Return the message that ``data`` is.

    Takes time linear in its length. Spans and lines come as tuples of
    :class:`~blockwire.terminal.content.Span` and :class:`~blockwire.terminal.content.Line`, an
    empty list as an empty tuple.

    Args:
        data: One JSON text. Its length is bounded by who cut it out of frames.
        content_types: The types that are advertised; ``text/plain`` always is. Content of
            another type keeps its JSON as it came.

    Returns:
        A message of version 1, or a well-formed ``capability.query`` of another version.

    Raises:
        InvalidMessage: For all else; ``identity`` says whether it is answered.
    """
    # A guess at what is faster; both ways say the same.
    is_quick = (
        len(data) <= SHORT_BYTES_MAX or data.count(b'{"', 0, _PROBE_BYTES) > _TEXT_OBJECTS_MAX
    )
    if is_quick and (message := _read_quickly(data, content_types)):
        return message
    return _read(data, content_types, _READ_IN_ANY_VERSION)


def encode_message(message: WireMessage) -> bytes:
    """Return ``message`` as compact UTF-8 JSON.

    Args:
        message: Of version 1, or a ``capability.query`` or an ``unsupported`` of any version.

    Raises:
        LocalProtocolError: ``invalid_json_value`` for what no JSON text holds (a lone surrogate,
            NaN), ``message_too_long`` beyond
            :data:`~blockwire.terminal.bounds.MESSAGE_BYTES_MAX`, else a code of
            :class:`InvalidMessage`: that is how the other end would see it.
    """
    try:
        data = _encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        detail = f"cannot be encoded: {type(error).__name__}"
        raise LocalProtocolError("invalid_json_value", detail) from None
    if len(data) > MESSAGE_BYTES_MAX:
        raise LocalProtocolError("message_too_long", f"{len(data)} bytes")
    # What is sent is what the reader takes; a second set of rules would drift from it.
    shown = message if len(data) <= SHORT_BYTES_MAX else _abridged(message)
    _check_written(data if shown is message else _encode(shown))
    body = message.body
    if isinstance(body, _WITH_CONTENT) and body.content.type not in ALL_TYPES:
        check_json_value(body.content.data, depth_max=DEPTH_MAX - _CONTENT_LEVEL)
    return data


def _check_written(data: bytes) -> None:
    """Raise for what the other end would refuse; ``data`` has just been written by msgspec."""
    try:
        if check_message(_decode_typed(data), ALL_TYPES).version == PROTOCOL_VERSION:
            return
    except (msgspec.MsgspecError, RemoteProtocolError, RecursionError):
        # The long way says what is wrong.
        pass
    try:
        _read(data, ALL_TYPES, _WRITTEN_IN_ANY_VERSION)
    except InvalidMessage as error:
        raise LocalProtocolError(error.code, error.detail, pointer=error.pointer) from None


def _abridged(message: WireMessage) -> WireMessage:
    """Return ``message`` with its text cut short: valid if, and only if, the whole one is."""
    body = message.body
    if isinstance(body, _WITH_CONTENT):
        if isinstance(body.content.data, str):
            content = replace(body.content, data=body.content.data[:1])
            return replace(message, body=replace(body, content=content))
    elif isinstance(body, ExtendBody):
        if isinstance(body.fragment, str):
            return replace(message, body=replace(body, fragment=body.fragment[:1]))
    elif isinstance(body, ReplaceSuffixBody) and isinstance(body.replacement, str):
        return replace(message, body=replace(body, replacement=body.replacement[:1]))
    return message


def _read_quickly(data: bytes, content_types: Collection[str]) -> WireMessage | None:
    """Return the message if a quick look is enough to know that it is one, else None."""
    try:
        found = _decode_typed(data)
        message = check_message(found, content_types)
    except (msgspec.MsgspecError, RemoteProtocolError, RecursionError):
        return None
    if message.version != PROTOCOL_VERSION:
        return None
    # Nothing is known of numbers and depth inside JSON that nobody has read.
    body = message.body
    if isinstance(body, _WITH_CONTENT) and type(body.content.data) not in _READ_TYPES:
        return None
    # Strings and members are written as short as JSON allows. So if the text that came is not
    # longer, it has no blanks, no needless escapes, and no member twice.
    return message if len(_encode(found)) == len(data) else None


def _read(data: bytes, content_types: Collection[str], any_version: _Bodies) -> WireMessage:
    """Return the message; here nothing is taken for granted."""
    members = _parse(data)
    if not isinstance(members, dict):
        raise InvalidMessage("not_an_object", "a message is one JSON object")
    if not is_known_version(members.get("version")):
        return _read_other_version(members, any_version)
    kind = known_kind(members.get("kind"))
    if kind is None:
        raise InvalidMessage("unknown_kind", "not a kind of message")
    try:
        message = cast("WireMessage", msgspec.convert(members, _TYPE_OF_KIND[kind]))
        return check_message(message, content_types)
    except msgspec.ValidationError as error:
        code = "invalid_message"
        detail, place = schema_fault(error)
    except RemoteProtocolError as error:
        code, detail, place = error.code, error.detail, error.pointer or ""
    raise InvalidMessage(code, detail, identity=identify(members), pointer=place)


def _read_other_version(members: dict[str, Json], bodies: _Bodies) -> WireMessage:
    """Return one of the few messages that mean the same in any version."""
    kind = known_kind(members.get("kind"))
    body = bodies.get(_TYPE_OF_KIND[kind]) if kind else None
    if kind and body:
        try:
            message = cast("WireMessage", msgspec.convert(members, _TYPE_OF_KIND[kind]))
        except msgspec.ValidationError:
            pass
        else:
            if isinstance(message.body, body):
                return message
    raise InvalidMessage("unknown_version", "not a version that is spoken here")


def _parse(data: bytes) -> Json:
    try:
        return decode_json(data)
    except RemoteProtocolError as error:
        refusal = error
    identity: Identity | None = None
    if refusal.code == "number_out_of_range":
        # It is JSON all the same, so its sender may be told.
        try:
            identity = identify(decode_json(without_vast_numbers(data)))
        except RemoteProtocolError as error:
            refusal = error
    raise InvalidMessage(refusal.code, refusal.detail, identity=identity)
