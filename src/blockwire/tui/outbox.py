"""Questions of this chat that no turn answers yet: to be sent, on their way, in line.

Spec: docs/spec/chat/index.md, "Questions"; docs/spec/gateway/turns.md, "The queue".

They are sent one at a time, so that they keep their order on any connection; the gateway's line
keeps it from there. What the gateway hands back, or has forgotten, is known here under its key.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Literal, NamedTuple

from blockwire.content import Block, ConversationState
from blockwire.jsontext import Json
from blockwire.tui.intents import Submit

__all__ = ["Outbox", "Question", "QuestionStage"]

QuestionStage = Literal["waiting", "sent", "queued", "taken"]


class Question(NamedTuple):
    """One question.

    Attributes:
        key: Under which it is submitted, however often.
        text: As typed.
        files: Blocks of the files that go with it.
        engine: What is to answer.
        model: Which model.
        stage: ``waiting`` to be sent; ``sent`` and not answered; ``queued`` by the gateway;
            ``taken`` by a turn that was not seen yet.
        turn_id: Of one that is queued or taken.
        position: Its place in line; 1 is next.
        is_unwanted: It was cancelled before the gateway had answered.
        is_doubtful: It was sent, and nobody knows whether it arrived.
        is_told: The person was told that it waits to be sent.
    """

    key: str
    text: str
    files: tuple[Block, ...] = ()
    engine: str | None = None
    model: str | None = None
    stage: QuestionStage = "waiting"
    turn_id: str | None = None
    position: int | None = None
    is_unwanted: bool = False
    is_doubtful: bool = False
    is_told: bool = False

    def submit(self, conversation_id: str | None) -> Submit:
        """Return the intent that asks it."""
        content: str | tuple[Block, ...] = self.text
        if self.files:
            prose: tuple[Block, ...] = (
                ({"type": "prose", "markdown": self.text},) if self.text else ()
            )
            content = (*prose, *self.files)
        return Submit(self.key, conversation_id, content, self.engine, self.model)

    def is_same_as(self, other: Question) -> bool:
        """Return whether both ask the same of the same."""
        return self[1:5] == other[1:5]


class Outbox:
    """The questions, in the order in which they were asked.

    Args:
        new_key: Returns a fresh idempotency key.

    Attributes:
        held_until_s: Nothing is sent before; None while the gateway takes questions.
    """

    def __init__(self, new_key: Callable[[], str]) -> None:
        self._new_key = new_key
        self._questions: list[Question] = []
        self.held_until_s: float | None = None
        # What came back for a reason that leaves open whether it was taken.
        self._doubtful: Question | None = None

    @property
    def questions(self) -> tuple[Question, ...]:
        """All of them."""
        return tuple(self._questions)

    @property
    def placed(self) -> list[Question]:
        """Those that the gateway gave a turn, but whose turns were not seen yet."""
        return [question for question in self._questions if question.turn_id is not None]

    def add(
        self, text: str, files: tuple[Block, ...], *, engine: str | None, model: str | None
    ) -> Question:
        """Add a question, and return it; one that is doubtful and asked again keeps its key."""
        question = Question("", text, files, engine, model)
        doubtful, self._doubtful = self._doubtful, None
        is_again = doubtful is not None and question.is_same_as(doubtful)
        key = doubtful.key if is_again and doubtful is not None else self._new_key()
        question = question._replace(key=key)
        self._questions.append(question)
        return question

    def restore(self, questions: Iterable[Question]) -> None:
        """Put questions back that were taken out, behind the others."""
        self._questions += questions

    def next_submit(
        self, conversation_id: str | None, now_s: float, checked_ids: Container[str] = ()
    ) -> Submit | None:
        """Return the intent for the next question, if none is on its way; it is, then.

        Args:
            conversation_id: Where it is asked.
            now_s: The time.
            checked_ids: Turns that are being looked for: their questions may have to be asked
                again, and before those behind them.
        """
        if self.is_sending or (self.held_until_s is not None and now_s < self.held_until_s):
            return None
        self.held_until_s = None
        for index, question in enumerate(self._questions):
            if question.turn_id is not None and question.turn_id in checked_ids:
                return None
            if question.stage == "waiting":
                self._questions[index] = question._replace(stage="sent")
                return question.submit(conversation_id)
        return None

    @property
    def is_sending(self) -> bool:
        """Whether a question is on its way."""
        return any(question.stage == "sent" for question in self._questions)

    def find_key(self, key: str) -> Question | None:
        """Return the question with this key."""
        return next((q for q in self._questions if q.key == key), None)

    def find_turn(self, turn_id: Json) -> Question | None:
        """Return the question of this turn."""
        return next((q for q in self.placed if q.turn_id == turn_id), None)

    def change(self, question: Question, changed: Question) -> None:
        """Put ``changed`` in the place of ``question``."""
        self._questions[self._questions.index(question)] = changed

    def remove(self, question: Question) -> None:
        """Forget a question; a doubtful one keeps its key, should it be asked again."""
        self._questions.remove(question)
        if question.is_doubtful:
            self._doubtful = question

    def take_unsent(self, keys: Container[str] | None = None) -> list[Question]:
        """Return what is not on its way and in no line, and forget it.

        Args:
            keys: Only of these; None for all.
        """
        unsent = [
            question
            for question in self._questions
            if question.stage == "waiting" and (keys is None or question.key in keys)
        ]
        for question in unsent:
            self.remove(question)
        # Whoever asks anew does not want to wait.
        self.held_until_s = None
        return unsent

    def drop_begun(self, state: ConversationState) -> None:
        """Forget the questions whose turns are in ``state``: they wait no more."""
        self._questions = [
            question
            for question in self._questions
            if question.turn_id is None or not state.has_message(question.turn_id)
        ]

    def clear(self) -> None:
        """Forget everything: another conversation is shown."""
        self._questions.clear()
        self._doubtful = None
        self.held_until_s = None
