"""Streams that somebody wrote to break a decoder, beside a reading of the page by one expression."""

import base64
import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import Ordinary, Payload, encode_frames
from tests.terminal.frames import FULL, PROBE, cut, frame

Found = tuple[bytes, list[bytes]]

# What stands between two fragments -> what comes out as ordinary.
BETWEEN: Final = {
    "a character": (b"x", b"x"),
    "a break": (b"\r\n", b"\r\n"),
    "NUL": (b"\x00", b"\x00"),
    "CAN": (b"\x18", b"\x18"),
    "BEL": (b"\x07", b"\x07"),
    "a lone ST": (b"\x1b\\", b"\x1b\\"),
    "a colour": (b"\x1b[31m", b"\x1b[31m"),
    "a title": (b"\x1b]0;9002;1;1;1;0;AA==\x07", b"\x1b]0;9002;1;1;1;0;AA==\x07"),
    "a link": (b"\x1b]8;;http://a\x1b\\", b"\x1b]8;;http://a\x1b\\"),
    "DCS": (b"\x1bP9002;1;1;1;0;AA==\x1b\\", b"\x1bP9002;1;1;1;0;AA==\x1b\\"),
    "APC": (b"\x1b_G\x1b\\", b"\x1b_G\x1b\\"),
    "PM": (b"\x1b^p\x1b\\", b"\x1b^p\x1b\\"),
    "SOS": (b"\x1bXs\x1b\\", b"\x1bXs\x1b\\"),
    "C1": (b"\x9d9002;1;1;1;0;AA==\x9c", b"\x9d9002;1;1;1;0;AA==\x9c"),
    "a number that goes on": (b"\x1b]90021;1;1;0;AA==\x1b\\", b"\x1b]90021;1;1;0;AA==\x1b\\"),
    "two ESC before the next": (b"\x1b", b"\x1b"),
    "the bare number, ST": (b"\x1b]9002\x1b\\", b""),
    "the bare number, BEL": (b"\x1b]9002\x07", b""),
    "an empty frame": (b"\x1b]9002;\x1b\\", b""),
    "a frame that BEL ends": (b"\x1b]9002;1;1;1;0;AA==\x07", b""),
    "a frame that CAN ends": (b"\x1b]9002;1;1;1;0;AA\x18", b""),
    "a frame that SUB ends, and its rest": (b"\x1b]9002;1;1;1;0;AA\x1a==\x1b\\", b"==\x1b\\"),
    "a frame that APC ends": (b"\x1b]9002;1;1;1;0;AA\x1b_==\x1b\\", b"\x1b_==\x1b\\"),
    "a frame that is too long": (b"\x1b]9002;1;1;1;0;" + b"A" * 4_106 + b"\x1b\\", b""),
    "a frame of another message": (frame("1;2;1;0", b"x"), b""),
    "a frame that was due already": (frame("1;1;0;1", b"x" * FULL)[:-2] + b"\x1b[m", b"\x1b[m"),
    "a frame that is due later": (frame("1;1;2;0", b"x"), b""),
    "an unfinished one": (b"\x1b]9002;1;1;1;0;AA", b""),
}


def read(pieces: list[bytes]) -> Found:
    """Return ordinary bytes and messages, and check that all bytes are accounted for once."""
    decoder = FrameDecoder()
    events = [event for piece in pieces for event in decoder.receive_data(piece)]
    events += decoder.end_of_stream()
    ordinary, messages, behind = b"", [], 0
    for event in sorted(events, key=lambda event: event.offset):
        assert event.offset == behind
        behind += len(event.data) if isinstance(event, Ordinary) else event.end - event.offset
    for event in events:
        if isinstance(event, Ordinary):
            ordinary += event.data
        elif isinstance(event, Payload):
            messages.append(event.data)
    assert behind == sum(map(len, pieces))
    return ordinary, messages


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.requirement(
    "terminal:assembly:table", "terminal:scan:recovery", "terminal:scan:any-cut"
)
def test_what_stands_between_fragments_is_what_it_is_and_no_message_comes_of_them(
    name: str,
) -> None:
    between, ordinary = BETWEEN[name]
    first, second = frame("1;1;0;1", b"x" * FULL), frame("1;1;1;0", b"y")
    stream = first + between + second + encode_frames(PROBE, 9)

    assert read([stream]) == (ordinary, [PROBE])
    for place in range(len(first) - 3, len(first) + min(len(between), 40) + 4):
        assert read(cut(stream, [place])) == (ordinary, [PROBE])


# Sizes of the fragments of one message, the last of them final -> whether it is one.
SIZES: Final = (
    ([1], True),
    ([FULL], True),
    ([0], False),
    ([FULL + 1], False),
    ([FULL, 1], True),
    ([FULL, FULL], True),
    ([FULL, 0], False),
    ([FULL, FULL + 1], False),
    ([FULL - 1, 1], False),
    ([FULL + 1, 1], False),
    ([0, FULL], False),
    ([FULL, FULL - 1, 1], False),
    ([FULL] * 341, True),
    ([FULL] * 341 + [1], True),
    ([FULL] * 341 + [1_024], True),
    ([FULL] * 341 + [1_025], False),
    ([FULL] * 342, False),
    ([FULL] * 342 + [1], False),
)


