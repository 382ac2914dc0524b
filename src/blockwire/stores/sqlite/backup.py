"""A copy of a store, made beside whoever writes to it.

Spec: docs/spec/gateway/persistence.md, "Backup". The copy is one commit of the store, with what is
still in the WAL; it is packed, so it holds nothing that was deleted, and can give space back, which
stores of the first release cannot. It gets its name only when it is whole, checked and on disk.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from blockwire.errors import StoreError
from blockwire.ports import BackupProgress
from blockwire.stores.sqlite.check import OUTDATED, check_store
from blockwire.stores.sqlite.errors import map_errors
from blockwire.stores.sqlite.schema import (
    AUTO_VACUUM,
    FILE_MODE,
    check_version,
    connect_reader,
)

__all__ = ["backup_store"]

# Instructions of SQLite's machine between two looks at how far the copy is: some milliseconds.
_STEPS_PER_LOOK: Final = 100_000


def backup_store(
    path: Path,
    target: Path,
    *,
    on_progress: Callable[[BackupProgress], None] | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """Write a checked copy of the store at ``path`` to ``target``, which must not exist.

    The copy holds everything that was acknowledged before this was called, also while a gateway is
    writing. A plain copy of the file would not: the last commits are in the WAL. Blocks; call it in
    a thread.

    Args:
        path: The store.
        target: The copy; its folder must exist.
        on_progress: Told now and then.
        stopping: Set to give up; nothing is left behind.

    Raises:
        StoreError: As of any reading of a store; ``backup_exists`` if ``target`` is there;
            ``backup_failed`` if the copy is not sound, or was given up.
    """
    if os.path.lexists(target):
        raise _exists(target)
    if not target.parent.is_dir():
        raise StoreError("backup_failed", f"there is no folder {target.parent}; make it first")
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    copying = _Copying(part, on_progress, stopping or threading.Event())
    try:
        with map_errors():
            _create_empty(part)
            copying.copy(path)
            copying.check()
            _sync(part)
            _name(part, target)
    finally:
        for leftover in (part, *(part.with_name(part.name + end) for end in _COMPANIONS)):
            with suppress(OSError):
                leftover.unlink()


_COMPANIONS: Final = ("-journal", "-wal", "-shm")


class _Copying:
    """One copy on its way."""

    def __init__(
        self,
        part: Path,
        on_progress: Callable[[BackupProgress], None] | None,
        stopping: threading.Event,
    ) -> None:
        self._part = part
        self._on_progress = on_progress
        self._stopping = stopping
        self._total_bytes = 0

    def copy(self, path: Path) -> None:
        """Copy one commit."""
        connection = connect_reader(path)
        try:
            check_version(connection)
            self._total_bytes = _used_bytes(connection)
            connection.set_progress_handler(self._look, _STEPS_PER_LOOK)
            # The copy is a file of its own; the store behind the connection stays unwritten.
            connection.execute("PRAGMA query_only = OFF")
            # Noted for the copy when the statement is compiled; it then fails to write to the store.
            with suppress(sqlite3.OperationalError):
                connection.execute(f"PRAGMA auto_vacuum = {AUTO_VACUUM}")
            connection.execute("VACUUM INTO ?", (self._part.as_posix(),))
        except sqlite3.OperationalError:
            self._check_stopping()
            raise
        finally:
            connection.close()

    def check(self) -> None:
        """Refuse a copy that is not sound."""
        self._check_stopping()
        self._tell("check", self._part.stat().st_size)
        # The store of an older release is kept as it is: that is what one goes back to.
        problems = [
            problem
            for problem in check_store(self._part, stopping=self._stopping)
            if problem.code != OUTDATED
        ]
        self._check_stopping()
        if problems:
            first = problems[0]
            raise StoreError(
                "backup_failed",
                f"the copy is not sound, and was not kept: {first.where}: {first.code}; run "
                "blockwire check, the store itself may be damaged",
            )

    def _look(self) -> int:
        """Called while SQLite copies; anything but 0 ends that."""
        with suppress(OSError):
            self._tell("copy", self._part.stat().st_size)
        return int(self._stopping.is_set())

    def _tell(self, stage: str, done_bytes: int) -> None:
        if self._on_progress is not None:
            total_bytes = max(self._total_bytes, done_bytes)
            self._on_progress(BackupProgress(stage, done_bytes, total_bytes))

    def _check_stopping(self) -> None:
        if self._stopping.is_set():
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
