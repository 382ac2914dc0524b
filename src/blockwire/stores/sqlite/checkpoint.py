"""Moving committed pages from the WAL into the database file, beside the writer.

Spec: docs/spec/gateway/persistence.md. A checkpoint takes as long as several commits. Inside a commit,
which is where SQLite does it by itself, everybody who waits for that commit would wait for it too.
The writer still does so when the WAL has grown very long.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import Final

__all__ = ["Checkpointer"]

_log: Final = logging.getLogger(__name__)

# Bytes of frames that were committed since the last checkpoint; the WAL holds two to four times as
# much, because it holds whole pages.
_COMMITTED_BYTES: Final = 1024 * 1024


class Checkpointer:
    """A thread with a connection of its own that checkpoints when enough was committed.

    Args:
        connect: Returns the connection; called in the thread, which closes it.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._committed_bytes = 0
        self._is_ending = False
        self._wake = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="blockwire-store-checkpoint", daemon=True
        )
        self._thread.start()

    def note_commit(self, size_bytes: int) -> None:
        """Take notice of a commit; returns at once."""
        self._committed_bytes += size_bytes
        if self._committed_bytes >= _COMMITTED_BYTES:
            self._committed_bytes = 0
            self._wake.set()

    def stop(self) -> None:
        """End the thread; waits for a checkpoint that is under way."""
        self._is_ending = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            connection = self._connect()
        except sqlite3.Error as error:
            _log.warning("checkpoints are left to the writer: %s", type(error).__name__)
            return
        try:
            while self._wake.wait() and not self._is_ending:
                self._wake.clear()
                self._checkpoint(connection)
        finally:
            connection.close()

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        try:
            _checkpoint_once(connection)
        except sqlite3.Error as error:
            _log.warning("a checkpoint failed: %s", type(error).__name__)


def _checkpoint_once(connection: sqlite3.Connection) -> None:
    # PASSIVE waits for nobody: what a reader still needs stays for the next time.
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
