"""Whole sessions: what a program writes, and what a person sees of it."""

from __future__ import annotations

import pytest

from blockwire.host.commands import CopyText, OuterSequence, RingBell, SetTitle
from tests.host.core.windows import Window


def test_a_program_writes_and_its_cursor_is_where_it_is() -> None:
    window = Window(20, 6).output("$ ls\n", "one two\n", "$ ")

    assert window.text() == ["$ ls", "one two", "$", "", ""]
    assert window.cursor == (2, 2)


@pytest.mark.requirement("host:outer:idle")
def test_nothing_is_written_while_nothing_changes() -> None:
    window = Window().output("$ ")
    window.look()

    window.look()

    assert window.written == b""


@pytest.mark.requirement("host:output:order")
def test_output_and_blocks_are_seen_in_the_order_of_time() -> None:
    window = Window(20, 8).output("$ ask\n").open()

    window.append("one", "first").output("between\n").append("two", "second").output("$ ")

    assert window.text() == ["$ ask", "first", "between", "second", "$", "", ""]


@pytest.mark.requirement("host:output:row-ended")
def test_a_row_that_is_not_ended_is_ended_before_a_block() -> None:
    window = Window(20, 6).open().output("working...").append("one", "first").output("done")

    assert window.text() == ["working...", "first", "done", "", ""]
    assert window.cursor == (2, 4)


@pytest.mark.requirement("host:output:row-ended")
def test_a_row_that_is_full_is_ended_before_a_block() -> None:
    window = Window(5, 6).open().output("12345").append("one", "first").output("x")

    assert window.text() == ["12345", "first", "x", "", ""]


@pytest.mark.requirement("host:output:chrome-stays")
def test_who_parks_the_cursor_in_column_0_keeps_what_is_below() -> None:
    window = Window(20, 8).open().output("log\n", "> input\n", "status", "\x1b[1A\r")

    window.append("one", "first").append("two", "second")

    assert window.text() == ["log", "first", "second", "> input", "status", "", ""]
    assert window.cursor == (3, 0)


@pytest.mark.requirement("host:output:order")
def test_a_block_that_grows_between_two_looks_is_whole() -> None:
    window = Window(20, 6).open().append("one", "a").extend("one", "b").extend("one", "\nc")

    assert window.text()[:2] == ["ab", "c"]


@pytest.mark.requirement("host:replies:order")
def test_replies_come_in_the_order_of_the_questions() -> None:
    window = Window(20, 6).output("\x1b[c").open().output("\x1b[5n")
    window.keys("x")

    first, frame, rest = window.typed.partition(b"\x1b]9002;")

    assert first.startswith(b"\x1b[?")
    assert first.endswith(b"c")
    assert frame
    assert rest.endswith(b"\x1b\\\x1b[0nx")


def test_the_window_of_the_program_has_no_status_line() -> None:
    assert Window(20, 6).core.program_size == (20, 5)
    assert Window(20, 3).core.program_size == (20, 3)
    assert Window(20, 6, status_line=False).core.program_size == (20, 6)


def test_rows_that_leave_are_history_and_are_seen_above() -> None:
    window = Window(10, 5).output("\n".join(map(str, range(10))))

    assert window.text() == ["6", "7", "8", "9"]
    assert window.keys("shift-home").text() == ["0", "1", "2", "3"]


def test_everything_that_came_in_one_piece_is_history() -> None:
    lines = [str(number) for number in range(20_000)]

    window = Window(10, 5).output("".join(f"{line}\n" for line in lines))

    assert window.transcript() == lines


@pytest.mark.requirement("host:output:saved-lines")
def test_saved_lines_are_erased_and_blocks_stay() -> None:
    window = Window(10, 5).open().output("old\n").append("one", "block")
    window.output("\n".join(map(str, range(10))), "\x1b[3J")

    assert window.transcript() == ["block", "6", "7", "8", "9"]


def test_clearing_the_screen_leaves_history_alone() -> None:
    window = Window(10, 5).output("\n".join(map(str, range(6))), "\x1b[2J\x1b[Hnew")

    assert window.transcript() == ["0", "1", "new"]


