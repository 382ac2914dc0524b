"""The live screen as the tail of the history."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.screen import LIVE_SEGMENT_ID, OrdinaryRow, Place, Position, Range
from blockwire.screen import layout as layout_module
from blockwire.screen.live import RowMove, follow_rows
from blockwire.screen.ordinary import SEGMENT_LINES_MAX
from blockwire.terminal import Span, Style, project_line
from tests.screen.desks import Desk, ordinary


def live(offset: int) -> Position:
    return Position(LIVE_SEGMENT_ID, offset)


def chosen_text(desk: Desk, start: int, end: int) -> str:
    """Select of the live screen, and return what that is."""
    desk.screen.selection.select(Range(live(start), live(end)))
    return desk.screen.selection.text()


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that are laid out, from now on."""
    texts: list[str] = []

    def counted(text: str, **options: Any) -> Any:
        texts.append(text)
        return project_line(text, **options)

    monkeypatch.setattr(layout_module, "project_line", counted)
    return texts


# rows -------------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:live-tail")
def test_the_live_screen_is_behind_everything_whatever_is_appended() -> None:
    desk = Desk(rows=3)

    desk.live("one", "$ ")
    assert desk.everything() == ["one", "$ "]
    desk.output("left")
    desk.append("a", "block")

    assert desk.everything() == ["left", "block", "one", "$ "]
    assert desk.view() == ["block", "one", "$ "]
    assert [row.place for row in desk.screen.view() if row] == [
        Place(1, 0), Place(LIVE_SEGMENT_ID, 0), Place(LIVE_SEGMENT_ID, 1),
    ]  # fmt: skip
    assert desk.screen.history.total_rows == 4
    assert desk.screen.history.live_rows == tuple(ordinary("one", "$ "))


def test_a_live_screen_alone_is_a_history() -> None:
    desk = Desk(rows=3)
    desk.live("a", "b")
    history = desk.screen.history

    assert desk.view() == ["a", "b", "~"]
    assert (history.first_id, history.end_id, history.is_empty) == (LIVE_SEGMENT_ID, 0, False)
    assert history.end_position == live(4)
    assert desk.at(2, 0).start == live(4)
    desk.live()

    assert desk.view() == ["~", "~", "~"]
    assert history.is_empty
    assert history.end_position == Position(0, 0)


@pytest.mark.requirement("terminal:history:live-rows")
def test_a_live_row_is_one_row_in_any_width() -> None:
    desk = Desk(columns=8)
    desk.live("soft\\", "wrapped", "wide 漢漢漢", "")

    for columns, rows in [
        (20, ["soft", "wrapped", "wide 漢漢漢", ""]),
        (8, ["soft", "wrapped", "wide 漢 ", ""]),
        (3, ["sof", "wra", "wid", ""]),
    ]:
        desk.screen.resize(columns, 4)
        assert desk.everything() == rows
        assert desk.screen.history.total_rows == 4


def test_a_row_without_text_never_goes_on() -> None:
    desk = Desk(rows=2)
    desk.live("a\\", "\\", "\\", "b")
    desk.screen.viewport.scroll_home()
    seen = [desk.view()]

    for _ in range(3):
        desk.screen.viewport.scroll(1)
        seen.append(desk.view())
    desk.screen.viewport.scroll(-1)

    assert seen == [["a", ""], ["", ""], ["", "b"], ["", "b"]]
    assert desk.view() == ["", ""]


def test_live_rows_are_not_scrolled_sideways() -> None:
    desk = Desk(columns=3, rows=2)
    desk.live("abcdef", "b")

    desk.screen.viewport.scroll_sideways(2)

    assert (desk.view(), desk.screen.viewport.scrolled_cells) == (["abc", "b"], 0)


