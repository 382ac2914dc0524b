"""Who reads, selects or searches while a program goes on, in the real host and in a real terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.terminals.blocksprogram import blocks_program
from tests.acceptance.terminals.oracle import check_host
from tests.acceptance.terminals.outer import Outer, term
from tests.host.core.windows import Window

pytestmark = pytest.mark.timeout(60)

LINES = "".join(f"line {number}\n" for number in range(100))


def hold(outer: Outer, is_so: Callable[[], object], top: str) -> None:
    """Wait until a condition holds; the top line never changes meanwhile."""

    def is_held() -> object:
        assert outer.rows[0] == top, outer.screen_text()
        return is_so()

    outer.until(is_held)


def read_back(outer: Outer) -> str:
    """Scroll up by a page and return the line that is at the top then."""
    outer.keys("shift-page-up")
    outer.until_shown("reading:")
    return outer.rows[0]


def go(fifo: Path) -> None:
    """Let a program go on that waits for a line; nothing is typed for it."""
    fifo.write_text("go\n", encoding="utf-8")


@pytest.mark.situation("T43")
@pytest.mark.parametrize("copies", ["on", "off"])
def test_t43_a_selection_is_of_text_and_goes_where_the_text_goes(copies: str) -> None:
    """opencode#1210: a selection could not leave the window, and ignored how it was scrolled."""
    program = blocks_program(["block", "one", LINES.rstrip("\n")], ["print", "$ "], ["key"])
    env = {"BLOCKWIRE_COPY_ON_SELECT": copies}
    with Outer(term(*program), env=env) as outer:
        outer.until_shown("line 99", "$")
        first = outer.rows.index("line 90")
        outer.mouse("press", 0, first)
        outer.mouse("drag", 40, first + 2)
        # Past the upper edge it scrolls by itself, further than the window is high.
        outer.mouse("drag", 0, 0)
        outer.until_shown("line 60")
        shown = [row for row in outer.rows if row.startswith("line ")]
        outer.mouse("release", 0, 0)
        outer.mouse("down", 0, 5)
        outer.keys("shift-end")
        outer.until_shown("line 99", "$")
        outer.keys("prefix", "y")
        outer.until(outer.copied)
        outer.until(lambda: outer.rest(0.05) == 0)
        outer.keys("x")

        assert outer.exit_status() == 0
        copied = outer.copied()
        assert len(copied) == (2 if copies == "on" else 1), "as the setting says"
        assert len(set(copied)) == 1
        lines = copied[0].split("\n")
        assert lines[-2:] == ["line 89", "l"], "from the cell that was pressed"
        assert len(shown) < 24 < len(lines), "more than the window has rows"
        begin = int(lines[0].removeprefix("line "))
        assert lines[:-1] == [f"line {number}" for number in range(begin, 90)]
        check_host(outer.output)


@pytest.mark.situation("T44")
@pytest.mark.parametrize("mouse", ["on", "off"])
def test_t44_in_a_multiplexer_the_wheel_reaches_us_and_keys_do_without(
    mouse: str, tmp_path: Path
) -> None:
    """opencode#3020: scrollback in the pane of a multiplexer was broken."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    inner = " ".join(term("sh", "-c", "'seq -f row%g 1 200; exec cat'"))
    socket, config = tmp_path / "s", tmp_path / "c"
    config.write_text(f"set -g mouse {mouse}\nset -g status off\n", encoding="utf-8")
    command = ["tmux", "-u", "-f", str(config), "-S", str(socket), "new-session", inner]
    with Outer(command, env={"SHELL": "/bin/sh"}) as outer:
        try:
            outer.until_shown("row200")
            if mouse == "on":
                for _ in range(5):
                    outer.mouse("up", 5, 5)
            else:
                outer.keys("shift-page-up")
            outer.until_shown("reading:")
            outer.until_gone("row200")
            outer.keys("shift-end")
            outer.until_shown("row200")
            outer.keys("prefix", "/", "row42", "enter")
            outer.until_shown("row42", "copy mode")
            outer.keys("q", "typed\n")
            outer.until(lambda: outer.screen_text().count("typed") == 2)
        finally:
            os.spawnlp(os.P_WAIT, "tmux", "tmux", "-S", str(socket), "kill-server")


@pytest.mark.situation("T49")
def test_t49_ordinary_output_leaves_who_reads_where_they_are(tmp_path: Path) -> None:
    """textual#6311: a log snapped to its end although the user had scrolled up."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"seq -f 'log %g' 1 200; read x < {fifo}; seq -f 'more %g' 1 3000; printf '\\e]2;done\\a'; read x"
    with Outer(term("sh", "-c", script)) as outer:
        outer.until_shown("log 200")
        top = read_back(outer)
        go(fifo)
        hold(outer, lambda: b"\x1b]2;done\x1b\\" in outer.output, top)
        hold(outer, lambda: "▼" in outer.screen_text(), top)
        # The rest of the old ones, and the row of the cursor.
        hold(outer, lambda: "reading: 3,022 rows below" in outer.screen_text(), top)
        outer.keys("escape")
        outer.until_shown("more 3000")
        outer.keys("\n")

        assert outer.exit_status() == 0
        assert outer.transcript()[:200] == [f"log {number}" for number in range(1, 201)]
        check_host(outer.output)


