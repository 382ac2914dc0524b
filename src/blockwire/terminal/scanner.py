"""Where frames begin and end in a stream of bytes; everything else is ordinary.

Spec: docs/spec/terminal/framing.md, "The scanner". What a byte does is in
:mod:`blockwire.terminal.scantable`. What lies between the bytes that matter is found by
``bytes.find``, which looks at every byte a fixed number of times however the stream was cut.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from blockwire.terminal.bounds import OSC_CONTENT_BYTES_MAX
from blockwire.terminal.framing import (
    OSC,
    ST,
    BadFrame,
    Fragment,
    FrameErrorCode,
    Ordinary,
    Payload,
    decode_frame,
)
from blockwire.terminal.scantable import DROP_CODES, ESC, INTRODUCER, step

__all__ = ["FrameScanner", "ScanToken"]

# The rows of the table, spread out: a tuple is asked faster.
_AT_NUMBER: Final = tuple(step("number", byte).act for byte in range(256))
_AFTER_ESC: Final = tuple(step("escape", byte).act for byte in range(256))
_DROPPING: Final = tuple(bytes((byte,)) for byte in DROP_CODES)
_FRAME_BYTES_MAX: Final = len(OSC) + OSC_CONTENT_BYTES_MAX + len(ST)

ScanToken: TypeAlias = Ordinary | Payload | Fragment | BadFrame

_DETAILS: Final[dict[FrameErrorCode, str]] = {
    "frame_too_long": f"more than {OSC_CONTENT_BYTES_MAX} bytes before the end of a frame",
    "wrong_terminator": "a frame ends with ST, never with BEL",
    "cancelled": "CAN or SUB inside a frame",
    "interrupted": "ESC inside a frame begins something else",
    "unfinished": "the stream ended inside a frame",
}


class FrameScanner:
    """Cuts one direction of a stream into ordinary bytes, contents of frames, and bad frames.

    The tokens lie in the stream without gap or overlap.
    """

    __slots__ = ("_content", "_frame_offset", "_held", "_is_in_frame", "_length", "_next_offset")

    def __init__(self) -> None:
        self._next_offset = 0
        # On the ground: a suffix that may begin a frame. In a frame: an ESC that may end it.
        self._held = b""
        self._is_in_frame = False
        self._frame_offset = 0
        # Content of the unfinished frame; nothing any more once it is too long.
        self._content = bytearray()
        self._length = 0

    @property
    def retained_bytes(self) -> int:
        """Bytes that are kept until more arrive."""
        return len(self._held) + len(self._content)

    @property
    def held(self) -> bytes:
        """Bytes that are ordinary unless what follows makes them a frame."""
        return b"" if self._is_in_frame else self._held

    @property
    def held_offset(self) -> int:
        """Where :attr:`held` begins in the stream."""
        return self._next_offset - len(self._held)

    def receive_data(self, data: bytes) -> list[ScanToken]:
        """Return what ``data`` completes, in stream order; neighbours of one call are merged."""
        base = self._next_offset
        self._next_offset += len(data)
        if self._held:
            base -= len(self._held)
            data = self._held + data
            self._held = b""
        elif not self._is_in_frame and _may_be_one_frame(data):
            # Nearly always: one frame and nothing else. What can be decoded holds no ESC.
            token = decode_frame(data[len(OSC) : -len(ST)], base, self._next_offset)
            if not isinstance(token, BadFrame):
                return [token]
        tokens: list[ScanToken] = []
        position = 0
        while position < len(data):
            if self._is_in_frame:
                position = self._scan_frame(data, position, base, tokens)
            else:
                position = self._scan_ground(data, position, base, tokens)
        return tokens

    def release(self) -> list[ScanToken]:
        """Return what is held as ordinary bytes; whatever follows them is read from ground."""
        held = self.held
        if not held:
            return []
        token = Ordinary(held, self.held_offset)
        self._held = b""
        return [token]

    def end_of_stream(self) -> list[ScanToken]:
        """Return what is left: held bytes are ordinary, a frame without its end is bad."""
        if not self._is_in_frame:
            # ESC ]9002 without more: an OSC string whose number is ours, and which has no end.
            if self._held != INTRODUCER:
                return self.release()
            self._frame_offset = self.held_offset
        tokens: list[ScanToken] = []
        self._leave_frame(0, self._bad_frame("unfinished", self._next_offset), tokens)
        self._held = b""
        return tokens

    def _scan_ground(self, data: bytes, start: int, base: int, tokens: list[ScanToken]) -> int:
        """Pass on what is ordinary from ``start``; return where a content begins, or the end."""
        found = data.find(INTRODUCER, start)
        while found >= 0:
            behind = found + len(INTRODUCER)
            if behind == len(data):
                break
            if _AT_NUMBER[data[behind]] != "pass":
                self._is_in_frame = True
                self._frame_offset = base + found
                if found > start:
                    tokens.append(Ordinary(data[start:found], base + start))
                return found + len(OSC)
            found = data.find(INTRODUCER, behind)
        end = len(data) - _held_bytes(data)
        self._held = data[end:]
        if end > start:
            tokens.append(Ordinary(data[start:end], base + start))
        return len(data)

    def _scan_frame(self, data: bytes, start: int, base: int, tokens: list[ScanToken]) -> int:
        """Look for the end of the frame from ``start``; return where to go on."""
        size = len(data)
        found = data.find(ESC, start)
        escape = size if found < 0 else found
        is_terminated = escape + 1 < size and _AFTER_ESC[data[escape + 1]] == "end"
        # ESC and a byte that does not end a frame well are read from ground.
        end = escape + len(ST) if is_terminated else escape
        token: ScanToken | None = None
        if is_terminated and self._length + escape - start <= OSC_CONTENT_BYTES_MAX:
            content = data[start:escape]
            if self._content:
                content = bytes(self._content) + content
            token = decode_frame(content, self._frame_offset, base + end)
            # What can be decoded holds none of the bytes that end a frame otherwise.
            if not isinstance(token, BadFrame):
                return self._leave_frame(end, token, tokens)
        stop = _find_drop(data, start, escape)
        self._length += stop - start
        if stop < escape:
            end = stop + 1
            token = self._bad_frame(DROP_CODES[data[stop]], base + end)
        elif escape + 1 >= size:
            self._held = data[escape:]
            if self._length > OSC_CONTENT_BYTES_MAX:
                self._content.clear()
            else:
                self._content += data[start:escape]
            return size
        return self._leave_frame(end, token or self._bad_frame("interrupted", base + end), tokens)

    def _bad_frame(self, code: FrameErrorCode, end: int) -> BadFrame:
        if self._length > OSC_CONTENT_BYTES_MAX:
            code = "frame_too_long"
        return BadFrame(code, _DETAILS[code], self._frame_offset, end, None)

    def _leave_frame(self, end: int, token: ScanToken, tokens: list[ScanToken]) -> int:
        tokens.append(token)
        self._is_in_frame = False
        self._length = 0
        if self._content:
            self._content.clear()
        return end


def _may_be_one_frame(data: bytes) -> bool:
    return data.startswith(INTRODUCER) and data.endswith(ST) and len(data) <= _FRAME_BYTES_MAX


def _find_drop(data: bytes, start: int, escape: int) -> int:
    """Return where the first byte is that ends a frame before ``escape``, or ``escape``."""
    # Nothing is looked for beyond the next ESC: no byte is passed twice on account of these.
    for byte in _DROPPING:
        found = data.find(byte, start, escape)
        if found >= 0:
            escape = found
    return escape


def _held_bytes(data: bytes) -> int:
    """Return how many bytes at the end of ``data`` may begin a frame."""
    escape = data.rfind(ESC, max(0, len(data) - len(INTRODUCER)))
    if escape >= 0 and INTRODUCER.startswith(data[escape:]):
        return len(data) - escape
    return 0
