"""Streams with frames in them, and the scanner's table run byte by byte."""

import base64
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from hypothesis import strategies as st

from blockwire.terminal.bounds import OSC_CONTENT_BYTES_MAX
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import (
    BadFrame,
    FrameErrorCode,
    FrameEvent,
    Ordinary,
    decode_frame,
    encode_frames,
)
from blockwire.terminal.scanner import ScanToken
from blockwire.terminal.scantable import (
    BYTE_CLASSES,
    DROP_CODES,
    INTRODUCER,
    TRANSITIONS,
    ByteClass,
    State,
)

PROBE: Final = b'{"probe":1}'
FULL: Final = 3072


def frame(fields: str, data: bytes) -> bytes:
    """Return a frame whose header is ``fields``, right or wrong."""
    return b"\x1b]9002;%b;%b\x1b\\" % (fields.encode(), base64.b64encode(data))


def cut(stream: bytes, cuts: Iterable[int]) -> list[bytes]:
    """Return ``stream`` in pieces."""
    return [stream[start:end] for start, end in pairwise([0, *sorted(cuts), len(stream)])]


def single_bytes(stream: bytes) -> list[bytes]:
    """Return ``stream`` in pieces of one byte."""
    return cut(stream, range(1, len(stream)))


def merge(events: Iterable[FrameEvent]) -> list[FrameEvent]:
    """Return ``events`` with neighbouring ordinary bytes joined."""
    merged: list[FrameEvent] = []
    for event in events:
        last = merged[-1] if merged else None
        if isinstance(event, Ordinary) and isinstance(last, Ordinary):
            merged[-1] = Ordinary(last.data + event.data, last.offset)
        else:
            merged.append(event)
    return merged


def read(*pieces: bytes) -> list[FrameEvent]:
    """Return what a decoder makes of ``pieces`` and the end of the stream."""
    decoder = FrameDecoder()
    events = [event for piece in pieces for event in decoder.receive_data(piece)]
    return merge([*events, *decoder.end_of_stream()])


def end_of(event: FrameEvent | ScanToken) -> int:
    """Return where ``event`` ends in the stream."""
    return event.offset + len(event.data) if isinstance(event, Ordinary) else event.end


def assert_reads(stream: bytes, *expected: FrameEvent) -> None:
    """Read ``stream`` whole, byte by byte, and, unless it lacks its end, amid other traffic."""
    assert read(stream) == list(expected)
    assert read(*single_bytes(stream)) == list(expected)
    if "unfinished" in [event.code for event in expected if isinstance(event, BadFrame)]:
        return
    before, after = b"text \x1b[1m \x1b]0;title\x07", b"\x1b]0;t\x1b\\ more"
    amid = [
        event._replace(offset=event.offset - len(before)) for event in read(before, stream, after)
    ]
    kept = [event for event in amid if not isinstance(event, Ordinary)]
    assert [event._replace(end=event.end - len(before)) for event in kept] == [
        event for event in expected if not isinstance(event, Ordinary)
    ]
    assert b"".join(event.data for event in amid if isinstance(event, Ordinary)) == (
        before + b"".join(event.data for event in expected if isinstance(event, Ordinary)) + after
    )


# What streams are made of: all that means something, whole and in part.
_PARTS: Final[Sequence[bytes]] = (
    b"\x1b", b"]", b"\\", b"9002", b"\x1b]", b"\x1b]9", b"\x1b]9002", b"\x1b]9002;", b";", b"\x07",
    b"\x18", b"\x1a", b"\x1b\\", b"\x1bP", b"\x1b_", b"\x1b[1m", b"\x9d", b"\x9c", b"text", b"\x1b]90021;",
    b"\x1b]9002;1;7;0;0;", b"\x1b]9002;2;7;0;0;QUJD\x1b\\", b"QUJD", b"QQ==", b"QR==", b"\xff\x00",
    b"A" * 4090, b"A" * 30, frame("1;7;0;1", b"x" * FULL), frame("1;7;1;1", b"y" * FULL),
    frame("1;7;1;0", b"y"), frame("1;7;2;0", b"z"), frame("1;8;0;0", b"ok"), encode_frames(PROBE, 77),
)  # fmt: skip

