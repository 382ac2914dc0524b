"""The one thread that writes: group commit without a timer.

Spec: docs/spec/gateway/persistence.md, "Durable before visible".

The writer takes whatever is queued, commits it in one transaction, tells all who wait with one call
into the event loop, and starts again. So a lone append is committed at once, and a thousand at the
same time share one sync of the disk. What nobody waits for is done in between
(:mod:`~blockwire.stores.sqlite.committer`).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from blockwire.errors import BlockwireError, StoreError
from blockwire.ports import Append, Appended, Faults
from blockwire.stores.sqlite.committer import Committer, Outcome, Request
from blockwire.stores.sqlite.errors import to_store_error
from blockwire.stores.sqlite.ledger import Ledger

__all__ = ["Writer"]

_T = TypeVar("_T")

# What the thread has been given and has not committed; whoever comes later waits in order.
_QUEUED_COUNT_MAX: Final = 4096
_QUEUED_BYTES_MAX: Final = 64 * 1024 * 1024

# Beyond these a transaction takes nothing more in.
_GROUP_COUNT_MAX: Final = 4096
_GROUP_BYTES_MAX: Final = 16 * 1024 * 1024

# While there is always more to commit, a chore and joining get one turn in so many.
_GROUPS_PER_TIDY: Final = 64

# What the checkpointer is told of a chore: about what one writes.
_CHORE_BYTES: Final = 128 * 1024


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
        self._inbox: SimpleQueue[list[Request] | None] = SimpleQueue()
        self._outbox: list[Request] = []
        self._waiting: deque[Request] = deque()
        # Appended to in the event loop, taken from in the thread.
        self._chores: deque[tuple[Callable[[Ledger], Any], asyncio.Future[Any]]] = deque()
        self._open_chores: set[asyncio.Future[Any]] = set()
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

    def do_chore(self, work: Callable[[Ledger], _T]) -> asyncio.Future[_T]:
        """Have ``work`` done in a transaction of its own, when nobody waits for a commit."""
        self._check_accepting()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._open_chores.add(future)
        future.add_done_callback(self._open_chores.discard)
        self._chores.append((work, future))
        self._inbox.put([])
        return future

    def _check_accepting(self) -> None:
        if not self._is_accepting:
            raise StoreError("store_closed", "the store is not open")

    def _submit(
        self, work: Append | Callable[[Ledger], Any], size_bytes: int
    ) -> asyncio.Future[Any]:
        self._check_accepting()
        future: asyncio.Future[Any] = self._loop.create_future()
        request = Request(work, size_bytes, future)
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

    def _queue(self, request: Request) -> None:
        self._queued_count += 1
        self._queued_bytes += request.size_bytes
        self._outbox.append(request)
        if len(self._outbox) == 1:
            # All that is submitted in this turn of the event loop goes over together.
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        outbox, self._outbox = self._outbox, []
        self._inbox.put(outbox)

    def _settle(self, outcomes: list[Outcome]) -> None:
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
        for future in list(self._open_chores):
            _set_error(future, StoreError("store_closed", "the store was closed"))

    # in the thread ------------------------------------------------------------------------
    def _run(self, opened: asyncio.Future[None]) -> None:
        error: BaseException | None = None
        try:
            with closing(self._connect()) as connection:
                committer = Committer(connection, faults=self._faults)
                self._tell(_set_result, opened, None)
                self._serve(committer)
        except Exception as raised:  # noqa: BLE001 - whatever it is, the caller hears it
            error = raised
        finally:
            self._release()
        if error is not None:
            # Told last, so that the caller may open the store again at once.
            self._tell(_set_error, opened, to_store_error(error))

    def _serve(self, committer: Committer) -> None:
        groups_since_tidy = 0
        while (requests := self._next_group(committer)) is not None:
            if requests:
                self._tell(self._settle, committer.commit(requests))
                self._note_commit(sum(request.size_bytes for request in requests))
                groups_since_tidy += 1
            if not requests or groups_since_tidy >= _GROUPS_PER_TIDY:
                self._do_chore(committer)
                committer.tidy_up()
                groups_since_tidy = 0

    def _do_chore(self, committer: Committer) -> None:
        if not self._chores:
            return
        work, future = self._chores.popleft()
        if future.cancelled():
            return
        result, error = committer.do_chore(work)
        if error is None:
            self._note_commit(_CHORE_BYTES)
            self._tell(_set_result, future, result)
        else:
            self._tell(_set_error, future, error)

    def _next_group(self, committer: Committer) -> list[Request] | None:
        """Return all that is queued; nothing when there is time to tidy up; None at the end."""
        try:
            group = self._inbox.get(timeout=0 if self._chores else committer.patience_s)
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


def _set_result(future: asyncio.Future[_T], result: _T) -> None:
    if not future.done():
        future.set_result(result)


def _set_error(future: asyncio.Future[Any], error: BlockwireError) -> None:
    if not future.done():
        future.set_exception(error)
