"""Situations from public reports about terminal programs, as whole sessions of the host."""

from __future__ import annotations

import pytest

from blockwire.terminal import Layout, Line, Span
from tests.host.core.windows import Window

BOX = ("┌────────┬────────┐", "│ name   │ value  │", "└────────┴────────┘")


def test_an_answer_three_times_as_long_as_the_window_never_erases_the_screen() -> None:
    window = Window(80, 24).open().append("answer", "")
    total = 0

    for number in range(72):
        window.extend("answer", f"line {number}\n").look()
        assert b"J" not in window.written.replace(b"JJ", b"")
        before, total = total, window.core.screen.history.total_rows
        assert total >= before

    assert window.text()[-2] == "line 71"


def test_two_turns_leave_each_line_once_and_in_order() -> None:
    numbers, letters = [str(number) for number in range(100)], [chr(65 + i) for i in range(26)]
    window = Window(120, 24).output("banner\n").open()

    for name, lines in (("one", numbers), ("two", letters)):
        window.output(f"> {name}\n").append(name, "")
        for line in lines:
            window.extend(name, f"{line}\n").look()

    assert window.transcript() == ["banner", "> one", *numbers, "> two", *letters]


def test_a_boxed_table_is_there_once_after_every_size() -> None:
    lines = tuple(Line(spans=(Span(text=row),), layout=Layout(wrap="none")) for row in BOX)
    window = Window(100, 24).open().append("table", lines)

    for columns in (60, 100, 61):
        assert window.resize(columns, 24).text()[:4] == [*BOX, ""]


def test_who_scrolls_up_while_text_is_streamed_finds_the_first_line() -> None:
    window = Window(80, 24).output("the first line\n").open().append("answer", "")
    window.keys("shift-page-up")
    for number in range(200):
        window.extend("answer", f"token {number}\n")

    assert window.keys("shift-home").text()[0] == "the first line"


def test_what_is_painted_over_the_text_is_not_copied() -> None:
    window = Window(60, 6).open().append("one", "\n".join(f"line {n} of it" for n in range(20)))
    window.keys("shift-home", "prefix", "[", "g", "V").append("two", "more").look()

    assert "▼" in window.status
    assert window.keys(*"jjjjjjj", "y").copied == ["\n".join(f"line {n} of it" for n in range(8))]


@pytest.mark.parametrize("prefix", ["", "• ", "│ "])
def test_a_long_command_is_copied_in_one_line(prefix: str) -> None:
    command = "curl " + " ".join(f"--header 'x-{number}: y'" for number in range(15))
    layout = Layout(first_prefix=(Span(text=prefix),), rest_prefix=(Span(text="  "),))
    window = (
        Window(80, 12).open().append("one", (Line(spans=(Span(text=command),), layout=layout),))
    )
    window.output(command)
    window.look()

    for row in (1, 6):
        for _ in range(3):
            window.mouse("press", row, 5).mouse("release", row, 5)

    assert [window.copied[1], window.copied[-1]] == [command, command]


def test_a_small_window_on_a_long_block_writes_little_for_a_change() -> None:
    window = Window(20, 5).open().append("tool", "".join(f"row {n}\n" for n in range(200)))
    window.look()

    for number in range(50):
        window.extend("tool", f"more {number}\n").look()
        assert len(window.written) < 300


def test_a_spinner_in_the_last_row_writes_one_row() -> None:
    window = Window(80, 24).output("text\n" * 100, "| working")
    window.look()

    for turn in "/-\\|":
        window.output(f"\r{turn} working").look()
        assert 0 < len(window.written) < 60


@pytest.mark.parametrize("reads", [False, True])
def test_a_spinner_far_above_writes_nothing(reads: bool) -> None:
    window = Window(80, 24).open().append("spinner", "|").append("text", "row\n" * 5_000)
    if reads:
        window.keys("shift-page-up")
    window.look()

    for number in range(24):
        window.update("spinner", "|/-\\"[number % 4]).look()
        assert window.written == b""


