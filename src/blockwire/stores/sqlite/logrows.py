"""Rows of the log, as a commit writes them.

Spec: docs/spec/gateway/persistence.md, "The log".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from blockwire.ports import Entry

__all__ = ["LogHead", "LogRow", "extend_log_rows"]

# A row of the log is read whole, so it is bounded: bytes of frames, unless one is larger. Some fit
# into a page of the smallest kind, that of a stream.
_ROW_BYTES_MAX: Final = 64 * 1024


class LogHead:
    """The head of one conversation as of the open transaction.

    Attributes:
        pending: Entries that are not written yet.
        joined_seq: Up to here its rows are segments.
        loose_row_count: Rows behind that, as far as it matters.
        is_due: It waits to be joined.
        is_mergeable: It waits to be merged.
    """

    __slots__ = (
        "conversation_no",
        "is_due",
        "is_mergeable",
        "joined_seq",
        "loose_row_count",
        "pending",
        "public_seq",
        "seq",
        "updated_at",
    )

    def __init__(self, row: Sequence[int], loose_row_count: int) -> None:
        self.conversation_no = row[0]
        self.seq = row[1]
        self.public_seq = row[2]
        self.updated_at = row[3]
        self.joined_seq = row[4]
        self.is_mergeable = bool(row[6])
        self.loose_row_count = loose_row_count
        self.is_due = False
        self.pending: list[Entry] = []


LogRow: TypeAlias = tuple[int, int, int, int, int, bytes, bytes | None]
"""One row as ``insert_log`` wants it: number of the conversation, last and first seq, the last
event so far that public views get, the latest stamp so far, joined frames per view."""


def extend_log_rows(rows: list[LogRow], head: LogHead, entries: list[Entry]) -> None:
    """Append the rows that hold ``entries``, the newest of the log, bounded in size."""
    if len(entries) == 1:
        rows.append(_log_row(head, entries))
        return
    start = 0
    size_bytes = 0
    for index, entry in enumerate(entries):
        size_bytes += len(entry.owner_frame)
        if size_bytes > _ROW_BYTES_MAX and index > start:
            rows.append(_log_row(head, entries[start:index]))
            start, size_bytes = index, len(entry.owner_frame)
    rows.append(_log_row(head, entries[start:] if start else entries))


def _log_row(head: LogHead, entries: Sequence[Entry]) -> LogRow:
    first_seq, last_seq = entries[0].seq, entries[-1].seq
    owner: bytes
    public: bytes | None
    if first_seq == last_seq:
        owner, public = entries[0].owner_frame, entries[0].public_frame
    else:
        frames = [entry.owner_frame for entry in entries]
        public_frames = [entry.public_frame for entry in entries]
        owner = public = b"".join(frames)
        # Equal or the same object is one look each; only what differs is joined again.
        if frames != public_frames:
            public = b"".join([frame or b"" for frame in public_frames])
    if public is owner or public == owner:
        public = None
    elif public is None:
        public = b""
    # Only the last row of a conversation is read as its head, so all may carry its numbers.
    return (
        head.conversation_no,
        last_seq,
        first_seq,
        head.public_seq,
        head.updated_at,
        owner,
        public,
    )
