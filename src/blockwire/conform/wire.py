"""Frames and messages as the runner reads and writes them: a judge of its own.

Spec: docs/spec/terminal/framing.md. Nothing here comes from the room ``terminal``: who is judged
must not also be the measure. It reads what programs write, and is not lenient: a frame that is not
exactly in the form of the specification is told as :class:`Wrong`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, encode_json

__all__ = ["Item", "Ordinary", "Said", "WireReader", "Wrong", "encode_message", "frames"]

# docs/spec/terminal/framing.md, "Bounds"; tests/conform/test_wire.py compares them with the code.
OSC_NUMBER: Final = 9002
FRAGMENT_BYTES: Final = 3_072
FRAMES_MAX: Final = 342
FRAME_ID_MAX: Final = 2_147_483_647
MESSAGE_BYTES_MAX: Final = 1_048_576
OSC_CONTENT_BYTES_MAX: Final = 4_120
DEPTH_MAX: Final = 64

Message: TypeAlias = dict[str, Any]

_BEGIN: Final = b"\x1b]%d;" % OSC_NUMBER
_END: Final = re.compile(rb"\x1b\\|[\x07\x18\x1a]|\x1b(?=[^\\])")
_FIELDS: Final = re.compile(
    rb"1;([1-9][0-9]{0,9});(0|[1-9][0-9]{0,2});([01]);((?:[A-Za-z0-9+/]{4})*"
    rb"(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\Z"
)


class Ordinary(NamedTuple):
    """Bytes that are no frame."""

    data: bytes


class Said(NamedTuple):
    """A message that came whole.

    Attributes:
        message: What it says.
        source: Its JSON text.
        frame_id: Of its frames.
        frame_count: How many they were.
        wire_bytes: Their length.
    """

    message: Message
    source: bytes
    frame_id: int
    frame_count: int
    wire_bytes: int


class Wrong(NamedTuple):
    """A frame or a message that the specification does not allow."""

    detail: str
    data: bytes


Item: TypeAlias = Ordinary | Said | Wrong


def encode_message(message: Message) -> bytes:
    """Return the JSON text of a message."""
    return encode_json(message)


def frames(source: bytes, frame_id: int = 1) -> bytes:
    """Return the frames of a JSON text."""
    pieces = [source[at : at + FRAGMENT_BYTES] for at in range(0, len(source), FRAGMENT_BYTES)]
    last = len(pieces) - 1
    return b"".join(
        b"%s1;%d;%d;%d;%s\x1b\\" % (_BEGIN, frame_id, index, index < last, base64.b64encode(piece))
        for index, piece in enumerate(pieces)
    )


class WireReader:
    """Bytes that a program wrote, as frames, messages and the rest, at any split."""

    def __init__(self) -> None:
        self._held = b""
        self._pieces: list[bytes] = []
        self._frame_id = 0
        self._wire_bytes = 0
        self._scan_from = 0

    @property
    def is_amid_frame(self) -> bool:
        """Whether more is to come of a frame, or of a message of several frames."""
        return bool(self._pieces) or self._held.startswith(_BEGIN)

    @property
    def held(self) -> bytes:
        """What is not read yet, because it may be the beginning of a frame."""
        return self._held

    def receive_data(self, data: bytes) -> list[Item]:
        """Return what is complete with these bytes, in order."""
        self._held += data
        return list(self._items())

    def end(self) -> list[Item]:
        """Return what is left when nothing follows."""
        held, self._held = self._held, b""
        left: list[Item] = []
        if held:
            is_frame = held.startswith(_BEGIN)
            left.append(Wrong("a frame has no end", held) if is_frame else Ordinary(held))
        if self._pieces:
            left.append(Wrong("a message has no last frame", b"".join(self._pieces)))
            self._pieces = []
        return left

    def _items(self) -> Iterator[Item]:
        while self._held:
            start = self._held.find(_BEGIN)
            if start < 0:
                keep = _beginning(self._held)
                ordinary, self._held = self._held[: len(self._held) - keep], self._held[-keep:]
                if not keep:
                    self._held = b""
                if ordinary:
                    yield from self._ordinary(ordinary)
                return
            if start:
                ordinary, self._held = self._held[:start], self._held[start:]
                yield from self._ordinary(ordinary)
            found = _END.search(self._held, max(len(_BEGIN), self._scan_from))
            if found is None:
                if len(self._held) > len(_BEGIN) + OSC_CONTENT_BYTES_MAX:
                    # Whatever follows: it is too long already, and nobody has to keep it.
                    too_long, self._held, self._scan_from = self._held, b"", 0
                    self._pieces = []
                    yield Wrong("a frame is too long", too_long)
                    return
                # The last byte may be the first half of a terminator.
                self._scan_from = len(self._held) - 1
                return
            self._scan_from = 0
            content, frame = self._held[len(_BEGIN) : found.start()], self._held[: found.end()]
            closer = found[0]
            self._held = self._held[found.start() if closer == b"\x1b" else found.end() :]
            yield from self._frame(content, frame, closer)

    def _ordinary(self, data: bytes) -> Iterator[Item]:
        yield from self._broken("something stands between the frames of a message")
        yield Ordinary(data)

    def _broken(self, detail: str) -> Iterator[Item]:
        if self._pieces:
            data, self._pieces = b"".join(self._pieces), []
            yield Wrong(detail, data)

    def _frame(self, content: bytes, frame: bytes, closer: bytes) -> Iterator[Item]:
        detail = ""
        match = _FIELDS.fullmatch(content)
        if closer != b"\x1b\\":
            detail = "a frame does not end with ESC \\"
        elif len(content) + len(_BEGIN) - 2 > OSC_CONTENT_BYTES_MAX:
            detail = "a frame is too long"
        elif match is None:
            detail = "a frame is not in its form"
        if detail or match is None:
            self._pieces = []
            yield Wrong(detail, frame)
            return
        frame_id, index, more = int(match[1]), int(match[2]), match[3] == b"1"
        piece = base64.b64decode(match[4])
        if index == 0:
            yield from self._broken("a message begins before the last one ended")
            self._frame_id, self._wire_bytes = frame_id, 0
        detail = self._wrong_piece(frame_id, index, piece, match[4], is_last=not more)
        if detail:
            self._pieces = []
            yield Wrong(detail, frame)
            return
        self._pieces.append(piece)
        self._wire_bytes += len(frame)
        if not more:
            count, source = len(self._pieces), b"".join(self._pieces)
            self._pieces = []
            yield self._message(source, count)

    def _wrong_piece(
        self, frame_id: int, index: int, piece: bytes, text: bytes, *, is_last: bool
    ) -> str:
        if not 1 <= frame_id <= FRAME_ID_MAX:
            return "a frame id is out of range"
        if index >= FRAMES_MAX or index != len(self._pieces) or frame_id != self._frame_id:
            return "a frame does not follow the one before"
        if base64.b64encode(piece) != text:
            return "base64 is not canonical"
        if (
            not piece
            or len(piece) > FRAGMENT_BYTES
            or (not is_last and len(piece) < FRAGMENT_BYTES)
        ):
            return "a frame holds another number of bytes than it has to"
        if index * FRAGMENT_BYTES + len(piece) > MESSAGE_BYTES_MAX:
            return "a message is too long"
        return ""

    def _message(self, source: bytes, count: int) -> Item:
        try:
            value = decode_json(source, depth_max=DEPTH_MAX)
        except RemoteProtocolError as error:
            return Wrong(f"a message is no JSON: {error.code}", source)
        if not isinstance(value, dict):
            return Wrong("a message is no object", source)
        return Said(value, source, self._frame_id, count, self._wire_bytes)


def _beginning(data: bytes) -> int:
    """Return how many bytes at the end may be the beginning of a frame."""
    for length in range(min(len(_BEGIN) - 1, len(data)), 0, -1):
        if data.endswith(_BEGIN[:length]):
            return length
    return 0
