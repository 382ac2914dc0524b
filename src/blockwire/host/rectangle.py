"""A rectangle of the history: from one character to another, by rows and columns.

Spec: docs/spec/host/copying.md, "A rectangle". What it holds depends on how text is cut into rows now, so
it is made anew of its two corners whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from blockwire.host.compositor import Rectangle
from blockwire.host.transcribing import ROWS_MAX
from blockwire.screen import Place, Range, Screen, View, ViewRow

# What is not copied at the end of a row.
_BLANKS: Final = " \t"


class Corners(NamedTuple):
    """Where a rectangle is.

    Attributes:
        first: Its first row.
        last: Its last row.
        left: Its first column.
        right: The column behind its last.
    """

    first: Place
    last: Place
    left: int
    right: int


def corners(screen: Screen, origin: Range, here: Range, goal: int | None) -> Corners:
    """Return the rectangle between two characters.

    Args:
        screen: Of the history.
        origin: Where it began.
        here: Where it ends.
        goal: The column in which it ends if the row of ``here`` is too short for that.
    """
    one, one_left, one_right = _cells(screen, origin)
    other, other_left, other_right = _cells(screen, here)
    if goal is not None and goal >= other_right:
        other_left = min(goal, screen.history.paper.columns - 1)
        other_right = other_left + 1
    return Corners(
        min(one, other), max(one, other), min(one_left, other_left), max(one_right, other_right)
    )


def shown_rectangle(view: View, at: Corners) -> Rectangle | None:
    """Return the cells of it that are seen, if any."""
    numbers = [
        number
        for number, row in enumerate(view)
        if row is not None and at.first <= row.place <= at.last
    ]
    return Rectangle(numbers[0], at.left, numbers[-1] + 1, at.right) if numbers else None


def rectangle_range(screen: Screen, at: Corners) -> Range:
    """Return everything from its first character to its last, also what is beside it."""
    [first] = screen.history.rows_from(at.first, 1)
    [last] = screen.history.rows_from(at.last, 1)
    return Range(
        first.position(_indexes(first, at)[0]),
        last.position(_indexes(last, at)[1]),
    )


def rectangle_text(screen: Screen, at: Corners) -> str:
    """Return what is copied: a line for each row, in whole characters, without blanks at its end."""
    lines: list[str] = []
    for row in _rows(screen, at):
        start, end = _indexes(row, at)
        lines.append(row.row.line.copy(start, end).rstrip(_BLANKS))
    return "\n".join(lines)


def _rows(screen: Screen, at: Corners) -> Iterator[ViewRow]:
    for row in screen.history.rows_from(at.first, ROWS_MAX):
        if row.place > at.last:
            return
        yield row


def _cells(screen: Screen, chosen: Range) -> tuple[Place, int, int]:
    """Return the row of a character, its first column, and the one behind it."""
    history = screen.history
    place = history.place_of(chosen.start)
    [row] = history.rows_from(place, 1)
    left, right = row.columns_of(chosen, history.paper.columns)
    return place, left, max(right, left + 1)


def _indexes(seen: ViewRow, at: Corners) -> tuple[int, int]:
    """Return from where to where in its line a row is within a rectangle."""
    row = seen.row
    if at.right <= row.text_column:
        # Its prefix is no text.
        return row.start, row.start
    return row.indexes_at(at.left)[0], row.indexes_at(at.right - 1)[1]
