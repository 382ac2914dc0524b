"""Rectangles in copy mode, and the other end of a selection."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.host.compositor import Rectangle
from blockwire.terminal import Layout, Line, Span
from tests.host.core.windows import Window

TABLE: Final = "one    111  x\ntwo    222\n\nthree  333  z\nfour"


def window_of(text: str = TABLE, columns: int = 20, rows: int = 9) -> Window:
    return Window(columns, rows).open().append("text", text).keys("prefix", "[", "g")


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["ctrl-v", "y"], "o"),
        (["w", "ctrl-v", "e", "y"], "111"),
        (["w", "ctrl-v", "e", "j", "j", "j", "y"], "111\n222\n\n333"),
        (["w", "ctrl-v", "e", "j", "j", "j", "j", "y"], "111\n222\n\n333\n"),
        (["w", "e", "ctrl-v", "b", "j", "y"], "111\n222"),
        (["w", "j", "ctrl-v", "k", "e", "y"], "111\n222"),
        (["$", "ctrl-v", "j", "y"], "x\n"),
        (["ctrl-v", "l", "l", "l", "l", "j", "y"], "one\ntwo"),
        (["ctrl-v", "w", "ctrl-v", "j", "v", "y"], "2"),
        (["j", "j", "ctrl-v", "j", "l", "y"], "\nth"),
    ],
)
@pytest.mark.requirement("host:copying:rectangle")
def test_a_rectangle_is_copied_row_by_row(keys: list[str], text: str) -> None:
    window = window_of().keys(*keys)

    assert window.copied == [text]
    assert "copy mode" not in window.status


@pytest.mark.requirement("host:copying:rectangle")
def test_a_rectangle_is_drawn_over_short_rows_too() -> None:
    window = window_of(columns=60).keys("w", "ctrl-v", "e", "j", "j")

    assert window.core._picture().rectangle == Rectangle(0, 7, 3, 10)
    assert window.core._picture().selection is None
    assert "selecting" in window.status
    assert window.cursor == (2, 0)


@pytest.mark.requirement("host:copying:rectangle")
def test_wide_characters_at_the_edges_are_copied_whole() -> None:
    window = window_of("abcd\n日本語\nefgh").keys("l", "ctrl-v", "l", "j", "j", "y")

    assert window.copied == ["bc\n日本\nfg"]


@pytest.mark.requirement("host:copying:rectangle")
def test_rows_of_one_line_and_over_blocks_and_output_are_lines_of_a_rectangle() -> None:
    window = Window(10, 9).open().append("one", "0123456789abcd").output("live 1\nlive 2")

    window.keys("prefix", "[", "g", "l", "ctrl-v", "l", "j", "j", "j", "y")

    assert window.copied == ["12\nbc\niv\niv"]


def test_what_stands_before_and_after_a_rectangle_is_not_copied() -> None:
    layout = Layout(align="right")
    window = Window(10, 9).open().append("one", "0123456789")
    window.append("two", (Line(spans=(Span(text="ab"),), layout=layout),))

    window.keys("prefix", "[", "g", "l", "ctrl-v", "l", "j", "k", "j", "y")
    assert window.copied[-1] == "12345678\na"

    window.keys("prefix", "[", "g", "l", "ctrl-v", "l", "o", "j", "y")
    assert window.copied[-1] == "2345678\na"


def test_a_tab_that_is_only_partly_in_a_rectangle_is_blanks() -> None:
    window = window_of("a\tb\n0123456789").keys("j", "l", "l", "ctrl-v", "k", "l", "l", "l", "y")
    assert window.copied == ["\n2345"]

    window.keys("prefix", "[", "g", "ctrl-v", "$", "j", "y")
    assert window.copied[1:] == ["a\tb\n012345678"]


def test_a_rectangle_that_changes_is_gone() -> None:
    window = window_of().keys("w", "ctrl-v", "e", "j")

    window.update("text", "new")

    assert window.core._picture().rectangle is None
    assert "nothing is selected" in window.keys("y").status


@pytest.mark.requirement("host:copying:corners")
def test_a_rectangle_stays_at_its_corners_whatever_arrives() -> None:
    window = window_of("\n".join(f"{n:02} row" for n in range(40)), rows=6)
    window.keys("j", "ctrl-v", "l", "j")

    window.extend("text", "\nmore").output("output\n" * 5).resize(12, 7).resize(3, 5)
    window.resize(20, 6)

    assert window.keys("y").copied == ["01\n02"]


def test_a_rectangle_that_is_scrolled_away_in_part_is_drawn_in_part() -> None:
    window = window_of("\n".join(f"{n:02} row" for n in range(40)), rows=6)

    window.keys("ctrl-v", "l", *"jjjjjjjj").look()

    assert window.core._picture().rectangle == Rectangle(0, 0, 5, 2)
    assert window.keys("y").copied[0].split("\n") == [f"{n:02}" for n in range(9)]


def test_the_mouse_ends_a_rectangle() -> None:
    window = window_of().keys("ctrl-v", "j")
    window.look()

    window.mouse("press", 0, 0).mouse("drag", 1, 2).mouse("release", 1, 2)

    assert window.copied == ["one    111  x\ntwo"]
    assert window.core._picture().rectangle is None


@pytest.mark.parametrize(
    ("keys", "cursor", "text"),
    [
        (["w", "v", "e", "o"], (0, 7), "111"),
        (["w", "v", "e", "o", "o"], (0, 9), "111"),
        (["w", "v", "e", "o", "b"], (0, 0), "one    111"),
        (["w", "v", "e", "o", "o", "l", "l", "l"], (0, 12), "111  x"),
        (["j", "V", "k", "o"], (1, 0), "one    111  x\ntwo    222"),
        (["w", "ctrl-v", "e", "j", "o"], (0, 7), "111\n222"),
        (["w", "ctrl-v", "e", "j", "o", "h"], (0, 6), " 111\n 222"),
        (["B", "o"], (0, 0), TABLE),
    ],
)
@pytest.mark.requirement("host:copying:other-end")
def test_the_other_end_of_a_selection_is_moved(
    keys: list[str], cursor: tuple[int, int], text: str
) -> None:
    window = window_of().keys(*keys)
    assert window.cursor == cursor

    assert window.keys("y").copied == [text]


def test_without_a_selection_there_is_no_other_end() -> None:
    window = window_of().keys("w", "o")

    assert window.cursor == (0, 7)
    assert window.core.screen.selection.chosen is None


def test_the_other_end_of_what_the_mouse_selected_can_be_moved() -> None:
    window = window_of()
    window.look()
    window.mouse("press", 0, 7).mouse("drag", 1, 9).mouse("release", 1, 9)

    assert window.keys("o").cursor == (0, 7)


def test_a_row_whose_text_begins_right_of_a_rectangle_is_an_empty_line_of_it() -> None:
    line = Line(spans=(Span(text="ab"),), layout=Layout(align="right"))
    window = (
        Window(10, 9).open().append("one", "0123").append("two", (line,)).append("three", "xyz")
    )

    window.keys("prefix", "[", "g", "ctrl-v", "l", "j", "j", "0", "l", "y")

    assert window.copied == ["01\n\nxy"]
