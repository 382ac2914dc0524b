"""Any life of a screen with a program's live screen as its tail, against the same model."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from blockwire.screen import LIVE_SEGMENT_ID, Anchor, Position
from tests.screen.naive import LiveRow
from tests.screen.test_model import ScreenMachine, live_rows, places, texts

counts = st.integers(0, 5)
screens = st.lists(live_rows, max_size=5)


class Rows:
    """What became of live rows.

    Attributes:
        starts: Scalars before each row that was there.
        places: Where each row begins that left, and each that is on the screen now.
        kept: For each row that was there, its number among those; None if it is gone.
    """

    def __init__(
        self, before: list[LiveRow], places: list[Position], kept: list[int | None]
    ) -> None:
        self.starts = starts_of(before)
        self.places = places
        self.kept = kept

    def row_at(self, offset: int) -> int:
        return max(number for number, start in enumerate(self.starts) if start <= offset)

    def moved(self, number: int, offset: int) -> tuple[int, int]:
        place = self.kept[number]
        assert place is not None
        segment_id, start, _part = self.places[place]
        return segment_id, start + offset - self.starts[number]


def starts_of(rows: list[LiveRow]) -> list[int]:
    return [sum(len(row.line) for row in rows[:number]) for number in range(len(rows))]


class LiveScreenMachine(ScreenMachine):
    """The live screen is the tail: what is in its rows moves with them, or is gone with them."""

    def advance(self, left: list[LiveRow], rows: list[LiveRow], kept: list[int | None]) -> None:
        """Let rows leave the live screen and others be on it; which are kept is known."""
        self.follow(left, rows, kept)
        self.desk.screen.advance_live(self.as_rows(left), self.as_rows(rows))

    def follow(self, left: list[LiveRow], rows: list[LiveRow], kept: list[int | None]) -> None:
        """Do in the model what rows that leave and rows that come do."""
        if not left:
            self.find_live_rows(rows)
        places = self.add_ordinary(left)
        places += [Position(LIVE_SEGMENT_ID, start) for start in starts_of(rows)]
        moves = Rows(self.live, places, kept)
        if self.live and not places:
            assert self.desk.screen.history.live_rows
            places.append(self.end_of_history())
        self.live = rows
        if moves.starts:
            self.follow_anchor(moves)
            self.follow_selection(moves)

    def find_live_rows(self, rows: list[LiveRow]) -> None:
        """Let who waits for anything to come have the first live rows."""
        end_id = self.desk.screen.history.end_id
        waiting_ids = range(end_id, LIVE_SEGMENT_ID)
        if rows and self.anchor is not None and self.anchor.position.segment_id in waiting_ids:
            self.anchor = self.anchor._replace(position=Position(LIVE_SEGMENT_ID, 0))

    def end_of_history(self) -> Position:
        retained = [(key, it) for key, it in self.segments().items() if key != LIVE_SEGMENT_ID]
        if not retained:
            return Position(len(self.order), 0)
        return Position(retained[-1][0], len(retained[-1][1].text))

    def follow_anchor(self, moves: Rows) -> None:
        if self.anchor is None or self.anchor.position.segment_id != LIVE_SEGMENT_ID:
            return
        offset = self.anchor.position.offset
        number = moves.row_at(offset)
        nearest = moves.places[min(number, len(moves.places) - 1)]
        is_gone = moves.kept[number] is None
        position = nearest if is_gone else Position(*moves.moved(number, offset))
        self.anchor = self.anchor._replace(position=position)

    def follow_selection(self, moves: Rows) -> None:
        if self.chosen is None or self.chosen[1][0] != LIVE_SEGMENT_ID:
            return
        start, end = self.chosen
        is_inside = start[0] == LIVE_SEGMENT_ID
        first = moves.row_at(start[1]) if is_inside else 0
        last = max(moves.row_at(max(end[1] - 1, 0)), first)
        touched = moves.kept[first : last + 1]
        begin = (touched[0] or 0) if is_inside else 0
        if touched != [*range(begin, begin + len(touched))]:
            self.chosen = None
            return
        new_start = moves.moved(first, start[1]) if is_inside else start
        self.chosen = new_start, moves.moved(last, end[1])

    @rule(new=st.lists(live_rows, min_size=1, max_size=3))
    def more_live_rows(self, new: list[LiveRow]) -> None:
        self.advance([], self.live + new, [*range(len(self.live))])

    @rule(count=counts)
    def fewer_live_rows(self, count: int) -> None:
        rows = self.live[:count]
        self.advance([], rows, [*range(len(rows)), *[None] * (len(self.live) - len(rows))])

    @rule(place=places, row=live_rows)
    def change_a_live_row(self, place: int, row: LiveRow) -> None:
        """Let one row be written anew, as a spinner does; all others stay."""
        if self.live:
            number = place % len(self.live)
            rows = [*self.live[:number], row, *self.live[number + 1 :]]
            is_same = rows == self.live
            self.advance([], rows, [it if it != number or is_same else None
                                    for it in range(len(rows))])  # fmt: skip

    @rule(count=counts, new=screens)
    def scroll_live_rows(self, count: int, new: list[LiveRow]) -> None:
        """Let rows leave at the top, and others come at the bottom; none is changed."""
        self.advance(self.live[:count], self.live[count:] + new, [*range(len(self.live))])

    @rule(count=counts, text=texts)
    def append_above_the_cursor(self, count: int, text: str) -> None:
        """Let a Block come behind rows that are history from now on."""
        self.follow(self.live[:count], self.live[count:], [*range(len(self.live))])
        self.desk.screen.commit_live(count)
        self.append(text, is_lines=False)

    @rule(left=screens, rows=screens)
    def any_live_rows(self, left: list[LiveRow], rows: list[LiveRow]) -> None:
        """Let anything be on the screen: a reader stays in a row, a selection is what it was."""
        screen = self.desk.screen
        before = screen.selection.text()
        is_touched = self.chosen is not None and self.chosen[1][0] == LIVE_SEGMENT_ID
        if not left:
            self.find_live_rows(rows)
        self.add_ordinary(left)
        screen.advance_live(self.as_rows(left), self.as_rows(rows))
        self.live = rows
        if self.anchor is not None and self.anchor.position.segment_id == LIVE_SEGMENT_ID:
            anchor = screen.viewport.anchor
            assert anchor is not None
            assert anchor.row == self.anchor.row
            self.anchor = anchor
        if is_touched:
            chosen = screen.selection.chosen
            assert chosen is None or screen.selection.text() == before
            self.chosen = chosen and (chosen.start[:2], chosen.end[:2])

    @rule()
    def erase_ordinary(self) -> None:
        """Let the program erase its saved lines, which are the ordinary output."""
        screen = self.desk.screen
        first_id = screen.history.first_id
        gone = [
            number
            for number, source in enumerate(self.order)
            if isinstance(source, list) and number >= first_id
        ]
        screen.erase_ordinary()
        for number in gone:
            self.order[number] = None
        del self.order[screen.history.end_id :]  # their ids come again
        if self.anchor is not None and self.anchor.position.segment_id in gone:
            position = self.anchor.position
            later = [key for key in self.segments() if key > position.segment_id]
            self.anchor = Anchor(Position([*later, screen.history.end_id][0], 0), 0)
        if self.chosen is not None:
            (first, _), (last, _) = self.chosen
            if any(first <= segment_id <= last for segment_id in gone):
                self.chosen = None


TestLiveScreen = LiveScreenMachine.TestCase
TestLiveScreen.settings = settings(stateful_step_count=30)