@pytest.mark.parametrize(("sizes", "is_message"), SIZES)
@pytest.mark.requirement("terminal:frame:size", "terminal:assembly:size")
def test_all_fragments_are_full_but_the_last(sizes: list[int], is_message: bool) -> None:
    last = len(sizes) - 1
    stream = b"".join(
        frame(f"1;7;{index};{int(index < last)}", b"x" * size) for index, size in enumerate(sizes)
    )

    messages = [b"x" * sum(sizes), PROBE] if is_message else [PROBE]
    assert read([stream + encode_frames(PROBE, 9)]) == (b"", messages)


_BEGINNING: Final = re.compile(rb"\x1b\]9002(?=[;\x1b\x07\x18\x1a]|\Z)")
_CONTENT: Final = re.compile(rb"[^\x1b\x07\x18\x1a]*+")
_DECIMAL: Final = rb"(0|[1-9][0-9]*)"
_FRAME: Final = re.compile(
    rb"9002;1;" + _DECIMAL + rb";" + _DECIMAL + rb";([01]);([A-Za-z0-9+/]+={0,2})"
)


def fragment_of(content: bytes) -> tuple[int, int, bool, bytes] | None:
    found = _FRAME.fullmatch(content)
    if not found or len(content) > 4_120:
        return None
    frame_id, index, is_last = int(found[1]), int(found[2]), found[3] == b"0"
    try:
        data = base64.b64decode(found[4], validate=True)
    except ValueError:
        return None
    is_sized = 1 <= len(data) <= FULL if is_last else len(data) == FULL
    is_good = base64.b64encode(data) == found[4] and is_sized
    is_good = is_good and 1 <= frame_id < 2**31 and index <= 341
    return (frame_id, index, is_last, data) if is_good else None


def read_whole(stream: bytes) -> Found:
    """Return the same as :func:`read`, from the whole stream and by looking back and forth."""
    ordinary, messages, position = b"", [], 0
    parts: list[bytes] = []
    owner = 0
    while position < len(stream):
        beginning = _BEGINNING.search(stream, position)
        start = beginning.start() if beginning else len(stream)
        if start > position:
            ordinary += stream[position:start]
            parts = []
        if not beginning:
            break
        content = _CONTENT.match(stream, start + 2)
        assert content is not None
        end = content.end()
        is_ended = stream[end : end + 2] == b"\x1b\\"
        fragment = fragment_of(content[0]) if is_ended else None
        # ESC and another byte are read again; what else ends a frame goes with it.
        position = end + 2 if is_ended else end + (stream[end : end + 1] != b"\x1b")
        position = len(stream) if end + 1 >= len(stream) else position
        if fragment is None:
            parts = []
            continue
        frame_id, index, is_last, data = fragment
        if index == 0:
            parts, owner = [], frame_id
        elif index != len(parts) or frame_id != owner:
            parts = []
            continue
        parts.append(data)
        if is_last:
            messages.append(b"".join(parts))
            parts = []
    return ordinary, messages


_headers = st.tuples(
    st.sampled_from(["1", "1", "1", "2", "01", ""]),
    st.sampled_from(["1", "1", "1", "2", "0", "2147483647", "2147483648", "+1", "01"]),
    st.sampled_from(["0", "0", "1", "1", "2", "341", "342", "00"]),
    st.sampled_from(["0", "1"]),
).map(";".join)
_frames = st.builds(
    lambda header, size, end: frame(header, b"z" * size)[:-2] + end,
    _headers,
    st.sampled_from([0, 1, 2, FULL - 1, FULL, FULL, FULL, FULL + 1]),
    st.sampled_from(
        [b"\x1b\\"] * 8 + [b"", b"\x07", b"\x18", b"\x1a", b"\x9c", b"\x1b", b"\x1b[m"]
    ),
)
_pieces = st.sampled_from(
    [b"\x1b", b"\x1b]", b"\x1b]900", b"\x1b]9002", b"\x1b]9002;", b"9002;", b"\\", b"\x07", b"x"]
)
_others = st.sampled_from([piece for piece, _ordinary in BETWEEN.values()])


@given(st.lists(st.one_of(_frames, _frames, _pieces, _others), max_size=7).map(b"".join), st.data())
@pytest.mark.requirement("terminal:scan:transparent", "terminal:assembly:table")
def test_another_reading_of_the_page_finds_the_same(stream: bytes, data: st.DataObject) -> None:
    places = st.integers(0, len(stream))
    cuts = data.draw(st.sets(places, max_size=6))

    assert read(cut(stream, cuts)) == read_whole(stream)


def test_the_other_reading_reads() -> None:
    assert read_whole(b"a" + encode_frames(PROBE, 1) + b"\x1b]9002;\x07b") == (b"ab", [PROBE])
    assert read_whole(encode_frames(b"x" * (FULL + 1), 1)) == (b"", [b"x" * (FULL + 1)])
