"""Following the tail, and reading."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from blockwire.screen import Place, Position
from blockwire.terminal import Layout, Line, Span
from tests.screen.desks import Desk, drawn


def numbered(count: int = 10, rows: int = 3) -> Desk:
    desk = Desk(rows=rows)
    desk.append_each(*(str(number) for number in range(count)))
    return desk


def test_nothing_is_nothing() -> None:
    desk = Desk(rows=2)
    viewport = desk.screen.viewport

    assert desk.view() == ["~", "~"]
    viewport.scroll(-1)
    viewport.scroll_home()
    viewport.scroll_to_row(5)
    viewport.scroll_sideways(3)

    assert viewport.range_at(0, 0) is None
    assert viewport.is_following
    assert (viewport.has_unseen, viewport.rows_below, viewport.scrolled_cells) == (False, 0, 0)
    assert viewport.first_seen_id() == 0


@pytest.mark.requirement("terminal:history:follow")
def test_who_follows_sees_the_last_row_whatever_comes() -> None:
    desk = Desk(rows=3, columns=10)

    desk.append("a", "a")
    assert desk.view() == ["a", "~", "~"]
    desk.extend("a", " text of several rows and more")
    assert desk.view() == ["several ", "rows and ", "more"]
    desk.output("$ ")
    assert desk.view() == ["rows and ", "more", "$ "]
    desk.screen.resize(40, 2)
    assert desk.view() == ["a text of several rows and more", "$ "]
    desk.update("a", "x")

    assert desk.view() == ["x", "$ "]
    assert desk.screen.viewport.is_following


def test_rows_pages_home_and_end() -> None:
    desk = numbered()
    viewport = desk.screen.viewport
    moves: list[tuple[Callable[..., None], tuple[int, ...]]] = [
        (viewport.scroll, (-1,)),
        (viewport.scroll_pages, (-1,)),
        (viewport.scroll_pages, (-99,)),
        (viewport.scroll, (2,)),
        (viewport.scroll_home, ()),
        (viewport.scroll_to_row, (5,)),
        (viewport.scroll_pages, (1,)),
        (viewport.scroll_home, ()),
        (viewport.scroll_end, ()),
    ]
    seen = []
    for move, arguments in moves:
        move(*arguments)
        seen.append("".join(desk.view()) + "+" * viewport.is_following)

    assert seen == ["678", "456", "012", "234", "012", "567", "789+", "012", "789+"]


def test_a_page_of_one_row_moves_by_one() -> None:
    desk = numbered(rows=1)

    desk.screen.viewport.scroll_pages(-1)

    assert desk.view() == ["8"]


@pytest.mark.requirement("terminal:history:resume")
def test_following_is_resumed_only_where_the_current_last_row_is_seen() -> None:
    desk = numbered()
    viewport = desk.screen.viewport

    viewport.scroll(-1)
    desk.append("new", "new")
    viewport.scroll(1)
    assert desk.view() == ["7", "8", "9"]
    assert not viewport.is_following
    viewport.scroll(1)
    assert viewport.is_following


@pytest.mark.parametrize("way", ["shrink", "resize", "reveal"])
def test_a_last_row_that_comes_into_sight_by_itself_is_not_followed(way: str) -> None:
    desk = numbered()
    viewport = desk.screen.viewport
    viewport.scroll(-1)

    if way == "shrink":
        desk.screen.resize(20, 4)
    elif way == "resize":
        desk.screen.resize(20, 9)
    else:
        viewport.reveal(Position(desk.id_of("8"), 0))

    assert not viewport.is_following
    desk.append("new", "new")
    assert "6" in desk.view()
    assert not viewport.is_following


def test_everything_that_fits_is_followed_again_by_any_move() -> None:
    desk = numbered(count=2)

    desk.screen.viewport.reveal(Position(0, 0))
    assert not desk.screen.viewport.is_following
    desk.screen.viewport.scroll(-1)

    assert desk.screen.viewport.is_following


@pytest.mark.requirement("terminal:history:unseen")
def test_text_that_arrives_below_is_hinted_at_until_it_is_seen() -> None:
    desk = numbered()
    viewport = desk.screen.viewport
    viewport.scroll(-2)

    def hint() -> tuple[bool, int]:
        return viewport.has_unseen, viewport.rows_below

    assert hint() == (False, 2)
    desk.extend("0", " above")
    desk.update("9", "nine")
    assert hint() == (False, 2)
    desk.output("job 1 done")
    assert hint() == (True, 3)
    viewport.scroll(2)
    assert hint() == (True, 1)
    viewport.scroll(1)
    assert hint() == (False, 0)
    viewport.scroll(-1)

    assert hint() == (False, 1)


def test_text_that_grows_below_is_hinted_at() -> None:
    desk = numbered()
    desk.screen.viewport.scroll(-2)

    desk.extend("9", " grows")

    assert desk.screen.viewport.has_unseen


def test_a_reader_at_the_end_sees_what_arrives_where_there_is_room() -> None:
    desk = numbered(count=2)
    desk.screen.viewport.reveal(Position(1, 0))

    desk.append("new", "new")

    assert desk.view() == ["0", "1", "new"]
    assert not desk.screen.viewport.has_unseen


@pytest.mark.requirement("terminal:history:reveal")
def test_a_place_is_shown_with_something_above_it_or_left_where_it_is_seen() -> None:
    desk = numbered(rows=6, count=30)
    viewport = desk.screen.viewport

    viewport.reveal(Position(desk.id_of("12"), 0))
    assert desk.view() == ["10", "11", "12", "13", "14", "15"]
    viewport.reveal(Position(desk.id_of("14"), 1))
    assert desk.view() == ["10", "11", "12", "13", "14", "15"]
    viewport.reveal(Position(desk.id_of("1"), 0))

    assert desk.view() == ["0", "1", "2", "3", "4", "5"]


def test_a_place_that_was_looked_up_stays_in_its_row_even_with_nothing_above_it() -> None:
    desk = Desk(rows=7)
    desk.append("a", "1\n2\n3\n4")
    desk.append_each("b", "c", "d", "e")
    desk.screen.viewport.reveal(Position(desk.id_of("b"), 0))
    assert desk.view() == ["2", "3", "4", "b", "c", "d", "e"]

    desk.update("a", "1")

    assert desk.view() == ["~", "~", "1", "b", "c", "d", "e"]
    assert desk.at(0, 0).start == desk.at(-5, 3).start == Position(0, 0)
    desk.screen.viewport.scroll(0)
    assert desk.view() == ["1", "b", "c", "d", "e", "~", "~"]


def test_cells_have_places_in_the_text() -> None:
    desk = Desk(rows=3)
    desk.append("a", "x\n漢\ty")

    assert desk.at(1, 1) == (Position(0, 2), Position(0, 3))
    assert desk.at(1, 4) == (Position(0, 3, 2), Position(0, 3, 3))
    assert desk.at(1, 8) == (Position(0, 4), Position(0, 5))
    assert desk.at(1, 19) == (Position(0, 5), Position(0, 5))
    assert desk.at(2, 0) == desk.at(99, 0) == (Position(0, 5), Position(0, 5))


def test_what_is_selected_has_columns_in_every_row() -> None:
    desk = Desk(rows=3)
    desk.append_each("one", "two", "three")
    desk.select((0, 1), (2, 1))
    chosen = desk.screen.selection.chosen
    assert chosen is not None

    columns = [row.columns_of(chosen, 20) for row in desk.screen.view() if row]

    assert columns == [(1, 3), (0, 3), (0, 2)]


def test_lines_that_are_not_wrapped_scroll_sideways_to_the_end_of_the_widest_one() -> None:
    code = Layout(wrap="none")
    desk = Desk(columns=8, rows=2)
    desk.append("a", tuple(Line(spans=(Span(text=text),), layout=code)
                           for text in ("0123456789", "0123456789abcdef")))  # fmt: skip
    viewport = desk.screen.viewport

    viewport.scroll_sideways(1)
    assert [drawn(row) for row in desk.screen.view()] == ["…234567…", "…234567…"]
    viewport.scroll_sideways(99)
    assert viewport.scrolled_cells == 8
    assert desk.view() == ["…3456789", "…9abcdef"]
    viewport.scroll_sideways(-99)

    assert desk.view() == ["0123456…", "0123456…"]


def test_a_change_out_of_sight_below_leaves_the_view_alone() -> None:
    desk = numbered()
    desk.screen.viewport.scroll_home()
    before = desk.screen.view()

    desk.append("new", "new")
    desk.update("9", "nine")
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes - 1

    assert desk.trim() == []
    assert desk.screen.view() is before
    assert before[0] is not None
    assert before[0].place == Place(0, 0)


def test_trimming_out_of_sight_leaves_the_view_alone() -> None:
    desk = numbered()
    before = desk.screen.view()
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes - 1

    assert desk.trim() == ["0"]

    assert desk.screen.view() is before


def test_off_screen_changes_show_when_the_window_grows() -> None:
    desk = numbered()
    desk.view()

    desk.update("5", "changed")
    desk.screen.resize(20, 6)

    assert desk.view() == ["4", "changed", "6", "7", "8", "9"]
