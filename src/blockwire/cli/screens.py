"""What ``ask``, ``watch``, ``show`` and ``replay`` print: drawn for a terminal, plain for a pipe."""

from __future__ import annotations

from blockwire.cli.output import Screen
from blockwire.content import Message, TurnState
from blockwire.render import PlainStream, TranscriptStream

__all__ = ["TurnPrinter"]


class TurnPrinter:
    """Append-only output of messages and of a turn that grows.

    Args:
        screen: Where it goes.
        with_reasoning: Show private reasoning, where the gateway gave it to us.
    """

    def __init__(self, screen: Screen, *, with_reasoning: bool) -> None:
        self._drawn = (
            TranscriptStream(screen.look, with_reasoning=with_reasoning)
            if screen.is_terminal
            else None
        )
        self._with_reasoning = with_reasoning
        self._plain: PlainStream | None = None
        self._plain_turn = ""

    def add_message(self, message: Message) -> str:
        """Return the text of a complete message; into a pipe only answers are written."""
        if self._drawn is not None:
            return self._drawn.add_message(message)
        return ""

    def show_turn(self, turn: TurnState) -> str:
        """Return the text that ``turn`` adds to what was printed."""
        if self._drawn is not None:
            return self._drawn.show_turn(turn)
        end = ""
        if self._plain_turn != turn.turn_id:
            end = self.finish()
            self._plain_turn = turn.turn_id
            self._plain = PlainStream(with_reasoning=self._with_reasoning)
        assert self._plain is not None, "made for this turn"
        return end + self._plain.show_turn(turn)

    def finish(self) -> str:
        """Return what ends the output."""
        if self._plain is None:
            return ""
        end, self._plain = self._plain.finish(), None
        return end
