"""Message states to operations on terminal Blocks.

Spec: docs/spec/rendering/projector.md.

A message is a row of Blocks: who speaks, then a Block for each block that is shown, then how it
stands. Blocks are never moved or removed, so what has to stand further down is appended again, and
its Block shows what now belongs there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias, cast

from blockwire.content import TERMINAL_STATUSES, BlockState, Message, TurnState
from blockwire.jsontext import Json
from blockwire.render.blockoperations import BlockOperation, SealBlock
from blockwire.render.growth import GrowingLines, MarkdownLines, ThoughtLines
from blockwire.render.layout import BLANK_LINE, FlowLine
from blockwire.render.looks import block_lines, closing_lines, heading_line
from blockwire.render.shownblock import ShownBlock
from blockwire.render.spans import LINES_LOOK
from blockwire.render.terminallines import preferred_type

__all__ = ["TerminalProjector", "message_turn"]

_Kind: TypeAlias = type[MarkdownLines] | type[ThoughtLines]

_GROWING: Final[Mapping[str, _Kind]] = MappingProxyType(
    {"prose": MarkdownLines, "reasoning": ThoughtLines}
)
_GAP: Final = (BLANK_LINE,)


class _View(Protocol):
    """What one Block is to show.

    Attributes:
        source: Whose lines they are.
        fixed: Lines that never change.
        rest: What follows them.
        is_shown: Whether there is anything to see.
    """

    @property
    def source(self) -> object: ...
    @property
    def fixed(self) -> Sequence[FlowLine]: ...
    @property
    def rest(self) -> list[FlowLine]: ...
    @property
    def is_shown(self) -> bool: ...


class _Made:
    """Lines that are made as a whole: a heading, a tool, what a turn asks."""

    fixed: Sequence[FlowLine] = ()

    def __init__(self) -> None:
        self.rest: list[FlowLine] = []
        self._made_of: object = None

    @property
    def source(self) -> object:
        return self

    @property
    def is_shown(self) -> bool:
        return bool(self.rest)

    def is_made_of(self, state: object) -> bool:
        """Tell whether the lines are those of this very state; they will be, if not."""
        before, self._made_of = self._made_of, state
        return before is state

    def show(self, lines: Sequence[FlowLine], above: Sequence[FlowLine] = ()) -> None:
        self.rest = [*above, *lines] if lines else []

    def take(self, state: BlockState) -> None:
        """Show a block as it stands."""
        if not self.is_made_of(state):
            self.show(block_lines(state.block, LINES_LOOK), _GAP)


class _Growing:
    """A block whose text grows: only what is new of it is looked at."""

    def __init__(self, kind: _Kind) -> None:
        self._kind = kind
        self._state: BlockState | None = None
        self._begin()

    def _begin(self) -> None:
        self._lines: GrowingLines = self._kind(LINES_LOOK, _GAP)
        self._taken: list[str] = []
        self._taken_chars = 0

    @property
    def source(self) -> object:
        return self._lines

    @property
    def fixed(self) -> Sequence[FlowLine]:
        return self._lines.fixed

    @property
    def rest(self) -> list[FlowLine]:
        return self._lines.rest

    @property
    def is_shown(self) -> bool:
        return self._lines.has_lines

    def take(self, state: BlockState) -> None:
        """Show a block as it stands."""
        before, self._state = self._state, state
        if before is state:
            return
        if state.is_open and state.length_chars >= self._taken_chars:
            # While it is open, its text only grows.
            self._feed(state.text_since(self._taken_chars))
            return
        text = cast("str", state.block[cast("str", state.field)])
        if not text.startswith("".join(self._taken)):
            self._begin()
        self._feed(text[self._taken_chars :])
        if not state.is_open:
            self._lines.finish()

    def _feed(self, text: str) -> None:
        if text:
            self._taken.append(text)
            self._taken_chars += len(text)
            self._lines.feed(text)


class TerminalProjector:
    """Shows one message, state by state, in terminal Blocks.

    The operations of any states, in order, show what those of the last state alone would; the
    same state again needs none.

    Args:
        name: Of the message; the names of its Blocks begin with it.
        optional_content_types: What the terminal has beside ``text/plain``.
        with_reasoning: Show reasoning, where the message has it.
    """

    def __init__(
        self, name: str, optional_content_types: Sequence[str], *, with_reasoning: bool = False
    ) -> None:
        self._name = name
        self._type = preferred_type(optional_content_types)
        self._with_reasoning = with_reasoning
        self._heading = _Made()
        self._closing = _Made()
        self._views: dict[str, _Made | _Growing] = {}  # of the blocks that may change
        self._shown: set[str] = set()  # those of them that have been seen: they keep their Block
        self._settled_blocks = 0  # blocks from the first on that will not change
        self._settled_views = 0  # how many of them have a Block
        self._blocks: list[ShownBlock] = []
        self._last: TurnState | None = None
        self._is_sealed = False

    def project(self, turn: TurnState) -> list[BlockOperation]:
        """Return what makes the terminal show ``turn``, a later state of the message."""
        if turn is self._last or self._is_sealed:
            return []
        self._last = turn
        operations: list[BlockOperation] = []
        self._show(0, self._show_heading(turn), operations)
        settling = True
        place = 1 + self._settled_views
        for given in turn.blocks[self._settled_blocks :]:
            # Nobody will complete a block of a message that has ended.
            state = given.completed() if turn.is_terminal and given.is_open else given
            view = self._view(state)
            if view is not None:
                self._show(place, view, operations)
                place += 1
            settling = settling and not state.is_open
            if settling:
                self._settle(state, is_shown=view is not None, operations=operations)
        self._show(place, self._show_closing(turn), operations)
        if turn.is_terminal:
            operations += [SealBlock(self._blocks[at].name) for at in (0, place)]
            self._is_sealed = True
        return operations

    def _show(self, place: int, view: _View, operations: list[BlockOperation]) -> None:
        if place == len(self._blocks):
            self._blocks.append(ShownBlock(f"{self._name}/{place}", self._type))
        operation = self._blocks[place].show(view.source, view.fixed, view.rest)
        if operation is not None:
            operations.append(operation)

    def _show_heading(self, turn: TurnState) -> _View:
        if not self._heading.is_made_of(turn.envelope):
            self._heading.show([heading_line(turn.envelope)])
        return self._heading

    def _show_closing(self, turn: TurnState) -> _View:
        if not self._closing.is_made_of(turn.status if turn.request is None else turn.request):
            self._closing.show(closing_lines(turn.status, turn.request, LINES_LOOK), _GAP)
        return self._closing

    def _view(self, state: BlockState) -> _View | None:
        """Return what is to be seen of a block; None if it has, and had, nothing to show."""
        if state.type == "reasoning" and not self._with_reasoning:
            return None
        view = self._views.get(state.id)
        if view is None:
            kind = _GROWING.get(state.type)
            view = self._views[state.id] = _Made() if kind is None else _Growing(kind)
        view.take(state)
        if view.is_shown:
            self._shown.add(state.id)
        return view if state.id in self._shown else None

    def _settle(
        self, state: BlockState, *, is_shown: bool, operations: list[BlockOperation]
    ) -> None:
        """Let go of a block that will not change, below others that will not."""
        self._settled_blocks += 1
        self._views.pop(state.id, None)
        self._shown.discard(state.id)
        if is_shown:
            self._settled_views += 1
            operations.append(SealBlock(self._blocks[self._settled_views].name))


def message_turn(message: Message, request: Mapping[str, Json] | None = None) -> TurnState:
    """Return a message, complete or as it stands, as a state to project.

    Of one that has not ended any block may still change.

    Args:
        message: As JSON.
        request: What its turn waits for.
    """
    envelope = {
        member: value
        for member, value in message.items()
        if member not in {"id", "status", "content"}
    }
    blocks = cast("Sequence[dict[str, Json]]", message["content"])
    is_open = message["status"] not in TERMINAL_STATUSES
    return TurnState(
        cast("str", message["id"]),
        0,
        envelope,
        status=cast("str", message["status"]),
        blocks=tuple(BlockState(block, is_open=is_open) for block in blocks),
        request=request,
    )
