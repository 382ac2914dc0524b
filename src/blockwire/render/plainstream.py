"""Plain text for pipes and files, whole or as it grows.

Spec: docs/spec/rendering/text.md.

:func:`plain_text` is :func:`~blockwire.render.plain.message_text` made safe for whatever reads it:
line breaks are LF, Tab stays, every other control is a label. :class:`PlainStream` gives out the
same text piece by piece and never takes anything back.
"""

from __future__ import annotations

import re
from typing import Final

from blockwire.content import BlockState, Message, TurnState
from blockwire.render.plain import BLOCK_GAP, block_text, is_in_text, message_text
from blockwire.text import label_controls

__all__ = ["PlainStream", "plain_text"]

# What the next piece may still turn into something else: a CR into a CRLF, a black flag and tag
# characters into the flag of a subdivision.
_UNDECIDED: Final = re.compile(
    "(?:\r|\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{0,6})\\Z"
)


def plain_text(message: Message, *, with_reasoning: bool = False) -> str:
    """Return a message as text that ends in a line break, or nothing where it has no text."""
    text = label_controls(message_text(message, with_reasoning=with_reasoning))
    return text + _line_end(text)


def _line_end(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


class _Labels:
    """Labels the controls of a text that arrives in pieces, as if it had come whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the labelled text that is decided now."""
        text = self._held + text
        undecided = _UNDECIDED.search(text)
        end = len(text) if undecided is None else undecided.start()
        self._held = text[end:]
        return label_controls(text[:end])

    def finish(self) -> str:
        """Return the rest."""
        text, self._held = self._held, ""
        return label_controls(text)


class PlainStream:
    """Gives out turns as plain text, append-only.

    Text that grows by deltas comes at once; a block of any other type comes when it is complete.
    What was given out of a turn is at every moment a prefix of the :func:`plain_text` of its
    message; a blank line parts it from the turn before.
    """

    def __init__(self, *, with_reasoning: bool = False) -> None:
        self._with_reasoning = with_reasoning
        self._labels = _Labels()
        self._turn: TurnState | None = None
        self._block_index = 0
        self._block_chars = 0  # given out of the block at that index
        self._ends_line = True
        self._turn_has_text = False
        self._has_turns = False

    def show_turn(self, turn: TurnState) -> str:
        """Return the text that ``turn`` adds: a later state of the same turn, or another turn."""
        ended = ""
        if self._turn is not None and self._turn.turn_id != turn.turn_id:
            ended = self.finish()
        self._turn = turn
        raw: list[str] = []
        while self._block_index < len(turn.blocks):
            block = turn.blocks[self._block_index]
            if block.field is not None or not block.is_open:
                raw += self._growth(block)
            if block.is_open:
                break
            self._block_index += 1
            self._block_chars = 0
        return ended + self._given(self._labels.feed("".join(raw)))

    def finish(self) -> str:
        """Return the rest of the turn as it stands, with the end of its last line.

        What is shown after that is another turn.
        """
        raw: list[str] = []
        if self._turn is not None:
            for block in self._turn.blocks[self._block_index :]:
                raw += self._growth(block)
                self._block_chars = 0
        rest = self._given(self._labels.feed("".join(raw)) + self._labels.finish())
        if not self._ends_line:
            rest += self._given("\n")
        self._has_turns = self._has_turns or self._turn_has_text
        self._turn_has_text = False
        self._turn = None
        self._block_index = 0
        return rest

    def _growth(self, block: BlockState) -> list[str]:
        """Return what ``block`` adds to the text of the message, controls and all."""
        if not is_in_text(block.type, with_reasoning=self._with_reasoning):
            return []
        if block.field is None:
            text = block_text(block.block)
        else:
            text = block.text_since(self._block_chars)
        if not text:
            return []
        gap = BLOCK_GAP if self._turn_has_text and not self._block_chars else ""
        if self._has_turns and not self._turn_has_text:
            gap = "\n"
        self._turn_has_text = True
        self._block_chars += len(text)
        return [gap, text]

    def _given(self, text: str) -> str:
        if text:
            self._ends_line = text.endswith("\n")
        return text
