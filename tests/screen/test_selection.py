"""What is selected, and what copying gives."""

from __future__ import annotations

import pytest

from blockwire.screen import Position, Range, SelectionUnit, copy
from blockwire.terminal import Layout, Line, Span
from tests.screen.desks import Desk

PREFIXED = Layout(first_prefix=(Span(text="> "),), rest_prefix=(Span(text="> "),), align="right")


def everything_copied(desk: Desk) -> str:
    history = desk.screen.history
    last_id = history.end_id - 1
    end = Position(last_id, history.segment(last_id).content.scalar_count)
    return copy(history, Range(Position(history.first_id, 0), end))


def test_nothing_is_selected_at_first_and_after_clearing() -> None:
    desk = Desk()
    desk.append("a", "one")
    selection = desk.screen.selection
    assert selection.text() == ""

    selection.extend_to(desk.at(0, 2))
    assert selection.chosen is None
    selection.begin(desk.at(0, 2))
    selection.clear()
    selection.extend_to(desk.at(0, 0))

    assert selection.text() == ""


@pytest.mark.requirement("terminal:history:copy-boundary")
def test_between_two_segments_stands_exactly_one_break() -> None:
    desk = Desk()
    desk.append_each("one", "two\n", "three\r\n", "")
    desk.append("lines", (Line(spans=(Span(text="x"),)), Line(spans=())))
    desk.output("$ ls", "", "open\\")
    desk.append("b", "y\n\n")
    desk.append("empty", ())
    desk.append("z", "z\r")

    assert everything_copied(desk) == "one\ntwo\nthree\n\nx\n$ ls\n\nopen\ny\n\n\nz\n"


@pytest.mark.requirement("terminal:history:copy-rows")
def test_rows_of_one_line_are_joined() -> None:
    desk = Desk(columns=8, rows=7)
    desk.append("a", "a command of several rows")
    desk.output("and long \\", "output")

    desk.select((1, 0), (5, 2))

    assert desk.view() == ["a ", "command ", "of ", "several ", "rows", "and long", " output"]
    assert desk.screen.selection.text() == "command of several rows\nand"
    assert everything_copied(desk) == "a command of several rows\nand long output\n"


@pytest.mark.requirement("terminal:history:copy-text")
def test_only_what_is_in_the_text_is_copied() -> None:
    desk = Desk(columns=20, rows=3)
    desk.append("a", (Line(spans=(Span(text="quoted  "),), layout=PREFIXED),) * 2)
    desk.append("b", "x\x1b[31m\u202e\t\x85")

    assert desk.view()[0] == ">             quoted"
    assert everything_copied(desk) == "quoted  \nquoted  \nx␛[31m<U+202E>\t<U+0085>"


@pytest.mark.requirement("terminal:history:copy-clusters")
@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (0, 0, "a"),
        (1, 1, "漢"),
        (2, 2, "漢"),
        (2, 3, "漢👩‍💻"),
        (4, 5, "👩‍💻e\u0301"),
        (6, 6, ""),
    ],
)
def test_characters_are_selected_whole(start: int, end: int, text: str) -> None:
    desk = Desk()
    desk.append("a", "a漢👩‍💻e\u0301")

    desk.select((0, start), (0, end))

    assert desk.screen.selection.text() == text


def test_a_position_inside_of_a_cluster_is_widened() -> None:
    desk = Desk()
    desk.append("a", "a👩‍💻b")

    assert copy(desk.screen.history, Range(Position(0, 2), Position(0, 3))) == "👩‍💻"


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (0, 8, "a\tb"),
        (0, 7, "a\t"),
        (0, 6, "a      "),
        (2, 8, "      b"),
        (3, 4, "  "),
    ],
)
def test_a_tab_is_a_tab_if_all_of_it_is_selected(start: int, end: int, text: str) -> None:
    desk = Desk()
    desk.append("a", "a\tb")

    desk.select((0, start), (0, end))

    assert desk.screen.selection.text() == text


