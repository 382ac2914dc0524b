"""The window of a chat: its size, and where the view stands in it.

Spec: docs/spec/chat/fallback.md, "Another size".
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, TypeAlias

import anyio

from blockwire.tty import InputParser, Reply, Terminal
from blockwire.tui.driveroptions import ChatOptions
from blockwire.tui.views import ConversationView

__all__ = ["ANSWER_S", "ASK_WIDTH", "ChatWindow"]

ANSWER_S: Final = 0.5
"""How long the terminal may take to say where the cursor is, or how wide the window."""

ASK_WIDTH: Final = b"\x1b7\x1b[9999G\x1b[6n\x1b8"
"""Where is the last column? The answer is a CPR, and the cursor is where it was.

Not ``CSI 18 t``: some releases of tmux answer it with rows and columns in each other's place.
"""

ROWS_UNKNOWN: Final = 24
"""What a window has until its device says otherwise."""

_Asked: TypeAlias = Literal["place", "width", "width drawn"]
"""Where the cursor is; how wide the window is now; how wide it was when a picture was drawn."""


class ChatWindow:
    """Tells the view of each size, and asks what must be known for it.

    tmux breaks the rows of a window anew at once, and tells the program of the new size up to a
    quarter of a second later. What is written meanwhile for the former size would later be erased in
    the wrong place, so tmux is asked for the width before and behind each picture.

    Args:
        terminal: Where questions are written.
        view: Is told.
        parser: Of what the terminal sends.
        options: Of the chat.
        changed: Called when something may look otherwise.

    Attributes:
        look: With the width of the window.
        rows: Of the window.
    """

    def __init__(
        self,
        terminal: Terminal,
        view: ConversationView,
        parser: InputParser,
        options: ChatOptions,
        changed: Callable[[], None],
    ) -> None:
        self.look = options.look
        self.rows = ROWS_UNKNOWN
        self._terminal = terminal
        self._view = view
        self._parser = parser
        self._output_fd = options.output_fd
        self._changed = changed
        self._told: tuple[int, int] | None = None
        self._asks_width = bool(options.environment.get("TMUX"))
        # Answers come in the order of the questions.
        self._asked: deque[_Asked] = deque()
        self._is_width_known = anyio.Event()
        self._unlocated: asyncio.TimerHandle | None = None

    @property
    def is_answer_missing(self) -> bool:
        """Whether the terminal has been asked something and has not answered."""
        return bool(self._asked)

    def take_size(self) -> None:
        """Look at the device, which may still say what it said before others knew better."""
        with suppress(OSError):
            size = os.get_terminal_size(self._output_fd)
            told = max(size.columns, 1), max(size.lines, 1)
            if told != self._told:
                self._told = told
                self._resize(*told)

    async def ask_width(self) -> None:
        """Wait until whoever tells of another size late has said how wide the window is by now."""
        if not self._asks_width:
            return
        self._is_width_known = anyio.Event()
        self._terminal.write(self._question("width", ASK_WIDTH))
        with anyio.move_on_after(ANSWER_S) as scope:
            await self._is_width_known.wait()
        if scope.cancelled_caught:
            self._asks_width = False

    def question_behind(self) -> bytes:
        """Return what asks, behind a picture, whether it was drawn in the width that was known."""
        return self._question("width drawn", ASK_WIDTH) if self._asks_width else b""

    def receive(self, reply: Reply) -> None:
        """Take what the terminal answers."""
        if reply.kind != "cpr" or not self._asked:
            return
        column = int(reply.fields[1])
        asked = self._asked.popleft()
        if asked == "place":
            self._locate(column - 1)
            return
        self._resize(column, self.rows, is_drawn=asked == "width drawn")
        if asked == "width":
            self._is_width_known.set()

    def clear_up(self) -> None:
        """Wait for no answer about the cursor."""
        if not self._view.is_located:
            self._terminal.write(self._view.locate(None))

    def close(self) -> None:
        """Wait for nothing."""
        if self._unlocated is not None:
            self._unlocated.cancel()

    def _question(self, asked: _Asked, data: bytes) -> bytes:
        self._asked.append(asked)
        self._parser.expect_position()
        return data

    def _resize(self, columns: int, rows: int, *, is_drawn: bool = False) -> None:
        if (columns, rows) == (self.look.columns, self.rows):
            return
        self.look = self.look._replace(columns=columns)
        self.rows = rows
        if question := self._view.resize(self.look, rows, is_drawn=is_drawn):
            self._terminal.write(self._question("place", question))
            self.close()
            loop = asyncio.get_running_loop()
            self._unlocated = loop.call_later(ANSWER_S, self._locate, None)
        self._changed()

    def _locate(self, column: int | None) -> None:
        if not self._view.is_located:
            self._terminal.write(self._view.locate(column))
            self._changed()