def test_a_live_row_keeps_its_styles_and_shows_what_acts_as_a_label() -> None:
    desk = Desk()
    red = Span(text="a\x1b", style=Style(foreground="red"))
    desk.screen.set_live([OrdinaryRow((red,), is_wrapped=True), OrdinaryRow((Span(text="b"),))])

    first, second, *_ = desk.screen.view()

    assert first is not None
    assert first.row.spans == (Span(text="a␛", style=Style(foreground="red")),)
    assert first.row.is_continued
    assert second is not None
    assert second.row.spans == (Span(text="b"),)
    assert second.row.offset == 2
    assert second.row.line is first.row.line


def test_rows_of_a_place_are_counted_into_the_live_screen() -> None:
    desk = Desk()
    desk.append_each("a", "b")
    desk.live("c", "d")
    history = desk.screen.history

    assert [history.place_at(row) for row in (1, 2, 3, 9)] == [
        Place(1, 0), Place(LIVE_SEGMENT_ID, 0), Place(LIVE_SEGMENT_ID, 1), Place(LIVE_SEGMENT_ID, 1),
    ]  # fmt: skip
    assert [history.rows_before(history.place_at(row)) for row in range(4)] == [0, 1, 2, 3]
    assert history.move(Place(LIVE_SEGMENT_ID, 1), -3) == (Place(0, 0), -3)
    assert history.move(Place(0, 0), 9) == (Place(LIVE_SEGMENT_ID, 1), 3)


@pytest.mark.requirement("terminal:history:live-commit")
def test_rows_that_leave_the_live_screen_are_ordinary_output() -> None:
    desk = Desk(rows=2)
    desk.live("make \\", "all", "cc")

    desk.screen.commit_live(1)
    assert desk.everything() == ["make ", "all", "cc"]
    desk.advance(("all", "cc", "never seen"), ("$ ",))
    assert desk.everything() == ["make all", "cc", "never seen", "$ "]
    desk.append("a", "block")
    desk.screen.commit_live(9)

    assert desk.everything() == ["make all", "cc", "never seen", "block", "$ "]
    assert desk.screen.history.live_rows == ()
    assert desk.screen.history.end_id == 3


def test_more_rows_than_a_segment_takes_leave_at_once() -> None:
    desk = Desk(rows=2)
    texts = tuple(map(str, range(SEGMENT_LINES_MAX + 10)))
    desk.live(*texts[:3])
    assert chosen_text(desk, 2, 3) == "1"

    desk.advance(texts, ("$ ",))

    assert desk.everything() == [*texts, "$ "]
    assert desk.screen.history.end_id == 2
    assert desk.screen.selection.text() == "1"


# capacity ---------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:live-capacity")
def test_live_rows_cost_nothing_and_are_never_trimmed() -> None:
    desk = Desk(rows=2)
    desk.append_each("a", "b")
    before = desk.screen.history.cost_bytes
    desk.live("x" * 10_000, "y")
    assert desk.screen.history.cost_bytes == before

    desk.screen.capacity_bytes = 0

    assert desk.trim() == ["a", "b"]
    assert desk.view() == ["x" * 20, "y"]
    assert desk.trim() == []


# erasing ----------------------------------------------------------------------------------
def mixed() -> Desk:
    """Return a desk with ordinary output before, between and behind two Blocks."""
    desk = Desk(rows=3)
    desk.output("one", "two")
    desk.append("a", "A")
    desk.output(*("x" * 70_000, "three"))
    desk.append("b", "B")
    desk.output("four", "five\\")
    desk.live("live", "$ ")
    return desk


@pytest.mark.requirement("terminal:history:erase")
def test_ordinary_output_is_erased_and_blocks_and_live_rows_stay() -> None:
    desk = mixed()
    a, b = desk.id_of("a"), desk.id_of("b")

    desk.screen.erase_ordinary()

    assert desk.everything() == ["A", "B", "live", "$ "]
    assert (desk.id_of("a"), desk.id_of("b"), desk.screen.history.first_id) == (a, b, a)
    desk.refine_all()
    assert desk.screen.history.total_rows == 4
    assert desk.view() == ["B", "live", "$ "]
    desk.output("new")
    desk.append("c", "C")
    assert desk.everything() == ["A", "B", "new", "C", "live", "$ "]
    desk.screen.viewport.scroll(-99)
    assert desk.view() == ["A", "B", "new"]


