"""Messages in a terminal: whole, or as they grow, append-only.

Spec: docs/spec/rendering/terminal.md.

:func:`transcript_text` is what ``show`` prints. :class:`TranscriptStream` prints the same text
piece by piece: whatever it has printed is at every moment a prefix of it, so nothing on the
screen ever has to be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from blockwire.content import BlockState, Message, TurnState
from blockwire.render.incremental import MarkdownStream
from blockwire.render.looks import block_rows, heading_row, is_shown
from blockwire.render.markdown import BLANK
from blockwire.render.spans import Row, TerminalLook, encode_row, slice_spans

__all__ = ["TranscriptStream", "message_rows", "transcript_text"]


def message_rows(
    message: Message, look: TerminalLook, *, with_reasoning: bool = False
) -> list[Row]:
    """Return the rows of one message: who speaks, then its blocks, a blank row before each."""
    rows = [heading_row(message)]
    for block in cast("list[dict[str, object]]", message["content"]):
        if is_shown(block, with_reasoning=with_reasoning):  # type: ignore[arg-type]
            rows.append(BLANK)
            rows += block_rows(block, look)  # type: ignore[arg-type]
    return rows


def transcript_text(
    messages: Iterable[Message], look: TerminalLook, *, with_reasoning: bool = False
) -> str:
    """Return messages as a terminal shows them, ending in a line break."""
    parts: list[str] = []
    for message in messages:
        if parts:
            parts.append("\n")
        rows = message_rows(message, look, with_reasoning=with_reasoning)
        parts += [encode_row(row, look) + "\n" for row in rows]
    return "".join(parts)


class TranscriptStream:
    """Prints messages and a running turn without ever going back.

    A block that can still change (a tool at work, a code block that is not complete) holds back
    itself and what follows it; prose shows its decided words.
    """

    def __init__(self, look: TerminalLook, *, with_reasoning: bool = False) -> None:
        self._look = look
        self._with_reasoning = with_reasoning
        self._is_empty = True
        self._turn_id: str | None = None
        self._block_index = 0
        self._prose: MarkdownStream | None = None
        self._prose_chars = 0
        self._prose_has_rows = False
        self._partial_chars = 0

    def add_message(self, message: Message) -> str:
        """Return the text that shows one more complete message."""
        return self._rows(
            [
                *self._gap(),
                *message_rows(message, self._look, with_reasoning=self._with_reasoning),
            ]
        )

    def show_turn(self, turn: TurnState) -> str:
        """Return the text that brings the screen up to ``turn``, a later state of the same turn."""
        parts: list[str] = []
        if self._turn_id != turn.turn_id:
            self._turn_id = turn.turn_id
            self._block_index = 0
            parts.append(self._rows([*self._gap(), heading_row(_heading_of(turn))]))
        while self._block_index < len(turn.blocks):
            block = turn.blocks[self._block_index]
            is_final = not block.is_open
            if block.type == "prose":
                parts.append(self._show_prose(block))
            elif is_final and is_shown(block.block, with_reasoning=self._with_reasoning):
                parts.append(self._rows([BLANK, *block_rows(block.block, self._look)]))
            if not is_final:
                break
            self._block_index += 1
        return "".join(parts)

    def _gap(self) -> list[Row]:
        was_empty, self._is_empty = self._is_empty, False
        return [] if was_empty else [BLANK]

    def _show_prose(self, block: BlockState) -> str:
        if self._prose is None:
            self._prose = MarkdownStream(self._look)
            self._prose_chars = 0
            self._prose_has_rows = False
        rows, partial = self._prose.feed(block.text_since(self._prose_chars))
        self._prose_chars = block.length_chars
        parts = [self._prose_rows(rows)]
        if partial is not None:
            parts.append(self._partial(partial))
        if not block.is_open:
            parts.append(self._prose_rows(self._prose.finish().rows))
            self._prose = None
        return "".join(parts)

    def _prose_rows(self, rows: Sequence[Row]) -> str:
        if not rows:
            return ""
        if not self._prose_has_rows:
            self._prose_has_rows = True
            rows = [BLANK, *rows]
        return self._rows(rows)

    def _rows(self, rows: Sequence[Row]) -> str:
        parts: list[str] = []
        for row in rows:
            parts.append(encode_row(self._unprinted(row), self._look) + "\n")
            self._partial_chars = 0
        return "".join(parts)

    def _partial(self, row: Row) -> str:
        gap = ""
        if not self._prose_has_rows:
            gap = self._prose_rows([]) or self._first_gap()
        text = encode_row(self._unprinted(row), self._look)
        self._partial_chars = sum(len(span.text) for span in row.spans)
        return gap + text

    def _first_gap(self) -> str:
        self._prose_has_rows = True
        return self._rows([BLANK])

    def _unprinted(self, row: Row) -> Row:
        if not self._partial_chars:
            return row
        length = sum(len(span.text) for span in row.spans)
        return row._replace(spans=slice_spans(row.spans, self._partial_chars, length))


def _heading_of(turn: TurnState) -> Message:
    return cast("Message", dict(turn.envelope))
