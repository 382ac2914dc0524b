"""Messages in a terminal: whole, or as they grow, append-only.

Spec: docs/spec/rendering/terminal.md.

:func:`transcript_text` is what ``show`` prints. :class:`TranscriptStream` prints the same text
piece by piece: what it has put on the screen is at every moment the beginning of that, so nothing
ever has to be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from blockwire.content import Block, BlockState, Message, TurnState
from blockwire.jsontext import Json
from blockwire.render.incremental import MarkdownStream
from blockwire.render.layout import BLANK_ROW, line_rows, rows_of
from blockwire.render.looks import block_rows, closing_lines, heading_line, is_shown
from blockwire.render.spans import Row, TerminalLook, encode_row, slice_spans

__all__ = ["TranscriptStream", "message_rows", "transcript_text"]


def message_rows(
    message: Message,
    look: TerminalLook,
    *,
    with_reasoning: bool = False,
    request: Mapping[str, Json] | None = None,
) -> list[Row]:
    """Return the rows of one message: who speaks, then its blocks, a blank row before each.

    Args:
        message: Complete or as it stands; then its last row says so.
        look: Of the terminal.
        with_reasoning: Show reasoning, where the message has it.
        request: What the turn of the message waits for (``TurnState.request``).
    """
    rows = line_rows(heading_line(message), look)
    for block in cast("Iterable[Block]", message["content"]):
        rows += _parted(_shown_rows(block, look, with_reasoning=with_reasoning))
    return rows + _closing_rows(cast("str", message["status"]), request, look)


def _shown_rows(block: Block, look: TerminalLook, *, with_reasoning: bool) -> list[Row]:
    return block_rows(block, look) if is_shown(block, with_reasoning=with_reasoning) else []


def _closing_rows(status: str, request: Mapping[str, Json] | None, look: TerminalLook) -> list[Row]:
    """Return what stands below a message that is not finished."""
    return _parted(rows_of(closing_lines(status, request, look), look))


def _parted(rows: Sequence[Row]) -> list[Row]:
    return [BLANK_ROW, *rows] if rows else []


def transcript_text(
    messages: Iterable[Message],
    look: TerminalLook,
    *,
    with_reasoning: bool = False,
    requests: Mapping[str, Mapping[str, Json]] | None = None,
) -> str:
    """Return messages as a terminal shows them, ending in a line break.

    Args:
        messages: In conversation order.
        look: Of the terminal.
        with_reasoning: Show reasoning, where a message has it.
        requests: What suspended turns wait for, by message id.
    """
    parts: list[str] = []
    for message in messages:
        request = (requests or {}).get(cast("str", message["id"]))
        rows = message_rows(message, look, with_reasoning=with_reasoning, request=request)
        text = "".join(encode_row(row, look) + "\n" for row in rows)
        parts.append("\n" + text if parts else text)
    return "".join(parts)


class TranscriptStream:
    """Prints messages and running turns without ever going back.

    A block that can still change (a tool at work) holds back itself and what follows it; prose
    shows its decided words. A turn that asks for an answer is shown as it stands, once, with the
    question below; what it goes on with after that is printed below the question.
    """

    def __init__(self, look: TerminalLook, *, with_reasoning: bool = False) -> None:
        self._look = look
        self._with_reasoning = with_reasoning
        self._is_empty = True
        self._turn: TurnState | None = None
        self._block_index = 0
        self._asked: Json = None  # id of the request that was printed last
        self._prose: MarkdownStream | None = None
        self._prose_has_rows = False
        self._shown_chars: dict[str, int] = {}  # of each open prose block, by its id
        self._partial_chars = 0  # printed of the row that is not complete

    def add_message(self, message: Message) -> str:
        """Return the text that shows one more message; a turn before it is ended as it stands."""
        ended = self.finish()
        rows = message_rows(message, self._look, with_reasoning=self._with_reasoning)
        return ended + self._printed([*self._gap(), *rows])

    def show_turn(self, turn: TurnState) -> str:
        """Return the text that ``turn`` adds: a later state of the same turn, or another turn."""
        parts: list[str] = []
        if self._turn is None or self._turn.turn_id != turn.turn_id:
            heading = line_rows(heading_line(turn.envelope), self._look)
            parts += [self.finish(), self._printed([*self._gap(), *heading])]
        self._turn = turn
        while self._block_index < len(turn.blocks):
            block = turn.blocks[self._block_index]
            if block.is_open:
                if block.type == "prose":
                    parts.append(self._show_prose(block))
                break
            parts.append(self._show_whole(block))
            self._block_index += 1
        if turn.request is not None and turn.request["id"] != self._asked:
            self._asked = turn.request["id"]
            parts.append(self._show_rest(turn))
        return "".join(parts)

    def finish(self) -> str:
        """Return the rest of the turn as it stands: what was printed is then all of its message.

        What is shown after that is another turn.
        """
        turn, self._turn = self._turn, None
        # With a question everything was shown already.
        rest = self._show_rest(turn) if turn is not None and turn.request is None else ""
        self._block_index = 0
        self._shown_chars.clear()
        return rest

    def _gap(self) -> list[Row]:
        was_empty, self._is_empty = self._is_empty, False
        return [] if was_empty else [BLANK_ROW]

    def _show_rest(self, turn: TurnState) -> str:
        parts = [self._show_whole(block) for block in turn.blocks[self._block_index :]]
        parts.append(self._printed(_closing_rows(turn.status, turn.request, self._look)))
        return "".join(parts)

    def _show_whole(self, block: BlockState) -> str:
        """Return what is not printed yet of a block, which is complete as far as we know."""
        if block.type == "prose":
            shown = self._show_prose(block)
            rows, self._prose = self._open_prose().finish().rows, None
            return shown + self._prose_rows(rows)
        rows = _shown_rows(block.block, self._look, with_reasoning=self._with_reasoning)
        return self._printed(_parted(rows))

    def _open_prose(self) -> MarkdownStream:
        if self._prose is None:
            self._prose = MarkdownStream(self._look)
            self._prose_has_rows = False
        return self._prose

    def _show_prose(self, block: BlockState) -> str:
        text = block.text_since(self._shown_chars.get(block.id, 0))
        self._shown_chars[block.id] = block.length_chars
        return self._prose_rows(*self._open_prose().feed(text))

    def _prose_rows(self, rows: Sequence[Row], partial: Row | None = None) -> str:
        """Return the text of ``rows`` and of the beginning of the row below them."""
        if not rows and partial is None:
            return ""
        gap = [] if self._prose_has_rows else [BLANK_ROW]
        self._prose_has_rows = True
        text = self._printed([*gap, *rows])
        if partial is not None:
            text += encode_row(self._unprinted(partial), self._look)
            self._partial_chars = _row_chars(partial)
        return text

    def _printed(self, rows: Sequence[Row]) -> str:
        parts: list[str] = []
        for row in rows:
            parts.append(encode_row(self._unprinted(row), self._look) + "\n")
            self._partial_chars = 0
        return "".join(parts)

    def _unprinted(self, row: Row) -> Row:
        return row._replace(spans=slice_spans(row.spans, self._partial_chars, _row_chars(row)))


def _row_chars(row: Row) -> int:
    return sum(len(span.text) for span in row.spans)
