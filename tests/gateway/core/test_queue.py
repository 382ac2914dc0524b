"""Turns that wait for their conversation: in line, told, handed back, forgotten by a restart."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio
import pytest

from blockwire.content import StreamEvent, TurnEnded
from blockwire.errors import BlockwireError, StoreError
from blockwire.gateway.settings import GatewaySettings
from blockwire.jsontext import Json, decode_json
from blockwire.ports import Append, Appended, BusNotice, ControlNotice, EngineRequest
from blockwire.stores import MemoryStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import FAST, ScriptEngine, World, gateway, prose

pytestmark = pytest.mark.anyio


class Doors:
    """An engine whose turns go on one by one, when a test opens their door."""

    def __init__(self) -> None:
        self.engine = ScriptEngine(self._run)
        self._doors: list[anyio.Event] = []
        self._arrived = anyio.Event()

    async def _run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        door = anyio.Event()
        self._doors.append(door)
        self._arrived.set()
        await door.wait()
        for event in prose(request.turn_id, "b1", "A"):
            yield event
        yield TurnEnded(request.turn_id, "completed")

    async def open(self, number: int) -> None:
        """Let the turn that started as the ``number``-th end."""
        await self.begun(number)
        self._doors[number].set()

    async def begun(self, number: int) -> None:
        """Return when so many turns have started before."""
        while len(self._doors) <= number:
            self._arrived = anyio.Event()
            await self._arrived.wait()


def listen(world: World) -> list[dict[str, Any]]:
    """Return what live readers are told of the line, as it goes on."""
    told: list[dict[str, Any]] = []

    def deliver(notice: BusNotice) -> None:
        if isinstance(notice, ControlNotice) and notice.kind in {"queued", "dequeued"}:
            event = decode_json(notice.payload)
            assert isinstance(event, dict)
            told.append({k: v for k, v in event.items() if k != "conversation_id"})

    world.service.bus.subscribe(deliver)
    return told


def queued(turn_id: str, position: int) -> dict[str, Any]:
    return {"type": "turn.queued", "turn_id": turn_id, "position": position}


def dequeued(turn_id: str, reason: str) -> dict[str, Any]:
    return {"type": "turn.dequeued", "turn_id": turn_id, "reason": reason}


async def refusal_of(work: Callable[[], Any]) -> str:
    with pytest.raises(BlockwireError) as refused:
        await work()
    return refused.value.code


@pytest.mark.requirement("gateway:queue:fifo", "gateway:queue:told", "gateway:queue:shape")
async def test_a_busy_conversation_answers_its_questions_in_order(open_store: OpenStore) -> None:
    doors = Doors()
    async with gateway(store=open_store(), engines={"s": doors.engine}) as world:
        told = listen(world)
        conversation_id = await world.conversation()
        first = await world.submit(conversation_id, "1")

        result = await world.service.submit_turn(
            conversation_id, {"content": "2", "model": "big"}, idempotency_key=None, tenant=None
        )
        second, third = str(result.turn["id"]), await world.submit(conversation_id, "3")

        assert result.is_new
        assert {k: v for k, v in result.turn.items() if k not in {"content", "created_at"}} == {
            "id": second,
            "conversation_id": conversation_id,
            "status": "queued",
            "engine": "s",
            "model": "big",
            "request_message_id": result.turn["request_message_id"],
            "message_id": second,
            "seq": 0,
            "durable": False,
            "position": 1,
        }
        read = await world.turn(conversation_id, third)
        assert (read["status"], read["position"], read["message"]) == ("queued", 2, None)
        shape = await world.service.read_conversation(conversation_id, None)
        assert (shape["running_turn_id"], shape["queued_turn_ids"]) == (first, [second, third])
        assert world.service.turns_queued == 2

        for number, turn_id in enumerate((first, second, third)):
            await doors.open(number)
            assert (await world.ended(conversation_id, turn_id))["status"] == "completed"
        assert told == [queued(second, 1), queued(third, 2), queued(third, 1)]
        asked = [r.messages[-1]["content"][0]["markdown"] for r in doors.engine.requests]  # type: ignore[index, call-overload]
        assert asked == ["1", "2", "3"]
        assert len(doors.engine.requests[2].messages) == 5
        assert "queued_turn_ids" not in await world.service.read_conversation(conversation_id, None)
        assert world.service.turns_queued == 0


@pytest.mark.requirement("gateway:queue:not-stored")
async def test_nothing_of_a_queued_turn_is_stored_before_it_starts(open_store: OpenStore) -> None:
    doors = Doors()
    async with gateway(store=open_store(), engines={"s": doors.engine}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id, "1")
        turn_id = await world.submit(conversation_id, "the waiting text", key="k")

        store = world.service.store
        assert await store.load_turn(conversation_id, turn_id) is None
        assert await store.find_turn_by_key(conversation_id, "k") is None
        page = await world.service.list_turns(conversation_id, cursor=None, limit=9, tenant=None)
        assert len(page["items"]) == 1  # type: ignore[arg-type]
        assert "the waiting text" not in str(await world.events(conversation_id))


@pytest.mark.requirement("gateway:queue:key")
async def test_a_queued_key_names_its_turn_before_and_after_the_start() -> None:
    doors = Doors()
    async with gateway(engines={"s": doors.engine}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id, "1")
        body: Json = {"content": "2"}

        async def submit(content: Json = body) -> Any:
            return await world.service.submit_turn(
                conversation_id, content, idempotency_key="k", tenant=None
            )

        first, again = await submit(), await submit()
        assert (first.is_new, again.is_new) == (True, False)
        assert first.turn == again.turn
        assert await refusal_of(lambda: submit({"content": "3"})) == "idempotency_key_reused"
        await doors.open(0)
        await doors.begun(1)
        started = await submit()
        assert (started.turn["id"], started.turn["status"]) == (first.turn["id"], "running")
        assert (started.is_new, started.turn["durable"]) == (False, True)
        assert len(doors.engine.requests) == 2


@pytest.mark.requirement("gateway:queue:bound")
async def test_a_line_has_a_bound_for_each_conversation_and_one_for_all() -> None:
    doors = Doors()
    settings = GatewaySettings(queue_max=2, queue_bytes_max=200)
    async with gateway(engines={"s": doors.engine}, settings=settings) as world:
        one, other = await world.conversation(), await world.conversation()
        for conversation_id in (one, other):
            await world.submit(conversation_id, "1")
        for _ in range(2):
            await world.submit(one, "2")

        assert await refusal_of(lambda: world.submit(one, "3")) == "queue_full"
        assert await refusal_of(lambda: world.submit(other, "x" * 190)) == "queue_full"
        await world.submit(other, "2")


@pytest.mark.requirement("gateway:queue:cancel")
async def test_a_cancelled_one_is_handed_back_and_leaves_nothing() -> None:
    doors = Doors()
    async with gateway(engines={"s": doors.engine}) as world:
        told = listen(world)
        conversation_id = await world.conversation()
        first = await world.submit(conversation_id, "1")
        second = await world.submit(conversation_id, "2", key="k")
        third = await world.submit(conversation_id, "3")
        waited: list[dict[str, Any]] = []

        async def wait() -> None:
            waited.append(await world.ended(conversation_id, second))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            back = await world.service.cancel_turn(conversation_id, second, None)

        assert (back["status"], back["durable"]) == ("cancelled", False)
        assert [block["markdown"] for block in back["content"]] == ["2"]  # type: ignore[union-attr, index, call-overload]
        assert waited[0]["status"] == "cancelled"
        assert told[2:] == [dequeued(second, "cancelled"), queued(third, 1)]
        for work in (world.turn, lambda c, t: world.service.cancel_turn(c, t, None)):
            assert await refusal_of(lambda w=work: w(conversation_id, second)) == "turn_handed_back"  # type: ignore[misc]
        # Its key is free.
        again = await world.submit(conversation_id, "other", key="k")
        for number, turn_id in enumerate((first, third, again)):
            await doors.open(number)
            assert (await world.ended(conversation_id, turn_id))["status"] == "completed"


@pytest.mark.requirement("gateway:queue:restart")
async def test_after_a_restart_a_queued_turn_is_unknown_and_its_submit_starts_it_once(
    open_store: OpenStore,
) -> None:
    doors = Doors()
    async with gateway(store=open_store(), engines={"s": doors.engine}) as world:
        told = listen(world)
        conversation_id = await world.conversation()
        await world.submit(conversation_id, "1")
        turn_id = await world.submit(conversation_id, "2", key="k")
        codes: list[str] = []

        async def wait() -> None:
            codes.append(await refusal_of(lambda: world.ended(conversation_id, turn_id)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await world.service.stop()

        assert codes == ["gateway_stopping"]
        assert told[-1] == dequeued(turn_id, "stopping")
    async with gateway(store=open_store()) as world:
        assert await refusal_of(lambda: world.turn(conversation_id, turn_id)) == "turn_not_found"
        again = await world.submit(conversation_id, "2", key="k")
        assert again == await world.submit(conversation_id, "2", key="k")
        assert (await world.ended(conversation_id, again))["status"] == "completed"
        page = await world.service.list_turns(conversation_id, cursor=None, limit=9, tenant=None)
        assert [turn["status"] for turn in page["items"]] == ["completed", "interrupted"]  # type: ignore[union-attr, index, call-overload]


@pytest.mark.requirement("gateway:queue:deleted")
async def test_a_deleted_conversation_takes_its_line_along() -> None:
    doors = Doors()
    async with gateway(engines={"s": doors.engine}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id, "1")
        turn_id = await world.submit(conversation_id, "2")
        codes: list[str] = []

        async def wait() -> None:
            codes.append(await refusal_of(lambda: world.ended(conversation_id, turn_id)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await world.service.delete_conversation(conversation_id, None)

        assert codes == ["conversation_not_found"]
        assert world.service.turns_queued == 0
        await anyio.wait_all_tasks_blocked()
        assert len(doors.engine.requests) == 1
        assert len(world.service._registry) == 0


@pytest.mark.requirement("gateway:queue:condition")
async def test_the_last_turn_of_a_condition_may_be_one_that_waits() -> None:
    doors = Doors()
    async with gateway(engines={"s": doors.engine}) as world:
        told = listen(world)
        conversation_id = await world.conversation()
        first = await world.submit(conversation_id, "1")
        second = await world.submit(conversation_id, "2", if_last_turn=first)

        stale = await refusal_of(lambda: world.submit(conversation_id, "3", if_last_turn=first))
        third = await world.submit(conversation_id, "3", if_last_turn=second)
        # What it was written in view of is gone now.
        await world.service.cancel_turn(conversation_id, second, None)
        codes: list[str] = []

        async def wait() -> None:
            codes.append(await refusal_of(lambda: world.ended(conversation_id, third)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await doors.open(0)

        assert (stale, codes) == ("last_turn_mismatch", ["last_turn_mismatch"])
        assert told[-1] == dequeued(third, "last_turn_mismatch")
        assert await refusal_of(lambda: world.turn(conversation_id, third)) == "turn_handed_back"
        assert len(doors.engine.requests) == 1
        # The way is free.
        fourth = await world.submit(conversation_id, "4", if_last_turn=first)
        await doors.open(1)
        assert (await world.ended(conversation_id, fourth))["status"] == "completed"


@pytest.mark.requirement("gateway:queue:flight")
async def test_turns_in_flight_are_counted_when_a_queued_turn_starts() -> None:
    doors = Doors()
    settings = GatewaySettings(turns_in_flight_max=2)
    async with gateway(engines={"s": doors.engine}, settings=settings) as world:
        one, two = await world.conversation(), await world.conversation()
        await world.submit(one, "1")
        waiting = await world.submit(one, "2")
        await world.submit(two, "1")
        third = await world.conversation()

        assert await refusal_of(lambda: world.submit(third)) == "turns_in_flight_exceeded"
        await doors.open(0)
        await doors.begun(2)
        assert await refusal_of(lambda: world.submit(third)) == "turns_in_flight_exceeded"
        await doors.open(2)
        await world.ended(one, waiting)
        await doors.open(1)


class FailingStarts(MemoryStore):
    """A store that fails to take new turns for a while, before or after it has stored them."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 0
        self.after = False

    async def append(self, change: Append) -> Appended:
        fails = change.new_turn and self.left > 0
        if fails:
            self.left -= 1
        if fails and not self.after:
            raise StoreError("store_full", "full")
        appended = await super().append(change)
        if fails:
            raise StoreError("store_unavailable", "who knows")
        return appended


