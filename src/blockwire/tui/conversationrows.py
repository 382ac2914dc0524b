"""A conversation in the fallback: rows to print once, and the rows below them that change.

Spec: docs/spec/chat/fallback.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blockwire.content import ConversationState, TurnState
from blockwire.render import Row, TerminalLook
from blockwire.render.layout import BLANK_ROW, FlowLine, line_rows, rows_of
from blockwire.tui.intents import Notice
from blockwire.tui.notices import notice_lines
from blockwire.tui.order import ConversationOrder
from blockwire.tui.tail import wrap_row
from blockwire.tui.turnlines import TurnLines

__all__ = ["TAIL_ROWS_MAX", "ConversationRows"]

TAIL_ROWS_MAX: Final = 12
"""Rows of an open block that are shown."""

WIDTH_SHARE: Final = 3
"""A terminal that breaks rows anew makes up to so many of one when its width falls to a third, and
what it then pushes into its scrollback is beyond reach; so all of them fit into the window."""

CHROME_ROWS: Final = 7
"""Left to the prompt, broken anew as well, and the blank row above it."""


class ConversationRows:
    """Rows of one conversation after another, each final row given out once.

    Args:
        look: Of the terminal.
    """

    def __init__(self, look: TerminalLook) -> None:
        self._look = look
        self._order = ConversationOrder()
        self._turn_id = ""
        self._turn: TurnLines | None = None
        self._is_empty = True
        self._finished: list[Row] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was shown so far."""
        return self._is_empty

    # what is to be shown ------------------------------------------------------------------
    def show(self, state: ConversationState, *, with_reasoning: bool = False) -> None:
        """Take a state, later than the one before.

        Args:
            state: Of the conversation.
            with_reasoning: Show reasoning, where a message has it that was not shown so far.
        """
        for turn in self._order.take(state):
            self._show_turn(turn, with_reasoning=with_reasoning)

    def _show_turn(self, turn: TurnState, *, with_reasoning: bool) -> None:
        if self._turn is None or self._turn_id != turn.turn_id:
            self._turn = TurnLines(self._look, with_reasoning=with_reasoning)
            self._turn_id = turn.turn_id
            self._part()
        self._print(self._turn.take(turn))

    def tell(self, notice: Notice) -> None:
        """Say something behind what came before."""
        self._part()
        self._print(notice_lines(notice, self._look))

    def change_conversation(self) -> None:
        """Show another one from now on; what is open of this one stays as it stands."""
        if self._turn is not None:
            self._print(self._turn.open_lines())
        self._turn, self._turn_id = None, ""
        self._order = ConversationOrder()

    def _part(self) -> None:
        if not self._is_empty:
            self._finished.append(BLANK_ROW)
        self._is_empty = False

    def _print(self, lines: Sequence[FlowLine]) -> None:
        self._finished += rows_of(lines, self._look)

    # what a terminal gets -----------------------------------------------------------------
    def take_finished(self) -> list[Row]:
        """Return the rows that are final and were not returned before."""
        rows, self._finished = self._finished, []
        return rows

    def open_rows(self, window_rows: int) -> list[Row]:
        """Return the last rows of what may still change, as many as are good for a window."""
        limit = max(min((window_rows - CHROME_ROWS) // WIDTH_SHARE, TAIL_ROWS_MAX), 1)
        if self._turn is None:
            return []
        rows: list[Row] = []
        # From the end: of a long one only the last rows are laid out.
        for line in reversed(self._turn.open_lines()):
            parts = [
                part for row in line_rows(line, self._look) for part in wrap_row(row, self._look)
            ]
            rows = [*parts, *rows]
            if len(rows) >= limit:
                break
        return rows[-limit:]

    def resize(self, look: TerminalLook) -> None:
        """Lay out for another width from now on."""
        self._look = look
        if self._turn is not None:
            self._turn.resize(look)
