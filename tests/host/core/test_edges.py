"""What happens seldom: events out of order, edges, failures of a part."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.host.programoutput import TerminalColours
from blockwire.host.transcribing import transcript_rows
from blockwire.screen import Screen
from blockwire.terminal import TerminalSession, encode_frames
from tests.host.core.windows import Window


def numbered(count: int = 40) -> Window:
    return Window(30, 6).output("\n".join(map(str, range(count))))


def test_a_failure_within_a_change_stops_blocks_and_the_program_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    window = Window(60, 6).open()

    def fail(*_args: Any) -> Any:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(TerminalSession, "commit", fail)
        window.append("one", "never")

    assert window.status.startswith(" terminal blocks failed")
    assert window.output("\r\x1b[Kmore").text()[0] == "more"


@pytest.mark.requirement("host:help:diagnostics")
def test_what_was_no_good_is_counted_and_told_in_the_help() -> None:
    window = Window(70, 120).open()
    assert "no good" not in " ".join(window.keys("prefix", "?").text())

    window.output("\x1b]9002;1;1;0;0;secret\x1b\\" * 3, encode_frames(b'{"secret": 1}', 7)).look()

    assert window.core.diagnostics == {"invalid_base64": 3, "unknown_version": 1}
    rows = [row.split() for row in window.text() if row]
    assert rows[-2:] == [["3", "invalid", "base64"], ["1", "unknown", "version"]]
    assert "no good" in " ".join(rows[-3])


def test_a_program_that_asks_for_colours_is_told() -> None:
    colours = TerminalColours(background="#102030")

    window = Window(terminal_colours=colours).output("\x1b]11;?\x1b\\", "\x1b]10;?\x1b\\")
    window.keys("x")

    assert window.typed == b"\x1b]11;rgb:1010/2020/3030\x1b\\x"


def test_a_drag_and_a_release_without_a_press_do_nothing() -> None:
    window = numbered()
    window.look()

    window.mouse("drag", 1, 1).mouse("release", 1, 1).input(b"\x1b[<1;1;1M\x1b[<35;1;1M")

    assert window.copied == []
    assert window.typed == b""


def test_a_program_whose_button_was_pressed_hears_of_its_release_wherever_that_is() -> None:
    window = numbered().output("\x1b[?1000h\x1b[?1006h")
    window.look()

    window.mouse("press", 2, 0).keys("shift-home").mouse("release", 0, 0)

    assert window.typed == b"\x1b[<0;1;3M\x1b[<0;1;1m"


def test_a_program_hears_only_of_what_it_asked_for() -> None:
    window = numbered().output("\x1b[?1000h\x1b[?1006h")
    window.look()

    window.mouse("press", 2, 0).mouse("drag", 3, 0).mouse("release", 3, 0)

    assert window.typed == b"\x1b[<0;1;3M\x1b[<0;1;4m"


def test_without_a_match_there_is_no_next_one() -> None:
    window = numbered().keys("prefix", "[", "n", "N")

    assert window.cursor == (4, 1)


def test_a_click_on_the_status_line_puts_the_cursor_of_copy_mode_at_the_end() -> None:
    window = numbered().keys("prefix", "[", "g").mouse("press", 5, 0).mouse("release", 5, 0)
    assert window.cursor == (4, 0)

    window.core.screen.viewport.scroll_end()
    window.keys("k")

    assert window.cursor == (3, 0)
    assert window.status.startswith(" copy mode")


def test_the_cursor_of_copy_mode_scrolls_at_both_edges() -> None:
    window = numbered().keys("prefix", "[", *"kkkkkk")
    assert (window.text()[0], window.cursor[0]) == ("33", 0)

    window.keys(*"jjjjjj")
    assert (window.text()[-1], window.cursor[0]) == ("39", 4)

    window.keys("page-up", "page-up", "page-up", "page-up")
    assert (window.text()[0], window.cursor[0]) == ("19", 4)


def test_the_next_match_extends_a_selection() -> None:
    window = numbered().keys("prefix", "/", "25", "enter", "g", "V", "n", "y")

    assert window.copied == ["\n".join(map(str, range(26)))]


def test_a_paste_in_copy_mode_goes_nowhere() -> None:
    window = numbered().keys("prefix", "[").input(b"\x1b[200~text\x1b[201~").keys("x", "q")

    assert window.typed == b""


def test_heights_are_counted_when_nobody_searches() -> None:
    window = numbered().keys("prefix", "/", "zz", "enter").output("\nmore")

    window.look()
    window.keys("prefix", "/", "2", "enter").output("\n222").look()

    assert window.core.screen.search.match_count == 17


def test_copy_mode_begins_in_the_last_row_when_the_cursor_is_not_seen() -> None:
    assert numbered().keys("shift-home", "prefix", "[").cursor == (4, 0)


def test_an_arrow_types_nothing_into_a_search() -> None:
    window = numbered().keys("prefix", "/", "2", "right", "f")

    assert window.core.screen.search.query == "2f"


def test_an_unused_button_does_nothing() -> None:
    window = numbered().keys("prefix", "[").input(b"\x1b[<2;1;1M\x1b[<2;1;1m")

    assert window.cursor == (4, 1)


def test_a_history_with_nothing_in_it_has_no_rows() -> None:
    assert list(transcript_rows(Screen(10, 4), colours="none")) == []


def test_an_empty_span_at_the_end_is_left_out() -> None:
    window = Window(20, 4).output("a\x1b[1m   \x1b[0m\n")

    assert window.transcript() == ["a"]


def test_time_passes_and_nothing_is_due() -> None:
    window = numbered()
    window.core.tick(window.now_s)

    assert window.core.wake_at_s is None
    assert window.input(b"\x1b").core.wake_at_s == pytest.approx(window.now_s + 0.05)
    window.core.tick(window.now_s)
    assert window.typed == b""
    window.core.tick(window.now_s + 0.05)
    assert window.core.data_for_program() == b"\x1b"
