"""Carrier frames: a message as OSC control strings, and one frame read back.

Spec: docs/spec/terminal/framing.md. Above it are messages, JSON in UTF-8; below it is whatever
carries bytes. Where a frame begins and ends in a stream is found by
:mod:`blockwire.terminal.scanner`; frames become messages again in
:mod:`blockwire.terminal.decoder`.
"""

from __future__ import annotations

import binascii
import re
from typing import Final, Literal, NamedTuple, TypeAlias

import pybase64
from msgspec import Struct

from blockwire.errors import LocalProtocolError
from blockwire.terminal.bounds import (
    FRAGMENT_BYTES,
    FRAME_ID_MAX,
    FRAMES_MAX,
    FRAMING_VERSION,
    INDEX_MAX,
    MESSAGE_BYTES_MAX,
    OSC_NUMBER,
)

__all__ = [
    "NUMBER",
    "OSC",
    "ST",
    "BadFrame",
    "Fragment",
    "FrameErrorCode",
    "FrameEvent",
    "FrameIds",
    "Ordinary",
    "Payload",
    "decode_frame",
    "encode_frames",
]

FrameErrorCode: TypeAlias = Literal[
    "invalid_header",
    "unknown_framing_version",
    "invalid_base64",
    "invalid_fragment_size",
    "frame_too_long",
    "message_too_long",
    "out_of_sequence",
    "assembly_abandoned",
    "wrong_terminator",
    "cancelled",
    "interrupted",
    "unfinished",
]
"""Why bytes were consumed without a message; told locally and never sent."""

OSC: Final = b"\x1b]"
ST: Final = b"\x1b\\"
NUMBER: Final = b"%d" % OSC_NUMBER

_ENCODED_FRAGMENT_BYTES: Final = FRAGMENT_BYTES // 3 * 4
_BEGINNING: Final = OSC + NUMBER + b";%d;" % FRAMING_VERSION
# INDEX;MORE; of every frame but a last one.
_MIDDLES: Final = tuple(b"%d;1;" % index for index in range(FRAMES_MAX))

_VERSION: Final = b"%d" % FRAMING_VERSION
_FIELDS: Final = 6
_MORE: Final = (b"0", b"1")
_DIGITS_MAX: Final = len(str(FRAME_ID_MAX))
_OTHER_VERSION: Final = re.compile(NUMBER + rb";(?!%d;)(?:0|[1-9][0-9]*);" % FRAMING_VERSION)


