"""Reports of programs that lost or repeated rows when a window, or a panel in it, changed its height."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from blockwire.host.leaving import LEAVE
from tests.acceptance.terminals.answers import Answers
from tests.acceptance.terminals.blocksprogram import blocks_program
from tests.acceptance.terminals.oracle import ERASING, check_chat, check_host, check_transcript
from tests.acceptance.terminals.outer import Outer, term

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SHELL_LINES: Final = [f"shell line {number}" for number in range(100)]
SHELL: Final = "".join(f"{line}\r\n" for line in SHELL_LINES).encode()
NEW_LINE: Final = "\n"
PLACES: Final = pytest.mark.parametrize("is_inside", [False, True], ids=["fallback", "blocks"])


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    with Answers(tmp_path) as it:
        yield it


def conversation(
    answers: Answers, is_inside: bool, *options: str, columns: int = 80, rows: int = 24
) -> Outer:
    """Return a conversation in a terminal of today, or in the host that shows its Blocks."""
    command = answers.chat(*options)
    return Outer(
        term(*command) if is_inside else command,
        env=answers.env,
        columns=columns,
        rows=rows,
        before=SHELL,
    )


def ask(outer: Outer, question: str = "the question") -> None:
    outer.until_shown("Ask something")
    outer.press(f"{question}\r")


def until_said(outer: Outer, text: str) -> None:
    """Wait until an answer is there whole, its end in sight."""
    outer.until(lambda: text in outer.screen_text() and "answering" not in outer.screen_text())


def leave(outer: Outer) -> list[str]:
    """Leave a conversation, and return what it has left below the lines of the shell."""
    outer.press("\x04")
    assert outer.exit_status() == 0
    assert outer.main_lines()[:100] == SHELL_LINES
    if LEAVE in outer.output:
        check_host(outer.output)
        check_transcript(outer.output)
    else:
        check_chat(outer.output)
    return outer.transcript()


def numbered(lines: list[str], word: str) -> list[str]:
    return [line for line in lines if line.strip().startswith(word)]


@pytest.mark.situation("T19")
@PLACES
def test_t19_a_panel_that_grows_and_shrinks_loses_no_row(answers: Answers, is_inside: bool) -> None:
    """openai/codex #30745: finished rows were lost as the bottom panel grew during streaming."""
    with conversation(answers, is_inside) as outer:
        ask(outer)
        for number in range(60):
            answers.say(f"row {number:02}\n\n")
            # From one row to six, and back.
            is_growing = number % 10 < 5
            outer.press(f"{number}{NEW_LINE}" if is_growing else "\x7f" * 3)
            outer.rest(0.01)
        answers.say("the end\n")
        answers.end()
        until_said(outer, "the end")
        outer.press("\x03")
        outer.until(lambda: not numbered(outer.rows, "> 5"))
        left = leave(outer)

    assert numbered(left, "row") == [f"row {number:02}" for number in range(60)]
    assert not numbered(left, ">")


@pytest.mark.situation("T20")
def test_t20_a_storm_of_sizes_during_a_replay_loses_no_block() -> None:
    """openai/codex #37987: the rebuild from half-filled cells stayed shorter for ever."""
    replayed = ["repeat", 1_000, [["block", "b{n}", "line {n}"]]]
    program = blocks_program(
        ["print", "begun\n"], ["key"], replayed, ["title", "all sent"], ["key"]
    )
    with Outer(term(*program), columns=60, rows=45) as outer:
        outer.until_shown("begun")
        outer.keys("x")
        for number in range(20):
            outer.resize((60, 40, 61)[number % 3], (17, 45)[number % 2])
            # The pace of a keyboard that comes and goes.
            outer.rest(0.05)
        outer.until_written(b"\x1b]2;all sent\x1b\\")
        outer.until_shown("line 999")
        outer.keys("shift-home")
        outer.until_shown("begun", "line 1")
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.transcript() == ["begun", *(f"line {number}" for number in range(1_000))]
        check_host(outer.output)


