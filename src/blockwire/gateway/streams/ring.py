"""The newest entries of one conversation, kept for those who read it live.

Spec: docs/spec/gateway/stream.md.

A ring is fed by the bus and holds what was committed since somebody began to read, bounded by
bytes. All readers at one position and of one view share one joined piece of bytes, made once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

from blockwire.content import View
from blockwire.content.vocabulary import TURN_ENDS
from blockwire.ports import Entry

__all__ = ["PIECE_BYTES_MAX", "RING_BYTES_MAX", "Piece", "Ring"]

RING_BYTES_MAX: Final = 256 * 1024
"""Bytes of frames that one ring keeps; who is further behind is served from the log."""

PIECE_BYTES_MAX: Final = 64 * 1024
"""Bytes of one joined live write, unless a single frame is larger. With the 64 KiB that a server
takes before it makes us wait, and the next piece on hold, a reader stays below its 256 KiB."""


class Piece:
    """What follows one position, as one write.

    Attributes:
        message: The ASGI message, shared by all who send it; its body may be empty.
        chunk: The body as a chunk of HTTP/1.1, for transports.
        length_bytes: Of the body.
        end: The position behind it.
        first_seq: Of the first entry that it stands for, withheld ones included.
        seq: The cursor behind it, withheld events included.
        ends_turn: Whether a turn ends in it.
    """

    __slots__ = ("chunk", "end", "ends_turn", "first_seq", "length_bytes", "message", "seq")

    def __init__(self, body: bytes, end: int, *, first_seq: int, seq: int, ends_turn: bool) -> None:
        self.message: dict[str, Any] = {
            "type": "http.response.body",
            "body": body,
            "more_body": True,
        }
        self.chunk = b"%x\r\n%b\r\n" % (len(body), body)
        self.length_bytes = len(body)
        self.end = end
        self.first_seq = first_seq
        self.seq = seq
        self.ends_turn = ends_turn


class Ring:
    """Entries by position: a count that only rises, whatever is let go of.

    Attributes:
        end: The position behind the newest entry.
        floor_seq: The newest ``seq`` that was let go of or never arrived; whoever's cursor is
            below it has to read the log.
        last_seq: The newest ``seq`` that is held or was.
    """

    __slots__ = ("_bytes", "_bytes_max", "_entries", "_pieces", "_seqs", "end", "floor_seq",
                 "last_seq")  # fmt: skip

    def __init__(self, bytes_max: int = RING_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._entries: list[Entry] = []
        self._seqs: list[int] = []
        self._pieces: dict[tuple[int, View], Piece] = {}
        self.end = 0
        self.floor_seq = 0
        self.last_seq = 0

    @property
    def retained_bytes(self) -> int:
        """Bytes of the frames held; at most the bound, or one entry."""
        return self._bytes

    def extend(self, entries: Sequence[Entry]) -> bool:
        """Take entries as the bus brought them; return whether any was new.

        An entry that was here before is ignored. One that does not follow the last means that the
        bus lost something: all before it is let go of, so that readers fetch it from the log.
        """
        if not entries:
            return False
        first, last = entries[0].seq, entries[-1].seq
        follows = self.last_seq in {0, first - 1}
        if follows and last - first + 1 == len(entries):
            # What the bus nearly always brings: all new, and without a gap.
            self._entries += entries
            self._seqs += range(first, last + 1)
            self._bytes += sum(map(_entry_bytes, entries))
            self.end += len(entries)
            self.last_seq = last
            self._pieces.clear()
            self._trim()
            return True
        return self._extend_one_by_one(entries)

    def _extend_one_by_one(self, entries: Sequence[Entry]) -> bool:
        is_new = False
        for entry in entries:
            if entry.seq <= self.last_seq:
                continue
            if self.last_seq and entry.seq != self.last_seq + 1:
                self.clear()
                self.floor_seq = entry.seq - 1
            self._entries.append(entry)
            self._seqs.append(entry.seq)
            self._bytes += _entry_bytes(entry)
            self.end += 1
            self.last_seq = entry.seq
            is_new = True
        if is_new:
            self._pieces.clear()
            self._trim()
        return is_new

    def clear(self) -> None:
        """Let go of everything: nobody needs it any more."""
        self._entries.clear()
        self._seqs.clear()
        self._pieces.clear()
        self._bytes = 0
        self.floor_seq = self.last_seq

    def position_after(self, cursor: int) -> int | None:
        """Return the position of the first entry after ``cursor``; None if the log has to be read.

        The caller has read the log to its end once, after the ring was there: what was committed
        before is no concern of the ring.
        """
        if cursor < self.floor_seq:
            return None
        return self.end - len(self._seqs) + bisect_right(self._seqs, cursor)

    def piece(self, position: int, view: View) -> Piece | None:
        """Return what follows ``position``, which is below :attr:`end`; None if it is not held."""
        piece = self._pieces.get((position, view))
        if piece is None and position >= self.end - len(self._entries):
            piece = self._pieces[position, view] = self._join(position, view)
        return piece

    def _join(self, position: int, view: View) -> Piece:
        start = position - (self.end - len(self._entries))
        entries = self._entries[start:]
        if view == "owner":
            frames = [entry.owner_frame for entry in entries]
        else:
            frames = [frame for entry in entries if (frame := entry.public_frame) is not None]
        if sum(map(len, frames)) <= PIECE_BYTES_MAX:
            return Piece(
                b"".join(frames),
                self.end,
                first_seq=self._seqs[start],
                seq=self._seqs[-1],
                ends_turn=any(entry.type in TURN_ENDS for entry in entries),
            )
        return self._join_what_fits(position, view)

    def _join_what_fits(self, position: int, view: View) -> Piece:
        frames: list[bytes] = []
        size_bytes = 0
        ends_turn = False
        start = index = position - (self.end - len(self._entries))
        for entry in self._entries[index:]:
            frame = entry.owner_frame if view == "owner" else entry.public_frame
            if frame is not None:
                if frames and size_bytes + len(frame) > PIECE_BYTES_MAX:
                    break
                frames.append(frame)
                size_bytes += len(frame)
            ends_turn = ends_turn or entry.type in TURN_ENDS
            index += 1
        return Piece(
            b"".join(frames),
            self.end - len(self._entries) + index,
            first_seq=self._seqs[start],
            seq=self._seqs[index - 1],
            ends_turn=ends_turn,
        )

    def _trim(self) -> None:
        excess = self._bytes - self._bytes_max
        count = 0
        # The newest entry stays, however large: its readers need it next.
        while excess > 0 and count < len(self._entries) - 1:
            excess -= _entry_bytes(self._entries[count])
            count += 1
        if count:
            self.floor_seq = self._seqs[count - 1]
            self._bytes = self._bytes_max + excess
            del self._entries[:count], self._seqs[:count]


def _entry_bytes(entry: Entry) -> int:
    public = entry.public_frame
    shared = public is None or public is entry.owner_frame
    return len(entry.owner_frame) + (0 if shared or public is None else len(public))
