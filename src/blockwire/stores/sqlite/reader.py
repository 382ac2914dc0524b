"""What can be asked of the file: functions on a reading connection, and the threads they run in.

Spec: docs/spec/gateway/persistence.md. Readers see the last commit and never wait for the writer.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from blockwire.content import View
from blockwire.ports import ConversationRow, FramePage, MessageRow, Page, TurnRow
from blockwire.stores.cursors import decode_list_cursor, decode_turn_cursor, encode_cursor
from blockwire.stores.entries import (
    first_frames,
    frame_count,
    frames_after,
    frames_up_to,
    last_number,
)
from blockwire.stores.spans import Run, cursor_expired, frames_between
from blockwire.stores.sqlite.errors import damaged, map_errors
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.rows import conversation_from_row, message_from_row, turn_from_row
from blockwire.stores.sqlite.schema import connect_reader

__all__ = [
    "ReaderPool",
    "find_turn_by_key",
    "list_conversations",
    "list_messages",
    "list_turns",
    "list_unfinished_turns",
    "load_conversation",
    "load_message",
    "load_turn",
    "log_start",
    "read_frames",
    "snapshot",
]

_T = TypeVar("_T")

# Threads that read at the same time, each with a connection.
_READER_COUNT: Final = 4

# Above every number and every time; SQLite's largest integer.
_INTEGER_MAX: Final = 2**63 - 1
# Above every id, in the order of SQLite's text.
_TEXT_MAX: Final = "\U0010ffff"


class ReaderPool:
    """Threads with connections that cannot write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = ThreadPoolExecutor(_READER_COUNT, thread_name_prefix="blockwire-reader")
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()

    async def run(self, read: Callable[..., _T], *arguments: Any) -> _T:
        """Return ``read(connection, *arguments)``, called in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._run, read, arguments)

    def _run(self, read: Callable[..., _T], arguments: tuple[Any, ...]) -> _T:
        with map_errors():
            try:
                connection = self._idle.get_nowait()
            except Empty:
                connection = connect_reader(self._path)
            try:
                return read(connection, *arguments)
            finally:
                self._idle.put(connection)

    async def aclose(self) -> None:
        """Wait for those that read, then close all connections."""
        await asyncio.to_thread(self._threads.shutdown)
        while not self._idle.empty():
            self._idle.get_nowait().close()


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let all statements inside see the same commit."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


# conversations ----------------------------------------------------------------------------
def load_conversation(
    connection: sqlite3.Connection, conversation_id: str
) -> ConversationRow | None:
    """Return the row, or None."""
    row = connection.execute(SQL["load_conversation"], {"id": conversation_id}).fetchone()
    return None if row is None else conversation_from_row(row)


def list_conversations(
    connection: sqlite3.Connection, tenant: str | None, cursor: str | None, limit: int
) -> Page[ConversationRow]:
    """Return a page of conversations, newest first."""
    created_at, last_id = (
        (_INTEGER_MAX, _TEXT_MAX) if cursor is None else decode_list_cursor(cursor)
    )
    name = "list_conversations" if tenant is None else "list_conversations_of_tenant"
    parameters = {"tenant": tenant, "created_at": created_at, "id": last_id, "limit": limit + 1}
    rows = [conversation_from_row(row) for row in connection.execute(SQL[name], parameters)]
    items = rows[:limit]
    more = len(rows) > limit > 0
    return Page(items, encode_cursor(items[-1].created_at, items[-1].id) if more else None)


# log --------------------------------------------------------------------------------------
def read_frames(
    connection: sqlite3.Connection,
    conversation_id: str,
    view: View,
    bounds: tuple[int, int | None],
    bytes_max: int,
) -> FramePage:
    """Return a stretch of the log; ``bounds`` are ``after`` and ``up_to``.

    Nothing is parsed but the numbers at its ends, and a merged delta that has to be cut.

    Raises:
        StoreError: ``cursor_expired``; ``cursor_inside_delta`` where lengths are gone.
    """
    after, up_to = bounds
    after = max(after, 0)
    with snapshot(connection):
        head = connection.execute(SQL["load_head"], {"id": conversation_id}).fetchone()
        end = 0 if head is None else int(head[1])
        if up_to is not None:
            end = min(end, up_to)
        if head is not None and after < head[5]:
            raise cursor_expired()
        if head is None or after >= end:
            return FramePage(b"", after, 0, at_end=True)
        keys = {"conversation_no": head[0], "after": after}
        name = "read_log_owner" if view == "owner" else "read_log_public"

        def find_run(cursor: int) -> Run | None:
            place = {**keys, "after": cursor}
            found = connection.execute(SQL["find_run"], place).fetchone()
            return None if found is None else Run(*found)

        page = _PageBuilder(after, end, bytes_max, find_run)
        # A cursor that is not read to its end would keep its snapshot open.
        with closing(connection.execute(SQL[name], keys)) as rows:
            for row in rows:
                if not page.add(*row):
                    break
        return page.built()


def log_start(connection: sqlite3.Connection, conversation_id: str) -> int:
    """Return up to which seq events have left the log."""
    row = connection.execute(SQL["log_start"], {"id": conversation_id}).fetchone()
    return 0 if row is None else int(row[0])


class _PageBuilder:
    """Collects the frames of one page from rows of the log."""

    def __init__(
        self, after: int, end: int, bytes_max: int, find_run: Callable[[int], Run | None]
    ) -> None:
        self._pieces: list[bytes] = []
        self._room_bytes = bytes_max
        self._count = 0
        self._seq = after
        self._end = end
        self._find_run = find_run

    def add(
        self, last_seq: int, first_seq: int, frames: bytes, is_own: int, is_merged: int
    ) -> bool:
        """Take what fits of one row; return whether there may be more.

        Args:
            last_seq: Of the row.
            first_seq: Of the row.
            frames: What the view gets of it.
            is_own: Whether the view leaves something out, so that numbers have gaps.
            is_merged: Whether a frame of the row stands for several events.
        """
        has_gaps = bool(is_own or is_merged)
        _check_frames(frames, None if has_gaps else first_seq)
        if is_merged and (first_seq <= self._seq or last_seq > self._end):
            frames = self._cut(frames)
        else:
            if first_seq <= self._seq:
                frames = frames_after(frames, self._seq)
            if last_seq > self._end:
                frames = frames_up_to(frames, self._end)
        row_end = min(last_seq, self._end)
        if len(frames) <= self._room_bytes or not frames:
            count = frame_count(frames) if has_gaps else row_end - max(first_seq - 1, self._seq)
            self._take(frames, row_end, count)
            return row_end < self._end
        if self._pieces:
            # The next page begins with it: a row that is cut is read twice, and looked through.
            return False
        frames = first_frames(frames, self._room_bytes, at_least_one=True)
        if frames:
            self._take(frames, last_number(frames), frame_count(frames))
        return False

    def _cut(self, frames: bytes) -> bytes:
        """Return what is between the ends of the page, of merged deltas that part of them."""
        return frames_between(frames, self._seq, self._end, self._find_run)

    def _take(self, frames: bytes, last_seq: int, count: int) -> None:
        if frames:
            self._pieces.append(frames)
        self._room_bytes -= len(frames)
        self._count += count
        self._seq = last_seq

    def built(self) -> FramePage:
        """Return the page."""
        frames = b"".join(self._pieces)
        return FramePage(frames, self._seq, self._count, at_end=self._seq >= self._end)


def _check_frames(frames: bytes, first_seq: int | None) -> None:
    """Refuse a row with a hole in it: zeroed by a power cut, or cut off.

    Costs microseconds; the check of a store reads every event.
    """
    if first_seq is not None:
        is_whole = frames.startswith(b"id: %d\n" % first_seq)
    else:
        is_whole = not frames or frames.startswith(b"id: ")
    if not is_whole or b"\x00" in frames or (frames and not frames.endswith(b"\n\n")):
        raise damaged()


# messages and turns -----------------------------------------------------------------------
def list_messages(
    connection: sqlite3.Connection,
    conversation_id: str,
    bounds: tuple[int | None, int | None, int | None],
    limit: int,
    bytes_max: int,
) -> Sequence[MessageRow]:
    """Return finished messages; ``bounds`` are ``before_seq``, ``after_seq`` and ``up_to_seq``."""
    before, after, up_to = bounds
    parameters = {
        "conversation_id": conversation_id,
        "before": _INTEGER_MAX if before is None else before,
        "after": after,
        "up_to": _INTEGER_MAX if up_to is None else up_to,
        "limit": limit,
    }
    name = "size_messages_before" if after is None else "size_messages_after"
    rows: list[MessageRow] = []
    with snapshot(connection):
        # Sizes first: a message that does not fit is not read.
        for number, message_bytes in connection.execute(SQL[name], parameters).fetchall():
            bytes_max -= message_bytes
            if rows and bytes_max < 0:
                break
            row = connection.execute(SQL["read_message"], {"no": number}).fetchone()
            rows.append(message_from_row(row))
    return rows


def load_message(
    connection: sqlite3.Connection, conversation_id: str, message_id: str
) -> MessageRow | None:
    """Return the finished message, or None."""
    keys = {"conversation_id": conversation_id, "id": message_id}
    row = connection.execute(SQL["load_message"], keys).fetchone()
    return None if row is None else message_from_row(row)


def load_turn(connection: sqlite3.Connection, conversation_id: str, turn_id: str) -> TurnRow | None:
    """Return the turn, or None."""
    keys = {"conversation_id": conversation_id, "id": turn_id}
    row = connection.execute(SQL["load_turn"], keys).fetchone()
    return None if row is None else turn_from_row(row)


def find_turn_by_key(
    connection: sqlite3.Connection, conversation_id: str, key: str
) -> TurnRow | None:
    """Return the turn submitted with this idempotency key, or None."""
    keys = {"conversation_id": conversation_id, "key": key}
    row = connection.execute(SQL["find_turn_by_key"], keys).fetchone()
    return None if row is None else turn_from_row(row)


def list_turns(
    connection: sqlite3.Connection, conversation_id: str, cursor: str | None, limit: int
) -> Page[TurnRow]:
    """Return a page of turns, the one that was stored last first."""
    before = _INTEGER_MAX if cursor is None else decode_turn_cursor(cursor)
    parameters = {"conversation_id": conversation_id, "before": before, "limit": limit + 1}
    rows = connection.execute(SQL["list_turns"], parameters).fetchall()
    items = [turn_from_row(row) for row in rows[:limit]]
    more = len(rows) > limit > 0
    return Page(items, encode_cursor(rows[limit - 1][-1]) if more else None)


def list_unfinished_turns(connection: sqlite3.Connection) -> Sequence[TurnRow]:
    """Return all turns that are running or suspended."""
    return [turn_from_row(row) for row in connection.execute(SQL["list_unfinished_turns"])]
