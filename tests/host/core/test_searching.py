"""Searching as a person types, and what becomes of it."""

from __future__ import annotations

import pytest

from tests.host.core.windows import Window


def window_of(*lines: str, rows: int = 6, columns: int = 60) -> Window:
    window = Window(columns, rows).open()
    for number, line in enumerate(lines):
        window.append(str(number), line)
    return window


def numbered() -> Window:
    return window_of(*(f"line {number}" for number in range(100)))


@pytest.mark.requirement("host:searching:typing")
def test_the_newest_match_is_shown_while_it_is_typed() -> None:
    window = numbered().keys("prefix", "/", "l", "i", "n", "e", " ", "4")

    assert window.status == " search, 11 of 11: line 4"
    assert any("line 49" in row for row in window.text())
    assert window.cursor == (5, 25)
    assert window.typed.endswith(b"\\")


@pytest.mark.requirement("host:searching:typing")
def test_a_reader_is_shown_the_next_match_from_where_he_is() -> None:
    window = numbered().keys("shift-home", "prefix", "/", "line 4")

    assert "line 4" in window.text()


@pytest.mark.requirement("host:searching:cancel")
def test_escape_goes_back_to_where_the_reader_was() -> None:
    window = numbered().keys("shift-page-up", "page-up")
    before = window.text()

    window.keys("prefix", "/", "line 2")
    assert window.text() != before
    window.output("more\n").keys("escape")

    assert window.text() == before
    assert window.core.screen.search.query == ""


def test_escape_goes_back_to_the_end_if_that_was_followed() -> None:
    window = numbered().keys("prefix", "/", "line 2", "escape")

    assert window.text()[-2] == "line 99"


@pytest.mark.requirement("host:searching:go")
def test_matches_before_and_after_are_shown_while_typing_and_after() -> None:
    window = numbered().keys("prefix", "/", "line 4", "up", "up")
    assert "line 47" in window.text()

    window.keys("down", "enter")
    assert window.status.startswith(" copy mode, line 4: 10 of 11")
    assert window.text()[window.cursor[0]] == "line 48"

    window.keys("n", "n")
    assert window.text()[window.cursor[0]] == "line 4"
    window.keys("N")
    assert window.text()[window.cursor[0]] == "line 49"


@pytest.mark.requirement("host:searching:select")
def test_a_match_is_selected_from_and_copied() -> None:
    window = numbered().keys("prefix", "/", "line 42", "enter", "V", "j", "y")

    assert window.copied == ["line 42\nline 43"]
    assert window.text()[-2] == "line 99"
    assert window.core.screen.search.query == ""


@pytest.mark.parametrize(
    ("keys", "query"),
    [
        (["a", "b", "backspace"], "a"),
        (["a", "👨‍👩‍👧", "backspace"], "a"),
        (["backspace", "a"], "a"),
        (["one two ", "ctrl-w"], "one "),
        (["one", "ctrl-w"], ""),
        (["one", "ctrl-u", "x"], "x"),
        (["a", "left", "b"], "ab"),
        (["\x1b[200~pasted\nmore\x1b[201~"], "pasted"),
    ],
)
def test_a_query_is_edited(keys: list[str], query: str) -> None:
    window = numbered().keys("prefix", "/", *keys)

    assert window.core.screen.search.query == query
    assert window.status.endswith(query.rstrip())


@pytest.mark.requirement("host:searching:none")
def test_what_is_not_found_is_said_and_nothing_moves() -> None:
    window = numbered().keys("prefix", "/", "nothing")
    assert window.status == " search, not found: nothing"
    assert window.text()[-2] == "line 99"

    assert "not found: nothing" in window.keys("enter").status
    assert window.text()[-2] == "line 99"
    assert "reading" not in window.wait(5).status


def test_an_empty_query_is_none() -> None:
    window = numbered().keys("prefix", "/", "enter")

    assert "reading" not in window.status
    assert "not found" not in window.status


