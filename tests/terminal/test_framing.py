"""Frames written, and one frame looked at."""

import base64
import re
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.terminal import bounds, decoder
from blockwire.terminal.bounds import FRAME_ID_MAX, MESSAGE_BYTES_MAX, OSC_CONTENT_BYTES_MAX
from blockwire.terminal.framing import (
    BadFrame,
    Fragment,
    FrameIds,
    Payload,
    decode_frame,
    encode_frames,
)
from tests.suites import PROJECT
from tests.terminal.frames import FULL, read

PAGE: Final = (PROJECT / "docs" / "spec" / "terminal" / "framing.md").read_text(encoding="utf-8")
FRAME: Final = re.compile(rb"\x1b\]9002;1;([0-9]+);([0-9]+);([01]);([A-Za-z0-9+/]+=*)\x1b\\")


# writing -----------------------------------------------------------------------------------
def test_a_small_message_is_one_frame() -> None:
    assert encode_frames(b'{"a":1}', 7) == b"\x1b]9002;1;7;0;0;eyJhIjoxfQ==\x1b\\"


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        (1, [1]),
        (FULL - 1, [FULL - 1]),
        (FULL, [FULL]),
        (FULL + 1, [FULL, 1]),
        (2 * FULL, [FULL, FULL]),
        (7_000, [FULL, FULL, 856]),
        (MESSAGE_BYTES_MAX, [FULL] * 341 + [1024]),
    ],
)
@pytest.mark.requirement(
    "terminal:write:cuts", "terminal:write:adjacent", "terminal:write:seven-bit"
)
def test_a_message_is_cut_into_full_fragments_and_a_rest(size: int, sizes: list[int]) -> None:
    message = ("é€" * size).encode()[:size]

    frames = encode_frames(message, FRAME_ID_MAX)

    found = FRAME.findall(frames)
    assert FRAME.sub(b"", frames) == b""
    assert [(int(frame_id), int(index)) for frame_id, index, _, _ in found] == [
        (FRAME_ID_MAX, index) for index in range(len(sizes))
    ]
    assert b"".join(more for _, _, more, _ in found) == b"1" * (len(sizes) - 1) + b"0"
    parts = [base64.b64decode(part, validate=True) for _, _, _, part in found]
    assert [len(part) for part in parts] == sizes
    assert b"".join(parts) == message
    assert max(map(len, frames.split(b"\x1b\\"))) <= OSC_CONTENT_BYTES_MAX + len(b"\x1b]")


@pytest.mark.parametrize(
    ("size", "frame_id", "code"),
    [
        (0, 1, "invalid_message_size"),
        (MESSAGE_BYTES_MAX + 1, 1, "invalid_message_size"),
        (1, 0, "invalid_frame_id"),
        (1, -1, "invalid_frame_id"),
        (1, FRAME_ID_MAX + 1, "invalid_frame_id"),
    ],
)
@pytest.mark.requirement("terminal:write:size")
def test_what_no_decoder_would_take_is_not_written(size: int, frame_id: int, code: str) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        encode_frames(b"x" * size, frame_id)

    assert refused.value.code == code


@given(st.binary(min_size=1, max_size=3 * FULL), st.integers(1, FRAME_ID_MAX))
def test_what_is_written_is_read_back(message: bytes, frame_id: int) -> None:
    frames = encode_frames(message, frame_id)

    assert read(frames) == [Payload(message, frame_id, 0, len(frames))]


def test_ids_count_up_and_begin_again_after_the_last() -> None:
    ids = FrameIds()
    assert [ids.next(), ids.next()] == [1, 2]

    ids._last = FRAME_ID_MAX - 1

    assert [ids.next(), ids.next()] == [FRAME_ID_MAX, 1]


# one frame ---------------------------------------------------------------------------------
GOOD: Final[list[tuple[bytes, Payload | Fragment]]] = [
    (b"9002;1;1;0;0;QQ==", Payload(b"A", 1, 5, 9)),
    (b"9002;1;1;0;1;" + b"QUFB" * 1024, Fragment(1, 0, False, b"A" * FULL, 5, 9)),
    (b"9002;1;2147483647;341;0;QUI=", Fragment(FRAME_ID_MAX, 341, True, b"AB", 5, 9)),
    (b"9002;1;10;340;1;" + b"QUFB" * 1024, Fragment(10, 340, False, b"A" * FULL, 5, 9)),
    (b"9002;1;10;9;0;" + b"++//" * 1024, Fragment(10, 9, True, b"\xfb\xef\xff" * 1024, 5, 9)),
]

