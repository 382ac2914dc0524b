"""Situations from public reports about terminal programs, as far as they are about history."""

from __future__ import annotations

from typing import Final

import pytest

from blockwire.screen import Position
from blockwire.terminal import Layout, Line, Span
from tests.screen.desks import Desk

TABLE: Final = ("┌────────┬────────┐", "│ name   │ value  │", "└────────┴────────┘")


def test_a_table_is_there_once_and_whole_after_every_resize() -> None:
    desk = Desk(100, 24)
    desk.append("table", tuple(
        Line(spans=(Span(text=line),), layout=Layout(wrap="none")) for line in TABLE
    ))  # fmt: skip

    for columns in (100, 60, 100, 61, 10, 100):
        desk.screen.resize(columns, 24)
        assert len(desk.everything()) == 3
        if columns > len(TABLE[0]):
            assert desk.everything() == [*TABLE]


def test_who_reads_while_an_answer_is_streamed_finds_the_first_line_still_there() -> None:
    desk = Desk(80, 24)
    desk.output("welcome")
    desk.append("answer", "")
    desk.screen.viewport.scroll(-10)

    for number in range(300):
        desk.extend("answer", f"line {number}\n")
        if number == 100:
            desk.screen.viewport.scroll(-20)
    desk.screen.viewport.scroll_home()

    assert desk.view()[:2] == ["welcome", "line 0"]


@pytest.mark.parametrize("arrives", ["ordinary", "block"])
def test_twenty_rows_up_nothing_moves_while_text_arrives_and_the_window_changes(
    arrives: str,
) -> None:
    desk = Desk(80, 24)
    desk.append("answer", "".join(f"line {number}\n" for number in range(100)))
    desk.screen.viewport.scroll(-20)
    top = desk.view()[0]

    for number in range(500):
        if arrives == "ordinary":
            desk.output(f"job {number}")
        else:
            desk.extend("answer", f"token {number} ")
        if number % 25 == 0:
            desk.screen.resize(40 + number % 41, 10 + number % 15)
        assert desk.view()[0] == top

    assert desk.screen.viewport.has_unseen


def test_a_spinner_far_above_costs_nothing_that_is_seen() -> None:
    desk = Desk(80, 24)
    desk.append("spinner", "|")
    desk.append("text", "row\n" * 5_000)
    before = desk.screen.view()

    for number in range(240):
        desk.update("spinner", "|/-\\"[number % 4])

    assert desk.screen.view() is before


@pytest.mark.parametrize("prefix", ["", "• ", "│ "])
def test_a_long_command_is_copied_without_a_break(prefix: str) -> None:
    command = "curl " + " ".join(f"--header 'x-{number}: y'" for number in range(15))
    layout = Layout(first_prefix=(Span(text=prefix),), rest_prefix=(Span(text=prefix),))
    desk = Desk(80, 24)
    desk.append("a", (Line(spans=(Span(text=command),), layout=layout),))

    desk.select((0, 0), (23, 79))

    assert sum(bool(row.strip("~")) for row in desk.view()) > 3
    assert desk.screen.selection.text() == command


@pytest.mark.parametrize("count", [23, 24, 25, 80])
def test_a_block_about_as_tall_as_the_window_has_all_of_its_lines(count: int) -> None:
    desk = Desk(80, 24)
    lines = [f"line {number}" for number in range(count)]

    desk.append("a", "\n".join(lines))
    desk.seal("a")

    assert desk.everything() == lines
    assert [row for row in desk.view() if row != "~"] == lines[-24:]


def test_a_storm_of_resizes_during_a_thousand_operations_loses_none() -> None:
    desk = Desk(80, 24)

    for number in range(1_000):
        desk.append(str(number), f"message {number}")
        if number % 50 == 0:
            desk.screen.resize(80, 17 if number % 100 else 45)
            desk.view()

    assert desk.everything() == [f"message {number}" for number in range(1_000)]


def test_what_is_found_off_the_screen_is_gone_to() -> None:
    desk = Desk(80, 5)
    desk.append_each(*(f"message {number}" for number in range(200)))

    desk.find("message 17", Position(desk.id_of("message 100"), 0))
    match = desk.screen.search.current
    assert match is not None
    desk.screen.viewport.reveal(match.start)

    assert "message 170" in desk.view()
