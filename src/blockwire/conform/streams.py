"""Rows of bytes: messages that stand for themselves, amid everything else.

Spec: docs/spec/terminal/tools.md, "Vectors".
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

from blockwire.conform.answers import code_of, compare, failure, plain, response, with_types
from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.shape import FROM_APPLICATION, RESPONSE_KINDS, find_fault
from blockwire.conform.wire import Message, Said, WireReader, frames

__all__ = ["context_ids", "play_stream", "request_keys", "stream_of", "types_in"]

ID_CHARS_SURE: Final = 255
"""Of an id; a longer one may be too long for a terminal."""


def stream_of(row: Mapping[str, Any]) -> bytes:
    """Return the bytes of a row: as they are, or made by its recipe."""
    for name in ("stream_base64", "frames_base64"):
        if name in row:
            return base64.b64decode(row[name])
    recipe = row["data_recipe"]
    tail = recipe["tail"] * recipe.get("tail_repeat", 1)
    data = recipe["unit"] * recipe["repeat"] + tail
    payload = row["payload_prefix"] + data + row["payload_suffix"]
    return frames(payload.encode(), row.get("frame_id", 9))


def types_in(data: bytes) -> set[str]:
    """Return the content types of the messages in a stream, valid or not."""
    types: set[str] = set()
    for item in WireReader().receive_data(data):
        body = item.message.get("body") if isinstance(item, Said) else None
        content = body.get("content") if isinstance(body, dict) else None
        name = content.get("type") if isinstance(content, dict) else None
        types.update({name} if isinstance(name, str) else ())
    return types


def request_keys(row: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the ids of requests that a row uses up, with what it uses them for."""
    for event in events_of(row):
        message = event.get("message", {})
        if message.get("kind") in RESPONSE_KINDS:
            yield message["request_id"], message
        identity = event.get("identity") or {}
        if "request_id" in identity:
            yield identity["request_id"], "invalid"


def context_ids(row: Mapping[str, Any]) -> set[str]:
    """Return the ids of Contexts that a row names, and expects not to be there."""
    named = [event.get("message") or event.get("identity") or {} for event in events_of(row)]
    return {it["context_id"] for it in named if isinstance(it.get("context_id"), str)}


def events_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a decoder finds in a row."""
    if "message" in row:
        return [{"type": "message", "message": row["message"]}]
    events: list[dict[str, Any]] = row["expected"]["events"]
    return events


def play_stream(row: Mapping[str, Any], connection: Connection) -> None:
    """Send a row's bytes; raises :class:`Mismatch`."""
    data = stream_of(row)
    connection.request_ids.update(request_keys(row))
    events = events_of(row)
    expected = [answer for event in events if (answer := _alone_answer(event)) is not None]
    if not expected:
        expected = [
            response(message, {"outcome": "unsupported"}) for message in _other_versions(data)
        ]
    heard = connection.listen(data)
    replies = [plain(item) for item in heard if not isinstance(item, bytes)]
    if _is_long(row) and {code_of(reply) for reply in replies} == {"resource_exhausted"}:
        # Ids have no structural maximum, and a terminal has limits.
        return
    compare(replies, [with_types(answer, connection) for answer in expected])
    if not expected and not _has_ordinary(events):
        written = b"".join(item for item in heard if isinstance(item, bytes))
        if written:
            raise Mismatch(f"nothing was asked, and it wrote {written[:60]!r}")


def _has_ordinary(events: list[dict[str, Any]]) -> bool:
    return any(event["type"] == "ordinary" for event in events)


def _is_long(row: Mapping[str, Any]) -> bool:
    return any(
        isinstance(value, str) and len(value) > ID_CHARS_SURE
        for value in row.get("message", {}).values()
    )


def _alone_answer(event: Mapping[str, Any]) -> Message | None:
    """Return the answer to a message that stands for itself; None for silence."""
    if event["type"] == "error":
        identity = event.get("identity")
        return failure(identity, "invalid_message") if identity else None
    message = event.get("message", {})
    if message.get("kind") not in FROM_APPLICATION:
        return None
    if message["kind"] == "context.open":
        opened = response(message, {"outcome": "opened"})
        return opened | {"context_id": None}
    if message["kind"] != "capability.query":
        return failure(message, "context_not_open")
    if message["version"] != 1:
        return response(message, {"outcome": "unsupported"})
    return response(message, {"outcome": "supported", "optional_content_types": []})


def _other_versions(data: bytes) -> Iterator[Message]:
    """Yield the queries of versions that nobody speaks: valid otherwise, they are answered."""
    for item in WireReader().receive_data(data):
        if isinstance(item, Said) and find_fault(item.message) is None:
            message = item.message
            if message["kind"] == "capability.query" and message["version"] != 1:
                yield message