@pytest.mark.requirement("gateway:queue:store")
@pytest.mark.parametrize(("is_stored", "status"), [(False, "completed"), (True, "interrupted")])
async def test_a_start_that_the_store_does_not_take_is_tried_until_it_does(
    is_stored: bool,
    status: str,
) -> None:
    doors, store = Doors(), FailingStarts()
    async with gateway(store=store, engines={"s": doors.engine}, settings=FAST) as world:
        conversation_id = await world.conversation()
        first = await world.submit(conversation_id, "1")
        second = await world.submit(conversation_id, "2")
        store.left, store.after = (1 if is_stored else 3), is_stored

        await doors.open(0)
        await world.ended(conversation_id, first)
        if not is_stored:
            await doors.open(1)
        ended = await world.ended(conversation_id, second)

        assert ended["status"] == status
        page = await world.service.list_turns(conversation_id, cursor=None, limit=9, tenant=None)
        assert len(page["items"]) == 2  # type: ignore[arg-type]
        assert world.service.turns_queued == 0


async def test_a_queued_turn_of_an_outside_producer_takes_no_events_yet() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        first = await world.submit(conversation_id, engine="external")
        second = await world.submit(conversation_id, engine="external")

        async def post() -> Any:
            return await world.post(conversation_id, second, b'{"type":"turn.completed"}\n')

        async def resume() -> Any:
            body: Json = {"request_id": "r", "answer": 1}
            return await world.service.resume_turn(conversation_id, second, body, None)

        assert await refusal_of(post) == "turn_queued"
        assert await refusal_of(resume) == "turn_not_suspended"
        await world.service.cancel_turn(conversation_id, first, None)
        while (await world.turn(conversation_id, second))["status"] == "queued":
            await anyio.lowlevel.checkpoint()
        await world.service.cancel_turn(conversation_id, second, None)