# content behind "9002;", code, frame id
BAD: Final[list[tuple[bytes, str, int | None]]] = [
    *((header + b";QUJD", "invalid_header", None) for header in (
        b"", b"1", b"1;1", b"1;1;0", b"1;1;0;", b"1;;0;0", b"1;1;;0", b";1;0;0", b"+1;1;0;0",
        b"01;1;0;0", b"1 ;1;0;0", b"1;0;0;0", b"1;2147483648;0;0", b"1;99999999999;0;0", b"1;01;0;0",
        b"1;-1;0;0", b"1;+1;0;0", b"1; 1;0;0", b"1;1 ;0;0", b"1;0x1;0;0", b"1;1.0;0;0", b"1;1_0;0;0",
        b"1;\xd9\xa1;0;0", b"1;id=1;0;0", b"1;1;00;0", b"1;1;01;0", b"1;1;342;0", b"1;1;1000;0",
        b"1;1;-0;0", b"1;1;0;00", b"1;1;0;2", b"1;1;0;true", b"1;1;0; 0", b"1;1;0;0 ", b"-2;1;0;0",
    )),
    *((header + b";QUJD", "unknown_framing_version", None) for header in (
        b"0;1;0;0", b"2;1;0;0", b"10;1;0;0", b"2;what;ever", b"99999999999999999999;1;0;0",
    )),
    *((b"1;7;0;0;" + payload, "invalid_base64", 7) for payload in (
        b"QUJ", b"QUI", b"QQ", b"QQ=", b"Q===", b"====", b"QQ===", b"QQ==QUJD", b"QR==", b"QUJ=", b"QUK=",
        b"QUJ!", b"__--", b" QUJD", b"QUJD ", b"QU JD", b"QUJD\n", b"QUJD\r\nQUJD", b"QUJD;", b";QUJD",
        b"\xc3\xa9QU", b"\x00QUJ", b"QUJD\x00", b"Q=JD", b"=QUJ",
    )),
    (b"1;7;0;0;", "invalid_fragment_size", 7),
    (b"1;7;0;1;", "invalid_fragment_size", 7),
    (b"1;7;0;1;QUJD", "invalid_fragment_size", 7),
    (b"1;7;0;1;" + b"QUFB" * 1023, "invalid_fragment_size", 7),
    (b"1;7;0;0;" + b"QUFB" * 1025, "invalid_fragment_size", 7),
    (b"1;7;0;1;" + b"QUFB" * 1025, "invalid_fragment_size", 7),
    (b"1;7;341;0;" + base64.b64encode(b"x" * 1025), "message_too_long", 7),
    (b"1;7;341;1;" + b"QUFB" * 1024, "message_too_long", 7),
]  # fmt: skip


@pytest.mark.parametrize(("content", "fragment"), GOOD)
def test_a_good_frame_is_read(content: bytes, fragment: Payload | Fragment) -> None:
    assert decode_frame(content, 5, 9) == fragment


@pytest.mark.parametrize(("content", "code", "frame_id"), BAD)
@pytest.mark.requirement(
    "terminal:frame:decimals", "terminal:frame:version", "terminal:frame:base64",
    "terminal:frame:size", "terminal:assembly:size",
)  # fmt: skip
def test_a_bad_frame_says_why(content: bytes, code: str, frame_id: int | None) -> None:
    refused = decode_frame(b"9002;" + content, 5, 9)

    assert isinstance(refused, BadFrame)
    assert (refused.code, refused.frame_id, refused[2:4]) == (code, frame_id, (5, 9))


@given(st.binary(max_size=40) | st.text("AQUJDR+/=", max_size=12).map(str.encode))
def test_only_the_one_way_to_write_a_payload_is_read(payload: bytes) -> None:
    read_back = decode_frame(b"9002;1;7;0;0;" + payload, 0, 0)

    is_read = isinstance(read_back, Payload)

    assert is_read is bool(payload and _is_canonical(payload))


def _is_canonical(payload: bytes) -> bool:
    try:
        return base64.b64encode(base64.b64decode(payload)) == payload
    except ValueError:
        return False


def test_the_bounds_are_those_of_the_specification() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([0-9,.]+) ?\w* \|", PAGE, re.MULTILINE)

    values: dict[str, Any] = {**vars(bounds), **vars(decoder)}

    assert len(rows) == 8
    assert {name: float(value.replace(",", "")) for name, value in rows} == {
        name: values[name] for name, _ in rows
    }
