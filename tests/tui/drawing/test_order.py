"""What is shown of states that leave something out, and how the rows below look."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.content import BlockState, ConversationState, TurnState
from blockwire.render import TerminalLook, row_width
from blockwire.tui.chrome import SPINNER, SPINNER_S, prompt_rows, spinner
from blockwire.tui.conversationrows import ConversationRows
from blockwire.tui.intents import Notice
from blockwire.tui.order import ConversationOrder
from blockwire.tui.promptrows import Prompt, PromptSpan
from blockwire.tui.reflow import Spot
from blockwire.tui.tail import LiveTail
from blockwire.tui.turnlines import TurnLines
from blockwire.tui.views import FallbackView
from tests.render.turns import block
from tests.tui.drawing.judges import PyteJudge
from tests.tui.drawing.shows import EMPTY, answer, finished, prompt

ENVELOPE: dict[str, Any] = {"role": "assistant", "created_at": 1}


def ended(name: str, ordinal: int) -> TurnState:
    return TurnState(name, ordinal, ENVELOPE, status="completed")


def running(name: str, ordinal: int) -> TurnState:
    return TurnState(name, ordinal, ENVELOPE)


def names(turns: list[TurnState]) -> list[str]:
    return [turn.turn_id for turn in turns]


def test_a_running_turn_holds_back_what_stands_behind_it() -> None:
    order = ConversationOrder()
    state = finished(finished(EMPTY, running("a", 0)), ended("b", 1))

    assert names(order.take(state)) == ["a"]
    assert names(order.take(finished(state, ended("a", 0)))) == ["a", "b"]
    assert order.take(finished(state, ended("a", 0))) == []


def test_a_snapshot_repeats_nothing_and_adds_what_was_missed() -> None:
    order = ConversationOrder()
    state = finished(finished(EMPTY, ended("a", 0)), running("b", 1))
    assert names(order.take(state)) == ["a", "b"]

    snapshot = ConversationState("conv", 9)
    for number, name in enumerate("abc"):
        snapshot = finished(snapshot, ended(name, number))
    assert names(order.take(snapshot)) == ["b", "c"]

    waiting = ConversationOrder()
    held = finished(finished(EMPTY, running("a", 0)), ended("b", 1))
    waiting.take(held)
    again = finished(finished(ConversationState("conv", 9), running("a", 0)), ended("b", 1))
    waiting.take(again)
    assert names(waiting.take(finished(again, ended("a", 0)))) == ["a", "b"]


def test_the_spinner_turns_with_time_and_takes_no_room() -> None:
    rows = (
        (PromptSpan("> ", "mark"),),
        (
            PromptSpan("answering", "activity"),
            PromptSpan("   ", "status"),
            PromptSpan("x", "status"),
        ),
    )
    mark = spinner(SPINNER_S * (len(SPINNER) + 1.5))
    still, turning = (prompt_rows(Prompt(rows, 0, 2), mark=it)[1] for it in ("", mark))

    assert mark == SPINNER[1]
    assert "".join(span.text for span in turning.spans) == f"{mark} answering x"
    assert row_width(turning, TerminalLook()) == row_width(still, TerminalLook())


def test_a_cursor_above_what_fits_is_hidden() -> None:
    tail = LiveTail(TerminalLook(10), 3)
    rows = prompt_rows(prompt(6))

    assert tail.paint([], rows, Spot(0, 7)).endswith(b"\x1b[?7h\x1b[?2026l")
    assert tail.height == tail.rows_max == 2


def test_a_wrong_guess_is_corrected_by_where_the_cursor_went() -> None:
    for guess, column, above in ((False, 10, b"\x1b[1A"), (True, 59, b"\r\x1b7")):
        tail = LiveTail(TerminalLook(100), 24, reflows=guess)
        tail.paint([], prompt_rows(Prompt(((PromptSpan("x" * 70, "text"),),), 0, 70)), Spot(0, 70))
        tail.resize(TerminalLook(60), 24)
        assert above in tail.locate(column)
        assert tail.reflows is not guess
    tail = LiveTail(TerminalLook(100), 24)
    tail.paint([], prompt_rows(Prompt(((PromptSpan("x" * 70, "text"),),), 0, 70)), Spot(0, 70))
    tail.resize(TerminalLook(60), 24)
    tail.locate(33)
    assert tail.reflows is None


@pytest.mark.requirement("chat:fallback:final")
def test_a_long_open_end_is_looked_at_when_enough_of_it_is_new() -> None:
    lines = TurnLines(TerminalLook(40), with_reasoning=True)
    text = BlockState(block("prose", markdown="word " * 400), is_open=True)
    turn = TurnState("t", 0, ENVELOPE, blocks=(text,))
    lines.take(turn)
    seen = lines.open_lines()
    grown = turn.with_block(0, text.with_text("more"))
    lines.take(grown)
    # One part in so many of it is not new yet.
    assert lines.open_lines() == seen
    lines.resize(TerminalLook(20))
    assert "more" in "".join(s.text for line in lines.open_lines() for s in line.spans)
    thought = BlockState(block("reasoning", text="so"), is_open=True)
    other = TurnLines(TerminalLook(40), with_reasoning=True)
    other.take(TurnState("u", 0, ENVELOPE, blocks=(thought,)))
    other.resize(TerminalLook(20))
    assert other.open_lines()
    nothing = TurnLines(TerminalLook(40), with_reasoning=False)
    nothing.resize(TerminalLook(20))
    assert nothing.open_lines() == []
    nothing.take(TurnState("v", 0, ENVELOPE, blocks=(thought,)))
    assert nothing.open_lines() == []


def test_a_view_steps_aside_and_comes_back() -> None:
    judge = PyteJudge(40, 10)
    view = FallbackView(TerminalLook(40), 10)
    view.tell(Notice("info", "said"))
    judge.feed(view.paint(prompt()))
    judge.feed(view.withdraw())
    assert judge.text() == ["\u2013 said"]
    view.forget()
    judge.feed(view.paint(prompt()))
    assert view.is_located
    assert not view.has_more
    judge.feed(view.resize(TerminalLook(30), 10)[:0] + view.locate(7))
    judge.feed(view.paint(prompt()))
    assert judge.text() == ["\u2013 said", "", "> hello", "status"]


def test_rows_go_on_at_another_width() -> None:
    rows = ConversationRows(TerminalLook(40))
    rows.resize(TerminalLook(30))
    for turn in list(answer("word " * 30, 50))[:-2]:
        rows.show(finished(EMPTY, turn))
    rows.resize(TerminalLook(20))

    assert len(rows.open_rows(60)) == 8 + 1
    assert len(rows.open_rows(10)) == 1
