"""Answers longer than the window, and what is left of them: situations 1, 2, 4, 5 and 17."""

from __future__ import annotations

import re
import sys
from typing import Final

import pytest

from tests.acceptance.terminals.blocksprogram import blocks_program, streamer, table
from tests.acceptance.terminals.conftest import Place, until_answered
from tests.acceptance.terminals.oracle import (
    ERASING,
    SCROLLING,
    check_chat,
    check_host,
    check_transcript,
)
from tests.acceptance.terminals.outer import Outer, term

pytestmark = pytest.mark.timeout(120)

NUMBERS: Final = [f"number {it}" for it in range(1, 101)]
LETTERS: Final = [f"letter {it}" for it in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]


def last_token(rows: list[str]) -> int:
    """Return the highest token that the window shows."""
    return max((int(it) for it in re.findall(r"token (\d+)", "\n".join(rows))), default=-1)


@pytest.mark.situation("T01")
def test_t01_an_answer_outgrows_the_window_and_nothing_flickers() -> None:
    """anthropics/claude-code #10772."""
    with Outer(term(*blocks_program(*streamer(72, every_ms=15), ["key"]))) as outer:
        seen = outer.watch(lambda: last_token(outer.rows), lambda: last_token(outer.rows) == 71)
        full = outer.rows
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.transcript() == [f"token {it}" for it in range(72)]

    assert seen == sorted(seen), "what was shown never shrank"
    assert len(set(seen)) > 5, "it was seen to grow"
    assert full[:22] == [f"token {it}" for it in range(50, 72)]
    check_host(outer.output)
    check_transcript(outer.output)


@pytest.mark.situation("T02")
def test_t02_two_turns_leave_each_line_once_and_in_order() -> None:
    """anthropics/claude-code #41965."""
    program = blocks_program(
        ["print", "the banner\n> count\n"],
        ["block", "one", ""],
        ["every", 2, 100, [["extend", "one", "number {n}\n"]]],
        ["print", "> spell\n"],
        ["block", "two", ""],
        *(["extend", "two", f"{letter}\n"] for letter in LETTERS),
        ["key"],
    )
    with Outer(term(*program), columns=120, rows=24) as outer:
        outer.until_shown("letter Z")
        outer.keys("x")

        assert outer.exit_status() == 0
        numbers = [f"number {it}" for it in range(100)]
        assert outer.transcript() == ["the banner", "> count", *numbers, "> spell", *LETTERS]
    check_host(outer.output)


@pytest.mark.situation("T02")
@pytest.mark.situation("T17")
@pytest.mark.parametrize("is_in_host", [False, True], ids=["inline", "in the host"])
def test_t02_two_turns_of_a_chat_leave_each_line_once_and_in_order(
    place: Place, *, is_in_host: bool
) -> None:
    """anthropics/claude-code #41965 and openai/codex #27644."""
    place.say("numbers", "\n\n".join(NUMBERS))
    place.say("letters", "\n\n".join(LETTERS))
    command = term(*place.chat()) if is_in_host else place.chat()
    with Outer(command, env=place.env, columns=120, rows=24) as outer:
        outer.until_shown("Ask something")
        outer.keys("all numbers", "enter")
        outer.until_shown("number 100")
        outer.keys("all letters", "enter")
        until_answered(outer, "letter Z")
        outer.keys("ctrl-d")

        assert outer.exit_status() == 0
        lines = [line for line in outer.transcript() if line]
        shown = ["all numbers", *NUMBERS, "all letters", *LETTERS]
        assert [line for line in lines if line in shown] == shown
        for word in ("number", "letter"):
            assert sum(f"{word} " in line for line in lines) == sum(
                f"{word} " in line for line in shown
            )

    if is_in_host:
        check_host(outer.output)
        check_transcript(outer.output)
    else:
        check_chat(outer.output)
        assert not SCROLLING.search(outer.output)


@pytest.mark.situation("T04")
def test_t04_a_box_is_whole_and_there_once_at_every_width() -> None:
    """anthropics/claude-code #51828."""
    [(_name, _id, box)] = table()
    program = blocks_program(["print", "above\n"], *table(), ["print", "below\n"], ["key"])
    with Outer(term(*program), columns=100, rows=24) as outer:
        outer.until_shown("below")
        # At 40 it is cut, and says so: rows of a box never go on in the next one.
        for columns in (60, 100, 40, 61):
            outer.resize(columns, 24)
            # The status line ends at the new edge when everything is drawn again.
            outer.until(lambda: len(outer.rows[-1]) == columns - 1)  # noqa: B023 - called at once
            cut = [row if len(row) <= columns else f"{row[: columns - 1]}…" for row in box]
            assert outer.rows[:8] == ["above", *cut, "below", ""]
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.transcript() == ["above", *box, "below"]
    check_host(outer.output)


@pytest.mark.situation("T05")
@pytest.mark.parametrize("is_in_host", [False, True], ids=["inline", "in the host"])
def test_t05_more_than_400_lines_are_never_cleared_and_drawn_again(
    place: Place, *, is_in_host: bool
) -> None:
    """anthropics/claude-code #35580."""
    lines = [f"line {it}" for it in range(1, 421)]
    place.say("lines", "\n".join(f"- {line}" for line in lines))
    command = term(*place.chat()) if is_in_host else place.chat()
    with Outer(command, env=place.env, before=b"what the shell had\r\n") as outer:
        outer.until_shown("Ask something")
        outer.keys("all lines", "enter")
        until_answered(outer, "line 420")
        outer.keys("ctrl-d")

        assert outer.exit_status() == 0
        assert outer.main_lines()[0] == "what the shell had"
        assert re.findall(r"line \d+", "\n".join(outer.transcript())) == lines

    assert not ERASING.search(outer.output)
    (check_host if is_in_host else check_chat)(outer.output)


@pytest.mark.situation("T17")
def test_t17_what_a_region_has_scrolled_stands_in_the_transcript() -> None:
    """openai/codex #27644 and dankamongmen/notcurses #2114."""
    # Rows go into the history above a region, by LF and by SU, as codex inserts them.
    source = (
        "import sys\n"
        "w = sys.stdout.write\n"
        "w(''.join(f'input {n}\\n' for n in range(5)))\n"
        "for n in range(60):\n"
        "    w('\\x1b[1;12r' + ('\\x1b[S' if n % 2 else '\\x1b[12;1H\\n') + f'\\x1b[12;1Hrow {n}\\x1b[r')\n"
        "w('\\x1b[20;1Hdone')\n"
        "sys.stdout.flush()\n"
        "sys.stdin.readline()\n"
    )
    with Outer(term(sys.executable, "-c", source)) as outer:
        outer.until_shown("done")
        outer.keys("enter")

        assert outer.exit_status() == 0
        transcript = outer.transcript()

    assert [it for it in transcript if it.startswith("row")] == [f"row {n}" for n in range(60)]
    assert [it for it in transcript if it.startswith("input")] == [f"input {n}" for n in range(5)]
    check_host(outer.output)
    check_transcript(outer.output)
