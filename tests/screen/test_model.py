"""Any life of a screen, against a model that lays everything out from scratch after each step."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from blockwire.screen import LIVE_SEGMENT_ID, Anchor, OrdinaryRow, Position, Range, SelectionUnit
from blockwire.terminal import Line, Span
from blockwire.terminal.vocabulary import LINES
from tests.screen.desks import Desk, drawn
from tests.screen.naive import (
    LiveRow,
    NaiveRow,
    NaiveSegment,
    Segments,
    copied,
    found,
    rows_of,
)

texts = st.text(alphabet="ab Ba\n\x1b漢字", max_size=24)
long_texts = st.text(alphabet="ab Ba\n漢字", min_size=20, max_size=60)
fragments = st.text(alphabet="ab Ba\n\x1b漢字", min_size=1, max_size=24)
columns = st.integers(2, 12)
rows = st.integers(1, 6)
places = st.integers(0, 1_000)
live_rows = st.builds(
    lambda text, is_wrapped: LiveRow(text, is_wrapped and bool(text)),  # a row that goes on is full
    st.text(alphabet="ab Ba漢", max_size=9),
    st.booleans(),
)
units: Any = st.sampled_from(["character", "character", "word", "line", "block"])


def as_lines(text: str) -> tuple[Line, ...]:
    return tuple(Line(spans=(Span(text=line),)) for line in text.split("\n"))


class ScreenMachine(RuleBasedStateMachine):
    """What a screen shows, keeps, copies and finds is what the model says."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(columns=6, rows=3)
        # Every segment that ever was, in order: the name of its Block, or its ordinary rows; None
        # if those were erased.
        self.order: list[str | list[str] | None] = []
        self.live: list[LiveRow] = []
        self.query = ""
        # What a reader looks at, and what is selected, as the table says.
        self.anchor: Anchor | None = None
        self.chosen: tuple[tuple[int, int], tuple[int, int]] | None = None

    # the model ----------------------------------------------------------------------------
    def segments(self) -> Segments:
        """Return what is retained, by the session's word for Blocks."""
        retained: Segments = {}
        for segment_id, source in enumerate(self.order):
            if source is None or segment_id < self.desk.screen.history.first_id:
                continue
            if isinstance(source, str):
                block = self.desk.block(source)
                assert block.content is not None
                is_lines = block.content_type == LINES
                text = block.content.text()
                retained[segment_id] = NaiveSegment(text, "word", is_lines)
            else:
                retained[segment_id] = NaiveSegment("".join(source), "character")
        if self.live:
            text = "".join(row.line for row in self.live)
            retained[LIVE_SEGMENT_ID] = NaiveSegment(text, "character", rows=tuple(self.live))
        return retained

    def all_rows(self) -> list[NaiveRow]:
        return rows_of(self.segments(), self.desk.screen.history.paper.columns)

    def change(self, kind: str, segment_id: int, kept: int = 0) -> None:
        """Do to anchor and selection what the table says."""
        if self.anchor is not None and self.anchor.position.segment_id == segment_id:
            offset = self.anchor.position.offset
            if kind == "updated":
                self.anchor = Anchor(Position(segment_id, 0), self.anchor.row)
            elif kind == "suffix_replaced":
                self.anchor = Anchor(Position(segment_id, min(offset, kept)), self.anchor.row)
        if self.chosen is None or kind in {"appended", "extended"}:
            return
        (first, _), (last, end) = self.chosen
        is_touched = first <= segment_id <= last
        is_in_prefix = kind == "suffix_replaced" and segment_id == last and end <= kept
        if is_touched and not is_in_prefix:
            self.chosen = None

    def changeable(self) -> list[str]:
        return [
            source
            for segment_id, source in enumerate(self.order)
            if segment_id >= self.desk.screen.history.first_id
            if isinstance(source, str) and self.desk.block(source).lifecycle == "mutable"
        ]

    def pick(self, place: int) -> str | None:
        """Return a Block that can be changed, rather one that is read or selected."""
        names = self.changeable()
        looked_at = [self.anchor.position.segment_id] if self.anchor else []
        if self.chosen is not None:
            looked_at += [self.chosen[0][0], self.chosen[1][0]]
        dear = [self.order[it] for it in looked_at if it < len(self.order)]
        names = [name for name in names if name in dear and place % 3] or names
        return names[place % len(names)] if names else None

    @initialize(first=st.lists(long_texts, min_size=2, max_size=4), width=columns, height=rows)
    def begin(self, first: list[str], width: int, height: int) -> None:
        """Begin with something to read, or nothing will happen to it for long."""
        self.desk.screen.resize(width, height)
        for number, text in enumerate(first):
            self.append(text, number % 2 == 1)
        self.reveal(sum(map(len, first)))

    # what arrives -------------------------------------------------------------------------
    @rule(text=texts, is_lines=st.booleans())
    def append(self, text: str, is_lines: bool) -> None:
        name = f"block {len(self.order)}"
        self.order.append(name)
        segment_id = self.desk.append(name, as_lines(text) if is_lines else text)
        assert segment_id == len(self.order) - 1

    @rule(place=places, text=fragments)
    def extend(self, place: int, text: str) -> None:
        name = self.pick(place)
        if name is not None:
            is_lines = self.desk.block(name).content_type == LINES
            self.desk.extend(name, as_lines(text) if is_lines else text)

    @rule(place=places, retain=places, text=texts)
    def replace_suffix(self, place: int, retain: int, text: str) -> None:
        name = self.pick(place)
        content = self.desk.block(name).content if name else None
        if name is None or content is None or not content.scalar_count:
            return
        retain %= content.scalar_count
        is_lines = self.desk.block(name).content_type == LINES
        self.change("suffix_replaced", self.desk.id_of(name), retain)
        self.desk.replace(name, retain, as_lines(text) if is_lines else text)

    @rule(place=places, text=texts, is_lines=st.booleans())
    def update(self, place: int, text: str, is_lines: bool) -> None:
        name = self.pick(place)
        if name is not None:
            self.change("updated", self.desk.id_of(name))
            self.desk.update(name, as_lines(text) if is_lines else text)

    @rule(place=places)
    def seal(self, place: int) -> None:
        name = self.pick(place)
        if name is not None:
            self.desk.seal(name)

    @rule(row=live_rows)
    def output(self, row: LiveRow) -> None:
        self.add_ordinary([row])
        self.desk.screen.append_ordinary(self.as_rows([row]))

    def add_ordinary(self, rows: list[LiveRow]) -> list[Position]:
        """Add rows to the model's ordinary output; return where each begins."""
        starts = []
        last_id = len(self.order) - 1
        is_retained = self.desk.screen.history.has(last_id)
        last = self.order[last_id] if is_retained else None
        for row in rows:
            if not isinstance(last, list):
                last = []
                self.order.append(last)
            starts.append(Position(len(self.order) - 1, sum(map(len, last))))
            last.append(row.line)
        return starts

    @staticmethod
    def as_rows(rows: list[LiveRow]) -> list[OrdinaryRow]:
        return [OrdinaryRow((Span(text=row.text),), row.is_wrapped) for row in rows]

    @rule(capacity=st.integers(1, 20))
    def trim(self, capacity: int) -> None:
        screen = self.desk.screen
        before = screen.history.cost_bytes
        first_seen_id = screen.viewport.first_seen_id()
        screen.capacity_bytes = before * capacity // 20
        self.desk.trim()
        first_id = screen.history.first_id
        assert screen.history.cost_bytes <= 2 * screen.capacity_bytes or screen.history.is_empty
        assert first_id <= first_seen_id or before > 2 * screen.capacity_bytes
        assert screen.history.cost_bytes <= screen.capacity_bytes or first_id >= first_seen_id
        if self.anchor is not None and self.anchor.position.segment_id < first_id:
            self.anchor = Anchor(Position(first_id, 0), 0)
        if self.chosen is not None and self.chosen[0][0] < first_id:
            self.chosen = None
        screen.capacity_bytes = 1 << 30

    # what a person does -------------------------------------------------------------------
    @rule(width=columns, height=rows)
    def resize(self, width: int, height: int) -> None:
        self.desk.screen.resize(width, height)

    @rule(count=st.integers(-9, 9))
    def scroll(self, count: int) -> None:
        all_rows, viewport = self.all_rows(), self.desk.screen.viewport
        if not all_rows:
            return
        top = max(self.top_row(all_rows), 0)
        tail = max(len(all_rows) - viewport.rows, 0)
        viewport.scroll(count)
        target = min(max(top + count, 0), len(all_rows) - 1)
        self.expect_reading(None if target >= tail else all_rows[target])

    @rule()
    def scroll_home(self) -> None:
        all_rows, viewport = self.all_rows(), self.desk.screen.viewport
        viewport.scroll_home()
        if all_rows:
            self.expect_reading(all_rows[0] if len(all_rows) > viewport.rows else None)

    @rule()
    def scroll_end(self) -> None:
        self.desk.screen.viewport.scroll_end()
        self.anchor = None

    @rule(place=places)
    def reveal(self, place: int) -> None:
        all_rows, viewport = self.all_rows(), self.desk.screen.viewport
        if not all_rows:
            return
        row = all_rows[place % len(all_rows)]
        before = self.desk.screen.view()
        viewport.reveal(Position(row.segment_id, row.offset))
        self.anchor = viewport.anchor
        after = self.desk.screen.view()
        if any(seen and self.key(seen) == row[:2] for seen in before):
            assert [drawn(seen) for seen in after] == [drawn(seen) for seen in before]
        assert any(seen and self.key(seen) == row[:2] for seen in after)

    @rule(data=st.data(), unit=units)
    def select(self, data: st.DataObject, unit: SelectionUnit) -> None:
        screen = self.desk.screen
        ends = st.tuples(st.integers(0, 5), st.integers(0, 11))
        start, end = (screen.viewport.range_at(*data.draw(ends)) for _ in range(2))
        if start is None or end is None:
            return
        screen.selection.begin(start, unit)
        screen.selection.extend_to(end)
        chosen = screen.selection.chosen
        assert chosen is not None
        assert chosen.start <= min(start.start, end.start)
        self.chosen = chosen.start[:2], chosen.end[:2]
        is_cut = any(len(row.text) > screen.history.paper.columns / 2 for row in self.live)
        if unit == "character" and not is_cut:
            self.saw(Range(min(start.start, end.start), max(start.end, end.end)))

    def saw(self, cells: Range) -> None:
        """Check that a selection on the screen is the text that is drawn there."""
        screen = self.desk.screen
        parts = []
        for row in screen.view():
            if row is not None:
                first, behind = row.columns_of(cells, screen.history.paper.columns)
                parts.append(self.cells(drawn(row), first, behind))
        shown = "".join(parts).replace(" ", "")
        assert shown == screen.selection.text().replace(" ", "").replace("\n", "")

    @staticmethod
    def cells(text: str, first: int, behind: int) -> str:
        found_cells = "".join(char + "\0" * (char in "漢字") for char in text)
        return found_cells[first:behind].replace("\0", "")

    @rule(query=st.sampled_from(["a", "b a", "ab", "␛", "漢字", ""]), place=places)
    def find(self, query: str, place: int) -> None:
        history = self.desk.screen.history
        near = history.first_id + place % max(history.end_id - history.first_id, 1)
        self.query = query
        self.desk.screen.search.find(query, Position(near, 0))

    @rule(budget=st.integers(1, 40))
    def step(self, budget: int) -> None:
        self.desk.screen.search.step(budget)

    @rule(is_forward=st.booleans())
    def go(self, is_forward: bool) -> None:
        search = self.desk.screen.search
        search.go_next() if is_forward else search.go_previous()

    @rule(budget=st.integers(1, 20))
    def refine(self, budget: int) -> None:
        self.desk.screen.refine(budget)

    @rule()
    def refine_all(self) -> None:
        self.desk.refine_all()
        assert self.desk.screen.history.total_rows == len(self.all_rows())

    # what must hold -----------------------------------------------------------------------
    def top_row(self, all_rows: list[NaiveRow]) -> int:
        """Return the number of the row at the top; negative if there is nothing so high."""
        viewport = self.desk.screen.viewport
        if self.anchor is None:
            return max(len(all_rows) - viewport.rows, 0)
        position = self.anchor.position
        at_or_before = [
            number
            for number, row in enumerate(all_rows)
            if row.segment_id == position.segment_id and row.offset <= position.offset
        ] or [
            number
            for number, row in enumerate([*all_rows[:-1], NaiveRow(2 * LIVE_SEGMENT_ID, 0, "")])
            if row.segment_id > position.segment_id
        ][:1]
        return at_or_before[-1] - min(self.anchor.row, viewport.rows - 1)

    def expect_reading(self, row: NaiveRow | None) -> None:
        self.anchor = None if row is None else Anchor(Position(*row[:2]), 0)
        assert self.desk.screen.viewport.anchor == self.anchor

    @staticmethod
    def key(seen: Any) -> tuple[int, int]:
        return seen.place.segment_id, seen.row.offset

    @invariant()
    def every_retained_segment_is_there_once_and_in_order(self) -> None:
        width = self.desk.screen.history.paper.columns
        expected = [
            row.text if len(row.text) <= width else row.text[:width] for row in self.all_rows()
        ]
        assert [text.rstrip(" ") for text in self.desk.everything()] == [
            text.rstrip(" ") for text in expected
        ]

    @invariant()
    def the_view_is_where_it_has_to_be(self) -> None:
        viewport = self.desk.screen.viewport
        assert viewport.anchor == self.anchor
        all_rows = self.all_rows()
        top = self.top_row(all_rows) if all_rows else 0
        wanted = [
            all_rows[number][:2] if 0 <= number < len(all_rows) else None
            for number in range(top, top + viewport.rows)
        ]
        assert [self.key(row) if row else None for row in self.desk.screen.view()] == wanted

    @invariant()
    def the_selection_is_its_text(self) -> None:
        chosen = self.desk.screen.selection.chosen
        assert (chosen and (chosen.start[:2], chosen.end[:2])) == self.chosen
        expected = copied(self.segments(), *self.chosen) if self.chosen else ""
        assert self.desk.screen.selection.text() == expected

    @invariant()
    def only_what_is_there_is_found(self) -> None:
        search = self.desk.screen.search
        places_found = self.desk.found()
        there = found(self.segments(), self.query) if self.query else []
        if search.is_complete:
            assert places_found == there
        else:
            assert set(places_found) <= set(there)
        assert search.match_count == len(places_found)
        if search.current is not None:
            start, end = search.current
            assert (start.segment_id, start.offset, end.offset) in places_found


TestScreen = ScreenMachine.TestCase
TestScreen.settings = settings(stateful_step_count=30)
