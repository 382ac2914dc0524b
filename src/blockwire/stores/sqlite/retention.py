"""Keeping a SQLite store small, and copying it.

Spec: docs/spec/gateway/persistence.md, "Keeping it small".
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio

from blockwire.ports import BackupProgress, RetentionLimits
from blockwire.stores.sqlite.backup import backup_store
from blockwire.stores.sqlite.base import SqliteBase
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.reader import log_start

__all__ = ["SqliteRetention", "vacuum_once"]

# Free pages that stay for what comes: so many, or a share of the file if that is more.
_FREE_PAGES_KEPT: Final = 256
_FREE_SHARE_KEPT: Final = 20
# Pages that one step gives back; some are moved for that.
_PAGES_PER_STEP: Final = 64


class SqliteRetention(SqliteBase):
    """The part of :class:`~blockwire.stores.sqlite.store.SqliteStore` that keeps it small."""

    path: Path

    async def log_start(self, conversation_id: str) -> int:
        """Return the seq up to which events have left the log."""
        return await self._open_readers().run(log_start, conversation_id)

    async def merge_step(self) -> bool:
        """Merge some deltas of completed blocks; return whether there may be more to do."""
        return await self._open_writer().do_chore(Ledger.merge)

    async def trim_step(self, limits: RetentionLimits) -> bool:
        """Remove some events that ``limits`` do not keep; return whether there may be more."""
        return await self._open_writer().do_chore(lambda ledger: ledger.trim(limits))

    async def vacuum_step(self) -> bool:
        """Give some free pages back; return whether there may be more to do.

        A store that an older release made keeps them, for what comes; a backup of it does not.
        """
        return await self._open_writer().do_chore(lambda ledger: vacuum_once(ledger.connection))

    async def backup(
        self, target: str, *, on_progress: Callable[[BackupProgress], None] | None = None
    ) -> None:
        """Write a checked copy of what is committed to the new file ``target``."""
        self._open_readers()
        stopping = threading.Event()
        copying = asyncio.get_running_loop().run_in_executor(
            None,
            lambda: backup_store(
                self.path, Path(target), on_progress=on_progress, stopping=stopping
            ),
        )
        try:
            await asyncio.shield(copying)
        except asyncio.CancelledError:
            # The thread takes away what it has written before this call is over.
            stopping.set()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([copying])
            copying.exception()
            raise


def vacuum_once(connection: sqlite3.Connection) -> bool:
    """Give some free pages back, inside the open transaction; return whether there are more."""
    (page_count,) = connection.execute("PRAGMA page_count").fetchone()
    (free_count,) = connection.execute("PRAGMA freelist_count").fetchone()
    (auto_vacuum,) = connection.execute("PRAGMA auto_vacuum").fetchone()
    kept = max(_FREE_PAGES_KEPT, page_count // _FREE_SHARE_KEPT)
    if auto_vacuum == 0 or free_count <= kept:
        return False
    # A row each page.
    connection.execute(f"PRAGMA incremental_vacuum({_PAGES_PER_STEP})").fetchall()
    return True
