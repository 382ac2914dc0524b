"""Merging the deltas of completed blocks in the file, a little at a time.

Spec: docs/spec/gateway/persistence.md, "Merging". Lives in the writer's thread; each step is a
transaction of its own. A *pass* over one conversation first looks through what is new for blocks
that were completed, then rewrites rows: frames merged, rows joined to segments. What is rewritten
once and for all is *settled*; the last row is not, as what follows may belong to it. A pass that is
torn away has done its steps or not; the next one begins where the settled part ends.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from blockwire.stores.entries import frame_ts, split_frames
from blockwire.stores.merging import BlockKey, completed_blocks, merge_spans
from blockwire.stores.spans import Run, Span
from blockwire.stores.sqlite.joining import SEGMENT_BYTES, SEGMENT_FRAMES
from blockwire.stores.sqlite.logspans import WindowRow, read_row_spans
from blockwire.stores.sqlite.queries import SQL

__all__ = ["Merger", "first_stamp"]

# What one step reads, unless two rows hold more: events, and bytes of rows.
_WINDOW_EVENTS: Final = 1_000
_WINDOW_BYTES: Final = 256 * 1024
# Bytes that one step looks through for completed blocks.
_SCAN_BYTES: Final = 1024 * 1024
# Conversations of which the completed blocks are remembered, and how many of each, while others of
# their blocks are open. What is forgotten is looked for again.
_REMEMBERED_MAX: Final = 256
_REMEMBERED_BLOCKS_MAX: Final = 10_000


class _Scan:
    """What is known of a log behind its settled part: the blocks completed up to a number."""

    __slots__ = ("closed", "seq")

    def __init__(self) -> None:
        self.closed: set[BlockKey] = set()
        self.seq = 0


class _Pass:
    """One pass over one conversation.

    Attributes:
        end_seq: The log ended here when it began.
        position: The next step begins behind it.
        open_seq: The first delta whose block is not completed; nothing is settled from there on.
        is_again: A block was completed since it began.
    """

    __slots__ = ("conversation_id", "conversation_no", "end_seq", "is_again", "open_seq",
                 "position", "scan")  # fmt: skip

    def __init__(
        self, conversation_no: int, conversation_id: str, *, end_seq: int, scan: _Scan
    ) -> None:
        self.conversation_no = conversation_no
        self.conversation_id = conversation_id
        self.end_seq = end_seq
        self.scan = scan
        self.position = 0
        self.open_seq: int | None = None
        self.is_again = False


class _Window(NamedTuple):
    """Neighbouring rows, what they hold, and whether the log ends behind them."""

    rows: list[WindowRow]
    is_last: bool


class Merger:
    """Merges one conversation after the other, those that are due.

    Args:
        connection: The writer's.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pass: _Pass | None = None
        self._after = 0
        self._scans: OrderedDict[int, _Scan] = OrderedDict()

    def forget(self) -> None:
        """Drop everything that is not in the file."""
        self._pass = None
        self._scans.clear()

    def note_completed(self, conversation_no: int) -> None:
        """Take notice that a block of the conversation was completed, or a message finished."""
        if self._pass is not None and self._pass.conversation_no == conversation_no:
            self._pass.is_again = True

    def step(self) -> str | None:
        """Do a little; return the conversation it was done for, None when a round is over."""
        if self._pass is None and not self._begin():
            return None
        current = self._pass
        assert current is not None, "it has begun"
        keys = {"conversation_no": current.conversation_no}
        row = self._connection.execute(SQL["load_upkeep"], keys).fetchone()
        if row is None:
            self._pass = None
            return current.conversation_id
        settled_seq, _, expired_seq = row
        if current.scan.seq < current.end_seq:
            self._look(current, settled_seq)
        elif not self._merge(current, settled_seq, expired_seq):
            self._finish(current)
        return current.conversation_id

    def _begin(self) -> bool:
        row = self._connection.execute(SQL["next_mergeable"], {"after": self._after}).fetchone()
        if row is None:
            self._after = 0
            return False
        self._after, conversation_id = row
        keys = {"conversation_no": self._after}
        (end_seq,) = self._connection.execute(SQL["log_end"], keys).fetchone()
        scan = self._scans.pop(self._after, None) or _Scan()
        self._pass = _Pass(self._after, conversation_id, end_seq=end_seq or 0, scan=scan)
        return True

    def _look(self, current: _Pass, settled_seq: int) -> None:
        """Look for completed blocks in the next rows."""
        scan = current.scan
        room_bytes = _SCAN_BYTES
        keys = {"conversation_no": current.conversation_no, "after": max(scan.seq, settled_seq)}
        with closing(self._connection.execute(SQL["scan_log"], keys)) as rows:
            for last_seq, owner in rows:
                scan.closed.update(completed_blocks(owner))
                scan.seq = last_seq
                room_bytes -= len(owner)
                if room_bytes <= 0:
                    return
        scan.seq = max(scan.seq, current.end_seq)

    # rewriting ----------------------------------------------------------------------------
    def _merge(self, current: _Pass, settled_seq: int, expired_seq: int) -> bool:
        """Rewrite the next rows; return whether there are more behind them."""
        current.position = max(current.position, settled_seq)
        window = self._read_window(current)
        if not window.rows:
            return False
        spans = self._read_spans(current.conversation_no, window.rows)
        if spans is None:
            # A row with a hole in it: the check tells, and nothing here touches it.
            current.position = window.rows[-1].last_seq
            self._settle(current, current.position, sum(row.size_bytes for row in window.rows))
            return not window.is_last
        merged, open_seq = self._merge_spans(spans, current.scan.closed, expired_seq)
        if current.open_seq is None:
            current.open_seq = open_seq
        groups = list(_groups(merged))
        is_same = _boundaries(groups) == [(row.first_seq, row.last_seq) for row in window.rows]
        if not is_same or len(merged) < len(spans):
            self._rewrite(current.conversation_no, window.rows, groups)
        full = groups[:-1]
        if full:
            current.position = full[-1][-1].seq
        if current.open_seq is not None:
            full = [group for group in full if group[-1].seq < current.open_seq]
        if full:
            self._settle(current, full[-1][-1].seq, sum(map(_row_bytes, full)))
        return not window.is_last

    @staticmethod
    def _merge_spans(
        spans: Sequence[Span], closed: set[BlockKey], expired_seq: int
    ) -> tuple[list[Span], int | None]:
        """Merge spans, but none that leave the log with any that stay."""
        leaving = [span for span in spans if span.seq <= expired_seq]
        staying = merge_spans(spans[len(leaving) :], closed)
        return [*leaving, *staying.spans], staying.open_seq

    def _read_window(self, current: _Pass) -> _Window:
        rows: list[WindowRow] = []
        events, room_bytes = 0, _WINDOW_BYTES
        keys = {"conversation_no": current.conversation_no, "after": current.position}
        with closing(self._connection.execute(SQL["read_log_window"], keys)) as found:
            for values in found:
                row = WindowRow(*values)
                if row.first_seq > current.end_seq:
                    break
                if len(rows) > 1 and (events >= _WINDOW_EVENTS or room_bytes <= 0):
                    return _Window(rows, is_last=False)
                rows.append(row)
                # What was merged before is few frames, however many events it stands for.
                events += 1 if row.is_merged else row.last_seq - row.first_seq + 1
                room_bytes -= row.size_bytes
        return _Window(rows, is_last=True)

    def _read_spans(self, conversation_no: int, rows: Sequence[WindowRow]) -> list[Span] | None:
        runs: dict[int, Run] = {}
        if any(row.is_merged for row in rows):
            keys = {
                "conversation_no": conversation_no,
                "after": rows[0].first_seq - 1,
                "last_seq": rows[-1].last_seq,
            }
            runs = {run[1]: Run(*run) for run in self._connection.execute(SQL["list_runs"], keys)}
        spans: list[Span] = []
        for row in rows:
            found = read_row_spans(row, runs)
            if found is None:
                return None
            spans += found
        return spans

    def _rewrite(
        self, conversation_no: int, rows: Sequence[WindowRow], groups: Sequence[list[Span]]
    ) -> None:
        keys = {
            "conversation_no": conversation_no,
            "first_row": rows[0].last_seq,
            "last_row": rows[-1].last_seq,
            "first_seq": rows[0].first_seq,
            "last_seq": rows[-1].last_seq,
        }
        self._connection.execute(SQL["delete_log_window"], keys)
        self._connection.execute(SQL["delete_runs"], keys)
        old = iter(rows)
        row = next(old)
        for group in groups:
            last = group[-1].seq
            while row.last_seq < last:
                row = next(old)
            self._insert(conversation_no, group, row)

    def _insert(self, conversation_no: int, group: Sequence[Span], row: WindowRow) -> None:
        """Insert one row; ``row`` is the old one that held its last event."""
        merged = [span for span in group if span.is_merged]
        owner = b"".join([span.owner for span in group])
        public: bytes | None = None
        if any(span.public != span.owner for span in group):
            public = b"".join([span.public or b"" for span in group])
        self._connection.execute(
            SQL["insert_log_row"],
            (
                conversation_no,
                group[-1].seq,
                group[0].first_seq,
                row.public_seq,
                row.ts,
                int(bool(merged)),
                owner,
                public,
            ),
        )
        self._connection.executemany(
            SQL["insert_run"],
            [(conversation_no, span.seq, span.first_seq, row.ts, span.lengths) for span in merged],
        )

    def _settle(self, current: _Pass, last_seq: int, size_bytes: int) -> None:
        """Leave the rows up to a number as they are, now and in later passes."""
        if current.open_seq is not None and current.open_seq <= last_seq:
            return
        keys = {"conversation_no": current.conversation_no, "settled_seq": last_seq}
        self._connection.execute(SQL["settle_log"], {**keys, "more_bytes": size_bytes})
        self._connection.execute(SQL["skip_settled"], keys)

    def _finish(self, current: _Pass) -> None:
        conversation_no = current.conversation_no
        keys = {"conversation_no": conversation_no}
        settled_seq, settled_bytes, expired_seq = self._connection.execute(
            SQL["load_upkeep"], keys
        ).fetchone()
        (tail_bytes,) = self._connection.execute(
            SQL["size_log"], {**keys, "after": settled_seq}
        ).fetchone()
        self._connection.execute(
            SQL["finish_merging"],
            {
                **keys,
                "is_due": int(current.is_again),
                "log_bytes": settled_bytes + tail_bytes,
                "oldest_ts": first_stamp(self._connection, conversation_no, expired_seq),
            },
        )
        self._pass = None
        if current.open_seq is not None and len(current.scan.closed) <= _REMEMBERED_BLOCKS_MAX:
            self._scans[conversation_no] = current.scan
            if len(self._scans) > _REMEMBERED_MAX:
                self._scans.popitem(last=False)


