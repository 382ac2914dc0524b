"""Messages in the middle of everything else, one stream in one direction."""

import re
from typing import Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.terminal.bounds import OSC_CONTENT_BYTES_MAX
from blockwire.terminal.decoder import RETAINED_BYTES_MAX, FrameDecoder
from blockwire.terminal.framing import (
    BadFrame,
    FrameErrorCode,
    FrameEvent,
    Ordinary,
    Payload,
    encode_frames,
)
from tests.suites import PROJECT
from tests.terminal.frames import (
    FULL,
    PROBE,
    assert_reads,
    cut_streams,
    end_of,
    frame,
    merge,
    read,
    single_bytes,
    streams,
)

PAGE: Final = (PROJECT / "docs" / "spec" / "terminal" / "framing.md").read_text(encoding="utf-8")
GOOD: Final = frame("1;9;0;0", b"good")
OPEN: Final = b"\x1b]9002;1;9;0;0;Z29v"
FIRST: Final = frame("1;5;0;1", b"x" * FULL)
SECOND: Final = frame("1;5;1;0", b"y")


def told(stream: bytes) -> list[str | bytes]:
    """Return what a decoder makes of ``stream``: ordinary bytes, ``frame_id=data``, codes."""
    shown: list[str | bytes] = []
    for event in read(stream):
        if isinstance(event, Ordinary):
            shown.append(event.data)
        elif isinstance(event, Payload):
            shown.append(f"{event.frame_id}={event.data[-4:].decode()}")
        else:
            shown.append(event.code)
    return shown


# ordinary bytes ----------------------------------------------------------------------------
ORDINARY: Final[list[bytes]] = [
    b"plain text\r\nsecond line",
    b"\x00\x7f\x80\xff\xfe\xc3",
    b"\x1b[1;31mred\x1b[0m",
    b"\x1b]0;title\x07 \x1b]2;title\x1b\\",
    b"\x1b]8;;https://example.invalid/\x1b\\link\x1b]8;;\x1b\\",
    b"\x1bP1$r0m\x1b\\ \x1b_apc\x1b\\ \x1b^pm\x1b\\ \x1bXsos\x1b\\",
    b"\x1bP9002;1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b\x1b\x1b",
    b"\x1b",
    b"\x1b]",
    b"\x1b]9",
    b"\x1b]900",
    b"\x1b]9\x1b]90\x1b]900\x1b]9001;1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b]2;an end that never comes",
    b"]9002;1;9;0;0;Z29vZA==",
    b"\x07\x18\x1a\\",
    "\u009d \u009c \u0090 \u4e9c".encode(),
]
OTHER_NUMBERS: Final[list[bytes]] = [
    b"\x1b]90020;1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b]90021;\x07",
    b"\x1b]09002;1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b] 9002;1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b]9002 ;1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b]9002:1;9;0;0;Z29vZA==\x1b\\",
    b"\x1b]9002x\x07",
    b"\x1b]9002\x00;\x07",
]
C1: Final[list[bytes]] = [
    b"\x9d9002;1;9;0;0;Z29vZA==\x1b\\",
    b"\x9d9002;1;9;0;0;Z29vZA==\x9c",
    b"\xc2\x9d9002;1;9;0;0;Z29vZA==\x07",
    b"\x1b]9002\x9c",
]


@pytest.mark.parametrize("stream", ORDINARY)
@pytest.mark.requirement("terminal:scan:transparent")
def test_what_is_no_frame_comes_out_as_it_was(stream: bytes) -> None:
    assert_reads(stream, Ordinary(stream, 0))


@pytest.mark.parametrize("stream", OTHER_NUMBERS)
@pytest.mark.requirement("terminal:scan:number")
def test_strings_of_other_numbers_are_left_alone(stream: bytes) -> None:
    assert_reads(stream, Ordinary(stream, 0))


@pytest.mark.parametrize("stream", C1)
@pytest.mark.requirement("terminal:scan:no-c1")
def test_bytes_above_0x7f_introduce_nothing(stream: bytes) -> None:
    assert_reads(stream, Ordinary(stream, 0))


@pytest.mark.requirement("terminal:scan:no-c1")
def test_bytes_above_0x7f_end_nothing() -> None:
    assert told(OPEN + b"\x9c" + GOOD) == ["interrupted", "9=good"]


def test_an_empty_stream_has_no_events() -> None:
    assert read() == read(b"") == []


