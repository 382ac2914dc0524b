"""Submitting turns: at once where the conversation is free, else in line.

Spec: docs/spec/gateway/turns.md, "Submit", "The queue". Below are ``submits`` (what is asked for) and
``queue`` (who waits); here a turn is started, by its submit or by the task that moves the line on.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import Final, NamedTuple, cast

import anyio
import anyio.abc

from blockwire.content import TURN_TERMINAL_STATUSES, Block
from blockwire.errors import BlockwireError, LocalProtocolError, RemoteProtocolError, StoreError
from blockwire.gateway import reading
from blockwire.gateway.access.limits import LimitError
from blockwire.gateway.attachments import AttachmentMethods
from blockwire.gateway.shapes import turn_shape
from blockwire.gateway.turns.conversation import Conversation, LiveTurn
from blockwire.gateway.turns.queue import (
    QueuedTurn,
    dequeued_notice,
    queued_notice,
    queued_shape,
)
from blockwire.gateway.turns.submits import (
    Submission,
    check_condition,
    check_same_body,
    choose_engine,
    find_engine,
    find_repeat,
    new_queued,
    read_retry,
    read_submission,
    start_turn,
)
from blockwire.jsontext import Json
from blockwire.ports import Engine
from blockwire.ports.tracing import CURRENT_TRACEPARENT

__all__ = ["QueueMethods", "SubmitResult"]

_log: Final = logging.getLogger(__name__)

LOOK_S: Final = 5.0
"""Between two looks for a turn before the line whose end could not be stored."""


class SubmitResult(NamedTuple):
    """What a submit led to.

    Attributes:
        turn: Its shape.
        is_new: False when the same submit had started it, or waits, already.
        epoch: Fencing token for an outside producer (``Blockwire-Epoch``).
    """

    turn: dict[str, Json]
    is_new: bool
    epoch: int


class QueueMethods(AttachmentMethods):
    """The part of :class:`~blockwire.gateway.service.GatewayService` that begins turns."""

    async def submit_turn(
        self,
        conversation_id: str,
        body: Json,
        *,
        idempotency_key: str | None,
        tenant: str | None,
    ) -> SubmitResult:
        """Start a turn or put it in line, or return the one that the same submit led to before.

        Args:
            conversation_id: Where it belongs.
            body: ``{content, engine?, model?, options?, if_last_turn?}``.
            idempotency_key: With the same body it names the same turn for as long as that exists.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``conversation_not_found``, ``idempotency_key_reused``,
                ``last_turn_mismatch``, ``engine_not_found``, ``limit_exceeded``, ``queue_full``,
                ``turns_in_flight_exceeded`` and the codes of
                :func:`~blockwire.gateway.bodies.read_submit_body`.
            StoreError: With the same key the same submit may be tried again.
        """
        tasks = self._running_tasks()
        submission = read_submission(
            body,
            key=idempotency_key,
            ids=self._ids,
            bytes_max=self.settings.body_bytes_max,
            extract=self.extract_message,
        )
        async with self._registry.using(conversation_id, tenant) as conversation:
            return await self._submit(tasks, conversation, submission)

    async def retry_turn(
        self,
        conversation_id: str,
        turn_id: str,
        body: Json,
        *,
        idempotency_key: str | None,
        tenant: str | None,
    ) -> SubmitResult:
        """Ask the question of a turn that is over once more, as a new turn.

        Args:
            conversation_id: Where it belongs.
            turn_id: Which turn.
            body: ``{engine?, model?, options?, if_last_turn?}``; what is not said stays as it was.
            idempotency_key: As of :meth:`submit_turn`.
            tenant: Whose conversation it must be.

        Raises:
            RemoteProtocolError: ``turn_not_found``, ``turn_not_over`` and the codes of
                :meth:`submit_turn`.
            StoreError: With the same key the same retry may be tried again.
        """
        tasks = self._running_tasks()
        async with self._registry.using(conversation_id, tenant) as conversation:
            row = None
            if conversation.queue.find(turn_id) is None:
                row = await reading.load_turn_row(self.store, conversation, turn_id)
            if row is None or row.status not in TURN_TERMINAL_STATUSES:
                raise turn_not_over()
            question = await self.store.load_message(conversation_id, row.request_message_id)
            if question is None:
                raise reading.turn_not_found()
            content = cast("list[Block]", question.message["content"])
            submission = read_retry(body, of=row, content=content, key=idempotency_key)
            return await self._submit(tasks, conversation, submission)

    async def _submit(
        self, tasks: anyio.abc.TaskGroup, conversation: Conversation, submission: Submission
    ) -> SubmitResult:
        await self._runner.settle_orphans(conversation)
        async with conversation.changing():
            row = await find_repeat(self.store, conversation, submission)
            queued = conversation.queue.find_key(submission.key)
            is_new = row is None and queued is None
            if queued is not None:
                check_same_body(submission, queued.submission.digest)
            elif row is None:
                engine = choose_engine(submission, self._profiles, self._engine_default)
                await check_condition(self.store, conversation, submission)
                # A submit may have begun before the gateway was told to stop.
                self._running_tasks()
                await self.store_inline(conversation.id, submission.files)
                submission = submission._replace(files=())
                turn = new_queued(submission, engine, self._ids, self._clock.now_ms())
                if conversation.turns or conversation.queue:
                    self._enqueue(tasks, conversation, turn)
                    queued = turn
                else:
                    row = (await self._start(tasks, conversation, turn)).row
        self._reach("acknowledge.before")
        if row is not None:
            return SubmitResult(turn_shape(row), is_new, row.epoch)
        assert queued is not None, "it started or it waits"
        return SubmitResult(self._queued_shape(conversation, queued), is_new, 1)

    # starting -----------------------------------------------------------------------------
    async def _start(
        self, tasks: anyio.abc.TaskGroup, conversation: Conversation, turn: QueuedTurn
    ) -> LiveTurn:
        self._flight.take()
        return await self._start_in_place(tasks, conversation, turn)

    async def _start_in_place(
        self, tasks: anyio.abc.TaskGroup, conversation: Conversation, turn: QueuedTurn
    ) -> LiveTurn:
        """Start a turn that has a place, which is given back when it does not start."""
        # The engines may be others than those it was submitted to.
        name = turn.engine.name
        holding = ExitStack()
        holding.callback(self._flight.release)
        try:
            turn.engine = find_engine(name, self._profiles)
            engine = None if turn.engine.profile.is_external else self._engines.get(name)
            if engine is not None:
                holding.enter_context(self._engine_use.hold(engine))
            live = await start_turn(conversation, turn)
        except BaseException:
            holding.close()
            raise
        tasks.start_soon(self._run, conversation, live, turn, engine, holding)
        return live

    async def _run(
        self,
        conversation: Conversation,
        live: LiveTurn,
        turn: QueuedTurn,
        engine: Engine | None,
        holding: ExitStack,
    ) -> None:
        # Whoever moves a line on works for no request.
        CURRENT_TRACEPARENT.set(turn.traceparent)
        with (
            holding,
            self._registry.holding(conversation),
            self.observer.tracing.turn(live.row),
        ):
            if engine is None:
                await self._runner.watch_external(conversation, live)
            else:
                await self._runner.run(conversation, live, engine, turn.engine.profile)

    # waiting ------------------------------------------------------------------------------
    def _queued_shape(self, conversation: Conversation, turn: QueuedTurn) -> dict[str, Json]:
        """Return a turn that waits, or that has just left the line, as routes answer with it."""
        if conversation.queue.find(turn.turn_id) is None:
            return queued_shape(conversation.id, turn, None)
        return queued_shape(conversation.id, turn, conversation.queue.position(turn))

    def _enqueue(
        self, tasks: anyio.abc.TaskGroup, conversation: Conversation, turn: QueuedTurn
    ) -> None:
        queue, settings = conversation.queue, self.settings
        if len(queue) >= settings.queue_max:
            raise LimitError("queue_full", f"{len(queue)} turns wait for this conversation")
        size_bytes = self._queue_space.size_bytes + turn.submission.size_bytes
        if size_bytes > settings.queue_bytes_max:
            raise LimitError("queue_full", "too many turns wait for their conversations")
        queue.add(turn)
        self.bus.publish(queued_notice(conversation.id, turn, queue.position(turn)))
        if not queue.is_moving:
            queue.is_moving = True
            tasks.start_soon(self._move_line, conversation)

    def _tell_line(self, conversation: Conversation, left: int = 1) -> None:
        """Tell live readers where those stand now that were behind the place ``left``."""
        for position, turn in enumerate(conversation.queue, 1):
            if position >= left:
                self.bus.publish(queued_notice(conversation.id, turn, position))

    def _leave_line(
        self, conversation: Conversation, turn: QueuedTurn, error: BlockwireError
    ) -> None:
        """Take the first turn, which cannot start, out of the line; nothing of it is stored."""
        if conversation.queue.find(turn.turn_id) is None:
            return
        conversation.queue.remove(turn, "dropped", error)
        self.bus.publish(dequeued_notice(conversation.id, turn, error.code))
        self._tell_line(conversation)

    async def _move_line(self, conversation: Conversation) -> None:
        """Start the turns of a line one after the other, each when its conversation is free."""
        queue = conversation.queue
        pause_s = self.settings.store_retry_first_s
        try:
            with self._registry.holding(conversation):
                while queue:
                    await self._runner.settle_orphans(conversation)
                    live = next(iter(conversation.turns.values()), None)
                    if live is not None:
                        with anyio.move_on_after(LOOK_S):
                            await live.ended.wait()
                    elif await self._start_first(conversation):
                        pause_s = self.settings.store_retry_first_s
                    else:
                        await anyio.sleep(pause_s)
                        pause_s = min(pause_s * 2, self.settings.store_retry_pause_s_max)
        finally:
            queue.is_moving = False

    async def _start_first(self, conversation: Conversation) -> bool:
        """Start the first turn of the line, or drop it; return False while the store fails."""
        await self._flight.wait()
        has_place = True
        turn = conversation.queue.first
        try:
            tasks = self._running_tasks()
            async with conversation.changing():
                turn = conversation.queue.first
                if turn is not None and await self._has_started(conversation, turn):
                    conversation.queue.remove(turn, "started")
                elif turn is not None and not conversation.turns:
                    await check_condition(
                        self.store, conversation, turn.submission, is_starting=True
                    )
                    has_place = False
                    await self._start_in_place(tasks, conversation, turn)
                    conversation.queue.remove(turn, "started")
                    self._tell_line(conversation)
        except StoreError as error:
            _log.warning("a queued turn could not be started: %s", error.code)
            if turn is not None:
                turn.is_doubtful = True
            return False
        except RemoteProtocolError as error:
            if turn is not None:
                self._leave_line(conversation, turn, error)
        except Exception as error:  # noqa: BLE001 - one turn must not end all others
            _log.error("a queued turn could not be started: %s", type(error).__name__)
            if turn is not None:
                failure = LocalProtocolError("internal_error", "the gateway failed unexpectedly")
                self._leave_line(conversation, turn, failure)
        finally:
            if has_place:
                self._flight.release()
        return True

    async def _has_started(self, conversation: Conversation, turn: QueuedTurn) -> bool:
        """Return whether an attempt that failed, as far as anybody knew, had started it after all."""
        if not turn.is_doubtful:
            return False
        return await self.store.load_turn(conversation.id, turn.turn_id) is not None

    async def _wait_queued(
        self, conversation: Conversation, turn_id: str, end_s: float | None
    ) -> dict[str, Json] | None:
        """Return a turn that waits, once it waits no more or at ``end_s``; None where it started.

        Raises:
            BlockwireError: ``turn_handed_back``, or why it was dropped.
        """
        turn = conversation.queue.find(turn_id)
        if turn is None:
            check_not_handed_back(conversation, turn_id)
            return None
        if end_s is not None:
            with anyio.CancelScope(deadline=end_s):
                await turn.settled.wait()
        if turn.outcome == "started":
            return None
        if turn.error is not None:
            raise turn.error
        if turn.outcome == "cancelled":
            return queued_shape(conversation.id, turn, None, status="cancelled")
        return self._queued_shape(conversation, turn)

    def _cancel_queued(self, conversation: Conversation, turn_id: str) -> dict[str, Json] | None:
        """Hand a turn back that waits; None where none does. Hold the conversation's lock."""
        turn = conversation.queue.find(turn_id)
        if turn is None:
            check_not_handed_back(conversation, turn_id)
            return None
        position = conversation.queue.position(turn)
        conversation.queue.remove(turn, "cancelled")
        self.bus.publish(dequeued_notice(conversation.id, turn, "cancelled"))
        self._tell_line(conversation, position)
        return queued_shape(conversation.id, turn, None, status="cancelled")


def check_not_handed_back(conversation: Conversation, turn_id: str) -> None:
    """Refuse a turn that left the line and never began.

    Raises:
        RemoteProtocolError: ``turn_handed_back``.
    """
    if turn_id in conversation.queue.handed_back:
        raise RemoteProtocolError(
            "turn_handed_back", "the turn was taken out of the line before it began"
        )


def turn_not_over() -> RemoteProtocolError:
    """Return the refusal of what needs a whole answer."""
    return RemoteProtocolError("turn_not_over", "the turn is not over yet", retryable=True)
