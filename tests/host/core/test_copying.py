"""Selecting and copying, by mouse and by keyboard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.host.core.windows import Window

TEXT = "one two\nthree  four.five\n\nlast line that is longer than the window\nend"


def window_of(text: str = TEXT, columns: int = 20, rows: int = 9, **options: Any) -> Window:
    return Window(columns, rows, **options).open().append("text", text)


def drag(window: Window, start: tuple[int, int], end: tuple[int, int]) -> Window:
    window.look()
    window.mouse("press", *start).mouse("drag", *end).mouse("release", *end)
    return window


@pytest.mark.requirement("host:copying:drag")
def test_what_is_dragged_over_is_copied_without_the_breaks_of_rows() -> None:
    window = drag(window_of(), (3, 0), (4, 10))

    assert window.copied == ["last line that is longer than"]
    assert "copied" in window.status


def test_a_click_selects_nothing_and_clears() -> None:
    window = drag(window_of(), (0, 0), (0, 2)).wait(1)

    window.mouse("press", 1, 1).mouse("release", 1, 1)

    assert window.copied == ["one"]
    assert window.core.screen.selection.chosen is None


@pytest.mark.parametrize(
    ("clicks", "text"),
    [(1, []), (2, ["four.five"]), (3, ["four.five", "three  four.five"])],
)
@pytest.mark.requirement("host:copying:clicks")
def test_two_clicks_take_a_word_and_three_a_line(clicks: int, text: list[str]) -> None:
    window = window_of()
    window.look()

    for _ in range(clicks):
        window.mouse("press", 1, 8).wait(0.05).mouse("release", 1, 8).wait(0.05)

    assert window.copied == text


def test_four_clicks_take_a_block_and_slow_ones_are_single() -> None:
    window = window_of("a\nb")
    window.look()
    for _ in range(4):
        window.mouse("press", 0, 0).mouse("release", 0, 0)
    assert window.copied[-1] == "a\nb"

    count = len(window.copied)
    for _ in range(4):
        window.mouse("press", 0, 0).mouse("release", 0, 0).wait(1)
    assert len(window.copied) == count


def test_a_drag_after_two_clicks_goes_on_by_words() -> None:
    window = window_of()
    window.look()
    window.mouse("press", 0, 1).mouse("release", 0, 1).mouse("press", 0, 1)

    window.mouse("drag", 1, 1).mouse("release", 1, 1)

    assert window.copied[-1] == "one two\nthree"


@pytest.mark.requirement("host:copying:policy")
def test_copying_on_select_can_be_switched_off() -> None:
    window = drag(window_of(copy_on_select=False), (0, 0), (0, 2))
    assert window.copied == []

    window.keys("prefix", "y")

    assert window.copied == ["one"]


def test_typing_clears_the_selection() -> None:
    window = drag(window_of(), (0, 0), (0, 2)).keys("x", "prefix", "y")

    assert window.copied == ["one"]
    assert "nothing is selected" in window.status


@pytest.mark.requirement("host:copying:autoscroll")
def test_a_drag_past_the_edge_scrolls_as_time_goes_by() -> None:
    window = window_of("\n".join(map(str, range(40))), rows=6)
    window.look()
    window.mouse("press", 3, 5).mouse("drag", 0, 0)

    window.wait(0.5)
    window.mouse("release", 0, 0)

    lines = window.copied[0].split("\n")
    assert 8 <= len(lines) <= 14
    assert lines[-1] == "39"
    assert window.text()[0] == lines[0]

    window.mouse("press", 2, 0).mouse("drag", 5, 0).wait(0.3).mouse("release", 5, 0)
    assert len(window.copied[1].split("\n")) >= 5
    assert window.wait(9).core.wake_at_s is None


@pytest.mark.requirement("host:copying:streaming")
def test_a_selection_is_made_while_text_arrives() -> None:
    window = window_of("\n".join(map(str, range(40))), rows=6)
    before = window.text()
    window.mouse("press", 0, 0)

    for number in range(20):
        window.extend("text", f"\n{number}").output(f"output {number}\n")
        window.mouse("drag", 1 + number % 2, 0)
        assert window.text()[:4] == before[:4]
    window.mouse("release", 2, 0)

    assert window.copied == ["36\n37\n3"]
    assert window.text()[-2] == "output 19"


@pytest.mark.requirement("host:copying:drag")
def test_a_drag_begins_at_what_was_pressed_also_after_scrolling() -> None:
    window = window_of("\n".join(map(str, range(10, 50))), rows=6)
    window.look()

    window.mouse("press", 0, 0).mouse("up", 0, 0).mouse("drag", 0, 1).mouse("release", 0, 1)
    assert window.copied == ["3\n44\n45\n4"]

    window.keys("escape").mouse("press", 3, 1).output("\x1b[3J").keys("shift-home")
    window.mouse("drag", 0, 0).mouse("release", 0, 0)
    assert window.copied[1].split("\n") == [str(number) for number in range(10, 50)]


@pytest.mark.requirement("host:copying:update-clears")
def test_a_press_on_text_that_goes_begins_where_text_is() -> None:
    window = window_of("\n".join(map(str, range(10, 50))), rows=6)
    window.look()
    window.mouse("press", 0, 0).update("text", "ab\ncd").look()

    window.mouse("drag", 1, 1).mouse("release", 1, 1)

    assert window.copied == ["ab\ncd"]


@pytest.mark.requirement("host:copying:update-clears")
def test_a_selection_in_a_block_that_changes_is_gone_and_nothing_breaks() -> None:
    window = window_of()
    window.look()
    window.mouse("press", 0, 0).mouse("drag", 1, 3)

    window.update("text", "new")
    window.mouse("drag", 0, 2).mouse("drag", 0, 1).mouse("release", 0, 1)

    assert window.copied == []


@pytest.mark.requirement("host:copying:block")
def test_the_block_that_is_seen_last_is_copied_by_a_key() -> None:
    window = window_of("first", rows=5).append("two", "second\n" * 10).output("$ ")

    assert window.keys("prefix", "c").copied == ["second\n" * 10]
    assert window.keys("shift-home", "prefix", "c").copied[1] == "second\n" * 10
    assert "copied 10 lines" in window.status


def test_a_block_without_text_is_none_to_be_copied_or_gone_to() -> None:
    window = window_of("first\n" * 9, rows=5).append("empty", "").append("two", "").output("$ ")

    assert window.keys("prefix", "c").copied == ["first\n" * 9]
    assert window.keys("prefix", "{").text()[0] == "first"


def test_the_empty_lines_before_a_block_are_not_copied() -> None:
    window = window_of("\n\n  first\n\nlast", rows=9)

    assert window.keys("prefix", "c").copied == ["  first\n\nlast"]


def test_a_block_above_what_is_seen_is_copied_and_without_any_nothing() -> None:
    window = window_of("first", rows=5).output("\n".join(map(str, range(20))))
    assert window.keys("prefix", "c").copied == ["first"]

    window = Window().output("text").keys("prefix", "c")
    assert window.copied == []
    assert "no Block" in window.status


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        ([], (0, 0)),
        (["l", "right"], (0, 2)),
        (["$", "l"], (0, 6)),
        (["h"], (0, 0)),
        (["j", "$"], (1, 15)),
        (["j", "$", "k"], (0, 6)),
        (["j", "$", "k", "j"], (1, 15)),
        (["j", "j", "j", "$"], (5, 5)),
        (["j", "j", "j", "j", "0"], (3, 0)),
        (["w"], (0, 4)),
        (["w", "w"], (1, 0)),
        (["j", "w", "w"], (1, 11)),
        (["j", "w", "w", "w", "w"], (2, 0)),
        (["e"], (0, 2)),
        (["e", "e", "e"], (1, 4)),
        (["j", "b"], (0, 4)),
        (["b"], (0, 0)),
        (["w", "b"], (0, 0)),
        (["G"], (7, 0)),
        (["G", "w"], (7, 0)),
        (["G", "g"], (0, 0)),
        (["L"], (7, 0)),
        (["M"], (3, 0)),
        (["L", "H"], (0, 0)),
        (["page-down"], (7, 0)),
        (["ctrl-d"], (4, 0)),
        (["ctrl-d", "ctrl-u"], (0, 0)),
        (["page-down", "page-up"], (0, 0)),
        (["j", "^"], (1, 0)),
        (["j", "l", "{"], (0, 0)),
        (["}"], (0, 0)),
    ],
)
@pytest.mark.requirement("host:copying:keyboard")
def test_keys_move_the_cursor_of_copy_mode(keys: list[str], cursor: tuple[int, int]) -> None:
    window = window_of().output("$ ").keys("shift-home", "prefix", "[", "g", *keys)

    assert window.cursor == cursor
    assert window.typed.endswith(b"\\")


@pytest.mark.requirement("host:copying:keyboard")
def test_copy_mode_begins_at_the_cursor_of_the_program() -> None:
    window = window_of().output("$ make").keys("prefix", "[")

    assert window.cursor == (7, 5)
    assert window.keys("b", "v", "e", "y").copied == ["make"]
    assert window.cursor == (7, 6)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["v", "e", "y"], "one"),
        (["space", "w", "enter"], "one t"),
        (["V", "y"], "one two"),
        (["V", "j", "y"], "one two\nthree  four.five"),
        (["B", "y"], TEXT),
        (["j", "v", "k", "y"], "one two\nt"),
        (["v", "v", "w", "V", "y"], "one two"),
        (["j", "j", "j", "V", "y"], "last line that is longer than the window"),
        (["v", "escape", "j", "v", "y"], "t"),
    ],
)
@pytest.mark.requirement("host:copying:keyboard-selects")
def test_keys_select_and_copy(keys: list[str], text: str) -> None:
    window = window_of().keys("prefix", "[", "g", *keys)

    assert window.copied == [text]
    assert "copy mode" not in window.status


@pytest.mark.parametrize("keys", [["q"], ["escape"], ["v", "escape", "escape"], ["ctrl-c"]])
def test_copy_mode_is_left(keys: list[str]) -> None:
    window = window_of("\n".join(map(str, range(40))), rows=6)
    typed = window.keys("prefix", "[", "g").typed

    window.keys(*keys)

    assert window.text()[-2] == "39"
    assert window.typed == typed
    assert window.core.screen.selection.chosen is None


def test_without_a_selection_nothing_is_copied_and_copy_mode_goes_on() -> None:
    window = window_of().keys("prefix", "[", "y")

    assert window.copied == []
    assert "nothing is selected" in window.status
    assert window.keys("g", "v", "y").copied == ["o"]


@pytest.mark.requirement("host:copying:cursor-stays")
def test_the_cursor_of_copy_mode_stays_at_its_text() -> None:
    window = window_of("\n".join(f"line {number}" for number in range(40)), rows=6)
    window.keys("prefix", "[", "k", "k", "w", "v")
    before = window.cursor

    window.extend("text", "\nmore").output("output\n" * 5)
    assert window.cursor == before
    window.resize(12, 9).resize(20, 6)

    assert window.cursor == before
    assert window.keys("l", "y").copied == ["38"]


def test_the_wheel_and_a_click_move_the_cursor_of_copy_mode() -> None:
    window = window_of("\n".join(map(str, range(40))), rows=6).keys("prefix", "[", "v")

    window.mouse("up", 0, 0)
    assert window.cursor[0] == 4

    window.mouse("press", 1, 1).mouse("release", 1, 1)
    assert window.cursor == (1, 1)


def test_copy_mode_where_everything_was_erased_goes_on_with_what_is_there() -> None:
    window = Window(20, 5).output("\n".join(map(str, range(20)))).keys("prefix", "[", "g")

    window.output("\x1b[3J").keys("j", "v", "k")

    assert window.text()[0] == "16"
    assert window.keys("q").text()[0] == "16"


def test_help_is_there_in_copy_mode() -> None:
    window = window_of().keys("prefix", "[", "?")
    assert window.status.startswith(" help")

    assert window.keys("q").status.startswith(" copy mode")


@pytest.mark.requirement("host:copying:clusters")
def test_characters_are_never_cut() -> None:
    window = window_of("a👨‍👩‍👧b 日本").keys("prefix", "[", "g", "l", "v", "l", "y")

    assert window.copied == ["👨‍👩‍👧b"]
    window.look()
    window.mouse("press", 0, 5).mouse("drag", 0, 6).mouse("release", 0, 6)
    assert window.copied[1:] == ["日"]
