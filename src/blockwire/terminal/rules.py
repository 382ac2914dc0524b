"""What a message must fulfil beyond its type: one row for each message that has such a rule.

Spec: docs/spec/terminal/messages.md, "Schemas".

A check returns the message with its content read: text as it is, spans and lines as tuples. It
looks at structure only; whether the content is valid and fits the Block is for the session to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from blockwire.errors import RemoteProtocolError
from blockwire.terminal.content import Data
from blockwire.terminal.messages import (
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockUpdate,
    CapabilityResponse,
    ContextOpenResponse,
    Opened,
    Supported,
    WireMessage,
)
from blockwire.terminal.types import CONTENT_TYPES, read_fragment
from blockwire.terminal.vocabulary import PLAIN

__all__ = ["check_message"]


def check_message(message: WireMessage, content_types: Collection[str]) -> WireMessage:
    """Return ``message`` with its content read, if it is valid beyond the types of its members.

    Args:
        message: As msgspec made it of JSON: lists and dicts where content is not text.
        content_types: Of these, and of ``text/plain``, the data is read; of all others it stays
            as it came.

    Raises:
        RemoteProtocolError: ``invalid_message``, with a pointer into the message.
    """
    check = _CHECKS.get(type(message))
    return message if check is None else check(message, content_types)


def _check_supported(message: CapabilityResponse, _: Collection[str]) -> WireMessage:
    if isinstance(message.body, Supported):
        names = message.body.optional_content_types
        if PLAIN in names:
            raise _invalid("the baseline type is listed", "/body/optional_content_types")
        if len(set(names)) != len(names):
            raise _invalid("a content type is listed twice", "/body/optional_content_types")
    return message


def _check_opened(message: ContextOpenResponse, _: Collection[str]) -> WireMessage:
    if isinstance(message.body, Opened) is (message.context_id is UNSET):
        raise _invalid("context_id goes with the outcome opened, and only with it", "/context_id")
    return message


def _read_snapshot(
    message: BlockAppend | BlockUpdate, content_types: Collection[str]
) -> WireMessage:
    content = message.body.content
    if content.type == PLAIN:
        if type(content.data) is str:
            return message
    elif content.type not in content_types or content.type not in CONTENT_TYPES:
        return message
    try:
        data = CONTENT_TYPES[content.type].read_data(cast("Any", content.data))
    except RemoteProtocolError as error:
        raise _inside(error, "/body/content/data") from None
    return replace(
        message, body=replace(cast("Struct", message.body), content=replace(content, data=data))
    )


def _read_extension(message: BlockExtend, _: Collection[str]) -> WireMessage:
    # One of these comes for each token, so it is asked here.
    if message.body.fragment and type(message.body.fragment) is str:
        return message
    return _with_fragment(message, "fragment", message.body.fragment, is_empty_allowed=False)


def _read_replacement(message: BlockReplaceSuffix, _: Collection[str]) -> WireMessage:
    if type(message.body.replacement) is str:
        return message
    return _with_fragment(message, "replacement", message.body.replacement, is_empty_allowed=True)


def _with_fragment(
    message: BlockExtend | BlockReplaceSuffix, name: str, value: Data, *, is_empty_allowed: bool
) -> WireMessage:
    try:
        data = read_fragment(cast("Any", value), is_empty_allowed=is_empty_allowed)
    except RemoteProtocolError as error:
        raise _inside(error, f"/body/{name}") from None
    return replace(message, body=replace(message.body, **{name: data}))


_Check: TypeAlias = Callable[[Any, Collection[str]], WireMessage]

_CHECKS: Final[Mapping[type[Struct], _Check]] = MappingProxyType(
    {
        CapabilityResponse: _check_supported,
        ContextOpenResponse: _check_opened,
        BlockAppend: _read_snapshot,
        BlockUpdate: _read_snapshot,
        BlockExtend: _read_extension,
        BlockReplaceSuffix: _read_replacement,
    }
)


def _invalid(detail: str, pointer: str) -> RemoteProtocolError:
    return RemoteProtocolError("invalid_message", detail, pointer=pointer)


def _inside(error: RemoteProtocolError, place: str) -> RemoteProtocolError:
    return _invalid(error.detail, place + (error.pointer or ""))
