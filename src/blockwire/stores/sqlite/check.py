"""Whether a store is sound: the file, its keys, and every conversation against its log.

Spec: docs/spec/gateway/persistence.md, "Integrity". Only reads, also beside a running gateway; holds
one conversation's running turns and one row of the log at a time.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from blockwire.errors import BlockwireError
from blockwire.ports import CheckProblem, TurnRow
from blockwire.stores.entries import split_frames
from blockwire.stores.spans import Run, Span
from blockwire.stores.sqlite.errors import map_errors, to_store_error
from blockwire.stores.sqlite.filecheck import attachment_problems
from blockwire.stores.sqlite.logspans import WindowRow, read_row_spans
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.reader import (
    list_turns,
    load_message,
    log_start,
    snapshot,
)
from blockwire.stores.sqlite.rows import conversation_from_row
from blockwire.stores.sqlite.schema import (
    SCHEMA_VERSION,
    STEPS_PER_LOOK,
    check_version,
    connect_reader,
    missing_parts,
)
from blockwire.stores.sqlite.search import index_problems
from blockwire.stores.verify import check_conversation

__all__ = ["OUTDATED", "check_connection", "check_store"]

OUTDATED: Final = "schema_outdated"
"""Code of what is no damage: an older release made the store, and only its file was looked at."""

# Problems that are reported; a store with more is broken anyway.
_PROBLEMS_MAX: Final = 1000

_TURNS_PER_PAGE: Final = 500


def check_store(
    path: Path,
    *,
    stopping: threading.Event | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Sequence[CheckProblem]:
    """Return what is wrong with the store at ``path``; it is not opened for writing.

    Blocks; call it in a thread. When ``stopping`` is set, it soon returns something.

    Args:
        path: The file.
        stopping: See above.
        on_progress: Told how many conversations were looked at, and of how many.

    Raises:
        StoreError: ``store_unavailable`` if there is no such file, ``store_foreign``,
            ``store_too_new``, ``store_corrupt`` if it is no database at all.
    """
    with map_errors():
        connection = connect_reader(path)
        try:
            check_version(connection)
            if stopping is not None:
                connection.set_progress_handler(stopping.is_set, STEPS_PER_LOOK)
            return check_connection(connection, on_progress)
        finally:
            connection.close()


def check_connection(
    connection: sqlite3.Connection, on_progress: Callable[[int, int], None] | None = None
) -> Sequence[CheckProblem]:
    """Return what is wrong with the store, as of one commit."""
    with snapshot(connection):
        return list(islice(_problems(connection, on_progress), _PROBLEMS_MAX))


def _problems(
    connection: sqlite3.Connection, on_progress: Callable[[int, int], None] | None
) -> Iterator[CheckProblem]:
    is_sound = True
    for problem in _stored_problems(connection, on_progress):
        is_sound = False
        yield problem
    if is_sound:
        # An index of damaged messages differs, too, and that says nothing.
        try:
            yield from index_problems(connection)
        except (sqlite3.Error, BlockwireError) as error:
            yield _unreadable("index", error)


def _stored_problems(
    connection: sqlite3.Connection, on_progress: Callable[[int, int], None] | None
) -> Iterator[CheckProblem]:
    yield from _file_problems(connection)
    if _is_outdated(check_version(connection)):
        # Nothing here reads what an older release wrote.
        return
    number, done, total = -1, 0, 0
    while True:
        try:
            if on_progress is not None:
                total = total or connection.execute(SQL["count_conversations"]).fetchone()[0]
                on_progress(done, total)
            row = connection.execute(SQL["next_conversation"], {"no": number}).fetchone()
        except sqlite3.Error as error:
            yield _unreadable("conversations", error)
            return
        if row is None:
            break
        number, conversation_id = row
        done += 1
        try:
            yield from _conversation_problems(connection, number, conversation_id)
        except (sqlite3.Error, BlockwireError) as error:
            yield _unreadable(conversation_id, error)
    try:
        yield from attachment_problems(connection)
    except (sqlite3.Error, BlockwireError) as error:
        yield _unreadable("attachments", error)


def _unreadable(where: str, error: Exception) -> CheckProblem:
    mapped = to_store_error(error)
    return CheckProblem(where, mapped.code, mapped.detail)


def _is_outdated(version: int) -> bool:
    """Return whether a migration is due; 0 is of no release."""
    return 0 < version < SCHEMA_VERSION


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
        if _is_outdated(version):
            yield CheckProblem(
                "file",
                OUTDATED,
                f"an older release made it, with schema {version}, not {SCHEMA_VERSION}: run "
                "blockwire migrate, or serve, and check it then",
            )
            return
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
    row = conversation_from_row(
        connection.execute(SQL["load_any_conversation"], {"no": number}).fetchone()
    )
    start_seq = log_start(connection, conversation_id)
    keys = {"conversation_no": number, "after": start_seq}
    (message_count,) = connection.execute(SQL["count_messages_after"], keys).fetchone()
    log = _LogReader(connection, number, start_seq)
    problems = check_conversation(
        row,
        log.spans(),
        start_seq=start_seq,
        turns=_turns(connection, conversation_id),
        message_count=message_count,
        find_message=lambda message_id: load_message(connection, conversation_id, message_id),
    )
    found = [CheckProblem(conversation_id, code, detail) for code, detail in log.problems]
    return [*found, *problems]


class _LogReader:
    """Reads the log of one conversation, whatever state it is in.

    Attributes:
        problems: What was wrong with its rows, as code and detail.
    """

    def __init__(
        self, connection: sqlite3.Connection, conversation_no: int, start_seq: int
    ) -> None:
        self._connection = connection
        self._keys = {"conversation_no": conversation_no}
        self._start_seq = start_seq
        self.problems: list[tuple[str, str]] = []

    def spans(self) -> Iterator[Span]:
        """Yield every entry, numbered as they follow one another."""
        end = self._start_seq
        run_count = 0
        keys = {**self._keys, "after": end}
        for values in self._connection.execute(SQL["read_log_window"], keys):
            row = WindowRow(*values)
            runs = self._runs(row)
            # Where a log begins moves before the rows that it leaves behind are removed.
            run_count += sum(seq > self._start_seq for seq in runs)
            spans = read_row_spans(row, runs)
            first_seq = max(row.first_seq, self._start_seq + 1)
            if spans is None or first_seq != end + 1:
                detail = f"the log has a gap or a hole between {end} and {row.last_seq}"
                self.problems.append(("log_gap", detail))
            for span in spans if spans is not None else _counted(row):
                if spans is not None and span.seq <= self._start_seq:
                    continue
                length = span.seq - span.first_seq
                yield span._replace(first_seq=end + 1, seq=end + 1 + length)
                end += 1 + length
        (count,) = self._connection.execute(SQL["count_runs"], {**keys}).fetchone()
        if count != run_count:
            detail = f"{count} merged deltas are told of, the log has {run_count}"
            self.problems.append(("merge_wrong", detail))

    def _runs(self, row: WindowRow) -> dict[int, Run]:
        if not row.is_merged:
            return {}
        place = {"after": row.first_seq - 1, "last_seq": row.last_seq}
        found = self._connection.execute(SQL["list_runs"], {**self._keys, **place})
        return {run.seq: run for run in map(Run._make, found)}


def _counted(row: WindowRow) -> Iterator[Span]:
    """Yield the frames of a row whose numbers do not fit, as if each were one event."""
    publics = {_id_line(frame): frame for frame in split_frames(row.public or b"")}
    for frame in split_frames(row.owner):
        public = frame if row.public is None else publics.get(_id_line(frame))
        yield Span(1, 1, frame, public)


def _id_line(frame: bytes) -> bytes:
    return frame.partition(b"\n")[0]


def _turns(connection: sqlite3.Connection, conversation_id: str) -> Iterator[TurnRow]:
    cursor = None
    while True:
        page = list_turns(connection, conversation_id, cursor, _TURNS_PER_PAGE)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return
