"""A turn from its submit to its end."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.content import (
    Block,
    BlockCompleted,
    BlockStarted,
    BlockUpdated,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    TurnSuspended,
)
from blockwire.errors import EngineError, RemoteProtocolError
from blockwire.gateway.settings import EngineProfile, GatewaySettings
from blockwire.ports import BusNotice, Committed, EngineRequest
from tests.gateway.core.world import (
    ScriptEngine,
    World,
    answering,
    gateway,
    prose,
    stuck_after,
)

pytestmark = pytest.mark.anyio


def block_types(turn: dict[str, Any]) -> list[str]:
    return [block["type"] for block in turn["message"]["content"]]


async def test_a_turn_runs_from_its_question_to_its_answer() -> None:
    engine = ScriptEngine(answering("Hel", "lo"))
    profiles = {"script": EngineProfile(model="m-1", provider="p-1", system="Be kind.")}
    async with gateway(engines={"script": engine}, profiles=profiles) as world:
        conversation_id = await world.conversation(title="Test", tags=["a"])

        turn = await world.ask(conversation_id, "Who?")

        assert turn["status"] == "completed"
        assert turn["message_id"] == turn["id"] == turn["message"]["id"]
        assert turn["message"]["content"] == [{"id": "b1", "type": "prose", "markdown": "Hello"}]
        assert (turn["model"], turn["provider"]) == ("m-1", "p-1")
        assert (turn["message"]["model"], turn["message"]["provider"]) == ("m-1", "p-1")
        assert turn["usage"] == turn["message"]["usage"] == {"output": 3}
        assert turn["completed_at"] == turn["message"]["completed_at"]
        assert turn["durable"] is True
        assert turn["open_block_ids"] == []
        assert engine.requests[0].system == "Be kind."
        assert engine.requests[0].messages[-1]["content"][0]["markdown"] == "Who?"  # type: ignore[index, call-overload]
        conversation = await world.service.read_conversation(conversation_id, None)
        assert conversation["head_seq"] == turn["seq"]
        assert "running_turn_id" not in conversation


async def test_the_log_begins_with_the_question_and_the_start_of_its_turn() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()

        turn = await world.ask(conversation_id)

        types = [event["type"] for event in await world.events(conversation_id)]
        assert types[:3] == ["message.created", "turn.started", "content.block.started"]
        assert types[-1] == "turn.completed"
        assert types.count("turn.started") == 1
        messages = await world.service.list_messages(
            conversation_id,
            before=None,
            after=None,
            limit=10,
            bytes_max=10_000,
            view="owner",
            tenant=None,
        )
        assert [m["role"] for m in messages["items"]] == ["user", "assistant"]  # type: ignore[union-attr, index, call-overload]
        assert messages["items"][0]["id"] == turn["request_message_id"]  # type: ignore[index, call-overload]
        assert messages["items"][0]["turn_id"] == turn["id"]  # type: ignore[index, call-overload]


@pytest.mark.requirement("gateway:durable:finished")
async def test_whoever_hears_that_a_turn_ended_can_load_the_finished_message() -> None:
    async with gateway() as world:
        store = world.service.store
        heard: list[tuple[str, str]] = []
        told = anyio.Event()

        def deliver(notice: BusNotice) -> None:
            if isinstance(notice, Committed) and notice.entries[-1].type == "turn.completed":
                heard.append((notice.conversation_id, "completed"))
                told.set()

        world.service.bus.subscribe(deliver)
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await told.wait()

        loaded = await store.load_message(conversation_id, turn_id)
        turn = await world.turn(conversation_id, turn_id)

        assert loaded is not None
        assert loaded.message == turn["message"]
        assert turn["status"] == "completed"
        assert heard == [(conversation_id, "completed")]


@pytest.mark.requirement("gateway:turn:request")
async def test_the_request_holds_earlier_turns_and_the_question_but_no_later_message() -> None:
    engine = ScriptEngine(answering("A"))
    async with gateway(engines={"script": engine}) as world:
        conversation_id = await world.conversation()
        await world.service.append_message(
            conversation_id, {"role": "developer", "content": "Rules"}, None
        )
        await world.ask(conversation_id, "One")
        await world.ask(conversation_id, "Two", model="big", options={"temperature": 0.5})

        last = engine.requests[-1]

        assert [m["role"] for m in last.messages] == [
            "developer",
            "user",
            "assistant",
            "user",
        ]
        assert (last.model, last.options) == ("big", {"temperature": 0.5})


@pytest.mark.requirement("gateway:turn:history-cut")
async def test_older_turns_are_left_out_whole_and_the_answer_says_so() -> None:
    engine = ScriptEngine(answering("A"))
    settings = GatewaySettings(request_bytes_max=1_400, body_bytes_max=1_000)
    async with gateway(engines={"script": engine}, settings=settings) as world:
        conversation_id = await world.conversation()
        for text in ("x" * 300, "y" * 300):
            turn = await world.ask(conversation_id, text)
            assert block_types(turn) == ["prose"]

        turn = await world.ask(conversation_id, "z" * 300)

        kept = [m["content"][0]["markdown"] for m in engine.requests[-1].messages]  # type: ignore[index, call-overload]
        assert kept == ["y" * 300, "A", "z" * 300]
        assert block_types(turn) == ["notice", "prose"]
        assert turn["message"]["content"][0]["code"] == "history_cut"


@pytest.mark.requirement("gateway:turn:started")
async def test_an_engine_cannot_start_its_turn_again() -> None:
    async def script(request: EngineRequest) -> Any:
        yield TurnStarted(request.turn_id, "assistant", 5)
        yield TurnEnded(request.turn_id, "completed")

    async with gateway(engines={"script": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()

        turn = await world.ask(conversation_id)

        types = [event["type"] for event in await world.events(conversation_id)]
        assert turn["status"] == "completed"
        assert types == ["message.created", "turn.started", "turn.completed"]


def _open_tool(turn_id: str) -> list[StreamEvent]:
    return [
        *prose(turn_id, "b1", "Loo", is_open=True),
        BlockStarted(turn_id, {"id": "t1", "type": "tool", "tool": "ls", "status": "running"}),
    ]


@pytest.mark.requirement("gateway:turn:broken-engine")
@pytest.mark.requirement("content:end:truncated")
async def test_an_engine_that_stops_in_the_middle_leaves_a_failed_turn_with_what_had_come() -> None:
    async def script(request: EngineRequest) -> Any:
        for event in _open_tool(request.turn_id):
            yield event

    async with gateway(engines={"script": ScriptEngine(script)}) as world:
        turn = await world.ask(await world.conversation())

        assert turn["status"] == "failed"
        assert turn["error"] == {
            "code": "stream_truncated",
            "message": turn["error"]["message"],
            "retryable": True,
        }
        assert block_types(turn) == ["prose", "tool", "error"]
        assert turn["message"]["content"][1]["status"] == "failed"


async def test_what_an_engine_raises_ends_its_turn_with_a_safe_error() -> None:
    async def coded(request: EngineRequest) -> Any:
        yield prose(request.turn_id, "b1", is_open=True)[0]
        raise EngineError("provider_unavailable", "The provider is unavailable.")

    async def wild(request: EngineRequest) -> Any:
        yield prose(request.turn_id, "b1", is_open=True)[0]
        raise ValueError("sk-secret")

    engines = {"coded": ScriptEngine(coded), "wild": ScriptEngine(wild)}
    async with gateway(engines=engines) as world:
        conversation_id = await world.conversation()

        known = await world.ask(conversation_id, engine="coded")
        unknown = await world.ask(conversation_id, engine="wild")

        assert known["error"]["code"] == "provider_unavailable"
        assert unknown["error"]["code"] == "engine_failed"
        assert "sk-secret" not in str(await world.events(conversation_id))


@pytest.mark.requirement("gateway:turn:refused-event")
async def test_the_first_event_that_is_not_allowed_ends_the_turn() -> None:
    async def script(request: EngineRequest) -> Any:
        for event in prose(request.turn_id, "b1", "A"):
            yield event
        yield prose(request.turn_id, "b1")[0]
        await anyio.sleep_forever()

    async with gateway(engines={"script": ScriptEngine(script)}) as world:
        turn = await world.ask(await world.conversation())

        assert turn["error"]["code"] == "engine_protocol_error"
        assert block_types(turn) == ["prose", "error"]


@pytest.mark.requirement("content:end:told")
async def test_a_failed_turn_says_so_even_if_its_engine_did_not() -> None:
    async def script(request: EngineRequest) -> Any:
        yield TurnEnded(request.turn_id, "failed", error_code="rate_limited")

    async with gateway(engines={"script": ScriptEngine(script)}) as world:
        turn = await world.ask(await world.conversation())

        assert turn["error"]["code"] == "rate_limited"
        assert block_types(turn) == ["error"]


@pytest.mark.requirement("gateway:turn:final-tool")
async def test_a_tool_completes_with_its_final_block() -> None:
    async def script(request: EngineRequest) -> Any:
        tool: Block = {"id": "t1", "type": "tool", "tool": "ls", "status": "running"}
        yield BlockStarted(request.turn_id, tool)
        yield BlockUpdated(request.turn_id, "t1", {"status": "completed", "output": None})
        yield BlockCompleted(request.turn_id, "t1")
        yield TurnEnded(request.turn_id, "completed")

    async with gateway(engines={"script": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()
        await world.ask(conversation_id)

        completed = (await world.events(conversation_id))[4]

        assert completed["block"] == {
            "id": "t1",
            "type": "tool",
            "tool": "ls",
            "status": "completed",
            "output": None,
        }


# cancelling -------------------------------------------------------------------------------
async def assert_cancelled(world: World, conversation_id: str, turn_id: str) -> dict[str, Any]:
    answered = await world.service.cancel_turn(conversation_id, turn_id, None)
    turn = await world.turn(conversation_id, turn_id)
    assert answered["status"] == turn["status"] == "cancelled"
    assert turn["message"]["content"][-1] == {
        "id": turn["message"]["content"][-1]["id"],
        "type": "notice",
        "code": "turn_cancelled",
        "message": "Stopped by user.",
    }
    assert turn["open_block_ids"] == []
    with pytest.raises(RemoteProtocolError) as refused:
        await world.service.cancel_turn(conversation_id, turn_id, None)
    assert refused.value.code == "turn_terminal"
    return turn


@pytest.mark.parametrize("seen", [2, 3, 4, 6])
@pytest.mark.requirement("gateway:cancel:anywhere")
async def test_a_turn_is_cancelled_wherever_it_stands_and_its_engine_is_stopped(seen: int) -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: _open_tool(turn_id)[: seen - 2]))
    async with gateway(engines={"script": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, min(seen, 5))

        turn = await assert_cancelled(world, conversation_id, turn_id)

        for block in turn["message"]["content"]:
            assert block.get("status", "cancelled") == "cancelled"
        if engine.requests:
            await engine.closed.wait()
        assert "error" not in turn


async def test_a_turn_is_cancelled_while_it_waits_for_a_person() -> None:
    request: Block = {"id": "req_1", "kind": "question", "prompt": "Which?"}
    engine = ScriptEngine(stuck_after(lambda turn_id: [TurnSuspended(turn_id, request)]))
    async with gateway(engines={"script": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)

        await assert_cancelled(world, conversation_id, turn_id)


async def test_the_next_turn_runs_after_a_cancelled_one() -> None:
    engines = {
        "stuck": ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "A", is_open=True))),
        "script": ScriptEngine(answering("B")),
    }
    async with gateway(engines=engines) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, engine="stuck")
        await world.wait_for_seq(conversation_id, 4)
        await world.service.cancel_turn(conversation_id, turn_id, None)

        turn = await world.ask(conversation_id, engine="script")

        assert turn["status"] == "completed"
        assert len(engines["script"].requests[0].messages) == 3


# suspending -------------------------------------------------------------------------------
@pytest.mark.requirement("gateway:resume:unavailable")
async def test_an_engine_that_cannot_go_on_after_the_answer_ends_its_turn() -> None:
    request: Block = {"id": "req_1", "kind": "approval", "prompt": "May I?"}
    engine = ScriptEngine(stuck_after(lambda turn_id: [TurnSuspended(turn_id, request)]))
    async with gateway(engines={"script": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        waiting = await world.turn(conversation_id, turn_id)

        await world.service.resume_turn(
            conversation_id, turn_id, {"request_id": "req_1", "answer": True}, None
        )

        turn = await world.turn(conversation_id, turn_id)
        assert waiting["status"] == waiting["message"]["status"] == "suspended"
        assert waiting["request"] == request
        assert turn["status"] == "failed"
        assert turn["error"]["code"] == "resume_unavailable"
        await engine.closed.wait()


async def test_a_suspended_turn_whose_engine_has_left_stays_suspended() -> None:
    request: Block = {"id": "req_1", "kind": "approval", "prompt": "May I?"}

    async def script(asked: EngineRequest) -> Any:
        yield TurnSuspended(asked.turn_id, request)

    engine = ScriptEngine(script)
    async with gateway(engines={"script": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await engine.closed.wait()
        await world.wait_for_seq(conversation_id, 3)

        assert (await world.turn(conversation_id, turn_id))["status"] == "suspended"


# many -------------------------------------------------------------------------------------
async def test_a_thousand_turns_run_at_once() -> None:
    arrived = 0
    all_here = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        nonlocal arrived
        arrived += 1
        if arrived == 1_000:
            all_here.set()
        await all_here.wait()
        for event in prose(request.turn_id, "b1", "A", "B"):
            yield event
        yield TurnEnded(request.turn_id, "completed")

    async with gateway(engines={"script": ScriptEngine(script)}) as world:
        ids = [await world.conversation() for _ in range(1_000)]
        turns = [(conversation_id, await world.submit(conversation_id)) for conversation_id in ids]

        ended = [await world.ended(*pair) for pair in turns]

        assert {turn["status"] for turn in ended} == {"completed"}
        assert {turn["message"]["content"][0]["markdown"] for turn in ended} == {"AB"}


@pytest.mark.requirement("gateway:limits:turns")
async def test_more_turns_than_allowed_are_refused_until_one_ends() -> None:
    engine = ScriptEngine(stuck_after(lambda _turn_id: []))
    settings = GatewaySettings(turns_in_flight_max=1)
    async with gateway(engines={"script": engine}, settings=settings) as world:
        first, second = await world.conversation(), await world.conversation()
        turn_id = await world.submit(first)

        with pytest.raises(RemoteProtocolError) as refused:
            await world.submit(second)

        assert (refused.value.code, refused.value.retryable) == ("turns_in_flight_exceeded", True)
        await world.service.cancel_turn(first, turn_id, None)
        while world.service.turns_in_flight:
            await anyio.lowlevel.checkpoint()
        await world.submit(second)
