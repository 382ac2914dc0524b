"""What ``ask``, ``watch``, ``show`` and ``replay`` print: drawn for a terminal, plain for a pipe.

Spec: docs/reference/terminal-output.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread

from blockwire.cli.output import write
from blockwire.cli.terminals import Screen
from blockwire.content import Block, ConversationState, Message, TurnState
from blockwire.jsontext import Json
from blockwire.render import PlainStream, TranscriptStream, clean, plain_text
from blockwire.tui.order import ConversationOrder

__all__ = ["ConversationPrinter", "TurnPrinter", "emit", "question_message"]


async def emit(text: str) -> None:
    """Write to standard output; a reader that pauses (a pager, Ctrl-S) holds up nobody else.

    Raises:
        OutputClosedError: See :func:`~blockwire.cli.output.write`.
    """
    if text:
        await anyio.to_thread.run_sync(write, text)


def question_message(text: str, blocks: Sequence[Block] = ()) -> Message:
    """Return what a question looks like before its message has come back from the gateway.

    Args:
        text: What is asked.
        blocks: What goes with it.
    """
    block: Json = {"id": "question", "type": "prose", "markdown": text}
    more: list[Json] = [{"id": f"file_{index}", **item} for index, item in enumerate(blocks)]
    return {
        "id": "question",
        "role": "user",
        "status": "completed",
        "content": [block, *more],
        "created_at": 0,
    }


class TurnPrinter:
    """Append-only output of messages and of a turn that grows.

    Args:
        screen: Where it goes.
        with_reasoning: Show private reasoning, where the gateway gave it to us.
        names_speakers: Into a pipe, say who speaks; else only answers are written there.
    """

    def __init__(
        self, screen: Screen, *, with_reasoning: bool, names_speakers: bool = False
    ) -> None:
        self._with_reasoning = with_reasoning
        self._names_speakers = names_speakers
        self._drawn: TranscriptStream | None = None
        if screen.is_terminal:
            self._drawn = TranscriptStream(screen.look, with_reasoning=with_reasoning)
        self._plain = PlainStream(with_reasoning=with_reasoning)
        self._turn_id = ""
        self._has_text = False

    @property
    def is_drawn(self) -> bool:
        """Whether it draws for a terminal; a drawn turn that waits shows what it asks."""
        return self._drawn is not None

    def add_message(self, message: Message) -> str:
        """Return the text of one more complete message."""
        if self._drawn is not None:
            return self._drawn.add_message(message)
        if not self._names_speakers:
            return ""
        return self._named(message) + plain_text(message, with_reasoning=self._with_reasoning)

    def show_turn(self, turn: TurnState) -> str:
        """Return the text that ``turn`` adds to what was printed."""
        if self._drawn is not None:
            return self._drawn.show_turn(turn)
        if not self._names_speakers and turn.envelope["role"] == "user":
            return ""
        text = ""
        if self._turn_id != turn.turn_id:
            text = self.finish()
            self._plain = PlainStream(with_reasoning=self._with_reasoning)
            self._turn_id = turn.turn_id
            if self._names_speakers:
                text += self._named(dict(turn.envelope))
        return text + self._plain.show_turn(turn)

    def _named(self, envelope: Message) -> str:
        gap, self._has_text = "\n" if self._has_text else "", True
        name = envelope.get("author") or envelope["role"]
        return f"{gap}[{clean(str(name))}]\n"

    def finish(self) -> str:
        """Return what ends the output of a turn."""
        return self._plain.finish() if self._drawn is None else self._drawn.finish()


class ConversationPrinter:
    """Prints a conversation and follows it: every message once, in order, whatever came between."""

    def __init__(self, printer: TurnPrinter) -> None:
        self._printer = printer
        self._order = ConversationOrder()

    def show(self, state: ConversationState) -> str:
        """Return the text that ``state``, later than the one before, adds."""
        parts: list[str] = []
        for turn in self._order.take(state):
            parts.append(self._printer.show_turn(turn))
            if turn.is_terminal:
                parts.append(self._printer.finish())
        return "".join(parts)
