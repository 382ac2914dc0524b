"""One terminal Block: what it shows, and the cheapest change to what it should show.

Spec: docs/spec/rendering/projector.md, "Growing text".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from blockwire.render.blockoperations import (
    AppendBlock,
    BlockOperation,
    ExtendBlock,
    ReplaceSuffix,
    UpdateBlock,
)
from blockwire.render.layout import FlowLine
from blockwire.render.terminallines import CONVERSIONS, data_of
from blockwire.terminal import Layout, Line, Span

__all__ = ["ShownBlock"]


class ShownBlock:
    """A Block as the terminal was told; it keeps no line that cannot change.

    Args:
        name: Of the Block.
        type_name: The content type of its data.
    """

    def __init__(self, name: str, type_name: str) -> None:
        self.name = name
        self._type = type_name
        self._source: object = None
        self._seen: tuple[int, list[FlowLine]] | None = None
        self._dropped = 0  # fixed lines that are not kept
        self._dropped_chars = 0  # theirs, each with its break
        self._kept: list[Line] = []  # the last fixed line, and all that are not fixed

    def show(
        self, source: object, fixed: Sequence[FlowLine], rest: list[FlowLine]
    ) -> BlockOperation | None:
        """Return what makes the Block show these lines; None if it does.

        Args:
            source: Whose lines they are; those of another have nothing in common.
            fixed: Lines that never change, the same as before and perhaps more.
            rest: What follows; another list when it is other lines.
        """
        before, self._seen = self._seen, (len(fixed), rest)
        operation: BlockOperation | None
        if before is None or self._source is not source:
            self._source = source
            self._dropped = self._dropped_chars = 0
            lines = self._converted(fixed, rest)
            data = data_of(lines, self._type)
            if before is None:
                operation = AppendBlock(self.name, self._type, data)
            else:
                operation = UpdateBlock(self.name, data)
        elif before[0] == len(fixed) and before[1] is rest:
            return None
        else:
            lines = self._converted(fixed[self._dropped :], rest)
            operation = self._change(lines)
        self._keep(lines, max(len(fixed) - 1, 0))
        return operation

    def _converted(self, fixed: Sequence[FlowLine], rest: Sequence[FlowLine]) -> list[Line]:
        convert = CONVERSIONS[self._type]
        return [convert(line) for line in (*fixed, *rest)]

    def _keep(self, lines: list[Line], dropped: int) -> None:
        gone = dropped - self._dropped
        self._dropped_chars += sum(_chars(line) + 1 for line in lines[:gone])
        self._dropped = dropped
        self._kept = lines[gone:]

    def _change(self, new: list[Line]) -> BlockOperation | None:
        old = self._kept
        count = min(len(old), len(new))
        same = next((index for index in range(count) if old[index] != new[index]), count)
        start = self._dropped_chars + sum(_chars(line) + 1 for line in old[:same])
        end = self._dropped_chars + sum(_chars(line) + 1 for line in old) - 1
        if same == len(old):
            # The first line of a fragment goes on with the last one.
            fragment = [Line(spans=()), *new[same:]] if old else new
            retain = end
        elif same == len(new):
            fragment, retain = [], start - 1
        else:
            first, kept_chars = _continuation(old[same], new[same])
            fragment, retain = [first, *new[same + 1 :]], start + kept_chars
        data = data_of(fragment, self._type)
        if same == len(new) == len(old) or not (old or data):
            return None
        if retain >= end:
            return ExtendBlock(self.name, data)
        if retain <= 0:
            return UpdateBlock(self.name, data_of(new, self._type))
        return ReplaceSuffix(self.name, retain, data)


def _chars(line: Line) -> int:
    return sum(len(span.text) for span in line.spans)


def _continuation(old: Line, new: Line) -> tuple[Line, int]:
    """Return what makes ``new`` of the beginning of ``old``, and how much of that is kept."""
    if old.layout != new.layout:
        # Only a line without text takes another layout.
        return Line(spans=new.spans, layout=new.layout or Layout()), 0
    kept_chars = 0
    for mine, theirs in zip(old.spans, new.spans, strict=False):
        if mine.style != theirs.style:
            break
        kept_chars += _common_chars(mine.text, theirs.text)
        if mine.text != theirs.text:
            break
    return Line(spans=_behind(new.spans, kept_chars), layout=UNSET), kept_chars


def _common_chars(old: str, new: str) -> int:
    if new.startswith(old):
        return len(old)
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, (mine, theirs) in pairs if mine != theirs), len(new))


def _behind(spans: Sequence[Span], chars: int) -> tuple[Span, ...]:
    """Return what follows the first ``chars`` scalars."""
    kept: list[Span] = []
    for span in spans:
        if chars < len(span.text):
            kept.append(Span(text=span.text[chars:], style=span.style))
        chars = max(chars - len(span.text), 0)
    return tuple(kept)
