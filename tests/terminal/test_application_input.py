"""Replies, answers of the device and keystrokes share one stream, and each goes where it belongs."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blockwire.terminal.bounds import INPUT_HOLD_S, MESSAGE_BYTES_MAX
from blockwire.terminal.framing import Payload, encode_frames
from blockwire.terminal.terminalinput import (
    DA1_BYTES_MAX,
    DeviceAnswer,
    InputPart,
    InputSeparator,
    Typed,
)
from tests.terminal.plays import DA1_ANSWER, cuts

FRAME = encode_frames(b'{"x":1}', 7)
PASTE = b"\x1b[200~%b\x1b[201~"
KEYS = (
    b"a", b"\x1b", b"\x1b[A", b"\x1b[2~", b"\x1b[200", b"\x1bOP", b"\x1b[?", b"\x1b[?2026;2$y", b"\xc3\xa9",
    b"\x1b]11;rgb:0/0/0\x07", b"\x1b[<0;1;1M", b"\x03", b"\x1b[1;5C", b"c", b"[?62c", b"\x1b[20",
)  # fmt: skip


def read(separator: InputSeparator, *pieces: bytes, now_s: float = 0.0) -> list[InputPart]:
    parts = [it for piece in pieces for it in separator.receive_data(piece, now_s)]
    return merged(parts)


def merged(parts: list[InputPart]) -> list[InputPart]:
    """Return the parts with neighbours of what is typed in one."""
    result: list[InputPart] = []
    for part in parts:
        if isinstance(part, Typed) and result and isinstance(last := result[-1], Typed):
            result[-1] = Typed(last.data + part.data)
        else:
            result.append(part)
    return result


def waiting(count: int = 1) -> InputSeparator:
    separator = InputSeparator()
    for _ in range(count):
        separator.expect_answer()
    return separator


def test_without_a_question_nothing_that_looks_like_an_answer_is_taken() -> None:
    assert read(InputSeparator(), b"x" + DA1_ANSWER) == [Typed(b"x" + DA1_ANSWER)]


@pytest.mark.requirement("terminal:application:exactly-as-many")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_answers_are_taken_as_were_asked_for(count: int) -> None:
    separator = waiting(count)

    parts = read(separator, *[b"k" + DA1_ANSWER] * 5)

    assert parts.count(DeviceAnswer(DA1_ANSWER)) == count
    assert parts[-1] == Typed((b"k" + DA1_ANSWER) * (5 - count))
    assert separator.expected_count == 0


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[InputPart], int]:
    """Draw input, what it means, and how many answers were asked for."""
    count = draw(st.integers(0, 3))
    left = count
    stream = b""
    parts: list[InputPart] = []
    for kind in draw(
        st.lists(st.sampled_from(["frame", "bad", "answer", "key", "paste"]), max_size=8)
    ):
        # A key between, so that what looks like a beginning is ended by what cannot go on with it.
        if kind == "frame":
            parts += [Typed(b"."), Payload(b'{"x":1}', 7, 0, 0)]
            stream += b"." + FRAME
        elif kind == "bad":
            parts.append(Typed(b"."))
            stream += b".\x1b]9002;1;1;0;0;???\x1b\\"
        elif kind == "answer":
            answer = Typed(DA1_ANSWER) if not left else DeviceAnswer(DA1_ANSWER)
            left = max(left - 1, 0)
            parts += [Typed(b"."), answer]
            stream += b"." + DA1_ANSWER
        else:
            key = draw(st.sampled_from(KEYS)) + b"."
            key = PASTE % (key + DA1_ANSWER) if kind == "paste" else key
            parts.append(Typed(key))
            stream += key
    return stream + b".", merged([*parts, Typed(b".")]), count


@pytest.mark.requirement("terminal:application:any-split")
@given(drawn=streams(), data=st.data())
def test_everything_goes_where_it_belongs_at_any_split(
    drawn: tuple[bytes, list[InputPart], int], data: st.DataObject
) -> None:
    stream, expected, count = drawn
    separator = waiting(count)

    parts = read(separator, *data.draw(cuts(stream)))

    assert [
        it._replace(offset=0, end=0) if isinstance(it, Payload) else it for it in parts
    ] == expected
    assert merged(parts + separator.end_of_stream()) == parts, "nothing is held behind a plain key"


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(0, 2))
def test_no_bytes_are_lost_or_made_up(pieces: list[bytes], count: int) -> None:
    stream = b"".join(pieces)
    assume(b"\x1b]" not in stream)
    separator = waiting(count)

    parts = read(separator, *pieces) + separator.end_of_stream()

    assert b"".join(part.data for part in parts) == stream


@pytest.mark.requirement("terminal:application:pasted")
def test_what_is_pasted_is_no_answer() -> None:
    pasted = PASTE % (b"a" + DA1_ANSWER + b"\x9b201~b")
    separator = waiting()

    assert read(separator, pasted) == [Typed(pasted)]
    assert read(separator, DA1_ANSWER) == [DeviceAnswer(DA1_ANSWER)]


def test_an_answer_that_is_too_long_is_none() -> None:
    long = b"\x1b[?" + b"6" * DA1_BYTES_MAX + b"c"

    for pieces in ([long], [long[:40], long[40:]], [long[it : it + 1] for it in range(len(long))]):
        separator = waiting()
        assert read(separator, *pieces) == [Typed(long)]
        assert separator.retained_bytes == 0


@pytest.mark.parametrize(
    ("held", "is_reply_outstanding", "is_released"),
    [
        (b"\x1b", False, True),
        (b"\x1b", True, True),
        (b"\x1b[", False, True),
        (b"\x1b[", True, False),
        (b"\x1b[20", False, True),
        (b"\x1b[?6", False, False),
        (b"\x1b[?6", True, False),
        (b"\x1b]", False, True),
        (b"\x1b]", True, False),
        (b"\x1b]90", True, False),
    ],
)
@pytest.mark.requirement("terminal:application:hold")
def test_how_long_the_beginning_of_something_is_held(
    held: bytes, *, is_reply_outstanding: bool, is_released: bool
) -> None:
    separator = waiting()
    assert read(separator, b"x" + held, now_s=1.0) == [Typed(b"x")]

    early = separator.flush(1.0 + INPUT_HOLD_S / 2, is_reply_outstanding=is_reply_outstanding)
    flushed = separator.flush(1.0 + INPUT_HOLD_S, is_reply_outstanding=is_reply_outstanding)

    assert early == []
    assert flushed == ([Typed(held)] if is_released else [])
    assert separator.next_flush_at_s is None
    is_left = is_reply_outstanding and not is_released and not held.startswith(b"\x1b[?")
    assert separator.is_waiting == is_left
    parts = separator.flush(9.0, is_reply_outstanding=False)
    assert parts == ([Typed(held)] if is_left else [])
    assert not separator.is_waiting


def test_a_byte_more_of_the_same_does_not_start_the_wait_anew() -> None:
    separator = waiting()
    read(separator, b"\x1b[", now_s=1.0)
    read(separator, b"2", now_s=1.04)

    assert separator.next_flush_at_s == 1.0 + INPUT_HOLD_S
    assert separator.flush(1.05, is_reply_outstanding=False) == [Typed(b"\x1b[2")]


def test_the_earlier_of_two_waits_is_announced() -> None:
    separator = waiting()
    read(separator, b"\x1b[", now_s=1.0)
    read(separator, b"\x1b", now_s=1.01)

    assert separator.next_flush_at_s == 1.0 + INPUT_HOLD_S
    flushed = separator.flush(2.0, is_reply_outstanding=False)
    assert b"".join(it.data for it in flushed) == b"\x1b[\x1b"


def test_an_answer_whose_esc_went_out_as_a_key_is_an_answer_all_the_same() -> None:
    separator = waiting()
    read(separator, DA1_ANSWER[:1], now_s=0.0)
    key = separator.flush(1.0, is_reply_outstanding=True)

    assert key == [Typed(b"\x1b")]
    assert read(separator, DA1_ANSWER[1:5], now_s=2.0) == []
    assert read(separator, DA1_ANSWER[5:] + b"k", now_s=3.0) == [
        DeviceAnswer(DA1_ANSWER),
        Typed(b"k"),
    ]


@pytest.mark.requirement("terminal:application:late")
@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_a_frame_whose_esc_went_out_as_a_key_is_a_frame_all_the_same(count: int, size: int) -> None:
    separator = waiting(count)
    now_s, parts = 1.0, read(separator, b"k")
    for start in range(0, len(FRAME), size):
        parts += read(separator, FRAME[start : start + size] if start else FRAME[:1], now_s=now_s)
        now_s += 0.06
        parts += separator.flush(now_s, is_reply_outstanding=True)
        if not start:
            parts += read(separator, FRAME[1:size], now_s=now_s)

    parts += read(separator, b"k", now_s=now_s)
    assert merged(parts) == [
        Typed(b"k\x1b"), Payload(b'{"x":1}', 7, 1, 1 + len(FRAME)), Typed(b"k")
    ]  # fmt: skip


def test_an_esc_that_was_a_key_delays_what_follows_no_more_than_a_key() -> None:
    separator = waiting(0)
    read(separator, b"\x1b")
    assert separator.flush(1.0, is_reply_outstanding=True) == [Typed(b"\x1b")]
    assert read(separator, b"", now_s=1.0) == []
    assert read(separator, b"]", now_s=1.0) == []
    assert separator.flush(1.0 + INPUT_HOLD_S, is_reply_outstanding=False) == [Typed(b"]")]
    assert read(separator, b"\x1b") + separator.flush(9.0, is_reply_outstanding=False) == [
        Typed(b"\x1b")
    ]
    assert read(separator, b"]9002;x\x1b\\") == [Typed(b"]9002;x\x1b\\")], "nothing was asked"


def test_an_esc_that_went_out_is_not_given_out_again() -> None:
    separator = waiting()
    read(separator, b"\x1b")
    separator.flush(1.0, is_reply_outstanding=True)

    assert read(separator, b"k") == [Typed(b"k")]
    assert read(separator, b"\x1b") + separator.flush(9.0, is_reply_outstanding=False) == [
        Typed(b"\x1b")
    ]
    assert read(separator, FRAME)[0] == Payload(b'{"x":1}', 7, 3, 3 + len(FRAME))
    assert read(separator, b"[?62c") == [Typed(b"[?62c")]


def test_memory_is_bounded_whatever_is_typed() -> None:
    separator = waiting()

    for piece in (b"\x1b[?", b"6;" * 3_000, b"\x1b]9002;1;1;0;1;" + b"A" * 5_000) * 3:
        read(separator, piece)
        assert separator.retained_bytes < MESSAGE_BYTES_MAX
    assert separator.expected_count == 1
