"""A conversation in terminal Blocks: they stay what they are, the prompt is drawn below them.

Spec: docs/spec/chat/drawing.md, "Blocks".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from blockwire.content import ConversationState, TurnState
from blockwire.errors import LocalProtocolError
from blockwire.render import TerminalLook
from blockwire.render.blockoperations import (
    AppendBlock,
    BlockOperation,
    ExtendBlock,
    ReplaceSuffix,
    SealBlock,
    UpdateBlock,
)
from blockwire.render.layout import BLANK_LINE
from blockwire.render.projector import TerminalProjector
from blockwire.render.shownblock import ShownBlock
from blockwire.render.spans import LINES_LOOK
from blockwire.render.terminallines import preferred_type
from blockwire.terminal import BlockHandle, GivenData
from blockwire.tui.chrome import prompt_rows
from blockwire.tui.intents import Notice
from blockwire.tui.notices import notice_lines
from blockwire.tui.order import ConversationOrder
from blockwire.tui.promptrows import Prompt
from blockwire.tui.reflow import Spot
from blockwire.tui.tail import LiveTail

__all__ = ["BlockPlace", "BlocksView", "perform"]

OPERATIONS_MAX: Final = 500
"""Of one paint; the rest waits for the next one, and keys are heard between."""

_LOST: Final = frozenset({"block_failed", "context_not_open"})
"""The driver is told; what belongs to it is not shown."""


class BlockPlace(Protocol):
    """Where Blocks are appended: a Context that is open."""

    def append(
        self,
        content: GivenData,
        *,
        type: str = ...,  # noqa: A002 - the word of the wire
        block_id: str | None = ...,
    ) -> BlockHandle:
        """Add a Block at the end."""


def perform(operation: BlockOperation, place: BlockPlace, handles: dict[str, BlockHandle]) -> None:
    """Do what an operation says; a Block that is sealed needs no handle any more."""
    match operation:
        case AppendBlock(name=name, type=kind, data=data):
            handles[name] = place.append(data, type=kind, block_id=name)
        case ExtendBlock(name=name, fragment=fragment):
            handles[name].extend(fragment)
        case ReplaceSuffix(name=name, retain=retain, replacement=replacement):
            handles[name].replace_suffix(retain, replacement)
        case UpdateBlock(name=name, data=data):
            handles[name].update(data)
        case _ as seal:
            handles.pop(seal.name).seal()


class BlocksView:
    """Projects onto Blocks; the rows of the prompt are ordinary output below them.

    Args:
        place: A Context.
        write: Writes ordinary output in its place among the operations.
        types: The optional content types of the terminal.
        look: Of the terminal.
        rows: Of its window.
        reflows: Whether the terminal breaks rows anew when its width changes; None: nobody knows.
    """

    def __init__(  # noqa: PLR0913 - a terminal, and how it was negotiated
        self,
        place: BlockPlace,
        write: Callable[[bytes], None],
        types: tuple[str, ...],
        look: TerminalLook,
        rows: int,
        *,
        reflows: bool | None = None,
    ) -> None:
        self._place = place
        self._write = write
        self._types = types
        self._type = preferred_type(types)
        self._tail = LiveTail(look, rows, reflows=reflows)
        self._order = ConversationOrder()
        self._handles: dict[str, BlockHandle] = {}
        self._waiting: deque[BlockOperation] = deque()
        self._projector: TerminalProjector | None = None
        self._turn: TurnState | None = None
        self._names = 0

    @property
    def is_located(self) -> bool:
        """Whether :meth:`paint` may be called."""
        return self._tail.is_located

    @property
    def has_more(self) -> bool:
        """Whether another paint is needed to show all of it."""
        return bool(self._waiting)

    def show(self, state: ConversationState, *, with_reasoning: bool) -> None:
        """Take a state."""
        for turn in self._order.take(state):
            if self._projector is None or self._turn is None or self._turn.turn_id != turn.turn_id:
                self._projector = TerminalProjector(
                    self._new_name(), self._types, with_reasoning=with_reasoning
                )
            self._turn = turn
            self._waiting += self._projector.project(turn)

    def _new_name(self) -> str:
        # The same message may be shown twice: its conversation was left and opened again.
        self._names += 1
        return f"m{self._names}"

    def tell(self, notice: Notice) -> None:
        """Say something."""
        name = self._new_name()
        lines = [*notice_lines(notice, LINES_LOOK), BLANK_LINE]
        operation = ShownBlock(name, self._type).show(self, (), lines)
        assert operation is not None, "a new Block is appended"
        self._waiting += [operation, SealBlock(name)]

    def change_conversation(self) -> None:
        """Show another conversation; Blocks that are open stay as they stand."""
        self._order = ConversationOrder()
        self._projector = self._turn = None

    def paint(self, prompt: Prompt, *, mark: str = "") -> bytes:
        """Send operations, and return what draws the prompt below them."""
        rows = prompt_rows(prompt, mark=mark)
        back = self._send()
        return back + self._tail.paint([], rows, Spot(prompt.cursor_row, prompt.cursor_column))

    def _send(self, count_max: int = OPERATIONS_MAX) -> bytes:
        """Perform operations, the cursor at the top of the prompt; return what takes it back."""
        if not self._waiting:
            return b""
        # What is appended goes above the row of the cursor if that is in its first column.
        self._write(self._tail.park())
        for _ in range(min(count_max, len(self._waiting))):
            operation = self._waiting[0]
            try:
                if isinstance(operation, AppendBlock) or operation.name in self._handles:
                    perform(operation, self._place, self._handles)
            except LocalProtocolError as error:
                if error.retryable:
                    break
                if error.code not in _LOST:
                    raise
            self._waiting.popleft()
        return self._tail.unpark()

    def withdraw(self) -> bytes:
        """Return what takes the prompt away."""
        return self._tail.paint([], [])

    def leave(self) -> bytes:
        """Return what takes the prompt away, when all that is to be shown is."""
        back = self._send(len(self._waiting))
        return back + self._tail.paint([], [])

    def resize(self, look: TerminalLook, rows: int, *, is_drawn: bool = False) -> bytes:
        """Take a new size; Blocks are the terminal's."""
        return self._tail.resize(look, rows, is_drawn=is_drawn)

    def locate(self, column: int | None) -> bytes:
        """Take the answer."""
        return self._tail.locate(column)

    def forget(self) -> None:
        """Draw below what somebody else has written."""
        self._tail.forget()
