"""What a logical line shows, and how that hangs together with its text.

Spec: docs/spec/terminal/plain-text.md, "One projection". A screen draws ``shown``, copies parts of
it, and searches ``searchable``; whatever is copied can be found, and nothing else.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from blockwire.terminal.content import Span
from blockwire.text import TAB_STOP_CELLS, AmbiguousWidth, clusters, label_controls, width


class Replaced(NamedTuple):
    """One scalar that shows as something else.

    Attributes:
        at: Its offset in the text of the line.
        found_at: Where its label, or the Tab itself, stands in ``searchable``.
        found_end: Behind that.
        shown_at: Where its label, or the blanks up to the next stop, stand in ``shown``.
        shown_end: Behind them.
    """

    at: int
    found_at: int
    found_end: int
    shown_at: int
    shown_end: int


@dataclass(frozen=True, slots=True)
class ShownLine:
    """The projection of a line; offsets are scalars of ``text``, indexes characters of ``shown``.

    Attributes:
        text: The line, raw, without its break.
        shown: What is drawn: labels for controls, blanks for tabs; nothing in it acts.
        searchable: What is found, and copied if all is selected: as ``shown``, but with tabs.
        replaced: What differs, in order; empty for nearly every line.
        ambiguous_width: Cells of a character of ambiguous width.
    """

    text: str
    shown: str
    searchable: str
    replaced: tuple[Replaced, ...] = ()
    ambiguous_width: AmbiguousWidth = 1

    def to_shown(self, offset: int) -> int:
        """Return the index at which the scalar at ``offset`` begins to show."""
        place = bisect_left(self.replaced, offset, key=_at) - 1
        if place < 0:
            return offset
        before = self.replaced[place]
        return before.shown_end + offset - before.at - 1

    def to_scalar(self, index: int) -> int:
        """Return the offset of the scalar that shows at ``index``, be it with its first cell or not."""
        place = bisect_right(self.replaced, index, key=_shown_at) - 1
        if place < 0:
            return index
        before = self.replaced[place]
        if index < before.shown_end:
            return before.at
        return before.at + 1 + index - before.shown_end

    def found_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the indexes of what was found from ``start`` up to ``end`` of ``searchable``."""
        return self._found_to_shown(start), self._found_to_shown(end)

    def cell_range(self, start_cell: int, end_cell: int) -> tuple[int, int]:
        """Return the indexes of all clusters that have a cell from ``start_cell`` up to ``end_cell``.

        So a selection that ends inside a character of two cells has all of it; one of no cell has
        nothing.
        """
        if self.shown.isascii():
            start = min(max(start_cell, 0), len(self.shown))
            return start, max(start, min(end_cell, len(self.shown)))
        index = cell = 0
        start = end = len(self.shown)
        for cluster in clusters(self.shown):
            cell_behind = cell + width(cluster, ambiguous_width=self.ambiguous_width)
            if cell >= end_cell:
                end = index
                break
            # A character of no cell goes with what stands behind it.
            if cell_behind > start_cell or cell == start_cell:
                start = min(start, index)
            cell, index = cell_behind, index + len(cluster)
        start = min(start, end)
        return start, end if start_cell < end_cell else start

    def widen(self, start: int, end: int) -> tuple[int, int]:
        """Return the indexes of what is selected, so that no cluster is cut; nothing stays nothing."""
        start, end = max(start, 0), min(end, len(self.shown))
        if start >= end or self.shown.isascii():
            return start, max(start, end)
        index = 0
        for cluster in clusters(self.shown):
            behind = index + len(cluster)
            if index < start < behind:
                start = index
            if index < end < behind:
                end = behind
            index = behind
        return start, end

    def copy(self, start: int, end: int) -> str:
        """Return what is copied of the indexes from ``start`` up to ``end``, widened.

        A Tab whose blanks are all selected is a Tab, otherwise the selected blanks are.
        """
        start, end = self.widen(start, end)
        parts: list[str] = []
        for replaced in self.replaced[bisect_left(self.replaced, start, key=_shown_at) :]:
            if replaced.shown_end > end:
                break
            parts.append(self.shown[start : replaced.shown_at])
            parts.append(self.searchable[replaced.found_at : replaced.found_end])
            start = replaced.shown_end
        parts.append(self.shown[start:end])
        return "".join(parts)

    def show_spans(self, spans: Iterable[Span]) -> tuple[Span, ...]:
        """Return ``shown`` in the styles of ``spans``, whose texts joined are ``text``."""
        if not self.replaced:
            return tuple(spans)
        shown: list[Span] = []
        offset = index = 0
        for span in spans:
            offset += len(span.text)
            end = self.to_shown(offset)
            shown.append(Span(text=self.shown[index:end], style=span.style))
            index = end
        return tuple(shown)

    def _found_to_shown(self, found: int) -> int:
        place = bisect_right(self.replaced, found, key=_found_at) - 1
        if place < 0:
            return found
        before = self.replaced[place]
        if found < before.found_end:
            return before.shown_at + found - before.found_at
        return before.shown_end + found - before.found_end


def project_line(text: str, *, ambiguous_width: AmbiguousWidth = 1) -> ShownLine:
    """Return what a line shows.

    Takes time linear in the line; next to none if all of it is printable.

    Args:
        text: A logical line from its first scalar, without its break (a break that is in it all
            the same gets a label).
        ambiguous_width: As of :func:`blockwire.text.width`; tab stops depend on it.
    """
    if text.isprintable():
        return ShownLine(text, text, text, (), ambiguous_width)
    searchable = label_controls(text, breaks="label")
    replaced: list[Replaced] = []
    parts: list[str] = []
    column = part_start = 0
    # Characters that labels and tabs have added before the place looked at.
    label_chars = tab_chars = 0
    for at, char in enumerate(text):
        # Whatever is replaced is unprintable, but not the other way round.
        if char.isprintable():
            continue
        found_at = at + label_chars
        if char == "\t":
            before = searchable[part_start:found_at]
            column += width(before, ambiguous_width=ambiguous_width)
            blanks = TAB_STOP_CELLS - column % TAB_STOP_CELLS
            column += blanks
            parts += [before, " " * blanks]
            part_start = found_at + 1
            shown_at = found_at + tab_chars
            replaced.append(Replaced(at, found_at, part_start, shown_at, shown_at + blanks))
            tab_chars += blanks - 1
        elif searchable[found_at] != char:
            # Only the whole text says whether a tag character belongs to a flag.
            label = label_controls(char, breaks="label")
            found_end = found_at + len(label)
            shown_at = found_at + tab_chars
            replaced.append(Replaced(at, found_at, found_end, shown_at, shown_at + len(label)))
            label_chars += len(label) - 1
    parts.append(searchable[part_start:])
    return ShownLine(text, "".join(parts), searchable, tuple(replaced), ambiguous_width)


def _at(replaced: Replaced) -> int:
    return replaced.at


def _found_at(replaced: Replaced) -> int:
    return replaced.found_at


def _shown_at(replaced: Replaced) -> int:
    return replaced.shown_at
