"""Frames amid everything else: streams that are cut, damaged and hostile."""

from __future__ import annotations

import base64
import random
from typing import Final

from blockwire.terminal import BadFrame, FrameDecoder, FrameEvent, Ordinary, Payload, encode_frames
from blockwire.terminal.decoder import RETAINED_BYTES_MAX
from blockwire.terminal.framing import Fragment
from fuzz.chances import damaged, pieces
from tests.terminal.frames import PROBE, ScanMachine, merge

__all__ = ["terminal_framing"]

PARTS_MAX: Final = 12
_PARTS: Final = (
    b"\x1b", b"]", b"\\", b"9002", b"\x1b]", b"\x1b]9", b"\x1b]9002", b"\x1b]9002;", b";", b"1;7;0;0;",
    b"\x07", b"\x18", b"\x1a", b"\x1b\\", b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX", b"\x1b[1m", b"\x9d", b"\x9c",
    b"text\r\n", b"\x1b]90021;", b"\x1b]0;title\x07", b"\x1b]9002;1;7;0;0;", b"QUJD", b"QQ==", b"A" * 4_090,
)  # fmt: skip


def _part(chance: random.Random) -> bytes:
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(_PARTS)
    if kind == 1:
        return chance.randbytes(chance.randint(0, 8))
    if kind == 2:
        size = chance.choice((1, 2, 3, 60, 3_072, 3_073, 7_000))
        return encode_frames(chance.randbytes(size), chance.choice((1, 7, 2_147_483_647)))
    size = chance.choice((0, 1, 2, 3_071, 3_072, 3_073))
    header = "{};{};{};{}".format(
        *(chance.choice(("", "0", "1", "2", "7", "341", "342", "01", "-1", "2147483648"))
          if chance.random() < 0.1 else good
          for good in ("1", "7", str(chance.randint(0, 3)), str(chance.randint(0, 1))))
    )  # fmt: skip
    return b"\x1b]9002;%b;%b\x1b\\" % (header.encode(), base64.b64encode(b"x" * size))


def _end_of(event: FrameEvent) -> int:
    return event.offset + len(event.data) if isinstance(event, Ordinary) else event.end


def terminal_framing(chance: random.Random) -> None:
    """A stream gives the same at any cut, loses nothing, and what comes after it is read."""
    stream = b"".join(_part(chance) for _ in range(chance.randint(1, PARTS_MAX)))
    if chance.random() < 0.4:
        stream = damaged(chance, stream)
    whole = FrameDecoder()
    expected = merge(whole.receive_data(stream) + whole.end_of_stream())
    assert whole.retained_bytes == 0, f"kept after the end: {stream!r}"
    cut, typed = FrameDecoder(), FrameDecoder(is_input=True)
    found: list[FrameEvent] = []
    released: list[FrameEvent] = []
    for number, piece in enumerate(pieces(chance, stream)):
        found += cut.receive_data(piece)
        assert cut.retained_bytes <= RETAINED_BYTES_MAX, f"too much kept: {stream!r}"
        released += typed.receive_data(piece, number)
        released += typed.flush(
            number + chance.random() / 5, is_reply_outstanding=chance.random() < 0.5
        )
    probed = list(found)
    found += cut.end_of_stream()
    assert merge(found) == expected, f"cut otherwise: {stream!r}"
    released += typed.end_of_stream()
    for events in (expected, released):
        _assert_without_gap(stream, events)
    _assert_as_the_table(stream, expected)
    _assert_recovers(stream, probed)


def _assert_without_gap(stream: bytes, events: list[FrameEvent]) -> None:
    place = 0
    for event in events:
        assert event.offset == place, f"a gap at {place}: {stream!r}"
        place = _end_of(event)
        if isinstance(event, Ordinary):
            assert stream[event.offset : place] == event.data, f"other bytes: {stream!r}"
    assert place == len(stream), f"lost after {place}: {stream!r}"


def _assert_as_the_table(stream: bytes, events: list[FrameEvent]) -> None:
    tokens = ScanMachine().run(stream)
    ordinary = [token for token in tokens if isinstance(token, Ordinary)]
    assert [it for it in events if isinstance(it, Ordinary)] == ordinary, f"not so: {stream!r}"
    ends = {token.end for token in tokens if not isinstance(token, Ordinary)}
    told = {it.end for it in events if not isinstance(it, Ordinary)}
    assert told <= ends, f"ends elsewhere: {stream!r}"
    lasts = {it.end for it in tokens if isinstance(it, Payload | Fragment)}
    messages = {it.end for it in events if isinstance(it, Payload)}
    assert messages <= lasts, f"more messages than frames: {stream!r}"


def _assert_recovers(stream: bytes, before: list[FrameEvent]) -> None:
    decoder = FrameDecoder()
    probed = merge(decoder.receive_data(stream + encode_frames(PROBE, 77)))
    last = probed[-1]
    assert isinstance(last, Payload), f"the next frame is lost: {stream!r}"
    assert (last.data, last.frame_id) == (PROBE, 77), f"the next frame is lost: {stream!r}"
    known = [it for it in merge(before) if isinstance(it, Payload | BadFrame)]
    kept = [it for it in probed if isinstance(it, Payload | BadFrame)]
    assert kept[: len(known)] == known, f"changed afterwards: {stream!r}"
