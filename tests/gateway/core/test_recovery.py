"""After a crash: what was kept is kept, what ran is ended once, nothing runs again."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from blockwire.content import BlockStarted, StreamEvent, TurnSuspended
from blockwire.errors import StoreError
from blockwire.jsontext import Json
from blockwire.ports import Append, Appended, FramePage
from blockwire.stores import MemoryStore
from tests.gateway.core.conftest import OpenStore
from tests.gateway.core.world import (
    CountingIds,
    ScriptEngine,
    World,
    answering,
    gateway,
    line,
    prose,
    stuck_after,
)

pytestmark = pytest.mark.anyio


def three_tools(turn_id: str) -> list[StreamEvent]:
    tools: list[StreamEvent] = [
        BlockStarted(turn_id, {"id": name, "type": "tool", "tool": "ls", "status": status})
        for name, status in (("t1", "running"), ("t2", "running"), ("t3", "pending"))
    ]
    return [*prose(turn_id, "b1", "kept ", "text"), *tools, *prose(turn_id, "b2", is_open=True)]


async def crash(world: World) -> None:
    """Take the store away as the end of the process does: nothing is ended, nothing committed."""
    service = world.service
    service._stop.set()
    assert service._supervisor is not None
    await anyio.wait_all_tasks_blocked()
    await service.store.aclose()


async def leave_running(store: Any) -> tuple[str, str]:
    """Leave a turn running in a store whose process has died."""
    async with gateway(store=store, engines={"s": ScriptEngine(stuck_after(three_tools))}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, key="m1")
        await world.wait_for_seq(conversation_id, 2 + len(three_tools(turn_id)))
        await crash(world)
    return conversation_id, turn_id


@pytest.mark.requirement("gateway:recovery:interrupted")
@pytest.mark.requirement("gateway:recovery:not-again")
async def test_a_running_turn_is_ended_once_with_what_was_kept(open_store: OpenStore) -> None:
    conversation_id, turn_id = await leave_running(open_store())
    engine = ScriptEngine(answering("B"))

    async with gateway(store=open_store(), engines={"s": engine}, ids=CountingIds(100)) as world:
        turn = await world.turn(conversation_id, turn_id)
        events = await world.events(conversation_id)

        assert (turn["status"], turn["message"]["status"]) == ("interrupted", "failed")
        assert turn["error"]["code"] == "turn_interrupted"
        assert turn["error"]["retryable"] is True
        content = turn["message"]["content"]
        assert content[0]["markdown"] == "kept text"
        assert [b["status"] for b in content if b["type"] == "tool"] == ["failed"] * 3
        assert [b["type"] for b in content].count("error") == 1
        assert events[-1]["reason"] == "interrupted"
        assert turn["open_block_ids"] == []
        # The key still names the turn, which is never run again.
        again = await world.service.submit_turn(
            conversation_id, {"content": "Hi"}, idempotency_key="m1", tenant=None
        )
        assert (again.is_new, again.turn["id"]) == (False, turn_id)
        assert engine.requests == []
        assert (await world.ask(conversation_id, key="m2"))["status"] == "completed"
        # The question and its answer so far are part of what the next turn is told.
        assert [m["role"] for m in engine.requests[0].messages] == ["user", "assistant", "user"]
    async with gateway(store=open_store(), engines={"s": engine}, ids=CountingIds(200)) as world:
        assert (await world.events(conversation_id))[: len(events)] == events
        assert await world.service.store.check() == []


@pytest.mark.requirement("gateway:recovery:repeat")
@pytest.mark.case("P04")
async def test_a_recovery_that_is_killed_is_finished_by_the_next(open_store: OpenStore) -> None:
    """Two turns are left; the store dies between their ends."""
    first = await leave_running(open_store())
    store = open_store()
    async with gateway(store=store, ids=CountingIds(100)) as world:
        second_conversation = await world.conversation()
        second_turn = await world.submit(second_conversation, engine="external")
        await crash(world)
    # The first start above has ended the first turn; leave a third one to have two again.
    del first
    async with gateway(
        store=open_store(),
        engines={"s": ScriptEngine(stuck_after(three_tools))},
        ids=CountingIds(200),
    ) as world:
        pairs = [(second_conversation, second_turn)]
        for _ in range(2):
            conversation_id = await world.conversation()
            pairs.append((conversation_id, await world.submit(conversation_id)))
            await world.wait_for_seq(conversation_id, 10)
        await crash(world)

    dying = open_store()
    append = dying.append
    ended = 0

    async def die_after_one(change: Append) -> Appended:
        nonlocal ended
        if ended:
            raise StoreError("store_closed", "killed")
        ended += 1
        return await append(change)

    dying.append = die_after_one  # type: ignore[method-assign]
    with pytest.raises(StoreError):
        async with gateway(store=dying, ids=CountingIds(300)):
            pass
    dying.append = append  # type: ignore[method-assign]

    async with gateway(store=open_store(), ids=CountingIds(400)) as world:
        for conversation_id, turn_id in pairs:
            turn = await world.turn(conversation_id, turn_id)
            kinds = [b["type"] for b in turn["message"]["content"]]
            assert (turn["status"], kinds.count("error")) == ("interrupted", 1)
        before = [await world.events(pair[0]) for pair in pairs]
    async with gateway(store=open_store(), ids=CountingIds(500)) as world:
        assert [await world.events(pair[0]) for pair in pairs] == before
        assert await world.service.store.check() == []


@pytest.mark.requirement("gateway:recovery:numbers")
@pytest.mark.requirement("content:stamp:never-reused")
async def test_numbers_go_on_after_a_restart(open_store: OpenStore) -> None:
    conversation_id, _turn_id = await leave_running(open_store())

    async with gateway(store=open_store(), ids=CountingIds(100)) as world:
        await world.ask(conversation_id)
        seqs = [event["seq"] for event in await world.events(conversation_id)]

    assert seqs == list(range(1, len(seqs) + 1))


@pytest.mark.requirement("gateway:recovery:suspended")
async def test_a_suspended_turn_of_an_engine_stays_suspended_and_its_answer_ends_it(
    open_store: OpenStore,
) -> None:
    request: dict[str, Json] = {"id": "req_1", "kind": "question", "prompt": "Which?"}
    engine = ScriptEngine(
        stuck_after(lambda turn_id: [*prose(turn_id, "b1", "A"), TurnSuspended(turn_id, request)])
    )
    async with gateway(store=open_store(), engines={"s": engine}) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 6)
        before = await world.turn(conversation_id, turn_id)
        await crash(world)

    async with gateway(store=open_store(), engines={"s": engine}, ids=CountingIds(100)) as world:
        assert await world.turn(conversation_id, turn_id) == before
        head = await world.service.head(conversation_id, None)
        assert head.running_turn_ids == (turn_id,)

        await world.service.resume_turn(
            conversation_id, turn_id, {"request_id": "req_1", "answer": "this"}, None
        )

        turn = await world.turn(conversation_id, turn_id)
        assert (turn["status"], turn["error"]["code"]) == ("failed", "resume_unavailable")
        assert len(engine.requests) == 1


@pytest.mark.requirement("gateway:recovery:damage")
async def test_a_log_that_does_not_fold_is_left_to_check_and_stops_nobody_else() -> None:
    store = MemoryStore()
    broken, _turn_id = await leave_running(store)
    async with gateway(store=store, ids=CountingIds(100)) as world:
        other = await world.conversation()
        await world.submit(other, engine="external")
        bad = await world.conversation()
        bad_turn = await world.submit(bad, engine="external")
        await world.post(bad, bad_turn, line(type="agent.mood"))
        await crash(world)
    read_frames = store.read_frames

    async def torn(conversation_id: str, after: int, **more: Any) -> FramePage:
        page = await read_frames(conversation_id, after, **more)
        if conversation_id != bad:
            return page
        frames = page.frames.replace(b'"role":"assistant"', b'"role":"nobody"')
        return FramePage(frames, page.last_seq, page.count, page.at_end)

    store.read_frames = torn  # type: ignore[method-assign]
    async with gateway(store=store, ids=CountingIds(200)) as world:
        assert (await world.turn(other, (await _turn_of(world, other))))["status"] == "interrupted"
        assert (await world.turn(broken, _turn_id))["status"] == "interrupted"
        unfinished = await store.list_unfinished_turns()
        assert [row.id for row in unfinished] == [bad_turn]


async def _turn_of(world: World, conversation_id: str) -> str:
    turns = await world.service.list_turns(conversation_id, cursor=None, limit=1, tenant=None)
    return str(turns["items"][0]["id"])  # type: ignore[index, call-overload]