def first_stamp(connection: sqlite3.Connection, conversation_no: int, after: int) -> int | None:
    """Return the stamp of the first event behind ``after``; None where the log is empty."""
    keys = {"conversation_no": conversation_no, "after": after}
    with closing(connection.execute(SQL["scan_log"], keys)) as rows:
        row = rows.fetchone()
    return None if row is None or not row[1] else frame_ts(next(split_frames(row[1])))


def _groups(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield rows: full ones, and one that is not, with the last span, which may still grow."""
    group: list[Span] = []
    size_bytes = 0
    for span in spans[:-1]:
        group.append(span)
        size_bytes += _span_bytes(span)
        if len(group) >= SEGMENT_FRAMES or size_bytes >= SEGMENT_BYTES:
            yield group
            group, size_bytes = [], 0
    group.append(spans[-1])
    yield group


def _boundaries(groups: Sequence[list[Span]]) -> list[tuple[int, int]]:
    return [(group[0].first_seq, group[-1].seq) for group in groups]


def _span_bytes(span: Span) -> int:
    return len(span.owner) + (0 if span.public == span.owner else len(span.public or b""))


def _row_bytes(group: Sequence[Span]) -> int:
    """Return what a row holds: the public frames once more where any differs."""
    size_bytes = sum(len(span.owner) for span in group)
    if any(span.public != span.owner for span in group):
        size_bytes += sum(len(span.public or b"") for span in group)
    return size_bytes
