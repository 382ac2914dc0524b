"""Whoever writes a turn cannot write it wrongly, and every end tidies up."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    BlockWriter,
    ConversationSnapshot,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnState,
    UnknownEvent,
    advance,
    check_event,
    end_turn,
    interrupt_turn,
    settle_blocks,
)
from blockwire.content.vocabulary import TerminalStatus
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json
from blockwire.testing.scripts import turn_scripts
from tests.content.words import (
    TURN,
    advanced,
    ask,
    delta,
    done,
    end,
    of,
    prose,
    said,
    thought,
    tool,
    turn,
    update,
)

ERROR: dict[str, Json] = {
    "id": "e1",
    "type": "error",
    "code": "provider_unavailable",
    "message": "Gone.",
    "retryable": True,
}
ENDS: st.SearchStrategy[TerminalStatus] = st.sampled_from(["completed", "failed", "cancelled"])


def running(*events: StreamEvent) -> TurnState:
    return advanced(turn(), *events).running[TURN]


def new_writer() -> BlockWriter:
    numbers = count(1)
    return BlockWriter(TURN, new_id=lambda kind: f"{kind}_{next(numbers)}")


# how the turn ends, status of an open tool -> the status it settles in, None for none
SETTLED: list[tuple[TerminalStatus, str | None, str, str | None]] = [
    ("completed", None, "pending", "failed"),
    ("completed", "stop", "running", "failed"),
    ("completed", "tool_calls", "running", "failed"),
    # The call is the client's to run.
    ("completed", "tool_calls", "pending", None),
    ("failed", "tool_calls", "pending", "failed"),
    ("failed", None, "running", "failed"),
    ("cancelled", None, "pending", "cancelled"),
    ("cancelled", None, "running", "cancelled"),
    ("cancelled", None, "completed", None),
    ("failed", None, "cancelled", None),
]


@pytest.mark.parametrize(("status", "finish_reason", "tool_status", "settled"), SETTLED)
@pytest.mark.requirement("content:end:tools", "content:end:handed-out")
def test_an_open_tool_settles_as_the_turn_ends(
    status: TerminalStatus, finish_reason: str | None, tool_status: str, settled: str | None
) -> None:
    events = settle_blocks(running(tool(status=tool_status)), status, finish_reason=finish_reason)

    final: dict[str, Json] = {"id": "k1", "type": "tool", "tool": "ls"}
    final["status"] = settled or tool_status
    expected: list[StreamEvent] = [] if settled is None else [update(status=settled)]
    assert events == [*expected, done("k1", final)]


def test_the_end_settles_what_is_open_then_says_why_then_ends() -> None:
    it = running(prose(), delta("a"), thought(), tool(), done("b1"))

    events = end_turn(it, "failed", block=ERROR, usage={"n": 1}, finish_reason="x", reason="y")

    assert events[:4] == [
        done("r1"),
        update(status="failed"),
        done("k1", {"id": "k1", "type": "tool", "tool": "ls", "status": "failed"}),
        BlockStarted(TURN, ERROR),
    ]
    assert events[4:] == [
        done("e1"),
        TurnEnded(
            TURN,
            "failed",
            usage={"n": 1},
            finish_reason="x",
            reason="y",
            error_code="provider_unavailable",
        ),
    ]


def test_a_notice_is_no_error_code() -> None:
    notice: dict[str, Json] = {"id": "n", "type": "notice", "code": "stopped", "message": ""}

    assert end_turn(running(), "cancelled", block=notice)[-1] == end("cancelled")
    assert end_turn(running(), "completed") == [end()]


@pytest.mark.requirement("content:end:interrupted")
def test_an_interrupted_turn_keeps_what_arrived_and_says_so_once() -> None:
    state = advanced(turn(), prose(), delta("kept"), tool(status="running"))

    for event in interrupt_turn(state.running[TURN], "e1"):
        state = advance(state, event)

    assert state.turns[0].turn_status == "interrupted"
    message = state.messages[0]
    assert message["status"] == "failed"
    assert isinstance(message["content"], list)
    kept, settled, error = message["content"]
    assert kept == {"id": "b1", "type": "prose", "markdown": "kept"}
    assert isinstance(settled, dict)
    assert settled["status"] == "failed"
    assert isinstance(error, dict)
    assert (error["code"], error["retryable"]) == ("turn_interrupted", True)
    assert state.turns[0].ended == {"reason": "interrupted", "error_code": "turn_interrupted"}


@given(turn_scripts(ended=False), ENDS, st.booleans())
@pytest.mark.requirement("content:end:settled", "content:end:once")
def test_every_end_tidies_up_whatever_was_open(
    events: list[StreamEvent], status: TerminalStatus, is_handed_out: bool
) -> None:
    state = advanced(*events)
    it = state.running[TURN]
    if it.status == "suspended" and status == "completed":
        status = "failed"
    reason = "tool_calls" if is_handed_out else None

    for event in end_turn(it, status, block={**ERROR, "id": "last"}, finish_reason=reason):
        check_event(event)
        state = advance(state, event)

    message = state.find_message(TURN)
    assert state.running == {}
    assert message is not None
    assert message["status"] == status
    content: Any = message["content"]
    assert content[-1]["id"] == "last"
    for old, new in zip(it.blocks, content[:-1], strict=True):
        # Nothing received is thrown away; only the status of an open tool moves.
        assert {**old.block, "status": 0} == {**new, "status": 0}
        assert new.get("status") != "running"
        is_left_to_the_client = old.is_open and new.get("status") == "pending"
        assert not is_left_to_the_client or (is_handed_out and status == "completed")


# The writer -----------------------------------------------------------------------------------


def test_a_writer_says_what_a_turn_contains() -> None:
    writer = new_writer()

    text = writer.start("prose", {"markdown": ""})
    writer.append(text, "Six ")
    writer.append(text, "")
    writer.append(text, "tests.")
    first = writer.drain()
    writer.complete(text)
    call = writer.start("tool", {"tool": "ls", "status": "pending"}, block_id="call_1")
    writer.update(call, {"status": "running"})
    writer.update(call, {"status": "completed", "output": 6})
    writer.complete(call)
    writer.add("notice", {"code": "slow", "message": "Slow."})
    was_over = writer.is_over
    writer.end("completed", usage={"n": 1}, finish_reason="stop")

    assert [event.text for event in first if isinstance(event, BlockDelta)] == ["Six ", "tests."]
    assert first[0] == BlockStarted(TURN, {"id": "block_1", "type": "prose", "markdown": ""})
    assert (was_over, writer.is_over) == (False, True)
    rest = writer.drain()
    assert writer.drain() == []
    assert rest[-1] == TurnEnded(TURN, "completed", usage={"n": 1}, finish_reason="stop")
    assert [type(event) for event in rest] == [
        BlockCompleted,
        BlockStarted,
        BlockUpdated,
        BlockUpdated,
        BlockCompleted,
        BlockStarted,
        BlockCompleted,
        TurnEnded,
    ]
    assert rest[4] == done(
        "call_1",
        {"id": "call_1", "type": "tool", "tool": "ls", "status": "completed", "output": 6},
    )
    assert writer.message["content"] == [
        {"id": "block_1", "type": "prose", "markdown": "Six tests."},
        {"id": "call_1", "type": "tool", "tool": "ls", "status": "completed", "output": 6},
        {"id": "block_2", "type": "notice", "code": "slow", "message": "Slow."},
    ]


def test_a_failure_ends_the_turn_with_its_word() -> None:
    writer = new_writer()
    writer.start("prose", {"markdown": "half"})

    writer.fail("provider_unavailable", "Gone.", retryable=True, reason="network")

    assert writer.turn.turn_status == "failed"
    ended = writer.drain()[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.error_code == "provider_unavailable"
    content: Any = writer.message["content"]
    assert content[-1] == {
        "id": "block_2",
        "type": "error",
        "code": "provider_unavailable",
        "message": "Gone.",
        "retryable": True,
    }


Mistake = Callable[[BlockWriter], object]
MISTAKES: list[tuple[Mistake, str]] = [
    (lambda it: it.start("prose", {}), "missing_member"),
    (lambda it: it.start("prose", {"markdown": 1}), "invalid_member"),
    (lambda it: it.start("Prose", {"markdown": ""}), "invalid_enum"),
    (lambda it: it.start("acme", {"aB": 1}), "invalid_key"),
    (lambda it: it.start("acme", {"a": float("nan")}), "invalid_json_value"),
    (lambda it: it.start("tool", {"tool": "\x1b]0;t\x07", "status": "pending"}), "invalid_name"),
    (lambda it: it.start("prose", {"markdown": ""}, block_id="b1"), "block_exists"),
    (lambda it: it.append("b1", "\ud83d"), "invalid_json_value"),
    (lambda it: it.append("nowhere", "x"), "block_not_found"),
    (lambda it: it.append("k1", "x"), "field_not_mutable"),
    (lambda it: it.append("old", "x"), "block_complete"),
    (lambda it: it.update("b1", {"status": "running"}), "field_not_mutable"),
    (lambda it: it.update("k1", {"status": "done"}), "invalid_enum"),
    (lambda it: it.update("k1", {"tool": "rm"}), "field_not_mutable"),
    (lambda it: it.update("k1", {"status": "pending"}), "tool_status_regression"),
    (lambda it: it.complete("k1"), "tool_not_finished"),
    (lambda it: it.complete("nowhere"), "block_not_found"),
    (lambda it: it.end("failed", block={"type": "error", "code": "Bad", "message": ""}),
     "invalid_member"),
    (lambda it: it.fail("a", "\udc00", retryable=False), "invalid_json_value"),
    (lambda it: it.write([said()]), "invalid_event"),
    (lambda it: it.write([ConversationSnapshot([], [], [])]), "invalid_event"),
    (lambda it: it.write([turn()]), "turn_exists"),
    (lambda it: it.write([of("turn_2", delta("x"))]), "turn_not_found"),
    (lambda it: it.write([BlockDelta("turn_1", "b1", "markdown", "x", extra={"A": 1})]),
     "invalid_key"),
    (lambda it: it.write([delta("x"), delta("y", "nowhere")]), "block_not_found"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "code"), MISTAKES)
def test_a_mistake_is_the_callers_and_changes_nothing(mistake: Mistake, code: str) -> None:
    writer = new_writer()
    writer.write([prose(), tool(status="running"), prose("old"), done("old")])
    written, message = writer.drain(), writer.message

    with pytest.raises(LocalProtocolError) as refused:
        mistake(writer)

    assert refused.value.code == code
    assert written
    assert writer.drain() == []
    assert writer.message == message


def test_events_of_a_newer_peer_and_waiting_pass_through() -> None:
    writer = new_writer()
    events: list[StreamEvent] = [UnknownEvent("acme", {"turn_id": TURN}), ask()]

    writer.write(events)

    assert writer.drain() == events
    assert writer.turn.status == "suspended"


class WriterMachine(RuleBasedStateMachine):
    """Whatever is asked of a writer, what it hands out is what a strict receiver takes."""

    def __init__(self) -> None:
        super().__init__()
        self.writer = new_writer()
        self.receiver = advance(ConversationState(), turn())

    def attempt(self, action: Callable[[], object]) -> None:
        with suppress(LocalProtocolError):
            action()

    @rule(kind=st.sampled_from(("prose", "reasoning", "code", "acme", "speech")), text=st.text())
    def start_text(self, kind: str, text: str) -> None:
        name = {"prose": "markdown"}.get(kind, "text")
        self.attempt(lambda: self.writer.start(kind, {name: text}))

    @rule(status=st.sampled_from(("pending", "running", "completed", "other")))
    def start_tool(self, status: str) -> None:
        self.attempt(lambda: self.writer.start("tool", {"tool": "ls", "status": status}))

    @rule(index=st.integers(1, 5), text=st.text())
    def append(self, index: int, text: str) -> None:
        self.attempt(lambda: self.writer.append(f"block_{index}", text))

    @rule(index=st.integers(1, 5), status=st.sampled_from(("running", "failed", "odd")))
    def update(self, index: int, status: str) -> None:
        self.attempt(lambda: self.writer.update(f"block_{index}", {"status": status}))

    @rule(index=st.integers(1, 5))
    def complete(self, index: int) -> None:
        self.attempt(lambda: self.writer.complete(f"block_{index}"))

    @rule(status=ENDS, reason=st.sampled_from((None, "tool_calls")))
    def end(self, status: TerminalStatus, reason: str | None) -> None:
        self.attempt(lambda: self.writer.end(status, finish_reason=reason))

    @invariant()
    def a_receiver_takes_it(self) -> None:
        for event in self.writer.drain():
            self.receiver = advance(self.receiver, check_event(event))
        message = self.receiver.find_message(TURN)
        assert message is not None
        assert message["content"] == self.writer.message["content"]
        assert message["status"] == self.writer.message["status"]


TestWriterMachine = WriterMachine.TestCase
TestWriterMachine.settings = settings(max_examples=60, stateful_step_count=30)
