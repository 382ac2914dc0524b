"""The search as a person types it: found while typing, shown at once, undone by Escape.

Spec: docs/spec/host/searching.md.
"""

from __future__ import annotations

from typing import Final

from blockwire.host.reading import first_seen
from blockwire.screen import Anchor, Position, Range, Screen
from blockwire.text import clusters, label_controls

# Characters that are searched between two looks at the input: about 4 ms of a processor's time.
SLICE_CHARS: Final = 250_000

# Of a query; no line of history that a person looks for needs more.
QUERY_CHARS_MAX: Final = 1_000

# Segments through which matches are numbered at each frame; that takes 2 ms.
NUMBERED_SEGMENTS_MAX: Final = 10_000

# Where the reader was before, by this name among the marks of the screen.
_MARK: Final = "search"

# Likewise, where the match was that a search of before was at.
_MATCH_MARK: Final = "search-match"


class SearchPrompt:
    """One search: what is typed, and where the reader was before.

    Attributes:
        query: What is typed.
    """

    def __init__(self, screen: Screen) -> None:
        self.query = ""
        self._screen = screen
        self._near = Position(0, 0)
        # The row of the window that the reader's mark stands in; None if the tail was followed.
        self._row: int | None = None
        # Whether the first match is to be the nearest one above, and was not taken yet.
        self._is_upwards = False
        self._shown: Range | None = None
        # What was looked for before, and comes back if this search is cancelled.
        self._before = ""

    def begin(self) -> None:
        """Begin to type where the reader is."""
        self._keep()
        self.query = ""
        anchor = self._screen.viewport.anchor
        self._row = None if anchor is None else anchor.row
        self._screen.marks[_MARK] = Position(0, 0) if anchor is None else anchor.position
        self._near = first_seen(self._screen)
        self._screen.search.clear()
        self._shown = None

    def type(self, text: str) -> None:
        """Add a text to the query: its first line."""
        line = text.splitlines()[0] if text else ""
        room = QUERY_CHARS_MAX - len(self.query)
        self._look_for(self.query + label_controls(line, breaks="label", tabs="keep")[:room])

    def erase(self) -> None:
        """Take the last character away."""
        self._look_for("".join(list(clusters(self.query))[:-1]))

    def erase_word(self) -> None:
        """Take the last word away, and the blanks behind it."""
        head, _blank, _word = self.query.rstrip().rpartition(" ")
        self._look_for(f"{head} " if head else "")

    def erase_all(self) -> None:
        """Begin anew."""
        self._look_for("")

    def cancel(self) -> None:
        """Look for what was looked for before, be it nothing, and be where the reader was then."""
        self.query = self._before
        self._screen.search.find(self.query, self._screen.marks[_MATCH_MARK])
        self._go_back()

    def step(self) -> bool:
        """Search a slice on and show what is found; return whether there is more to search."""
        search = self._screen.search
        has_more = search.step(SLICE_CHARS)
        current = search.current
        if current is not None and self._is_upwards:
            # Whoever looks at the end looks for the newest match, not for the first of all.
            self._is_upwards = has_more
            if not has_more and current.start < self._near:
                current = search.go_previous()
        if current is not None and not self._is_upwards:
            self.show(current)
        return has_more

    def go(self, *, is_next: bool) -> None:
        """Make another match the current one and show it."""
        search = self._screen.search
        self._is_upwards = False
        match = search.go_next() if is_next else search.go_previous()
        if match is not None:
            self.show(match, always=True)

    def show(self, match: Range, *, always: bool = False) -> None:
        """Scroll to a match, unless that was done."""
        if always or match != self._shown:
            self._shown = match
            self._screen.viewport.reveal(match.start)

    @property
    def summary(self) -> str:
        """What is found so far, in words."""
        search = self._screen.search
        if not self.query:
            return ""
        count = search.match_count
        if not search.is_complete:
            return f"{count:,} so far" if count else "searching"
        number = self._number()
        if number is not None:
            return f"{number:,} of {count:,}"
        return f"{count:,} matches" if count else "not found"

    def _number(self) -> int | None:
        """Return which of the matches the current one is; None if there is none, or it is too far."""
        search, history = self._screen.search, self._screen.history
        current = search.current
        if current is None or history.end_id - history.first_id > NUMBERED_SEGMENTS_MAX:
            return None
        here = current.start.segment_id
        ids = range(history.first_id, min(here, history.end_id))
        return sum(len(search.matches_in(it)) for it in ids) + sum(
            match.start <= current.start for match in search.matches_in(here)
        )

    def _keep(self) -> None:
        search = self._screen.search
        self._before = search.query
        at = first_seen(self._screen) if search.current is None else search.current.start
        self._screen.marks[_MATCH_MARK] = at

    def _look_for(self, query: str) -> None:
        self.query = query
        self._go_back()
        self._shown = None
        self._is_upwards = self._row is None
        self._screen.search.find(query, self._near)
        self.step()

    def _go_back(self) -> None:
        viewport = self._screen.viewport
        if self._row is None:
            viewport.scroll_end()
        else:
            viewport.anchor = Anchor(self._screen.marks[_MARK], self._row)
