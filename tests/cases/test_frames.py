"""Situations in which frames of a terminal were cut, or were almost frames."""

from __future__ import annotations

import pyte
import pytest

from blockwire.terminal import (
    CapabilityQuery,
    Endpoint,
    Ordinary,
    Payload,
    Reply,
    TerminalSession,
    encode_frames,
    encode_message,
)
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.effects import PassThrough
from blockwire.terminal.messages import EMPTY
from tests.support.cases import case, case_input

QUERY = encode_frames(
    encode_message(CapabilityQuery(version=1, request_id="after", body=EMPTY)), frame_id=7
)
OTHER_OSC = b"\x1b]0;a title\x1b\\"


def read(pieces: list[bytes]) -> tuple[bytes, list[bytes]]:
    """Return the ordinary bytes and the messages of a stream that came in ``pieces``."""
    decoder = FrameDecoder()
    events = [event for piece in pieces for event in decoder.receive_data(piece)]
    # A pause is nothing on the output side: it never releases what it holds by the clock.
    assert decoder.next_flush_at_s is None
    assert decoder.flush(1_000.0) == []
    events += decoder.end_of_stream()
    ordinary = b"".join(event.data for event in events if isinstance(event, Ordinary))
    return ordinary, [event.data for event in events if isinstance(event, Payload)]


@case("T05")
@pytest.mark.parametrize("before", [QUERY, OTHER_OSC], ids=["a frame", "another OSC"])
def test_a_terminator_cut_in_two_ends_its_string(before: bytes) -> None:
    first, pause, last = case_input("T05")["reads"]
    assert (first[-1], pause, last) == ("\x1b", "(pause)", "\\hello")
    stream = before + b"hello"
    whole = read([stream])
    assert whole[0].endswith(b"hello")
    assert len(whole[1]) == (before == QUERY)

    for at in range(len(stream) + 1):
        assert read([stream[:at], b"", stream[at:]]) == whole
    assert read([bytes([byte]) for byte in stream]) == whole


@case("T12")
@pytest.mark.parametrize("place", range(4))
def test_what_is_almost_a_frame_is_none_and_prints_nothing(place: int) -> None:
    frame = case_input("T12")["frames"][place].encode()
    endpoint = Endpoint(TerminalSession(new_context_id=lambda: "c1"))
    effects = endpoint.receive_data(b"a" + frame + b"b" + QUERY)
    passed = b"".join(effect.data for effect in effects if isinstance(effect, PassThrough))
    replies = [effect.message for effect in effects if isinstance(effect, Reply)]
    screen = pyte.Screen(40, 2)
    pyte.ByteStream(screen).feed(passed)

    assert screen.display[0].rstrip() == "ab"
    assert [reply.request_id for reply in replies if hasattr(reply, "request_id")] == ["after"]
    assert len(replies) == 1
