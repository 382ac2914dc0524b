"""What goes on between the chat and one conversation: questions, turns, answers, the connection.

Spec: docs/spec/chat/index.md, "Questions". Knows no key and no row: the chat above it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from blockwire.client import ClientError, ConnectionChange, Conversation, Turn
from blockwire.content import (
    Block,
    ConversationSnapshot,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnSuspended,
    UnknownEvent,
)
from blockwire.errors import BlockwireError
from blockwire.jsontext import Json
from blockwire.tui.intents import (
    AnswerRequest,
    Cancel,
    CheckTurn,
    Intent,
    Notice,
    NoticeKind,
    Notify,
    Submit,
)
from blockwire.tui.outage import Outage
from blockwire.tui.outbox import Outbox, Question
from blockwire.tui.tokens import TokenCount
from blockwire.tui.turnwatch import TurnWatch

__all__ = ["RESEND_S", "Talk"]

RESEND_S: Final = 2.0
"""Between two attempts to send a question; the client repeats itself for a while within each."""

_TOO_LATE: Final = frozenset({"turn_not_suspended", "request_mismatch", "turn_terminal"})
_NOT_THERE: Final = frozenset({"turn_not_found", "turn_handed_back"})


class Talk:
    """One conversation, as seen from here.

    Args:
        new_key: Returns a fresh idempotency key.
        say: Takes what is said to the person.

    Attributes:
        conversation_id: None before the first question.
        title: Of the conversation, where it has one.
        state: The newest one; None until an event came.
        outbox: Questions that no turn answers yet.
        tokens: What the turns came to.
        turns: The turn that runs.
        outage: Of the stream.
        is_opening: Another conversation is on its way; what is asked meanwhile is for that one.
    """

    def __init__(self, *, new_key: Callable[[], str], say: Callable[[Notice], None]) -> None:
        self._say_notice = say
        self.outbox = Outbox(new_key)
        self.is_opening = False
        self._keys_for_next: set[str] = set()
        self.leave()

    def leave(self) -> None:
        """Show no conversation."""
        self.conversation_id: str | None = None
        self.title: str | None = None
        self.state: ConversationState | None = None
        self.tokens = TokenCount()
        self.turns = TurnWatch()
        self.outage = Outage()
        self._is_more_told = False
        self._checking: set[str] = set()
        self._returned: list[Question] = self.outbox.take_unsent()
        self.outbox.clear()

    def opened(self, conversation: Conversation) -> None:
        """Show ``conversation``: another one, or the one that was created for a question."""
        if self.conversation_id not in {None, conversation.id}:
            returned = self.take_returned()
            self.leave()
            kept = [one for one in self._returned if one.key in self._keys_for_next]
            self._returned = [*returned, *(one for one in self._returned if one not in kept)]
            self.outbox.restore(kept)
        self.conversation_id = conversation.id
        self.title = conversation.title
        self._end_opening()

    def not_opened(self) -> None:
        """Go on in the conversation that is shown; what was asked for the other is not asked."""
        self._returned += self.outbox.take_unsent(self._keys_for_next)
        self._end_opening()

    def _end_opening(self) -> None:
        self.is_opening = False
        self._keys_for_next.clear()

    def dropped(self, conversation_id: str) -> None:
        """Take that a conversation in which nothing was said is gone: the next question begins one."""
        if self.conversation_id == conversation_id:
            self.conversation_id = self.title = self.state = None

    @property
    def is_busy(self) -> bool:
        """Whether there is something to cancel."""
        return self.turns.turn is not None or bool(self.outbox.questions)

    def wake_at_s(self, now_s: float) -> float | None:
        """Return when something is due: a question, or a word on an outage."""
        times = (self.outbox.held_until_s, self.outage.wake_at_s(now_s))
        return min((time for time in times if time is not None), default=None)

    def take_returned(self) -> list[Question]:
        """Return the questions that are not asked after all, in order, since the last call."""
        returned, self._returned = self._returned, []
        return returned

    # what the person does -----------------------------------------------------------------
    def ask(
        self, text: str, files: tuple[Block, ...], *, engine: str | None, model: str | None
    ) -> None:
        """Put a question into the outbox; :meth:`next_submit` sends it."""
        question = self.outbox.add(text, files, engine=engine, model=model)
        if self.is_opening:
            self._keys_for_next.add(question.key)

    def due(self, now_s: float) -> list[Intent]:
        """Return what can be done now: the next turn that is to end, the next question."""
        intents: list[Intent] = []
        turn_id = self.turns.cancelling.next_turn(self._is_there)
        if turn_id is not None and self.conversation_id is not None:
            intents.append(Cancel(self.conversation_id, turn_id))
        submit = None
        if not self.is_opening:
            submit = self.outbox.next_submit(self.conversation_id, now_s, self._checking)
        if submit is not None:
            intents.append(submit)
        return intents

    def cancel(self) -> None:
        """Take back what waits, the last first, then end the turn that runs."""
        self._returned += self.outbox.take_unsent()
        for question in self.outbox.questions:
            if question.stage == "sent":
                self.outbox.change(question, question._replace(is_unwanted=True))
        for question in reversed(self.outbox.placed):
            self._end(question.turn_id)
        if self.turns.turn is not None:
            self._end(self.turns.turn.turn_id)

    def _end(self, turn_id: str | None) -> None:
        assert turn_id is not None, "a question that is placed has a turn"
        self.turns.cancelling.add(turn_id)

    def _is_there(self, turn_id: str) -> bool:
        turn = self.turns.turn
        is_running = turn is not None and turn.turn_id == turn_id
        return is_running or self.outbox.find_turn(turn_id) is not None

    def answer(self, answer: Json) -> list[Intent]:
        """Answer what the turn waits for."""
        asked = self.turns.asked
        if asked is None or self.conversation_id is None:
            return []
        self.turns.answered(asked.request_id)
        return [AnswerRequest(self.conversation_id, asked.turn_id, asked.request_id, answer)]

    # the stream ---------------------------------------------------------------------------
    def receive(
        self, state: ConversationState, event: StreamEvent, *, now_s: float
    ) -> list[Intent]:
        """Take an event with the state after it; one of another conversation changes nothing."""
        # A state that no event has named yet belongs to the stream that was opened last.
        if self.conversation_id is None or state.conversation_id not in {"", self.conversation_id}:
            return []
        self.state = state
        self.outbox.drop_begun(state)
        self.tokens.update(state, is_whole=isinstance(event, ConversationSnapshot))
        if self.turns.follow(state, now_s):
            self._say("info", "it waits no more: somebody else answered, or it has ended")
        if isinstance(event, ConversationSnapshot) and state.more_before and not self._is_more_told:
            self._is_more_told = True
            self._say(
                "info",
                f"older messages are not shown; blockwire show {self.conversation_id} prints them",
            )
        intents: list[Intent] = []
        if isinstance(event, UnknownEvent) and not event.seq:
            self._receive_notice(event)
        if isinstance(event, TurnEnded):
            intents.append(Notify("the answer is complete"))
        if isinstance(event, TurnSuspended):
            intents.append(Notify("the answer waits for you"))
        return intents

    def _receive_notice(self, event: UnknownEvent) -> None:
        turn_id = event.members.get("turn_id")
        question = self.outbox.find_turn(turn_id)
        if question is None:
            return
        if event.type == "turn.queued":
            position = event.members.get("position")
            place = position if isinstance(position, int) else None
            self.outbox.change(question, question._replace(position=place))
        # A gateway that stops forgets the line; the next one is asked again.
        elif event.type == "turn.dequeued" and event.members.get("reason") != "stopping":
            reason = event.members.get("reason")
            if reason != "cancelled":
                self._say("error", f"the question could not begin [{reason}]")
            elif turn_id not in self.turns.cancelling:
                self._say("info", "somebody else took the question out of the line")
            self._hand_back(question)

    def connection_changed(self, change: ConnectionChange, *, now_s: float) -> list[Intent]:
        """Take what the stream's connection does now."""
        is_over = self.outage.connection_changed(change, now_s)
        if not is_over or self.conversation_id is None:
            return []
        self.outbox.held_until_s = None
        turn_ids = [one.turn_id for one in self.outbox.placed if one.turn_id is not None]
        self._checking.update(turn_ids)
        return [CheckTurn(self.conversation_id, turn_id) for turn_id in turn_ids]

    # answers of the driver ----------------------------------------------------------------
    def submitted(self, intent: Submit, turn: Turn) -> None:
        """Take what became of a question."""
        question = self.outbox.find_key(intent.key)
        if question is None:
            return
        is_seen = self.state is not None and self.state.has_message(turn.id)
        if is_seen or turn.is_over:
            settled = question._replace(is_doubtful=False)
            self.outbox.change(question, settled)
            self.outbox.remove(settled)
        else:
            stage = question._replace(
                stage="queued" if turn.status == "queued" else "taken",
                turn_id=turn.id,
                position=turn.position,
                is_doubtful=False,
            )
            self.outbox.change(question, stage)
        if question.is_unwanted and not turn.is_over:
            self._end(turn.id)

    def cancelled(self, intent: Cancel, turn: Turn) -> None:
        """Take what became of a turn that was to end."""
        self.turns.cancelling.discard(intent.turn_id)
        question = self.outbox.find_turn(intent.turn_id)
        if question is not None:
            if turn.status == "cancelled" and not turn.durable:
                self._hand_back(question)
            else:
                self.outbox.remove(question)

    def checked(self, intent: CheckTurn, turn: Turn) -> None:
        """Take how a turn stands that waited before an outage."""
        self._checking.discard(intent.turn_id)
        question = self.outbox.find_turn(intent.turn_id)
        if question is None:
            return
        if turn.status == "queued":
            self.outbox.change(question, question._replace(position=turn.position))
        elif turn.status == "cancelled" and not turn.durable:
            self._hand_back(question)
        else:
            self.outbox.remove(question)

    def failed(
        self,
        intent: Submit | Cancel | CheckTurn | AnswerRequest,
        error: BlockwireError,
        *,
        now_s: float,
    ) -> None:
        """Take that something was not done."""
        match intent:
            case Submit():
                self._submit_failed(intent, error, now_s)
            case Cancel():
                self._cancel_failed(intent, error)
            case CheckTurn():
                self._check_failed(intent, error)
            case _:
                self._answer_failed(intent, error)

    def _submit_failed(self, intent: Submit, error: BlockwireError, now_s: float) -> None:
        question = self.outbox.find_key(intent.key)
        if question is None:
            return
        is_unanswered = isinstance(error, ClientError) and error.status is None
        if is_unanswered and not question.is_doubtful:
            doubtful = question._replace(is_doubtful=True)
            self.outbox.change(question, doubtful)
            question = doubtful
        if error.retryable and not question.is_unwanted:
            self.outbox.change(question, question._replace(stage="waiting", is_told=True))
            if not question.is_told:
                self._say_error("the question waits to be sent", error, kind="warning")
            pause_s = error.retry_after_s if isinstance(error, ClientError) else None
            self.outbox.held_until_s = now_s + max(pause_s or 0.0, RESEND_S)
            return
        self._hand_back(question)
        if not question.is_unwanted:
            self._say_error("the question was not taken", error)

    def _cancel_failed(self, intent: Cancel, error: BlockwireError) -> None:
        self.turns.cancelling.discard(intent.turn_id)
        question = self.outbox.find_turn(intent.turn_id)
        if question is not None and error.code in _NOT_THERE:
            self._hand_back(question)
        elif error.code != "turn_terminal":
            self._say_error("the answer could not be stopped", error)

    def _check_failed(self, intent: CheckTurn, error: BlockwireError) -> None:
        self._checking.discard(intent.turn_id)
        question = self.outbox.find_turn(intent.turn_id)
        if question is None:
            return
        if error.code == "turn_not_found":
            # A gateway that was started anew knows nothing of its line; the key asks it once.
            self.outbox.change(question, question._replace(stage="waiting", turn_id=None))
        elif error.code == "turn_handed_back":
            self._hand_back(question)

    def _answer_failed(self, intent: AnswerRequest, error: BlockwireError) -> None:
        if error.code in _TOO_LATE:
            self._say("info", "somebody else answered before")
            return
        self.turns.not_answered(intent.request_id)
        self._say_error("the answer did not arrive", error)

    def _hand_back(self, question: Question) -> None:
        self.outbox.remove(question)
        self._returned.append(question)

    def _say(self, kind: NoticeKind, text: str) -> None:
        self._say_notice(Notice(kind, text))

    def _say_error(self, text: str, error: BlockwireError, *, kind: NoticeKind = "error") -> None:
        self._say(kind, f"{text}: {error.detail} [{error.code}]")
