"""Turns that are to end, one after the other.

Spec: docs/spec/chat/index.md, "Stopping". What waits in line is taken out first and the turn that runs
is stopped last, each when the one before is answered: so none of them can begin in between.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["CancelLine"]


class CancelLine:
    """Ids of turns that somebody wants to end, in order."""

    def __init__(self) -> None:
        # Turn id -> whether it is being cancelled right now; one at most is.
        self._turns: dict[str, bool] = {}

    def __contains__(self, turn_id: object) -> bool:
        """Return whether this turn is to end."""
        return turn_id in self._turns

    def add(self, turn_id: str) -> None:
        """Let a turn end, behind those that are to end already."""
        self._turns.setdefault(turn_id, False)

    def discard(self, turn_id: str) -> None:
        """Forget a turn: it has ended, or will not."""
        self._turns.pop(turn_id, None)

    def next_turn(self, is_there: Callable[[str], bool]) -> str | None:
        """Return the turn to cancel now; None while one is being cancelled, or none is left.

        Args:
            is_there: Tells whether a turn still waits or runs; others are forgotten.
        """
        if any(self._turns.values()):
            return None
        for turn_id in list(self._turns):
            if is_there(turn_id):
                self._turns[turn_id] = True
                return turn_id
            del self._turns[turn_id]
        return None