def test_what_is_erased_counts_no_more() -> None:
    desk = Desk()
    desk.append("a", "A")
    before = desk.screen.history.cost_bytes
    desk.output(*map(str, range(SEGMENT_LINES_MAX + 1)))

    desk.screen.erase_ordinary()

    assert desk.screen.history.cost_bytes == before
    assert desk.screen.history.end_id == 1


def test_erasing_for_ever_leaves_nothing_behind() -> None:
    desk = Desk()
    desk.append("a", "A")

    for number in range(2_000):
        desk.output(str(number))
        desk.screen.erase_ordinary()

    assert desk.screen.history.end_id == 1
    desk.screen.erase_ordinary()
    assert desk.everything() == ["A"]


def test_erasing_everything_that_is_there_uses_no_id_again() -> None:
    desk = Desk()
    desk.output("x")

    desk.screen.erase_ordinary()

    assert (desk.screen.history.first_id, desk.screen.history.end_id) == (1, 1)
    assert desk.view() == ["~"] * 4
    desk.append("a", "A")
    assert desk.everything() == ["A"]


def test_rows_of_an_id_that_comes_again_are_its_own() -> None:
    desk = Desk()
    desk.append("a", "A")
    desk.output("old")
    assert desk.view()[1] == "old"

    desk.screen.erase_ordinary()
    desk.output("new")

    assert desk.view()[1] == "new"
    desk.screen.resize(10, 4)
    desk.refine_all()
    assert desk.screen.history.total_rows == 2


def test_heights_are_refined_past_what_was_erased() -> None:
    desk = mixed()
    desk.refine_all()

    desk.screen.resize(10, 3)
    desk.screen.refine(1)
    desk.screen.erase_ordinary()
    desk.refine_all()

    assert desk.screen.history.total_rows == 4


def test_trimming_passes_by_what_was_erased() -> None:
    desk = mixed()
    desk.screen.erase_ordinary()
    desk.screen.capacity_bytes = desk.screen.history.cost_bytes - 1

    assert desk.trim() == ["a"]

    assert desk.screen.history.first_id == desk.id_of("b")
    assert desk.everything() == ["B", "live", "$ "]


@pytest.mark.parametrize(
    ("place", "view"),
    [
        (Position(0, 4), ["A", "B", "live"]),
        (Position(1, 0), ["A", "B", "live"]),
        (Position(3, 1), ["B", "live", "$ "]),
        (Position(5, 2), ["live", "$ ", "~"]),
    ],
)
def test_who_reads_what_is_erased_goes_on_reading_behind_it(
    place: Position, view: list[str]
) -> None:
    desk = mixed()
    viewport = desk.screen.viewport
    viewport.reveal(place)

    desk.screen.erase_ordinary()

    assert not viewport.is_following
    if place == Position(1, 0):  # a Block, which stays in its row
        assert desk.view() == ["~", "A", "B"]
    else:
        assert desk.view() == view


