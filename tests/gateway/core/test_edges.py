"""Rare moments: races between those who end a turn, bugs, and what is let go of."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.content import (
    BlockDelta,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnStarted,
)
from blockwire.errors import BlockwireError, RemoteProtocolError, StoreError
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.turns.drafts import Batch
from blockwire.gateway.turns.folding import fold_turn
from blockwire.gateway.turns.inbox import Inbox
from blockwire.jsontext import Json
from blockwire.ports import Append, Appended, EngineRequest, MessageRow, TurnRow
from blockwire.stores import MemoryStore
from tests.gateway.core.world import (
    FAST,
    FakeClock,
    HeldStore,
    ScriptEngine,
    answering,
    gateway,
    prose,
    stuck_after,
)

pytestmark = pytest.mark.anyio


class Liar(MemoryStore):
    """A store that commits and then fails to say so, as often as told."""

    lies = 0

    async def append(self, change: Append) -> Appended:
        appended = await super().append(change)
        if self.lies:
            self.lies -= 1
            raise StoreError("store_unavailable", "connection lost")
        return appended


@pytest.mark.requirement("gateway:limits:backpressure")
async def test_an_engine_is_not_far_ahead_of_its_commits() -> None:
    inbox = Inbox(2)
    events = prose("t", "b", "1", "2", "3")
    put: list[int] = []

    async def fill() -> None:
        for number, event in enumerate(events):
            await inbox.put(event)
            put.append(number)
        inbox.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fill)
        await anyio.wait_all_tasks_blocked()
        assert put == [0, 1]
        taken: list[StreamEvent] = []
        while not inbox.is_closed or len(taken) < len(events):
            await inbox.wait()
            taken += inbox.drain()

    assert taken == events


async def test_a_long_answer_is_committed_in_more_than_one_batch() -> None:
    pieces = [f"{n} " for n in range(500)]
    settings = GatewaySettings(batch_events_max=50)
    async with gateway(engines={"s": ScriptEngine(answering(*pieces))}, settings=settings) as world:
        conversation_id = await world.conversation()

        turn = await world.ask(conversation_id)

        assert turn["message"]["content"][0]["markdown"] == "".join(pieces)
        stamps = {event["ts"] for event in await world.events(conversation_id)}
        assert len(stamps) > 5


async def test_an_end_whose_commit_was_not_confirmed_is_found_to_be_the_end() -> None:
    store = Liar()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        yield prose(request.turn_id, "b1", is_open=True)[0]
        await go_on.wait()
        yield TurnEnded(request.turn_id, "completed")

    async with gateway(store=store, engines={"s": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        store.lies = 1
        go_on.set()

        turn = await world.ended(conversation_id, turn_id)

        assert turn["status"] == "completed"
        assert (await world.ask(conversation_id))["status"] == "completed"


async def test_a_turn_that_its_engine_has_just_ended_cannot_be_cancelled() -> None:
    store = HeldStore()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        yield prose(request.turn_id, "b1", is_open=True)[0]
        await go_on.wait()
        yield TurnEnded(request.turn_id, "completed")

    async with gateway(store=store, engines={"s": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        # An import holds the lock while the engine ends; the cancel comes next in line.
        store.shut()
        refused: list[str] = []

        async def cancel() -> None:
            with pytest.raises(RemoteProtocolError) as error:
                await world.service.cancel_turn(conversation_id, turn_id, None)
            refused.append(error.value.code)

        message: Json = {"role": "user", "content": "x"}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.service.append_message, conversation_id, message, None)
            await store.waiting.wait()
            tasks.start_soon(cancel)
            await anyio.wait_all_tasks_blocked()
            go_on.set()
            await anyio.wait_all_tasks_blocked()
            store.gate.set()

        assert refused == ["turn_terminal"]
        assert (await world.turn(conversation_id, turn_id))["status"] == "completed"


@pytest.mark.requirement("gateway:cancel:terminal")
async def test_two_who_cancel_at_once_cancel_once() -> None:
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", is_open=True)))
    async with gateway(engines={"s": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        codes: list[str] = []

        async def cancel() -> None:
            try:
                await world.service.cancel_turn(conversation_id, turn_id, None)
                codes.append("done")
            except RemoteProtocolError as error:
                codes.append(error.code)

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(cancel)

        assert sorted(codes) == ["done", "turn_terminal", "turn_terminal"]
        types = [event["type"] for event in await world.events(conversation_id)]
        assert types.count("turn.cancelled") == 1


@pytest.mark.requirement("gateway:turn:isolation")
async def test_a_bug_while_a_turn_runs_ends_that_turn_and_no_other() -> None:
    class Buggy(MemoryStore):
        async def list_messages(self, *args: Any, **more: Any) -> list[MessageRow]:
            raise ZeroDivisionError(args, more)

    engines = {"s": ScriptEngine(answering("A"))}
    async with gateway(store=Buggy(), engines=engines) as world:
        conversation_id, other = await world.conversation(), await world.conversation()
        running = await world.submit(other, engine="external")

        turn = await world.ask(conversation_id)

        assert (turn["status"], turn["error"]["code"]) == ("failed", "internal_error")
        assert (await world.turn(other, running))["status"] == "running"


async def test_a_store_that_cannot_be_read_fails_the_turn() -> None:
    class Unreadable(MemoryStore):
        is_broken = True

        async def list_messages(self, *args: Any, **more: Any) -> Any:
            if self.is_broken:
                raise StoreError("store_busy", "busy")
            return await super().list_messages(*args, **more)

    async with gateway(store=Unreadable()) as world:
        turn = await world.ask(await world.conversation())

        assert (turn["status"], turn["error"]["code"]) == ("failed", "store_busy")


@pytest.mark.parametrize("is_broken", [False, True])
async def test_a_conversation_is_deleted_while_its_turn_commits(is_broken: bool) -> None:
    store = HeldStore()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        yield prose(request.turn_id, "b1", is_open=True)[0]
        await go_on.wait()
        yield BlockDelta(request.turn_id, "b1", "markdown", "A")
        if is_broken:
            raise ValueError
        await anyio.sleep_forever()

    engine = ScriptEngine(script)
    async with gateway(store=store, engines={"s": engine}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        store.shut()
        go_on.set()
        await store.waiting.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.service.delete_conversation, conversation_id, None)
            await anyio.wait_all_tasks_blocked()
            store.gate.set()

        await engine.closed.wait()
        while world.service.turns_in_flight:
            await anyio.lowlevel.checkpoint()
        assert len(world.service._registry) == 0


async def test_a_store_that_fails_while_a_silent_turn_is_ended_is_asked_again() -> None:
    class Failing(MemoryStore):
        failures = 0

        async def append(self, change: Append) -> Appended:
            if self.failures:
                self.failures -= 1
                raise StoreError("store_full", "no space left")
            return await super().append(change)

    store = Failing()
    clock = FakeClock()
    settings = GatewaySettings(external_idle_s=0.01, store_retry_pause_s_max=0.001)
    async with gateway(store=store, clock=clock, settings=settings) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, engine="external")
        store.failures = 2
        clock.s = 1.0

        turn = await world.ended(conversation_id, turn_id)

        assert turn["error"]["code"] == "producer_silent"


async def test_the_end_of_a_turn_waits_for_a_store_that_fails_again_and_again() -> None:
    class Failing(MemoryStore):
        failures = 0

        async def append(self, change: Append) -> Appended:
            if self.failures:
                self.failures -= 1
                raise StoreError("store_full", "no space left")
            return await super().append(change)

    store = Failing()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        yield prose(request.turn_id, "b1", is_open=True)[0]
        await go_on.wait()
        yield TurnEnded(request.turn_id, "completed")

    settings = GatewaySettings(store_retry_first_s=0.001, store_retry_pause_s_max=0.002)
    engines = {"s": ScriptEngine(script)}
    async with gateway(store=store, engines=engines, settings=settings) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        store.failures = 9
        go_on.set()

        turn = await world.ended(conversation_id, turn_id)

        assert turn["error"]["code"] == "store_full"


@pytest.mark.requirement("gateway:submit:engine")
async def test_an_engine_that_is_no_longer_configured_still_answers_to_its_keys() -> None:
    store = MemoryStore()
    async with gateway(store=store, engines={"old": ScriptEngine(answering("A"))}) as world:
        conversation_id = await world.conversation()
        turn = await world.ask(conversation_id, engine="old", key="m1")
    async with gateway(store=store, engines={"new": ScriptEngine(answering("B"))}) as world:
        assert await world.submit(conversation_id, engine="old", key="m1") == turn["id"]
        with pytest.raises(RemoteProtocolError) as refused:
            await world.submit(conversation_id, engine="old", key="m2")
        assert refused.value.code == "engine_not_found"
        assert world.service.engine_names == ("new", "external")


async def test_without_an_engine_turns_are_for_outside_producers() -> None:
    async with gateway(engines={}) as world:
        conversation_id = await world.conversation()

        turn = await world.turn(conversation_id, await world.submit(conversation_id))

        assert turn["engine"] == "external"
        assert world.service.engine_names == ("external",)


async def test_an_engine_that_does_not_close_holds_nothing_up() -> None:
    class Clinging(ScriptEngine):
        async def aclose(self) -> None:
            raise OSError("no")

    store = MemoryStore()
    engines = {"a": Clinging(answering("A")), "b": ScriptEngine(answering("B"))}
    async with gateway(store=store, engines=engines):
        pass

    assert engines["b"].is_let_go
    with pytest.raises(StoreError):
        await store.ping()


async def test_a_service_that_was_never_started_can_be_stopped() -> None:
    async with gateway() as world:
        pass
    await world.service.stop()
    with pytest.raises(BlockwireError) as refused:
        await world.conversation()
    assert refused.value.code == "gateway_stopping"


@pytest.mark.requirement("gateway:memory:in-use")
async def test_conversations_in_use_stay_in_memory_and_idle_ones_leave() -> None:
    settings = GatewaySettings(conversations_cached_max=2)
    async with gateway(settings=settings) as world:
        registry = world.service._registry
        busy = [await world.conversation() for _ in range(20)]
        for conversation_id in busy:
            await world.submit(conversation_id, engine="external")
        for _ in range(20):
            await world.service.head(await world.conversation(), None)

        assert all(registry.peek(conversation_id) for conversation_id in busy)
        assert len(registry) <= 22
        assert FAST.conversations_cached_max > 22


async def test_a_log_without_the_beginning_of_its_turn_is_damage() -> None:
    store = MemoryStore()
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, engine="external")
        conversation = world.service._registry.find(conversation_id)
        conversation.is_loaded = False
        row = conversation.turns[turn_id].row
        load_turn = store.load_turn

        async def wrong(conversation_id: str, turn_id: str) -> TurnRow | None:
            row = await load_turn(conversation_id, turn_id)
            assert row is not None
            return TurnRow(**{**_members(row), "first_seq": 99})

        store.load_turn = wrong  # type: ignore[method-assign]
        with pytest.raises(StoreError) as damage:
            await world.turn(conversation_id, turn_id)
        assert damage.value.code == "store_corrupt"
        store.load_turn = load_turn  # type: ignore[method-assign]
        assert (await world.turn(conversation_id, turn_id))["status"] == "running"
        state = await fold_turn(store, ConversationState(), row, row.last_seq)
        assert list(state.running) == [turn_id]


def _members(row: TurnRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


def test_a_value_that_cannot_be_written_is_refused_and_changes_nothing() -> None:
    batch = Batch(ConversationState(), 5)
    batch.add(TurnStarted("t", "assistant", 1))
    for event in prose("t", "b", "A", is_open=True):
        batch.add(event)
    count = len(batch.drafts)

    for bad in (
        BlockDelta("t", "b", "markdown", "\ud800"),
        BlockDelta("t", "b", "markdown", "B", extra={"x": float("nan")}),
    ):
        with pytest.raises(RemoteProtocolError) as refused:
            batch.add(bad)
        assert refused.value.code == "invalid_json_value"

    batch.add(BlockDelta("t", "b", "markdown", "C"))
    turn = batch.turn("t")
    assert turn is not None
    assert len(batch.drafts) == count + 1
    assert turn.message["content"] == [{"id": "b", "type": "prose", "markdown": "AC"}]
