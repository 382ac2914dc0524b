"""Every way in which a turn ends, or goes on, for another reason than its engine.

Spec: docs/spec/gateway/turns.md; docs/spec/content/endings.md. Above is ``turns``, which runs engines.

Who ends a turn (cancel, stop, deletion, a store that fails) commits the end first and cancels the
tasks then; whatever they still have to say is refused because the turn is over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
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
from blockwire.content.vocabulary import TerminalStatus
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.bodies import ResumeBody
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.turns.conversation import Conversation, LiveTurn
from blockwire.gateway.turns.drafts import Batch, closing_block
from blockwire.ports import Answer, IdFactory

__all__ = ["Failure", "TurnEndings", "store_failure", "turn_terminal"]

_log: Final = logging.getLogger(__name__)

CANCELLED_MESSAGE: Final = "Stopped by user."
STORE_FAILED_MESSAGE: Final = "The rest of the answer could not be stored; what was stored is kept."
RESUME_UNAVAILABLE_MESSAGE: Final = (
    "The engine kept nothing with which it could go on after the answer."
)


class Failure(NamedTuple):
    """Why a turn must end although its engine goes on."""

    code: str
    message: str
    reason: str | None


def store_failure(error: StoreError) -> Failure:
    """Return why a turn ends whose answer the store did not take."""
    return Failure(error.code, STORE_FAILED_MESSAGE, "store")


def turn_terminal() -> RemoteProtocolError:
    """Return the refusal of what comes after the end."""
    return RemoteProtocolError("turn_terminal", "the turn is over")


def _is_late_resume(batch: Batch, event: StreamEvent) -> bool:
    """Return whether an engine says that it goes on, which the log says already."""
    if not isinstance(event, TurnResumed):
        return False
    turn = batch.turn(event.turn_id)
    return turn is not None and turn.status != "suspended"


def _refused_answer(batch: Batch, live: LiveTurn, body: ResumeBody) -> RemoteProtocolError | None:
    """Return why the turn, as the batch leaves it, does not take the answer; None if it does."""
    turn = batch.turn(live.row.id)
    if turn is None or turn.is_terminal:
        return turn_terminal()
    if turn.status != "suspended" or turn.request is None:
        return RemoteProtocolError("turn_not_suspended", "the turn waits for no answer")
    if turn.request.get("id") != body.request_id:
        return RemoteProtocolError(
            "request_mismatch", "the turn waits for another answer", pointer="/request_id"
        )
    return None


class TurnEndings:
    """Ends turns; knows no engine, no route and no tenant.

    Args:
        ids: Makes ids of closing blocks.
        settings: How patiently a store that fails is tried again.
    """

    def __init__(self, *, ids: IdFactory, settings: GatewaySettings) -> None:
        self._ids = ids
        self._settings = settings

    def take_inbox(self, batch: Batch, live: LiveTurn) -> bool:
        """Add what the engine has said so far; end the turn at the first thing it may not say.

        Returns whether there was anything.
        """
        events = live.inbox.drain()
        for event in events:
            if batch.ended:
                break
            try:
                if isinstance(event, TurnStarted) or _is_late_resume(batch, event):
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
        return bool(events)

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
            taken = self.take_inbox(batch, live)
            was_over = bool(batch.ended)
            if not was_over:
                add_end(batch)
            await self._commit_taken(conversation, batch, live, taken=taken)
        live.scope.cancel()
        return not was_over

    async def _commit_taken(
        self, conversation: Conversation, batch: Batch, live: LiveTurn, *, taken: bool
    ) -> None:
        """Commit a batch that may hold what was taken from the inbox, which cannot come back."""
        try:
            await conversation.commit_turn(batch, live)
        except StoreError as error:
            if taken:
                # What the engine says next would follow upon a gap.
                live.inbox.break_off((error.code, STORE_FAILED_MESSAGE))
            raise

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

        ``turn.resumed`` carries the answer and is committed before its engine hears of it. An
        engine that has nothing to go on with ends its turn with ``resume_unavailable``.

        Raises:
            RemoteProtocolError: ``turn_terminal``, ``turn_not_suspended``, ``request_mismatch``.
            StoreError: Nothing changed.
        """
        async with conversation.changing():
            if live.row.id not in conversation.committed.running:
                raise turn_terminal()
            batch = conversation.batch()
            # What the engine has said before may have changed what the turn waits for.
            taken = self.take_inbox(batch, live)
            refusal = _refused_answer(batch, live, body)
            goes_on = live.is_external or (live.answers is not None and not live.inbox.is_closed)
            if refusal is None and goes_on:
                extra = {"request_id": body.request_id, "answer": body.answer}
                batch.add(TurnResumed(live.row.id, extra=extra))
            elif refusal is None:
                self.add_failed(
                    batch, live, "resume_unavailable", RESUME_UNAVAILABLE_MESSAGE, retryable=True
                )
            if batch.drafts:
                await self._commit_taken(conversation, batch, live, taken=taken)
            if refusal is not None:
                raise refusal
            if goes_on and live.answers is not None:
                live.answers.give(Answer(body.request_id, body.answer))
        if not goes_on:
            live.scope.cancel()

    # when the store fails -----------------------------------------------------------------
    async def end_failed(
        self, conversation: Conversation, live: LiveTurn, failure: Failure
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
        self, conversation: Conversation, live: LiveTurn, failure: Failure
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
