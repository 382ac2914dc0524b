"""Removing the beginning of logs in the file, a little at a time.

Spec: docs/spec/gateway/persistence.md, "Retention". Lives in the writer's thread; each step is a
transaction of its own, for one conversation. Which conversation comes next is found by an index;
one from which nothing can leave now is noted, and not looked at again before that may change. Where
a log begins moves at once, which is what readers go by; rows before that are removed afterwards.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Final, NamedTuple

from blockwire.ports import RetentionLimits
from blockwire.stores.entries import first_number, frame_ts, split_frames
from blockwire.stores.sqlite.logspans import WindowRow
from blockwire.stores.sqlite.merging import first_stamp
from blockwire.stores.sqlite.queries import SQL

__all__ = ["trim_once"]

# Rows that one step removes at most: 8 MiB of full ones.
_ROWS_MAX: Final = 64
# Merged deltas whose lengths one step drops at most.
_RUNS_MAX: Final = 256

# Above every stamp; SQLite's largest integer.
_FOREVER: Final = 2**63 - 1


class _Wish(NamedTuple):
    """A conversation whose log should be shorter, and by how much.

    Attributes:
        conversation_no: Whose log.
        conversation_id: Whose log.
        before: Events stamped before this should leave.
        excess_bytes: So many bytes should leave, if ``before`` is None.
    """

    conversation_no: int
    conversation_id: str
    before: int | None
    excess_bytes: int


class _SizedRow(NamedTuple):
    """A row of ``size_log_rows``."""

    last_seq: int
    first_seq: int
    ts: int
    size_bytes: int


def trim_once(connection: sqlite3.Connection, limits: RetentionLimits) -> str | None:
    """Do one step of what ``limits`` ask for; return whose log changed, "" for none in particular.

    None says that there is nothing to do.
    """
    if limits.pairs_before is not None:
        keys = {"before": limits.pairs_before, "limit": _RUNS_MAX}
        if connection.execute(SQL["drop_lengths"], keys).rowcount:
            return ""
    begun = connection.execute(SQL["next_trimmed"]).fetchone()
    if begun is not None:
        conversation_no, conversation_id = begun
        _remove(connection, conversation_no)
        return str(conversation_id)
    wish = _next_wish(connection, limits)
    if wish is None:
        return None
    _decide(connection, wish)
    return wish.conversation_id


def _next_wish(connection: sqlite3.Connection, limits: RetentionLimits) -> _Wish | None:
    before = limits.events_before
    if before is not None:
        row = connection.execute(SQL["oldest_upkeep"], {"before": before}).fetchone()
        if row is not None:
            return _Wish(row[0], row[1], before, 0)
    size_max = limits.conversation_bytes_max
    if size_max is not None:
        row = connection.execute(SQL["largest_upkeep"], {"log_bytes": size_max}).fetchone()
        if row is not None:
            return _Wish(row[0], row[1], None, row[2] - size_max)
    size_max = limits.total_bytes_max
    if size_max is not None:
        (log_bytes,) = connection.execute(SQL["load_log_usage"]).fetchone()
        row = connection.execute(SQL["oldest_upkeep"], {"before": _FOREVER}).fetchone()
        if log_bytes > size_max and row is not None:
            return _Wish(row[0], row[1], None, log_bytes - size_max)
    return None


def _decide(connection: sqlite3.Connection, wish: _Wish) -> None:
    """Move the beginning of one log, or note when that may be possible."""
    keys = {"conversation_no": wish.conversation_no}
    _, _, expired_seq = connection.execute(SQL["load_upkeep"], keys).fetchone()
    found = connection.execute(
        SQL["size_log_rows"], {**keys, "after": expired_seq, "limit": _ROWS_MAX}
    )
    rows = [_SizedRow(*row) for row in found]
    cut = _wished_cut(connection, wish, rows)
    cut, is_held = _aligned_cut(connection, wish, cut, expired_seq)
    if cut <= expired_seq:
        _postpone(connection, wish, rows, expired_seq, is_held=is_held)
    else:
        connection.execute(SQL["expire_log"], {**keys, "expired_seq": cut})


# where to cut -------------------------------------------------------------------------------
def _wished_cut(connection: sqlite3.Connection, wish: _Wish, rows: Sequence[_SizedRow]) -> int:
    """Return up to where events should leave, as far as these rows go."""
    cut = 0
    excess_bytes = wish.excess_bytes
    for row in rows:
        if wish.before is None and excess_bytes <= 0:
            break
        is_whole = excess_bytes >= row.size_bytes if wish.before is None else row.ts < wish.before
        if not is_whole:
            inside = _read_row(connection, wish.conversation_no, row.last_seq - 1)
            return max(cut, _cut_inside(inside, wish.before, excess_bytes))
        excess_bytes -= row.size_bytes
        cut = row.last_seq
    return cut


def _cut_inside(row: WindowRow, before: int | None, excess_bytes: int) -> int:
    """Return the last number in a row that should leave; 0 without one."""
    cut = 0
    publics = {first_number(frame): len(frame) for frame in split_frames(row.public or b"")}
    for frame in split_frames(row.owner):
        ts, number = frame_ts(frame), first_number(frame)
        if ts is None or number is None:
            break
        if ts >= before if before is not None else excess_bytes <= 0:
            break
        excess_bytes -= len(frame) + publics.get(number, 0)
        cut = number
    return cut


def _aligned_cut(
    connection: sqlite3.Connection, wish: _Wish, cut: int, expired_seq: int
) -> tuple[int, bool]:
    """Return a cut that splits no message, and whether an unfinished turn holds it back.

    For age it moves towards the beginning, so that a message leaves when all of it is old; for size
    towards the end.
    """
    keys = {"conversation_no": wish.conversation_no}
    (first_unfinished,) = connection.execute(SQL["first_unfinished"], keys).fetchone()
    is_held = first_unfinished is not None and cut >= first_unfinished
    if is_held:
        cut = first_unfinished - 1
    grows = wish.before is None
    while cut > expired_seq:
        place = {**keys, "after": expired_seq, "cut": cut}
        begins, ends = connection.execute(SQL["messages_across"], place).fetchone()
        run = connection.execute(SQL["find_run"], {**keys, "after": cut}).fetchone()
        if begins is None and run is not None and run[0] <= cut:
            begins, ends = run[0], run[1]
        if begins is None:
            break
        if grows and (first_unfinished is None or ends < first_unfinished):
            cut = ends
        else:
            is_held = is_held or grows
            grows = False
            cut = begins - 1
    return cut, is_held


def _postpone(
    connection: sqlite3.Connection,
    wish: _Wish,
    rows: Sequence[_SizedRow],
    expired_seq: int,
    *,
    is_held: bool,
) -> None:
    """Note from when on something can leave: nothing can now."""
    keys = {"conversation_no": wish.conversation_no}
    oldest_ts: int | None = None
    if not is_held and wish.before is not None and rows:
        oldest_ts = first_stamp(connection, wish.conversation_no, expired_seq)
        if oldest_ts is not None and oldest_ts < wish.before:
            # The message that begins the log is not over yet at that stamp.
            place = {**keys, "after": expired_seq, "cut": rows[0].first_seq}
            _, ends = connection.execute(SQL["messages_across"], place).fetchone()
            row = connection.execute(
                SQL["row_ts"], {**keys, "seq": rows[0].last_seq if ends is None else ends}
            ).fetchone()
            oldest_ts = max(row[0], wish.before)
    connection.execute(SQL["postpone_trimming"], {**keys, "oldest_ts": oldest_ts})


# removing -----------------------------------------------------------------------------------
def _remove(connection: sqlite3.Connection, conversation_no: int) -> None:
    """Remove some rows of what is before the beginning of a log, the row that holds it last."""
    keys = {"conversation_no": conversation_no}
    settled_seq, settled_bytes, cut = connection.execute(SQL["load_upkeep"], keys).fetchone()
    found = connection.execute(SQL["size_log_rows"], {**keys, "after": 0, "limit": _ROWS_MAX})
    rows = [row for row in map(_SizedRow._make, found) if row.last_seq <= cut]
    less_bytes = sum(row.size_bytes for row in rows if row.last_seq <= settled_seq)
    # The row that holds the cut is for the end: it may be the last of the log.
    is_done = len(rows) < _ROWS_MAX or rows[-1].last_seq == cut
    if is_done:
        less_bytes += _remove_last(connection, conversation_no, cut, settled_seq)
    else:
        connection.execute(SQL["delete_log_rows"], {**keys, "last_row": rows[-1].last_seq})
    settled_seq = max(settled_seq, cut)
    settled_bytes = max(settled_bytes - less_bytes, 0)
    (tail_bytes,) = connection.execute(SQL["size_log"], {**keys, "after": settled_seq}).fetchone()
    connection.execute(
        SQL["save_trimmed"],
        {
            **keys,
            "is_trimming": int(not is_done),
            "settled_seq": settled_seq,
            "settled_bytes": settled_bytes,
            "log_bytes": settled_bytes + tail_bytes,
            "oldest_ts": first_stamp(connection, conversation_no, cut),
        },
    )
    connection.execute(SQL["skip_settled"], {**keys, "settled_seq": settled_seq})


def _remove_last(
    connection: sqlite3.Connection, conversation_no: int, cut: int, settled_seq: int
) -> int:
    """Remove what is left up to ``cut``; return by how many settled bytes the row it splits shrank.

    The last row of a log stays without events: it is the head of its conversation.
    """
    keys = {"conversation_no": conversation_no}
    connection.execute(SQL["delete_runs"], {**keys, "first_seq": 0, "last_seq": cut})
    (end_seq,) = connection.execute(SQL["log_end"], keys).fetchone()
    if end_seq == cut:
        connection.execute(SQL["delete_log_rows"], {**keys, "last_row": cut - 1})
        connection.execute(SQL["empty_log_row"], {**keys, "last_seq": cut})
        return 0
    connection.execute(SQL["delete_log_rows"], {**keys, "last_row": cut})
    row = _read_row(connection, conversation_no, cut)
    if row.first_seq > cut:
        return 0
    owner = _behind(row.owner, cut)
    public = None if row.public is None else _behind(row.public, cut)
    parameters = {**keys, "first_seq": cut + 1, "last_seq": row.last_seq}
    connection.execute(SQL["trim_log_row"], {**parameters, "owner": owner, "public": public})
    if row.last_seq > settled_seq:
        return 0
    return row.size_bytes - len(owner) - len(public or b"")


def _behind(frames: bytes, cut: int) -> bytes:
    return b"".join([f for f in split_frames(frames) if (first_number(f) or 0) > cut])


def _read_row(connection: sqlite3.Connection, conversation_no: int, after: int) -> WindowRow:
    keys = {"conversation_no": conversation_no, "after": after}
    with closing(connection.execute(SQL["read_log_window"], keys)) as rows:
        return WindowRow(*rows.fetchone())
