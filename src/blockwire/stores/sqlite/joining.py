"""Joining the small rows of the log into segments.

Spec: docs/spec/gateway/persistence.md, "The log". Replay of a long log costs a read a row, so rows of
single events are rewritten, later and in transactions of their own, into segments of some 200
events. The bytes that a reader gets stay the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from blockwire.stores.entries import frame_count
from blockwire.stores.sqlite.queries import SQL

__all__ = [
    "LOOSE_ROWS_AT_END",
    "LOOSE_ROWS_MAX",
    "SEGMENT_BYTES",
    "SEGMENT_FRAMES",
    "Joined",
    "join_rows",
]

# Rows behind the last full segment after which they are joined. When a turn ends, fewer are enough.
LOOSE_ROWS_MAX: Final = 64
LOOSE_ROWS_AT_END: Final = 16

# A segment is full with so many frames or bytes.
SEGMENT_FRAMES: Final = 200
SEGMENT_BYTES: Final = 128 * 1024

# Rows of one transaction, so that no append waits long behind it.
_ROWS_MAX: Final = 512

_Row = tuple[int, int, bytes, bytes | None, int]


class Joined(Struct, frozen=True):
    """What one step of joining did.

    Attributes:
        joined_seq: The log up to here lies in full segments.
        rows_after: How many of the rows that were read remain behind it, not full.
        is_all: Whether nothing behind them was left unread.
    """

    joined_seq: int
    rows_after: int
    is_all: bool


def join_rows(connection: sqlite3.Connection, conversation_no: int, joined_seq: int) -> Joined:
    """Join the rows behind ``joined_seq``, some hundred at a time."""
    keys = {"conversation_no": conversation_no, "after": joined_seq, "limit": _ROWS_MAX}
    rows: list[_Row] = connection.execute(SQL["read_log_rows"], keys).fetchall()
    rows_after = 0
    for group, is_full in _groups(rows):
        if len(group) > 1:
            _join(connection, conversation_no, group)
        if is_full:
            joined_seq = group[-1][0]
        else:
            rows_after = 1
    return Joined(joined_seq, rows_after, is_all=len(rows) < _ROWS_MAX)


def _groups(rows: Sequence[_Row]) -> Iterator[tuple[list[_Row], bool]]:
    """Yield neighbouring rows that make one segment, and whether it is full."""
    group: list[_Row] = []
    event_count = size_bytes = 0
    for row in rows:
        last_seq, first_seq, owner, _public, is_merged = row
        group.append(row)
        event_count += frame_count(owner) if is_merged else last_seq - first_seq + 1
        size_bytes += len(owner)
        if event_count >= SEGMENT_FRAMES or size_bytes >= SEGMENT_BYTES:
            yield group, True
            group, event_count, size_bytes = [], 0, 0
    if group:
        yield group, False


def _join(connection: sqlite3.Connection, conversation_no: int, group: Sequence[_Row]) -> None:
    is_same = all(public is None for _, _, _, public, _ in group)
    parameters: dict[str, Any] = {
        "conversation_no": conversation_no,
        "first_row": group[0][0],
        "last_row": group[-1][0],
        "last_seq": group[-1][0],
        "first_seq": group[0][1],
        "is_merged": max(is_merged for *_, is_merged in group),
        "owner": b"".join([owner for _, _, owner, _, _ in group]),
        "public": None
        if is_same
        else b"".join([owner if public is None else public for _, _, owner, public, _ in group]),
    }
    connection.execute(SQL["delete_joined"], parameters)
    connection.execute(SQL["extend_joined"], parameters)
