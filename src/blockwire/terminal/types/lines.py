"""``text/lines``: lines that the terminal lays out.

Spec: docs/spec/terminal/lines.md.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Final, cast

from msgspec import UNSET, UnsetType

from blockwire.jsontext import Json
from blockwire.terminal.content import (
    ContentRefusal,
    Data,
    FragmentShape,
    Layout,
    Line,
    LogicalLine,
    Span,
)
from blockwire.terminal.types.layouts import (
    DEFAULT_LAYOUT,
    are_valid_lines,
    layout_cost_bytes,
    normal_layout,
)
from blockwire.terminal.types.reading import read_lines
from blockwire.terminal.types.schemas import line_list_schema
from blockwire.terminal.types.shapes import LINES, has_shape
from blockwire.terminal.types.styledtext import StyledText
from blockwire.terminal.types.styles import Shared
from blockwire.terminal.vocabulary import LINES as LINES_TYPE

# What a line counts for, its text and layout aside: about the memory that it takes.
LINE_COST_BYTES: Final = 16


class LinesContent:
    """The lines of one Block, spans and layouts in normal form."""

    __slots__ = ("_known", "_layouts", "_layouts_cost_bytes", "_starts", "_styled")

    def __init__(self, lines: tuple[Line, ...]) -> None:
        # The lines joined by LF; each line's offset in that, and its layout.
        self._styled = StyledText()
        self._starts = array("Q")
        self._layouts: list[Layout] = []
        self._layouts_cost_bytes = 0
        self._known: Shared[Layout] = Shared()
        self._add(lines)

    @property
    def scalar_count(self) -> int:
        """Unicode scalar values of the lines joined by LF."""
        return self._styled.scalar_count

    @property
    def cost_bytes(self) -> int:
        """UTF-8 bytes of the text, and what lines, layouts, styles and links count for."""
        lines_cost_bytes = LINE_COST_BYTES * len(self._starts)
        return self._styled.cost_bytes + lines_cost_bytes + self._layouts_cost_bytes

    def data(self) -> tuple[Line, ...]:
        """Return the lines in normal form."""
        return tuple(
            Line(
                spans=line.spans,
                layout=line.layout if line.layout and line.layout != DEFAULT_LAYOUT else UNSET,
            )
            for line in self._lines_from(0)
        )

    def text(self) -> str:
        """Return the lines joined by LF."""
        return self._styled.text()

    def lines(self, start: int = 0) -> Iterator[LogicalLine]:
        """Yield the lines from the one that holds scalar ``start``; an empty one if there is none."""
        if self._starts:
            yield from self._lines_from(bisect_right(self._starts, max(start, 0)) - 1)
        else:
            yield LogicalLine(0, (), 0, DEFAULT_LAYOUT)

    def refuse_extend(self, fragment: Data) -> ContentRefusal | None:
        """Refuse what is no valid LineList, and another layout than the last line has."""
        if refusal := refuse_lines(fragment):
            return refusal
        return self._refuse_continuation(self.scalar_count, cast("tuple[Line, ...]", fragment))

    def extend(self, fragment: Data) -> None:
        """Continue the last line and begin others."""
        self._add(cast("tuple[Line, ...]", fragment))

    def refuse_replace_suffix(self, retain: int, replacement: Data) -> ContentRefusal | None:
        """Refuse as :meth:`refuse_extend`, and to keep all or more than all."""
        if refusal := refuse_lines(replacement):
            return refusal
        if retain >= self.scalar_count:
            return "invalid_content_boundary"
        return self._refuse_continuation(retain, cast("tuple[Line, ...]", replacement))

    def replace_suffix(self, retain: int, replacement: Data) -> None:
        """Keep ``retain`` scalars and the layouts of their lines, then add."""
        while self._starts[-1] > retain:
            self._starts.pop()
            self._layouts_cost_bytes -= layout_cost_bytes(self._layouts.pop())
        self._styled.cut(retain)
        self._add(cast("tuple[Line, ...]", replacement))

    def growth_bytes(self, retain: int, added: Data) -> int:
        """Return what text, styles, lines and layouts of ``added`` count, less what is removed."""
        lines = cast("tuple[Line, ...]", added)
        spans = chain.from_iterable(line.spans for line in lines)
        breaks_bytes = max(len(lines) - 1, 0)
        growth_bytes = breaks_bytes + self._styled.growth_bytes(retain, spans)
        last = len(self._starts) - 1
        while last >= 0 and self._starts[last] > retain:
            growth_bytes -= LINE_COST_BYTES + layout_cost_bytes(self._layouts[last])
            last -= 1
        for index, line in enumerate(lines):
            cost_bytes = layout_cost_bytes(normal_layout(line.layout))
            if index > 0 or last < 0:
                growth_bytes += LINE_COST_BYTES + cost_bytes
            elif line.layout is not UNSET and self._starts[last] == retain:
                growth_bytes += cost_bytes - layout_cost_bytes(self._layouts[last])
        return growth_bytes

    def _refuse_continuation(self, retain: int, lines: tuple[Line, ...]) -> ContentRefusal | None:
        """Refuse a layout of the first line that the line it continues does not have."""
        line = bisect_right(self._starts, retain) - 1
        if not lines or lines[0].layout is UNSET or line < 0 or self._starts[line] == retain:
            return None
        is_equal = normal_layout(lines[0].layout) == self._layouts[line]
        return None if is_equal else "invalid_content"

    def _add(self, lines: tuple[Line, ...]) -> None:
        for index, line in enumerate(lines):
            if index > 0:
                self._styled.add_break()
            if index > 0 or not self._starts:
                self._begin_line(line.layout)
            elif line.layout is not UNSET and self._starts[-1] == self.scalar_count:
                self._starts.pop()
                self._layouts_cost_bytes -= layout_cost_bytes(self._layouts.pop())
                self._begin_line(line.layout)
            self._styled.add_spans(line.spans)

    def _begin_line(self, layout: Layout | UnsetType) -> None:
        normal = self._known.share(normal_layout(layout))
        self._starts.append(self.scalar_count)
        self._layouts.append(normal)
        self._layouts_cost_bytes += layout_cost_bytes(normal)

    def _lines_from(self, first: int) -> Iterator[LogicalLine]:
        last = len(self._starts) - 1
        for index in range(first, last + 1):
            start = self._starts[index]
            end = self._starts[index + 1] - 1 if index < last else self.scalar_count
            spans: tuple[Span, ...] = ()
            if start < end:
                spans = self._styled.spans_of(start, self._styled.slice(start, end))
            yield LogicalLine(start, spans, int(index < last), self._layouts[index])


class LinesType:
    """Lines with wrapping, alignment, prefixes and fill."""

    name: Final = LINES_TYPE
    shape: Final[FragmentShape] = LINES

    def read_data(self, value: Json) -> tuple[Line, ...]:
        """Return a LineList."""
        return read_lines(value)

    def refuse_data(self, data: Data) -> ContentRefusal | None:
        """Refuse what is no valid LineList."""
        return refuse_lines(data)

    def new_content(self, data: Data) -> LinesContent:
        """Return a content of these lines."""
        return LinesContent(cast("tuple[Line, ...]", data))

    def schema(self) -> Json:
        """Return the JSON Schema of a LineList."""
        return line_list_schema()


def refuse_lines(data: Data) -> ContentRefusal | None:
    """Refuse what is not lines, and lines that break a rule wherever they are added."""
    if has_shape(data, LINES) and are_valid_lines(cast("tuple[Line, ...]", data)):
        return None
    return "invalid_content"
