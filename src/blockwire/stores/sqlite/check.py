"""Whether a store is sound: the file, its keys, and every conversation against its log.

Spec: docs/spec/gateway/persistence.md, "Integrity". Only reads, also beside a running gateway; holds
one conversation's running turns and one row of the log at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from blockwire.errors import BlockwireError
from blockwire.ports import CheckProblem, TurnRow
from blockwire.stores.entries import split_frames
from blockwire.stores.sqlite.errors import map_errors, to_store_error
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.reader import (
    list_turns,
    load_conversation,
    load_message,
    snapshot,
)
from blockwire.stores.sqlite.schema import (
    SCHEMA_VERSION,
    check_version,
    connect_reader,
    missing_parts,
)
from blockwire.stores.verify import check_conversation

__all__ = ["check_connection", "check_store"]

# Problems that are reported; a store with more is broken anyway.
_PROBLEMS_MAX: Final = 1000

_TURNS_PER_PAGE: Final = 500


def check_store(path: Path) -> Sequence[CheckProblem]:
    """Return what is wrong with the store at ``path``; it is not opened for writing.

    Blocks; call it in a thread.

    Raises:
        StoreError: ``store_unavailable`` if there is no such file, ``store_foreign``,
            ``store_too_new``, ``store_corrupt`` if it is no database at all.
    """
    with map_errors():
        connection = connect_reader(path)
        try:
            check_version(connection)
            return check_connection(connection)
        finally:
            connection.close()


def check_connection(connection: sqlite3.Connection) -> Sequence[CheckProblem]:
    """Return what is wrong with the store, as of one commit."""
    with snapshot(connection):
        return list(islice(_problems(connection), _PROBLEMS_MAX))


def _problems(connection: sqlite3.Connection) -> Iterator[CheckProblem]:
    yield from _file_problems(connection)
    number = -1
    while True:
        try:
            row = connection.execute(SQL["next_conversation"], {"no": number}).fetchone()
        except sqlite3.Error as error:
            yield _unreadable("conversations", error)
            return
        if row is None:
            return
        number, conversation_id = row
        try:
            yield from _conversation_problems(connection, number, conversation_id)
        except (sqlite3.Error, BlockwireError) as error:
            yield _unreadable(conversation_id, error)


def _unreadable(where: str, error: Exception) -> CheckProblem:
    mapped = to_store_error(error)
    return CheckProblem(where, mapped.code, mapped.detail)


def _file_problems(connection: sqlite3.Connection) -> Iterator[CheckProblem]:
    try:
        for (sentence,) in connection.execute("PRAGMA integrity_check"):
            if sentence != "ok":
                yield CheckProblem("file", "store_corrupt", sentence)
        for table, row_number, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            yield CheckProblem(
                table, "foreign_key", f"row {row_number} belongs to nothing in {parent}"
            )
        version = check_version(connection)
        if version != SCHEMA_VERSION:
            yield CheckProblem(
                "file", "schema_differs", f"the schema is {version}, not {SCHEMA_VERSION}"
            )
        for name in missing_parts(connection):
            yield CheckProblem(name, "schema_differs", "the file has it otherwise, or not at all")
    except sqlite3.Error as error:
        yield _unreadable("file", error)


def _conversation_problems(
    connection: sqlite3.Connection, number: int, conversation_id: str
) -> Sequence[CheckProblem]:
    row = load_conversation(connection, conversation_id)
    assert row is not None, "one snapshot"
    keys = {"conversation_no": number}
    (message_count,) = connection.execute(SQL["count_messages"], keys).fetchone()
    problems: list[CheckProblem] = []
    problems += check_conversation(
        row,
        _entries(connection, number, conversation_id, problems),
        turns=_turns(connection, conversation_id),
        message_count=message_count,
        find_message=lambda message_id: load_message(connection, conversation_id, message_id),
    )
    return problems


def _entries(
    connection: sqlite3.Connection,
    number: int,
    conversation_id: str,
    problems: list[CheckProblem],
) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield owner and public frame of every entry."""
    end = 0
    keys = {"conversation_no": number, "after": 0, "limit": -1}
    for last_seq, first_seq, owner, public in connection.execute(SQL["read_log_rows"], keys):
        frames = list(split_frames(owner))
        if first_seq != end + 1 or len(frames) != last_seq - first_seq + 1:
            detail = f"the log has a gap or a hole between {end} and {last_seq}"
            problems.append(CheckProblem(conversation_id, "log_gap", detail))
        end = last_seq
        if public is None:
            yield from ((frame, frame) for frame in frames)
        else:
            yield from _paired(frames, public)


def _paired(frames: list[bytes], public: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    by_id = {frame.partition(b"\n")[0]: frame for frame in split_frames(public)}
    for frame in frames:
        yield frame, by_id.get(frame.partition(b"\n")[0])


def _turns(connection: sqlite3.Connection, conversation_id: str) -> Iterator[TurnRow]:
    cursor = None
    while True:
        page = list_turns(connection, conversation_id, cursor, _TURNS_PER_PAGE)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return