def test_who_reads_the_last_of_what_is_erased_reads_what_comes() -> None:
    desk = Desk(rows=2)
    desk.append("a", "A")
    desk.output("x", "y")
    desk.screen.viewport.reveal(Position(1, 0))

    desk.screen.erase_ordinary()
    assert desk.view() == ["A", "~"]
    desk.append("b", "B")
    desk.append("c", "C")

    assert desk.view() == ["B", "C"]
    assert not desk.screen.viewport.is_following


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ((0, 0), (0, 3), ""),
        ((0, 4), (1, 1), ""),
        ((1, 0), (1, 1), "A"),
        ((1, 0), (4, 1), ""),
        ((3, 0), (4, 1), ""),
        ((5, 0), (LIVE_SEGMENT_ID, 2), ""),
        ((LIVE_SEGMENT_ID, 0), (LIVE_SEGMENT_ID, 4), "live"),
    ],
)
def test_a_selection_is_cleared_if_any_of_it_is_erased(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> None:
    desk = mixed()
    desk.screen.selection.select(Range(Position(*start), Position(*end)))

    desk.screen.erase_ordinary()

    assert desk.screen.selection.text() == text


def test_matches_in_what_is_erased_vanish() -> None:
    desk = mixed()
    desk.find("e", Position(3, 0))
    assert desk.screen.search.go_next() != desk.screen.search.go_previous()
    assert {segment_id for segment_id, *_ in desk.found()} == {0, 3, 5, LIVE_SEGMENT_ID}

    desk.screen.erase_ordinary()

    assert desk.found() == [(LIVE_SEGMENT_ID, 3, 4)]
    assert desk.screen.search.match_count == 1
    assert desk.screen.search.current is None
    desk.search_all()
    assert desk.screen.search.go_next() == Range(live(3), live(4))


def test_a_search_that_is_under_way_passes_by_what_was_erased() -> None:
    desk = mixed()
    search = desk.screen.search
    search.find("e", Position(0, 0))

    desk.screen.erase_ordinary()
    desk.output("else")
    desk.search_all()

    assert desk.found() == [(5, 0, 1), (5, 3, 4), (LIVE_SEGMENT_ID, 3, 4)]


# following and reading --------------------------------------------------------------------
def test_the_same_rows_again_leave_the_view_alone() -> None:
    desk = Desk(rows=3)
    desk.output("x")
    desk.live("a", "b")
    before = desk.screen.view()

    desk.live("a", "b")

    assert desk.screen.view() is before


@pytest.mark.requirement("terminal:history:live-cost")
def test_a_row_that_is_not_seen_leaves_the_view_alone() -> None:
    desk = Desk(rows=3)
    desk.output("x", "y")
    desk.live("a", "b", "spin 0")
    desk.screen.viewport.scroll_home()
    before = desk.screen.view()
    assert desk.view() == ["x", "y", "a"]

    for number in range(1, 50):
        desk.live("a", "b", f"spin {number}")
        assert desk.screen.view() is before

    assert not desk.screen.viewport.has_unseen


def test_only_rows_that_change_are_laid_out(laid_out: list[str]) -> None:
    desk = Desk(columns=40, rows=50)
    texts = [f"row {number}" for number in range(50)]
    desk.live(*texts)
    desk.view()
    laid_out.clear()

    for spinner in "/-+|":
        desk.live(*texts[:20], f"row {spinner * 2}", *texts[21:])
        desk.screen.view()

    assert laid_out == [f"row {spinner * 2}" for spinner in "/-+|"]


def test_ordinary_output_that_grows_lays_out_what_is_new(laid_out: list[str]) -> None:
    desk = Desk(columns=40, rows=50)
    desk.output(*map(str, range(40)))
    desk.view()
    laid_out.clear()

    desk.output("new\\")
    desk.view()
    desk.output(" line")

    assert desk.view()[-10:-9] == ["new line"]
    assert laid_out == ["new", "new line"]


@pytest.mark.parametrize(
    ("left", "rows", "is_unseen"),
    [
        ((), ("a", "b", "c!"), False),
        ((), ("a",), False),
        ((), ("a", "b", "c", "d"), True),
        (("a",), ("b", "c", "d"), True),
        (("a", "b"), ("c",), True),
        (("new", "rows", "only", "now"), ("$ ",), True),
    ],
)
def test_rows_that_come_below_a_reader_are_hinted_at(
    left: tuple[str, ...], rows: tuple[str, ...], is_unseen: bool
) -> None:
    desk = Desk(rows=2)
    desk.append_each("x", "y", "z")
    desk.live("a", "b", "c")
    viewport = desk.screen.viewport
    viewport.scroll(-3)
    assert desk.view() == ["y", "z"]

    desk.advance(left, rows)

    assert desk.view() == ["y", "z"]
    assert viewport.has_unseen == is_unseen
    desk.refine_all()
    assert viewport.rows_below == len(left) + len(rows)
    viewport.scroll_end()
    assert not viewport.has_unseen


def test_who_follows_sees_the_last_rows_of_history_and_live_screen() -> None:
    desk = Desk(rows=3)
    desk.append("a", "block")

    for left, rows, view in [
        ((), ("$ ",), ["block", "$ ", "~"]),
        ((), ("$ seq 3", "1", "2", "3"), ["1", "2", "3"]),
        (("$ seq 3", "1", "2"), ("3", "$ "), ["2", "3", "$ "]),
        ((), ("",), ["1", "2", ""]),
    ]:
        desk.advance(left, rows)
        assert desk.view() == view


def test_text_that_grows_in_the_live_screen_is_followed_only_at_its_end() -> None:
    desk = Desk(rows=2)
    desk.live("a", "b", "c")
    viewport = desk.screen.viewport
    viewport.scroll(-1)

    desk.live("a", "b", "c", "d")
    viewport.scroll(1)
    assert desk.view() == ["b", "c"]
    assert not viewport.is_following
    viewport.scroll(1)

    assert viewport.is_following


# copying and searching --------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:live-copy")
@pytest.mark.parametrize(
    ("history", "rows", "text"),
    [
        (("$ ls",), ("one", "two"), "$ ls\none\ntwo\n"),
        (("long\\",), ("er\\", " line", "$ "), "longer line\n$ \n"),
    ],
)
def test_soft_wrapped_rows_are_joined_also_across_the_edge_of_the_live_screen(
    history: tuple[str, ...], rows: tuple[str, ...], text: str
) -> None:
    desk = Desk()
    desk.output(*history)
    desk.live(*rows)

    desk.screen.selection.select(Range(Position(0, 0), desk.screen.history.end_position))

    assert desk.screen.selection.text() == text


def test_between_a_line_that_was_cut_off_by_a_block_and_live_rows_is_a_break() -> None:
    desk = Desk()
    desk.output("open\\")
    desk.append("a", "A")
    desk.live("x")

    desk.screen.selection.select(Range(Position(0, 0), live(1)))

    assert desk.screen.selection.text() == "open\nA\nx"


def test_words_and_lines_are_selected_across_live_rows() -> None:
    desk = Desk(columns=6, rows=3)
    desk.live("see fi\\", "le.txt", "$ ")
    selection = desk.screen.selection

    selection.begin(desk.at(1, 1), "word")
    assert selection.text() == "file.txt"
    selection.begin(desk.at(0, 0), "line")
    assert selection.text() == "see file.txt"
    selection.begin(desk.at(2, 0), "block")
    assert selection.text() == "see file.txt\n$ \n"


@pytest.mark.requirement("terminal:history:live-copy")
@pytest.mark.parametrize(
    ("place", "word"),
    [
        ((1, 0), "see"),
        ((1, 3), " "),
        ((1, 4), "file.txt"),
        ((2, 0), "file.txt"),
        ((2, 5), "file.txt"),
        ((3, 0), "!"),
        ((3, 3), ""),
    ],
)
def test_words_and_lines_are_selected_across_the_edge_of_the_live_screen(
    place: tuple[int, int], word: str
) -> None:
    """The first rows of a long command have left, and the others are live."""
    desk = Desk(columns=6, rows=5)
    desk.output("before")
    desk.advance(("see fi\\",), ("le.txt\\", "!", "$ "))
    selection = desk.screen.selection

    selection.begin(desk.at(*place), "word")
    assert selection.text() == word
    selection.begin(desk.at(*place), "line")
    assert selection.text() == "see file.txt!"
    selection.extend_to(desk.at(4, 0))
    assert selection.text() == "see file.txt!\n$ "


def test_a_line_that_went_on_until_a_block_came_ends_there() -> None:
    desk = Desk(columns=6, rows=4)
    desk.output("open\\")
    desk.append("a", "A")
    desk.live("x")

    for row, text in enumerate(("open", "A", "x")):
        desk.screen.selection.begin(desk.at(row, 0), "line")
        assert desk.screen.selection.text() == text


def test_the_live_screen_is_searched() -> None:
    desk = Desk(rows=2)
    desk.append_each("one two", "two")
    desk.live("tw\\", "o", "two")
    here = live(0)

    desk.find("two", here)

    assert desk.found() == [(0, 4, 7), (1, 0, 3), (LIVE_SEGMENT_ID, 0, 3), (LIVE_SEGMENT_ID, 4, 7)]
    search = desk.screen.search
    assert search.current == Range(live(0), live(3))
    assert [search.go_next() for _ in range(2)][1] == Range(Position(0, 4), Position(0, 7))
    assert search.go_previous() == Range(live(4), live(7))


@pytest.mark.parametrize("near", [Position(1, 0), live(0)])
def test_the_nearest_match_is_gone_to_first_also_into_the_live_screen(near: Position) -> None:
    desk = Desk()
    desk.append_each("two", "x", "y")
    desk.live("two")
    search = desk.screen.search
    search.find("two", near)

    while search.current is None:
        assert search.step(1)

    assert search.current == Range(live(0), live(3))


# rows are followed ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("before", "left", "rows", "moves"),
    [
        # where each row is now; with a question mark, the one that is nearest to it
        ("", "", "ab", ""),
        ("ab", "", "", "?-1 ?-1"),
        ("abc", "", "abc", "0 1 2"),
        ("abc", "", "abcd", "0 1 2"),
        ("abc", "", "ab", "0 1 ?1"),
        ("abc", "", "axc", "0 ?1 2"),
        ("abc", "", "axyc", "0 ?1 3"),
        ("abc", "", "ac", "0 ?1 1"),
        ("abcde", "", "xbydz", "?0 1 ?2 3 ?4"),
        ("abc", "ab", "c", "0 1 2"),
        ("abc", "a", "bcd", "0 1 2"),
        ("abc", "x", "bcd", "?0 1 2"),
        ("abc", "ax", "bc", "0 2 3"),
        ("abc", "x", "abd", "1 2 ?3"),
        ("abs", "abxy", "s", "0 1 4"),
        ("abs", "abxy", "zs", "0 1 5"),
        ("abc", "abcde", "", "0 1 2"),
        ("abc", "xyz", "", "?0 ?1 ?2"),
        ("abc", "x", "", "?0 ?0 ?0"),
        ("aa", "a", "aaa", "0 1"),
    ],
)
def test_rows_are_followed(before: str, left: str, rows: str, moves: str) -> None:
    found = follow_rows(ordinary(*before), ordinary(*left), ordinary(*rows))

    expected = [RowMove(int(it.strip("?")), "?" not in it) for it in moves.split()]
    assert found == expected


