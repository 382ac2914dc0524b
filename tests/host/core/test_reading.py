"""Scrolling, following, typing while reading, resizing, and the mouse that scrolls."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.host.commands import Quit, Suspend
from blockwire.host.keymap import Keymap
from blockwire.terminal import Layout, Line, Span
from tests.host.core.windows import OuterStream, Window


def numbered(count: int = 30, **options: Any) -> Window:
    """Return a window of four rows and a status line, with so many numbered rows behind it."""
    return Window(20, 5, **options).output("\n".join(map(str, range(count))))


@pytest.mark.parametrize(
    ("keys", "top"),
    [
        (["shift-page-up"], "23"),
        (["shift-up"], "25"),
        (["shift-home"], "0"),
        (["shift-home", "shift-down"], "1"),
        (["shift-home", "shift-page-down"], "3"),
        (["shift-page-up", "page-up"], "20"),
        (["shift-home", "page-down"], "3"),
        (["shift-page-up", "home"], "0"),
        (["shift-page-up", "end"], "26"),
        (["shift-home", "shift-end"], "26"),
        (["shift-page-up", "escape"], "26"),
        (["prefix", "g"], "0"),
        (["prefix", "b"], "23"),
        (["prefix", "k", "prefix", "k"], "24"),
        (["prefix", "escape"], "26"),
    ],
)
@pytest.mark.requirement("host:reading:keys")
def test_keys_scroll(keys: list[str], top: str) -> None:
    window = numbered().keys(*keys)

    assert window.text()[0] == top
    assert window.typed == b""


@pytest.mark.requirement("host:reading:stays")
def test_output_does_not_move_a_reader_and_is_hinted_at() -> None:
    window = numbered().keys("shift-page-up")
    before = window.text()

    window.output("\nmore\nand more")

    assert window.text() == before
    assert window.status.startswith(" reading: 5 rows")
    assert "▼" in window.status


@pytest.mark.requirement("host:reading:typing-follows")
def test_who_types_is_at_the_end_again_and_the_program_gets_it() -> None:
    window = numbered().keys("shift-page-up", "x")

    assert window.text()[0] == "26"
    assert window.typed == b"x"


@pytest.mark.requirement("host:reading:escape")
def test_escape_leaves_reading_and_is_the_programs_only_when_nothing_is_read() -> None:
    window = numbered().keys("shift-page-up", "escape", "escape")

    assert window.typed == b"\x1b"


@pytest.mark.requirement("host:reading:resume")
def test_following_is_not_resumed_one_row_before_the_end_that_moved_away() -> None:
    window = numbered().keys("shift-up")
    window.output("\n30\n31")

    window.keys("shift-down")

    assert window.text()[0] == "26"
    assert window.keys("shift-down", "shift-down").text()[0] == "28"
    assert window.output("\n32").text()[0] == "29"


def test_a_reader_sees_the_cursor_of_the_program_only_where_it_is() -> None:
    window = numbered().keys("shift-up")

    assert window.text()[3] == "28"
    assert window.outer.cursor.hidden

    assert window.keys("shift-down").cursor == (3, 2)
    assert not window.outer.cursor.hidden


@pytest.mark.requirement("host:reading:resize")
def test_a_reader_is_where_he_was_after_twenty_sizes() -> None:
    window = numbered(60).keys("shift-page-up", "page-up", "page-up")
    before = window.text()

    for number in range(20):
        window.output(f"\nmore {number}").resize(20 + number % 3 * 10, 5 + number % 4)
        assert window.text()[0] == before[0]

    assert window.resize(20, 5).text() == before


@pytest.mark.requirement("host:resize:once")
def test_every_row_is_there_once_after_many_sizes() -> None:
    window = Window(20, 8).open()
    lines = [f"line {number} with words" for number in range(30)]
    for number, line in enumerate(lines):
        window.output(f"{line}\n")
        window.resize(10 + number * 7 % 31, 3 + number * 5 % 9)
        window.look()
    window.resize(40, 8)

    assert window.transcript() == lines


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 5), (200, 100)])
def test_any_size_is_possible(size: tuple[int, int]) -> None:
    window = numbered().output("\n").open().append("one", "a block 日本 of text")

    assert len(window.resize(*size).look()) == size[1]
    assert window.resize(30, 5).text()[-2:] == ["a block 日本 of text", ""]


@pytest.mark.requirement("host:reading:blocks")
def test_keys_go_from_block_to_block() -> None:
    window = Window(20, 5).open()
    for name in ("one", "two", "three"):
        window.append(name, f"{name}\n" + "text\n" * 5).output("between\n")

    tops = [window.keys("prefix", "{").text()[0] for _ in range(4)]
    assert tops == ["three", "two", "one", "one"]
    assert window.keys("prefix", "}").text()[0] == "two"
    assert window.keys("prefix", "}", "prefix", "}").text()[-2:] == ["between", ""]


def test_without_blocks_there_is_nothing_to_go_to() -> None:
    window = numbered().keys("shift-home", "prefix", "{")
    assert window.text()[0] == "0"

    assert window.keys("prefix", "}").text()[0] == "26"


@pytest.mark.requirement("host:reading:wheel")
def test_the_wheel_scrolls() -> None:
    window = numbered().mouse("up", 1, 1)
    assert window.text()[0] == "23"

    window.mouse("up", 1, 1).mouse("down", 1, 1).mouse("down", 1, 1)

    assert window.text()[0] == "26"
    assert "reading" not in window.status


@pytest.mark.requirement("host:mouse:program")
def test_a_program_that_asked_gets_the_mouse_in_its_own_rows() -> None:
    window = Window(20, 8).open().append("one", "two\nrows").output("\x1b[?1002h\x1b[?1006hui\nui")
    window.look()

    window.mouse("press", 3, 4).mouse("drag", 2, 4).mouse("release", 0, 4).mouse("up", 2, 0)

    assert window.typed.endswith(b"\x1b[<0;5;2M\x1b[<32;5;1M\x1b[<0;5;1m\x1b[<64;1;1M")


@pytest.mark.requirement("host:mouse:program")
def test_above_its_rows_and_with_shift_the_mouse_is_the_readers() -> None:
    window = Window(20, 8).open().append("one", "two\nrows").output("\x1b[?1000h\x1b[?1006h")
    window.look()
    typed = window.typed

    window.mouse("press", 0, 0).mouse("drag", 0, 2).mouse("release", 0, 2)
    window.mouse("press", 2, 0, shift=True).mouse("release", 2, 0, shift=True)

    assert window.typed == typed
    assert window.copied == ["two"]


@pytest.mark.requirement("host:mouse:arrows")
def test_on_the_alternate_screen_the_wheel_is_arrow_keys() -> None:
    window = numbered().output("\x1b[?1049h\x1b[?1007h\x1b[?1h")
    window.look()

    window.mouse("up", 1, 1)

    assert window.typed == b"\x1bOA" * 3


@pytest.mark.requirement("host:alternate:keys")
def test_on_the_alternate_screen_all_keys_but_the_prefix_are_the_programs() -> None:
    window = numbered().output("\x1b[?1049h").keys("shift-page-up", "page-up", "prefix", "prefix")

    assert window.typed == b"\x1b[5;2~\x1b[5~\x1d"


def test_history_can_be_read_from_the_alternate_screen_on_purpose() -> None:
    window = numbered().output("\x1b[?1049h\x1b[H\x1b[2Jvim")
    window.look()

    assert window.keys("prefix", "g").text()[0] == "0"
    assert window.keys("i").text()[0] == "vim"


@pytest.mark.requirement("host:keys:prefix")
def test_the_prefix_twice_goes_to_the_program_and_an_unknown_key_nowhere() -> None:
    window = numbered().keys("prefix", "prefix", "prefix", "X", "a")

    assert window.typed == b"\x1da"
    assert "no such key" in window.status
    assert "no such key" not in window.wait(5).status


@pytest.mark.requirement("host:keys:overrides")
def test_keys_can_be_chosen() -> None:
    keymap = Keymap({"live.prefix": "ctrl-a", "prefix.help": "", "prefix.top": "T"})
    window = numbered(keymap=keymap).keys("prefix", "ctrl-a", "T")

    assert window.typed == b"\x1d"
    assert window.text()[0] == "0"


@pytest.mark.requirement("host:program:paste")
def test_a_paste_is_in_brackets_only_if_the_program_wants_them() -> None:
    window = numbered().keys("shift-home")
    window.input(b"\x1b[200~a\nb\x1b[201~").output("\x1b[?2004h").input(b"\x1b[200~c\x1b[201~")

    assert window.typed == b"a\rb\x1b[200~c\x1b[201~"
    assert window.text()[0] == "26"


@pytest.mark.requirement("host:program:focus")
def test_the_focus_is_told_only_if_the_program_asked() -> None:
    window = numbered().input(b"\x1b[I").output("\x1b[?1004h").input(b"\x1b[O\x1b[I")

    assert window.typed == b"\x1b[O\x1b[I"


@pytest.mark.requirement("host:program:late-replies")
@pytest.mark.parametrize("reply", [b"\x1b]11;rgb:00/00/00\x1b\\", b"\x1b[?62;c", b"\x1b[3;4R"])
def test_what_the_outer_terminal_answers_is_typed_to_nobody(reply: bytes) -> None:
    window = numbered()

    for split in range(len(reply)):
        window.input(reply[:split]).input(reply[split:])

    assert window.typed == b""


def test_the_status_line_can_be_clicked_to_go_to_the_end() -> None:
    window = numbered().keys("shift-home").mouse("press", 4, 2)

    assert window.text()[0] == "26"


@pytest.mark.requirement("host:keys:quit")
def test_the_program_is_ended_at_the_second_press() -> None:
    window = numbered().keys("prefix", "q")
    assert window.commands == []

    window.keys("prefix", "q", "prefix", "d")

    assert window.commands == [Quit(), Suspend()]
    assert window.wait(10).keys("prefix", "q").commands == [Quit(), Suspend()]


def test_everything_is_drawn_anew_on_demand() -> None:
    window = numbered()
    window.look()

    window.keys("prefix", "r").look()

    assert b"29" in window.written
    window.core.repaint()
    window.look()
    assert b"29" in window.written


@pytest.mark.requirement("host:help:shown")
def test_the_help_shows_keys_and_scrolls() -> None:
    window = Window(60, 12).output("text").keys("prefix", "?")
    assert "Ctrl-]" in "\n".join(window.look())
    first = window.look()[0]

    assert window.keys("down").look()[0] != first
    end = [window.keys("page-down").look() for _ in range(40)][-1]
    assert window.keys("up").look() != end
    assert window.keys("page-up").mouse("down", 1, 1).look()[0] != first
    assert window.keys("page-up", "page-down", "x").look()[0] != first
    assert window.keys("escape").text()[0] == "text"
    assert window.typed == b""


def test_lines_that_are_not_wrapped_move_sideways() -> None:
    line = Line(spans=(Span(text="0123456789" * 5),), layout=Layout(wrap="none"))
    window = Window(20, 5).open().append("code", (line,))
    start = window.text()[0]

    assert window.keys("prefix", "l").text()[0] != start
    assert window.keys("prefix", "h").text()[0] == start
    assert window.input(b"\x1b[<67;1;1M").text()[0] != start
    assert window.input(b"\x1b[<66;1;1M").text()[0] == start


@pytest.mark.requirement("host:resize:once")
def test_the_live_screen_is_seen_in_the_new_size_at_once() -> None:
    window = Window(20, 6).output("a line of 18 chars")

    assert window.resize(10, 6).text()[:3] == ["a line of", "18 chars", ""]
    assert window.resize(30, 6).text()[:2] == ["a line of 18 chars", ""]


def test_rows_that_were_estimated_are_told_exactly_when_they_are_counted() -> None:
    window = Window(60, 24).open().append("early", "\n".join(f"early {n}" for n in range(60)))
    window.keys(*["shift-up"] * 20).append("answer", "")
    for number in range(500):
        window.extend("answer", f"token {number}\n")
    # A frame from before anything was counted.
    OuterStream(window.outer).feed(window.core.paint())

    assert "520 rows below" in window.status