async def test_a_suspended_turn_holds_the_line_up() -> None:
    async with gateway() as world:
        conversation_id = await world.conversation()
        first = await world.submit(conversation_id, engine="external")
        request = b'{"id":"r","kind":"question","prompt":"Which?"}'
        await world.post(
            conversation_id,
            first,
            b'{"type":"turn.suspended","turn_id":"%s","request":%s}\n' % (first.encode(), request),
        )
        second = await world.submit(conversation_id, engine="script")
        await anyio.wait_all_tasks_blocked()

        assert (await world.turn(conversation_id, second))["status"] == "queued"
        await world.service.cancel_turn(conversation_id, first, None)
        assert (await world.ended(conversation_id, second))["status"] == "completed"


async def test_a_bug_at_the_start_of_a_queued_turn_ends_that_turn_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    doors = Doors()
    async with gateway(engines={"s": doors.engine}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id, "1")
        second = await world.submit(conversation_id, "2")

        async def fail(*_arguments: object, **_options: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr("blockwire.gateway.turns.queueing.check_condition", fail)
        codes: list[str] = []

        async def wait() -> None:
            codes.append(await refusal_of(lambda: world.ended(conversation_id, second)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await doors.open(0)
        monkeypatch.undo()

        assert codes == ["internal_error"]
        third = await world.submit(conversation_id, "3")
        await doors.open(1)
        assert (await world.ended(conversation_id, third))["status"] == "completed"


async def test_nothing_starts_once_a_stop_has_begun() -> None:
    doors = Doors()
    async with gateway(engines={"s": doors.engine}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id, "1")
        await world.submit(conversation_id, "2")

        await world.service.end_turns()

        assert world.service.turns_queued == 0
        with pytest.raises(StoreError) as refused:
            await world.submit(conversation_id, "3")
        assert refused.value.code == "gateway_stopping"
        assert len(doors.engine.requests) <= 1
