"""Markdown that arrives in pieces, shown as rows that never change.

Spec: docs/spec/rendering/markdown.md.

Beside the lines that are final, the decided words of an open paragraph are shown. Everything else
(tables, quotes) appears when it is complete. Whatever was given out is a prefix of the rows of the
whole text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from blockwire.render.inline import inline_lines, stable_source
from blockwire.render.layout import BLANK_ROW, FlowLine, rows_of, wrap_spans
from blockwire.render.openblocks import MarkdownBlocks, normalise_markdown
from blockwire.render.spans import Row, TerminalLook, slice_spans
from blockwire.text import last_break

__all__ = ["MarkdownStream", "NewRows", "normalise_markdown"]

PARAGRAPH_LIVE_CHARS_MAX: Final = 8192
"""Longest paragraph that is shown word by word; a longer one waits for its end."""


class NewRows(NamedTuple):
    """What a feed decided: rows that are final, and the beginning of the row after them.

    ``partial`` only ever grows until the row appears in ``rows``.
    """

    rows: list[Row]
    partial: Row | None


class MarkdownStream:
    """Turns pieces of Markdown into rows."""

    def __init__(self, look: TerminalLook) -> None:
        self._look = look
        self._blocks = MarkdownBlocks(look)
        self._has_rows = False
        self._live_rows = 0  # rows of the open paragraph that were begun
        self._given_rows = 0  # those that are out, with the blank one above them

    def feed(self, text: str) -> NewRows:
        """Add ``text`` and return what it decided."""
        rows = self._rows(self._blocks.feed(text))
        partial = self._show_paragraph(rows)
        return NewRows(rows, partial)

    def finish(self) -> NewRows:
        """Return the rest: there will be no more text."""
        return NewRows(self._rows(self._blocks.finish()), None)

    def _rows(self, lines: Sequence[FlowLine]) -> list[Row]:
        if not lines:
            return []
        rows = rows_of(lines, self._look)[self._given_rows :]
        self._has_rows = True
        self._live_rows = self._given_rows = 0
        return rows

    def _show_paragraph(self, out: list[Row]) -> Row | None:
        """Give out the decided rows of an open paragraph; return the beginning of the next one."""
        source = self._blocks.open_paragraph(PARAGRAPH_LIVE_CHARS_MAX)
        rows = self._decided_rows(source) if source is not None else []
        if not rows or not (rows[0].spans or self._live_rows):
            return None
        if not self._live_rows:
            if self._has_rows:
                out.append(BLANK_ROW)
                self._given_rows = 1
            self._live_rows = 1
        # Rows below index _live_rows - 1 are out; the last one is still growing.
        begun = max(self._live_rows, len(rows))
        out += rows[self._live_rows - 1 : -1]
        self._given_rows += begun - self._live_rows
        self._live_rows = begun
        return rows[-1]

    def _decided_rows(self, source: str) -> list[Row]:
        tokens, is_whole = stable_source(source)
        lines = inline_lines(tokens)
        if not is_whole:
            # The word before an undecided delimiter may go on.
            text = "".join(span.text for span in lines[-1])
            lines[-1] = list(slice_spans(lines[-1], 0, last_break(text)))
        rows: list[Row] = []
        for line in lines:
            rows += wrap_spans(line, self._look)
        return rows
