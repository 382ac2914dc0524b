"""What of a conversation is to be shown, in order, whatever states came between.

Spec: docs/spec/chat/drawing.md, "Order".
"""

from __future__ import annotations

from blockwire.content import ConversationState, Message, TurnState
from blockwire.render.projector import message_turn

__all__ = ["ConversationOrder"]


class ConversationOrder:
    """Every message of one conversation, once, in its place.

    A running turn holds back what stands behind it.
    """

    def __init__(self) -> None:
        self._shown: set[object] = set()
        self._seen_count = 0
        self._first: Message | None = None  # the same object for as long as states grow
        # position, turn: final, and not shown yet because something before it runs
        self._waiting: list[tuple[int, TurnState]] = []

    def take(self, state: ConversationState) -> list[TurnState]:
        """Return what ``state``, later than the one before, shows anew or otherwise.

        All but the last are terminal, and none of them comes again.
        """
        self._take_finished(state)
        running = [(turn.ordinal, turn) for turn in state.running.values()]
        turns: list[TurnState] = []
        for _position, turn in sorted([*self._waiting, *running], key=lambda entry: entry[0]):
            turns.append(turn)
            if not turn.is_terminal:
                break
            self._shown.add(turn.turn_id)
        self._waiting = [entry for entry in self._waiting if entry[1].turn_id not in self._shown]
        return turns

    def _take_finished(self, state: ConversationState) -> None:
        """Note what became final; what was shown or waits already is not noted again."""
        new = list(state.finished_since(self._seen_count))
        first = next((entry[1] for entry in state.finished_since(0)), None)
        is_other = (
            state.finished_count < self._seen_count
            or (self._first is not None and first is not self._first)
            or any(self._is_known(entry[1]) for entry in new)
        )
        if is_other:
            # A snapshot took the place of what we knew; it lists by position, not by end.
            new = list(state.finished_since(0))
            self._waiting.clear()
        for position, message, turn in new:
            if message["id"] not in self._shown:
                self._waiting.append((position, message_turn(message) if turn is None else turn))
        self._seen_count, self._first = state.finished_count, first

    def _is_known(self, message: Message) -> bool:
        waiting = {entry[1].turn_id for entry in self._waiting}
        return message["id"] in self._shown or message["id"] in waiting
