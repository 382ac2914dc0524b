"""Whatever an engine does, its turn ends well."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationSnapshot,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
    event_type,
)
from blockwire.engines import ProviderError, TurnKeeper, TurnLimits
from blockwire.errors import EngineError, RemoteProtocolError
from tests.engines.tools import (
    TURN,
    CountingIds,
    ManualTime,
    collect,
    ends,
    fold,
    guarded,
    last_error,
    stream,
)

pytestmark = pytest.mark.anyio


def prose(block_id: str = "b1", text: str = "") -> BlockStarted:
    return BlockStarted(TURN, {"id": block_id, "type": "prose", "markdown": text})


def tool(block_id: str = "t1", **members: Any) -> BlockStarted:
    block = {"id": block_id, "type": "tool", "tool": "look", "status": "pending", **members}
    return BlockStarted(TURN, block)


def error_block(block_id: str = "e1", **members: Any) -> BlockStarted:
    block = {"id": block_id, "type": "error", "code": "own", "message": "Own.", **members}
    return BlockStarted(TURN, block)


def delta(text: str, block_id: str = "b1", field: str = "markdown") -> BlockDelta:
    return BlockDelta(TURN, block_id, field, text)


def done(block_id: str = "b1") -> BlockCompleted:
    return BlockCompleted(TURN, block_id)


COMPLETED = TurnEnded(TURN, "completed", finish_reason="stop")


async def test_a_well_behaved_stream_passes_unchanged() -> None:
    events: list[StreamEvent] = [prose(), delta("Hel"), delta("lo"), done(), COMPLETED]

    assert await collect(guarded(stream(events))) == events


@pytest.mark.requirement("engines:guard:settled")
async def test_open_blocks_are_settled_before_the_end() -> None:
    seen = await collect(guarded(stream([prose(), delta("Hi"), tool(), COMPLETED])))

    message = fold(seen)
    assert message["status"] == "completed"
    assert [block.get("status") for block in message["content"]] == [None, "failed"]


async def test_a_pending_call_of_the_client_stays_pending() -> None:
    end = TurnEnded(TURN, "completed", finish_reason="tool_calls")

    message = fold(await collect(guarded(stream([tool(), end]))))

    assert message["content"][0]["status"] == "pending"


BROKEN: list[tuple[str, list[Any]]] = [
    ("delta without block", [delta("x")]),
    ("delta of a complete block", [prose(), done(), delta("x")]),
    ("delta of an undeclared field", [prose(), delta("x", field="text")]),
    ("delta of a made-up field", [prose(), delta("x", field="size")]),
    ("a block twice", [prose(), prose()]),
    ("a block without id", [BlockStarted(TURN, {"type": "prose", "markdown": ""})]),
    ("a block that is none", [BlockStarted(TURN, "prose")]),  # type: ignore[arg-type]
    ("a key in camelCase", [tool(input={"filePath": 1})]),
    ("a number that is none", [tool(input=float("nan"))]),
    ("half a character", [prose(), delta("\ud800")]),
    ("text that is none", [prose(), delta(b"x")]),  # type: ignore[arg-type]
    ("a block id that is none", [prose(), delta("x", block_id=["b1"])]),  # type: ignore[arg-type]
    ("a status that is none", [TurnEnded(TURN, "done")]),  # type: ignore[arg-type]
    ("a tool that goes back", [tool(status="running"), BlockUpdated(TURN, "t1", {"status": "pending"})]),
    ("an update that may not be", [tool(), BlockUpdated(TURN, "t1", {"tool": "other"})]),
    ("an update of prose", [prose(), BlockUpdated(TURN, "b1", {"status": "failed"})]),
    ("another turn", [BlockStarted("turn_2", {"id": "b", "type": "prose", "markdown": ""})]),
    ("a delta of another turn", [prose(), BlockDelta("turn_2", "b1", "markdown", "x")]),
    ("the end of another turn", [TurnEnded("turn_2", "completed")]),
    ("a message", [MessageCreated({"id": "m", "role": "user", "status": "completed", "content": [], "created_at": 1})]),
    ("a snapshot", [ConversationSnapshot([], [], [])]),
    ("a word of the gateway", [UnknownEvent(type="conversation.deleted", members={})]),
    ("an unknown event of another turn", [UnknownEvent(type="x.y", members={"turn_id": "turn_2"})]),
    ("no event", [{"type": "turn.completed"}]),
    ("nothing", [None]),
    ("an end while it waits", [TurnSuspended(TURN, {"id": "r", "kind": "question", "prompt": "?"}), COMPLETED]),
    ("resumed without waiting", [TurnResumed(TURN)]),
]  # fmt: skip


@pytest.mark.requirement("engines:guard:refused")
@pytest.mark.parametrize("events", [row[1] for row in BROKEN], ids=[row[0] for row in BROKEN])
async def test_an_event_that_is_not_allowed_ends_the_turn(events: list[Any]) -> None:
    seen = await collect(guarded(stream([prose("kept"), delta("kept", "kept"), *events])))

    message = fold(seen)
    assert message["status"] == "failed"
    assert message["content"][0]["markdown"] == "kept"
    assert last_error(seen)["code"] == "engine_protocol_error"
    assert ends(seen)[0].error_code == "engine_protocol_error"
    assert seen[-1] is ends(seen)[0]


@pytest.mark.requirement("engines:guard:after-the-end")
async def test_what_comes_after_the_end_is_ignored() -> None:
    reached: list[str] = []

    async def chatter() -> AsyncGenerator[StreamEvent, None]:
        yield COMPLETED
        reached.append("after the end")
        yield prose()

    assert await collect(guarded(chatter())) == [COMPLETED]
    assert reached == []


async def test_the_start_is_the_gateways_and_an_engines_own_is_ignored() -> None:
    seen = await collect(guarded(stream([TurnStarted(TURN, "assistant", 5), COMPLETED])))

    assert seen == [COMPLETED]


async def test_an_unknown_event_passes() -> None:
    event = UnknownEvent(type="my.progress", members={"turn_id": TURN, "percent": 10})

    assert await collect(guarded(stream([event, COMPLETED]))) == [event, COMPLETED]


async def test_numbers_that_only_the_gateway_gives_are_taken_off() -> None:
    stamped = BlockDelta(TURN, "b1", "markdown", "x", seq=9, ts=9, conversation_id="conv_9")

    seen = await collect(guarded(stream([prose(), stamped, COMPLETED])))

    assert seen[1] == delta("x")


@pytest.mark.requirement("engines:guard:truncated")
async def test_a_stream_that_stops_without_an_end_is_truncated() -> None:
    seen = await collect(guarded(stream([prose(), delta("Hel")])))

    assert fold(seen)["content"][0]["markdown"] == "Hel"
    error = last_error(seen)
    assert (error["code"], error["retryable"]) == ("stream_truncated", True)
    assert ends(seen)[0].reason == "truncated"


async def test_a_failure_without_a_word_gets_one() -> None:
    seen = await collect(guarded(stream([TurnEnded(TURN, "failed", error_code="too_tired")])))

    assert last_error(seen)["code"] == "too_tired"
    assert ends(seen)[0].error_code == "too_tired"


async def test_a_failure_that_the_engine_explained_gets_no_second_error() -> None:
    seen = await collect(guarded(stream([error_block(), TurnEnded(TURN, "failed")])))

    assert [block["code"] for block in fold(seen)["content"]] == ["own"]
    assert ends(seen)[0].error_code == "own"


async def test_an_engine_that_fails_after_its_own_error_gets_no_second_one() -> None:
    async def engine() -> AsyncGenerator[StreamEvent, None]:
        yield error_block()
        raise EngineError("engine_failed", "The program ended with status 1.")

    seen = await collect(guarded(engine()))

    assert [block["code"] for block in fold(seen)["content"]] == ["own"]
    assert ends(seen)[0].error_code == "own"


async def test_an_engine_cannot_call_its_turn_interrupted() -> None:
    seen = await collect(guarded(stream([TurnEnded(TURN, "failed", reason="interrupted")])))

    assert ends(seen)[0].reason is None


async def raising(error: BaseException) -> AsyncGenerator[StreamEvent, None]:
    yield prose()
    raise error


async def test_the_code_of_an_engine_error_reaches_the_reader() -> None:
    error = ProviderError("provider_rate_limited", "Slow down.", retryable=True, retry_after_s=7)

    closing = last_error(await collect(guarded(raising(error))))

    assert closing["code"] == "provider_rate_limited"
    assert closing["message"] == "Slow down."
    assert closing["retryable"] is True
    assert closing["retry_after_s"] == 7


async def test_an_engine_error_inside_a_group_is_found() -> None:
    group = BaseExceptionGroup("g", [ValueError("x"), EngineError("provider_down", "Down.")])

    assert last_error(await collect(guarded(raising(group))))["code"] == "provider_down"


async def test_a_code_that_is_none_becomes_engine_failed() -> None:
    error = EngineError("Not A Code", "x")

    assert last_error(await collect(guarded(raising(error))))["code"] == "engine_failed"


@pytest.mark.requirement("engines:guard:no-exception-text")
@pytest.mark.parametrize(
    "error", [RuntimeError("secret-1"), BaseExceptionGroup("g", [KeyError("secret-1")])]
)
async def test_the_text_of_any_other_exception_stays_in_the_log_without_secrets(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def redact(text: str) -> str:
        return text.replace("secret-1", "[redacted]")

    with caplog.at_level(logging.ERROR):
        closing = last_error(await collect(guarded(raising(error), redact=redact)))

    assert closing["code"] == "engine_failed"
    assert "secret" not in closing["message"]
    assert "[redacted]" in caplog.text
    assert "secret-1" not in caplog.text


@pytest.mark.requirement("engines:guard:redacted")
async def test_diagnostics_are_redacted_and_answers_are_not() -> None:
    events = [
        error_block(message="key k-123"),
        BlockStarted(TURN, {"id": "n1", "type": "notice", "code": "x", "message": "k-123"}),
        tool("t1", status="failed", error={"text": ["k-123", 1]}, output="k-123"),
        tool("t2"),
        BlockUpdated(TURN, "t2", {"status": "failed", "error_json": '"k-123"'}),
        BlockCompleted(
            TURN,
            "t2",
            {"id": "t2", "type": "tool", "tool": "look", "status": "failed", "error": "k-123"},
        ),
        prose("p", "k-123"),
        COMPLETED,
    ]

    seen = await collect(guarded(stream(events), redact=lambda text: text.replace("k-123", "*")))

    content = fold(seen)["content"]
    assert content[0]["message"] == "key *"
    assert content[1]["message"] == "*"
    assert content[2]["error"] == {"text": ["*", 1]}
    assert content[2]["output"] == "k-123"
    assert content[3]["error"] == "*"
    assert content[4]["markdown"] == "k-123"


@pytest.mark.requirement("engines:guard:limits")
async def test_an_answer_beyond_the_size_cap_keeps_what_fits() -> None:
    events = [prose(), delta("12345"), delta("é" * 50), COMPLETED]

    seen = await collect(guarded(stream(events), limits=TurnLimits(bytes_max=150)))

    assert fold(seen)["content"][0]["markdown"] == "12345"
    error = last_error(seen)
    assert (error["code"], error["retryable"]) == ("answer_too_large", False)


async def test_too_many_events_end_the_turn() -> None:
    async def endless() -> AsyncGenerator[StreamEvent, None]:
        yield prose()
        while True:
            yield delta("x")

    seen = await collect(guarded(endless(), limits=TurnLimits(events_max=10)))

    assert fold(seen)["content"][0]["markdown"] == "x" * 9
    assert last_error(seen)["code"] == "answer_too_large"


class Silent:
    """Says one word, then waits until it is stopped."""

    def __init__(self, *first: StreamEvent) -> None:
        self.first = first
        self.waits = anyio.Event()
        self.was_stopped = False
        self.go_on = anyio.Event()

    async def run(self) -> AsyncGenerator[StreamEvent, None]:
        try:
            for event in self.first:
                yield event
            self.waits.set()
            await self.go_on.wait()
            yield TurnResumed(TURN)
            yield TurnEnded(TURN, "completed")
        finally:
            self.was_stopped = True


async def play_until(
    engine: Silent, time: ManualTime, limits: TurnLimits, by_s: float
) -> list[StreamEvent]:
    seen: list[StreamEvent] = []

    async def read() -> None:
        async for event in guarded(engine.run(), time=time, limits=limits):
            seen.append(event)  # noqa: PERF401 - what was read counts also when reading fails

    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await engine.waits.wait()
            await time.advance(by_s)
    return seen


@pytest.mark.requirement("engines:guard:limits")
async def test_a_silent_engine_is_stopped_at_the_idle_deadline() -> None:
    engine = Silent(prose(), delta("Hel"))

    seen = await play_until(engine, ManualTime(), TurnLimits(idle_s=30), 30)

    assert fold(seen)["content"][0]["markdown"] == "Hel"
    assert last_error(seen)["code"] == "engine_idle"
    assert ends(seen)[0].reason == "idle"
    assert engine.was_stopped


@pytest.mark.requirement("engines:guard:limits")
async def test_a_turn_is_stopped_at_its_deadline() -> None:
    engine = Silent(prose())

    seen = await play_until(engine, ManualTime(), TurnLimits(deadline_s=20, idle_s=30), 20)

    assert last_error(seen)["code"] == "turn_deadline_exceeded"
    assert engine.was_stopped


async def test_an_engine_that_never_waits_cannot_talk_past_the_deadline() -> None:
    time = ManualTime()

    async def talking() -> AsyncGenerator[StreamEvent, None]:
        yield prose()
        while True:
            time.now_s += 1
            yield delta("x")

    seen = await collect(guarded(talking(), time=time, limits=TurnLimits(deadline_s=10)))

    assert last_error(seen)["code"] == "turn_deadline_exceeded"


@pytest.mark.requirement("engines:guard:suspended")
async def test_a_turn_that_waits_for_a_person_has_all_the_time() -> None:
    engine = Silent(TurnSuspended(TURN, {"id": "r", "kind": "approval", "prompt": "Go on?"}))
    time = ManualTime()
    seen: list[StreamEvent] = []

    async def read() -> None:
        limits = TurnLimits(deadline_s=20, idle_s=10)
        seen.extend([event async for event in guarded(engine.run(), time=time, limits=limits)])

    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await engine.waits.wait()
            await time.advance(100_000)
            engine.go_on.set()

    assert [event_type(event) for event in seen] == [
        "turn.suspended",
        "turn.resumed",
        "turn.completed",
    ]


@pytest.mark.requirement("engines:guard:stop")
async def test_cancelling_the_reader_stops_the_engine() -> None:
    engine = Silent(prose())
    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collect, guarded(engine.run()))
            await engine.waits.wait()
            tasks.cancel_scope.cancel()

    assert engine.was_stopped


@pytest.mark.requirement("engines:guard:stop")
async def test_closing_the_guard_stops_the_engine() -> None:
    engine = Silent(prose(), prose("b2"))
    events = guarded(engine.run())

    await anext(events)
    await events.aclose()

    assert engine.was_stopped


async def test_an_engine_that_fails_while_it_is_closed_spoils_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def clumsy() -> AsyncGenerator[StreamEvent, None]:
        try:
            yield COMPLETED
        finally:
            raise ValueError("while closing")

    assert await collect(guarded(clumsy())) == [COMPLETED]
    assert "while closing" in caplog.text


def test_a_turn_that_is_over_cannot_fail() -> None:
    keeper = TurnKeeper(TURN, new_id=CountingIds().new_id, limits=TurnLimits(), redact=str)
    keeper.receive(COMPLETED)

    assert keeper.fail("x", "x") == []
    assert keeper.receive(prose()) == []


# Anything at all ------------------------------------------------------------------------------

IDS = st.sampled_from(["b1", "b2", "t1", ""])
TURNS = st.sampled_from([TURN, TURN, TURN, TURN, "turn_2"])
BLOCKS = st.fixed_dictionaries(
    {"id": IDS, "type": st.sampled_from(["prose", "tool", "reasoning", "error", "notice", "new"])},
    optional={
        "markdown": st.text(),
        "text": st.text(),
        "tool": st.just("look"),
        "status": st.sampled_from(["pending", "running", "completed", "lost"]),
        "code": st.sampled_from(["x", "Not Code"]),
        "message": st.text(),
        "input": st.one_of(st.floats(), st.dictionaries(st.text(max_size=2), st.integers())),
    },
)
EVENTS = st.one_of(
    st.builds(BlockStarted, TURNS, BLOCKS),
    st.builds(BlockDelta, TURNS, IDS, st.sampled_from(["markdown", "text", "x"]), st.text()),
    st.builds(BlockUpdated, TURNS, IDS, BLOCKS),
    st.builds(BlockCompleted, TURNS, IDS, st.one_of(st.none(), BLOCKS)),
    st.builds(TurnEnded, TURNS, st.sampled_from(["completed", "failed", "cancelled", "lost"])),
    st.builds(TurnStarted, TURNS, st.just("assistant"), st.integers()),
    st.builds(TurnSuspended, TURNS, st.just({"id": "r", "kind": "question", "prompt": "?"})),
    st.builds(TurnResumed, TURNS),
    st.builds(UnknownEvent, type=st.text(), members=st.dictionaries(st.text(), st.integers())),
    st.builds(MessageCreated, BLOCKS),
    st.one_of(st.none(), st.integers(), st.text()),
)
OUTCOMES = st.sampled_from(
    [None, EngineError("own_code", "x"), ValueError("x"), RemoteProtocolError("y", "z")]
)


@pytest.mark.requirement("engines:guard:valid")
@given(events=st.lists(EVENTS), outcome=OUTCOMES)
def test_any_stream_folds_to_a_finished_message(
    events: list[Any], outcome: Exception | None
) -> None:
    async def engine() -> AsyncGenerator[StreamEvent, None]:
        for event in events:
            yield event
        if outcome is not None:
            raise outcome

    seen = anyio.run(collect, guarded(engine()))

    message = fold(seen)
    assert message["status"] in {"completed", "failed", "cancelled"}
    assert len(ends(seen)) == 1
    assert seen[-1] is ends(seen)[0]
    own = [event.block["id"] for event in events if isinstance(event, BlockStarted)]
    added = [b for b in message["content"] if b["type"] == "error" and b["id"] not in own]
    assert len(added) <= 1
    if message["status"] == "failed":
        assert {"error", "notice"} & {block["type"] for block in message["content"]}