def test_enter_waits_for_the_search() -> None:
    window = Window(30, 6).open()
    for number in range(3):
        window.append(str(number), "x" * 180_000)

    window.keys("prefix", "/", "y", "enter")
    window._stream.feed(window.core.paint())

    assert window.outer.display[-1].startswith(" search, searching: y")
    assert "not found" in window.status


def test_a_search_from_copy_mode_goes_back_to_it() -> None:
    window = numbered().keys("prefix", "[", "k", "/", "line 3", "escape")
    assert window.status.startswith(" copy mode")
    assert window.text()[window.cursor[0]] == "line 99"

    window.keys("/", "line 3", "enter")
    assert window.text()[window.cursor[0]].startswith("line 3")


@pytest.mark.requirement("host:searching:off-screen")
def test_text_that_arrives_is_found_too() -> None:
    window = numbered().keys("prefix", "/", "zebra")

    window.append("late", "a zebra").look()

    assert window.status == " search, 1 of 1: zebra"
    assert "a zebra" in window.text()


def test_who_scrolls_away_while_a_search_is_typed_is_not_pulled_back_by_new_text() -> None:
    window = numbered().keys("prefix", "/", "line 5").mouse("up", 1, 1).mouse("up", 1, 1)
    before = window.text()

    window.append("late", "line 5")

    assert window.text() == before


def test_the_wheel_scrolls_while_a_search_is_typed() -> None:
    window = numbered().keys("prefix", "/", "line 5").mouse("up", 1, 1)

    assert window.status.startswith(" search")


def test_among_too_many_blocks_matches_are_counted_and_not_numbered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("blockwire.host.searching.NUMBERED_SEGMENTS_MAX", 10)

    assert numbered().keys("prefix", "/", "line 4").status == " search, 11 matches: line 4"


def test_a_long_query_is_bounded() -> None:
    window = numbered().keys("prefix", "/")
    window.input(b"\x1b[200~" + b"x" * 5_000 + b"\x1b[201~")

    assert len(window.core.screen.search.query) == 1_000


def test_without_a_row_for_it_the_prompt_takes_the_last_one() -> None:
    window = Window(20, 3).output("1\n2\n3").keys("prefix", "/", "2")

    assert window.status == " search, 1 of 1: 2"
    assert window.keys("escape").look() == ["1", "2", "3"]


@pytest.mark.requirement("host:searching:cancel")
def test_a_search_that_is_cancelled_in_copy_mode_brings_back_the_one_before() -> None:
    window = numbered().keys("prefix", "/", "line 4", "up", "enter", "k", "/", "line 7")
    assert "line 70" in window.text()
    window.output("more\n").keys("escape")
    window.look()

    search = window.core.screen.search
    assert (search.query, search.match_count) == ("line 4", 11)
    assert window.text()[window.cursor[0]] == "line 47"
    assert window.core._controls.search.summary == "10 of 11"
    assert "line 49" in window.keys("n").text()


@pytest.mark.parametrize("keys", [["enter"], ["zzz", "enter"]])
def test_a_search_for_nothing_in_copy_mode_brings_back_the_one_before(keys: list[str]) -> None:
    window = numbered().keys("prefix", "/", "line 4", "enter", "/", *keys).wait(4)
    window.look()

    assert window.core.screen.search.match_count == 11
    assert window.status.startswith(" copy mode, line 4: 11 of 11")


@pytest.mark.requirement("host:copying:begins-empty")
def test_what_was_selected_before_copy_mode_is_not_selected_in_it() -> None:
    window = numbered().keys("prefix", "c", "prefix", "[", "k").wait(10)
    assert window.status.startswith(" copy mode  ")

    window = numbered().keys("prefix", "c", "prefix", "/", "line 4", "enter")
    assert "selecting" not in window.status

    window.keys("v", "/", "line 47", "enter", "y")
    assert window.copied[-1] == "line 47\nline 48\nl"