@pytest.mark.situation("T61")
def test_t61_the_top_line_stays_while_text_arrives_and_the_window_changes() -> None:
    """cmux#1847, #2504: the view fell to the bottom on every update, and on a resize."""
    program = blocks_program(
        ["block", "answer", LINES],
        ["key"],
        ["every", 5, 400, [["extend", "answer", "more {n}\n"], ["print", "job {n}\n"]]],
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("line 99")
        outer.keys("x")
        top = read_back(outer)
        for columns, rows in ((70, 20), (100, 30), (40, 12), (80, 24)):
            outer.resize(columns, rows)
            # What a terminal makes of its rows by itself is not for long.
            outer.until(lambda: outer.rows[0] == top)
            before = len(outer.output)
            hold(outer, lambda: len(outer.output) > before, top)  # noqa: B023 - called at once
        hold(outer, lambda: b"\x1b]2;done\x1b\\" in outer.output, top)
        outer.keys("escape")
        outer.until_shown("job 399")
        outer.keys("x")

        assert outer.exit_status() == 0
        check_host(outer.output)


@pytest.mark.situation("T62")
def test_t62_what_is_far_above_is_found_and_scrolled_to() -> None:
    """cmux#8098, orca#15305: finding saw only what was on the screen."""
    program = blocks_program(
        ["print", "the ordinary needle\n"],
        ["block", "one", "a needle in a Block"],
        ["repeat", 300, [["block", "b{n}", "message {n}"]]],
        ["key"],
    )
    with Outer(term(*program)) as outer:
        outer.until_shown("message 299")
        outer.keys("prefix", "/", "needle")
        outer.until_shown("a needle in a Block", "2 of 2")
        outer.keys("up")
        outer.until_shown("the ordinary needle", "1 of 2")
        outer.keys("enter")
        outer.until_shown("copy mode")
        outer.keys("N")
        outer.until_shown("2 of 2")
        outer.keys("V", "y")
        outer.until(outer.copied)
        outer.until_shown("message 299")
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.copied() == ["a needle in a Block"]
        check_host(outer.output)


@pytest.mark.situation("T64")
@pytest.mark.parametrize("of", ["program", "Block"])
def test_t64_following_goes_on_at_the_last_row_of_now_and_not_of_before(of: str) -> None:
    """tmux#1718: copy mode was left at a bottom that had moved away meanwhile."""
    window = Window(40, 8).open().append("one", "".join(f"line {n}\n" for n in range(50)))
    window.keys("shift-up").look()
    below = window.core.screen.viewport.rows_below
    if of == "program":
        window.output("".join(f"new {n}\n" for n in range(10)))
    else:
        window.extend("one", "".join(f"new {n}\n" for n in range(10)))

    for _ in range(below):
        window.keys("shift-down").look()
    assert "reading:" in window.status
    assert not window.core.screen.viewport.is_following
    # By as many rows as have come, and not one fewer.
    for _ in range(9):
        window.keys("shift-down").look()
        assert not window.core.screen.viewport.is_following
    window.keys("shift-down").output("the last\n")
    assert "the last" in window.text()
    assert "reading:" not in window.status
