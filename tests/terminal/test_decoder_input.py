"""The direction that people type into: what may begin a frame is not held for long."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.terminal.bounds import INPUT_HOLD_S
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import BadFrame, FrameEvent, Ordinary, Payload, encode_frames
from tests.terminal.frames import FULL, cut_streams, frame, merge, read

ESC: Final = b"\x1b"
PARTS: Final = (ESC, b"\x1b]", b"\x1b]9", b"\x1b]90", b"\x1b]900", b"\x1b]9002")


def reader() -> FrameDecoder:
    return FrameDecoder(is_input=True)


def due_s(decoder: FrameDecoder) -> float | None:
    return decoder.next_flush_at_s


@pytest.mark.parametrize("held", PARTS)
@pytest.mark.requirement("terminal:input:hold")
def test_what_is_held_comes_out_after_a_while_and_not_before(held: bytes) -> None:
    decoder = reader()

    assert decoder.receive_data(b"a" + held, 10.0) == [Ordinary(b"a", 0)]
    assert due_s(decoder) == 10.0 + INPUT_HOLD_S
    assert decoder.flush(10.0) == decoder.flush(10.0499) == []
    assert decoder.flush(10.0 + INPUT_HOLD_S) == [Ordinary(held, 1)]

    assert due_s(decoder) is None
    assert decoder.flush(99.0) == []
    assert decoder.retained_bytes == 0


@pytest.mark.requirement("terminal:input:hold")
def test_the_wait_begins_with_the_first_byte_that_is_held() -> None:
    decoder = reader()
    decoder.receive_data(ESC, 1.0)
    decoder.receive_data(b"]", 1.03)
    decoder.receive_data(b"", 1.04)

    assert decoder.flush(1.0 + INPUT_HOLD_S) == [Ordinary(b"\x1b]", 0)]


@pytest.mark.requirement("terminal:input:hold")
def test_the_next_esc_has_a_wait_of_its_own() -> None:
    decoder = reader()
    decoder.receive_data(ESC, 1.0)

    assert decoder.receive_data(ESC, 1.04) == [Ordinary(ESC, 0)]
    assert decoder.flush(1.05) == []
    assert decoder.flush(1.04 + INPUT_HOLD_S) == [Ordinary(ESC, 1)]


def test_what_came_out_begins_no_frame() -> None:
    decoder = reader()
    decoder.receive_data(ESC, 1.0)
    decoder.flush(2.0)

    rest = b"]9002;1;7;0;0;QUJD\x1b"
    assert decoder.receive_data(rest, 2.0) == [Ordinary(rest[:-1], 1)]
    assert decoder.receive_data(b"\\", 2.0) == [Ordinary(b"\x1b\\", len(rest))]


@pytest.mark.requirement("terminal:input:reply")
def test_a_lone_esc_comes_out_while_an_answer_is_outstanding() -> None:
    decoder = reader()
    decoder.receive_data(ESC, 1.0)

    assert decoder.flush(1.05, is_reply_outstanding=True) == [Ordinary(ESC, 0)]


@pytest.mark.parametrize("held", PARTS[1:])
@pytest.mark.requirement("terminal:input:reply")
def test_more_of_an_introducer_waits_for_the_answer(held: bytes) -> None:
    decoder = reader()
    decoder.receive_data(held, 1.0)

    assert decoder.flush(1.01, is_reply_outstanding=True) == []
    assert due_s(decoder) == 1.0 + INPUT_HOLD_S
    assert decoder.flush(1.9, is_reply_outstanding=True) == []
    # Nobody is woken up again and again for what does not depend on the time.
    assert due_s(decoder) is None
    assert decoder.flush(2.0) == [Ordinary(held, 0)]


@pytest.mark.requirement("terminal:input:reply")
def test_an_answer_that_is_late_in_parts_is_read() -> None:
    decoder = reader()
    answer = encode_frames(b"{}", 3)
    decoder.receive_data(answer[:4], 1.0)
    decoder.flush(1.5, is_reply_outstanding=True)
    decoder.receive_data(answer[4:6], 1.5)
    assert due_s(decoder) is None

    assert decoder.receive_data(answer[6:], 1.6) == [Payload(b"{}", 3, 0, len(answer))]


@pytest.mark.requirement("terminal:input:reply")
def test_what_is_held_next_waits_for_the_time_again() -> None:
    decoder = reader()
    decoder.receive_data(b"\x1b]", 1.0)
    decoder.flush(1.5, is_reply_outstanding=True)

    decoder.receive_data(b"x\x1b]", 1.5)

    assert due_s(decoder) == 1.5 + INPUT_HOLD_S


@pytest.mark.parametrize("held", PARTS)
@pytest.mark.requirement("terminal:input:at-once")
def test_a_byte_that_cannot_continue_lets_go_at_once(held: bytes) -> None:
    decoder = reader()
    decoder.receive_data(held, 1.0)

    assert decoder.receive_data(b"x", 1.0) == [Ordinary(held + b"x", 0)]
    assert due_s(decoder) is None


@pytest.mark.parametrize("ending", [b"\x07", b"\x1b\\"])
def test_a_bare_number_with_an_end_is_no_key(ending: bytes) -> None:
    decoder = reader()
    decoder.receive_data(b"\x1b]9002", 1.0)

    [event] = decoder.receive_data(ending, 1.0)

    assert isinstance(event, BadFrame)


@pytest.mark.parametrize("begun", [b"\x1b]9002;", b"\x1b]9002;1;7;0;0;QUJD\x1b"])
def test_a_frame_that_has_begun_is_waited_for(begun: bytes) -> None:
    decoder = reader()
    decoder.receive_data(begun, 1.0)

    assert due_s(decoder) is None
    assert decoder.flush(99.0) == []


def test_a_key_between_the_frames_of_a_message_drops_them_when_it_comes_out() -> None:
    decoder = reader()
    first = frame("1;7;0;1", b"x" * FULL)
    decoder.receive_data(first + ESC, 1.0)

    abandoned, key = decoder.flush(1.05)

    assert isinstance(abandoned, BadFrame)
    assert (abandoned.code, key) == ("assembly_abandoned", Ordinary(ESC, len(first)))


@pytest.mark.parametrize("held", PARTS)
@pytest.mark.requirement("terminal:input:output-waits")
def test_the_direction_to_a_terminal_waits_without_end(held: bytes) -> None:
    decoder = FrameDecoder()
    decoder.receive_data(held, 1.0)

    assert due_s(decoder) is None
    assert decoder.flush(99.0) == []
    assert decoder.receive_data(b"x", 99.0) == [Ordinary(held + b"x", 0)]


@given(cut_streams(), st.lists(st.booleans(), min_size=1))
def test_flushing_moves_no_byte(drawn: tuple[bytes, list[bytes]], outstanding: list[bool]) -> None:
    stream, pieces = drawn
    decoder = reader()
    events: list[FrameEvent] = []

    for number, piece in enumerate(pieces):
        events += decoder.receive_data(piece, number)
        is_outstanding = outstanding[number % len(outstanding)]
        events += decoder.flush(number + 0.5, is_reply_outstanding=is_outstanding)
        assert due_s(decoder) is None
    events += decoder.end_of_stream()

    covered = 0
    for event in events:
        assert event.offset == covered
        if isinstance(event, Ordinary):
            covered += len(event.data)
            assert stream[event.offset : covered] == event.data
        else:
            covered = event.end
    assert covered == len(stream)


@given(cut_streams())
def test_input_that_comes_fast_enough_is_read_as_output_is(
    drawn: tuple[bytes, list[bytes]],
) -> None:
    stream, pieces = drawn
    decoder = reader()
    events: list[FrameEvent] = []

    for piece in pieces:
        events += decoder.receive_data(piece, 1.0)
        events += decoder.flush(1.0)

    assert merge([*events, *decoder.end_of_stream()]) == read(stream)
