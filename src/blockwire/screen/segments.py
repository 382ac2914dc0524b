"""The parts of the history: Blocks, which change, and ordinary output between them.

Spec: docs/spec/terminal/history.md. A segment remembers where its lines begin and in which rows,
for one width; rows themselves are made when they are looked at.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from blockwire.screen.layout import LaidLine, Paper, count_rows
from blockwire.screen.ordinary import OrdinaryText
from blockwire.terminal import BlockView, Content, LogicalLine
from blockwire.text import WrapMode

# A text that has no layout of its own is prose if it is a Block's; ordinary output was broken by
# the character before it came to us.
BLOCK_WRAP: Final[WrapMode] = "word"
ORDINARY_WRAP: Final[WrapMode] = "character"


class Segment:
    """One part of the history, and as much of its layout as was needed.

    Attributes:
        block: The Block that it shows; None for ordinary output.
        ordinary: The ordinary output; None for a Block.
        cost_bytes: What it was counted with last against the capacity.
        is_measured: Whether all of its rows are counted.
        height_rows: Rows of the lines that are counted.
        paper: For which screen they are.
    """

    __slots__ = (
        "_starts", "_tops", "block", "cost_bytes", "height_rows", "is_measured", "ordinary",
        "paper",
    )  # fmt: skip

    def __init__(self, source: BlockView | OrdinaryText, paper: Paper) -> None:
        self.ordinary = source if isinstance(source, OrdinaryText) else None
        self.block = None if isinstance(source, OrdinaryText) else source
        self.cost_bytes = 0
        self.paper = paper
        # Where each line that is counted begins, in scalars and in rows.
        self._starts = array("Q")
        self._tops = array("Q")
        self.height_rows = 0
        self.is_measured = False

    @property
    def content(self) -> Content | OrdinaryText:
        """What it shows now."""
        if self.block is None:
            assert self.ordinary is not None, "one of the two"
            return self.ordinary
        assert self.block.content is not None, "evicted only after it has left the history"
        return self.block.content

    @property
    def wrap(self) -> WrapMode:
        """How its lines are wrapped that have no layout."""
        return ORDINARY_WRAP if self.block is None else BLOCK_WRAP

    def lines(self, start: int = 0) -> Iterator[LogicalLine]:
        """Yield its lines from the one that holds scalar ``start``; at least one."""
        return self.content.lines(start)

    def stamp(self, start: int) -> object:
        """Return what is another value if the rows of a line are others although it is counted."""
        # Lines of a Block that change are forgotten; of ordinary output the last one is, if it does
        # or not.
        return None if self.ordinary is None else next(self.lines(start))

    def lay_out(self, start: int, paper: Paper) -> LaidLine:
        """Return the rows of the line that begins at a scalar."""
        return LaidLine(next(self.lines(start)), paper, self.wrap)

    def forget(self, kept: int, paper: Paper) -> array[int]:
        """Count anew what stands behind the first ``kept`` scalars, or all if the screen changed.

        Returns:
            Where the lines begin that were counted and are not any more.
        """
        line = 0
        if paper == self.paper:
            line = max(bisect_right(self._starts, kept) - 1, 0)
        self.paper = paper
        self.is_measured = False
        forgotten = self._starts[line:]
        if forgotten:
            self.height_rows = self._tops[line]
            del self._starts[line:]
            del self._tops[line:]
        return forgotten

    def estimate_rows(self) -> int:
        """Return its height, guessed from the length of what is not counted."""
        counted = self._starts[-1] if self._starts else 0
        rest_chars = max(self.content.scalar_count - counted, 0)
        return self.height_rows + max(rest_chars // self.paper.columns, 1)

    def measure(self, budget_rows: int | None = None) -> int:
        """Count rows until all are, or so many; return how many were. For one that is not measured."""
        spent_rows = 0
        wrap = self.wrap
        lines = self.lines(self._starts[-1] if self._starts else 0)
        if self._starts:
            next(lines)
        for line in lines:
            if budget_rows is not None and spent_rows >= budget_rows:
                return spent_rows
            row_count = count_rows(line, self.paper, wrap)
            self._starts.append(line.start)
            self._tops.append(self.height_rows)
            self.height_rows += row_count
            spent_rows += row_count
        self.is_measured = True
        return spent_rows

    def line_at_row(self, row: int) -> tuple[int, int]:
        """Return where the line begins that has this row: in scalars, and in rows."""
        line = bisect_right(self._tops, row) - 1
        return self._starts[line], self._tops[line]

    def line_at(self, offset: int) -> tuple[int, int]:
        """Return where the line begins that holds a scalar: in scalars, and in rows."""
        line = bisect_right(self._starts, offset) - 1
        return self._starts[line], self._tops[line]