screens = st.lists(st.sampled_from("abc"), max_size=6)


@given(before=screens, left=screens, rows=screens)
def test_rows_are_followed_in_order_and_only_to_the_same_rows(
    before: list[str], left: list[str], rows: list[str]
) -> None:
    after = left + rows

    moves = follow_rows(ordinary(*before), ordinary(*left), ordinary(*rows))

    kept = [move.number for move in moves if move.is_kept]
    assert kept == sorted(set(kept))
    assert all(
        after[move.number] == row for row, move in zip(before, moves, strict=True) if move.is_kept
    )
    assert all(0 <= move.number < len(after) for move in moves) or not after
    if before == rows and not left:
        assert kept == list(range(len(rows)))


# marks ------------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:history:marks")
def test_a_mark_follows_every_change_as_an_anchor_does() -> None:
    desk = Desk()
    desk.append("a", "some text")
    desk.live("one", "two", "$ ")
    marks = desk.screen.marks
    marks.update(block=Position(0, 7), row=live(5), prompt=live(9))

    desk.replace("a", 5, "!")
    desk.advance(("one", "two"), ("$ ls",))
    assert marks == {"block": Position(0, 5), "row": Position(1, 5), "prompt": live(0)}
    desk.screen.erase_ordinary()

    assert marks == {"block": Position(0, 5), "row": live(0), "prompt": live(0)}
