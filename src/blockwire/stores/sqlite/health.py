"""How a store's file is doing, without reading every conversation.

Spec: docs/spec/gateway/operations.md, "Doctor". Changes nothing, also beside a running gateway.
"""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from blockwire.stores.sqlite.errors import map_errors
from blockwire.stores.sqlite.schema import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    check_version,
    connect_reader,
)

__all__ = ["QUICK_BYTES_MAX", "StoreHealth", "find_copies", "store_health"]

QUICK_BYTES_MAX: Final = 1 << 30
"""A file beyond this is not read as a whole: that would take minutes."""

COPIES_LOOKED_AT_MAX: Final = 10_000
"""Files of a folder that are looked into."""

# https://sqlite.org/fileformat2.html, "Application ID".
_HEADER_BYTES: Final = 72
_MAGIC: Final = b"SQLite format 3\0"


class StoreHealth(NamedTuple):
    """What shows without reading every conversation.

    Attributes:
        schema_version: Of the file.
        schema_newest: Of this release.
        size_bytes: Of the file.
        wal_bytes: Of what is not in it yet.
        free_bytes: On its disk.
        unused_bytes: Of the file, in pages that nothing is in.
        newest_at: When a conversation last changed, Unix milliseconds; 0 for none.
        is_private: Nobody but its owner can read it.
        problem: What SQLite says is wrong with the file; None for nothing, or where the file is too
            large to ask (``is_read`` is false then).
        is_read: Whether the file was read as a whole.
    """

    schema_version: int
    schema_newest: int
    size_bytes: int
    wal_bytes: int
    free_bytes: int
    unused_bytes: int
    newest_at: int
    is_private: bool
    problem: str | None
    is_read: bool


def store_health(path: Path) -> StoreHealth:
    """Return how the store at ``path`` is doing. Blocks.

    Raises:
        StoreError: As of :func:`~blockwire.stores.sqlite.check.check_store`.
    """
    wal = path.with_name(f"{path.name}-wal")
    status = path.stat()
    is_read = status.st_size <= QUICK_BYTES_MAX
    with map_errors(), closing(connect_reader(path)) as connection:
        version = check_version(connection)
        return StoreHealth(
            schema_version=version,
            schema_newest=SCHEMA_VERSION,
            size_bytes=status.st_size,
            wal_bytes=wal.stat().st_size if wal.exists() else 0,
            free_bytes=shutil.disk_usage(path.parent).free,
            unused_bytes=_number(connection, "freelist_count") * _number(connection, "page_size"),
            newest_at=_newest_at(connection) if version else 0,
            is_private=not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO),
            problem=_problem(connection) if is_read else None,
            is_read=is_read,
        )


def _number(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _newest_at(connection: sqlite3.Connection) -> int:
    # The index of lists ends with the conversation that was made last.
    row = connection.execute("SELECT max(created_at) FROM conversations").fetchone()
    return int(row[0] or 0)


def _problem(connection: sqlite3.Connection) -> str | None:
    try:
        (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return type(error).__name__
    return None if answer == "ok" else str(answer)


def find_copies(folder: Path, store: Path) -> list[tuple[Path, float]]:
    """Return the copies of stores in ``folder`` and when each was made, seconds of Unix time.

    Args:
        folder: Looked into, but not below it.
        store: Itself no copy.
    """
    found: list[tuple[Path, float]] = []
    for count, entry in enumerate(sorted(folder.iterdir())):
        if count >= COPIES_LOOKED_AT_MAX:
            break
        try:
            if entry.is_file() and not entry.samefile(store) and _is_store(entry):
                found.append((entry, entry.stat().st_mtime))
        except OSError:
            continue
    return found


def _is_store(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    return header.startswith(_MAGIC) and header[68:72] == APPLICATION_ID.to_bytes(4, "big")
