"""What a receiver makes of a stream, as the vectors of the codec write it down."""

import base64
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from blockwire.jsontext import Json, decode_json
from blockwire.terminal import (
    EMPTY,
    CapabilityQuery,
    Identity,
    InvalidMessage,
    RequestIdentity,
    WireMessage,
    decode_message,
    encode_message,
)
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import BadFrame, Ordinary, Payload, encode_frames

Read: TypeAlias = WireMessage | InvalidMessage | BadFrame | Ordinary
NOT_MESSAGES = InvalidMessage | BadFrame | Ordinary

PROBE = encode_message(CapabilityQuery(version=1, request_id="probe", body=EMPTY))


def read(stream: bytes) -> Iterator[Read]:
    """Yield messages and what is wrong, one frame decoder for all of the stream."""
    decoder = FrameDecoder()
    for event in [*decoder.receive_data(stream), *decoder.end_of_stream()]:
        if not isinstance(event, Payload):
            yield event
            continue
        try:
            yield decode_message(event.data)
        except InvalidMessage as error:
            yield error


def spelled(message: WireMessage) -> Json:
    """Return a message as the JSON value that it is."""
    return decode_json(msgspec.json.encode(message))


def told(identity: Identity | None) -> Json:
    """Return an identity as the vectors write it."""
    if identity is None:
        return None
    category = "control" if isinstance(identity, RequestIdentity) else "operation"
    ids = {name: it for name, it in msgspec.to_builtins(identity).items() if it is not None}
    del ids["version"]
    return {"category": category, **ids}


def payload_of(row: Any) -> bytes:
    """Return the text that the recipe of a long row describes."""
    recipe = row["data_recipe"]
    text = recipe["unit"] * recipe["repeat"] + recipe["tail"] * recipe.get("tail_repeat", 1)
    return bytes((row["payload_prefix"] + text + row["payload_suffix"]).encode())


def check_valid(row: Any) -> None:
    """Read a row of ``codec_valid``, and write its message again."""
    [message] = read(base64.b64decode(row["frames_base64"]))
    assert not isinstance(message, NOT_MESSAGES)
    assert spelled(message) == row["message"]
    assert decode_message(encode_message(message)) == message


def check_long(row: Any, frames: bytes) -> None:
    """Read a row of ``codec_valid_large``, and write its message again."""
    [message] = read(frames)
    assert not isinstance(message, NOT_MESSAGES)
    members: Any = spelled(message)
    assert len(members["body"]["content"]["data"]) == row["data_recipe"]["scalar_length"]
    members["body"]["content"]["data"] = None
    assert members == row["message"]
    assert len(encode_message(message)) == row["payload_bytes"]


def check_invalid(row: Any, stream: bytes) -> InvalidMessage:
    """Read a row of ``codec_invalid`` and a good message behind it; return the refusal."""
    found = list(read(stream + encode_frames(PROBE, 77)))
    messages = [spelled(it) for it in found if not isinstance(it, NOT_MESSAGES)]
    assert messages == [row["probe_appended"]["extra_events"][-1]["message"]]
    [error] = [it for it in found if isinstance(it, InvalidMessage)]
    [event] = row["expected"]["events"]
    assert told(error.identity) == event.get("identity")
    assert (error.identity is not None) is row["identity_exposed"]
    return error
