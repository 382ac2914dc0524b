"""Turns that wait for their conversation: in memory alone, first come first served.

Spec: docs/spec/gateway/turns.md, "The queue". Nothing here waits or does I/O; ``queueing`` moves the
first turn on when its conversation is free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

import anyio

from blockwire.content import visible_message
from blockwire.errors import BlockwireError
from blockwire.jsontext import Json, encode_json
from blockwire.ports import ControlNotice
from blockwire.ports.tracing import CURRENT_TRACEPARENT

if TYPE_CHECKING:
    from blockwire.gateway.turns.submits import ChosenEngine, Submission

__all__ = [
    "QueueSpace",
    "QueuedTurn",
    "TurnQueue",
    "dequeued_notice",
    "queued_notice",
    "queued_shape",
]

HANDED_BACK_MAX: Final = 64
"""Ids of turns that did not start, remembered for those who ask for them."""

Outcome = Literal["started", "cancelled", "dropped"]


class QueuedTurn:
    """A submit that waits.

    Attributes:
        turn_id: Of the turn that it becomes.
        question_id: Of its message.
        submission: What was submitted.
        engine: What will run it.
        created_at: When it was submitted, Unix milliseconds.
        traceparent: Of the request that submitted it.
        settled: Set once it waits no more.
        outcome: Why not.
        error: What those who wait for it are told when it was dropped.
        is_doubtful: The store failed at its start and may have taken it nevertheless.
    """

    __slots__ = (
        "created_at", "engine", "error", "is_doubtful", "outcome", "question_id", "settled",
        "submission", "traceparent", "turn_id",
    )  # fmt: skip

    def __init__(
        self,
        turn_id: str,
        question_id: str,
        submission: Submission,
        engine: ChosenEngine,
        created_at: int,
    ) -> None:
        self.turn_id = turn_id
        self.question_id = question_id
        self.submission = submission
        self.engine = engine
        self.created_at = created_at
        self.traceparent = CURRENT_TRACEPARENT.get()
        self.settled = anyio.Event()
        self.outcome: Outcome | None = None
        self.error: BlockwireError | None = None
        self.is_doubtful = False

    def settle(self, outcome: Outcome, error: BlockwireError | None = None) -> None:
        """Tell whoever waits that it is over with waiting."""
        self.outcome, self.error = outcome, error
        self.settled.set()


class QueueSpace:
    """What all queues of a gateway hold.

    Attributes:
        count: Turns.
        size_bytes: Length of their bodies.
    """

    __slots__ = ("count", "size_bytes")

    def __init__(self) -> None:
        self.count = 0
        self.size_bytes = 0


class TurnQueue:
    """The turns that wait for one conversation.

    Attributes:
        is_moving: A task moves them on.
        handed_back: Ids of those that left it and did not start, the last few.
    """

    __slots__ = ("_space", "_turns", "handed_back", "is_moving")

    def __init__(self, space: QueueSpace) -> None:
        self._space = space
        self._turns: dict[str, QueuedTurn] = {}
        self.is_moving = False
        self.handed_back: deque[str] = deque(maxlen=HANDED_BACK_MAX)

    def __len__(self) -> int:
        return len(self._turns)

    def __iter__(self) -> Iterator[QueuedTurn]:
        return iter(list(self._turns.values()))

    @property
    def first(self) -> QueuedTurn | None:
        """The one that is next."""
        return next(iter(self._turns.values()), None)

    @property
    def last_id(self) -> str | None:
        """Id of the one that came last."""
        return next(reversed(self._turns), None)

    @property
    def turn_ids(self) -> list[str]:
        """Ids, in order."""
        return list(self._turns)

    def find(self, turn_id: str) -> QueuedTurn | None:
        """Return the turn with this id, or None."""
        return self._turns.get(turn_id)

    def find_key(self, key: str | None) -> QueuedTurn | None:
        """Return the turn that was submitted with this idempotency key, or None."""
        if key is None:
            return None
        return next((turn for turn in self._turns.values() if turn.submission.key == key), None)

    def position(self, turn: QueuedTurn) -> int:
        """Return its place in the line; the next one has 1."""
        return self.turn_ids.index(turn.turn_id) + 1

    def add(self, turn: QueuedTurn) -> None:
        """Put ``turn`` at the end."""
        self._turns[turn.turn_id] = turn
        self._space.count += 1
        self._space.size_bytes += turn.submission.size_bytes

    def remove(
        self, turn: QueuedTurn, outcome: Outcome, error: BlockwireError | None = None
    ) -> None:
        """Take ``turn`` out and tell whoever waits for it. Harmless when repeated."""
        if self._turns.pop(turn.turn_id, None) is not None:
            self._space.count -= 1
            self._space.size_bytes -= turn.submission.size_bytes
            turn.settle(outcome, error)
            if outcome != "started":
                self.handed_back.append(turn.turn_id)


def queued_shape(
    conversation_id: str, turn: QueuedTurn, position: int | None, *, status: str = "queued"
) -> dict[str, Json]:
    """Return a turn that waits, or has just waited in vain, as routes answer with it.

    ``content`` is what was asked, as everybody may see it: a cancelled turn hands it back.
    """
    submission, engine = turn.submission, turn.engine
    model = submission.body.model if submission.body.model is not None else engine.profile.model
    question = visible_message("public", {"role": "user", "content": [*submission.body.content]})
    shape: dict[str, Json] = {
        "id": turn.turn_id,
        "conversation_id": conversation_id,
        "status": status,
        "engine": engine.name,
        "created_at": turn.created_at,
        "request_message_id": turn.question_id,
        "message_id": turn.turn_id,
        "seq": 0,
        "durable": False,
        "content": [] if question is None else question["content"],
    }
    more: dict[str, Json] = {
        "position": position,
        "model": model,
        "provider": engine.profile.provider,
        "retry_of": submission.retry_of,
    }
    return shape | {name: value for name, value in more.items() if value is not None}


def queued_notice(conversation_id: str, turn: QueuedTurn, position: int) -> ControlNotice:
    """Return what live readers are told of the place of ``turn`` in the line."""
    return _notice(conversation_id, "queued", turn, position=position)


def dequeued_notice(conversation_id: str, turn: QueuedTurn, reason: str) -> ControlNotice:
    """Return what live readers are told of a turn that will not start."""
    return _notice(conversation_id, "dequeued", turn, reason=reason)


def _notice(
    conversation_id: str, kind: Literal["queued", "dequeued"], turn: QueuedTurn, **more: Json
) -> ControlNotice:
    event: dict[str, Json] = {
        "type": f"turn.{kind}",
        "conversation_id": conversation_id,
        "turn_id": turn.turn_id,
        **more,
    }
    return ControlNotice(conversation_id, kind, encode_json(event))