@given(st.binary(min_size=1).filter(lambda data: b"\x1b" not in data))
def test_a_call_of_ordinary_bytes_gives_back_the_same_object(data: bytes) -> None:
    [event] = FrameDecoder().receive_data(data)

    assert isinstance(event, Ordinary)
    assert event.data is data


# frames ------------------------------------------------------------------------------------
def test_a_frame_has_its_place_in_the_stream() -> None:
    end = 6 + len(GOOD)

    assert_reads(
        b"before" + GOOD + b"after",
        Ordinary(b"before", 0), Payload(b"good", 9, 6, end), Ordinary(b"after", end),
    )  # fmt: skip


BAD: Final[list[tuple[bytes, list[str | bytes]]]] = [
    (b"\x1b]9002\x1b\\", ["invalid_header"]),
    (b"\x1b]9002\x07", ["wrong_terminator"]),
    (b"\x1b]9002\x18", ["cancelled"]),
    (b"\x1b]9002\x1b[m", ["interrupted", b"\x1b[m"]),
    (b"\x1b]9002;\x1b\\", ["invalid_header"]),
    (frame("2;9;0;0", b"good"), ["unknown_framing_version"]),
    (b"\x1b]9002;1;9;0;0;Z29vZB==\x1b\\", ["invalid_base64"]),
    (frame("1;9;0;1", b"good"), ["invalid_fragment_size"]),
    (OPEN + b"\x07ZA==\x1b\\", ["wrong_terminator", b"ZA==\x1b\\"]),
    (OPEN + b"\x18text", ["cancelled", b"text"]),
    (OPEN + b"\x1atext", ["cancelled", b"text"]),
    (OPEN + b"\x18\x07\x1a\x1b\\", ["cancelled", b"\x07\x1a\x1b\\"]),
    (OPEN + b"\x1bc", ["interrupted", b"\x1bc"]),
    (OPEN + b"\x1b\x1b\\", ["interrupted", b"\x1b\x1b\\"]),
    (OPEN + b"\x1b" + GOOD, ["interrupted", b"\x1b", "9=good"]),
    (OPEN + b"\x1bP a string \x1b\\", ["interrupted", b"\x1bP a string \x1b\\"]),
    (OPEN + b"\x1b_a\x1b\\", ["interrupted", b"\x1b_a\x1b\\"]),
    (OPEN + b"\x1b]0;title\x07", ["interrupted", b"\x1b]0;title\x07"]),
    (OPEN + b"\x1b]9002", ["interrupted", "unfinished"]),
    (OPEN + GOOD, ["interrupted", "9=good"]),
    (OPEN + b"\x1b", ["unfinished"]),
    (OPEN, ["unfinished"]),
    (b"\x1b]9002", ["unfinished"]),
    (b"\x1b]9002;", ["unfinished"]),
]


@pytest.mark.parametrize(("stream", "expected"), BAD)
@pytest.mark.requirement(
    "terminal:scan:bare-number", "terminal:scan:bel", "terminal:scan:cancel",
    "terminal:scan:interrupt",
)  # fmt: skip
def test_a_bad_frame_is_consumed_and_what_ended_it_keeps_its_meaning(
    stream: bytes, expected: list[str | bytes]
) -> None:
    assert told(stream) == expected
    assert_reads(stream, *read(stream))


@pytest.mark.parametrize("opener", [b"\x1bP", b"\x1b]2;", b"\x1b_", b"\x1b^", b"\x1bX", b"\x1b[3"])
@pytest.mark.requirement("terminal:scan:in-strings")
def test_a_frame_begins_inside_of_any_string(opener: bytes) -> None:
    assert told(opener + b"text" + GOOD + b"\x1b\\") == [opener + b"text", "9=good", b"\x1b\\"]


# too long ----------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", [b"\x1b\\", b"\x07", b"\x18", b"\x1a"])
@pytest.mark.parametrize("extra", [1, 2, 10_000])
@pytest.mark.requirement("terminal:scan:too-long")
def test_a_frame_that_is_too_long_is_consumed_with_its_end(ending: bytes, extra: int) -> None:
    content = b"9002;1;9;0;0;".ljust(OSC_CONTENT_BYTES_MAX + extra, b"A")
    stream = b"\x1b]" + content + ending

    events = read(stream + b"text")

    assert [event[0] for event in events] == ["frame_too_long", b"text"]
    assert end_of(events[0]) == len(stream)
    assert read(*single_bytes(stream + b"text")) == events


