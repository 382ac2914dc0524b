"""Markdown that arrives in pieces: lines that no later text changes, and the open end.

Spec: docs/spec/rendering/markdown.md, "As it arrives".

Top-level blocks are final as soon as another begins, so only the open tail is parsed again, and
only when a line is complete. Two kinds are final in parts before they end: the lines of a code
fence, and all but the last item of a list.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Final, NamedTuple

from blockwire.render.layout import BLANK_LINE, FlowLine
from blockwire.render.markdown import (
    TOP,
    Node,
    code_label,
    code_line,
    fence_language,
    gap_between,
    item_lines,
    last_line,
    line_range,
    node_lines,
    parse_blocks,
)
from blockwire.render.spans import TerminalLook

__all__ = ["MarkdownBlocks", "normalise_markdown"]

TAIL_PARSED_CHARS_MAX: Final = 4096
"""Longest open tail that is parsed whenever a blank line or a fence might have ended a block."""

TAIL_GROWTH_SHARE: Final = 8
"""The open tail is parsed again when one part in so many is new, so that the work stays linear."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
# How a line must begin so that it can be nothing but the text of a paragraph, wherever it ends.
_PARAGRAPH_START: Final = re.compile(
    r"[^\W\d_]|[^\x00-\x7f\s]|[\"'(\[]|\*{1,3}[^\s*]|_{1,3}[^\s_]|`{1,2}[^`]|\d+(?=[^\d.)])"
)


class _OpenList(NamedTuple):
    """A list whose first items were given out already."""

    kind: str
    number: int | None
    gap: bool


class _OpenFence(NamedTuple):
    """A code fence whose first lines were given out already."""

    closing: re.Pattern[str]
    indent: int
    language: str


def normalise_markdown(text: str) -> str:
    """Return ``text`` with LF line ends and U+0000 shown instead of lost."""
    if "\r" in text or "\0" in text:
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\u2400")
    return text


def _without_indent(line: str, columns: int) -> str:
    """Return a line of code without the blanks that its indented fence takes from it.

    A Tab goes to the next multiple of four; what it reaches beyond ``columns`` stays, as blanks.
    """
    column = index = 0
    while column < columns and index < len(line) and line[index] in " \t":
        column += 1 if line[index] == " " else 4 - column % 4
        index += 1
    return " " * (column - columns) + line[index:]


