"""Texts that grow, as lines: those that never change, and the rest as it looks now.

Spec: docs/spec/rendering/projector.md, "Growing text".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from blockwire.render.layout import FlowLine
from blockwire.render.looks import THINKING_LINE, thought_lines
from blockwire.render.openblocks import MarkdownBlocks, normalise_markdown
from blockwire.render.spans import TerminalLook

__all__ = ["LIVE_CHARS_MAX", "GrowingLines", "MarkdownLines", "ThoughtLines"]

LIVE_CHARS_MAX: Final = 1024
"""Longest open end that is looked at again with every piece."""

GROWTH_SHARE: Final = 16
"""A longer one is looked at again when one part in so many is new: the work stays linear."""


class GrowingLines(Protocol):
    """A text that grows, as lines.

    Attributes:
        fixed: Lines that never change; only ever longer.
        rest: What follows them, as it looked when it was looked at last: a new list each time.
    """

    fixed: list[FlowLine]
    rest: list[FlowLine]

    @property
    def has_lines(self) -> bool:
        """Whether there is anything to see."""

    def feed(self, text: str) -> None:
        """Add ``text``."""

    def finish(self) -> None:
        """Make all lines fixed: there will be no more text."""


def _is_due(open_chars: int, seen_chars: int) -> bool:
    return open_chars <= LIVE_CHARS_MAX or (open_chars - seen_chars) * GROWTH_SHARE >= open_chars


class MarkdownLines:
    """Markdown that grows. Whenever the rest is looked at, all lines are those of the whole.

    Args:
        look: Of the terminal.
        above: Lines that stand above all others.
    """

    def __init__(self, look: TerminalLook, above: Sequence[FlowLine] = ()) -> None:
        self.fixed: list[FlowLine] = [*above]
        self._above = len(above)
        self.rest: list[FlowLine] = []
        self._blocks = MarkdownBlocks(look)
        self._seen_chars = 0

    @property
    def has_lines(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.rest) or len(self.fixed) > self._above

    def feed(self, text: str) -> None:
        """Add ``text``."""
        new = self._blocks.feed(text)
        self.fixed += new
        if new or _is_due(self._blocks.open_chars, self._seen_chars):
            self.rest = self._blocks.open_lines()
            self._seen_chars = self._blocks.open_chars

    def finish(self) -> None:
        """Make all lines fixed."""
        self.fixed += self._blocks.finish()
        self.rest = []


class ThoughtLines:
    """Reasoning that grows: no line before the first that is not blank, and none after the last.

    Args:
        look: Of the terminal.
        above: Lines that stand above all others.
    """

    def __init__(self, look: TerminalLook, above: Sequence[FlowLine] = ()) -> None:
        self.fixed: list[FlowLine] = [*above]
        self._above = len(above)
        self.rest: list[FlowLine] = []
        self._look = look
        self._line: list[str] = []  # pieces of the line that is not complete
        self._line_chars = 0
        self._seen_chars = 0
        self._blank: list[str] = []  # lines that are shown if another follows
        self._has_cr = False

    @property
    def has_lines(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.rest) or self._is_begun

    @property
    def _is_begun(self) -> bool:
        return len(self.fixed) > self._above

    def feed(self, text: str) -> None:
        """Add ``text``."""
        text = ("\r" if self._has_cr else "") + text
        self._has_cr = text.endswith("\r")
        first, *others = normalise_markdown(text[:-1] if self._has_cr else text).split("\n")
        self._line.append(first)
        self._line_chars += len(first)
        for other in others:
            self.fixed += self._lines("".join(self._line))
            self._line, self._line_chars = [other], len(other)
        if others or _is_due(self._line_chars, self._seen_chars):
            self._line = ["".join(self._line)]
            blank = [*self._blank]
            self.rest = self._lines(self._line[0])
            self._blank = blank
            self._seen_chars = self._line_chars

    def finish(self) -> None:
        """Make all lines fixed."""
        self.fixed += self._lines("".join(self._line))
        self.rest = []

    def _lines(self, line: str) -> list[FlowLine]:
        """Return what a line shows, with the blank ones above it; keep it if it is blank."""
        if not line.strip():
            if self._is_begun:
                self._blank.append(line)
            return []
        text = "\n".join([*self._blank, line])
        self._blank = []
        label = [] if self._is_begun else [THINKING_LINE]
        return [*label, *thought_lines(text, self._look)]
