"""Conversations that grow, shown by a view on a terminal of somebody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from blockwire.content import BlockState, ConversationState, TurnState
from blockwire.render import TerminalLook, message_rows
from blockwire.tui.promptrows import Prompt, PromptRow, PromptSpan
from blockwire.tui.views import FallbackView
from tests.tui.drawing.judges import FORBIDDEN, PyteJudge, TmuxJudge

EMPTY = ConversationState("conv")


def prompt(height: int = 2) -> Prompt:
    """Return a prompt of some rows, the input first, the cursor in it."""
    rows: list[PromptRow] = [(PromptSpan("> ", "mark"), PromptSpan("hello", "text"))]
    rows += [(PromptSpan(f"more {number}", "text"),) for number in range(height - 2)]
    if height > 1:
        rows.append((PromptSpan("status", "status"),))
    return Prompt(tuple(rows), 0, 7)


def compact(rows: Sequence[str]) -> str:
    """Return what rows say, however they were broken; not every terminal keeps joiners."""
    text = "".join("".join(rows).split())
    return text.replace("\u200d", "").replace("\ufe0f", "")


def answer(
    markdown: str, pieces: int, turn_id: str = "t1", ordinal: int = 0
) -> Iterator[TurnState]:
    """Yield the states of a turn whose prose arrives in pieces of so many characters."""
    envelope: dict[str, Any] = {"role": "assistant", "created_at": 1}
    block = BlockState({"id": "b1", "type": "prose", "markdown": ""}, is_open=True)
    turn = TurnState(turn_id, ordinal, envelope, blocks=(block,))
    yield turn
    for start in range(0, len(markdown), pieces):
        block = block.with_text(markdown[start : start + pieces])
        turn = turn.with_block(0, block)
        yield turn
    turn = turn.with_block(0, block.completed())
    yield turn
    yield turn.with_status("completed")


def finished(state: ConversationState, turn: TurnState) -> ConversationState:
    """Return the state in which ``turn`` is over, or runs."""
    if turn.is_terminal:
        return state.with_finished(turn.ordinal, turn.message, turn)
    return state.with_running(turn)


class FallbackShow:
    """A fallback view on a judge."""

    def __init__(
        self, judge: PyteJudge | TmuxJudge, columns: int, rows: int, *, reflows: bool | None = None
    ) -> None:
        self.judge = judge
        self.view = FallbackView(TerminalLook(columns), rows, reflows=reflows)
        self.state = EMPTY
        self.out = b""
        self.last = b""

    def write(self, data: bytes) -> None:
        assert not FORBIDDEN.search(data), data
        self.judge.feed(data)
        self.out += data
        self.last = data

    def show(self, turn: TurnState, height: int = 2) -> None:
        self.state = finished(self.state, turn)
        self.view.show(self.state, with_reasoning=False)
        self.paint(height)

    def paint(self, height: int = 2) -> None:
        self.write(self.view.paint(prompt(height)))

    def resize(self, columns: int, rows: int) -> None:
        self.judge.resize(columns, rows)
        if data := self.view.resize(TerminalLook(columns), rows):
            assert data == b"\x1b[6n"
            self.write(self.view.locate(self.judge.place()[1]))

    def leave(self) -> list[str]:
        self.write(self.view.leave())
        return self.judge.text()


def whole(turn: TurnState, columns: int) -> list[str]:
    """Return the rows of a finished turn at one width."""
    look = TerminalLook(columns)
    rows = message_rows(turn.message, look)
    return ["".join(span.text for span in row.spans).rstrip() for row in rows]
