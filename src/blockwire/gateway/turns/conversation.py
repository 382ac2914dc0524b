"""One conversation in memory: what is committed, who waits for it, and the one way to change it.

Spec: docs/spec/gateway/turns.md, "Durable before visible".

Whoever changes a conversation holds its ``lock``, builds a :class:`Batch` on ``committed`` and
commits it. Readers only ever see ``committed``; it moves after the store has said that the batch
is safe, and before anybody hears of it. Above are ``turns``, ``producers`` and ``service``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
import msgspec

from blockwire.content import (
    TURN_TERMINAL_STATUSES,
    ConversationState,
)
from blockwire.errors import BusError, RemoteProtocolError, StoreError
from blockwire.gateway.operations.observer import Observer
from blockwire.gateway.turns.accounts import Accounts
from blockwire.gateway.turns.drafts import Batch
from blockwire.gateway.turns.folding import fold_turn
from blockwire.gateway.turns.live import LiveTurn, turn_row_after
from blockwire.gateway.turns.queue import QueueSpace, TurnQueue
from blockwire.ports import (
    Append,
    Appended,
    Bus,
    Clock,
    Committed,
    ConversationRow,
    Faults,
    Store,
    TurnRow,
)

__all__ = ["Conversation", "LiveTurn", "conversation_not_found"]

_log: Final = logging.getLogger(__name__)

# Refusals of an append by a store that works: nothing was committed and nothing is in doubt.
_REFUSALS: Final[frozenset[str]] = frozenset(
    {
        "conversation_not_found",
        "turn_exists",
        "idempotency_key_exists",
        "epoch_fenced",
        "message_exists",
    }
)


class Conversation:
    """The committed state of one conversation and its turns that are not over.

    Attributes:
        id: Its id.
        lock: Held by whoever changes it, from reading ``committed`` to the end of the commit.
        committed: What readers see; finished messages are in the store alone.
        turns: Turns that are not over, by id.
        unfinished: Ids of turns that the next :meth:`load` looks for in the store.
        queue: Turns that wait until those are over.
        pins: How many tasks use it; it leaves memory only at 0.
        is_loaded: Whether ``row`` and ``committed`` are what the store holds.
        is_gone: It was deleted.
    """

    def __init__(  # noqa: PLR0913 - its ports
        self,
        conversation_id: str,
        *,
        store: Store,
        bus: Bus,
        clock: Clock,
        faults: Faults | None,
        observer: Observer,
        accounts: Accounts,
        queue_space: QueueSpace,
        is_external: Callable[[str], bool],
        ahead_max: int,
    ) -> None:
        self._observer = observer
        self._accounts = accounts
        self.id = conversation_id
        # Taking a free lock need not wait for a turn of the event loop.
        self.lock = anyio.Lock(fast_acquire=True)
        self.committed = ConversationState(conversation_id)
        self.turns: dict[str, LiveTurn] = {}
        self.unfinished: set[str] = set()
        self.queue = TurnQueue(queue_space)
        self.pins = 0
        self.is_loaded = False
        self.is_gone = False
        self._row: ConversationRow | None = None
        self._store = store
        self._bus = bus
        self._clock = clock
        self._faults = faults
        self._is_external = is_external
        self._ahead_max = ahead_max
        self._changed: anyio.Event | None = None

    @property
    def row(self) -> ConversationRow:
        """The row as loaded; its numbers may be behind ``committed``."""
        assert self._row is not None, "loaded before use"
        return self._row

    @row.setter
    def row(self, row: ConversationRow) -> None:
        self._row = row

    @property
    def head_seq(self) -> int:
        """Number of the last committed event."""
        return self.committed.seq

    @property
    def can_leave(self) -> bool:
        """Whether it may be dropped from memory and loaded again later."""
        is_used = self.pins or self.turns or self.unfinished or self.queue
        return not is_used

    # reading ------------------------------------------------------------------------------
    async def wait_changed(self) -> None:
        """Return after the next commit, or when the conversation is gone."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    def _tell_waiters(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    # loading ------------------------------------------------------------------------------
    async def load(self) -> None:
        """Take over what the store holds, turns in ``unfinished`` included. Hold the lock.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
            StoreError: The store cannot be read.
        """
        row = await self._store.load_conversation(self.id)
        if row is None:
            raise conversation_not_found()
        state = ConversationState(self.id, row.head_seq)
        turns: dict[str, LiveTurn] = {}
        over: list[str] = []
        for turn_id in sorted(self.unfinished | self.turns.keys()):
            turn_row = await self._store.load_turn(self.id, turn_id)
            if turn_row is None or turn_row.status in TURN_TERMINAL_STATUSES:
                over.append(turn_id)
                continue
            state = await fold_turn(self._store, state, turn_row, row.head_seq)
            if turn_id not in state.running:
                raise StoreError("store_corrupt", f"turn {turn_id} has no beginning in the log")
            live = self.turns.get(turn_id)
            if live is None:
                live = self.live_turn(turn_row)
                live.is_orphan = turn_row.status == "running" and not live.is_external
            live.row = turn_row
            turns[turn_id] = live
        known, self.turns = self.turns, turns
        self.row, self.committed, self.is_loaded = row, state, True
        self.unfinished.clear()
        for turn_id in over:
            if turn_id in known:
                known[turn_id].ended.set()
        self._tell_waiters()

    def live_turn(self, row: TurnRow) -> LiveTurn:
        """Return the company of a turn that is not over, not known here yet."""
        return LiveTurn(
            row,
            is_external=self._is_external(row.engine),
            heard_s=self._clock.monotonic_s(),
            ahead_max=self._ahead_max,
        )

    # changing -----------------------------------------------------------------------------
    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Hold the lock over a state that is what the store holds.

        Raises:
            RemoteProtocolError: ``conversation_not_found``.
            StoreError: The store cannot be read, and must be first.
        """
        async with self.lock:
            if self.is_gone:
                raise conversation_not_found()
            if not self.is_loaded:
                await self.load()
            yield

    def batch(self) -> Batch:
        """Return an empty batch on what is committed, stamped now. Hold the lock."""
        return Batch(self.committed, self._clock.now_ms())

    async def commit_turn(
        self, batch: Batch, live: LiveTurn, *, producer_seq: int | None = None
    ) -> Appended:
        """Commit events of one turn that is not over yet. Hold the lock.

        Raises:
            StoreError: Nothing became visible; see :meth:`commit`.
        """
        turn = batch.turn(live.row.id)
        assert turn is not None, "only a live turn is committed"
        row = live.row
        # While it goes on as before, only its numbers change; the store fills in ``last_seq``.
        if row.status != "running" or turn.turn_status != "running":
            row = turn_row_after(row, turn)
        if turn.is_terminal:
            row = self._accounts.priced(row)
        row = msgspec.structs.replace(
            row,
            last_seq=0 if batch.drafts else row.last_seq,
            producer_seq=row.producer_seq if producer_seq is None else producer_seq,
        )
        return await self.commit(batch, row=row, expected_epoch=live.row.epoch)

    async def commit(
        self,
        batch: Batch,
        *,
        row: TurnRow | None = None,
        new_turn: LiveTurn | None = None,
        expected_epoch: int | None = None,
    ) -> Appended:
        """Make a batch durable, then visible, then tell of it; in this order. Hold the lock.

        Args:
            batch: Built on ``committed`` under the same lock.
            row: The turn that it changes.
            new_turn: The turn that it starts.
            expected_epoch: Fencing token that the stored turn must have.

        Raises:
            StoreError: The batch is lost, or its fate is unknown: then the conversation is loaded
                anew before the next change.
        """
        change = Append(
            conversation_id=self.id,
            drafts=batch.drafts,
            ts=batch.ts,
            turn=row,
            new_turn=new_turn is not None,
            finished=batch.finished,
            expected_epoch=expected_epoch,
            attachments=tuple(batch.attachments.items()),
            auto_title=self._accounts.title(self.row, (message for message, _ in batch.finished)),
            totals=self._accounts.totals(self.row, row) if row and row.id in batch.ended else {},
        )
        if new_turn is not None:
            self.unfinished.add(new_turn.row.id)
        # Whoever is cancelled meanwhile must still learn what became of the batch.
        began_s, size_bytes = self._observer.start_commit(), 0
        try:
            with anyio.CancelScope(shield=True):
                appended = await self._append(change)
            size_bytes = batch.size_bytes
        finally:
            self._observer.end_commit(began_s, len(batch.drafts) if size_bytes else 0, size_bytes)
        known = None if row is None else self.turns.get(row.id)
        before = None if known is None else known.row.status
        self._accept(batch, appended, new_turn)
        self._note(change)
        self._publish(appended)
        if appended.turn is not None:
            self._accounts.tell(before, appended.turn)
        return appended

    async def _append(self, change: Append) -> Appended:
        try:
            return await self._store.append(change)
        except StoreError as error:
            if error.code not in _REFUSALS:
                self._observer.count_store_error(error.code)
                self.is_loaded = False
            elif change.new_turn and change.turn is not None:
                self.unfinished.discard(change.turn.id)
            raise
        except BaseException:
            # The store may have committed it before this task was torn away.
            self.is_loaded = False
            raise

    def _accept(self, batch: Batch, appended: Appended, new_turn: LiveTurn | None) -> None:
        state = batch.state
        if batch.finished:
            state = state.without_finished()
        seq = appended.entries[-1].seq if appended.entries else self.committed.seq
        self.committed = state.at(seq, self.id)
        row = appended.turn
        if row is not None:
            live = self.turns.get(row.id)
            if live is not None:
                live.size_bytes += batch.size_bytes
            elif new_turn is not None:
                live = self.turns[row.id] = new_turn
                self.unfinished.discard(row.id)
            assert live is not None, "only a live turn is committed"
            live.row = row
            live.heard_s = self._clock.monotonic_s()
        for turn_id in batch.ended:
            ended = self.turns.pop(turn_id)
            self._observer.end_turn(ended.row)
            ended.ended.set()
        self._tell_waiters()

    def _note(self, change: Append) -> None:
        """Keep the row in step with what the store has made of it."""
        if change.auto_title is not None:
            self.row = msgspec.structs.replace(self.row, auto_title=change.auto_title)
        if change.totals:
            totals = {**self.row.totals, **dict.fromkeys(change.totals, 0)}
            self.row = msgspec.structs.replace(self.row, totals=totals)

    def _publish(self, appended: Appended) -> None:
        if not appended.entries:
            return
        if self._faults is not None:
            self._faults.reach("publish.before")
        try:
            self._bus.publish(Committed(self.id, appended.entries))
        except BusError as error:
            # The bus is never the truth: readers find the entries in the log.
            _log.warning("bus: %s", error.code)
        if self._faults is not None:
            self._faults.reach("publish.after")

    def leave(self) -> None:
        """Let everybody go: the conversation was deleted. Hold the lock."""
        self.is_gone = True
        turns, self.turns = self.turns, {}
        self.unfinished.clear()
        for queued in self.queue:
            self.queue.remove(queued, "dropped", conversation_not_found())
        for live in turns.values():
            live.ended.set()
            live.scope.cancel()
        self._tell_waiters()


def conversation_not_found() -> RemoteProtocolError:
    """Return the refusal of an id that is unknown, or that belongs to another tenant."""
    return RemoteProtocolError("conversation_not_found", "no such conversation")
