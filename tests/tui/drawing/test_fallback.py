"""Answers in the fallback, judged by terminals of others: situations of public reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from blockwire.content import BlockState, TurnState
from blockwire.render import TerminalLook
from blockwire.tui.conversationrows import ConversationRows
from blockwire.tui.intents import Notice
from blockwire.tui.views import FallbackView
from tests.render.turns import block, grown
from tests.tui.drawing.judges import PyteJudge, TmuxJudge, need_tmux
from tests.tui.drawing.shows import EMPTY, FallbackShow, answer, compact, finished, prompt, whole

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
WIDE = "\u6f22"
SIZES = (
    (60, 24), (100, 24), (40, 24), (100, 24), (61, 17), (100, 45), (50, 30), (80, 24), (55, 40),
    (100, 20), (70, 24), (100, 24), (90, 18), (45, 33), (80, 45), (80, 17), (60, 24), (50, 24),
    (100, 30), (80, 24),
)  # fmt: skip
"""Twenty."""


@pytest.fixture(params=["pyte", "tmux"])
def judge(request: pytest.FixtureRequest) -> Iterator[PyteJudge | TmuxJudge]:
    if request.param == "tmux":
        need_tmux()
    judge = PyteJudge(100, 24) if request.param == "pyte" else TmuxJudge(100, 24)
    # What was there before stays there; and tmux gives rows away of a window that is not full.
    judge.feed("".join(f"shell {number}\r\n" for number in range(100)).encode())
    yield judge
    judge.close()


def begin(judge: PyteJudge | TmuxJudge, columns: int = 100, rows: int = 24) -> FallbackShow:
    judge.resize(columns, rows)
    return FallbackShow(judge, columns, rows, reflows=judge.reflows)


def without_shell(rows: list[str]) -> list[str]:
    assert rows[:100] == [f"shell {number}" for number in range(100)]
    return rows[100:]


@pytest.mark.situation("T47")
@pytest.mark.requirement("chat:fallback:once")
@pytest.mark.parametrize("count", range(1, 8))
def test_an_answer_of_few_lines_is_complete_at_every_step(count: int) -> None:
    """T47: a window of live lines larger than the answer dropped its beginning."""
    show = FallbackShow(PyteJudge(80, 24), 80, 24)
    text = "\n\n".join(f"line {number}" for number in range(count))
    said = ""
    for number, turn in enumerate(answer(text, 3)):
        show.show(turn)
        said = text[: number * 3]
        assert compact(show.judge.text()[1:-2]) == compact([said])
    assert compact(show.leave()) == compact(["assistant", text])


@pytest.mark.situation("T46")
@pytest.mark.requirement("chat:fallback:once")
def test_paragraphs_longer_than_the_window_stand_there_once(judge: PyteJudge | TmuxJudge) -> None:
    """T46, T28 and T02: ten paragraphs in 18 rows; what the shell had written is still there."""
    show = begin(judge, 80, 18)
    text = "\n\n".join(f"paragraph {number} " + f"word{number} " * 25 for number in range(10))
    last = None
    for turn in answer(text, 7):
        show.show(turn)
        last = turn
    assert last is not None
    assert without_shell(show.leave()) == whole(last, 80)


@pytest.mark.situation("T52")
@pytest.mark.requirement("chat:fallback:once")
def test_emoji_and_wide_characters_leave_no_stale_rows(judge: PyteJudge | TmuxJudge) -> None:
    """T52: rows with emoji were counted wrongly, and stale ones left."""
    show = begin(judge, 50, 20)
    lines = [
        f"- {FAMILY} \u6f22\u5b57 {number} " + "\u6f22\u5b57\u2764\ufe0f " * 9
        for number in range(20)
    ]
    text = "\n".join(lines) + f"\n\n```\n{FAMILY * 30}\n{WIDE * 60}\n```\n\nend"
    last = None
    for turn in answer(text, 5):
        show.show(turn)
        last = turn
    assert last is not None
    assert compact(without_shell(show.leave())) == compact(whole(last, 50))


@pytest.mark.requirement("chat:fallback:once")
def test_a_finished_block_taller_than_the_window_keeps_its_last_line(
    judge: PyteJudge | TmuxJudge,
) -> None:
    """T29: a finished item taller than the window lost its last line to the prompt."""
    show = begin(judge)
    text = "```\n" + "\n".join(f"code {number}" for number in range(80)) + "\n```"
    show.paint()
    turns = list(answer(text, len(text)))
    for turn in turns:
        show.show(turn)

    assert show.judge.screen()[-4:] == ["  code 79", "", "> hello", "status"]
    assert without_shell(show.leave()) == whole(turns[-1], 100)


@pytest.mark.requirement("chat:fallback:gap")
@pytest.mark.parametrize(("height", "gap"), [(2, 1), (19, 1), (20, 0), (22, 0)])
def test_a_blank_row_parts_what_was_said_from_the_prompt(height: int, gap: int) -> None:
    show = FallbackShow(PyteJudge(80, 24), 80, 24)
    show.paint(height)
    assert show.judge.screen()[0] == "> hello"

    for turn in answer("one\n\ntwo", 4):
        show.show(turn, height)
        rows = show.judge.screen()
        said = rows[: rows.index("> hello")]
        assert len(said) - len("\n".join(said).rstrip().split("\n")) == gap


@pytest.mark.requirement("chat:fallback:growth")
def test_a_prompt_that_grows_and_shrinks_while_text_arrives_loses_no_row(
    judge: PyteJudge | TmuxJudge,
) -> None:
    """T19 and T23: rows were lost as the bottom panel grew, and when 30 rows collapsed."""
    show = begin(judge)
    text = "\n".join(f"- item {number}" for number in range(70))
    last = None
    for number, turn in enumerate(answer(text, 6)):
        show.show(turn, (1, 6, 2, 30, 1, 12)[number % 6])
        last = turn
    assert last is not None
    assert without_shell(show.leave()) == whole(last, 100)


@pytest.mark.requirement("chat:fallback:resize")
def test_twenty_sizes_while_an_answer_streams_leave_every_line_once(
    judge: PyteJudge | TmuxJudge,
) -> None:
    """T20, T04 and T51828: CJK, emoji and a tall table, and each finished line stands there once."""
    show = begin(judge)
    parts: list[str] = []
    for number in range(20):
        parts.append(
            f"P{number:02}begin \u6f22\u5b57 {FAMILY} " + "some words " * 50 + f"P{number:02}end"
        )
        if number % 5 == 1:
            body = "".join(f"| T{number:02}r{at:02} | \u6f22\u5b57{FAMILY} |\n" for at in range(30))
            parts.append(f"| name | v |\n|---|---|\n{body}")
    text = "\n\n".join(parts)
    turns = list(answer(text, 37))
    sizes = iter(SIZES)
    every = len(turns) // (len(SIZES) + 1)
    for number, turn in enumerate(turns):
        show.show(turn)
        if number % every == every - 1 and (size := next(sizes, None)) is not None:
            show.resize(*size)
            show.paint()
            check_once(show.judge.text()[:-2], parts, is_whole=judge.reflows)
    rows = show.leave()
    check_once(rows, parts, is_whole=judge.reflows)
    joined = "".join(rows)
    # A terminal that cuts rows keeps their beginnings.
    assert all(joined.count(f"P{number:02}begin") == 1 for number in range(20))
    assert all(joined.count(f"T{n:02}r{at:02}") == 1 for n in (1, 6, 11, 16) for at in range(30))


def check_once(rows: list[str], parts: list[str], *, is_whole: bool) -> None:
    """Nothing stands there twice, in order, no half rows, no prompt that was left behind."""
    text = "".join(rows)
    marks = [f"P{number:02}begin" for number in range(20)]
    marks += [f"T{n:02}r{at:02}" for n in (1, 6, 11, 16) for at in range(30)]
    assert not [mark for mark in marks if text.count(mark) > 1]
    begins = [text.find(f"P{number:02}begin") for number in range(20)]
    found = [at for at in begins if at >= 0]
    assert found == sorted(found)
    assert "> hello" not in rows
    assert "status" not in rows
    if is_whole:
        said = compact(rows)
        for number in range(len(found) - 1):
            paragraph = next(part for part in parts if part.startswith(f"P{number:02}begin"))
            assert compact([paragraph]) in said


@pytest.mark.requirement("chat:fallback:cost")
def test_a_small_window_costs_little_for_each_piece_of_a_long_block() -> None:
    """T25: the whole history scrolled at each update of a result larger than the window."""
    show = FallbackShow(PyteJudge(20, 5), 20, 5)
    text = "```\n" + "\n".join(f"result line {number}" for number in range(200)) + "\n```"
    most = 0
    for turn in answer(text, 4):
        show.show(turn)
        most = max(most, len(show.last))
    assert most < 500
    assert show.leave()[-1] == "  result line 199"


@pytest.mark.requirement("chat:fallback:final")
def test_a_tool_at_work_changes_in_place_and_is_printed_when_it_is_done() -> None:
    show = FallbackShow(PyteJudge(80, 24), 80, 24)
    blocks = [
        block("prose", markdown="I look."),
        block("tool", tool="search", status="completed", input={"q": "x"}, output="found\nit"),
        block("prose", markdown="Done."),
    ]
    states = list(grown(blocks, pieces=2))
    for state in states:
        show.show(state)
    show.show(states[-1].with_status("completed"))
    assert show.leave() == whole(states[-1].with_status("completed"), 80)


@pytest.mark.requirement("chat:fallback:final")
def test_a_turn_that_is_cancelled_shows_what_there_is() -> None:
    show = FallbackShow(PyteJudge(80, 24), 80, 24)
    tool: dict[str, Any] = block("tool", tool="run", status="running")
    open_turn = TurnState(
        "t", 0, {"role": "assistant", "created_at": 1}, blocks=(BlockState(tool, is_open=True),)
    )
    show.show(open_turn)
    over = open_turn.with_status("cancelled")
    show.show(over)

    assert show.leave() == whole(over, 80)


def test_reasoning_is_printed_line_by_line_where_it_is_wanted() -> None:
    judge = PyteJudge(80, 24)
    view = FallbackView(TerminalLook(80), 24)
    state = EMPTY
    blocks = [block("reasoning", text="so far\n\nand on\n"), block("prose", markdown="Yes.")]
    for turn in grown(blocks, pieces=3):
        state = finished(state, turn)
        view.show(state, with_reasoning=True)
        judge.feed(view.paint(prompt()))

    assert judge.text()[:6] == ["assistant", "", "thinking", "  so far", "", "  and on"]
    assert not ConversationRows(TerminalLook(80)).open_rows(24)


def test_a_notice_stands_behind_what_came_before_and_nothing_in_it_acts() -> None:
    show = FallbackShow(PyteJudge(40, 10), 40, 10)
    turns = list(answer("hello", 2))
    for turn in turns:
        show.show(turn)
    show.view.tell(Notice("error", "bad \x1b[2J thing\nsecond line"))
    show.paint()

    rows = show.judge.text()
    assert rows[:4] == ["assistant", "", "hello", ""]
    assert rows[4].startswith("\u2717 bad ")
    assert rows[5] == "  second line"


def test_another_conversation_goes_on_below() -> None:
    show = FallbackShow(PyteJudge(40, 24), 40, 24)
    for turn in list(answer("one\n\ntwo is open", 4))[:-2]:
        show.show(turn)
    show.view.change_conversation()
    show.state = type(show.state)("other")
    for turn in answer("three", 4):
        show.show(turn)

    assert [row for row in show.leave() if row] == [
        "assistant", "one", "two is open", "assistant", "three",
    ]  # fmt: skip


@pytest.mark.requirement("chat:fallback:idle")
def test_nothing_new_writes_nothing() -> None:
    """T41: periodic writes yank the reader of an embedding terminal."""
    show = FallbackShow(PyteJudge(40, 24), 40, 24)
    for turn in list(answer("one\n\ntwo is open", 4))[:-2]:
        show.show(turn)
    show.paint()
    show.paint()

    assert show.last == b""