@pytest.mark.situation("T23")
@PLACES
def test_t23_an_input_of_thirty_rows_collapses_and_history_is_the_same(
    answers: Answers, is_inside: bool
) -> None:
    """openai/codex PR #7433: pasting 30 lines and clearing them took earlier output away."""
    pasted = "\r".join(f"pasted {number}" for number in range(15))
    with conversation(answers, is_inside, rows=70) as outer:
        ask(outer)
        answers.say("".join(f"row {number:03}\n\n" for number in range(120)))
        answers.end()
        until_said(outer, "row 119")
        for _ in range(2):
            outer.press(f"\x1b[200~{pasted}\r\x1b[201~\x1b[200~{pasted}\x1b[201~")
            outer.until(lambda: len(numbered(outer.rows, "pasted")) >= 29)
            outer.press("\x03")
            outer.until(lambda: not numbered(outer.rows, "pasted"))
        left = leave(outer)

    assert numbered(left, "row") == [f"row {number:03}" for number in range(120)]
    assert not [line for line in left if "pasted" in line]


@pytest.mark.situation("T25")
def test_t25_a_window_smaller_than_a_result_costs_little_for_each_update() -> None:
    """google-gemini/gemini-cli #4055, #3116: the whole history scrolled on every update."""
    result = "\n".join(f"result {number}" for number in range(200))
    update = [["key"], ["extend", "tool", "\nmore {n}"]]
    program = blocks_program(["block", "tool", result], ["repeat", 20, update], ["key"])
    with Outer(term(*program), columns=20, rows=5) as outer:
        outer.until_shown("result 199")
        for number in range(20):
            before = len(outer.output)
            outer.keys("x")
            outer.until_shown(f"more {number}")
            assert len(outer.output) - before < 2_000
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.transcript() == [*result.split("\n"), *(f"more {it}" for it in range(20))]
        check_host(outer.output)


@pytest.mark.situation("T26")
def test_t26_nothing_is_refreshed_by_clearing_the_screen() -> None:
    """google-gemini/gemini-cli #26798: clearTerminal was used as a refresh, and flickered."""
    program = blocks_program(
        ["block", "one", "text\n" * 40],
        ["print", "before\n\x1b[2J\x1b[3J\x1b[Hcleared\n\x1bcreset\n"],
        ["print", "\x1b[?1049h\x1b[2J\x1b[Hother screen"],
        ["key"],
        ["print", "\x1b[?1049l\x1b[Jback again\n"],
        ["key"],
    )
    with Outer(term(*program), rows=20) as outer:
        outer.until_shown("other screen")
        outer.resize(60, 12)
        outer.keys("x")
        outer.until_shown("back again")
        outer.keys("prefix", "r", "prefix", "?")
        outer.until_shown("Any time")
        outer.keys("escape", "shift-page-up")
        outer.until_shown("reading")
        outer.keys("escape", "x")

        assert outer.exit_status() == 0
        check_host(outer.output)
        assert not ERASING.search(outer.output)


@pytest.mark.situation("T26")
@PLACES
def test_t26_a_conversation_is_drawn_anew_without_clearing(
    answers: Answers, is_inside: bool
) -> None:
    """google-gemini/gemini-cli #26798: clearTerminal was used as a refresh, and flickered."""
    with conversation(answers, is_inside) as outer:
        ask(outer)
        answers.say("some text\n\n" * 40)
        outer.until_shown("some text")
        outer.press("\x0c")
        outer.resize(60, 12)
        answers.say("the end\n")
        answers.end()
        until_said(outer, "the end")
        outer.press("\x0c")
        left = leave(outer)

    assert left.count("some text") == 40
    assert not ERASING.search(outer.output)


@pytest.mark.situation("T28")
@pytest.mark.parametrize("what", ["host", "fallback", "blocks"])
def test_t28_the_lines_of_the_shell_survive_a_program_taller_than_its_window(
    answers: Answers, what: str
) -> None:
    """vadimdemedes/ink #990: every re-render of 40 rows in 20 erased the scrollback of the user."""
    if what == "host":
        with Outer(
            term("sh", "-c", "for i in 1 2 3; do seq 40; tput cup 0 0; done; echo ready; read x"),
            rows=20,
            before=SHELL,
        ) as outer:
            outer.until_shown("ready")
            outer.resize(40, 30)
            outer.resize(80, 20)
            outer.press("\n")
            assert outer.exit_status() == 0
            assert outer.main_lines()[:100] == SHELL_LINES
            assert outer.transcript().count("ready") == 1
            check_host(outer.output)
        return
    with conversation(answers, what == "blocks", rows=20) as outer:
        ask(outer)
        answers.say("- item\n" * 40)
        outer.until_shown("item")
        outer.resize(40, 30)
        answers.say("\nthe end\n")
        outer.until_shown("the end")
        outer.resize(80, 20)
        answers.end()
        until_said(outer, "the end")
        left = leave(outer)

    assert len([line for line in left if "item" in line]) == 40


