"""What the tests of the contract say things with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from blockwire.content import (
    View,
)
from blockwire.errors import BlockwireError
from blockwire.jsontext import decode_json
from blockwire.ports import Append, Draft, MessageRow, Store
from blockwire.sse import SseDecoder, SseEvent
from blockwire.testing.store_script import T0, Script

__all__ = [
    "PAGE_BYTES",
    "VIEWS",
    "WAIT_S",
    "decode_frames",
    "list_messages",
    "numbers_of",
    "plain_append",
    "read_all",
    "read_everything",
    "refuses",
    "tell_turn",
]

WAIT_S: Final = 10
PAGE_BYTES: Final = 64 * 1024
VIEWS: Final[tuple[View, View]] = ("owner", "public")


@contextmanager
def refuses(code: str) -> Iterator[None]:
    """Demand that the block is refused with this code."""
    refused_with = None
    try:
        yield
    except BlockwireError as error:
        refused_with = error.code
    assert refused_with == code, f"refused with {refused_with}, not {code}"


async def read_all(  # noqa: PLR0913 - as the method it reads with
    store: Store,
    view: View = "owner",
    *,
    conversation_id: str = "conv_1",
    after: int = 0,
    up_to: int | None = None,
    bytes_max: int = PAGE_BYTES,
) -> list[dict[str, Any]]:
    """Return the events after a cursor, page by page, each checked against its frame."""
    frames = b""
    count = 0
    while True:
        page = await store.read_frames(
            conversation_id, after, view=view, bytes_max=bytes_max, up_to=up_to
        )
        assert page.last_seq >= after
        assert page.count or page.at_end, "a page that is not the last brings something"
        frames += page.frames
        count += page.count
        after = page.last_seq
        if page.at_end:
            break
    events = decode_frames(frames)
    assert len(events) == count
    return events


def decode_frames(frames: bytes) -> list[dict[str, Any]]:
    """Return the events in joined frames."""
    decoder = SseDecoder()
    events: list[dict[str, Any]] = []
    for item in decoder.receive_data(frames):
        assert isinstance(item, SseEvent), "frames are far below the bound of a reader"
        event = decode_json(item.data.encode())
        assert isinstance(event, dict)
        assert item.type == event["type"]
        assert item.last_event_id == str(event["seq"])
        events.append(event)
    return events


def numbers_of(events: Sequence[dict[str, Any]]) -> list[int]:
    """Return the numbers of events."""
    return [event["seq"] for event in events]


def plain_append(text: str = "x", conversation_id: str = "conv_1", **members: Any) -> Append:
    """Return an append of one event of a type that no reducer knows."""
    data = msgspec.json.encode({"type": "test.said", "text": text})
    return Append(
        conversation_id=conversation_id, drafts=[Draft("test.said", data, data)], ts=T0, **members
    )


async def tell_turn(store: Store, script: Script, *texts: str, turn_id: str = "turn_1") -> None:
    """Store one whole turn, a thought that is private first."""
    await store.append(script.start_turn(turn_id))
    await store.append(script.start_thought(turn_id))
    await store.append(script.write("hm", "well", turn_id=turn_id, block_id="r1"))
    await store.append(script.start_block(turn_id))
    for text in texts:
        await store.append(script.write(text, turn_id=turn_id))
    await store.append(script.end_turn(turn_id))


async def list_messages(store: Store, **bounds: Any) -> list[MessageRow]:
    """Return finished messages of ``conv_1``, all that fit unless ``bounds`` say otherwise."""
    arguments: dict[str, Any] = {
        "conversation_id": "conv_1",
        "before_seq": None,
        "after_seq": None,
        "up_to_seq": None,
        "limit": 100,
        "bytes_max": 1024 * 1024,
    }
    arguments |= bounds
    return list(await store.list_messages(arguments.pop("conversation_id"), **arguments))


async def read_everything(store: Store) -> list[Any]:
    """Return whatever can be read of ``conv_1``, to be compared with later."""
    return [
        await store.load_conversation("conv_1"),
        await read_all(store),
        await read_all(store, "public"),
        await list_messages(store),
        await store.list_turns("conv_1", cursor=None, limit=100),
    ]
