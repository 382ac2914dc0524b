"""The scanner: its table is that of the specification, and its search does what the table says."""

import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given

from blockwire.terminal.bounds import OSC_CONTENT_BYTES_MAX
from blockwire.terminal.framing import Ordinary
from blockwire.terminal.scanner import FrameScanner, ScanToken
from blockwire.terminal.scantable import INTRODUCER, TRANSITIONS
from tests.suites import PROJECT
from tests.terminal.frames import (
    ScanMachine,
    cut_streams,
    end_of,
    joined_tokens,
    single_bytes,
    without_details,
)

PAGE: Final[Path] = PROJECT / "docs" / "spec" / "terminal" / "framing.md"
ROW: Final = re.compile(r"^\| `(\w+)` \| (\S+) \| (.+) \| `(\w+)` \|$", re.MULTILINE)


def scan(*pieces: bytes) -> list[ScanToken]:
    scanner = FrameScanner()
    tokens = [token for piece in pieces for token in scanner.receive_data(piece)]
    return joined_tokens([*tokens, *scanner.end_of_stream()])


def test_the_table_is_that_of_the_specification() -> None:
    stated = [
        (state, byte, then.strip("`"), act)
        for state, byte, then, act in ROW.findall(PAGE.read_text(encoding="utf-8"))
    ]

    written = [
        (state, byte, step.state, step.act)
        for state, row in TRANSITIONS.items()
        for byte, step in row.items()
    ]

    # The last byte of the introducer leads on; the column says so in words.
    longer = "introducer`, or `number` after the last"
    assert written == [
        (state, byte, "introducer" if then == longer else then, act)
        for state, byte, then, act in stated
    ]
    assert (stated[3], len(stated)) == (("introducer", "next", longer, "hold"), 18)


TOO_LONG: Final = b"\x1b]9002;" + b"A" * OSC_CONTENT_BYTES_MAX


@given(cut_streams())
@example((TOO_LONG + b"\x1b\\x", [TOO_LONG + b"\x1b", b"\\x"]))
@example((TOO_LONG + b"\x07x", [TOO_LONG, b"\x07", b"x"]))
@example((TOO_LONG + b"\x1b]0;", [TOO_LONG + b"\x1b", b"]0;"]))
@example((b"\x1b]9002", [b"\x1b]9", b"002"]))
@example((b"\x1b]9002;\x1bP", [b"\x1b]9002;\x1b", b"P"]))
@pytest.mark.requirement("terminal:scan:any-cut")
def test_searching_finds_what_the_table_says_however_the_stream_is_cut(
    drawn: tuple[bytes, list[bytes]],
) -> None:
    stream, pieces = drawn

    expected = without_details(ScanMachine().run(stream))

    assert without_details(scan(stream)) == expected
    assert without_details(scan(*pieces)) == expected


@given(cut_streams())
def test_tokens_lie_in_the_stream_without_gap_or_overlap(drawn: tuple[bytes, list[bytes]]) -> None:
    stream, pieces = drawn
    position = 0

    for token in scan(*pieces):
        assert token.offset == position
        position = end_of(token)
        if isinstance(token, Ordinary):
            assert stream[token.offset : position] == token.data

    assert position == len(stream)


def test_what_is_held_can_be_seen_with_its_place() -> None:
    scanner = FrameScanner()

    scanner.receive_data(b"abc" + INTRODUCER[:3])

    assert (scanner.held, scanner.held_offset, scanner.retained_bytes) == (b"\x1b]9", 3, 3)


def test_an_esc_inside_a_frame_is_not_held_for_anybody() -> None:
    scanner = FrameScanner()

    scanner.receive_data(b"\x1b]9002;1\x1b")

    assert scanner.held == b""
    assert scanner.release() == []
    assert scanner.retained_bytes == 7


def test_released_bytes_begin_no_frame_any_more() -> None:
    scanner = FrameScanner()
    scanner.receive_data(b"\x1b]90")

    assert scanner.release() == [Ordinary(b"\x1b]90", 0)]
    assert scanner.receive_data(b"02;1") == [Ordinary(b"02;1", 4)]


def test_every_part_of_the_introducer_is_held_and_no_more() -> None:
    for length in range(1, len(INTRODUCER) + 1):
        scanner = FrameScanner()
        for byte in single_bytes(INTRODUCER[:length]):
            assert scanner.receive_data(byte) == []
        assert scanner.receive_data(b"x") == [Ordinary(INTRODUCER[:length] + b"x", 0)]
        assert scanner.retained_bytes == 0