@pytest.mark.parametrize(
    ("extra", "ending", "code"),
    [
        (0, b"\x1b\\", "invalid_base64"),
        (0, b"\x07", "wrong_terminator"),
        (0, b"\x18", "cancelled"),
        (0, b"\x1bc", "interrupted"),
        (0, b"", "unfinished"),
        (1, b"\x1bc", "frame_too_long"),
        (1, b"", "frame_too_long"),
        (1, b"\x1b", "frame_too_long"),
    ],
)
@pytest.mark.requirement("terminal:scan:too-long")
def test_the_bound_is_on_what_stands_between_introducer_and_end(
    extra: int, ending: bytes, code: str
) -> None:
    content = b"9002;1;9;0;0;".ljust(OSC_CONTENT_BYTES_MAX + extra, b"A")

    assert told(b"\x1b]" + content + ending)[0] == code


@pytest.mark.requirement("terminal:scan:discard")
def test_a_frame_begins_inside_of_one_that_is_too_long() -> None:
    too_long = b"\x1b]9002;1;1;0;0;" + b"A" * 5_000

    assert told(too_long + GOOD + b"text") == ["frame_too_long", "9=good", b"text"]
    assert told(too_long + b"\x1bP\x1b\\") == ["frame_too_long", b"\x1bP\x1b\\"]


@pytest.mark.requirement("terminal:scan:discard")
def test_nothing_is_kept_of_a_frame_that_is_too_long() -> None:
    decoder = FrameDecoder()
    kept: list[int] = []

    for piece in single_bytes(b"\x1b]" + b"9002;".ljust(OSC_CONTENT_BYTES_MAX + 2, b"A") + b"\x1b"):
        decoder.receive_data(piece)
        kept.append(decoder.retained_bytes)

    assert max(kept) == kept[-4] == OSC_CONTENT_BYTES_MAX
    assert kept[-3:] == [0, 0, 1]


# assembly ----------------------------------------------------------------------------------
ASSEMBLIES: Final[list[tuple[bytes, list[str | bytes]]]] = [
    (FIRST + SECOND, ["5=xxxy"]),
    (FIRST + frame("1;5;1;1", b"z" * FULL) + frame("1;5;2;0", b"end!"), ["5=end!"]),
    (FIRST + GOOD, ["assembly_abandoned", "9=good"]),
    (FIRST + FIRST + SECOND, ["assembly_abandoned", "5=xxxy"]),
    (FIRST + frame("1;6;1;0", b"y") + SECOND,
     ["assembly_abandoned", "out_of_sequence", "out_of_sequence"]),
    (FIRST + frame("1;5;2;0", b"y") + SECOND,
     ["assembly_abandoned", "out_of_sequence", "out_of_sequence"]),
    (SECOND, ["out_of_sequence"]),
    (FIRST + SECOND + SECOND, ["5=xxxy", "out_of_sequence"]),
    (FIRST + b" " + SECOND, ["assembly_abandoned", b" ", "out_of_sequence"]),
    (FIRST + b"\x00" + SECOND, ["assembly_abandoned", b"\x00", "out_of_sequence"]),
    (FIRST + b"\x1b[0m" + SECOND, ["assembly_abandoned", b"\x1b[0m", "out_of_sequence"]),
    (FIRST + b"\x1b" + SECOND, ["assembly_abandoned", b"\x1b", "out_of_sequence"]),
    (FIRST + frame("1;5;1;0", b""),
     ["assembly_abandoned", "invalid_fragment_size"]),
    (FIRST + OPEN + b"\x18" + SECOND, ["assembly_abandoned", "cancelled", "out_of_sequence"]),
    (FIRST, ["unfinished"]),
    (FIRST + OPEN, ["assembly_abandoned", "unfinished"]),
    (FIRST + b"\x1b]90", ["assembly_abandoned", b"\x1b]90"]),
]  # fmt: skip


@pytest.mark.parametrize(("stream", "expected"), ASSEMBLIES)
@pytest.mark.requirement("terminal:assembly:table")
def test_only_the_frames_of_a_message_in_their_order_make_it(
    stream: bytes, expected: list[str | bytes]
) -> None:
    assert told(stream) == expected
    assert_reads(stream, *read(stream))


