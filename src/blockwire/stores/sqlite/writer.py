"""The one thread that writes: group commit without a timer.

Spec: docs/spec/gateway/persistence.md, "Durable before visible".

The writer takes whatever is queued, commits it in one transaction, tells all who wait with one call
into the event loop, and starts again. So a lone append is committed at once, and a thousand at the
same time share one sync of the disk. A request that is refused fails alone; when the transaction
itself breaks, its requests are tried again one by one, so that only the guilty ones fail.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from blockwire.errors import BlockwireError, StoreError
from blockwire.ports import Append, Appended, FaultPoint, Faults
from blockwire.stores.sqlite.errors import to_store_error
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.schema import BUSY_TIMEOUT_MS

__all__ = ["Writer"]

_log: Final = logging.getLogger(__name__)
_T = TypeVar("_T")

# What the thread has been given and has not committed; whoever comes later waits in order.
_QUEUED_COUNT_MAX: Final = 4096
_QUEUED_BYTES_MAX: Final = 64 * 1024 * 1024

# Beyond these a transaction takes nothing more in.
_GROUP_COUNT_MAX: Final = 4096
_GROUP_BYTES_MAX: Final = 16 * 1024 * 1024

# While there is always more to commit, joining gets one turn in so many.
_GROUPS_PER_JOIN: Final = 64

# How long an idle writer waits until it tries again to empty the WAL of what was deleted, and how
# long such a try may wait for readers.
_TRUNCATE_PAUSE_S: Final = 0.5
_TRUNCATE_WAIT_MS: Final = 250

# Errors that would come back for every single request, after a wait each.
_HOPELESS: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY})


class _Request:
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


_Outcome = tuple[_Request, Any, BlockwireError | None]


class Writer:
    """Feeds the writer's thread from one event loop.

    Args:
        connect: Opens the store; called in the thread, which closes the connection at the end.
        note_commit: Told the size of every group that was committed, in the thread.
        release: Lets go of what ``connect`` took; called in the thread after that, in any case.
        faults: Told at every commit.
    """

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        note_commit: Callable[[int], None],
        release: Callable[[], None],
        *,
        faults: Faults | None = None,
    ) -> None:
        self._connect = connect
        self._note_commit = note_commit
        self._release = release
        self._faults = faults
        self._inbox: SimpleQueue[list[_Request] | None] = SimpleQueue()
        self._outbox: list[_Request] = []
        self._waiting: deque[_Request] = deque()
        self._queued_count = 0
        self._queued_bytes = 0
        self._is_accepting = False
        self._drained: asyncio.Future[None] | None = None

    # in the event loop --------------------------------------------------------------------
    async def start(self) -> None:
        """Open the store in the thread; what fails there is raised here."""
        self._loop = asyncio.get_running_loop()
        opened = self._loop.create_future()
        self._thread = threading.Thread(
            target=self._run, args=(opened,), name="blockwire-store-writer", daemon=True
        )
        self._thread.start()
        try:
            await opened
        except BaseException:
            self._inbox.put(None)
            raise
        self._is_accepting = True

    def append(self, change: Append, size_bytes: int) -> asyncio.Future[Appended]:
        """Queue ``change``; the future has a result when it is committed."""
        return self._submit(change, size_bytes)

    def perform(self, work: Callable[[Ledger], _T], *, size_bytes: int = 0) -> asyncio.Future[_T]:
        """Queue a call of ``work`` inside a transaction; its result comes with the commit."""
        return self._submit(work, size_bytes)

    def _submit(
        self, work: Append | Callable[[Ledger], Any], size_bytes: int
    ) -> asyncio.Future[Any]:
        if not self._is_accepting:
            raise StoreError("store_closed", "the store is not open")
        future: asyncio.Future[Any] = self._loop.create_future()
        request = _Request(work, size_bytes, future)
        if self._waiting or not self._has_room(size_bytes):
            self._waiting.append(request)
        else:
            self._queue(request)
        return future

    def _has_room(self, size_bytes: int) -> bool:
        if self._queued_count == 0:
            return True
        return (
            self._queued_count < _QUEUED_COUNT_MAX
            and self._queued_bytes + size_bytes <= _QUEUED_BYTES_MAX
        )

    def _queue(self, request: _Request) -> None:
        self._queued_count += 1
        self._queued_bytes += request.size_bytes
        self._outbox.append(request)
        if len(self._outbox) == 1:
            # All that is submitted in this turn of the event loop goes over together.
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        outbox, self._outbox = self._outbox, []
        self._inbox.put(outbox)

    def _settle(self, outcomes: list[_Outcome]) -> None:
        for request, result, error in outcomes:
            self._queued_count -= 1
            self._queued_bytes -= request.size_bytes
            future = request.future
            if future.done():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        while self._waiting and self._has_room(self._waiting[0].size_bytes):
            request = self._waiting.popleft()
            if not request.future.cancelled():
                self._queue(request)
        if self._drained is not None and self._queued_count == 0 and not self._drained.done():
            self._drained.set_result(None)

    async def stop(self) -> None:
        """Commit what is queued, then end the thread. Harmless when repeated."""
        if not self._is_accepting:
            return
        self._is_accepting = False
        if self._queued_count:
            self._drained = self._loop.create_future()
            await self._drained
        self._inbox.put(None)
        await asyncio.to_thread(self._thread.join)

    # in the thread ------------------------------------------------------------------------
    def _run(self, opened: asyncio.Future[None]) -> None:
        error: BaseException | None = None
        try:
            with closing(self._connect()) as connection:
                committer = _Committer(connection, faults=self._faults)
                self._tell(_set_result, opened)
                self._serve(committer)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the caller hears it
            error = raised
        finally:
            self._release()
        if error is not None:
            # Told last, so that the caller may open the store again at once.
            self._tell(_set_error, opened, to_store_error(error))

    def _serve(self, committer: _Committer) -> None:
        groups_since_join = 0
        while (requests := self._next_group(committer)) is not None:
            if requests:
                self._tell(self._settle, committer.commit(requests))
                self._note_commit(sum(request.size_bytes for request in requests))
                groups_since_join += 1
            if not requests or groups_since_join >= _GROUPS_PER_JOIN:
                committer.tidy_up()
                groups_since_join = 0

    def _next_group(self, committer: _Committer) -> list[_Request] | None:
        """Return all that is queued; nothing when there is time to tidy up; None at the end."""
        try:
            group = self._inbox.get(timeout=committer.patience_s)
        except Empty:
            return []
        if group is None:
            return None
        size_bytes = sum(request.size_bytes for request in group)
        while len(group) < _GROUP_COUNT_MAX and size_bytes < _GROUP_BYTES_MAX:
            try:
                more = self._inbox.get_nowait()
            except Empty:
                break
            if more is None:
                self._inbox.put(None)
                break
            group += more
            size_bytes += sum(request.size_bytes for request in more)
        return group

    def _tell(self, callback: Callable[..., None], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            # The event loop was closed over our head; nobody waits any more.
            self._inbox.put(None)


def _set_result(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _set_error(future: asyncio.Future[None], error: BlockwireError) -> None:
    if not future.done():
        future.set_exception(error)


class _Committer:
    """Runs groups of requests, each in one transaction, on the writer's connection."""

    def __init__(self, connection: sqlite3.Connection, *, faults: Faults | None) -> None:
        self._connection = connection
        self._faults = faults
        self._ledger = Ledger(connection, faults=faults)

    @property
    def patience_s(self) -> float | None:
        """How long to wait for requests before there is something else to do."""
        if self._ledger.due or self._ledger.filing.abandoned:
            return 0
        return _TRUNCATE_PAUSE_S if self._ledger.has_deleted else None

    def commit(self, requests: list[_Request]) -> list[_Outcome]:
        """Return what became of each request."""
        outcomes: list[_Outcome] = []
        try:
            self._transact(requests, outcomes)
        except Exception as error:  # noqa: BLE001 - the thread must live, whatever happens
            self._roll_back()
            if len(requests) == 1 or _is_hopeless(error):
                failure = to_store_error(error)
                if not isinstance(error, sqlite3.Error):
                    _log.error("a change could not be committed: %s", type(error).__name__)
                return [(request, None, failure) for request in requests]
            return [outcome for request in requests for outcome in self.commit([request])]
        self._reach("commit.after")
        if self._ledger.has_deleted:
            self._truncate_wal()
        return outcomes

    def _reach(self, point: FaultPoint) -> None:
        if self._faults is not None:
            self._faults.reach(point)

    def _transact(self, requests: list[_Request], outcomes: list[_Outcome]) -> None:
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
        self._reach("commit.before")
        self._connection.execute("COMMIT")

    def _roll_back(self) -> None:
        self._ledger.forget()
        # A full disk may have rolled it back already.
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                _log.error("a transaction could not be rolled back: %s", type(error).__name__)

    def tidy_up(self) -> None:
        """Do a little of what nobody waits for.

        Join rows, remove content that nobody has, empty the WAL of what was deleted.
        """
        due = self._ledger.due
        if due:
            self._join(next(iter(due)))
        elif self._ledger.filing.abandoned:
            self._purge()
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
            self._ledger.filing.purge()
            self._reach("commit.before")
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - the next start finds what is left
            _log.warning("abandoned content stays for now: %s", type(error).__name__)
            self._roll_back()
            self._ledger.filing.abandoned.clear()

    def _truncate_wal(self) -> None:
        """Move everything into the database file and cut the WAL, which holds deleted text."""
        try:
            self._connection.execute(f"PRAGMA busy_timeout = {_TRUNCATE_WAIT_MS}")
            is_busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._ledger.has_deleted = bool(is_busy)
            self._connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        except sqlite3.Error as error:
            _log.warning("the WAL could not be emptied: %s", type(error).__name__)


def _is_hopeless(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and (
        getattr(error, "sqlite_errorcode", 0) & 0xFF in _HOPELESS
    )