class MarkdownBlocks:
    """Turns pieces of Markdown into lines that are final."""

    def __init__(self, look: TerminalLook) -> None:
        self._look = look
        self._has_cr = False
        self._line: list[str] = []  # the pieces of the line that is not complete
        self._line_chars = 0
        self._tail: list[str] = []  # complete lines that are not final yet
        self._tail_chars = 0
        self._parsed_chars = 0  # of the tail, when it was parsed last
        self._open: Node | None = None  # the block with which the tail begins
        self._list: _OpenList | None = None
        self._fence: _OpenFence | None = None
        self._fence_is_empty = True
        self._has_lines = False
        self._out: list[FlowLine] = []

    @property
    def open_chars(self) -> int:
        """How much of the source is not final."""
        return self._tail_chars + self._line_chars

    def feed(self, text: str) -> list[FlowLine]:
        """Add ``text`` and return the lines that are final with it."""
        # A CR at the end may be the first half of a CRLF.
        text = ("\r" if self._has_cr else "") + text
        self._has_cr = text.endswith("\r")
        text = normalise_markdown(text[:-1] if self._has_cr else text)
        first, *others = text.split("\n")
        self._line.append(first)
        self._line_chars += len(first)
        if others:
            lines = [self._end_line(), *others[:-1]]
            self._line.append(others[-1])
            self._line_chars = len(others[-1])
            self._add_lines(lines)
        return self._take()

    def open_lines(self) -> list[FlowLine]:
        """Return what :meth:`finish` would; costs what is not final."""
        twin = copy(self)
        # What is changed in place; all else is replaced.
        twin._line, twin._tail, twin._out = [*self._line], [*self._tail], []  # noqa: SLF001 - its own
        return twin.finish()

    def finish(self) -> list[FlowLine]:
        """Return the rest: there will be no more text."""
        if self._has_cr or self._line_chars:
            self._has_cr = False
            self._add_lines([self._end_line()])
        if self._fence is not None:
            self._close_fence()
        # Every line had its end: the last blank one belongs to a fence that nobody closed.
        for node in parse_blocks("".join([f"{line}\n" for line in self._tail])):
            self._emit_node(node)
        self._keep_tail(len(self._tail))
        return self._take()

    def _end_line(self) -> str:
        line = "".join(self._line)
        self._line.clear()
        self._line_chars = 0
        return line

    def _take(self) -> list[FlowLine]:
        lines, self._out = self._out, []
        return lines

    def _add_lines(self, lines: list[str]) -> None:
        is_due = False
        for line in lines:
            if self._fence is not None:
                self._add_code_line(line, self._fence)
                continue
            self._tail.append(line)
            self._tail_chars += len(line) + 1
            is_due = self._is_due(line)
            if is_due and _FENCE.match(line):
                self._parse_tail()
                is_due = False
        if is_due:
            self._parse_tail()

    def _is_due(self, line: str) -> bool:
        """A long open block is not parsed again for each of its lines: the work stays linear."""
        may_end_block = not line.strip() or _FENCE.match(line) is not None
        kind = self._open.type if self._open is not None else ""
        if kind == "table" or (may_end_block and kind == "paragraph"):
            # It ends there for sure; and of a table nothing is shown before that.
            return may_end_block
        if may_end_block and self._tail_chars <= TAIL_PARSED_CHARS_MAX:
            return True
        return (self._tail_chars - self._parsed_chars) * TAIL_GROWTH_SHARE > self._tail_chars

    def _parse_tail(self) -> None:
        nodes = parse_blocks("\n".join(self._tail))
        for node in nodes[:-1]:
            self._emit_node(node)
        self._keep_tail(self._show_last(nodes[-1]) if nodes else len(self._tail))
        self._open = nodes[-1] if self._tail else None

    def _show_last(self, node: Node) -> int:
        """Give out what is decided of the last block; return the line from which it is open."""
        if self._is_closed(node):
            self._emit_node(node)
            return len(self._tail)
        if node.type == "fence":
            self._open_fence(node)
            return len(self._tail)
        if node.type in {"bullet_list", "ordered_list"}:
            return self._emit_items_but_last(node)
        return line_range(node)[0]

    def _keep_tail(self, start: int) -> None:
        """Drop the lines of the tail before ``start``; the rest has been parsed."""
        self._tail = self._tail[start:]
        self._tail_chars = sum(len(line) + 1 for line in self._tail)
        self._parsed_chars = self._tail_chars
        self._open = None

    def _is_closed(self, node: Node) -> bool:
        match node.type:
            case "heading" | "hr":
                return True
            case "fence":
                start, end = line_range(node)
                closing = self._fence_of(node).closing
                return end - start > 1 and closing.match(self._tail[end - 1]) is not None
            case "paragraph" | "table" | "blockquote":
                end = last_line(node)
                return end < len(self._tail) and not self._tail[end].strip()
            case _:
                return False

    def _begin_block(self) -> None:
        if self._has_lines:
            self._out.append(BLANK_LINE)
        self._has_lines = True

    def _emit_node(self, node: Node) -> None:
        if self._list is not None and node.type == self._list.kind:
            self._emit_items(node, node.children)
            self._list = None
            return
        self._list = None
        self._begin_block()
        self._out += node_lines(node, self._look)

    # lists -----------------------------------------------------------------------------------
    def _emit_items_but_last(self, node: Node) -> int:
        """Give out all items but the last; return the line at which the last begins."""
        *done, last = node.children
        if done:
            self._emit_items(node, done)
            number = self._number_of(node)
            self._list = _OpenList(
                node.type,
                None if number is None else number + len(done),
                gap_between(done[-1], last),
            )
        return line_range(last)[0]

    def _number_of(self, node: Node) -> int | None:
        if node.type != "ordered_list":
            return None
        if self._list is not None:
            return self._list.number
        return int(node.attrs.get("start", 1))

    def _emit_items(self, node: Node, items: list[Node]) -> None:
        number = self._number_of(node)
        previous: Node | None = None
        for item in items:
            if previous is not None:
                gap = gap_between(previous, item)
            elif self._list is not None:
                gap = self._list.gap
            else:
                self._begin_block()
                gap = False
            if gap:
                self._out.append(BLANK_LINE)
            self._out += item_lines(item, self._look, TOP, number)
            number = None if number is None else number + 1
            previous = item

    # fences ----------------------------------------------------------------------------------
    def _fence_of(self, node: Node) -> _OpenFence:
        opening = self._tail[line_range(node)[0]]
        mark, length = node.markup[0], len(node.markup)
        closing = re.compile(rf" {{0,3}}{re.escape(mark)}{{{length},}}[ \t]*\Z")
        indent = len(opening) - len(opening.lstrip(" "))
        return _OpenFence(closing, indent, fence_language(node.info))

    def _open_fence(self, node: Node) -> None:
        self._list = None
        self._begin_block()
        fence = self._fence = self._fence_of(node)
        if fence.language:
            self._out.append(code_label(fence.language))
        self._fence_is_empty = True
        for line in self._tail[line_range(node)[0] + 1 :]:
            self._add_code_line(line, fence)

    def _add_code_line(self, line: str, fence: _OpenFence) -> None:
        if fence.closing.match(line):
            self._close_fence()
            return
        code = _without_indent(line, fence.indent)
        self._out.append(code_line(code, fence.language, self._look))
        self._fence_is_empty = False

    def _close_fence(self) -> None:
        if self._fence_is_empty:
            self._out.append(code_line("", "", self._look))
        self._fence = None

    # paragraphs ------------------------------------------------------------------------------
    def open_paragraph(self, chars_max: int) -> str | None:
        """Return the source of the paragraph that is being written, if it can be nothing else.

        Args:
            chars_max: None is returned of a longer one.
        """
        if self._fence is not None or self._list is not None:
            return None
        if self._parsed_chars != self._tail_chars:
            return None
        if self.open_chars > chars_max:
            return None
        if self._tail and (self._open is None or self._open.type != "paragraph"):
            return None
        line = "".join(self._line)
        self._line = [line]
        if not _PARAGRAPH_START.match(line):
            # The next line may make a table of one that begins with a bar.
            if not self._tail or self._tail[-1].lstrip().startswith("|"):
                return None
            line = ""
        # The lines as they came: their trailing blanks may be a hard break.
        return "\n".join([*self._tail, line]).lstrip()
