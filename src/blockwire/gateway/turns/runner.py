"""Running a turn: its engine's events into the log.

Spec: docs/spec/gateway/turns.md; docs/spec/content/endings.md.

One task reads the engine, another commits what has gathered: group commit without a timer. Below is
``endings``: every way in which a turn ends for another reason than its engine.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

import anyio
import msgspec

from blockwire.content import (
    StreamEvent,
)
from blockwire.content.settle import ENGINE_FAILED_MESSAGE, TRUNCATED_MESSAGE
from blockwire.errors import BlockwireError, EngineError, RemoteProtocolError, StoreError
from blockwire.gateway.settings import EngineProfile, GatewaySettings
from blockwire.gateway.turns.answers import AnswerBox
from blockwire.gateway.turns.conversation import Conversation, LiveTurn
from blockwire.gateway.turns.drafts import Batch, whole_block
from blockwire.gateway.turns.endings import Failure, TurnEndings, store_failure
from blockwire.gateway.turns.requests import build_request, history_cut_notice, retried_turns
from blockwire.ports import Clock, Engine, EngineRequest, IdFactory, Store

__all__ = ["Guard", "TurnRunner"]

_log: Final = logging.getLogger(__name__)

Guard = Callable[
    [AsyncGenerator[StreamEvent, None], EngineRequest], AsyncGenerator[StreamEvent, None]
]
"""Makes the stream of an engine end well, whatever the engine does."""

TRUNCATED_CODE: Final = "stream_truncated"
INTERNAL_MESSAGE: Final = "The gateway failed unexpectedly; see its log."
PRODUCER_SILENT_MESSAGE: Final = "The producer of this turn fell silent; what had arrived is kept."


class TurnRunner(TurnEndings):
    """Runs and ends turns; knows no route and no tenant.

    Args:
        store: Where requests are built from.
        clock: Measures silence.
        ids: Makes ids of closing blocks.
        guard: Wraps every engine's stream.
        settings: Bounds.

    Attributes:
        guard: As given; what runs keeps the one that it began with.
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
        super().__init__(ids=ids, settings=settings)
        self._store = store
        self._clock = clock
        self.guard = guard

    # running ------------------------------------------------------------------------------
    async def run(
        self, conversation: Conversation, live: LiveTurn, engine: Engine, profile: EngineProfile
    ) -> None:
        """Run a started turn to its end, or until it waits for a person and its engine left.

        Never raises: a failure of any kind ends the turn.
        """
        with live.scope:
            failure: Failure | None = None
            try:
                failure = await self._run(conversation, live, engine, profile)
            except StoreError as error:
                failure = store_failure(error)
            except Exception as error:  # noqa: BLE001 - one turn must not end all others
                _log.error("turn %s: %s", live.row.id, type(error).__name__)
                failure = Failure("internal_error", INTERNAL_MESSAGE, None)
            if failure is not None:
                await self.end_failed(conversation, live, failure)

    async def _run(
        self, conversation: Conversation, live: LiveTurn, engine: Engine, profile: EngineProfile
    ) -> Failure | None:
        built = await build_request(
            self._store,
            conversation.row,
            live.row,
            system=profile.system,
            bytes_max=self._settings.request_bytes_max,
            without=await retried_turns(self._store, live.row),
        )
        if built.is_cut:
            notice = history_cut_notice(self._ids.new_id("block"))
            for event in whole_block(live.row.id, notice):
                await live.inbox.put(event)
        request = built.request
        if profile.takes_answers:
            live.answers = AnswerBox()
            request = msgspec.structs.replace(request, answers=live.answers)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_engine, live, engine, request)
            failure = await self._commit_inbox(conversation, live)
            tasks.cancel_scope.cancel()
        return failure

    async def _read_engine(self, live: LiveTurn, engine: Engine, request: EngineRequest) -> None:
        """Move the engine's events into the inbox, and close it with what went wrong."""
        failure: tuple[str, str] | None = None
        try:
            async with aclosing(self.guard(engine.run(request), request)) as events:
                async for event in events:
                    await live.inbox.put(event)
        except EngineError as error:
            failure = (error.code, error.detail)
        except Exception as error:  # noqa: BLE001 - an engine is code of somebody else
            _log.error("engine %s: %s", request.engine, type(error).__name__)
            failure = ("engine_failed", ENGINE_FAILED_MESSAGE)
        finally:
            live.inbox.close(failure)

    async def _commit_inbox(self, conversation: Conversation, live: LiveTurn) -> Failure | None:
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
                return store_failure(error)
            except RemoteProtocolError:
                # The conversation was deleted; nobody is left to tell.
                break
        return None

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
