"""``text/styled``: a text in spans, each in a style.

Spec: docs/spec/terminal/styled.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from blockwire.jsontext import Json
from blockwire.terminal.content import ContentRefusal, Data, FragmentShape, LogicalLine, Span
from blockwire.terminal.types.reading import read_spans
from blockwire.terminal.types.schemas import span_list_schema
from blockwire.terminal.types.shapes import SPANS, has_shape
from blockwire.terminal.types.styledtext import StyledText
from blockwire.terminal.types.styles import are_valid_spans
from blockwire.terminal.vocabulary import STYLED


class StyledContent:
    """The spans of one Block, in normal form."""

    __slots__ = ("_styled",)

    def __init__(self, spans: tuple[Span, ...]) -> None:
        self._styled = StyledText()
        self._styled.add_spans(spans)

    @property
    def scalar_count(self) -> int:
        """Unicode scalar values of the texts joined."""
        return self._styled.scalar_count

    @property
    def cost_bytes(self) -> int:
        """UTF-8 bytes of the texts, and what styles and links count for."""
        return self._styled.cost_bytes

    def data(self) -> tuple[Span, ...]:
        """Return the spans in normal form."""
        return self._styled.spans_of(0, self._styled.text())

    def text(self) -> str:
        """Return the texts joined."""
        return self._styled.text()

    def lines(self, start: int = 0) -> Iterator[LogicalLine]:
        """Yield the lines from the one that holds scalar ``start``; LF, CRLF and CR end one each."""
        for line in self._styled.lines_at(start):
            spans = self._styled.spans_of(line.start, line.text)
            yield LogicalLine(line.start, spans, line.break_chars, None)

    def refuse_extend(self, fragment: Data) -> ContentRefusal | None:
        """Refuse what is no valid SpanList."""
        return refuse_spans(fragment)

    def extend(self, fragment: Data) -> None:
        """Add spans."""
        self._styled.add_spans(cast("tuple[Span, ...]", fragment))

    def refuse_replace_suffix(self, retain: int, replacement: Data) -> ContentRefusal | None:
        """Refuse what is no valid SpanList, and to keep all or more than all."""
        if refusal := refuse_spans(replacement):
            return refusal
        return None if retain < self.scalar_count else "invalid_content_boundary"

    def replace_suffix(self, retain: int, replacement: Data) -> None:
        """Keep ``retain`` scalars in their styles and add spans."""
        self._styled.cut(retain)
        self._styled.add_spans(cast("tuple[Span, ...]", replacement))

    def growth_bytes(self, retain: int, added: Data) -> int:
        """Return what text and styles of ``added`` count, less what is removed."""
        return self._styled.growth_bytes(retain, cast("tuple[Span, ...]", added))


class StyledType:
    """Text with colours, attributes and links."""

    name: Final = STYLED
    shape: Final[FragmentShape] = SPANS

    def read_data(self, value: Json) -> tuple[Span, ...]:
        """Return a SpanList."""
        return read_spans(value)

    def refuse_data(self, data: Data) -> ContentRefusal | None:
        """Refuse what is no valid SpanList."""
        return refuse_spans(data)

    def new_content(self, data: Data) -> StyledContent:
        """Return a content of these spans."""
        return StyledContent(cast("tuple[Span, ...]", data))

    def schema(self) -> Json:
        """Return the JSON Schema of a SpanList."""
        return span_list_schema()


def refuse_spans(data: Data) -> ContentRefusal | None:
    """Refuse what is not spans, and spans of which one has a style that is not valid."""
    if has_shape(data, SPANS) and are_valid_spans(cast("tuple[Span, ...]", data)):
        return None
    return "invalid_content"
