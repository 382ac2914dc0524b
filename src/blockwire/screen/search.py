"""Finding text in the history, a slice at a time.

Spec: docs/spec/terminal/history.md, "Search". What is searched is what is shown and copied: labels
in place of what acts, a Tab as a Tab.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import Final

from blockwire.screen.history import History
from blockwire.screen.layout import line_text, shown_line
from blockwire.screen.positions import (
    LIVE_SEGMENT_ID,
    Change,
    Position,
    Range,
    position_after,
    range_after,
)
from blockwire.terminal import LogicalLine

# What the rest of the work takes beside looking at the characters of a plain text, in such characters
# (12 ns each): so a slice takes its time whatever is searched.
SEGMENT_CHARS: Final = 150
LINE_CHARS: Final = 100
MATCH_CHARS: Final = 300
LABELLED_CHARS: Final = 20

# Of a segment that is searched at once; a longer one is searched line by line.
WHOLE_CHARS_MAX: Final = 10_000


class Search:
    """One query at a time, over everything that is retained.

    Attributes:
        query: What is looked for; nothing if it is empty.
        current: The match that is shown as the current one.
    """

    def __init__(self, history: History) -> None:
        self.query = ""
        self.current: Range | None = None
        self._history = history
        self._pattern: re.Pattern[str] | None = None
        self._matches: dict[int, list[Range]] = {}
        # Segments with matches, in order.
        self._ids: list[int] = []
        self.match_count = 0
        # Where the first current match is looked for, and whether it still is.
        self._near = Position(0, 0)
        self._is_seeking = False
        # From where on a segment is to be searched (again), and ranges that were not seen yet.
        self._changed: dict[int, int] = {}
        self._unseen: list[tuple[int, int]] = []

    @property
    def is_complete(self) -> bool:
        """Whether everything that is retained was searched."""
        return not self._changed and not self._unseen

    def find(self, query: str, near: Position) -> None:
        """Look for something else.

        Args:
            query: A text; its case counts if it has capitals. What has a break is found nowhere.
            near: The first match from here on becomes the current one; while a query is typed,
                give the same position again.
        """
        self.clear()
        self.query = query
        if not query or "\n" in query:
            return  # nothing is longer than its line
        is_exact = any(char.isupper() for char in query)
        self._pattern = re.compile(re.escape(query), 0 if is_exact else re.IGNORECASE)
        self._near, self._is_seeking = near, True
        first, end = self._history.first_id, self._history.end_id
        middle = min(max(near.segment_id, first), end)
        # The last one comes first: from the place on, the live screen, and what is before it.
        parts = (first, middle), (LIVE_SEGMENT_ID, LIVE_SEGMENT_ID + 1), (middle, end)
        self._unseen = [part for part in parts if part[0] < part[1]]

    def clear(self) -> None:
        """Look for nothing."""
        self.query, self.current, self._pattern, self._is_seeking = "", None, None, False
        self._matches, self._ids, self.match_count = {}, [], 0
        self._changed, self._unseen = {}, []

    def step(self, budget_chars: int) -> bool:
        """Search on, through about so many characters; return whether there are more.

        What is not plain text, and many matches, count as more.
        """
        while budget_chars > 0 and not self.is_complete:
            if self._changed:
                segment_id, offset = self._changed.popitem()
            else:
                segment_id, end_id = self._unseen.pop()
                offset = 0
                if segment_id + 1 < end_id:
                    self._unseen.append((segment_id + 1, end_id))
            budget_chars -= SEGMENT_CHARS + self._search(segment_id, offset, budget_chars)
            if self._is_seeking:
                self._choose()
        return not self.is_complete

    def matches_in(self, segment_id: int) -> tuple[Range, ...]:
        """Return the matches that are known in a segment, in order."""
        return tuple(self._matches.get(segment_id, ()))

    def go_next(self) -> Range | None:
        """Make the next match the current one, the first behind the last; return it."""
        start = self._near
        if self.current is not None:
            start = self.current.start._replace(part=self.current.start.part + 1)
        return self._go(self._first_from(start) or self._first_from(Position(0, 0)))

    def go_previous(self) -> Range | None:
        """Make the match before the current one, the last before the first; return it."""
        start = self._near if self.current is None else self.current.start
        behind = Position(LIVE_SEGMENT_ID + 1, 0)
        return self._go(self._last_before(start) or self._last_before(behind))

    def follow_change(self, change: Change) -> None:
        """Forget matches whose text is gone, and search what is new."""
        if self._pattern is None:
            return
        if self.current is not None:
            self._near = self.current.start
            self.current = _match_after(change, self.current)
        self._near = position_after(change, self._near)
        if change.kind == "trimmed":
            self._forget(change.segment_id, change.end_id)
            return
        segment_id = change.segment_id
        self._move(segment_id, change)
        if any(start <= segment_id < end for start, end in self._unseen):
            return
        offset = min(self._changed.pop(segment_id, change.kept), change.kept)
        self._changed[segment_id] = offset

    def _move(self, segment_id: int, change: Change) -> None:
        """Keep the matches of a segment that are still there; what left the live screen took its own."""
        moved: dict[int, list[Range]] = {segment_id: []}
        for match in self._matches.get(segment_id, ()):
            found = _match_after(change, match)
            if found is not None:
                moved.setdefault(found.start.segment_id, []).append(found)
        self._set(segment_id, moved.pop(segment_id))
        for other_id, matches in moved.items():
            self._set(other_id, [*self._matches.get(other_id, ()), *matches])

    def _search(self, segment_id: int, offset: int, budget_chars: int) -> int:
        """Search a segment from the line that holds a scalar; return the characters looked at."""
        if not self._history.has(segment_id):
            return 0
        content = self._history.segment(segment_id).content
        found: list[Range]
        if offset == 0 and content.scalar_count < min(budget_chars, WHOLE_CHARS_MAX):
            text = content.text()
            if text.replace("\n", " ").isprintable():
                found = self._search_printable(segment_id, 0, text)
                self._settle(segment_id, 0, found)
                return len(text) + len(found) * MATCH_CHARS
        spent_chars = 0
        found = []
        begin: int | None = None
        for line in content.lines(offset):
            if begin is None:
                begin = line.start
            elif spent_chars >= budget_chars:
                self._changed[segment_id] = line.start
                break
            text = line_text(line)
            if text.isprintable():
                new = self._search_printable(segment_id, line.start, text)
                spent_chars += LINE_CHARS + len(text)
            else:
                new = list(self._search_shown(segment_id, line))
                spent_chars += LINE_CHARS + len(text) * LABELLED_CHARS
            spent_chars += len(new) * MATCH_CHARS
            found += new
        assert begin is not None, "every content has a line"
        self._settle(segment_id, begin, found)
        return spent_chars

    def _search_printable(self, segment_id: int, start: int, text: str) -> list[Range]:
        """Search a text that is shown as it is, so that places in it are offsets."""
        assert self._pattern is not None, "there is nothing to do without a query"
        return [
            Range(
                Position(segment_id, start + match.start()),
                Position(segment_id, start + match.end()),
            )
            for match in self._pattern.finditer(text)
        ]

    def _search_shown(self, segment_id: int, line: LogicalLine) -> Iterator[Range]:
        assert self._pattern is not None, "there is nothing to do without a query"
        shown = shown_line(line, self._history.paper.ambiguous_width)
        for match in self._pattern.finditer(shown.searchable):
            start, end = (
                Position(segment_id, line.start + at, index - shown.to_shown(at))
                for index in shown.found_range(*match.span())
                for at in [shown.to_scalar(index)]
            )
            yield Range(start, end)

    def _settle(self, segment_id: int, begin: int, found: list[Range]) -> None:
        """Replace the matches from a scalar on; drop the current one if it is not found again."""
        matches = self._matches.get(segment_id, ())
        kept = bisect_left(matches, Position(segment_id, begin), key=_start)
        self._set(segment_id, [*matches[:kept], *found])
        at = None if self.current is None else self.current.start
        if at is not None and at.segment_id == segment_id and at.offset >= begin:
            self._near = at
            self.current = next((match for match in found if match.start == at), None)

    def _choose(self) -> None:
        """Make the first match from the place on the current one, once no nearer one can be found."""
        near = self._near
        match = self._first_from(near)
        if match is None:
            if self.is_complete:
                self._go(self._first_from(Position(0, 0)))
            return
        if any(first <= match.start.segment_id and end > near.segment_id
               for first, end in self._unseen):  # fmt: skip
            return
        if not any(near.segment_id <= it and Position(it, at) < match.start
                   for it, at in self._changed.items()):  # fmt: skip
            self._go(match)

    def _set(self, segment_id: int, matches: list[Range]) -> None:
        before = self._matches.pop(segment_id, [])
        self.match_count += len(matches) - len(before)
        if matches:
            self._matches[segment_id] = matches
        if bool(before) == bool(matches):
            return
        if matches:
            insort(self._ids, segment_id)
        else:
            del self._ids[bisect_left(self._ids, segment_id)]

    def _forget(self, first_id: int, end_id: int) -> None:
        """Forget segments that went; those that were not searched yet are passed by in their turn."""
        first, end = bisect_left(self._ids, first_id), bisect_left(self._ids, end_id)
        for segment_id in self._ids[first:end]:
            self.match_count -= len(self._matches.pop(segment_id))
        del self._ids[first:end]
        gone = range(first_id, end_id)
        self._changed = {key: at for key, at in self._changed.items() if key not in gone}

    def _go(self, match: Range | None) -> Range | None:
        if match is not None:
            self.current, self._is_seeking = match, False
        return match

    def _first_from(self, position: Position) -> Range | None:
        first = bisect_left(self._ids, position.segment_id)
        for at in range(first, min(first + 2, len(self._ids))):
            matches = self._matches[self._ids[at]]
            place = bisect_left(matches, position, key=_start)
            if place < len(matches):
                return matches[place]
        return None

    def _last_before(self, position: Position) -> Range | None:
        end = bisect_right(self._ids, position.segment_id)
        for at in range(end - 1, max(end - 3, -1), -1):
            matches = self._matches[self._ids[at]]
            place = bisect_left(matches, position, key=_start)
            if place:
                return matches[place - 1]
        return None


def _match_after(change: Change, match: Range) -> Range | None:
    """Return where a match is after a change; in one segment, as the search would find it."""
    found = range_after(change, match)
    return found if found and found.start.segment_id == found.end.segment_id else None


def _start(match: Range) -> Position:
    return match.start