def test_an_abandoned_assembly_says_what_it_consumed() -> None:
    abandoned, kept = read(FIRST + b"x")

    assert isinstance(abandoned, BadFrame)
    assert (abandoned.offset, abandoned.end, abandoned.frame_id) == (0, len(FIRST), 5)
    assert kept == Ordinary(b"x", len(FIRST))


@pytest.mark.parametrize("sizes", [(FULL,) * 341 + (1025,), (FULL,) * 342])
@pytest.mark.requirement("terminal:assembly:size", "terminal:scan:bound")
def test_a_message_that_is_too_long_is_refused_with_its_last_frame(sizes: tuple[int, ...]) -> None:
    last = len(sizes) - 1
    frames = [frame(f"1;3;{n};{int(n < last)}", b"x" * size) for n, size in enumerate(sizes)]
    decoder = FrameDecoder()

    events = [event for it in frames for event in decoder.receive_data(it)]

    codes = [event.code for event in events if isinstance(event, BadFrame)]
    assert (codes, len(events)) == (["assembly_abandoned", "message_too_long"], 2)
    assert decoder.retained_bytes == 0


@pytest.mark.requirement("terminal:scan:bound")
def test_no_more_is_kept_than_an_assembly_a_frame_and_a_byte() -> None:
    decoder = FrameDecoder()
    for index in range(341):
        assert decoder.receive_data(frame(f"1;3;{index};1", b"x" * FULL)) == []

    decoder.receive_data(b"\x1b]" + b"9002;".ljust(OSC_CONTENT_BYTES_MAX, b"A"))

    assert decoder.retained_bytes == RETAINED_BYTES_MAX - len(b"\x1b]9002")


# what always holds -------------------------------------------------------------------------
@given(cut_streams())
@pytest.mark.requirement("terminal:scan:any-cut", "terminal:scan:bound")
def test_events_do_not_depend_on_cuts_and_lie_without_gap(drawn: tuple[bytes, list[bytes]]) -> None:
    stream, pieces = drawn
    decoder = FrameDecoder()
    events: list[FrameEvent] = []

    for piece in pieces:
        events += decoder.receive_data(piece)
        assert decoder.retained_bytes <= RETAINED_BYTES_MAX
    events += decoder.end_of_stream()

    assert merge(events) == read(stream)
    assert decoder.retained_bytes == 0
    position = 0
    for event in events:
        assert event.offset == position
        position = end_of(event)
    assert position == len(stream)


@given(streams)
@pytest.mark.requirement("terminal:scan:recovery")
def test_a_good_frame_is_read_after_anything(stream: bytes) -> None:
    decoder = FrameDecoder()
    decoder.receive_data(stream)

    *_, last = decoder.receive_data(encode_frames(PROBE, 77))

    assert isinstance(last, Payload)
    assert (last.data, last.frame_id) == (PROBE, 77)


@given(st.lists(st.sampled_from([*ORDINARY[:7], *OTHER_NUMBERS, *C1]), max_size=8), st.data())
@pytest.mark.requirement("terminal:scan:transparent")
def test_ordinary_bytes_come_out_in_order_around_frames(
    parts: list[bytes], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(parts)))
    before, after = b"".join(parts[:place]), b"".join(parts[place:])

    events = read(*single_bytes(before + GOOD + after))

    expected = [before, b"good", after] if before else [b"good", after]
    assert [event[0] for event in events] == [it for it in expected if it]


@pytest.mark.requirement("terminal:end:held")
def test_the_end_lets_go_of_what_was_held_and_the_next_byte_is_read_from_ground() -> None:
    decoder = FrameDecoder()
    assert decoder.receive_data(b"a\x1b]900") == [Ordinary(b"a", 0)]

    assert decoder.end_of_stream() == [Ordinary(b"\x1b]900", 1)]
    assert decoder.end_of_stream() == []
    assert decoder.receive_data(b"2;x") == [Ordinary(b"2;x", 6)]


def test_the_codes_are_those_of_the_specification() -> None:
    section = PAGE.partition("## Failure")[2].partition("##")[0]
    stated = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)

    assert stated == list(get_args(FrameErrorCode))
    shown = {code for stream, _ in [*BAD, *ASSEMBLIES] for code in told(stream)}
    assert set(get_args(FrameErrorCode)) - shown == {"frame_too_long", "message_too_long"}
