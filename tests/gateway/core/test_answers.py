"""A turn that asks a person and goes on with the answer, in an engine of ours."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from blockwire.content import (
    Block,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnSuspended,
)
from blockwire.engines import TurnLimits, guard
from blockwire.errors import BlockwireError, StoreError
from blockwire.gateway.settings import EngineProfile
from blockwire.jsontext import Json
from blockwire.ports import Append, Appended, EngineRequest
from blockwire.stores import MemoryStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import (
    CountingIds,
    FakeClock,
    ScriptEngine,
    World,
    bare_guard,
    gateway,
    prose,
)

pytestmark = pytest.mark.anyio

PROFILES = {"s": EngineProfile(takes_answers=True)}
LIMITS = TurnLimits(deadline_s=3600, idle_s=300)


def request(request_id: str = "req_1") -> Block:
    return {"id": request_id, "kind": "approval", "prompt": "May I?"}


def real_guard(
    events: AsyncGenerator[StreamEvent, None], asked: EngineRequest
) -> AsyncGenerator[StreamEvent, None]:
    return guard(
        events,
        asked,
        ids=CountingIds(9_000),
        clock=FakeClock(),
        limits=LIMITS,
        redact=lambda text: text,
    )


async def careful(asked: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
    """Ask twice, and say what was answered."""
    assert asked.answers is not None
    for number in (1, 2):
        yield TurnSuspended(asked.turn_id, request(f"req_{number}"))
        answer = await asked.answers.receive()
        for event in prose(asked.turn_id, f"b{number}", f"{answer.request_id}={answer.answer}"):
            yield event
    yield TurnEnded(asked.turn_id, "completed")


@asynccontextmanager
async def asking(script: Any = careful, **more: Any) -> AsyncIterator[tuple[World, str, str]]:
    """Run a gateway with one turn that waits for a person."""
    engine = ScriptEngine(script)
    more.setdefault("guard", real_guard)
    async with gateway(engines={"s": engine}, profiles=PROFILES, **more) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        yield world, conversation_id, turn_id


async def answer(
    world: World, conversation_id: str, turn_id: str, value: Json, request_id: str = "req_1"
) -> str:
    """Answer and return the status of the turn, or the code of the refusal."""
    body: Json = {"request_id": request_id, "answer": value}
    try:
        turn = await world.service.resume_turn(conversation_id, turn_id, body, None)
    except BlockwireError as error:
        return error.code
    return str(turn["status"])


@pytest.mark.parametrize("guarded", [bare_guard, real_guard])
@pytest.mark.requirement("gateway:resume:answer", "gateway:resume:engine")
async def test_a_running_engine_goes_on_with_the_answer(
    open_store: OpenStore, guarded: Any
) -> None:
    async with asking(store=open_store(), guard=guarded) as (world, conversation_id, turn_id):
        assert (await world.turn(conversation_id, turn_id))["request"] == request()

        assert await answer(world, conversation_id, turn_id, True) == "running"
        while (await world.turn(conversation_id, turn_id))["status"] != "suspended":
            await anyio.lowlevel.checkpoint()
        assert await answer(world, conversation_id, turn_id, {"why": "so"}, "req_2") == "running"

        turn = await world.ended(conversation_id, turn_id)
        assert turn["status"] == "completed"
        assert [b["markdown"] for b in turn["message"]["content"]] == [
            "req_1=True",
            "req_2={'why': 'so'}",
        ]
        resumed = [e for e in await world.events(conversation_id) if e["type"] == "turn.resumed"]
        assert [(e["request_id"], e["answer"]) for e in resumed] == [
            ("req_1", True),
            ("req_2", {"why": "so"}),
        ]


@pytest.mark.requirement("gateway:resume:first")
async def test_the_first_answer_wins_however_many_come_at_once() -> None:
    async with asking() as (world, conversation_id, turn_id):
        outcomes: list[str] = []

        async def try_it(number: int) -> None:
            outcomes.append(await answer(world, conversation_id, turn_id, number))

        assert await answer(world, conversation_id, turn_id, 0, "other") == "request_mismatch"
        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(try_it, number)

        assert outcomes.count("running") == 1
        assert set(outcomes) <= {"running", "turn_not_suspended", "request_mismatch"}
        await world.service.cancel_turn(conversation_id, turn_id, None)
        assert await answer(world, conversation_id, turn_id, 1) == "turn_terminal"


async def test_an_engine_may_say_itself_that_it_goes_on_with_or_without_an_answer() -> None:
    async def impatient(asked: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        assert asked.answers is not None
        yield TurnSuspended(asked.turn_id, request())
        await asked.answers.receive()
        yield TurnResumed(asked.turn_id)
        yield TurnSuspended(asked.turn_id, request("req_2"))
        yield TurnResumed(asked.turn_id)
        await said.wait()
        yield TurnEnded(asked.turn_id, "completed")

    said = anyio.Event()
    async with asking(impatient) as (world, conversation_id, turn_id):
        assert await answer(world, conversation_id, turn_id, 1) == "running"
        await world.wait_for_seq(conversation_id, 6)
        late = await answer(world, conversation_id, turn_id, 2, "req_2")
        said.set()

        assert late == "turn_not_suspended"
        types = [event["type"] for event in await world.events(conversation_id)]
        assert types[2:6] == ["turn.suspended", "turn.resumed"] * 2
        assert (await world.ended(conversation_id, turn_id))["status"] == "completed"


async def test_what_an_engine_says_while_it_waits_is_shown_before_the_answer() -> None:
    async def chatty(asked: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        assert asked.answers is not None
        yield TurnSuspended(asked.turn_id, request())
        for event in prose(asked.turn_id, "b1", "Still here"):
            yield event
        await asked.answers.receive()
        yield TurnEnded(asked.turn_id, "completed")

    async with asking(chatty) as (world, conversation_id, turn_id):
        await world.wait_for_seq(conversation_id, 6)
        assert (await world.turn(conversation_id, turn_id))["status"] == "suspended"

        assert await answer(world, conversation_id, turn_id, True) == "running"

        turn = await world.ended(conversation_id, turn_id)
        assert turn["message"]["content"][0]["markdown"] == "Still here"


@pytest.mark.requirement("gateway:cancel:anywhere")
async def test_a_waiting_engine_is_stopped_by_a_cancel_and_nothing_hears_a_late_answer() -> None:
    async with asking() as (world, conversation_id, turn_id):
        cancelled = await world.service.cancel_turn(conversation_id, turn_id, None)

        assert cancelled["status"] == "cancelled"
        assert await answer(world, conversation_id, turn_id, True) == "turn_terminal"


@pytest.mark.requirement("gateway:recovery:suspended", "gateway:resume:unavailable")
async def test_after_a_restart_it_still_waits_and_an_answer_finds_nobody(
    open_store: OpenStore,
) -> None:
    async with asking(store=open_store()) as (_world, conversation_id, turn_id):
        pass
    async with gateway(store=open_store(), ids=CountingIds(500)) as world:
        assert (await world.turn(conversation_id, turn_id))["status"] == "suspended"

        assert await answer(world, conversation_id, turn_id, True) == "failed"

        turn = await world.turn(conversation_id, turn_id)
        assert turn["error"]["code"] == "resume_unavailable"
        assert (await world.ask(conversation_id))["status"] == "completed"


class FullStore(MemoryStore):
    """A store that refuses so many appends."""

    left = 0

    async def append(self, change: Append) -> Appended:
        if self.left:
            self.left -= 1
            raise StoreError("store_full", "full")
        return await super().append(change)


async def test_an_answer_that_could_not_be_stored_may_be_given_again() -> None:
    store = FullStore()
    async with asking(store=store) as (world, conversation_id, turn_id):
        store.left = 1

        assert await answer(world, conversation_id, turn_id, False) == "store_full"
        assert (await world.turn(conversation_id, turn_id))["status"] == "suspended"
        assert await answer(world, conversation_id, turn_id, True) == "running"

        await world.wait_for_seq(conversation_id, 8)
        turn = await world.turn(conversation_id, turn_id)
        assert turn["message"]["content"][0]["markdown"] == "req_1=True"


@pytest.mark.requirement("gateway:turn:store-failure")
async def test_words_that_a_cancel_could_not_store_fail_the_turn_instead_of_leaving_a_hole() -> (
    None
):
    go_on, said = anyio.Event(), anyio.Event()

    async def talking(asked: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        yield BlockStarted(asked.turn_id, {"id": "b1", "type": "prose", "markdown": ""})
        yield BlockDelta(asked.turn_id, "b1", "markdown", "A")
        await go_on.wait()
        yield BlockDelta(asked.turn_id, "b1", "markdown", "B")
        said.set()
        yield BlockDelta(asked.turn_id, "b1", "markdown", "C")
        yield BlockCompleted(asked.turn_id, "b1")
        yield TurnEnded(asked.turn_id, "completed")

    store = FullStore()
    engine = ScriptEngine(talking)
    async with gateway(engines={"s": engine}, store=store) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)
        conversation = world.service._registry.find(conversation_id)
        refused: list[str] = []

        async def cancel() -> None:
            with pytest.raises(StoreError) as error:
                await world.service.cancel_turn(conversation_id, turn_id, None)
            refused.append(error.value.code)

        # The engine speaks while the cancel waits to commit, which the store then refuses.
        async with anyio.create_task_group() as tasks, conversation.lock:
            tasks.start_soon(cancel)
            await anyio.wait_all_tasks_blocked()
            store.left = 1
            go_on.set()
            await said.wait()

        turn = await world.ended(conversation_id, turn_id)
        assert refused == ["store_full"]
        assert (turn["status"], turn["error"]["code"]) == ("failed", "store_full")
        assert turn["message"]["content"][0]["markdown"] == "A"
