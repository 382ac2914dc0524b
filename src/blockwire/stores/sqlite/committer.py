"""What the writer's thread commits: groups of requests, and a little of what nobody waits for.

Spec: docs/spec/gateway/persistence.md. A request that is refused fails alone; when the transaction
itself breaks, its requests are tried again one by one, so that only the guilty ones fail. *Chores*
(merging, trimming, vacuum) have a transaction of their own each, and are done when nobody waits for
a commit; of a writer that is never idle they get one turn in so many.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from typing import Any, Final

from blockwire.errors import BlockwireError
from blockwire.ports import Append, FaultPoint, Faults
from blockwire.stores.sqlite.errors import to_store_error
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.schema import BUSY_TIMEOUT_MS

__all__ = ["Committer", "Outcome", "Request"]

_log: Final = logging.getLogger(__name__)

# How long an idle writer waits until it tries again to empty the WAL of what was deleted, and how
# long such a try may wait for readers.
_TRUNCATE_PAUSE_S: Final = 0.5
_TRUNCATE_WAIT_MS: Final = 250

# Errors that would come back for every single request, after a wait each.
_HOPELESS: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY})


class Request:
    """One change, and who waits for it."""

    __slots__ = ("future", "size_bytes", "work")

    def __init__(
        self,
        work: Append | Callable[[Ledger], Any],
        size_bytes: int,
        future: asyncio.Future[Any],
    ) -> None:
        self.work = work
        self.size_bytes = size_bytes
        self.future = future


Outcome = tuple[Request, Any, BlockwireError | None]


class Committer:
    """Runs groups of requests, each in one transaction, on the writer's connection."""

    def __init__(self, connection: sqlite3.Connection, *, faults: Faults | None) -> None:
        self._connection = connection
        self._faults = faults
        self._ledger = Ledger(connection, faults=faults)
        self._is_index_stuck = False

    @property
    def patience_s(self) -> float | None:
        """How long to wait for requests before there is something else to do."""
        if self._ledger.due or self._ledger.filing.abandoned or self._has_index_work:
            return 0
        return _TRUNCATE_PAUSE_S if self._ledger.has_deleted else None

    def commit(self, requests: list[Request], *, may_renew: bool = True) -> list[Outcome]:
        """Return what became of each request.

        A search index that is found damaged is made again, unless ``may_renew`` says that it was.
        """
        outcomes: list[Outcome] = []
        try:
            self._transact(requests, outcomes)
        except Exception as error:  # noqa: BLE001 - the thread must live, whatever happens
            self._roll_back()
            if may_renew and _is_of_index(error) and self._renew_index():
                return self.commit(requests, may_renew=False)
            if len(requests) == 1 or _is_hopeless(error):
                failure = to_store_error(error)
                if not isinstance(error, sqlite3.Error):
                    _log.error("a change could not be committed: %s", type(error).__name__)
                return [(request, None, failure) for request in requests]
            return [
                outcome
                for request in requests
                for outcome in self.commit([request], may_renew=may_renew)
            ]
        self._reach("commit.after")
        self._is_index_stuck = False
        if self._ledger.has_deleted:
            self._truncate_wal()
        return outcomes

    def _reach(self, point: FaultPoint) -> None:
        if self._faults is not None:
            self._faults.reach(point)

    def _transact(self, requests: list[Request], outcomes: list[Outcome]) -> None:
        ledger = self._ledger
        self._connection.execute("BEGIN IMMEDIATE")
        for request in requests:
            if request.future.cancelled():
                outcomes.append((request, None, None))
                continue
            work = request.work
            try:
                result = ledger.append(work) if isinstance(work, Append) else work(ledger)
            except BlockwireError as refusal:
                # Refused before its first statement: the others go on.
                outcomes.append((request, None, refusal))
            else:
                outcomes.append((request, result, None))
        ledger.flush()
        ledger.indexer.flush()
        self._reach("commit.before")
        self._connection.execute("COMMIT")
        ledger.filing.keep()

    def _roll_back(self) -> None:
        self._ledger.forget()
        # A full disk may have rolled it back already.
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                _log.error("a transaction could not be rolled back: %s", type(error).__name__)
        self._ledger.indexer.forget()

    def do_chore(self, work: Callable[[Ledger], Any]) -> tuple[Any, BlockwireError | None]:
        """Run ``work`` in a transaction of its own; return its result, or why there is none."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            result = work(self._ledger)
            self._ledger.indexer.flush()
            self._reach("compact.before")
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the thread must live, whatever happens
            self._roll_back()
            return None, to_store_error(error)
        self._reach("compact.after")
        return result, None

    def tidy_up(self) -> None:
        """Do a little of what nobody waits for.

        Join rows, remove content that nobody has, index messages that wait for it, empty the WAL of
        what was deleted.
        """
        due = self._ledger.due
        if due:
            self._join(next(iter(due)))
        elif self._ledger.filing.abandoned:
            self._purge()
        elif self._has_index_work:
            self._index()
        elif self._ledger.has_deleted:
            self._truncate_wal()

    def _join(self, conversation_id: str) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            is_all = self._ledger.join(conversation_id)
            self._reach("commit.before")
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - joining can wait; appends tell what is wrong
            _log.warning("rows of the log stay as they are for now: %s", type(error).__name__)
            self._roll_back()
            is_all = True
        if is_all:
            self._ledger.due.pop(conversation_id, None)

    def _purge(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._ledger.purge()
            self._reach("commit.before")
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the next start finds what is left
            _log.warning("abandoned content stays for now: %s", type(error).__name__)
            self._roll_back()
            self._ledger.filing.abandoned.clear()

    @property
    def _has_index_work(self) -> bool:
        return self._ledger.indexer.is_due and not self._is_index_stuck

    def _renew_index(self) -> bool:
        """Empty a damaged search index, which can be made again; return whether that worked."""
        _log.error("the search index is damaged; it is made again")
        _, error = self.do_chore(lambda ledger: ledger.indexer.start_again())
        return error is None

    def _index(self) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            is_purged = self._ledger.indexer.step()
            self._reach("commit.before")
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - it goes on after the next commit that works
            _log.warning("the search index stays as it is for now: %s", type(error).__name__)
            self._roll_back()
            self._is_index_stuck = not (_is_of_index(error) and self._renew_index())
        else:
            self._ledger.has_deleted = self._ledger.has_deleted or is_purged

    def _truncate_wal(self) -> None:
        """Move everything into the database file and cut the WAL, which holds deleted text."""
        try:
            self._connection.execute(f"PRAGMA busy_timeout = {_TRUNCATE_WAIT_MS}")
            is_busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._ledger.has_deleted = bool(is_busy)
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        except sqlite3.Error as error:
            _log.warning("the WAL could not be emptied: %s", type(error).__name__)


def _is_of_index(error: Exception) -> bool:
    """Return whether FTS5 says that its tables are damaged; nothing else has virtual ones."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB


def _is_hopeless(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and (
        getattr(error, "sqlite_errorcode", 0) & 0xFF in _HOPELESS
    )
