"""How many rows each segment takes, and which segment a row belongs to.

Spec: docs/spec/terminal/history.md, "Cost". A Fenwick tree: everything takes time in the logarithm
of the number of segments.
"""

from __future__ import annotations

from typing import NamedTuple

# Segments that are gone before the tree is made anew; fewer are not worth it.
GONE_MIN = 1_024


class Place(NamedTuple):
    """A row of a segment, counted from its first; rows sort as the history reads."""

    segment_id: int
    row: int


class Heights:
    """Heights of segments with consecutive ids: new ones at the end, old ones gone from the front.

    One of no rows is not there: the way from segment to segment leads past it.

    Attributes:
        first_id: The oldest segment that is there.
        end_id: What the next one will have.
    """

    __slots__ = ("_base_id", "_heights", "_sums", "first_id")

    def __init__(self) -> None:
        self.first_id = 0
        # The id of what stands in the tree first; behind it may be some that are gone, as zeros.
        self._base_id = 0
        self._heights: list[int] = []
        # Of the rows up to index i, those of the last (i & -i) segments; index 0 is not used.
        self._sums: list[int] = [0]

    @property
    def end_id(self) -> int:
        """The id of the next segment."""
        return self._base_id + len(self._heights)

    @property
    def total_rows(self) -> int:
        """The rows of all segments."""
        return self.rows_before(self.end_id)

    def append(self, height_rows: int) -> None:
        """Add a segment at the end."""
        self._heights.append(height_rows)
        index = len(self._heights)
        total = height_rows
        child = 1
        while child < index & -index:
            total += self._sums[index - child]
            child *= 2
        self._sums.append(total)

    def height(self, segment_id: int) -> int:
        """Return the rows of one segment."""
        return self._heights[segment_id - self._base_id]

    def set_height(self, segment_id: int, height_rows: int) -> None:
        """Say how many rows a segment has now."""
        index = segment_id - self._base_id
        change = height_rows - self._heights[index]
        if not change:
            return
        self._heights[index] = height_rows
        index += 1
        while index < len(self._sums):
            self._sums[index] += change
            index += index & -index

    def rows_before(self, segment_id: int) -> int:
        """Return the rows of all segments before this one, which may be the next to come."""
        index = segment_id - self._base_id
        total = 0
        while index > 0:
            total += self._sums[index]
            index -= index & -index
        return total

    def place_of(self, row: int) -> Place:
        """Return the place of a row of the whole history, from 0; there must be so many."""
        index = 0
        step = 1 << (len(self._heights).bit_length())
        while step:
            if index + step < len(self._sums) and self._sums[index + step] <= row:
                index += step
                row -= self._sums[index]
            step //= 2
        return Place(self._base_id + index, row)

    def drop_last(self) -> None:
        """Forget the newest segment; the next one has its id."""
        self._heights.pop()
        self._sums.pop()

    def drop_first(self) -> None:
        """Forget the oldest segment."""
        self.set_height(self.first_id, 0)
        self.first_id += 1
        gone = self.first_id - self._base_id
        if gone >= GONE_MIN and 2 * gone >= len(self._heights):
            kept = self._heights[gone:]
            self._base_id, self._heights, self._sums = self.first_id, [], [0]
            for height_rows in kept:
                self.append(height_rows)
