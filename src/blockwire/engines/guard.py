"""The guard: whatever an engine does, its turn ends well.

Spec: docs/spec/gateway/engines.md, "The guard". Below is ``keeper``, which decides what an event
may do; here is only time: a deadline, an idle deadline, and the engine that is asked for more.

The consumer cancels its task, or closes the generator, to stop the work; the engine is closed in
either case. What a cancelled turn then says is the consumer's to write.
"""

from __future__ import annotations

import logging
import math
import traceback
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Final

import anyio

from blockwire.content import StreamEvent
from blockwire.content.settle import ENGINE_FAILED_MESSAGE, TRUNCATED_MESSAGE
from blockwire.engines.failures import ProviderError, find_engine_error
from blockwire.engines.keeper import TurnKeeper, TurnLimits
from blockwire.errors import EngineError
from blockwire.ports import Answer, Clock, EngineRequest, IdFactory

__all__ = ["guard"]

# An engine that is told to stop gets this long to let go of processes and connections.
CLOSE_S: Final = 15.0

_log: Final = logging.getLogger(__name__)


async def guard(  # noqa: PLR0913 - the ports of one turn
    events: AsyncGenerator[StreamEvent, None],
    request: EngineRequest,
    *,
    ids: IdFactory,
    clock: Clock,
    limits: TurnLimits,
    redact: Callable[[str], str],
    timer: Callable[[float], anyio.CancelScope] = anyio.move_on_after,
) -> AsyncGenerator[StreamEvent, None]:
    """Yield valid events, open blocks settled before the end, exactly one terminal event last.

    Args:
        events: What ``Engine.run`` returned. Closed when this generator ends.
        request: The turn.
        ids: Makes the id of the error block.
        clock: Says when a deadline is over.
        limits: Bounds of time and size.
        redact: Returns a text without credentials.
        timer: Returns a scope that is cancelled after so many seconds.
    """
    keeper = TurnKeeper(request.turn_id, new_id=ids.new_id, limits=limits, redact=redact)
    watch = _Watch(
        events=events,
        request=request,
        keeper=keeper,
        clock=clock,
        limits=limits,
        redact=redact,
        timer=timer,
        deadline_s=clock.monotonic_s() + limits.deadline_s,
    )
    if request.answers is not None:
        request.answers.listen(watch.hear)
    try:
        while not keeper.is_over:
            for event in await watch.step():
                yield event
    finally:
        await watch.close()


@dataclass(slots=True, kw_only=True)
class _Watch:
    """Asks the engine for one event at a time and never waits longer than allowed.

    A scope is entered and left between two events: a generator must not keep one open over a
    ``yield``.
    """

    events: AsyncGenerator[StreamEvent, None]
    request: EngineRequest
    keeper: TurnKeeper
    clock: Clock
    limits: TurnLimits
    redact: Callable[[str], str]
    timer: Callable[[float], anyio.CancelScope]
    deadline_s: float
    is_idle_first: bool = False
    # Since when the turn waits for a person, and the scope of that wait.
    paused_at_s: float | None = None
    pause: anyio.CancelScope | None = None

    async def step(self) -> list[StreamEvent]:
        """Return what the engine's next event becomes, or the end of the turn."""
        try:
            if self.keeper.is_suspended:
                return await self._wait_for_person()
            return await self._wait_in_time()
        except StopAsyncIteration:
            return self.keeper.fail(
                "stream_truncated",
                TRUNCATED_MESSAGE,
                retryable=True,
                reason="truncated",
            )
        except Exception as error:  # noqa: BLE001 - an engine is code of somebody else
            return self._fail_with(error)

    async def _wait_for_person(self) -> list[StreamEvent]:
        """Wait without a limit for the person, and within the usual ones from the answer on."""
        self.paused_at_s = self.clock.monotonic_s()
        with self.timer(math.inf) as pause:
            self.pause = pause
            try:
                return self.keeper.receive(await anext(self.events))
            finally:
                self.pause = None
                self._end_pause()
        return self._too_late()

    def hear(self, _answer: Answer) -> None:
        """Note that the turn goes on: from now on its time counts again."""
        self.keeper.resume()
        self._end_pause()
        if self.pause is not None:
            self.pause.deadline = anyio.current_time() + self._limit_s()

    def _end_pause(self) -> None:
        if self.paused_at_s is not None:
            self.deadline_s += self.clock.monotonic_s() - self.paused_at_s
            self.paused_at_s = None

    def _limit_s(self) -> float:
        """Return how long the engine may take for its next event, and note which limit that is."""
        left_s = self.deadline_s - self.clock.monotonic_s()
        self.is_idle_first = self.limits.idle_s < left_s
        return max(self.limits.idle_s if self.is_idle_first else left_s, 0.0)

    async def _wait_in_time(self) -> list[StreamEvent]:
        limit_s = self._limit_s()
        if limit_s > 0:
            with self.timer(limit_s):
                return self.keeper.receive(await anext(self.events))
        return self._too_late()

    def _too_late(self) -> list[StreamEvent]:
        if self.is_idle_first:
            return self.keeper.fail(
                "engine_idle",
                f"The engine said nothing for {self.limits.idle_s:g} seconds.",
                retryable=True,
                reason="idle",
            )
        return self.keeper.fail(
            "turn_deadline_exceeded",
            f"The turn took longer than {self.limits.deadline_s:g} seconds.",
            retryable=True,
            reason="deadline",
        )

    def _fail_with(self, error: Exception) -> list[StreamEvent]:
        known = find_engine_error(error)
        if known is None:
            self._log_failure(error)
            known = EngineError("engine_failed", ENGINE_FAILED_MESSAGE)
        retry_after_s = known.retry_after_s if isinstance(known, ProviderError) else None
        return self.keeper.fail(
            known.code, known.detail, retryable=known.retryable, retry_after_s=retry_after_s
        )

    def _log_failure(self, error: BaseException) -> None:
        # The text of an exception may quote a request, key included.
        text = self.redact("".join(traceback.format_exception(error)))
        _log.error("engine %s, turn %s: %s", self.request.engine, self.request.turn_id, text)

    async def close(self) -> None:
        """Let the engine stop what it still does, within bounds, also when we are cancelled."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            try:
                await self.events.aclose()
            except Exception as error:  # noqa: BLE001 - the turn has ended; this only concerns us
                self._log_failure(error)
