"""Lines of input, one JSON value each, and what the terminal protocol looks like as lines.

Spec: docs/spec/terminal/tools.md, "Lines of JSON". A line is bounded; the number of lines is not.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from blockwire.cli.documents import read_pieces
from blockwire.jsontext import Json, decode_json
from blockwire.terminal import (
    BadFrame,
    FrameDecoder,
    FrameEvent,
    Identity,
    InvalidMessage,
    OperationIdentity,
    Ordinary,
    Payload,
    WireMessage,
    decode_message,
    encode_message,
)
from blockwire.terminal.bounds import PROTOCOL_VERSION

__all__ = [
    "LINE_BYTES_MAX",
    "LONG_LINE",
    "Read",
    "identity_json",
    "json_of",
    "message_json",
    "read_events",
    "read_lines",
]

LINE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Of one line of input: a message of the greatest length, escaped to the last character, twice."""

LONG_LINE: Final = b"\x00"
"""Stands for a line that was longer: no JSON begins like that."""

_DEPTH_MAX: Final = 64


def read_lines(name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers from 1.

    Args:
        name: Path, or ``-`` for standard input.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    number = 1
    held: list[bytes] = []
    size = 0
    for piece in read_pieces(name):
        *ended, rest = piece.split(b"\n")
        for part in ended:
            yield from _line(number, held, size, part)
            number += 1
            held, size = [], 0
        size += len(rest)
        if size <= LINE_BYTES_MAX:
            held.append(rest)
        else:
            held = []
    yield from _line(number, held, size, b"")


def _line(number: int, held: list[bytes], size: int, part: bytes) -> Iterator[tuple[int, bytes]]:
    line = b"".join((*held, part)) if size + len(part) <= LINE_BYTES_MAX else LONG_LINE
    if line.strip():
        yield number, line


class Read(NamedTuple):
    """One thing that was found in a stream of bytes.

    Attributes:
        event: What the decoder of frames says.
        message: The message in it, if it is one.
        error: Why it is none, for a payload.
    """

    event: FrameEvent
    message: WireMessage | None = None
    error: InvalidMessage | None = None


def read_events(name: str) -> Iterator[list[Read]]:
    """Yield what is in a stream of bytes, a list for each piece that was read.

    Args:
        name: Path, or ``-`` for standard input.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    decoder = FrameDecoder()
    for piece in read_pieces(name):
        yield [_read(event) for event in decoder.receive_data(piece)]
    yield [_read(event) for event in decoder.end_of_stream()]


def _read(event: FrameEvent) -> Read:
    if not isinstance(event, Payload):
        return Read(event)
    try:
        message = decode_message(event.data)
        if message.version == PROTOCOL_VERSION:
            return Read(event, message=message)
        # A query that is answered `unsupported`: nobody here knows what else its version says.
        detail = f"a query of version {message.version}"
        return Read(event, error=InvalidMessage("unknown_version", detail, identity=None))
    except InvalidMessage as error:
        return Read(event, error=error)


def message_json(message: WireMessage) -> dict[str, Any]:
    """Return a message as the JSON object that it is on the wire."""
    value: Any = decode_json(encode_message(message), depth_max=_DEPTH_MAX)
    return value  # type: ignore[no-any-return]


def identity_json(identity: Identity | None) -> Json:
    """Return what may be answered as JSON, in the form of the vectors; null for silence."""
    if identity is None:
        return None
    if isinstance(identity, OperationIdentity):
        ids = {"operation_id": identity.operation_id, "context_id": identity.context_id}
        return {"category": "operation", "kind": identity.kind, **ids}
    members: dict[str, Json] = {"category": "control", "kind": identity.kind}
    members["request_id"] = identity.request_id
    if identity.context_id is not None:
        members["context_id"] = identity.context_id
    return members


def json_of(read: Read) -> dict[str, Json]:
    """Return what was found as an object of ``frames decode --json``."""
    if read.message is not None:
        return {"message": message_json(read.message)}
    if read.error is not None:
        return {"error": read.error.code, "identity": identity_json(read.error.identity)}
    form = _FORMS[type(read.event)]
    return form(read.event)


def _bad_frame(event: BadFrame) -> dict[str, Json]:
    return {"error": event.code, "identity": None}


def _ordinary(event: Ordinary) -> dict[str, Json]:
    return {"data_base64": base64.b64encode(event.data).decode()}


_FORMS: Final[Mapping[type, Callable[[Any], dict[str, Json]]]] = {
    BadFrame: _bad_frame,
    Ordinary: _ordinary,
}