@pytest.mark.situation("T29")
def test_t29_a_sealed_block_taller_than_the_window_keeps_its_last_line() -> None:
    """vadimdemedes/ink #973: a finished item taller than the window lost its last line."""
    tall = "\n".join(f"line {number}" for number in range(80))
    program = blocks_program(["block", "tall", tall, "sealed"], ["print", "$ "], ["key"])
    with Outer(term(*program)) as outer:
        outer.until_shown("$")
        assert outer.rows[21:23] == ["line 79", "$"]
        outer.keys("x")

        assert outer.exit_status() == 0
        assert outer.transcript() == [*tall.split("\n"), "$"]


@pytest.mark.situation("T29")
@PLACES
def test_t29_an_answer_taller_than_the_window_keeps_its_last_line(
    answers: Answers, is_inside: bool
) -> None:
    """vadimdemedes/ink #973: a finished item taller than the window lost its last line."""
    code = "".join(f"code {number:02}\n" for number in range(80))
    with conversation(answers, is_inside) as outer:
        ask(outer)
        answers.say(f"```\n{code}```\n")
        answers.end()
        until_said(outer, "code 79")
        left = leave(outer)

    assert [line.strip() for line in numbered(left, "code")] == code.split("\n")[:-1]


@pytest.mark.situation("T31")
@pytest.mark.parametrize("options", [(), ("--no-status-line",)])
def test_t31_a_frame_of_exactly_the_window_does_not_scroll(options: tuple[str, ...]) -> None:
    """vadimdemedes/ink #450: output of exactly the height of the window scrolled by one each frame."""
    script = (
        "import os, sys\n"
        "columns, rows = os.get_terminal_size()\n"
        "for turn in range(6):\n"
        "    rows_drawn = [f'row {number} of turn {turn} '.ljust(columns, '.') for number in range(rows)]\n"
        "    sys.stdout.write('\\x1b[H' + ''.join(rows_drawn)[:-1] + '#')\n"
        "    sys.stdout.flush()\n"
        "    sys.stdin.readline()\n"
    )
    with Outer(
        term("python3", "-c", script, options=options), columns=40, rows=12, before=SHELL
    ) as outer:
        height = 12 if options else 11
        for turn in range(6):
            outer.until_shown(f"row {height - 1} of turn {turn}")
            wanted = [f"row {number} of turn {turn} ".ljust(40, ".") for number in range(height)]
            wanted[-1] = wanted[-1][:-1] + "#"
            assert outer.rows[:height] == wanted
            # Without an echo: a line feed in the last row scrolls, as it must.
            outer.press("\n") if turn == 5 else outer.press("\x1b[A\n")
        assert outer.exit_status() == 0


@pytest.mark.situation("T40")
def test_t40_what_changed_out_of_sight_is_there_when_the_window_grows() -> None:
    """MoonshotAI/kimi-code PR #2133, #3197: skipped repaints left stale rows, seen later."""
    program = blocks_program(
        ["block", "old", "before the change"],
        ["block", "text", "\n".join(map(str, range(10)))],
        ["key"],
        ["update", "old", "after\nthe change"],
        ["title", "ready"],
        ["key"],
    )
    with Outer(term(*program), columns=40, rows=6) as outer:
        # A row of its own: the line that starts all this holds a 9, too.
        outer.until(lambda: "9" in outer.rows)
        assert "change" not in outer.screen_text()
        outer.keys("x")
        outer.until_written(b"\x1b]2;ready\x1b\\")
        assert "change" not in outer.screen_text()
        outer.resize(40, 20)
        outer.until(lambda: outer.rows[:12] == ["after", "the change", *map(str, range(10))])
        outer.keys("x")

        assert outer.exit_status() == 0
        check_host(outer.output)