@pytest.mark.requirement("host:outer:passed-on")
def test_what_is_meant_for_the_outer_terminal_is_passed_on() -> None:
    window = Window().output("\x1b]2;the title\x07\x07\x1b]7;file:///tmp\x1b\\\x1b]133;A\x07")
    window.output("\x1b]9;4;1;50\x07\x1b]9;done\x07\x1b]52;c;aGk=\x07")
    window.look()

    assert window.commands == [
        SetTitle("the title"),
        RingBell(),
        OuterSequence(b"\x1b]7;file:///tmp\x1b\\"),
        OuterSequence(b"\x1b]133;A\x1b\\"),
        OuterSequence(b"\x1b]9;4;1;50\x1b\\"),
        OuterSequence(b"\x1b]9;done\x1b\\"),
        CopyText("hi"),
    ]
    assert window.status.startswith(" the title")


def test_a_program_may_be_kept_from_the_clipboard() -> None:
    window = Window(program_clipboard=False).output("\x1b]52;c;aGk=\x07")
    window.look()

    assert window.commands == []


def test_a_program_that_rings_endlessly_is_not_hoarded() -> None:
    window = Window().output("\x07" * 10_000)

    assert len(window.core.take_commands()) == 256


@pytest.mark.requirement("host:alternate:whole")
def test_a_program_on_its_alternate_screen_has_the_window_but_for_the_status_line() -> None:
    window = Window(10, 5).output("\n".join(map(str, range(9))), "\x1b[?1049h\x1b[2J\x1b[Hvim")

    assert window.text() == ["vim", "", "", ""]

    window.output("\x1b[?1049l")

    assert window.text() == ["5", "6", "7", "8"]
    assert window.transcript() == [str(number) for number in range(9)]


def test_the_status_line_tells_of_no_key_that_is_the_programs() -> None:
    window = Window(60, 5)
    assert "Shift-PageUp scroll" in window.status

    window.output("\x1b[?1049h")

    assert "Shift-PageUp" not in window.status
    assert "Ctrl-] keys" in window.status


@pytest.mark.requirement("host:alternate:blocks")
def test_a_block_that_comes_meanwhile_is_there_afterwards() -> None:
    window = Window(10, 6).open().output("$ vim\n", "\x1b[?1049h\x1b[Hvim").append("one", "block")

    assert window.text()[0] == "vim"

    window.output("\x1b[?1049l")

    assert window.text() == ["block", "$ vim", "", "", ""]


@pytest.mark.requirement("host:alternate:not-kept")
def test_a_program_that_dies_on_its_alternate_screen_leaves_nothing_of_it() -> None:
    window = Window(10, 6).output("$ vim\n", "\x1b[?1049h\x1b[Htext")

    window.core.program_ended()

    assert window.transcript() == ["$ vim"]


def test_after_the_end_contexts_are_closed_and_nothing_changes() -> None:
    window = Window(20, 6).open().append("one", "first")

    window.core.program_ended()
    window.append("two", "second")

    assert "second" not in "".join(window.transcript()[:2])


@pytest.mark.requirement("host:output:blocks-alone")
def test_blocks_need_no_emulator() -> None:
    window = Window.swallowing(20, 6).open()
    window.append("one", "".join(f"line {number}\n" for number in range(30)))
    window.append("two", "a text that is wider than the window")

    assert window.text()[-3:] == ["a text that is wider", "than the window", ""]
    assert window.keys("shift-home").text()[0] == "line 0"
    window.keys("prefix", "/", "line 17", "enter", "V", "y")
    assert window.copied == ["line 17"]
    window.resize(40, 6)
    assert window.text()[-2] == "a text that is wider than the window"


def test_what_is_trimmed_is_gone_for_the_application_too() -> None:
    window = Window(20, 6, capacity_bytes=20_000).open()
    for number in range(40):
        window.append(f"b{number}", "x" * 1_000)
    window.core.data_for_program()

    window.extend("b0", "more")

    assert b"9002" in window.core.data_for_program()
    assert len(window.transcript()) < 40 * 50
