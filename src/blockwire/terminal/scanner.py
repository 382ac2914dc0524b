"""Where frames begin and end in a stream of bytes; everything else is ordinary.

Spec: docs/spec/terminal/framing.md, "The scanner". What a byte does is in
:mod:`blockwire.terminal.scantable`. What lies between the bytes that matter is found by
``bytes.find``, which looks at every byte a fixed number of times however the stream was cut.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from blockwire.terminal.bounds import OSC_CONTENT_BYTES_MAX
from blockwire.terminal.framing import OSC, ST, BadFrame, FrameErrorCode, Ordinary
from blockwire.terminal.scantable import DROP_CODES, ESC, INTRODUCER, step

__all__ = ["Content", "FrameScanner", "ScanToken"]

_ESC_BYTE: Final = 0x1B
_DROPPING: Final = tuple(bytes((byte,)) for byte in DROP_CODES)


class Content(NamedTuple):
    """What a frame with a good end holds, from the OSC number to its terminator.

    Attributes:
        data: At most ``OSC_CONTENT_BYTES_MAX`` bytes.
        offset: Of the ESC that begins the frame.
        end: Behind the terminator.
    """

    data: bytes
    offset: int
    end: int


ScanToken: TypeAlias = Ordinary | Content | BadFrame

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
        self._next_offset += len(data)
        if self._held:
            data = self._held + data
            self._held = b""
        tokens: list[ScanToken] = []
        base = self._next_offset - len(data)
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
        token = self._bad_frame("unfinished", self._next_offset)
        self._leave_frame()
        return [token]

    def _scan_ground(self, data: bytes, start: int, base: int, tokens: list[ScanToken]) -> int:
        """Pass on what is ordinary from ``start``; return where a content begins, or the end."""
        found = data.find(INTRODUCER, start)
        while found >= 0:
            behind = found + len(INTRODUCER)
            if behind == len(data):
                break
            if step("number", data[behind]).act != "pass":
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
        stop = _find_end(data, start)
        self._length += stop - start
        is_too_long = self._length > OSC_CONTENT_BYTES_MAX
        if stop == len(data) or (data[stop] == _ESC_BYTE and stop + 1 == len(data)):
            self._held = data[stop:]
            if is_too_long:
                self._content.clear()
            else:
                self._content += data[start:stop]
            return len(data)
        code: FrameErrorCode | None
        if step("frame", data[stop]).state == "escape":
            is_terminated = step("escape", data[stop + 1]).act == "end"
            end = stop + len(ST) if is_terminated else stop
            code = None if is_terminated else "interrupted"
        else:
            end = stop + 1
            code = DROP_CODES[data[stop]]
        if is_too_long:
            code = "frame_too_long"
        if code is None:
            content = data[start:stop]
            if self._content:
                content = bytes(self._content) + content
            tokens.append(Content(content, self._frame_offset, base + end))
        else:
            tokens.append(self._bad_frame(code, base + end))
        self._leave_frame()
        return end

    def _bad_frame(self, code: FrameErrorCode, end: int) -> BadFrame:
        return BadFrame(code, _DETAILS[code], self._frame_offset, end, None)

    def _leave_frame(self) -> None:
        self._is_in_frame = False
        self._held = b""
        self._content.clear()
        self._length = 0


def _find_end(data: bytes, start: int) -> int:
    """Return where the first byte is that may end a frame; the length if there is none."""
    found = data.find(ESC, start)
    stop = len(data) if found < 0 else found
    # The other three are looked for before ESC only: no byte is passed twice on their account.
    for byte in _DROPPING:
        found = data.find(byte, start, stop)
        if found >= 0:
            stop = found
    return stop


def _held_bytes(data: bytes) -> int:
    """Return how many bytes at the end of ``data`` may begin a frame."""
    escape = data.rfind(ESC, max(0, len(data) - len(INTRODUCER)))
    if escape >= 0 and INTRODUCER.startswith(data[escape:]):
        return len(data) - escape
    return 0
