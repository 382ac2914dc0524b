"""``text/plain``: a text, stored as it came.

Spec: docs/spec/terminal/plain-text.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from blockwire.jsontext import Json
from blockwire.terminal.content import ContentRefusal, Data, FragmentShape, LogicalLine, Span
from blockwire.terminal.types.pieces import GrowingText, utf8_bytes
from blockwire.terminal.types.reading import read_text
from blockwire.terminal.types.schemas import text_schema
from blockwire.terminal.types.shapes import TEXT, has_shape
from blockwire.terminal.vocabulary import PLAIN


class PlainContent:
    """The text of one Block."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = GrowingText(text)

    @property
    def scalar_count(self) -> int:
        """Unicode scalar values of the text."""
        return self._text.scalar_count

    @property
    def cost_bytes(self) -> int:
        """UTF-8 bytes of the text."""
        return self._text.utf8_bytes

    def data(self) -> str:
        """Return the text."""
        return self._text.text()

    def text(self) -> str:
        """Return the text."""
        return self._text.text()

    def lines(self, start: int = 0) -> Iterator[LogicalLine]:
        """Yield its lines from the one that holds scalar ``start``; LF, CRLF and CR end one each."""
        for line in self._text.lines(self._text.line_start(start)):
            spans = (Span(text=line.text),) if line.text else ()
            yield LogicalLine(line.start, spans, line.break_chars, None)

    def refuse_extend(self, fragment: Data) -> ContentRefusal | None:
        """Refuse what is no text."""
        return None if isinstance(fragment, str) else "invalid_content"

    def extend(self, fragment: Data) -> None:
        """Add a text."""
        assert isinstance(fragment, str), "refused before"
        self._text.add(fragment)

    def refuse_replace_suffix(self, retain: int, replacement: Data) -> ContentRefusal | None:
        """Refuse what is no text, and to keep all or more than all."""
        if not isinstance(replacement, str):
            return "invalid_content"
        return None if retain < self.scalar_count else "invalid_content_boundary"

    def replace_suffix(self, retain: int, replacement: Data) -> None:
        """Keep ``retain`` scalars and add a text."""
        assert isinstance(replacement, str), "refused before"
        self._text.cut(retain)
        self._text.add(replacement)

    def growth_bytes(self, retain: int, added: Data) -> int:
        """Return the UTF-8 bytes of ``added`` less those of what is removed."""
        assert isinstance(added, str), "refused before"
        return utf8_bytes(added) - self._text.utf8_bytes_from(retain)


class PlainType:
    """The type that every terminal knows; every text is valid."""

    name: Final = PLAIN
    shape: Final[FragmentShape] = TEXT

    def read_data(self, value: Json) -> str:
        """Return a string."""
        return read_text(value)

    def refuse_data(self, data: Data) -> ContentRefusal | None:
        """Refuse what is no text."""
        return None if has_shape(data, TEXT) else "invalid_content"

    def new_content(self, data: Data) -> PlainContent:
        """Return a content of this text."""
        assert isinstance(data, str), "refused before"
        return PlainContent(data)

    def schema(self) -> Json:
        """Return the JSON Schema of a string."""
        return text_schema()
