"""The opening of an event stream: every case of cursor, snapshot and end has its answer here.

Spec: docs/spec/gateway/stream.md.

The stream joins its channels first and asks where the conversations stand afterwards: whatever is
committed in between is then in the log, in the ring, or in both, and never in neither.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.http.answer import Answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.http_errors import gateway_stopping
from blockwire.gateway.reading import NO_WAY_ON, Head
from blockwire.gateway.streams.source import Audience
from blockwire.gateway.streams.stream import SseReader, SseStream
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, encode_json
from blockwire.sse import encode_retry, encode_sse

__all__ = ["SSE_HEADERS", "Wish", "read_cursor", "read_wish", "read_wishes", "subscribe"]

RETRY_MS: Final = 1000
"""What readers are told to wait before they reconnect (docs/spec/gateway/stream.md)."""

SSE_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"content-type", b"text/event-stream"),
    # no-transform: an intermediary that compresses would hold events back.
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)

_CURSOR: Final = re.compile(r"(0|[1-9][0-9]{0,15})\Z")


class Wish(NamedTuple):
    """What is asked for: a conversation, and from where; a cursor of None means live only."""

    conversation_id: str
    cursor: int | None


def read_cursor(text: str) -> int:
    """Return the cursor that ``text`` spells.

    Raises:
        RemoteProtocolError: ``invalid_cursor``.
    """
    if not _CURSOR.match(text) or int(text) > SAFE_INTEGER_MAX:
        raise RemoteProtocolError("invalid_cursor", "a cursor is the id of an event, or 0")
    return int(text)


def _cursor_or_now(text: str) -> int | None:
    return None if text == "now" else read_cursor(text)


def read_wish(conversation_id: str, after: str | None, last_event_id: str) -> Wish:
    """Return what a request for one conversation asks for; ``Last-Event-ID`` beats ``after``."""
    if last_event_id:
        return Wish(conversation_id, read_cursor(last_event_id))
    return Wish(conversation_id, _cursor_or_now("0" if after is None else after))


def read_wishes(conversations: str, last_event_id: str, *, count_max: int) -> list[Wish]:
    """Return what ``a:10,b`` asks for; cursors in ``Last-Event-ID`` beat those.

    Raises:
        RemoteProtocolError: ``invalid_parameter``, ``invalid_cursor``.
    """
    wishes = _read_list(conversations)
    if len(wishes) > count_max:
        raise RemoteProtocolError("invalid_parameter", f"at most {count_max} conversations")
    if last_event_id:
        wishes.update({n: c for n, c in _read_list(last_event_id).items() if n in wishes})
    return [Wish(name, cursor) for name, cursor in wishes.items()]


def _read_list(text: str) -> dict[str, int | None]:
    cursors: dict[str, int | None] = {}
    for item in text.split(","):
        name, colon, cursor = item.partition(":")
        if not name or name in cursors:
            raise RemoteProtocolError("invalid_parameter", "conversations are listed as a:10,b")
        cursors[name] = _cursor_or_now(cursor if colon else "0")
    return cursors


async def subscribe(call: Call, wishes: Sequence[Wish], *, is_labelled: bool) -> Answer | None:
    """Serve an event stream until it or its peer ends.

    Returns 204 as a whole answer where a browser came back to a conversation that is over.

    Raises:
        BlockwireError: Before anything was sent: ``conversation_not_found``, ``invalid_cursor``,
            ``too_many_streams``, ``gateway_stopping``, ...
    """
    call.surface.limits.take_stream(call.caller.name)
    stream: SseStream | None = None
    try:
        stream = SseStream(
            call.surface.hub,
            call.service,
            [wish.conversation_id for wish in wishes],
            Audience(call.view(), call.tenant),
            until_idle=call.choice("until", "idle") == "idle",
            is_labelled=is_labelled,
        )
        if call.surface.hub.is_stopping:
            raise gateway_stopping()
        prelude = await _open(call, stream, wishes)
        if prelude is None:
            return Answer(status=204)
        await _begin(call, prelude)
        # There may be many thousands who read and wait; none holds what it does not need.
        del prelude, wishes
        call.forget_request()
        if call.method != "HEAD":
            await _stay(call, stream)
        return None
    finally:
        if stream is not None:
            stream.close()
        call.surface.limits.release_stream(call.caller.name)


async def _begin(call: Call, prelude: bytes) -> None:
    await call.start(SSE_HEADERS)
    is_head = call.method == "HEAD"
    body: dict[str, Any] = {"type": "http.response.body", "body": prelude, "more_body": not is_head}
    await call.send(body)


async def _stay(call: Call, stream: SseStream) -> None:
    call.check_stays()
    call.on_dismissed = stream.end_soon
    stream.start(call.send)
    try:
        while (await call.receive())["type"] != "http.disconnect":
            pass
    except asyncio.CancelledError:
        # The gateway stops, and this peer does not read: the stream itself cancelled its request.
        if not stream.is_cut:
            raise


async def _open(call: Call, stream: SseStream, wishes: Sequence[Wish]) -> bytes | None:
    """Return what the stream begins with; None when there is nothing to come and never will be."""
    heads = [await call.service.head(w.conversation_id, call.tenant) for w in wishes]
    for reader, wish, head in zip(stream.readers, wishes, heads, strict=True):
        reader.cursor = head.head_seq if wish.cursor is None else wish.cursor
    if (
        stream.until_idle
        and call.headers.get("last-event-id")
        and await _is_over(call, stream, heads)
    ):
        return None
    frames = [encode_retry(RETRY_MS)]
    for reader, head in zip(stream.readers, heads, strict=True):
        frames.append(stream.framed(_ready_frame(reader, head), reader))
    wants_snapshot = call.flag("snapshot")
    for reader, head in zip(stream.readers, heads, strict=True):
        is_ahead = reader.cursor > head.head_seq
        if is_ahead or wants_snapshot:
            frame, reader.cursor = await call.service.snapshot_frame(
                reader.channel.conversation_id, stream.view, reset=is_ahead
            )
            frames.append(stream.framed(frame, reader))
    return b"".join(frames)


async def _is_over(call: Call, stream: SseStream, heads: Sequence[Head]) -> bool:
    """Return whether nothing runs and every reader has all that its view gets."""
    for reader, head in zip(stream.readers, heads, strict=True):
        if head.running_turn_ids or head.has_queue or reader.cursor > head.head_seq:
            return False
        try:
            page = await call.service.store.read_frames(
                reader.channel.conversation_id, reader.cursor, view=stream.view, bytes_max=1
            )
        except StoreError as error:
            if error.code not in NO_WAY_ON:
                raise
            return False
        if page.count or not page.at_end:
            return False
    return True


def _ready_frame(reader: SseReader, head: Head) -> bytes:
    running: list[Json] = list(head.running_turn_ids)
    event: dict[str, Json] = {
        "type": "subscription.ready",
        "conversation_id": reader.channel.conversation_id,
        "cursor": reader.cursor,
        "head_seq": head.head_seq,
        "running_turn_ids": running,
    }
    return encode_sse(encode_json(event), event="subscription.ready", id=str(reader.cursor))
