"""What shows a conversation: the same calls for terminals with Blocks and for all others.

Spec: docs/spec/chat/drawing.md.
"""

from __future__ import annotations

from typing import Final, Protocol

from blockwire.content import ConversationState
from blockwire.render import TerminalLook
from blockwire.render.layout import BLANK_ROW
from blockwire.tui.chrome import prompt_rows
from blockwire.tui.conversationrows import ConversationRows
from blockwire.tui.intents import Notice
from blockwire.tui.promptrows import Prompt
from blockwire.tui.reflow import Spot
from blockwire.tui.tail import LiveTail

__all__ = ["ConversationView", "FallbackView"]

GAP_ROOM_MIN: Final = 4
"""Rows above the prompt; with fewer none of them is left blank."""


class ConversationView(Protocol):
    """Shows one conversation after another, with a prompt below."""

    @property
    def is_located(self) -> bool:
        """Whether :meth:`paint` may be called; not while an answer about the size is missing."""

    @property
    def has_more(self) -> bool:
        """Whether another paint is needed to show all of it."""

    def show(self, state: ConversationState, *, with_reasoning: bool) -> None:
        """Take a state of the conversation, later than the one before."""

    def tell(self, notice: Notice) -> None:
        """Say something behind what came before."""

    def change_conversation(self) -> None:
        """Show another conversation from now on, below this one."""

    def paint(self, prompt: Prompt, *, mark: str = "") -> bytes:
        """Return what makes the screen show all of it; nothing if it does."""

    def withdraw(self) -> bytes:
        """Return what takes away all that changes, for a while."""

    def leave(self) -> bytes:
        """Return what takes the prompt away, so that the next program goes on below."""

    def resize(self, look: TerminalLook, rows: int, *, is_drawn: bool = False) -> bytes:
        """Take a new size; return what asks where the cursor is, if that matters.

        Args:
            look: With the new width.
            rows: Of the window.
            is_drawn: It was this size already when the last picture was drawn.
        """

    def locate(self, column: int | None) -> bytes:
        """Take the answer, or that there is none, and return what clears up."""

    def forget(self) -> None:
        """Somebody else has written meanwhile."""


class FallbackView:
    """Append-only: what is final is printed once, what may change stands below it.

    Args:
        look: Of the terminal.
        rows: Of its window.
        reflows: Whether the terminal breaks rows anew when its width changes; None: nobody knows.
    """

    def __init__(
        self,
        look: TerminalLook,
        rows: int,
        *,
        reflows: bool | None = None,
    ) -> None:
        self._rows = ConversationRows(look)
        self._tail = LiveTail(look, rows, reflows=reflows)

    @property
    def is_located(self) -> bool:
        """Whether :meth:`paint` may be called."""
        return self._tail.is_located

    @property
    def has_more(self) -> bool:
        """Never: all of it is printed at once."""
        return False

    def show(self, state: ConversationState, *, with_reasoning: bool) -> None:
        """Take a state."""
        self._rows.show(state, with_reasoning=with_reasoning)

    def tell(self, notice: Notice) -> None:
        """Say something."""
        self._rows.tell(notice)

    def change_conversation(self) -> None:
        """Show another conversation."""
        self._rows.change_conversation()

    def paint(self, prompt: Prompt, *, mark: str = "") -> bytes:
        """Return what makes the screen show all of it."""
        chrome = prompt_rows(prompt, mark=mark)
        room = max(self._tail.rows_max - len(chrome), 0)
        gap = [BLANK_ROW] if room >= GAP_ROOM_MIN and not self._rows.is_empty else []
        room -= len(gap)
        above = [*(self._rows.open_rows(self._tail.rows)[-room:] if room else []), *gap]
        cursor = Spot(len(above) + prompt.cursor_row, prompt.cursor_column)
        return self._tail.paint(self._rows.take_finished(), [*above, *chrome], cursor)

    def withdraw(self) -> bytes:
        """Return what takes away all that changes."""
        return self._tail.paint(self._rows.take_finished(), [])

    def leave(self) -> bytes:
        """Return what takes the prompt away; what is open stays as it stands."""
        self._rows.change_conversation()
        return self._tail.paint(self._rows.take_finished(), [])

    def resize(self, look: TerminalLook, rows: int, *, is_drawn: bool = False) -> bytes:
        """Take a new size."""
        self._rows.resize(look)
        return self._tail.resize(look, rows, is_drawn=is_drawn)

    def locate(self, column: int | None) -> bytes:
        """Take the answer."""
        return self._tail.locate(column)

    def forget(self) -> None:
        """Draw below what somebody else has written."""
        self._tail.forget()
