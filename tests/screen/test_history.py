"""Segments in order, their rows, and what a change costs."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.errors import LocalProtocolError
from blockwire.screen import OrdinaryRow, Place, Position, Screen
from blockwire.screen import layout as layout_module
from blockwire.screen.layout import LaidLine
from blockwire.screen.ordinary import (
    LINE_CHARS_MAX,
    SEGMENT_BYTES_MAX,
    SEGMENT_LINES_MAX,
    OrdinaryText,
)
from blockwire.terminal import (
    ContextOpened,
    Endpoint,
    Layout,
    Line,
    PassThrough,
    Span,
    Style,
    TerminalSession,
    project_line,
)
from tests.screen.desks import Desk, drawn
from tests.terminal.sessions import (
    append,
    code_of,
    extend,
    framed,
    numbered_contexts,
    opening,
    replace_suffix,
    replies,
    seal,
)


class Lines:
    """How many lines were laid out, and of how many characters."""

    def __init__(self) -> None:
        self.count = 0
        self.chars = 0


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> Lines:
    lines = Lines()
    project = project_line

    def counted(text: str, **options: Any) -> Any:
        lines.count += 1
        lines.chars += len(text)
        return project(text, **options)

    monkeypatch.setattr(layout_module, "project_line", counted)
    return lines


@pytest.mark.requirement("terminal:history:order")
def test_blocks_and_ordinary_output_stand_in_the_order_of_the_stream() -> None:
    desk = Desk()

    desk.output("$ ls")
    desk.append("a", "block\n")
    desk.output("one", "two")
    desk.append("b", (Line(spans=(Span(text="x"),)), Line(spans=())))
    desk.append("c", (Span(text="styled"),))
    desk.append("d", "")
    desk.output("$")

    assert desk.everything() == ["$ ls", "block", "one", "two", "x", "", "styled", "", "$"]
    desk.refine_all()
    assert desk.screen.history.total_rows == 9


def test_an_effect_that_is_no_change_of_a_block_changes_nothing() -> None:
    desk = Desk()
    desk.append("a", "x")

    assert not desk.screen.apply(ContextOpened("c9"))
    assert not desk.screen.apply(PassThrough(b"x", 0))
    assert not desk.seal("a")
    assert not desk.close()


@pytest.mark.requirement("terminal:history:soft-wraps")
def test_rows_that_go_on_are_one_line() -> None:
    desk = Desk(columns=20)

    desk.output("a long \\", "line\\", " goes on", "next")
    assert desk.everything() == ["a long line goes on", "next"]
    desk.screen.resize(9, 4)

    assert desk.everything() == ["a long li", "ne goes o", "n", "next"]


@pytest.mark.requirement("terminal:history:no-shared-line")
def test_a_block_ends_a_line_that_would_go_on() -> None:
    desk = Desk()

    desk.output("a line that\\")
    desk.append("a", "x")
    desk.output("goes on")

    assert desk.everything() == ["a line that", "x", "goes on"]


def test_ordinary_output_is_kept_in_segments_of_a_bounded_size() -> None:
    desk = Desk()

    desk.output(*(f"line {number}" for number in range(SEGMENT_LINES_MAX + 1)))

    assert desk.screen.history.end_id == 2
    assert desk.everything()[-2:] == [f"line {SEGMENT_LINES_MAX - 1}", f"line {SEGMENT_LINES_MAX}"]
    desk.output("x" * SEGMENT_BYTES_MAX, "y")
    assert desk.screen.history.end_id == 3


def test_a_line_that_never_ends_is_ended() -> None:
    text = OrdinaryText()

    for _ in range(LINE_CHARS_MAX // 4_096 + 1):
        text.add(OrdinaryRow((Span(text="x" * 4_096),), is_wrapped=True))

    assert [line.break_chars for line in text.lines()] == [1, 0]
    assert text.is_open
    assert not text.is_full


def test_an_ordinary_line_keeps_its_styles_and_may_be_empty() -> None:
    text = OrdinaryText()
    red = Span(text="r\ud800", style=Style(foreground="red"))

    text.add(OrdinaryRow(()))
    text.add(OrdinaryRow((red, Span(text=""), Span(text="x"))))

    assert [(line.start, line.spans) for line in text.lines()] == [
        (0, ()),
        (1, (red, Span(text="x"))),
    ]
    assert [line.start for line in text.lines(1)] == [1]
    assert [line.start for line in text.lines(99)] == [1]


@pytest.mark.requirement("terminal:history:change-cost")
def test_a_change_far_away_lays_nothing_out_and_leaves_the_view_alone(laid_out: Lines) -> None:
    desk = Desk()
    desk.append("far", "text\n" * 1_000)
    desk.append_each(*(str(number) for number in range(100)))
    before = desk.screen.view()
    laid_out.count = 0

    for _ in range(50):
        desk.update("far", "other text\n" * 500)
        desk.extend("far", "and more")
        desk.replace("far", 3, "less")
        assert desk.screen.view() is before

    assert laid_out.count == 0
    assert desk.screen.refine(1_000) is False


@pytest.mark.requirement("terminal:history:extend-cost")
@pytest.mark.parametrize("made", ["plain", "lines"])
def test_growing_lays_out_the_last_line_only(made: str, laid_out: Lines) -> None:
    desk = Desk()
    if made == "plain":
        desk.append("a", "a line\n" * 5_000)
    else:
        desk.append("a", (Line(spans=(Span(text="a line"),)),) * 5_000)
    desk.screen.view()
    laid_out.chars = 0

    for number in range(100):
        desk.extend("a", f"{number}\n" if made == "plain" else (Line(spans=(Span(text="x"),)),) * 2)
        desk.screen.view()

    assert laid_out.chars < 100 * 10 * len("a line")


def test_refining_is_done_in_slices(laid_out: Lines) -> None:
    desk = Desk(columns=10)
    desk.append("long", "four words make two\n" * 500)
    desk.append_each(*(f"{number} and then some" for number in range(50)))
    laid_out.count = 0
    slices = 1

    while desk.screen.refine(10):
        slices += 1
        assert laid_out.count <= 10 * slices + 10

    assert slices > 100
    assert desk.screen.history.total_rows == len(desk.everything())


def test_what_was_refined_as_it_came_is_not_gone_through_again() -> None:
    desk = Desk()

    desk.append_each("a", "b")

    assert desk.screen.refine(1) is True
    assert desk.screen.refine(1) is False


def test_heights_are_refined_anew_after_a_resize_while_text_arrives() -> None:
    desk = Desk(columns=40)
    desk.append_each(*(f"{number} and then some" for number in range(50)))
    desk.refine_all()

    desk.screen.resize(7, 4)
    desk.screen.refine(20)
    desk.append("new", "x" * 50)
    desk.update("3 and then some", "short")
    desk.update("40 and then some", "short")
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes * 3 // 4
    desk.trim()
    desk.refine_all()

    assert desk.screen.history.total_rows == len(desk.everything())


def test_the_same_size_again_changes_nothing() -> None:
    desk = Desk()
    desk.append("a", "x")
    desk.refine_all()
    before = desk.screen.view()

    desk.screen.resize(20, 4, ambiguous_width=1)

    assert desk.screen.view() is before
    assert desk.screen.refine(1) is False


def test_a_break_that_is_completed_later_is_one_break() -> None:
    desk = Desk()
    desk.append("a", "one\r")
    assert desk.everything() == ["one"]

    desk.extend("a", "\ntwo\rthree")
    assert desk.everything() == ["one", "two", "three"]
    desk.replace("a", 9, "\nfour")

    assert desk.everything() == ["one", "two", "four"]


def test_a_layout_that_a_line_takes_later_is_seen() -> None:
    desk = Desk(columns=5)
    desk.append("a", (Line(spans=(Span(text="x"),)), Line(spans=())))
    assert desk.everything() == ["x", ""]

    desk.extend("a", (Line(spans=(Span(text="y"),), layout=Layout(align="right")),))

    assert desk.everything() == ["x", "    y"]


def test_rows_of_a_place_can_be_counted_and_found() -> None:
    desk = Desk(columns=10)
    desk.append_each("one two three", "four", "five six seven eight")
    desk.refine_all()
    history = desk.screen.history

    assert history.place_at(2) == Place(1, 0)
    assert [history.rows_before(history.place_at(row)) for row in range(-1, 7)] == [
        0, 0, 1, 2, 3, 4, 5, 5,
    ]  # fmt: skip
    assert history.move(Place(1, 0), 99) == (Place(2, 2), 3)
    assert history.move(Place(1, 0), -99) == (Place(0, 0), -2)
    assert [row.place for row in history.rows_from(Place(2, 1), 5)] == [Place(2, 1), Place(2, 2)]


def test_a_row_of_an_estimate_that_was_too_high_is_the_last_one() -> None:
    desk = Desk(columns=2)
    desk.append("a", "\n".join("x" * 40))
    history = desk.screen.history
    estimate = history.total_rows
    desk.screen.resize(1, 4)
    desk.update("a", "漢")

    assert estimate > 1
    assert history.place_at(0) == Place(0, 0)


def test_lines_that_are_laid_out_are_kept_in_bounds() -> None:
    desk = Desk(rows=3)
    desk.append_each(*map(str, range(1_000)))
    kept: dict[Any, Any] = desk.screen.history._laid  # seen nowhere else

    assert len(desk.everything()) == 1_000

    assert 0 < len(kept) <= 512
    assert all(isinstance(laid.line, LaidLine) for laid in kept.values())


def test_a_block_that_grows_keeps_the_rows_before_what_is_new() -> None:
    desk = Desk(columns=8, rows=8)
    desk.append("a", "one\ntwo two two\nthree")
    before = [row.row for row in desk.screen.view() if row]

    desk.extend("a", " more\nfour")
    grown = [row.row for row in desk.screen.view() if row]
    desk.replace("a", len("one\ntwo two"), "\nthree")
    shorter = [row.row for row in desk.screen.view() if row]

    assert list(map(drawn, before)) == ["one", "two two ", "two", "three"]
    assert list(map(drawn, grown)) == ["one", "two two ", "two", "three ", "more", "four"]
    assert list(map(drawn, shorter)) == ["one", "two two", "three"]
    assert [grown[at] is before[at] for at in range(4)] == [True, True, True, False]
    assert [shorter[at] is before[at] for at in range(3)] == [True, False, False]


def test_rows_of_another_width_are_forgotten_with_what_they_showed() -> None:
    desk = Desk(columns=20, rows=4)
    desk.append("a", "one\ntwo\nthree")
    desk.view()

    desk.screen.resize(10, 4)
    desk.update("a", "one\n222\nthree")
    desk.screen.resize(20, 4)

    assert desk.view() == ["one", "222", "three", "~"]


def test_a_position_that_is_gone_stands_where_the_next_segment_begins() -> None:
    desk = Desk()
    desk.append("a", "a")
    desk.output("b")
    desk.append("c", "c")
    desk.screen.erase_ordinary()

    assert desk.screen.history.place_of(Position(1, 1)) == Place(2, 0)


@pytest.mark.requirement("terminal:history:capacity", "terminal:history:trim-order")
def test_whole_segments_leave_from_the_oldest() -> None:
    desk = Desk(rows=2)
    desk.append_each("a", "b")
    desk.output("ordinary", "output")
    desk.append_each("c", "d", "e")
    assert desk.trim() == []

    desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 2

    assert desk.trim() == ["a", "b"]
    assert desk.everything() == ["c", "d", "e"]
    assert desk.screen.history.cost_bytes <= desk.screen.capacity_bytes
    assert desk.block("a").is_evicted
    assert not desk.seal("b")
    assert desk.everything() == ["c", "d", "e"]


@pytest.mark.requirement("terminal:history:seen-stays")
def test_what_is_seen_stays_until_twice_the_capacity() -> None:
    desk = Desk(rows=2)
    desk.append_each("a", "b", "c", "d")
    desk.screen.viewport.scroll_home()
    desk.screen.viewport.scroll(1)
    assert desk.view() == ["b", "c"]
    cost_bytes = desk.screen.history.cost_bytes

    desk.screen.capacity_bytes = cost_bytes // 2
    assert desk.trim() == ["a"]
    desk.append("e", "e")
    assert desk.trim() == []
    assert desk.view() == ["b", "c"]
    desk.append("f", "f")

    assert desk.trim() == ["b"]
    assert desk.view() == ["c", "d"]
    assert not desk.screen.viewport.is_following


def test_an_anchor_that_is_not_on_the_screen_is_kept_too() -> None:
    desk = Desk(rows=4)
    desk.append_each("a", "b", "c", "d", "e", "f")
    desk.screen.viewport.reveal(Position(desk.id_of("c"), 0))
    desk.screen.resize(20, 1)
    assert desk.view() == ["c"]

    desk.screen.capacity_bytes = desk.screen.history.cost_bytes // 2 + 1

    assert desk.trim() == ["a", "b"]


def test_a_change_of_a_block_that_was_trimmed_is_nothing() -> None:
    desk = Desk(rows=1)
    desk.append_each("a", "b")
    desk.screen.capacity_bytes = 0

    gone = desk.screen.trim()
    desk.extend("a", "more")

    assert [block.block_id for block in gone] == ["a", "b"]
    assert desk.everything() == []
    assert desk.screen.history.is_empty
    assert desk.screen.history.cost_bytes == 0


def test_a_screen_shows_what_an_endpoint_wants_done() -> None:
    screen = Screen(20, 4)
    session = TerminalSession(new_context_id=numbered_contexts())
    endpoint = Endpoint(session)
    stream = (
        b"$ run\r\n"
        + framed(opening(), append("1", "answer"), extend("2", "1", " grows"))
        + b"between\r\n"
        + framed(append("3", "other", block_id="b"), replace_suffix("4", "2", 6, "!"))
    )

    for effect in endpoint.receive_data(stream):
        if isinstance(effect, PassThrough):
            rows = effect.data.decode().split("\r\n")[:-1]
            screen.append_ordinary(OrdinaryRow((Span(text=row),)) for row in rows)
        else:
            screen.apply(effect)

    assert [drawn(row) for row in screen.view()] == ["$ run", "answer!", "between", "other"]
    screen.capacity_bytes = 0
    for block in screen.trim():
        endpoint.evict(block.context_id, block.block_id)
    effects = endpoint.receive_data(framed(extend("5", "4"), seal("6")))
    assert [code_of(message) for message in replies(effects)] == ["resource_exhausted"]
    assert [screen.apply(effect) for effect in effects] == [False, False]
    assert [drawn(row) for row in screen.view()] == ["~"] * 4


@pytest.mark.parametrize(("columns", "rows"), [(0, 1), (1, 0), (-1, 5)])
def test_a_screen_has_a_size(columns: int, rows: int) -> None:
    with pytest.raises(LocalProtocolError, match="invalid_size"):
        Screen(columns, rows)
    with pytest.raises(LocalProtocolError, match="invalid_size"):
        Screen(1, 1).resize(columns, rows)


def test_ambiguous_characters_take_the_cells_that_are_set() -> None:
    desk = Desk(columns=4)
    desk.append("a", "§§§§")
    assert desk.everything() == ["§§§§"]

    desk.screen.resize(4, 4, ambiguous_width=2)

    assert desk.everything() == ["§§", "§§"]
