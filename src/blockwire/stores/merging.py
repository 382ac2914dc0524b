"""Merging runs of deltas in a log.

Spec: docs/spec/content/merging.md; docs/spec/gateway/persistence.md, "Merging". Pure.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

import msgspec

from blockwire.content import BlockDelta
from blockwire.stores.spans import Span, delta_frame, one_length, read_delta

__all__ = ["MERGED_CHARS_MAX", "BlockKey", "Merging", "completed_blocks", "merge_spans"]

MERGED_CHARS_MAX: Final = 65_536
"""Unicode scalar values of one merged delta; a longer run becomes several."""

BlockKey: TypeAlias = tuple[str, str]
"""Id of a turn and of one of its blocks."""

_COMPLETED: Final = b"\nevent: content.block.completed\ndata: "
_DATA: Final = b"\ndata: "
_END: Final = b"\n\n"
_FRAME_TAIL: Final = b"}\n\n"


class Merging(NamedTuple):
    """What merging made of a stretch of the log.

    Attributes:
        spans: The same stretch, shorter.
        open_seq: Number of the first delta whose block is not completed; None without one.
    """

    spans: list[Span]
    open_seq: int | None


class _Completed(msgspec.Struct, frozen=True, gc=False):
    turn_id: str
    block_id: str


_decode_completed: Final = msgspec.json.Decoder(_Completed).decode
_decode_text: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode


def completed_blocks(frames: bytes) -> Iterator[BlockKey]:
    """Yield the blocks that joined frames for owner views complete."""
    start = frames.find(_COMPLETED)
    while start >= 0:
        end = frames.find(_END, start)
        data = frames[start + len(_COMPLETED) : end].replace(_DATA, b"\n")
        try:
            completed = _decode_completed(data)
        except (msgspec.DecodeError, RecursionError):
            # Damage is for the check to tell; the block stays as it is.
            pass
        else:
            yield completed.turn_id, completed.block_id
        start = frames.find(_COMPLETED, end)


def merge_spans(spans: Iterable[Span], closed: Container[BlockKey]) -> Merging:
    """Return ``spans`` with each run of deltas of a completed block as one, or few.

    The rule is that of :func:`~blockwire.content.merge_deltas`, on frames: what a gateway writes is
    joined as it is spelled, and nothing of it is parsed but the first of a run.

    Args:
        spans: A stretch of the log without a gap, parts of it merged before.
        closed: The blocks that no delta comes to any more.
    """
    merged: list[Span] = []
    run: _Joining | None = None
    open_seq: int | None = None
    for span in spans:
        if run is not None:
            if run.take(span):
                continue
            merged.append(run.joined())
            run = None
        first = _first_of_run(span)
        if first is None:
            merged.append(span)
        elif first.key in closed:
            run = first
        else:
            merged.append(span)
            open_seq = span.first_seq if open_seq is None else open_seq
    if run is not None:
        merged.append(run.joined())
    return Merging(merged, open_seq)


class _Joining:
    """A run of deltas of one block that both views get, or the owner alone, as it grows.

    Attributes:
        key: Which block it is.
    """

    def __init__(self, span: Span, owner: BlockDelta, public: BlockDelta | None) -> None:
        self.key: BlockKey = (owner.turn_id, owner.block_id)
        self._first = self._last = span
        # A frame is its id, this, the text, that, its numbers and its stamp.
        self._before, self._behind = _parts_around_text(owner)
        self._prev_seq = owner.prev_seq
        self._public_prev_seq = None if public is None else public.prev_seq
        self._ts = owner.ts
        self._texts = [_spelled(owner.text)]
        self._chars = len(owner.text)
        self._lengths = [span.lengths or one_length(len(owner.text))]

    def take(self, span: Span) -> bool:
        """Add the next span if it continues the run; return whether it did."""
        if not self._is_seen_alike(span) or (span.is_merged and span.lengths is None):
            return False
        found = self._text_of(span) or self._text_spelled_otherwise(span)
        if found is None or self._chars + found[1] > MERGED_CHARS_MAX:
            return False
        text, length, self._ts = found
        self._last = span
        self._texts.append(text)
        self._chars += length
        self._lengths.append(span.lengths or one_length(length))
        return True

    def _text_of(self, span: Span) -> tuple[bytes, int, int] | None:
        """Return text, its length and stamp of a delta that is spelled as the first one."""
        frame = span.owner
        start = frame.find(b"\n")
        end = frame.rfind(self._behind)
        numbers = b'%d,"prev_seq":%d,"ts":' % (span.seq, span.first_seq - 1)
        stamp = frame[end + len(self._behind) :]
        if end < 0 or not frame.startswith(self._before, start) or not stamp.startswith(numbers):
            return None
        ts = stamp[len(numbers) : -len(_FRAME_TAIL)]
        text = frame[start + len(self._before) : end]
        length = _spelled_length(text)
        return None if length is None or not ts.isdigit() else (text, length, int(ts))

    def _text_spelled_otherwise(self, span: Span) -> tuple[bytes, int, int] | None:
        delta = read_delta(span.owner)
        if delta is None or (delta.seq, delta.prev_seq) != (span.seq, span.first_seq - 1):
            return None
        if _parts_around_text(delta) != (self._before, self._behind):
            return None
        return _spelled(delta.text), len(delta.text), delta.ts

    def _is_seen_alike(self, span: Span) -> bool:
        if self._public_prev_seq is None:
            return span.public is None
        return span.public is span.owner or span.public == span.owner

    def joined(self) -> Span:
        """Return what the run is now."""
        seq = self._last.seq
        if self._last is self._first:
            return self._first
        text = b"".join(self._texts)
        owner = self._frame(text, self._prev_seq)
        public = None
        if self._public_prev_seq is not None:
            is_same = self._public_prev_seq == self._prev_seq
            public = owner if is_same else self._frame(text, self._public_prev_seq)
        return Span(self._first.first_seq, seq, owner, public, b"".join(self._lengths))

    def _frame(self, text: bytes, prev_seq: int) -> bytes:
        seq = self._last.seq
        return b'id: %d%b%b%b%d,"prev_seq":%d,"ts":%d}\n\n' % (
            seq, self._before, text, self._behind, seq, prev_seq, self._ts,
        )  # fmt: skip


def _first_of_run(span: Span) -> _Joining | None:
    """Return the run that ``span`` may begin, or None for what is never merged with anything."""
    if span.is_merged and span.lengths is None:
        return None
    owner = read_delta(span.owner)
    if owner is None or owner.prev_seq != span.first_seq - 1 or owner.seq != span.seq:
        return None
    public: BlockDelta | None = owner
    if span.public is None:
        public = None
    elif span.public != span.owner:
        public = read_delta(span.public)
        if public is None or public != msgspec.structs.replace(owner, prev_seq=public.prev_seq):
            return None
    return _Joining(span, owner, public)


def _parts_around_text(event: BlockDelta) -> tuple[bytes, bytes]:
    """Return what stands before the text in a frame, its id left out, and what stands behind."""
    frame = delta_frame(msgspec.structs.replace(event, text=""))
    middle = frame.rindex(b'"",') + 1
    # The conversation's id is spelled last but the numbers, so nothing in it is taken for them.
    behind = frame[middle : frame.rindex(b'"seq":') + len(b'"seq":')]
    return frame[frame.index(b"\n") : middle], behind


def _spelled(text: str) -> bytes:
    """Return text as it is spelled inside a JSON string."""
    return _encode(text)[1:-1]


def _spelled_length(text: bytes) -> int | None:
    """Return how many Unicode scalar values a spelled text has; None where it is none."""
    if text.isascii() and b"\\" not in text and b'"' not in text:
        return len(text)
    try:
        return len(_decode_text(b'"%b"' % text))
    except msgspec.DecodeError:
        return None
