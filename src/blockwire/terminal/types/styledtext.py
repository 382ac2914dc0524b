"""A growing text whose parts have styles.

Spec: docs/spec/terminal/styled.md, "Normal form", and content-types.md, "Cost".
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from msgspec import UNSET, UnsetType

from blockwire.terminal.content import Span, Style
from blockwire.terminal.types.pieces import GrowingText, TextLine, utf8_bytes
from blockwire.terminal.types.styles import Shared, normal_style, style_cost_bytes


class StyledText:
    """A text, and where its style changes: normal form by construction.

    Growing and cutting take time in what is added or removed, in scalars and in spans, plus at
    most a constant.
    """

    __slots__ = ("_known", "_run_starts", "_run_styles", "_styles_cost_bytes", "_text")

    def __init__(self) -> None:
        self._text = GrowingText()
        # A run begins where the style becomes another one. Before the first one there is none.
        self._run_starts = array("Q")
        self._run_styles: list[Style | UnsetType] = []
        self._styles_cost_bytes = 0
        self._known: Shared[Style] = Shared()

    @property
    def scalar_count(self) -> int:
        """Its length in Unicode scalar values."""
        return self._text.scalar_count

    @property
    def cost_bytes(self) -> int:
        """UTF-8 bytes of the text, and what its styles count for."""
        return self._text.utf8_bytes + self._styles_cost_bytes

    def add_spans(self, spans: Iterable[Span]) -> None:
        """Add spans at the end."""
        for span in spans:
            if span.text:
                self._begin_run(normal_style(span.style))
                self._text.add(span.text)

    def add_break(self) -> None:
        """Add an LF, in whatever style: nobody asks for it."""
        self._text.add("\n")

    def cut(self, retain: int) -> None:
        """Keep the first ``retain`` scalars, which are at most all, in their styles."""
        while self._run_starts and self._run_starts[-1] >= retain:
            self._run_starts.pop()
            self._styles_cost_bytes -= style_cost_bytes(self._run_styles.pop())
        self._text.cut(retain)

    def growth_bytes(self, retain: int, spans: Iterable[Span]) -> int:
        """Return by how much it would cost more with ``spans`` behind ``retain`` scalars."""
        growth_bytes = -self._text.utf8_bytes_from(retain)
        run = len(self._run_starts) - 1
        while run >= 0 and self._run_starts[run] >= retain:
            growth_bytes -= style_cost_bytes(self._run_styles[run])
            run -= 1
        last = self._run_styles[run] if run >= 0 else UNSET
        for span in spans:
            if not span.text:
                continue
            style = normal_style(span.style)
            if style != last:
                growth_bytes += style_cost_bytes(style)
                last = style
            growth_bytes += utf8_bytes(span.text)
        return growth_bytes

    def text(self) -> str:
        """Return the text."""
        return self._text.text()

    def slice(self, start: int, end: int) -> str:
        """Return the scalars from ``start`` up to ``end``."""
        return self._text.slice(start, end)

    def lines_at(self, start: int) -> Iterator[TextLine]:
        """Yield the lines of the text from the one that holds scalar ``start``."""
        return self._text.lines(self._text.line_start(start))

    def spans_of(self, start: int, text: str) -> tuple[Span, ...]:
        """Return ``text``, which stands at scalar ``start``, as spans in normal form."""
        spans: list[Span] = []
        run = bisect_right(self._run_starts, start) - 1
        at = 0
        while at < len(text):
            next_run = run + 1
            end = len(text)
            if next_run < len(self._run_starts):
                end = min(end, self._run_starts[next_run] - start)
            style = self._run_styles[run] if run >= 0 else UNSET
            spans.append(Span(text=text[at:end], style=style))
            at, run = end, next_run
        return tuple(spans)

    def _begin_run(self, style: Style | UnsetType) -> None:
        if style == (self._run_styles[-1] if self._run_styles else UNSET):
            return
        self._run_starts.append(self._text.scalar_count)
        self._run_styles.append(self._known.share(style) if style else style)
        self._styles_cost_bytes += style_cost_bytes(style)
