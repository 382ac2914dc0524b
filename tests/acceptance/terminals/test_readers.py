"""Reports of readers who were moved, and of programs that wrote and copied what they should not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.terminals.answers import Answers
from tests.acceptance.terminals.blocksprogram import blocks_program, spinner, streamer
from tests.acceptance.terminals.oracle import check_chat, check_host
from tests.acceptance.terminals.outer import Outer, term

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

DONE: Final = b"\x1b]2;done\x1b\\"
PLACES: Final = pytest.mark.parametrize("is_inside", [False, True], ids=["fallback", "blocks"])
LONG: Final = "curl " + " ".join(f"--header='x-{at:02}:value'" for at in range(14))

assert len(LONG) > 300


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    with Answers(tmp_path) as it:
        yield it


@pytest.mark.situation("T22")
@pytest.mark.parametrize("mark", ["- ", "> ", "1. "])
def test_t22_a_wrapped_item_or_quote_is_copied_in_one_line(answers: Answers, mark: str) -> None:
    """openai/codex #27118: copies carried the line breaks of the program that drew them."""
    with Outer(term(*answers.chat()), env=answers.env, columns=60) as outer:
        outer.until_shown("Ask something")
        outer.press("the question\r")
        answers.say(f"{mark}{LONG}\n\nthe end\n")
        answers.end()
        outer.until(lambda: "the end" in outer.screen_text() and "answering" not in outer.rows[-2])
        # Any of its rows, by three clicks.
        row = next(at for at, text in enumerate(outer.rows) if "x-07" in text)
        assert "x-00" not in outer.rows[row]
        for _ in range(3):
            outer.mouse("press", 10, row)
            outer.mouse("release", 10, row)
        outer.until(lambda: LONG in outer.copied())
        outer.press("\x04")

        assert outer.exit_status() == 0
        check_host(outer.output)


@pytest.mark.situation("T32")
@pytest.mark.parametrize("is_reading", [False, True])
def test_t32_a_spinner_five_thousand_rows_above_writes_nothing(
    tmp_path: Path, is_reading: bool
) -> None:
    """earendil-works/pi #1950: a spinner that had scrolled off the top wiped the history each tick."""
    go = tmp_path / "go"
    program = blocks_program(
        ["block", "spinner", "working"],
        ["block", "text", "\n".join(f"row {number}" for number in range(5_000))],
        ["until", str(go)],
        *spinner("spinner"),
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program), columns=40) as outer:
        outer.until_shown("row 4999")
        if is_reading:
            outer.keys("shift-page-up")
            outer.until_shown("reading")
        # What is on its way, after the last key or the start.
        outer.until(lambda: outer.rest(0.2) == 0)
        shown, written_bytes = outer.rows[:-1], len(outer.output)
        go.touch()
        outer.until_written(DONE)
        assert outer.output.index(DONE) == written_bytes
        assert outer.rows[:-1] == shown
        outer.keys("shift-home")
        outer.until(lambda: outer.rows[0] == "working 23")
        outer.keys("x")

        assert outer.exit_status() == 0
        check_host(outer.output)


@pytest.mark.situation("T35")
def test_t35_the_top_line_of_a_reader_never_changes_while_text_is_streamed(tmp_path: Path) -> None:
    """earendil-works/pi #7861: the place of the reader jumped back while output was streamed."""
    go = tmp_path / "go"
    early = "\n".join(f"early {number}" for number in range(60))
    program = blocks_program(
        ["block", "early", early],
        ["until", str(go)],
        *streamer(500),
        ["title", "done"],
        ["key"],
    )
    with Outer(term(*program), columns=60) as outer:
        outer.until_shown("early 59")
        outer.keys(*["shift-up"] * 20)
        outer.until_shown("20 rows below")
        top = outer.rows[0]
        go.touch()
        tops = outer.watch(lambda: outer.rows[0], lambda: DONE in outer.output)
        outer.until_shown("520 rows below")
        assert {*tops, outer.rows[0]} == {top}
        outer.keys("shift-end")
        outer.until_shown("token 499")
        outer.keys("x")

        assert outer.exit_status() == 0
        check_host(outer.output)


@pytest.mark.situation("T41")
@PLACES
def test_t41_a_conversation_in_which_nothing_happens_writes_nothing(
    answers: Answers, is_inside: bool
) -> None:
    """MoonshotAI/kimi-cli #1998: periodic writes yanked the reader of an embedding terminal."""
    command = answers.chat("--no-animation")
    with Outer(term(*command) if is_inside else command, env=answers.env) as outer:
        outer.until_shown("Ask something")
        outer.until(lambda: outer.rest(0.3) == 0)
        assert outer.rest(1.2) == 0
        # Nor while an answer is awaited.
        outer.press("the question\r")
        outer.until_shown("answering")
        answers.say("so far\n\n")
        outer.until_shown("so far")
        outer.until(lambda: outer.rest(0.3) == 0)
        assert outer.rest(1.2) == 0
        answers.end()
        outer.until_gone("answering")
        outer.press("\x04")

        assert outer.exit_status() == 0
        (check_host if is_inside else check_chat)(outer.output)
