"""The reference vectors of framing and mixed streams, which another implementation has written."""

import base64
from collections.abc import Iterable
from typing import Any, Final

import pytest

from blockwire.jsontext import Json, decode_json
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import (
    BadFrame,
    FrameEvent,
    Ordinary,
    Payload,
    encode_frames,
)
from tests.suites import handed_vectors
from tests.terminal.frames import cut, single_bytes

# It goes on to the end of a frame that is too long, whatever begins inside; the specification
# says that ESC ] begins something else there, too (docs/adr/0116).
SEES_LESS: Final = "osc: overlong frame swallowing a nested frame start"

NESTED: Final = {"version": 1, "kind": "capability.query", "request_id": "x", "body": {}}


def rows(name: str) -> list[Any]:
    found = handed_vectors(name)
    return [
        pytest.param(row, id=row["name"])
        for row in found
        if row.get("layer", "framing") == "framing"
    ]


def outline(events: Iterable[FrameEvent]) -> list[bytes | tuple[int, Json]]:
    """Return ordinary bytes, joined, and messages; of one that is not JSON only its place."""
    found: list[bytes | tuple[int, Json]] = []
    for event in events:
        if isinstance(event, Payload):
            found.append((event.frame_id, decode_json(event.data)))
        elif isinstance(event, Ordinary):
            last = found[-1] if found else None
            if isinstance(last, bytes):
                found[-1] = last + event.data
            else:
                found.append(event.data)
    return found


def expected_outline(expected: Any) -> list[bytes | tuple[int, Json]]:
    found: list[bytes | tuple[int, Json]] = []
    for event in expected["events"] + expected["events_at_end_of_stream"]:
        if event["type"] == "message":
            found.append((event["frame_id"], event["message"]))
        elif event["type"] == "ordinary":
            data = base64.b64decode(event["base64"])
            last = found[-1] if found else None
            if isinstance(last, bytes):
                found[-1] = last + data
            else:
                found.append(data)
    return found


def is_told(row: Any, error: Json) -> bool:
    return any(event["type"] == "error" for event in row["expected"][error])


@pytest.mark.parametrize("row", rows("mixed_stream.jsonl"))
def test_a_mixed_stream_is_parted_at_every_listed_cut(row: Any) -> None:
    stream = base64.b64decode(row["stream_base64"])
    expected = row["expected"]
    refused = sum(event.get("layer") == "message" for event in expected["events"])

    for cuts in (*row["splits"], range(1, len(stream))):
        decoder = FrameDecoder()
        events = [event for piece in cut(stream, cuts) for event in decoder.receive_data(piece)]
        events += decoder.end_of_stream()
        ordinary = b"".join(event.data for event in events if isinstance(event, Ordinary))
        assert ordinary == base64.b64decode(expected["ordinary_base64"])
        payloads = sum(isinstance(event, Payload) for event in events)
        assert payloads == len(expected["messages"]) + refused
        if not refused:
            assert outline(events) == expected_outline(expected)


@pytest.mark.parametrize("row", rows("codec_invalid.jsonl"))
def test_a_bad_frame_is_dropped_and_the_next_is_read(row: Any) -> None:
    stream = base64.b64decode(row["stream_base64"])
    expected = row["expected"]
    probe = encode_frames(b'{"probe":1}', 77)
    messages = [event for event in expected["events"] if event["type"] == "message"]

    for pieces in ([stream], single_bytes(stream)):
        decoder = FrameDecoder()
        events = [event for piece in pieces for event in decoder.receive_data(piece)]
        found: list[tuple[int, Any]] = [
            (event.frame_id, decode_json(event.data))
            for event in events
            if isinstance(event, Payload)
        ]
        wanted = [(event["frame_id"], event["message"]) for event in messages]
        assert found[len(wanted) :] == [(2, NESTED)] * (row["name"] == SEES_LESS)
        assert found[: len(wanted)] == wanted
        assert any(isinstance(it, BadFrame) for it in events) is is_told(row, "events")
        *_, last = decoder.receive_data(probe)
        assert isinstance(last, Payload)
        assert last.frame_id == 77


@pytest.mark.parametrize("row", rows("codec_invalid.jsonl"))
def test_the_end_of_a_stream_tells_what_did_not_end(row: Any) -> None:
    decoder = FrameDecoder()
    decoder.receive_data(base64.b64decode(row["stream_base64"]))

    told = any(isinstance(event, BadFrame) for event in decoder.end_of_stream())

    assert told is is_told(row, "events_at_end_of_stream")


@pytest.mark.parametrize("row", rows("codec_invalid_large.jsonl"))
def test_a_message_that_is_too_long_is_dropped(row: Any) -> None:
    is_full = row["name"] == "assembly: 342 frames of 3072 bytes"
    size = 342 * 3_072 if is_full else 1_048_577
    decoder = FrameDecoder()
    events: list[FrameEvent] = []

    for index in range(342):
        part = base64.b64encode(b"x" * min(3_072, size - index * 3_072))
        more = index < 341
        events += decoder.receive_data(b"\x1b]9002;1;3;%d;%d;%b\x1b\\" % (index, more, part))

    assert {type(event) for event in events} == {BadFrame}
    *_, last = decoder.receive_data(encode_frames(b"{}", 77))
    assert isinstance(last, Payload)


@pytest.mark.parametrize("row", handed_vectors("codec_valid.jsonl"), ids=lambda row: row["name"])
def test_the_frames_of_a_valid_message_are_read_and_written_again(row: Any) -> None:
    frames = base64.b64decode(row["frames_base64"])

    [event] = FrameDecoder().receive_data(frames)

    assert isinstance(event, Payload)
    assert (len(event.data), event.frame_id) == (row["payload_bytes"], row["frame_id"])
    assert encode_frames(event.data, event.frame_id) == frames
