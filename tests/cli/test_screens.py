"""What is printed of a conversation: every message once, in order, whatever came in between."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.cli.outages import PATIENCE_S, outage_notes
from blockwire.cli.screens import ConversationPrinter, TurnPrinter, question_message
from blockwire.cli.terminals import Screen
from blockwire.client import ClientError, ConnectionChange
from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationSnapshot,
    ConversationState,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    advance,
    decode_event,
    encode_event,
    load_snapshot,
    make_snapshot,
)
from blockwire.jsontext import decode_json
from blockwire.render import TerminalLook

PIPE = Screen(TerminalLook(columns=60, escapes=False, colour=False), is_terminal=False)
TERMINAL = Screen(TerminalLook(columns=60, escapes=False, colour=False), is_terminal=True)


def said(name: str) -> StreamEvent:
    message = {**question_message(f"Question {name}."), "id": f"msg_{name}"}
    return MessageCreated(message)


def answered(name: str, *, ends: bool = True) -> list[StreamEvent]:
    turn, block = f"turn_{name}", f"block_{name}"
    events: list[StreamEvent] = [
        TurnStarted(turn, "assistant", 1),
        BlockStarted(turn, {"id": block, "type": "prose", "markdown": ""}),
        *(BlockDelta(turn, block, "markdown", piece) for piece in ("Answer ", name, ".")),
        BlockCompleted(turn, block),
    ]
    return [*events, TurnEnded(turn, "completed")] if ends else events


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[ConversationState], list[str]]:
    """Draw every state of a conversation, and the sentences in their order.

    Messages may be appended while a turn runs; they stand behind it.
    """
    state = ConversationState()
    states: list[ConversationState] = []
    sentences: list[str] = []
    for number in range(draw(st.integers(1, 4))):
        events = [said(f"q{number}")]
        sentences.append(f"Question q{number}.")
        answer = answered(f"a{number}")
        sentences.append(f"Answer a{number}.")
        if draw(st.booleans()):
            answer.insert(draw(st.integers(1, len(answer) - 1)), said(f"late{number}"))
            sentences.append(f"Question late{number}.")
        for event in [*events, *answer]:
            state = advance(state, event)
            states.append(state)
    return states, sentences


@pytest.mark.parametrize("screen", [PIPE, TERMINAL])
@given(drawn=conversations(), data=st.data())
def test_any_selection_of_states_prints_each_message_once_and_in_order(
    screen: Screen, drawn: tuple[list[ConversationState], list[str]], data: st.DataObject
) -> None:
    states, sentences = drawn
    kept = data.draw(st.lists(st.booleans(), min_size=len(states), max_size=len(states)))
    chosen = [state for state, keep in zip(states, kept, strict=True) if keep] + [states[-1]]
    reloads = data.draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    printer = TurnPrinter(screen, with_reasoning=False, names_speakers=True)
    conversation = ConversationPrinter(printer)

    printed = ""
    for state, reload in zip(chosen, reloads, strict=True):
        shown = state
        if reload:
            snapshot = decode_event(decode_json(encode_event(make_snapshot(state))))
            assert isinstance(snapshot, ConversationSnapshot)
            shown = load_snapshot(snapshot)
        printed += conversation.show(shown)
    printed += printer.finish()

    assert [line for line in printed.splitlines() if line.endswith(".")] == sentences
    whole = ConversationPrinter(TurnPrinter(screen, with_reasoning=False, names_speakers=True))
    assert printed == whole.show(states[-1])


def test_a_pipe_gets_answers_alone_unless_it_asks_who_speaks() -> None:
    state = ConversationState()
    for event in [said("q"), *answered("a")]:
        state = advance(state, event)

    quiet = TurnPrinter(PIPE, with_reasoning=False)

    assert ConversationPrinter(quiet).show(state) == "Answer a.\n"


# outages ------------------------------------------------------------------------------------
LOST = ClientError("connection_lost", "gone", retryable=True)


def test_a_short_outage_is_nobodys_business_and_a_long_one_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 0.0
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    on_connection = outage_notes(lambda: now_s)

    def waiting(at_s: float, retry_in_s: float) -> str:
        nonlocal now_s
        now_s = at_s
        on_connection(ConnectionChange(status="waiting", error=LOST, retry_in_s=retry_in_s))
        return told.getvalue()

    on_connection(ConnectionChange(status="connected"))
    assert waiting(1, 0.5) == ""
    on_connection(ConnectionChange(status="connecting"))
    on_connection(ConnectionChange(status="connected"))
    assert told.getvalue() == ""
    assert waiting(10, 1) == ""
    assert "out of reach" in waiting(10 + PATIENCE_S, 1)
    assert waiting(30, 1).count("out of reach") == 1
    on_connection(ConnectionChange(status="connected"))
    assert told.getvalue().endswith("connected again\n")
