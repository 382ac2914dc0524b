"""The live screen of a program as the tail of the history: a row is a row there too.

Spec: docs/spec/terminal/history.md, "The live screen". The emulator says what its rows are; where
those went that were there before is found by comparing them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from operator import eq
from typing import NamedTuple

from blockwire.screen.layout import LaidLine, Paper
from blockwire.screen.ordinary import OrdinaryRow, OrdinaryText
from blockwire.screen.segments import Segment
from blockwire.terminal import LogicalLine


class LiveSegment(Segment):
    """The rows that the live screen has now; another one for every change.

    Its text is that of ordinary output of the same rows, so that whatever holds for one holds for
    the other when rows leave the live screen. Only where a row ends is said by the emulator, and
    does not depend on the width.

    Attributes:
        rows: What it shows.
        row_starts: Scalars before each row.
    """

    __slots__ = ("row_starts", "rows")

    def __init__(self, rows: tuple[OrdinaryRow, ...], paper: Paper) -> None:
        text = OrdinaryText()
        super().__init__(text, paper)
        self.rows = rows
        self.row_starts = array("Q")
        for number, row in enumerate(rows):
            if not text.is_open:
                self._starts.append(text.scalar_count)
                self._tops.append(number)
            self.row_starts.append(text.scalar_count)
            text.add(row)
        self.height_rows = len(rows)
        self.is_measured = True

    def stamp(self, start: int) -> tuple[LogicalLine, list[int]]:
        """Return what the rows of a line are made of: most lines are the same after a change."""
        line = next(self.lines(start))
        number = bisect_right(self._starts, start)
        top = self._tops[number - 1]
        end = self._tops[number] if number < len(self._tops) else len(self.rows)
        return line, [row_start - line.start for row_start in self.row_starts[top:end]]

    def lay_out(self, start: int, paper: Paper) -> LaidLine:
        """Return the rows of the line that begins at a scalar."""
        line, row_starts = self.stamp(start)
        return LaidLine(line, paper, self.wrap, row_starts)


class RowMove(NamedTuple):
    """Where a row is among those that came after it, and whether it is what it was.

    Attributes:
        number: Of the row; if it is gone, of the one that is nearest; -1 if there is none.
        is_kept: Whether that is the same row.
    """

    number: int
    is_kept: bool


def follow_rows(
    before: Sequence[OrdinaryRow], left: Sequence[OrdinaryRow], rows: Sequence[OrdinaryRow]
) -> list[RowMove]:
    """Return where each row of a screen is, among those that left it and those that it has now.

    Rows scroll, and few change: they are followed from the top, first among those that left. The
    others are where they were, counted from the top; or behind rows that were never seen on the
    screen, if more of them are there. Those at the bottom may have stayed at the bottom.
    """
    after = (*left, *rows)
    moved = _count_equal(before, left)
    shifts = 0, len(left) - moved
    shift = max(shifts, key=lambda shift: sum(map(eq, before[moved:], after[moved + shift :])))
    kept = moved + _count_equal(before[moved:], after[moved + shift :])
    ends_max = min(len(before) - kept, len(after) - shift - kept, len(rows))
    ends = _count_equal(before[::-1][:ends_max], rows[::-1])
    found: list[RowMove] = []
    for number, row in enumerate(before):
        if number < moved:
            found.append(RowMove(number, is_kept=True))
        elif number >= len(before) - ends:
            found.append(RowMove(number + len(after) - len(before), is_kept=True))
        else:
            place = number + shift
            is_kept = place < len(after) - ends and after[place] == row
            last = min(max(len(after) - ends - 1, kept + shift), len(after) - 1)
            found.append(RowMove(min(place, last), is_kept=is_kept))
    return found


def _count_equal(first: Sequence[OrdinaryRow], second: Sequence[OrdinaryRow]) -> int:
    """Return how many rows are the same from the beginning."""
    count = 0
    for row, other in zip(first, second, strict=False):
        if row != other:
            break
        count += 1
    return count
