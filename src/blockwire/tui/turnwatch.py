"""The turn that runs: since when, what it asks, and whether it was told to end.

Spec: docs/spec/chat/index.md, "Questions".
"""

from __future__ import annotations

from blockwire.content import ConversationState, TurnState
from blockwire.tui.asked import Asked, asked_by
from blockwire.tui.cancelline import CancelLine

__all__ = ["TurnWatch"]


class TurnWatch:
    """Follows the turn of a conversation that is not over; there is one at most.

    Attributes:
        turn: None while nothing runs.
        last_turn_s: How long the turn took that ended last, as far as it was seen.
        cancelling: Turns that are to end.
    """

    def __init__(self) -> None:
        self.turn: TurnState | None = None
        self.last_turn_s: float | None = None
        self.cancelling = CancelLine()
        self._since_s = 0.0
        self._asked: Asked | None = None
        self._answered_id: str | None = None

    @property
    def asked(self) -> Asked | None:
        """What the turn waits for, unless it was answered here already."""
        is_answered = self._asked is not None and self._asked.request_id == self._answered_id
        return None if is_answered else self._asked

    @property
    def is_cancelling(self) -> bool:
        """Whether the turn was told to end."""
        return self.turn is not None and self.turn.turn_id in self.cancelling

    def elapsed_s(self, now_s: float) -> float:
        """Return how long the turn has been seen to run."""
        return max(now_s - self._since_s, 0.0)

    def answered(self, request_id: str) -> None:
        """Stop asking this."""
        self._answered_id = request_id

    def not_answered(self, request_id: str) -> None:
        """Ask this again."""
        if self._answered_id == request_id:
            self._answered_id = None

    def follow(self, state: ConversationState, now_s: float) -> bool:
        """Take the newest state.

        Returns:
            Whether something is not asked any more that nobody answered here.
        """
        turn = next(iter(state.running.values()), None)
        was_cancelling = self.is_cancelling
        if (turn and turn.turn_id) != (self.turn and self.turn.turn_id):
            if self.turn is not None:
                self.last_turn_s = self.elapsed_s(now_s)
                self.cancelling.discard(self.turn.turn_id)
            self._since_s = now_s
        self.turn = turn
        asked = None if turn is None else asked_by(turn)
        is_withdrawn = self.asked is not None and asked != self._asked and not was_cancelling
        self._asked = asked
        return is_withdrawn