def test_part_of_a_label_is_text() -> None:
    desk = Desk()
    desk.append("a", "a\x85b")

    desk.select((0, 2), (0, 5))

    assert desk.screen.selection.text() == "U+00"


def test_a_break_is_copied_if_any_of_it_is_selected() -> None:
    desk = Desk()
    desk.append("a", "one\r\ntwo\n")
    history = desk.screen.history

    copied = [
        copy(history, Range(Position(0, start), Position(0, end)))
        for start, end in [(0, 3), (0, 4), (0, 5), (3, 5), (5, 9), (8, 9), (9, 9), (6, 6)]
    ]

    assert copied == ["one", "one\n", "one\n", "\n", "two\n", "\n", "", ""]


def test_from_behind_a_last_break_only_what_follows_is_copied() -> None:
    desk = Desk()
    desk.append_each("one\n", "two")

    assert copy(desk.screen.history, Range(Position(0, 4), Position(1, 3))) == "two"
    assert copy(desk.screen.history, Range(Position(0, 2), Position(1, 0))) == "e\n"


@pytest.mark.requirement("terminal:history:units")
@pytest.mark.parametrize(
    ("unit", "column", "text"),
    [
        ("character", 2, "e"),
        ("word", 2, "see"),
        ("word", 8, "./src/a_b.py:12"),
        ("word", 3, "  "),
        ("word", 20, "("),
        ("word", 39, ""),
        ("line", 8, "see  ./src/a_b.py:12(漢字)"),
        ("block", 8, "first\nsee  ./src/a_b.py:12(漢字)\n"),
    ],
)
def test_a_word_a_line_or_a_block_is_selected_whole(
    unit: SelectionUnit, column: int, text: str
) -> None:
    desk = Desk(columns=40, rows=2)
    desk.append("a", "first\nsee  ./src/a_b.py:12(漢字)\n")

    desk.screen.selection.begin(desk.at(1, column), unit)

    assert desk.screen.selection.text() == text


@pytest.mark.parametrize(
    ("unit", "to", "text"),
    [
        ("word", (0, 9), "two three"),
        ("word", (0, 0), "one two"),
        ("line", (1, 2), "one two three\nfour five"),
        ("block", (2, 0), "one two three\nfour five\nsix"),
        ("character", (0, 1), "ne t"),
    ],
)
def test_a_selection_is_extended_by_what_it_began_with(
    unit: SelectionUnit, to: tuple[int, int], text: str
) -> None:
    desk = Desk(rows=3)
    desk.append_each("one two three\nfour five", "six")
    selection = desk.screen.selection

    selection.begin(desk.at(0, 4), unit)
    selection.extend_to(desk.at(2, 1))
    selection.extend_to(desk.at(*to))

    assert selection.text() == text


@pytest.mark.requirement("terminal:history:copy-unpainted")
def test_what_is_scrolled_away_is_copied_as_well() -> None:
    desk = Desk(rows=2)
    desk.append_each(*map(str, range(100)))

    desk.screen.selection.begin(desk.at(1, 1))
    desk.screen.viewport.scroll_home()
    desk.screen.selection.extend_to(desk.at(0, 0))
    desk.screen.viewport.scroll_end()

    assert desk.screen.selection.text() == "\n".join(map(str, range(100)))


def test_right_of_a_row_that_goes_on_is_none_of_the_next_one() -> None:
    desk = Desk(columns=5)
    desk.append("a", "one two")

    desk.select((0, 1), (0, 4))

    assert desk.screen.selection.text() == "ne "


def test_where_a_selection_began_is_known_and_may_be_covered_by_another_range() -> None:
    desk = Desk()
    desk.append_each("one two", "three")
    selection = desk.screen.selection
    selection.cover(desk.at(0, 0))
    assert selection.chosen is None

    selection.begin(desk.at(0, 4), "rectangle")
    selection.cover(Range(desk.at(0, 1).start, desk.at(1, 1).end))

    assert (selection.text(), selection.origin) == ("ne two\nth", desk.at(0, 4))
    desk.update("one two", "new")
    assert selection.origin is None
