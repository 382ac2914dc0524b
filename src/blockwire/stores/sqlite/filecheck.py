"""Whether what is stored of attachments is sound: contents, counts, holds.

Spec: docs/spec/gateway/persistence.md, "Integrity". Only reads; holds one piece of content at a time.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from blockwire.ports import CheckProblem
from blockwire.stores.holds import Hold, hold_problems
from blockwire.stores.sqlite.queries import SQL
from blockwire.stores.sqlite.rows import message_from_row
from blockwire.stores.uploads import CHUNK_BYTES

__all__ = ["attachment_problems"]

_TOTAL: Final = "total"


def attachment_problems(connection: sqlite3.Connection) -> Iterator[CheckProblem]:
    """Yield what is wrong with contents, attachments, sums and holds."""
    counted: Counter[str] = Counter()
    yield from _blob_problems(connection, counted)
    yield from _row_problems(connection, counted)
    kept = dict(connection.execute(SQL["list_usage"]).fetchall())
    for scope in sorted(kept.keys() | counted.keys()):
        if kept.get(scope, 0) != counted[scope]:
            detail = f"{kept.get(scope, 0)} bytes are counted, {counted[scope]} are there"
            yield CheckProblem("attachments", "attachment_usage", detail)
    yield from _hold_problems(connection)


def _blob_problems(connection: sqlite3.Connection, counted: Counter[str]) -> Iterator[CheckProblem]:
    number = 0
    while True:
        row = connection.execute(SQL["next_blob"], {"no": number}).fetchone()
        if row is None:
            return
        number, digest, size_bytes, attachment_count = row
        counted[_TOTAL] += size_bytes
        where = f"blob {number}"
        if digest is None:
            # Being uploaded, or being removed: a part of something.
            continue
        if not attachment_count:
            yield CheckProblem(where, "blob_orphan", "no attachment has this content")
        detail = _content_problem(connection, number, digest, size_bytes)
        if detail is not None:
            yield CheckProblem(where, "blob_differs", detail)


def _content_problem(
    connection: sqlite3.Connection, blob_no: int, digest: str, size_bytes: int
) -> str | None:
    found = hashlib.sha256()
    left_bytes = size_bytes
    chunks = connection.execute(SQL["read_chunks"], {"blob_no": blob_no})
    for expected_no, (chunk_no, data) in enumerate(chunks):
        if chunk_no != expected_no or len(data) != min(left_bytes, CHUNK_BYTES) or not data:
            return f"chunk {expected_no} is missing, or has another size"
        left_bytes -= len(data)
        found.update(data)
    if left_bytes:
        return f"{left_bytes} bytes are missing at the end"
    return None if found.hexdigest() == digest else "the content is not what its hash says"


def _row_problems(connection: sqlite3.Connection, counted: Counter[str]) -> Iterator[CheckProblem]:
    number = 0
    while True:
        row = connection.execute(SQL["next_attachment"], {"no": number}).fetchone()
        if row is None:
            return
        number, attachment_id, scope, size_bytes, size_differs, is_named, hold_count, has_home = row
        counted[scope] += size_bytes
        if size_differs:
            yield CheckProblem(attachment_id, "attachment_differs", "its size is not its content's")
        if bool(is_named) != bool(hold_count):
            yield CheckProblem(
                attachment_id, "attachment_differs", "it does not know whether anything names it"
            )
        if not hold_count and not has_home:
            yield CheckProblem(attachment_id, "attachment_orphan", "no conversation holds it")


def _hold_problems(connection: sqlite3.Connection) -> Iterator[CheckProblem]:
    """Yield the attachments that a message names and that its conversation does not hold."""
    number = 0
    while True:
        row = connection.execute(SQL["next_naming_message"], {"no": number}).fetchone()
        if row is None:
            return
        number, conversation_no, conversation_id, *stored = row
        find_hold = partial(_find_hold, connection, conversation_no)
        yield from hold_problems(conversation_id, message_from_row(stored).message, find_hold)


def _find_hold(connection: sqlite3.Connection, conversation_no: int, name: str) -> Hold:
    keys = {"id": name, "conversation_no": conversation_no}
    row = connection.execute(SQL["load_hold"], keys).fetchone()
    if row is None:
        is_own = connection.execute(SQL["find_home"], keys).fetchone() is not None
        return "none" if is_own else "foreign"
    return "public" if row[0] else "private"