def test_an_update_above_is_there_when_the_window_grows() -> None:
    window = Window(20, 5).open().append("old", "before").append("text", "1\n2\n3\n4\n5")
    window.look()
    window.update("old", "after")

    assert window.resize(20, 12).text()[0] == "after"


def test_a_frame_of_exactly_the_window_does_not_scroll() -> None:
    window = Window(10, 4, status_line=False).output("1234567890" * 4)
    assert window.look() == ["1234567890"] * 4

    window.output("\x1b[1;1Hx")

    assert window.look() == ["x234567890", *["1234567890"] * 3]


@pytest.mark.situation("T55")
def test_saved_lines_that_are_erased_leave_a_reader_somewhere_sensible() -> None:
    window = Window(20, 6).open().output("".join(f"{n}\n" for n in range(50)))
    window.append("one", "the block").keys("shift-home")

    window.output("\x1b[3J")

    assert window.text()[0] == "the block"
    assert window.keys("escape").output("x").text()[:2] == ["the block", "x"]


@pytest.mark.situation("T56")
@pytest.mark.parametrize(("region", "kept"), [("1;4", True), ("2;4", False)])
@pytest.mark.parametrize("scroll", ["\n", "\x1b[S"])
def test_what_a_region_scrolls_is_kept_if_it_begins_at_the_top(
    region: str, kept: bool, scroll: str
) -> None:
    window = Window(10, 6).output("0\n1\n2\n3\n4", f"\x1b[{region}r\x1b[4;1H", scroll)

    assert window.transcript() == ["0", *(["1"] if kept else []), "2", "3", "", "4"]


@pytest.mark.situation("T59")
def test_typing_below_ten_thousand_rows_paints_the_row_that_is_typed_in() -> None:
    window = Window(80, 24).open().append("long", "row\n" * 10_000).output("> ")
    window.look()

    for char in "hello":
        window.keys(char).output(char).look()
        assert len(window.written) < 80
    assert window.text()[-1] == "> hello"


@pytest.mark.situation("T70")
def test_a_paste_cannot_leave_its_brackets() -> None:
    window = Window().output("\x1b[?2004h")

    window.input(b"\x1b[200~a\x1b[201\x7e").input(b"\x1b[200~b\x1b\xc2\x9b201~c\x1b[201~")

    assert window.typed.count(b"\x1b[201~") == 2
    assert window.typed.endswith(b"\x1b[200~b201~c\x1b[201~")


def test_a_slow_terminal_skips_frames_and_nothing_else() -> None:
    window = Window(80, 24)

    for number in range(20_000):
        window.core.receive_output(b"%d\r\n" % number, 0.0)

    assert window.text()[-2:] == ["19999", ""]
    assert len(window.transcript()) == 20_000


@pytest.mark.situation("T50")
def test_mouse_events_while_blocks_come_and_change_break_nothing() -> None:
    window = Window(20, 6).open()

    for number in range(60):
        window.append(str(number), f"block {number}")
        window.mouse("press", number % 7, number % 20).update(str(number), "new\n" * (number % 4))
        window.mouse("drag", (number * 3) % 7, 5).wait(0.2).output(f"x{number}\x1b[3J\n")
        window.mouse("release", number % 3, 0).look()

    assert "block" not in "".join(window.copied)


def test_a_storm_of_sizes_while_blocks_arrive_loses_nothing() -> None:
    window = Window(80, 24).open()
    lines = []

    for number in range(200):
        lines.append(f"line {number}: 日本語 👨‍👩‍👧 {'x' * (number % 50 + 1)}")
        window.append(str(number), lines[-1])
        if number % 10 == 0:
            window.resize(17 + number % 31, 5 + number % 20).look()
    window.resize(200, 24)

    assert window.transcript() == lines
