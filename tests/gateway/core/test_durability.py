"""Durable before visible, and what happens when the store does not work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from blockwire.content import StreamEvent, TurnEnded
from blockwire.errors import BlockwireError, BusError, StoreError
from blockwire.gateway.settings import GatewaySettings
from blockwire.jsontext import Json
from blockwire.ports import (
    Append,
    Appended,
    BusNotice,
    Committed,
    ConversationRow,
    EngineRequest,
    FaultPoint,
    TurnRow,
)
from blockwire.stores import MemoryStore
from tests.gateway.core.world import (
    FAST,
    HeldStore,
    ScriptEngine,
    World,
    answering,
    gateway,
    line,
    prose,
    stuck_after,
)

pytestmark = pytest.mark.anyio


async def everything(world: World, conversation_id: str) -> dict[str, Any]:
    """Return what every way of reading shows of a conversation."""
    service = world.service
    paged = {"limit": 50, "tenant": None}
    seen: dict[str, Any] = {
        "head": await service.head(conversation_id, None),
        "conversation": await service.read_conversation(conversation_id, None),
        "list": await service.list_conversations(cursor=None, **paged),  # type: ignore[arg-type]
        "turns": await service.list_turns(conversation_id, cursor=None, **paged),  # type: ignore[arg-type]
        "events": await service.read_events(
            conversation_id, after=0, view="owner", limit_bytes=99_999, wait_s=None, tenant=None
        ),
        "messages": await service.list_messages(
            conversation_id,
            before=None,
            after=None,
            bytes_max=99_999,
            view="owner",
            **paged,  # type: ignore[arg-type]
        ),
    }
    frame, seq = await service.snapshot_frame(conversation_id, "owner", reset=False)
    # The stamp of a snapshot is the time at which it was asked for.
    seen["snapshot"] = (frame.split(b'"ts":')[0], seq)
    for turn in seen["turns"]["items"]:
        seen[turn["id"]] = await world.turn(conversation_id, turn["id"])
    return seen


@pytest.mark.requirement("gateway:durable:before-visible")
async def test_nothing_is_visible_before_it_is_committed() -> None:
    store = HeldStore()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        for event in prose(request.turn_id, "b1", "A", is_open=True):
            yield event
        await go_on.wait()
        for event in prose(request.turn_id, "b2", "B"):
            yield event
        yield TurnEnded(request.turn_id, "completed")

    async with gateway(store=store, engines={"s": ScriptEngine(script)}) as world:
        notices: list[BusNotice] = []
        world.service.bus.subscribe(notices.append)
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)
        before, heard = await everything(world, conversation_id), len(notices)

        store.shut()
        go_on.set()
        await store.waiting.wait()

        assert await everything(world, conversation_id) == before
        assert len(notices) == heard
        store.gate.set()
        turn = await world.ended(conversation_id, turn_id)
        assert turn["status"] == "completed"
        assert await everything(world, conversation_id) != before


async def test_a_question_is_not_there_before_it_is_committed() -> None:
    store = HeldStore()
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()
        before = await everything(world, conversation_id)
        store.shut()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.submit, conversation_id)
            await store.waiting.wait()

            assert await everything(world, conversation_id) == before
            store.gate.set()


@pytest.mark.requirement("gateway:producer:acknowledged")
async def test_an_upload_is_acknowledged_after_its_commit() -> None:
    store = HeldStore()
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, engine="external")
        acks: list[dict[str, Json]] = []
        store.shut()

        async def upload() -> None:
            acks.extend(await world.post(conversation_id, turn_id, line(type="agent.mood")))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(upload)
            await store.waiting.wait()
            assert acks == []
            store.gate.set()

        assert acks == [{"producer_seq": 0, "seq": 3}]


async def test_a_reader_that_waits_hears_of_a_commit_and_not_of_an_attempt() -> None:
    store = HeldStore()
    async with gateway(store=store, engines={"s": ScriptEngine(answering("A"))}) as world:
        conversation_id = await world.conversation()
        pages: list[dict[str, Any]] = []

        async def wait() -> None:
            page = await world.service.read_events(
                conversation_id, after=0, view="owner", limit_bytes=9_999, wait_s=5, tenant=None
            )
            pages.append(page)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            store.shut()
            tasks.start_soon(world.submit, conversation_id)
            await store.waiting.wait()
            assert pages == []
            store.gate.set()

        assert pages[0]["items"][0]["type"] == "message.created"


@pytest.mark.requirement("gateway:durable:order")
async def test_commit_publish_and_acknowledgement_come_in_this_order() -> None:
    passed: list[str] = []

    class Recorder:
        def reach(self, point: FaultPoint) -> None:
            passed.append(point)

    recorder = Recorder()
    async with gateway(store=MemoryStore(faults=recorder), faults=recorder) as world:
        conversation_id = await world.conversation()
        world.service.bus.subscribe(lambda _notice: passed.append("heard"))
        passed.clear()

        await world.submit(conversation_id, engine="external")

        assert passed == [
            "encode.before",
            "encode.after",
            "commit.before",
            "commit.after",
            "publish.before",
            "heard",
            "publish.after",
            "acknowledge.before",
        ]


@pytest.mark.requirement("gateway:durable:bus")
async def test_a_bus_that_fails_loses_nothing() -> None:
    async with gateway() as world:

        def publish(notice: BusNotice) -> None:
            raise BusError("bus_unavailable", f"no bus for {notice.conversation_id}")

        world.service.bus.publish = publish  # type: ignore[method-assign]
        conversation_id = await world.conversation()

        turn = await world.ask(conversation_id)

        assert turn["status"] == "completed"


# when the store fails ---------------------------------------------------------------------
class BrokenStore(MemoryStore):
    """A store that fails as told: ``fails`` gets each change first and may raise."""

    fails: Callable[[Append], Awaitable[None]] | None = None

    async def append(self, change: Append) -> Appended:
        if self.fails is not None:
            await self.fails(change)
        return await super().append(change)


def full(_change: Append) -> StoreError:
    return StoreError("store_full", "no space left")


@pytest.mark.requirement("gateway:turn:store-failure")
async def test_a_turn_whose_answer_cannot_be_stored_fails_as_soon_as_the_store_works() -> None:
    store = BrokenStore()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        for event in prose(request.turn_id, "b1", "kept", is_open=True):
            yield event
        await go_on.wait()
        for event in prose(request.turn_id, "b2", "lost"):
            yield event
        await anyio.sleep_forever()

    broken = ScriptEngine(script)
    engines = {"broken": broken, "good": ScriptEngine(answering("fine"))}
    async with gateway(store=store, engines=engines) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)
        failures = 0

        async def fail_twice(change: Append) -> None:
            nonlocal failures
            failures += 1
            if failures <= 2:
                raise full(change)

        store.fails = fail_twice
        go_on.set()
        turn = await world.ended(conversation_id, turn_id)

        assert turn["status"] == "failed"
        assert turn["error"]["code"] == "store_full"
        assert [b["type"] for b in turn["message"]["content"]] == ["prose", "error"]
        assert turn["message"]["content"][0]["markdown"] == "kept"
        await broken.closed.wait()
        assert (await world.ask(conversation_id, engine="good"))["status"] == "completed"
        assert await store.check() == []
        assert (await world.folded(conversation_id)).find_message(turn_id) == turn["message"]


async def test_a_store_that_fails_for_long_is_asked_again_by_the_next_request() -> None:
    store = BrokenStore()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        for event in prose(request.turn_id, "b1", "kept", is_open=True):
            yield event
        await go_on.wait()
        yield TurnEnded(request.turn_id, "completed")

    engines = {"broken": ScriptEngine(script), "good": ScriptEngine(answering("fine"))}
    async with gateway(store=store, engines=engines) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)
        failures = 0
        given_up = anyio.Event()

        async def fail(change: Append) -> None:
            nonlocal failures
            failures += 1
            if failures == FAST.store_retries_max + 1:
                given_up.set()
            raise full(change)

        store.fails = fail
        go_on.set()
        await given_up.wait()
        while world.service.turns_in_flight:
            await anyio.lowlevel.checkpoint()
        assert (await world.turn(conversation_id, turn_id))["status"] == "running"
        store.fails = None

        turn = await world.turn(conversation_id, turn_id)

        assert (turn["status"], turn["error"]["code"]) == ("interrupted", "turn_interrupted")
        assert (await world.ask(conversation_id, engine="good"))["status"] == "completed"


@pytest.mark.requirement("gateway:durable:unknown-outcome")
async def test_a_commit_of_unknown_outcome_is_looked_up_before_the_next_change() -> None:
    """The store committed, and then failed to say so."""

    class Liar(MemoryStore):
        lies = 0

        async def append(self, change: Append) -> Appended:
            appended = await super().append(change)
            if self.lies:
                self.lies -= 1
                raise StoreError("store_unavailable", "connection lost")
            return appended

    store = Liar()
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, engine="external")
        block = {"id": "b1", "type": "prose", "markdown": ""}
        lines = [
            line(producer_seq=1, type="content.block.started", turn_id=turn_id, block=block),
            line(
                producer_seq=2,
                type="content.block.delta",
                turn_id=turn_id,
                block_id="b1",
                field="markdown",
                text="once",
            ),
        ]
        store.lies = 1
        with pytest.raises(StoreError):
            await world.post(conversation_id, turn_id, *lines)

        acks = await world.post(conversation_id, turn_id, *lines)

        assert acks[-1] == {"producer_seq": 2, "seq": 4}
        turn = await world.turn(conversation_id, turn_id)
        assert turn["message"]["content"] == [{**block, "markdown": "once"}]


async def test_a_submit_of_unknown_outcome_is_found_again_by_its_key_and_ended() -> None:
    class Liar(MemoryStore):
        lies = False

        async def append(self, change: Append) -> Appended:
            appended = await super().append(change)
            if self.lies:
                self.lies = False
                raise StoreError("store_unavailable", "connection lost")
            return appended

    store = Liar()
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()
        store.lies = True
        with pytest.raises(StoreError):
            await world.submit(conversation_id, key="m1")

        again = await world.service.submit_turn(
            conversation_id, {"content": "Hi"}, idempotency_key="m1", tenant=None
        )

        assert not again.is_new
        assert again.turn["status"] == "interrupted"
        assert (await world.ask(conversation_id, key="m2"))["status"] == "completed"


@pytest.mark.requirement("gateway:durable:torn-caller")
async def test_a_caller_that_is_torn_away_in_the_middle_of_a_commit_leaves_the_truth_behind() -> (
    None
):
    store = HeldStore()
    async with gateway(store=store) as world:
        conversation_id = await world.conversation()
        store.shut()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.submit, conversation_id, "Hi")
            await store.waiting.wait()
            tasks.cancel_scope.cancel()
            store.gate.set()

        turns = await world.service.list_turns(conversation_id, cursor=None, limit=5, tenant=None)
        turn_id = str(turns["items"][0]["id"])  # type: ignore[index, call-overload]
        assert (await world.ended(conversation_id, turn_id))["status"] == "completed"


@pytest.mark.requirement("gateway:cancel:kept")
async def test_cancelling_while_a_commit_is_under_way_keeps_what_it_held() -> None:
    store = HeldStore()
    go_on = anyio.Event()

    async def script(request: EngineRequest) -> Any:
        events: list[StreamEvent] = prose(request.turn_id, "b1", "A", "B", is_open=True)
        yield events[0]
        await go_on.wait()
        for event in events[1:]:
            yield event
        await anyio.sleep_forever()

    async with gateway(store=store, engines={"s": ScriptEngine(script)}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 3)
        store.shut()
        go_on.set()
        await store.waiting.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.service.cancel_turn, conversation_id, turn_id, None)
            await anyio.lowlevel.checkpoint()
            store.gate.set()

        turn = await world.turn(conversation_id, turn_id)
        assert turn["status"] == "cancelled"
        assert turn["message"]["content"][0]["markdown"] == "AB"


async def test_a_store_that_does_not_open_leaves_nothing_behind() -> None:
    class Locked(MemoryStore):
        async def open(self) -> None:
            raise StoreError("store_locked", "another gateway owns it")

    with pytest.raises(StoreError) as refused:
        async with gateway(store=Locked()):
            pass

    assert refused.value.code == "store_locked"


async def test_a_store_that_fails_while_turns_are_reconciled_is_closed_again() -> None:
    class Unreadable(MemoryStore):
        async def list_unfinished_turns(self) -> list[TurnRow]:
            raise StoreError("store_unavailable", "no")

    store = Unreadable()
    with pytest.raises(StoreError):
        async with gateway(store=store):
            pass

    with pytest.raises(StoreError) as closed:
        await store.ping()
    assert closed.value.code == "store_closed"


async def test_the_gateway_is_ready_while_store_and_bus_are() -> None:
    async with gateway() as world:
        await world.service.ping()
        await world.service.store.aclose()
        with pytest.raises(StoreError):
            await world.service.ping()
    with pytest.raises(BlockwireError) as stopped:
        await world.service.ping()
    assert stopped.value.code == "gateway_stopping"


async def test_an_update_that_the_store_lost_is_a_conversation_that_is_not_there() -> None:
    class Forgetful(MemoryStore):
        async def update_conversation(self, row: ConversationRow) -> None:
            del row

    async with gateway(store=Forgetful()) as world:
        conversation_id = await world.conversation()

        with pytest.raises(BlockwireError) as refused:
            await world.service.update_conversation(conversation_id, {"title": "x"}, None)

        assert refused.value.code == "conversation_not_found"


@pytest.mark.requirement("gateway:stop:interrupts")
async def test_stopping_ends_running_turns_as_interrupted_and_closes_everything() -> None:
    store = MemoryStore()
    request: dict[str, Json] = {"id": "req_1", "kind": "question", "prompt": "?"}
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "A", is_open=True)))
    async with gateway(store=store, engines={"s": engine}) as world:
        heard: list[str] = []
        world.service.bus.subscribe(
            lambda notice: (
                heard.append(notice.entries[-1].type) if isinstance(notice, Committed) else None
            )
        )
        running, waiting = await world.conversation(), await world.conversation()
        turn_id = await world.submit(running)
        await world.wait_for_seq(running, 4)
        asked = await world.submit(waiting, engine="external")
        await world.post(
            waiting, asked, line(type="turn.suspended", turn_id=asked, request=request)
        )

        await world.service.stop()

        assert heard[-1] == "turn.failed"
        assert engine.closed.is_set()
        assert engine.is_let_go
    await store.open()
    ended = await store.load_turn(running, turn_id)
    kept = await store.load_turn(waiting, asked)
    assert ended is not None
    assert kept is not None
    assert (ended.status, kept.status) == ("interrupted", "suspended")
    assert await store.check() == []


@pytest.mark.requirement("gateway:limits:stop")
async def test_stopping_does_not_wait_for_a_store_that_hangs() -> None:
    store = HeldStore()
    engine = ScriptEngine(stuck_after(lambda turn_id: prose(turn_id, "b1", "A", is_open=True)))
    settings = GatewaySettings(stop_s_max=0.01)
    async with gateway(store=store, engines={"s": engine}, settings=settings) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)
        store.shut()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.service.stop)
            await store.waiting.wait()
            store.gate.set()
