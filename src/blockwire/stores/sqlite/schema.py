"""Connections, and the schema that every one of them finds.

Spec: docs/spec/gateway/persistence.md, "Integrity".

``PRAGMA user_version`` is the schema's version and ``application_id`` says whose file it is.
Migrations only go forward; each runs in one transaction that also sets the version, so a killed
process leaves either the old schema or the new one.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from blockwire.errors import StoreError
from blockwire.ports import Faults
from blockwire.stores.sqlite.queries import MIGRATIONS, split_statements

__all__ = [
    "APPLICATION_ID",
    "AUTO_VACUUM",
    "BUSY_TIMEOUT_MS",
    "FILE_MODE",
    "SCHEMA_VERSION",
    "STEPS_PER_LOOK",
    "Synchronous",
    "check_version",
    "connect_checkpointer",
    "connect_reader",
    "connect_writer",
    "migrate",
    "missing_parts",
]

Synchronous = Literal["FULL", "NORMAL"]
"""FULL: an acknowledged event survives a power loss. NORMAL: it survives a crash of the process."""

APPLICATION_ID: Final = 0x424C4B57  # "BLKW"
SCHEMA_VERSION: Final = len(MIGRATIONS)

# Of a new file: private reasoning and prompts are not for other users of the machine.
FILE_MODE: Final = 0o600

# Free pages are kept in lists from which a few at a time can be given back. Only a new file gets
# there; one that an older release made keeps its way, and a backup of it does not.
AUTO_VACUUM: Final = "INCREMENTAL"

# STRICT tables came with 3.37.
_SQLITE_MIN: Final = (3, 37, 0)

# How long a statement waits for another connection's lock. Inside one process only a checkpoint or
# a backup by another program can make us wait.
BUSY_TIMEOUT_MS: Final = 5000

# Statements kept compiled, per connection; queries.sql has fewer.
_CACHED_STATEMENTS: Final = 256

# Pages in the WAL after which a commit also checkpoints, which the checkpointer (checkpoint.py) keeps
# small by doing most of it before; and what remains of the file afterwards.
_CHECKPOINT_PAGES: Final = 16_000
_JOURNAL_BYTES_MAX: Final = 64 * 1024 * 1024

# Instructions of SQLite's machine between two looks at how far long work is and whether to stop: some
# milliseconds.
STEPS_PER_LOOK: Final = 100_000

# Negative: KiB.
_WRITER_CACHE: Final = -32 * 1024
_READER_CACHE: Final = -4 * 1024


def _create_private(path: Path) -> None:
    """Create the file for its owner alone, as it will hold what is private; one that is there stays.

    SQLite gives its companions (``-wal``, ``-shm``) the same mode, and says what is wrong if this
    failed for another reason.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))


def connect_writer(path: Path, *, synchronous: Synchronous) -> sqlite3.Connection:
    """Return the connection that writes, its file created where there is none.

    Raises:
        StoreError: ``store_unavailable`` if the SQLite library is too old; ``store_foreign`` or
            ``store_too_new`` as of :func:`check_version`, before anything is changed.
        sqlite3.Error: The file cannot be opened.
    """
    if sqlite3.sqlite_version_info < _SQLITE_MIN:
        raise StoreError(
            "store_unavailable",
            f"SQLite {'.'.join(map(str, _SQLITE_MIN))} or newer is needed, "
            f"this Python has {sqlite3.sqlite_version}",
        )
    _create_private(path)
    connection = _connect(path.as_posix(), uri=False)
    try:
        check_version(connection)
        # Zeroes what is deleted; must be on before the first write (spec: "Delete means gone").
        connection.execute("PRAGMA secure_delete = ON")
        # Before the first page is written, or it changes nothing.
        connection.execute(f"PRAGMA auto_vacuum = {AUTO_VACUUM}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_BYTES_MAX}")
        connection.execute(f"PRAGMA cache_size = {_WRITER_CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_checkpointer(path: Path, *, synchronous: Synchronous) -> sqlite3.Connection:
    """Return a connection for checkpoints only, to a store that the writer has open.

    Raises:
        sqlite3.Error: The file cannot be opened.
    """
    connection = _connect(path.as_posix(), uri=False)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write; the file must exist.

    Raises:
        sqlite3.Error: The file cannot be opened.
    """
    address = "file:" + quote(path.absolute().as_posix())
    connection = _connect(f"{address}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if _has_wal(path):
            raise
        # A file in a folder that we cannot write: WAL needs a -shm file beside it. Without a WAL
        # nobody writes, so the file may be read as it is.
        connection = _connect(f"{address}?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = {_READER_CACHE}")
    return connection


def _has_wal(path: Path) -> bool:
    wal = path.with_name(path.name + "-wal")
    return wal.exists() and wal.stat().st_size > 0


def _connect(address: str, *, uri: bool) -> sqlite3.Connection:
    # Statements run in whatever thread has the connection; never two at once.
    return sqlite3.connect(
        address,
        uri=uri,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_CACHED_STATEMENTS,
    )


def check_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of the file; 0 for an empty one.

    Raises:
        StoreError: ``store_foreign`` for a database that is not ours, ``store_too_new`` for one
            that a newer release wrote.
        sqlite3.DatabaseError: The file is no database.
    """
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (table_count,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application_id != APPLICATION_ID and (application_id or version or table_count):
        raise StoreError("store_foreign", "this SQLite file was made by another program")
    if version > SCHEMA_VERSION:
        raise StoreError(
            "store_too_new",
            f"the store has schema {version} and this release knows {SCHEMA_VERSION}: "
            "use the newer release that wrote it, or restore a backup from before",
        )
    return int(version)


def migrate(connection: sqlite3.Connection, *, faults: Faults | None = None) -> None:
    """Bring the file to :data:`SCHEMA_VERSION`, one transaction a step."""
    for version in range(check_version(connection) + 1, SCHEMA_VERSION + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in split_statements(MIGRATIONS[version - 1]):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version}")
            if faults is not None:
                faults.reach("migrate.before")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if faults is not None:
            faults.reach("migrate.after")


def missing_parts(connection: sqlite3.Connection) -> list[str]:
    """Return the names of tables and indexes that are not as the migrations make them."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(fresh)
        expected = _parts(fresh)
    finally:
        fresh.close()
    return sorted({name for name, _ in expected ^ _parts(connection)})


def _parts(connection: sqlite3.Connection) -> set[tuple[str, str | None]]:
    return set(connection.execute("SELECT name, sql FROM sqlite_schema"))
