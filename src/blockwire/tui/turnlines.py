"""One message in the fallback: lines that are final, each given out once, and those still open.

Spec: docs/spec/chat/fallback.md, "What is final". Lines are made before they are laid out, so a
line that was given out at one width is not given out again at another.
"""

from __future__ import annotations

from typing import Final, Protocol

from blockwire.content import BlockState, TurnState
from blockwire.render.growth import LIVE_CHARS_MAX, ThoughtLines
from blockwire.render.layout import BLANK_LINE, FlowLine
from blockwire.render.looks import block_lines, closing_lines, heading_line, is_shown
from blockwire.render.openblocks import MarkdownBlocks
from blockwire.render.spans import TerminalLook

__all__ = ["TurnLines"]

GROWTH_SHARE: Final = 16
"""A long open end is looked at again when one part in so many is new: the work stays linear."""


class _Text(Protocol):
    """A text that grows, as lines."""

    def feed(self, text: str) -> list[FlowLine]:
        """Add ``text`` and return the lines that are final with it."""

    def open_lines(self) -> list[FlowLine]:
        """Return what follows them as it looks now, or did a moment ago."""

    def finish(self) -> list[FlowLine]:
        """Return the rest."""

    def resize(self, look: TerminalLook) -> None:
        """Make lines for another width from now on."""


class _Blocks(MarkdownBlocks):
    def resize(self, look: TerminalLook) -> None:
        # What is decided of a text does not depend on the width; how a table looks does.
        self._look = look


class _Prose:
    def __init__(self, look: TerminalLook) -> None:
        self._blocks = _Blocks(look)
        self._open: list[FlowLine] = []
        self._seen_chars = 0
        self._is_stale = False

    def feed(self, text: str) -> list[FlowLine]:
        lines = self._blocks.feed(text)
        chars = self._blocks.open_chars
        is_due = chars <= LIVE_CHARS_MAX or (chars - self._seen_chars) * GROWTH_SHARE >= chars
        if lines or is_due:
            self._is_stale = True
        return lines

    def open_lines(self) -> list[FlowLine]:
        if self._is_stale:
            self._open = self._blocks.open_lines()
            self._seen_chars = self._blocks.open_chars
            self._is_stale = False
        return self._open

    def finish(self) -> list[FlowLine]:
        return self._blocks.finish()

    def resize(self, look: TerminalLook) -> None:
        self._blocks.resize(look)
        self._is_stale = True


class _Thoughts:
    def __init__(self, look: TerminalLook) -> None:
        self._lines = ThoughtLines(look)

    def feed(self, text: str) -> list[FlowLine]:
        self._lines.feed(text)
        return self._take()

    def open_lines(self) -> list[FlowLine]:
        return self._lines.rest

    def finish(self) -> list[FlowLine]:
        self._lines.finish()
        return self._take()

    def resize(self, look: TerminalLook) -> None:
        """Words are laid out later: a line is the same at each width."""

    def _take(self) -> list[FlowLine]:
        # The label above is printed once, and the next lines stand below it.
        fixed = self._lines.fixed[self._taken :]
        self._taken += len(fixed)
        return fixed

    _taken = 0


class _OpenText:
    """The text block that is being printed.

    Attributes:
        has_lines: Whether a line of it was given out.
    """

    def __init__(self, state: BlockState, look: TerminalLook) -> None:
        self.text: _Text = _Prose(look) if state.type == "prose" else _Thoughts(look)
        self.block_id = state.id
        self.taken_chars = 0
        self.has_lines = False

    def take(self, state: BlockState) -> list[FlowLine]:
        """Return the lines that are final now, below a blank one."""
        new = state.text_since(self.taken_chars)
        self.taken_chars += len(new)
        lines = self.text.feed(new) if new else []
        if not state.is_open:
            lines += self.text.finish()
        return self.parted(lines)

    def parted(self, lines: list[FlowLine]) -> list[FlowLine]:
        """Return the lines; above the first of all a blank one."""
        if not lines:
            return []
        gap = [] if self.has_lines else [BLANK_LINE]
        self.has_lines = True
        return [*gap, *lines]

    def open_lines(self) -> list[FlowLine]:
        lines = self.text.open_lines()
        return [*([] if self.has_lines or not lines else [BLANK_LINE]), *lines]


class TurnLines:
    """Shows one turn, state by state, without ever taking back what it gave out.

    Args:
        look: Of the terminal.
        with_reasoning: Show reasoning, where the message has it.
    """

    def __init__(self, look: TerminalLook, *, with_reasoning: bool) -> None:
        self._look = look
        self._with_reasoning = with_reasoning
        self._turn: TurnState | None = None
        self._settled = 0  # blocks whose lines are out
        self._text: _OpenText | None = None  # of the block behind them

    def take(self, turn: TurnState) -> list[FlowLine]:
        """Return the lines that are final with ``turn``, a later state; each once."""
        lines = [heading_line(turn.envelope)] if self._turn is None else []
        self._turn = turn
        for given in turn.blocks[self._settled :]:
            # Nobody will complete a block of a message that has ended.
            state = given.completed() if turn.is_terminal and given.is_open else given
            if self._grows(state):
                if self._text is None:
                    self._text = _OpenText(state, self._look)
                lines += self._text.take(state)
            elif not state.is_open:
                lines += self._whole(state)
            if state.is_open:
                break
            self._settled += 1
            self._text = None
        if turn.is_terminal:
            closing = closing_lines(turn.status, None, self._look)
            lines += [BLANK_LINE, *closing] if closing else []
        return lines

    def open_lines(self) -> list[FlowLine]:
        """Return what stands below them as it looks now."""
        if self._turn is None or self._turn.is_terminal:
            return []
        lines: list[FlowLine] = []
        for number, state in enumerate(self._turn.blocks[self._settled :]):
            if number == 0 and self._text is not None:
                lines += self._text.open_lines()
            else:
                lines += self._whole(state)
        return lines

    def resize(self, look: TerminalLook) -> None:
        """Make lines for another width from now on."""
        self._look = look
        if self._text is not None:
            self._text.text.resize(look)

    def _grows(self, state: BlockState) -> bool:
        return state.type == "prose" or (state.type == "reasoning" and self._with_reasoning)

    def _whole(self, state: BlockState) -> list[FlowLine]:
        if not is_shown(state.block, with_reasoning=self._with_reasoning):
            return []
        lines = block_lines(state.block, self._look)
        return [BLANK_LINE, *lines] if lines else []
