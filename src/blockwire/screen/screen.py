"""The history, a window on it, a selection and a search, kept in step.

Spec: docs/spec/terminal/history.md. Whoever shows terminal history needs only this: it takes what
an endpoint wants done and what a person does, and gives rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from blockwire.errors import LocalProtocolError
from blockwire.screen.history import History
from blockwire.screen.layout import Paper
from blockwire.screen.ordinary import OrdinaryRow
from blockwire.screen.positions import Change, Position, position_after
from blockwire.screen.search import Search
from blockwire.screen.selection import Selection
from blockwire.screen.viewport import View, Viewport
from blockwire.terminal import BlockView, Effect
from blockwire.text import AmbiguousWidth

# 64 MiB: hundreds of thousands of lines, and a small part of the memory of any machine.
CAPACITY_BYTES: Final = 64 * 1024 * 1024

# What is seen stays until the history is so many times its capacity.
SEEN_CAPACITIES_MAX: Final = 2


class Screen:
    """Terminal history as one person sees it.

    Attributes:
        history: What is retained.
        viewport: What of it is seen.
        selection: What is selected.
        search: What is looked for.
        marks: Places by name that are to follow every change, as an anchor does; the caller's.
        capacity_bytes: Beyond it, :meth:`trim` lets the oldest segments go.
    """

    def __init__(
        self,
        columns: int,
        rows: int,
        *,
        ambiguous_width: AmbiguousWidth = 1,
        capacity_bytes: int = CAPACITY_BYTES,
    ) -> None:
        """Begin with nothing, following the tail.

        Args:
            columns: At least 1.
            rows: Of the history that are seen, at least 1.
            ambiguous_width: Cells of a character of ambiguous width.
            capacity_bytes: Of Blocks and ordinary output together.

        Raises:
            LocalProtocolError: ``invalid_size`` if a number is too small.
        """
        _refuse_size(columns, rows)
        self.capacity_bytes = capacity_bytes
        self.history = History(Paper(columns, ambiguous_width))
        self.viewport = Viewport(self.history, rows)
        self.selection = Selection(self.history)
        self.search = Search(self.history)
        self.marks: dict[str, Position] = {}

    def apply(self, effect: Effect) -> bool:
        """Take note of what an endpoint wants done; return whether the history changed.

        Effects must come in their order; what is no change of a Block does nothing. Blocks are live,
        so rows are looked at once all effects of one call of the endpoint were applied.
        """
        change = self.history.apply(effect)
        if change is None:
            return False
        self._spread(change)
        return True

    def append_ordinary(self, rows: Iterable[OrdinaryRow]) -> None:
        """Add rows that were never on the live screen, in their order; what is on it stays there."""
        for change in self.history.append_ordinary(rows):
            self._spread(change)

    def advance_live(self, left: Sequence[OrdinaryRow], rows: Sequence[OrdinaryRow]) -> None:
        """Say what the program's output has done to its screen: once for all of it that came.

        Places in rows that are what they were move with them, also into the history.

        Args:
            left: Rows that left the live screen at the top and are history now, in their order.
            rows: Those that are in use on it now; each is one row of the history, of any width.
        """
        for change in self.history.advance_live(left, rows):
            self._spread(change)

    def set_live(self, rows: Sequence[OrdinaryRow]) -> None:
        """Say what the live screen has now; as :meth:`advance_live` when no row has left it."""
        self.advance_live((), rows)

    def commit_live(self, count: int) -> None:
        """Make history of the first rows of the live screen, as before a Block is appended.

        Args:
            count: At least 0; if there are fewer rows, all are.
        """
        rows = self.history.live_rows
        self.advance_live(rows[:count], rows[count:])

    def erase_ordinary(self) -> None:
        """Forget all ordinary output of the history; Blocks and the live screen stay."""
        for change in self.history.erase_ordinary():
            self._spread(change)

    def resize(
        self, columns: int, rows: int, *, ambiguous_width: AmbiguousWidth | None = None
    ) -> None:
        """Show the history in another size; nothing but its rows changes.

        Raises:
            LocalProtocolError: ``invalid_size`` if a number is less than 1.
        """
        _refuse_size(columns, rows)
        self.history.set_paper(
            Paper(columns, ambiguous_width or self.history.paper.ambiguous_width)
        )
        self.viewport.rows = rows

    def trim(self) -> tuple[BlockView, ...]:
        """Let the oldest segments go if there is too much; return the Blocks that went.

        The caller tells the endpoint (:meth:`blockwire.terminal.Endpoint.evict`), once all effects
        that it gave were applied.
        """
        history = self.history
        if history.cost_bytes <= self.capacity_bytes:
            return ()
        first_seen_id = self.viewport.first_seen_id()
        first_id = history.first_id
        gone: list[BlockView] = []
        while history.cost_bytes > self._limit_bytes(first_seen_id):
            block = history.drop_first()
            if block is not None:
                gone.append(block)
        next_id = history.first_id
        if next_id > first_id:
            self._spread(Change("trimmed", first_id, end_id=next_id, next_id=next_id))
        return tuple(gone)

    def view(self) -> View:
        """Return what is seen."""
        return self.viewport.view()

    def refine(self, budget_rows: int) -> bool:
        """Make heights exact, about so many rows at a time; return whether there is more to do."""
        return self.history.refine(budget_rows)

    def _limit_bytes(self, first_seen_id: int) -> int:
        is_seen = self.history.first_id >= first_seen_id
        return self.capacity_bytes * (SEEN_CAPACITIES_MAX if is_seen else 1)

    def _spread(self, change: Change) -> None:
        self.viewport.follow_change(change)
        self.selection.follow_change(change)
        self.search.follow_change(change)
        for name, position in self.marks.items():
            self.marks[name] = position_after(change, position)


def _refuse_size(columns: int, rows: int) -> None:
    if columns < 1 or rows < 1:
        raise LocalProtocolError("invalid_size", "a screen has at least one row and one column")
