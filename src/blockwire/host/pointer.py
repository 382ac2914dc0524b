"""The mouse on the history: clicks and drags that select, and scrolling past the edge.

Spec: docs/spec/host/copying.md, "By mouse".
"""

from __future__ import annotations

from typing import Final, NamedTuple

from blockwire.screen import Range, Screen, SelectionUnit

# Clicks on one cell within this time belong together; what desktops have by default.
CLICKS_S: Final = 0.5

# What one, two, three and four clicks select.
CLICK_UNITS: Final[tuple[SelectionUnit, ...]] = ("character", "word", "line", "block")

# At the edge, a drag scrolls by one row after this time, and again.
AUTOSCROLL_S: Final = 0.06

# The character that was pressed, among the marks of the screen.
_START: Final = "press-start"
_END: Final = "press-end"


class _Click(NamedTuple):
    row: int
    column: int
    at_s: float
    number: int


class Pointer:
    """What the left button selects.

    Attributes:
        is_dragging: Whether it is down.
        wake_at_s: When :meth:`tick` is to be called; None if it need not be.
    """

    def __init__(self, screen: Screen) -> None:
        self.is_dragging = False
        self.wake_at_s: float | None = None
        self._screen = screen
        self._click = _Click(0, 0, float("-inf"), 0)
        self._last = (0, 0)
        self._has_moved = False
        self._was_following = False

    def press(self, row: int, column: int, now_s: float) -> None:
        """Begin: nothing is selected by one click, a word by two, a line by three, a Block by four."""
        last = self._click
        is_next = (row, column) == (last.row, last.column) and now_s - last.at_s <= CLICKS_S
        number = last.number % len(CLICK_UNITS) + 1 if is_next else 1
        self._click = _Click(row, column, now_s, number)
        self._last, self._has_moved, self.is_dragging = (row, column), False, True
        self._was_following = self._screen.viewport.is_following
        self._screen.selection.clear()
        self._hold()
        marks = self._screen.marks
        marks[_START], marks[_END] = self._range_at(row, column)
        if number > 1:
            self._begin()

    def drag(self, row: int, column: int, now_s: float) -> None:
        """Select up to a cell; at the first row and below the last one, scroll as time goes by."""
        if not self.is_dragging or (row, column) == self._last:
            return
        if not self._has_moved and self._click.number == 1:
            self._begin()
        self._has_moved, self._last = True, (row, column)
        self._extend()
        if self._edge() == 0:
            self.wake_at_s = None
        elif self.wake_at_s is None:
            self.wake_at_s = now_s + AUTOSCROLL_S

    def release(self) -> bool:
        """End; return whether something is selected now."""
        if not self.is_dragging:
            return False
        self.is_dragging, self.wake_at_s = False, None
        chosen = self._screen.selection.chosen
        if self._was_following:
            # The window stood still only so that the text did not run away under the pointer.
            self._screen.viewport.scroll_end()
        return chosen is not None and (self._has_moved or self._click.number > 1)

    def tick(self, now_s: float) -> bool:
        """Scroll, if it is time; return whether anything was done."""
        if self.wake_at_s is None or now_s < self.wake_at_s:
            return False
        self.wake_at_s = now_s + AUTOSCROLL_S
        self._screen.viewport.scroll(self._edge())
        self._hold()
        # From here on the reader is elsewhere, and stays there.
        self._was_following = False
        self._extend()
        return True

    def _edge(self) -> int:
        """Return by how many rows to scroll where the pointer is."""
        row, _column = self._last
        if row <= 0:
            return -1
        return 1 if row >= self._screen.viewport.rows else 0

    def _begin(self) -> None:
        unit = CLICK_UNITS[self._click.number - 1]
        marks = self._screen.marks
        self._screen.selection.begin(Range(marks[_START], marks[_END]), unit)

    def _extend(self) -> None:
        self._screen.selection.extend_to(self._range_at(*self._last))

    def _hold(self) -> None:
        """Keep what is seen where it is while text arrives."""
        viewport = self._screen.viewport
        if viewport.is_following:
            viewport.reveal(self._range_at(0, 0).start)

    def _range_at(self, row: int, column: int) -> Range:
        at = self._screen.viewport.range_at(row, column)
        assert at is not None, "a live screen has a row at least"
        return at