class FrameIds:
    """The numbers of frames that one writer sends: 1 to ``FRAME_ID_MAX``, then 1 again."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        """Return the id of the next message."""
        self._last = self._last % FRAME_ID_MAX + 1
        return self._last


def encode_frames(message: bytes, frame_id: int) -> bytes:
    """Return the carrier frames of one serialized message, ready to write in one piece.

    Args:
        message: UTF-8 JSON, 1 to ``MESSAGE_BYTES_MAX`` bytes.
        frame_id: 1 to ``FRAME_ID_MAX``.

    Raises:
        LocalProtocolError: ``invalid_frame_id`` or ``invalid_message_size``.
    """
    if not 1 <= frame_id <= FRAME_ID_MAX:
        raise LocalProtocolError("invalid_frame_id", f"a frame id is 1 to {FRAME_ID_MAX}")
    if not 1 <= len(message) <= MESSAGE_BYTES_MAX:
        raise LocalProtocolError(
            "invalid_message_size", f"a message has 1 to {MESSAGE_BYTES_MAX} bytes"
        )
    # A full fragment has no padding: the message is encoded as a whole and cut afterwards.
    encoded = pybase64.b64encode(message)
    if len(message) <= FRAGMENT_BYTES:
        return b"%b%d;0;0;%b\x1b\\" % (_BEGINNING, frame_id, encoded)
    head = b"%b%d;" % (_BEGINNING, frame_id)
    last = (len(message) - 1) // FRAGMENT_BYTES
    pieces: list[bytes | memoryview] = []
    view = memoryview(encoded)
    for index in range(last):
        cut = index * _ENCODED_FRAGMENT_BYTES
        pieces += (head, _MIDDLES[index], view[cut : cut + _ENCODED_FRAGMENT_BYTES], ST)
    pieces += (head, b"%d;0;" % last, view[last * _ENCODED_FRAGMENT_BYTES :], ST)
    return b"".join(pieces)


class Ordinary(NamedTuple):
    """Bytes that are nobody's frame, as they came.

    Attributes:
        data: At least one byte.
        offset: Of its first byte in the stream.
    """

    data: bytes
    offset: int


class Payload(NamedTuple):
    """One message, as it was given to the encoder.

    Attributes:
        data: 1 to ``MESSAGE_BYTES_MAX`` bytes.
        frame_id: Which its frames carried.
        offset: Of the first byte of its first frame in the stream.
        end: Behind the last byte of its last frame.
    """

    data: bytes
    frame_id: int
    offset: int
    end: int


class BadFrame(NamedTuple):
    """Bytes that are consumed without a message, for local reports only.

    Attributes:
        code: Why.
        detail: One sentence for people.
        offset: Of the first byte that is consumed.
        end: Behind the last.
        frame_id: Of an abandoned assembly, or of a frame whose header could be read.
    """

    code: FrameErrorCode
    detail: str
    offset: int
    end: int
    frame_id: int | None


FrameEvent: TypeAlias = Ordinary | Payload | BadFrame


class Fragment(Struct, frozen=True):
    """What one good frame of several holds.

    Attributes:
        frame_id: The message it belongs to.
        index: Its place in that message, from 0.
        is_last: Whether it ends the message.
        data: Bytes of the message; ``FRAGMENT_BYTES`` unless it is the last.
        offset: Of the first byte of the frame in the stream.
        end: Behind its last byte.
    """

    frame_id: int
    index: int
    is_last: bool
    data: bytes
    offset: int
    end: int


def decode_frame(content: bytes, offset: int, end: int) -> Payload | Fragment | BadFrame:
    """Return what a frame holds, a message or a part of one, or why it is bad.

    Args:
        content: What stands between the introducer and ST, from the OSC number on; at most
            ``OSC_CONTENT_BYTES_MAX`` bytes, which the caller sees to.
        offset: Of the first byte of the frame in the stream.
        end: Behind its last byte.
    """
    fields = content.split(b";", _FIELDS - 1)
    if len(fields) != _FIELDS or fields[1] != _VERSION or fields[0] != NUMBER:
        is_other = _OTHER_VERSION.match(content) is not None
        code: FrameErrorCode = "unknown_framing_version" if is_other else "invalid_header"
        return BadFrame(code, _HEADER_DETAILS[code], offset, end, None)
    frame_id, index, more = _decimal(fields[2]), _decimal(fields[3]), fields[4]
    if not 1 <= frame_id <= FRAME_ID_MAX or not 0 <= index <= INDEX_MAX or more not in _MORE:
        detail = _HEADER_DETAILS["invalid_header"]
        return BadFrame("invalid_header", detail, offset, end, None)
    data = _decode_canonical(fields[5])
    if data is None:
        detail = "not canonical padded base64"
        return BadFrame("invalid_base64", detail, offset, end, frame_id)
    is_last = more == b"0"
    if is_last and index == 0 and 1 <= len(data) <= FRAGMENT_BYTES:
        return Payload(data, frame_id, offset, end)
    fragment = Fragment(frame_id, index, is_last, data, offset, end)
    return _refuse_size(fragment) or fragment


def _decimal(digits: bytes) -> int:
    """Return the number that ``digits`` are, without sign and leading zero; else -1."""
    if len(digits) > _DIGITS_MAX or not digits.isdigit() or (len(digits) > 1 and digits[0] == 0x30):
        return -1
    return int(digits)


def _refuse_size(fragment: Fragment) -> BadFrame | None:
    size, offset, end = len(fragment.data), fragment.offset, fragment.end
    if size != FRAGMENT_BYTES and (not fragment.is_last or not 1 <= size < FRAGMENT_BYTES):
        detail = f"a fragment of {size} bytes"
        return BadFrame("invalid_fragment_size", detail, offset, end, fragment.frame_id)
    # All fragments before this one are full, or it will be refused as out of sequence.
    if fragment.index * FRAGMENT_BYTES + size > MESSAGE_BYTES_MAX:
        detail = f"more than {MESSAGE_BYTES_MAX} bytes"
        return BadFrame("message_too_long", detail, offset, end, fragment.frame_id)
    return None


_HEADER_DETAILS: Final[dict[FrameErrorCode, str]] = {
    "invalid_header": "not NUMBER;1;FRAME_ID;INDEX;MORE;BASE64",
    "unknown_framing_version": f"the framing version is not {FRAMING_VERSION}",
}


# By how many bytes the last group holds: what its last character can be if unused bits are zero.
_LAST_CHARACTERS: Final = (b"", b"AQgw", b"AEIMQUYcgkosw048")


def _decode_canonical(encoded: bytes) -> bytes | None:
    try:
        data = pybase64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    # No decoder asks whether the bits that are left over are zero; the last character tells.
    left = len(data) % 3
    if left and encoded[left - 4] not in _LAST_CHARACTERS[left]:
        return None
    return data
