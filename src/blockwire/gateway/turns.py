"""Running a turn: its engine's events into the log, and every way in which it may end.

Spec: docs/spec/gateway/turns.md; docs/spec/content/endings.md.

One task reads the engine, another commits what has gathered: group commit without a timer. Who
ends a turn for another reason (cancel, stop, deletion) commits the end first and cancels the
tasks then; whatever they still have to say is refused because the turn is over.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Final, NamedTuple

import anyio

from blockwire.content import (
    Block,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    end_turn,
    interrupt_turn,
)
from blockwire.content.settle import ENGINE_FAILED_MESSAGE, TRUNCATED_MESSAGE
from blockwire.content.vocabulary import TerminalStatus
from blockwire.errors import BlockwireError, EngineError, RemoteProtocolError, StoreError
from blockwire.gateway.bodies import ResumeBody
from blockwire.gateway.conversation import Conversation, LiveTurn
from blockwire.gateway.drafts import Batch, closing_block, whole_block
from blockwire.gateway.requests import build_request, history_cut_notice
from blockwire.gateway.settings import EngineProfile, GatewaySettings
from blockwire.ports import Clock, Engine, EngineRequest, IdFactory, Store

__all__ = ["Guard", "TurnRunner"]

_log: Final = logging.getLogger(__name__)

Guard = Callable[
    [AsyncGenerator[StreamEvent, None], EngineRequest], AsyncGenerator[StreamEvent, None]
]
"""Makes the stream of an engine end well, whatever the engine does."""

CANCELLED_MESSAGE: Final = "Stopped by user."
STORE_FAILED_MESSAGE: Final = "The rest of the answer could not be stored; what was stored is kept."
TRUNCATED_CODE: Final = "stream_truncated"
INTERNAL_MESSAGE: Final = "The gateway failed unexpectedly; see its log."
PRODUCER_SILENT_MESSAGE: Final = "The producer of this turn fell silent; what had arrived is kept."
RESUME_UNAVAILABLE_MESSAGE: Final = (
    "The engine kept nothing with which it could go on after the answer."
)


class _Failure(NamedTuple):
    """Why a turn must end although its engine goes on."""

    code: str
    message: str
    reason: str | None


def _store_failure(error: StoreError) -> _Failure:
    return _Failure(error.code, STORE_FAILED_MESSAGE, "store")


class TurnRunner:
    """Runs and ends turns; knows no route and no tenant.

    Args:
        store: Where requests are built from.
        clock: Measures silence.
        ids: Makes ids of closing blocks.
        guard: Wraps every engine's stream.
        settings: Bounds.
    """

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        ids: IdFactory,
        guard: Guard,
        settings: GatewaySettings,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._guard = guard
        self._settings = settings

    # running ------------------------------------------------------------------------------
    async def run(
        self, conversation: Conversation, live: LiveTurn, engine: Engine, profile: EngineProfile
    ) -> None:
        """Run a started turn to its end, or until it waits for a person and its engine left.

        Never raises: a failure of any kind ends the turn.
        """
        with live.scope:
            failure: _Failure | None = None
            try:
                failure = await self._run(conversation, live, engine, profile)
            except StoreError as error:
                failure = _store_failure(error)
            except Exception as error:  # noqa: BLE001 - one turn must not end all others
                _log.error("turn %s: %s", live.row.id, type(error).__name__)
                failure = _Failure("internal_error", INTERNAL_MESSAGE, None)
            if failure is not None:
                await self._end_failed(conversation, live, failure)

    async def _run(
        self, conversation: Conversation, live: LiveTurn, engine: Engine, profile: EngineProfile
    ) -> _Failure | None:
        built = await build_request(
            self._store,
            conversation.row,
            live.row,
            system=profile.system,
            bytes_max=self._settings.request_bytes_max,
        )
        if built.is_cut:
            notice = history_cut_notice(self._ids.new_id("block"))
            for event in whole_block(live.row.id, notice):
                await live.inbox.put(event)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_engine, live, engine, built.request)
            failure = await self._commit_inbox(conversation, live)
            tasks.cancel_scope.cancel()
        return failure

    async def _read_engine(self, live: LiveTurn, engine: Engine, request: EngineRequest) -> None:
        """Move the engine's events into the inbox, and close it with what went wrong."""
        failure: tuple[str, str] | None = None
        try:
            async with aclosing(self._guard(engine.run(request), request)) as events:
                async for event in events:
                    await live.inbox.put(event)
        except EngineError as error:
            failure = (error.code, error.detail)
        except Exception as error:  # noqa: BLE001 - an engine is code of somebody else
            _log.error("engine %s: %s", request.engine, type(error).__name__)
            failure = ("engine_failed", ENGINE_FAILED_MESSAGE)
        finally:
            live.inbox.close(failure)

    async def _commit_inbox(self, conversation: Conversation, live: LiveTurn) -> _Failure | None:
        """Commit until the turn is over; return why its answer could not be stored."""
        while not live.ended.is_set():
            await live.inbox.wait()
            try:
                async with conversation.changing():
                    if live.ended.is_set():
                        break
                    batch = conversation.batch()
                    self.take_inbox(batch, live)
                    is_waiting = self._add_ending(batch, live)
                    if batch.drafts:
                        await conversation.commit_turn(batch, live)
                    if is_waiting:
                        break
            except StoreError as error:
                return _store_failure(error)
            except RemoteProtocolError:
                # The conversation was deleted; nobody is left to tell.
                break
        return None

    def take_inbox(self, batch: Batch, live: LiveTurn) -> None:
        """Add what the engine has said so far; end the turn at the first thing it may not say."""
        for event in live.inbox.drain():
            if batch.ended:
                return
            try:
                if isinstance(event, TurnStarted):
                    continue
                if isinstance(event, TurnEnded):
                    batch.add_end(event, self._ids.new_id("block"))
                else:
                    batch.add(event)
            except RemoteProtocolError as error:
                _log.warning("engine %s: refused event: %s", live.row.engine, error.code)
                self.add_failed(
                    batch,
                    live,
                    "engine_protocol_error",
                    f"The engine sent an event that is not allowed here ({error.code}).",
                )

    def _add_ending(self, batch: Batch, live: LiveTurn) -> bool:
        """End a turn whose engine left it open; return whether it waits for a person instead."""
        if not live.inbox.is_closed or batch.ended:
            return False
        code, message = live.inbox.failure or (TRUNCATED_CODE, TRUNCATED_MESSAGE)
        turn = batch.turn(live.row.id)
        if turn is not None and turn.status == "suspended" and live.inbox.failure is None:
            return True
        is_cut = live.inbox.failure is None
        self.add_failed(
            batch, live, code, message, retryable=is_cut, reason="truncated" if is_cut else None
        )
        return False

    # ending -------------------------------------------------------------------------------
    def add_failed(  # noqa: PLR0913 - the members of an error block
        self,
        batch: Batch,
        live: LiveTurn,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        reason: str | None = None,
    ) -> None:
        """Add the events that end a turn as failed; none when it is over already."""
        error = closing_block(self._ids.new_id("block"), code, message, retryable=retryable)
        self._add_end(batch, live, "failed", error, reason)

    def _add_end(
        self,
        batch: Batch,
        live: LiveTurn,
        status: TerminalStatus,
        block: Block,
        reason: str | None = None,
    ) -> None:
        turn = batch.turn(live.row.id)
        if turn is None or turn.is_terminal:
            return
        for event in end_turn(turn, status, block=block, reason=reason):
            batch.add(event)

    async def end(
        self, conversation: Conversation, live: LiveTurn, add_end: Callable[[Batch], None]
    ) -> bool:
        """Commit what the engine has said and then an end; return False when it was over before.

        The tasks of the turn are told to stop once the end is committed.

        Raises:
            StoreError: Nothing changed.
            RemoteProtocolError: ``conversation_not_found``.
        """
        async with conversation.changing():
            if live.ended.is_set():
                return False
            batch = conversation.batch()
            self.take_inbox(batch, live)
            was_over = bool(batch.ended)
            if not was_over:
                add_end(batch)
            await conversation.commit_turn(batch, live)
        live.scope.cancel()
        return not was_over

    async def cancel(self, conversation: Conversation, live: LiveTurn) -> bool:
        """End a turn as cancelled, with its notice; return False when it was over before."""

        def add_end(batch: Batch) -> None:
            notice = closing_block(
                self._ids.new_id("block"), "turn_cancelled", CANCELLED_MESSAGE, retryable=None
            )
            self._add_end(batch, live, "cancelled", notice)

        return await self.end(conversation, live, add_end)

    async def interrupt(self, conversation: Conversation, live: LiveTurn) -> bool:
        """End a turn as interrupted; return False when it was over before."""

        def add_end(batch: Batch) -> None:
            turn = batch.turn(live.row.id)
            assert turn is not None, "only a live turn is interrupted"
            for event in interrupt_turn(turn, self._ids.new_id("block")):
                batch.add(event)

        return await self.end(conversation, live, add_end)

    async def resume(self, conversation: Conversation, live: LiveTurn, body: ResumeBody) -> None:
        """Give a suspended turn its answer; the first one wins.

        An outside producer reads the answer in ``turn.resumed``. An engine that has nothing to go
        on with ends its turn with ``resume_unavailable``.

        Raises:
            RemoteProtocolError: ``turn_terminal``, ``turn_not_suspended``, ``request_mismatch``.
            StoreError: Nothing changed.
        """
        async with conversation.changing():
            turn = conversation.committed.running.get(live.row.id)
            if turn is None:
                raise RemoteProtocolError("turn_terminal", "the turn is over")
            if turn.status != "suspended":
                raise RemoteProtocolError("turn_not_suspended", "the turn waits for no answer")
            if turn.request is None or turn.request.get("id") != body.request_id:
                raise RemoteProtocolError(
                    "request_mismatch", "the turn waits for another answer", pointer="/request_id"
                )
            batch = conversation.batch()
            if live.is_external:
                answer = {"request_id": body.request_id, "answer": body.answer}
                batch.add(TurnResumed(live.row.id, extra=answer))
            else:
                self.add_failed(
                    batch, live, "resume_unavailable", RESUME_UNAVAILABLE_MESSAGE, retryable=True
                )
            await conversation.commit_turn(batch, live)
        if not live.is_external:
            live.scope.cancel()

    # when the store fails -----------------------------------------------------------------
    async def _end_failed(
        self, conversation: Conversation, live: LiveTurn, failure: _Failure
    ) -> None:
        """Store the end of a turn whose answer could not be stored, as soon as that works."""
        for pause_s in self._pauses():
            if await self._try_end_failed(conversation, live, failure):
                return
            await anyio.sleep(pause_s)
        # The next request for the conversation tries again; a restart would interrupt the turn.
        live.is_orphan = True
        _log.error("turn %s: its end could not be stored: %s", live.row.id, failure.code)

    def _pauses(self) -> Iterator[float]:
        pause_s = self._settings.store_retry_first_s
        for _ in range(self._settings.store_retries_max):
            yield pause_s
            pause_s = min(pause_s * 2, self._settings.store_retry_pause_s_max)

    async def _try_end_failed(
        self, conversation: Conversation, live: LiveTurn, failure: _Failure
    ) -> bool:
        try:
            async with conversation.changing():
                if live.ended.is_set():
                    return True
                # What the engine said meanwhile came after words that are lost: a gap no reader
                # should be shown as an answer.
                live.inbox.drain()
                batch = conversation.batch()
                self.add_failed(
                    batch,
                    live,
                    failure.code,
                    failure.message,
                    retryable=True,
                    reason=failure.reason,
                )
                await conversation.commit_turn(batch, live)
        except StoreError as error:
            _log.warning("turn %s: store: %s", live.row.id, error.code)
            return False
        except RemoteProtocolError:
            return True
        return True

    async def settle_orphans(self, conversation: Conversation) -> None:
        """Try once more to end turns that nobody works for; a store that fails changes nothing."""
        for live in list(conversation.turns.values()):
            if live.is_orphan:
                try:
                    await self.interrupt(conversation, live)
                except StoreError as error:
                    _log.warning("turn %s: store: %s", live.row.id, error.code)

    # outside producers --------------------------------------------------------------------
    async def watch_external(self, conversation: Conversation, live: LiveTurn) -> None:
        """End a turn whose outside producer is silent for too long; never raises."""
        with live.scope:
            while not live.ended.is_set():
                left_s = live.heard_s + self._settings.external_idle_s - self._clock.monotonic_s()
                if left_s > 0 or live.row.status == "suspended":
                    with anyio.move_on_after(max(left_s, self._settings.external_idle_s / 8)):
                        await live.ended.wait()
                    continue
                await self._end_silent(conversation, live)

    async def _end_silent(self, conversation: Conversation, live: LiveTurn) -> None:
        def add_end(batch: Batch) -> None:
            self.add_failed(
                batch,
                live,
                "producer_silent",
                PRODUCER_SILENT_MESSAGE,
                retryable=True,
                reason="idle",
            )

        try:
            await self.end(conversation, live, add_end)
        except BlockwireError as error:
            _log.warning("turn %s: %s", live.row.id, error.code)
            await anyio.sleep(self._settings.store_retry_pause_s_max)
