"""Copying a store while others use it: the one way in which a second file is made of one.

Spec: docs/spec/gateway/persistence.md, "Backup". The copy is one commit of the store, with what is
still in the WAL; it is packed, so it holds nothing that was deleted, and can give space back, which
stores of the first release cannot. It gets its name only when it is whole, checked and on disk.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from blockwire.errors import StoreError
from blockwire.stores.sqlite.errors import map_errors
from blockwire.stores.sqlite.schema import (
    AUTO_VACUUM,
    FILE_MODE,
    STEPS_PER_LOOK,
    check_version,
    connect_reader,
)

__all__ = ["copy_store"]

_COMPANIONS: Final = ("-journal", "-wal", "-shm")


def copy_store(
    path: Path,
    target: Path,
    *,
    check: Callable[[Path], None],
    on_copied: Callable[[int, int], None],
    stopping: threading.Event,
) -> None:
    """Write one commit of the store at ``path`` to ``target``, which must not exist. Blocks.

    Args:
        path: The store.
        target: The copy; its folder must exist.
        check: Called with the copy under another name; raises where it is not to be kept.
        on_copied: Told now and then how many bytes the copy has, and how many the store uses.
        stopping: Set to give up; nothing is left behind.

    Raises:
        StoreError: As of any reading of a store, and what ``check`` raises; ``backup_exists`` if
            ``target`` is there; ``backup_failed`` if it has no folder, or was given up.
    """
    if os.path.lexists(target):
        raise _exists(target)
    if not target.parent.is_dir():
        raise StoreError("backup_failed", f"there is no folder {target.parent}; make it first")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with map_errors():
            _create_empty(part)
            _copy(path, part, on_copied, stopping)
            check(part)
            _check_stopping(stopping)
            _sync(part)
            _name(part, target)
    finally:
        for leftover in (part, *(part.with_name(part.name + end) for end in _COMPANIONS)):
            with suppress(OSError):
                leftover.unlink()


def _copy(
    path: Path, part: Path, on_copied: Callable[[int, int], None], stopping: threading.Event
) -> None:
    with closing(connect_reader(path)) as connection:
        check_version(connection)
        used_bytes = _used_bytes(connection)

        def look() -> int:
            # Anything but 0 ends the copying.
            with suppress(OSError):
                on_copied(part.stat().st_size, used_bytes)
            return int(stopping.is_set())

        connection.set_progress_handler(look, STEPS_PER_LOOK)
        try:
            # The copy is a file of its own; the store behind the connection stays unwritten.
            connection.execute("PRAGMA query_only = OFF")
            # Noted for the copy when the statement is compiled; it then fails to write to the store.
            with suppress(sqlite3.OperationalError):
                connection.execute(f"PRAGMA auto_vacuum = {AUTO_VACUUM}")
            connection.execute("VACUUM INTO ?", (part.as_posix(),))
        except sqlite3.OperationalError:
            _check_stopping(stopping)
            raise
    _check_stopping(stopping)


def _check_stopping(stopping: threading.Event) -> None:
    if stopping.is_set():
        raise StoreError("backup_failed", "the backup was given up; nothing of it is left")


def _exists(target: Path) -> StoreError:
    return StoreError(
        "backup_exists", f"a backup never overwrites a file, and {target.name} is there"
    )


def _used_bytes(connection: sqlite3.Connection) -> int:
    (size_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    (page_count,) = connection.execute("PRAGMA page_count").fetchone()
    (free_count,) = connection.execute("PRAGMA freelist_count").fetchone()
    return int(size_bytes * (page_count - free_count))


def _create_empty(part: Path) -> None:
    # For its owner alone, as it will hold what is private. SQLite fills an empty file.
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))


def _sync(part: Path) -> None:
    with part.open("r+b") as file:
        os.fsync(file.fileno())


def _name(part: Path, target: Path) -> None:
    """Give the copy its name, unless something has got that meanwhile."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:
        # A file system without links.
        if os.path.lexists(target):
            raise _exists(target) from None
        part.rename(target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
