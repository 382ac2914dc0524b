"""A decoder's work is linear in the bytes, whatever they are and however they are cut.

Not time is measured but bytes: how many are looked at in searches, and how many are copied.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar, Final, SupportsIndex

import pytest

from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import encode_frames
from tests.support.counting import calls_in
from tests.terminal.frames import cut

SIZE: Final = 16_000
LOOKS_MAX: Final = 12
"""How often a byte may be looked at or copied."""
CALLS_MAX: Final = 64
"""How many more bytes a call may touch, for a piece of one byte and less."""


class Watched(bytes):
    """Bytes that count what is looked at and what is copied."""

    touched: ClassVar[int] = 0

    def find(self, sub: Any, start: Any = 0, end: Any = sys.maxsize, /) -> int:
        found = super().find(sub, start, end)
        Watched.touched += (min(end, len(self)) if found < 0 else found + len(sub)) - start
        return found

    def rfind(self, sub: Any, start: Any = 0, end: Any = sys.maxsize, /) -> int:
        Watched.touched += min(end, len(self)) - start
        return super().rfind(sub, start, end)

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        found: Any = super().__getitem__(key)
        if isinstance(key, slice):
            Watched.touched += len(found)
            return Watched(found)
        return found

    def __add__(self, other: Any) -> Watched:
        Watched.touched += len(self) + len(other)
        return Watched(super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, bytearray):
            # It grows where it is: what it held before is not looked at.
            Watched.touched += len(self)
            return NotImplemented
        Watched.touched += len(self) + len(other)
        return Watched(bytes.__add__(other, self))


def touched_bytes(stream: bytes, piece_bytes: int) -> int:
    """Return how many bytes a decoder looks at or copies for ``stream``."""
    Watched.touched = 0
    decoder = FrameDecoder()
    for piece in cut(stream, range(piece_bytes, len(stream), piece_bytes)):
        decoder.receive_data(Watched(piece))
    decoder.end_of_stream()
    return Watched.touched


def filled(unit: bytes, size: int) -> bytes:
    return (unit * (size // len(unit) + 1))[:size]


STREAMS: Final[dict[str, bytes]] = {
    "text": b"The quick brown fox. ",
    "colours": b"\x1b[31mred\x1b[0m ",
    "ESC": b"\x1b",
    "introducers": b"\x1b]",
    "numbers": b"\x1b]9002",
    "other numbers": b"\x1b]90021;",
    "frames that do not end": b"\x1b]9002;",
    "frames that end badly": b"\x1b]9002;\x07",
    "frames that are cancelled": b"\x1b]9002;1;7;0;0;QUJD\x18",
    "ends of frames": b"\x1b\\",
    "good frames": encode_frames(b"{}", 7),
    "good frames with what drops frames behind them": encode_frames(b"{}", 7) + b"\x07" * 50,
    "long bad frames": b"\x1b]9002;" + b"!" * 4100 + b"\x1b\\",
    "messages": encode_frames(b"x" * 10_000, 7),
}


@pytest.mark.parametrize("piece_bytes", [1, 7, 4096, 10 * SIZE])
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.requirement("terminal:scan:linear")
def test_bytes_are_touched_a_fixed_number_of_times(name: str, piece_bytes: int) -> None:
    stream = filled(STREAMS[name], SIZE)

    touched = touched_bytes(stream, piece_bytes)

    assert 0 < touched <= LOOKS_MAX * SIZE + CALLS_MAX * (SIZE // piece_bytes)


@pytest.mark.parametrize("piece_bytes", [1, 4096, 10 * SIZE])
@pytest.mark.parametrize("beginning", [b"\x1b]9002;", b"\x1b]2;", b"\x1bP"])
@pytest.mark.requirement("terminal:scan:linear")
def test_a_string_without_an_end_is_no_more_work(beginning: bytes, piece_bytes: int) -> None:
    stream = beginning + b"A" * SIZE

    touched = touched_bytes(stream, piece_bytes)

    assert 0 < touched <= LOOKS_MAX * SIZE + CALLS_MAX * (SIZE // piece_bytes)


def calls_made(stream: bytes) -> int:
    """Return how many functions a decoder calls for ``stream``, byte by byte."""
    pieces = cut(stream, range(1, len(stream)))
    decoder = FrameDecoder()

    def work() -> None:
        for piece in pieces:
            decoder.receive_data(piece)

    return calls_in(work)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.requirement("terminal:scan:linear")
def test_twice_the_bytes_are_twice_the_calls(name: str) -> None:
    once, twice = (calls_made(filled(STREAMS[name], size)) for size in (3_000, 6_000))

    assert twice <= 2.2 * once
