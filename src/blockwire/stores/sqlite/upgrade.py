"""Bringing a store to this release's schema by hand: with a copy of what was there before.

Spec: docs/spec/gateway/persistence.md, "Integrity". Opening a store does the same without a copy.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from blockwire.errors import StoreError
from blockwire.stores.sqlite.copying import copy_store
from blockwire.stores.sqlite.errors import map_errors
from blockwire.stores.sqlite.lock import StoreLock
from blockwire.stores.sqlite.schema import (
    SCHEMA_VERSION,
    STEPS_PER_LOOK,
    check_version,
    connect_reader,
    connect_writer,
    migrate,
)

__all__ = ["UpgradePlan", "plan_upgrade", "upgrade_store"]


class UpgradePlan(NamedTuple):
    """What an upgrade would do.

    Attributes:
        from_version: Schema of the file.
        to_version: Schema of this release.
        size_bytes: Of the file and what belongs to it; a copy needs at most as much.
        free_bytes: On its disk.
    """

    from_version: int
    to_version: int
    size_bytes: int
    free_bytes: int

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to do."""
        return self.from_version < self.to_version


def plan_upgrade(path: Path) -> UpgradePlan:
    """Return what an upgrade of the store at ``path`` would do; changes nothing.

    Raises:
        StoreError: ``store_unavailable`` if there is no such file, ``store_foreign``,
            ``store_too_new``, ``store_corrupt``.
    """
    with map_errors(), closing(connect_reader(path)) as connection:
        version = check_version(connection)
        parts = (path, path.with_name(f"{path.name}-wal"))
        size_bytes = sum(part.stat().st_size for part in parts if part.exists())
        return UpgradePlan(version, SCHEMA_VERSION, size_bytes, shutil.disk_usage(path.parent).free)


def upgrade_store(
    path: Path,
    *,
    backup: Path | None,
    on_copied: Callable[[int], None] = lambda _bytes: None,
    stopping: threading.Event | None = None,
) -> None:
    """Bring the store at ``path`` to this release's schema. Blocks; call it in a thread.

    Args:
        path: Nobody else may have it open.
        backup: Where a copy of the store as it was goes; None makes none.
        on_copied: Told now and then how large the copy is, in bytes.
        stopping: Set to give up: the copy is not kept, and a step that has begun is undone.

    Raises:
        StoreError: ``migration_stopped``, ``store_locked`` while a gateway uses it, ``backup_exists``,
            ``backup_failed``, ``store_full``, and those of :func:`plan_upgrade`. The store stays as the last whole step left it.
    """
    stopping = stopping if stopping is not None else threading.Event()
    with map_errors():
        lock = StoreLock.acquire(path)
        try:
            if backup is not None:
                _copy(path, backup, on_copied, stopping)
            with closing(connect_writer(path, synchronous="FULL")) as connection:
                connection.set_progress_handler(stopping.is_set, STEPS_PER_LOOK)
                migrate(connection)
        except sqlite3.OperationalError:
            if stopping.is_set():
                raise _stopped() from None
            raise
        finally:
            lock.release()


def _copy(
    path: Path, target: Path, on_copied: Callable[[int], None], stopping: threading.Event
) -> None:
    try:
        copy_store(
            path,
            target,
            check=_check,
            on_copied=lambda done_bytes, _used_bytes: on_copied(done_bytes),
            stopping=stopping,
        )
    except StoreError as error:
        if stopping.is_set():
            raise _stopped() from None
        if error.code == "backup_exists":
            detail = f"{error.detail}: move it, or give another name with --backup"
            raise StoreError(error.code, detail) from None
        raise


def _check(part: Path) -> None:
    """Refuse a copy that is no sound file; one of a damaged store is kept, to go back to."""
    with closing(sqlite3.connect(part, isolation_level=None)) as connection:
        (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        raise StoreError("backup_failed", "the copy is not sound; the store is as it was")


def _stopped() -> StoreError:
    return StoreError("migration_stopped", "the migration was given up; repeat it to go on")