streams: Final = st.lists(
    st.one_of(st.sampled_from(_PARTS), st.binary(max_size=4)), max_size=12
).map(b"".join)


@st.composite
def cut_streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Draw a stream, and the same in pieces."""
    stream = draw(streams)
    cuts = draw(st.lists(st.integers(0, len(stream)), max_size=20))
    return stream, cut(stream, cuts)


class ScanMachine:
    """Reads a stream as the table says, one byte after the other, without any haste."""

    def __init__(self) -> None:
        self.tokens: list[ScanToken] = []
        self._state: State = "ground"
        self._held = b""
        self._frame = b""
        self._ordinary = b""
        self._offset = 0

    def run(self, stream: bytes) -> list[ScanToken]:
        """Return what ``stream`` and its end consist of."""
        for byte in stream:
            self._take(byte)
        if self._state in {"number", "frame", "escape"}:
            self._frame = self._frame or self._held
            self._held = b""
            self._drop("unfinished")
        self._ordinary += self._held
        self._tell_ordinary()
        return self.tokens

    def _take(self, byte: int) -> None:
        row = TRANSITIONS[self._state]
        name: ByteClass = BYTE_CLASSES.get(byte, "other")
        if self._state == "introducer" and byte == INTRODUCER[len(self._held)]:
            name = "next"
        step = row.get(name) or row["other"]
        self._state = step.state
        char = bytes((byte,))
        if step.act == "pass":
            self._ordinary += self._held + char
            self._held = b""
        elif step.act == "hold":
            if name == "ESC":
                self._ordinary += self._held
                self._held = b""
            self._held += char
            if self._held == INTRODUCER:
                self._state = "number"
        elif step.act == "again":
            self._frame = self._frame[:-1]
            self._drop("interrupted")
            self._state, self._held = "introducer", b"\x1b"
            self._take(byte)
        else:
            self._frame += self._held + char
            self._held = b""
            if step.act == "drop":
                self._drop(DROP_CODES[byte], content=self._frame[2:-1])
            elif step.act == "end":
                self._end()

    def _end(self) -> None:
        content = self._frame[2:-2]
        if len(content) > OSC_CONTENT_BYTES_MAX:
            self._drop("frame_too_long", content=content)
            return
        self._tell_ordinary()
        end = self._offset + len(self._frame)
        self.tokens.append(decode_frame(content, self._offset, end))
        self._offset, self._frame = end, b""

    def _drop(self, code: FrameErrorCode, content: bytes | None = None) -> None:
        content = self._frame[2:].removesuffix(b"\x1b") if content is None else content
        if len(content) > OSC_CONTENT_BYTES_MAX:
            code = "frame_too_long"
        self._tell_ordinary()
        end = self._offset + len(self._frame)
        self.tokens.append(BadFrame(code, "", self._offset, end, None))
        self._offset, self._frame = end, b""

    def _tell_ordinary(self) -> None:
        if self._ordinary:
            self.tokens.append(Ordinary(self._ordinary, self._offset))
            self._offset += len(self._ordinary)
            self._ordinary = b""


def without_details(tokens: Iterable[ScanToken]) -> list[ScanToken]:
    """Return ``tokens`` without the sentences."""
    return [it._replace(detail="") if isinstance(it, BadFrame) else it for it in tokens]


def joined_tokens(tokens: Iterable[ScanToken]) -> list[ScanToken]:
    """Return ``tokens`` with neighbouring ordinary bytes joined."""
    joined: list[ScanToken] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if isinstance(token, Ordinary) and isinstance(last, Ordinary):
            joined[-1] = Ordinary(last.data + token.data, last.offset)
        else:
            joined.append(token)
    return joined
