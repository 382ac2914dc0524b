"""Frames that stand for several events: merged, and cut for a cursor inside.

Spec: docs/spec/content/merging.md; docs/spec/gateway/persistence.md, "Merging". Pure. What may be
merged, and what a cursor inside gets, is decided by ``content``; here are the frames of a log, and
the lengths beside them: as a run of a log has no number missing, the pairs of seq and length that a
merged delta swallowed are one length for each number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from blockwire.content import BlockDelta, cut_merged
from blockwire.errors import StoreError
from blockwire.stores.entries import first_frames, first_number, frames_after, frames_up_to

__all__ = [
    "Run",
    "Span",
    "cursor_expired",
    "cursor_inside_delta",
    "cut_frame",
    "delta_frame",
    "frames_between",
    "one_length",
    "read_delta",
    "sum_lengths",
]

_DELTA: Final = b"\nevent: content.block.delta\ndata: "
_END: Final = b"\n\n"
# An id line is shorter, so the names of later lines are not looked for in whole texts.
_HEAD_BYTES: Final = 80
# Lengths below this are a byte each.
_BYTE_LENGTHS: Final = 0x80
_BYTES: Final = tuple(bytes([length]) for length in range(_BYTE_LENGTHS))


class Span(NamedTuple):
    """One frame of the log and the events that it stands for.

    Attributes:
        first_seq: Number of the first of them.
        seq: Number of the last, which is that of the frame.
        owner: Frame for owner views.
        public: Frame for public views; None where they get nothing.
        lengths: Of a merged delta, the length of each (see :class:`Run`); None for an event on its
            own, and where they are gone.
    """

    first_seq: int
    seq: int
    owner: bytes
    public: bytes | None
    lengths: bytes | None = None

    @property
    def is_merged(self) -> bool:
        """Whether it stands for several events."""
        return self.first_seq < self.seq


class Run(NamedTuple):
    """What is kept beside a merged delta.

    Attributes:
        first_seq: Number of the first event that it swallowed.
        seq: Its own number, that of the last.
        lengths: Unicode scalar values of each, as variable-length integers; None where gone.
    """

    first_seq: int
    seq: int
    lengths: bytes | None

    def holds(self, cursor: int) -> bool:
        """Return whether a reader with this cursor has a part of it and lacks another."""
        return self.first_seq <= cursor < self.seq


class _Delta(
    msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="type",
    tag="content.block.delta",
):  # fmt: skip
    """A delta as the log spells it, its members in this order; one with others stays alone."""

    turn_id: str
    block_id: str
    field: str
    text: str
    conversation_id: str
    seq: int
    prev_seq: int
    ts: int


_decode_delta: Final = msgspec.json.Decoder(_Delta).decode
_encode: Final = msgspec.json.Encoder().encode


def cursor_expired() -> StoreError:
    """Return the refusal of a cursor below the beginning of the log."""
    return StoreError("cursor_expired", "the events after this cursor have left the log")


def cursor_inside_delta() -> StoreError:
    """Return the refusal of a cursor inside a merged delta whose lengths are gone."""
    return StoreError(
        "cursor_inside_delta", "which text came with which number is not known any more"
    )


def read_delta(frame: bytes) -> BlockDelta | None:
    """Return the delta in a frame; None for another event, and one with members we do not know."""
    start = frame.find(_DELTA, 0, _HEAD_BYTES)
    if start < 0:
        return None
    try:
        read = _decode_delta(frame[start + len(_DELTA) : -len(_END)])
    except (msgspec.DecodeError, RecursionError):
        return None
    return BlockDelta(
        read.turn_id, read.block_id, read.field, read.text, conversation_id=read.conversation_id,
        seq=read.seq, prev_seq=read.prev_seq, ts=read.ts,
    )  # fmt: skip


def delta_frame(event: BlockDelta) -> bytes:
    """Return the frame of a delta, as a log spells it."""
    data = _encode(
        _Delta(
            event.turn_id, event.block_id, event.field, event.text, event.conversation_id,
            event.seq, event.prev_seq, event.ts,
        )
    )  # fmt: skip
    return b"id: %d%b%b\n\n" % (event.seq, _DELTA, data)


# lengths ------------------------------------------------------------------------------------
def one_length(length: int) -> bytes:
    """Return a length as it is kept."""
    if length < _BYTE_LENGTHS:
        return _BYTES[length]
    encoded = bytearray()
    while length >= _BYTE_LENGTHS:
        encoded.append(length & 0x7F | _BYTE_LENGTHS)
        length >>= 7
    encoded.append(length)
    return bytes(encoded)


def sum_lengths(lengths: bytes, count: int | None = None) -> tuple[int, int]:
    """Return the sum of the first ``count`` lengths, and how many they were; None takes all."""
    if lengths.isascii():
        part = lengths if count is None else lengths[:count]
        return sum(part), len(part)
    total = found = shift = value = 0
    for byte in lengths:
        if found == count:
            break
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < _BYTE_LENGTHS:
            total += value
            found += 1
            shift = value = 0
    return total, found


# cutting ------------------------------------------------------------------------------------
def cut_frame(frame: bytes, run: Run, *, after: int, up_to: int) -> bytes:
    """Return what of a merged delta's frame follows ``after`` and is not above ``up_to``.

    Args:
        frame: Of either view.
        run: What it stands for; some of it follows ``after`` and some is not above ``up_to``.
        after: Cursor of the reader.
        up_to: At most the number of the frame, or above it.

    Raises:
        StoreError: ``cursor_inside_delta`` where the lengths are gone or do not fit.
    """
    event = read_delta(frame)
    if event is None or run.lengths is None:
        raise cursor_inside_delta()
    total, _ = sum_lengths(run.lengths)
    if total != len(event.text):
        raise cursor_inside_delta()
    if up_to < event.seq:
        total, _ = sum_lengths(run.lengths, up_to - run.first_seq + 1)
        event = msgspec.structs.replace(event, text=event.text[:total], seq=up_to)
    if run.first_seq <= after:
        before, _ = sum_lengths(run.lengths, after - run.first_seq + 1)
        pairs = ((after, before), (event.seq, total - before))
        cut = cut_merged(event, pairs, after)
        assert cut is not None, "the caller has something to get"
        event = cut
    return delta_frame(event)


def frames_between(
    frames: bytes, after: int, up_to: int, find_run: Callable[[int], Run | None]
) -> bytes:
    """Return the joined frames of one view that follow ``after`` and are not above ``up_to``.

    Of a merged delta in which one of the two lies, only the part between them.

    Args:
        frames: At least one, some of them merged.
        after: A cursor.
        up_to: Above it.
        find_run: Returns the merged delta that holds the number after a cursor, or the next one.

    Raises:
        StoreError: ``cursor_inside_delta`` where a delta has to be cut and its lengths are gone.
    """
    first, last = find_run(after), find_run(up_to)
    kept = frames_up_to(frames_after(frames, after), up_to)
    if last is not None and last.holds(up_to):
        cut = _find_frame(frames, last.seq)
        if cut:
            kept += cut_frame(cut, last, after=after, up_to=up_to)
    if first is not None and first.holds(after) and first.seq <= up_to:
        whole = _find_frame(kept, first.seq)
        if whole:
            kept = cut_frame(whole, first, after=after, up_to=up_to) + kept[len(whole) :]
    return kept


def _find_frame(frames: bytes, seq: int) -> bytes:
    """Return the frame with this number; empty where the view gets none."""
    rest = frames_after(frames, seq - 1)
    return first_frames(rest, 0, at_least_one=True) if first_number(rest) == seq else b""
