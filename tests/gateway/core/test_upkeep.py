"""Background work: a round does every job to its end, and none keeps the others from theirs."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import msgspec
import pytest

from blockwire.content import ConversationState, apply, decode_event
from blockwire.errors import StoreError
from blockwire.gateway.operations.observer import Observer
from blockwire.gateway.operations.upkeep import Job, Upkeep, retention_limits
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.turns.folding import frame_values
from blockwire.ports import RetentionLimits, Store
from blockwire.stores import MemoryStore, SqliteStore
from tests.gateway.core.world import FAST, FakeClock, ScriptEngine, answering, gateway

pytestmark = pytest.mark.anyio

DAY_S = 86_400.0


def steps_of(name: str, count: int, told: list[str]) -> Job:
    left = count

    async def step() -> bool:
        nonlocal left
        told.append(name)
        left -= 1
        return left > 0

    return Job(name, step)


def failing(error: Exception) -> Callable[[], Awaitable[bool]]:
    async def step() -> bool:
        raise error

    return step


async def test_jobs_take_turns_until_none_has_anything_left() -> None:
    told: list[str] = []
    clock = FakeClock()
    upkeep = Upkeep(clock, Observer(clock), interval_s=1)
    upkeep.add(steps_of("a", 3, told), steps_of("b", 1, told), steps_of("c", 2, told))

    await upkeep.run_round()

    assert told == ["a", "b", "c", "a", "c", "a"]


@pytest.mark.requirement("gateway:upkeep:isolated")
async def test_a_job_that_fails_is_told_and_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []
    clock = FakeClock()
    observer = Observer(clock)
    upkeep = Upkeep(clock, observer, interval_s=1)
    upkeep.add(
        Job("full", failing(StoreError("store_full", "no room"))),
        Job("odd", failing(ValueError("secret path"))),
        steps_of("last", 2, told),
    )

    with caplog.at_level(logging.WARNING):
        await upkeep.run_round()
        await upkeep.run_round()

    assert told == ["last", "last", "last"]
    assert [record.message for record in caplog.records][:2] == [
        "upkeep: full: store_full", "upkeep: odd failed",
    ]  # fmt: skip
    runs = dict(observer.figures.upkeep_runs.items())
    assert runs["full", "failed"] == runs["odd", "failed"] == runs["last", "ok"] == 2


async def test_rounds_are_done_until_the_gateway_stops() -> None:
    told: list[str] = []
    done = anyio.Event()

    async def step() -> bool:
        told.append("a")
        if len(told) == 3:
            done.set()
        return False

    settings = msgspec.structs.replace(FAST, upkeep_interval_s=0.001)
    async with gateway(settings=settings) as world:
        world.service.upkeep.add(Job("mine", step))
        await done.wait()

    assert len(told) >= 3


async def test_without_an_interval_nothing_is_done() -> None:
    clock = FakeClock()
    upkeep = Upkeep(clock, Observer(clock), interval_s=0)
    upkeep.add(Job("never", failing(AssertionError("it was done"))))

    with anyio.fail_after(15):
        await upkeep.run()


def test_what_is_kept_is_counted_back_from_now() -> None:
    assert retention_limits(GatewaySettings(), 1_000_000) == RetentionLimits()
    settings = GatewaySettings(
        keep_events_s=100, keep_conversation_bytes=5, keep_total_bytes=6, keep_pairs_s=0.5
    )
    assert retention_limits(settings, 1_000_000) == RetentionLimits(
        events_before=900_000, conversation_bytes_max=5, total_bytes_max=6, pairs_before=999_500
    )


@pytest.mark.parametrize("is_sqlite", [True, False])
async def test_a_gateway_merges_and_forgets_and_its_messages_stay(
    tmp_path: Path, is_sqlite: bool
) -> None:
    store: Store = SqliteStore(tmp_path / "store.sqlite3") if is_sqlite else MemoryStore()
    clock = FakeClock()
    settings = msgspec.structs.replace(FAST, keep_events_s=DAY_S)
    engines = {"script": ScriptEngine(answering(*"some words"))}
    async with gateway(store=store, clock=clock, settings=settings, engines=engines) as world:
        conversation_id = await world.conversation()
        turn = await world.ask(conversation_id)
        count = len(await world.events(conversation_id))

        await world.service.upkeep.run_round()

        assert len(await world.events(conversation_id)) == count - 9
        assert await store.log_start(conversation_id) == 0
        clock.ms += 2 * 86_400_000
        await world.service.upkeep.run_round()
        row = await store.load_conversation(conversation_id)
        assert row is not None
        assert await store.log_start(conversation_id) == row.head_seq
        assert await world.turn(conversation_id, str(turn["id"])) == turn
        # And it goes on.
        again = await world.ask(conversation_id)
        assert again["status"] == "completed"
        assert await store.check() == []


async def test_a_turn_goes_on_after_a_restart_behind_a_log_that_was_trimmed() -> None:
    store = MemoryStore()
    clock = FakeClock()
    settings = msgspec.structs.replace(FAST, keep_events_s=DAY_S)
    async with gateway(store=store, clock=clock, settings=settings) as world:
        conversation_id = await world.conversation()
        await world.ask(conversation_id)
        clock.ms += 2 * 86_400_000
        turn_id = await world.submit(conversation_id, engine="external")
        await world.post(
            conversation_id, turn_id,
            b'{"type":"content.block.started","turn_id":"%b","block":{"id":"b1","type":"prose",'
            b'"markdown":""}}\n' % turn_id.encode(),
        )  # fmt: skip
        await world.service.upkeep.run_round()
        start = await store.log_start(conversation_id)
        assert start > 0

    async with gateway(store=store, clock=clock, settings=settings) as world:
        turn = await world.turn(conversation_id, turn_id)
        assert turn["status"] == "interrupted"
        page = await store.read_frames(conversation_id, start, view="owner", bytes_max=1 << 20)
        state = ConversationState(conversation_id, start)
        for value in frame_values(page.frames):
            state = apply(state, decode_event(value))
        assert state.find_message(turn_id) == turn["message"]
        assert await store.check() == []
