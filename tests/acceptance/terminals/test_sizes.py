"""Twenty sizes while an answer streams into a terminal without Blocks: in pyte, and in tmux itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.terminals.answers import Answers
from tests.acceptance.terminals.multiplexer import TmuxWindow
from tests.acceptance.terminals.oracle import check_chat
from tests.acceptance.terminals.outer import Outer
from tests.tui.drawing.judges import need_tmux
from tests.tui.drawing.shows import compact
from tests.tui.drawing.test_fallback import SIZES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

FAMILY: Final = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
SHELL_LINES: Final = [f"shell line {number}" for number in range(100)]
MARK: Final = re.compile(r"[PT]\d\d[a-z]\d*")


def paragraph(number: int) -> str:
    begin = f"P{number:02}b \u6f22\u5b57 {FAMILY} " + "some words " * 12
    return f"{begin}P{number:02}m " + "more words " * 8 + f"P{number:02}e\n\nP{number:02}z\n\n"


def table(number: int) -> str:
    rows = (f"| T{number:02}r{at} | \u6f22\u5b57{FAMILY} |\n" for at in range(30))
    return "| name | v |\n|---|---|\n" + "".join(rows) + "\n"


PARTS: Final = [
    paragraph(number) + (table(number) if number % 8 == 3 else "") for number in range(20)
]


@pytest.fixture
def answers(tmp_path: Path) -> Iterator[Answers]:
    with Answers(tmp_path) as it:
        yield it


def stream(window: Outer | TmuxWindow, answers: Answers) -> list[str]:
    """Let an answer come, another size after each part of it; return what stands there in the end."""
    window.until(lambda: "Ask something" in window.screen_text())
    window.press("the question\r")
    for number, (part, size) in enumerate(zip(PARTS, SIZES, strict=True)):
        # It is open, and drawn, as the size changes: what is on its way then goes by the former one.
        opened, middle, rest = part.partition(f"P{number:02}m")
        answers.say(opened + middle)
        window.until(lambda: middle in compact(window.main_lines()))  # noqa: B023 - called at once
        window.resize(*size)
        answers.say(rest)
        window.until(lambda: f"P{number:02}z" in compact(window.main_lines()))  # noqa: B023 - called at once
    answers.say("the end\n")
    answers.end()
    window.until(
        lambda: "the end" in window.screen_text() and "answering" not in window.screen_text()
    )
    window.press("\x04")
    assert window.exit_status() == 0
    return window.main_lines()


def check_once(lines: list[str], *, kinds: str) -> None:
    """Demand that every mark of some kinds stands there once, in order, and no other row twice."""
    said, wanted = MARK.findall(compact(lines)), MARK.findall(compact(PARTS))
    assert [it for it in said if it[3] in kinds] == [it for it in wanted if it[3] in kinds]
    assert len(said) == len(set(said))
    assert not [line for line in lines if line.startswith(">") or "answering" in line]


@pytest.mark.situation("T20")
def test_t20_twenty_sizes_leave_every_line_once_where_rows_are_cut(answers: Answers) -> None:
    """openai/codex #37987: a terminal that was resized while text was streamed lost lines for ever."""
    before = "".join(f"{line}\r\n" for line in SHELL_LINES).encode()
    with Outer(answers.chat(), env=answers.env, columns=100, before=before) as outer:
        lines = stream(outer, answers)
        check_chat(outer.output)

    assert lines[:100] == SHELL_LINES
    # A terminal that cuts rows keeps their beginnings.
    check_once(lines, kinds="bzr")


@pytest.mark.situation("T20")
def test_t20_twenty_sizes_leave_every_line_once_in_tmux(answers: Answers) -> None:
    """openai/codex #37987: a terminal that was resized while text was streamed lost lines for ever."""
    need_tmux()
    with TmuxWindow(
        answers.chat(), columns=100, rows=24, env=answers.env, before=SHELL_LINES
    ) as window:
        lines = stream(window, answers)

    assert lines[:100] == SHELL_LINES
    check_once(lines, kinds="bmezr")


@pytest.mark.situation("T20")
@pytest.mark.requirement("chat:fallback:told-late")
def test_t20_sizes_at_any_moment_of_an_answer_lose_no_line_in_tmux(answers: Answers) -> None:
    """openai/codex #37987: tmux changes its rows at once, and tells the program later."""
    need_tmux()
    with TmuxWindow(
        answers.chat(), columns=100, rows=24, env=answers.env, before=SHELL_LINES
    ) as window:
        window.until(lambda: "Ask something" in window.screen_text())
        window.press("the question\r")
        for number, (part, size) in enumerate(zip(PARTS, SIZES, strict=True)):
            opened, middle, rest = part.partition(f"P{number:02}m")
            # Whatever of it is drawn, or on its way, by now.
            answers.say(opened + middle)
            window.resize_at_once(*size)
            answers.say(rest)
            window.until(lambda: f"P{number:02}z" in compact(window.main_lines()))  # noqa: B023 - called at once
        answers.say("the end\n")
        answers.end()
        window.until(
            lambda: "the end" in window.screen_text() and "answering" not in window.screen_text()
        )
        window.press("\x04")
        assert window.exit_status() == 0
        lines = window.main_lines()

    assert lines[:100] == SHELL_LINES
    check_once(lines, kinds="bmezr")
