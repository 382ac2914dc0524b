"""Which segments there are, in their order: the way from each to its neighbours.

Spec: docs/spec/terminal/history.md, "Segments" and "Cost". Old segments leave from the front, and
erased ones leave gaps, which cost nothing to pass. The live screen is the last one, apart from the
tree of heights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from blockwire.screen.heights import Heights, Place
from blockwire.screen.live import LiveSegment
from blockwire.screen.positions import LIVE_SEGMENT_ID, Position
from blockwire.screen.segments import Segment


class SegmentSequence:
    """Segments by id, and how many rows each has.

    Attributes:
        live: The live screen; it is there if it has rows.
    """

    def __init__(self, live: LiveSegment) -> None:
        self.live = live
        # With the live screen, if it is there.
        self._segments: dict[int, Segment] = {}
        # A segment that is there has at least one row.
        self._heights = Heights()

    @property
    def oldest_id(self) -> int:
        """The oldest segment but the live screen, or the next one to come."""
        return self._heights.first_id

    @property
    def end_id(self) -> int:
        """The id of the next segment; the live screen is behind it."""
        return self._heights.end_id

    @property
    def last_id(self) -> int | None:
        """The last segment, which may be the live screen."""
        if LIVE_SEGMENT_ID in self._segments:
            return LIVE_SEGMENT_ID
        return self.id_before(LIVE_SEGMENT_ID)

    @property
    def end_position(self) -> Position:
        """The place behind everything."""
        segment_id = self.last_id
        if segment_id is None:
            return Position(self.end_id, 0)
        return Position(segment_id, self._segments[segment_id].content.scalar_count)

    @property
    def total_rows(self) -> int:
        """The rows of everything, as far as they are known."""
        return self._heights.total_rows + self.live.height_rows

    def __len__(self) -> int:
        return len(self._segments)

    def __contains__(self, segment_id: int) -> bool:
        return segment_id in self._segments

    def __getitem__(self, segment_id: int) -> Segment:
        return self._segments[segment_id]

    def id_from(self, segment_id: int) -> int | None:
        """Return the first segment that is there from an id on."""
        segment_id = max(segment_id, self.oldest_id)
        if segment_id in self._segments:
            return segment_id
        if segment_id < self.end_id:
            return self._heights.place_of(self._heights.rows_before(segment_id)).segment_id
        is_live = segment_id <= LIVE_SEGMENT_ID and LIVE_SEGMENT_ID in self._segments
        return LIVE_SEGMENT_ID if is_live else None

    def id_before(self, segment_id: int) -> int | None:
        """Return the last segment that is there before an id."""
        segment_id = min(segment_id, self.end_id) - 1
        if segment_id < self.oldest_id:
            return None
        if segment_id in self._segments:
            return segment_id
        return self._heights.place_of(self._heights.rows_before(segment_id) - 1).segment_id

    def id_or_next(self, segment_id: int) -> int:
        """Return the first segment that is there from an id on, or else the next one to come."""
        found_id = self.id_from(segment_id)
        return self.end_id if found_id is None else found_id

    def ids(self, first_id: int, last_id: int) -> Iterator[int]:
        """Yield the segments that are there from one id up to another, both included."""
        segment_id = self.id_from(first_id)
        while segment_id is not None and segment_id <= last_id:
            yield segment_id
            segment_id = self.id_from(segment_id + 1)

    def append(self, segment: Segment) -> int:
        """Add a segment before the live screen; return its id. It has no rows until it is told."""
        segment_id = self.end_id
        self._segments[segment_id] = segment
        self._heights.append(0)
        return segment_id

    def set_live(self, live: LiveSegment) -> None:
        """Replace the live screen."""
        self.live = live
        self._segments.pop(LIVE_SEGMENT_ID, None)
        if live.rows:
            self._segments[LIVE_SEGMENT_ID] = live

    def remove(self, segment_ids: Iterable[int]) -> None:
        """Forget segments; the ids of the newest ones come again if older ones stay."""
        for segment_id in segment_ids:
            del self._segments[segment_id]
            self._heights.set_height(segment_id, 0)
        # So that the first and the last one, if any, are there.
        while self.oldest_id < self.end_id and self.oldest_id not in self._segments:
            self._heights.drop_first()
        while self.oldest_id < self.end_id and self.end_id - 1 not in self._segments:
            self._heights.drop_last()

    def height(self, segment_id: int) -> int:
        """Return the rows of a segment, as far as they are known."""
        if segment_id == LIVE_SEGMENT_ID:
            return self.live.height_rows
        return self._heights.height(segment_id)

    def set_height(self, segment_id: int, height_rows: int) -> None:
        """Say how many rows a segment has; not of the live screen, which knows."""
        self._heights.set_height(segment_id, height_rows)

    def rows_before(self, place: Place) -> int:
        """Return the rows before a place."""
        return self._heights.rows_before(min(place.segment_id, self.end_id)) + place.row

    def place_at(self, row: int) -> Place:
        """Return the place of a row of the whole; there must be so many."""
        history_rows = self._heights.total_rows
        if row >= history_rows:
            return Place(LIVE_SEGMENT_ID, row - history_rows)
        return self._heights.place_of(row)
