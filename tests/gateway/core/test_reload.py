"""Engines that are replaced while they run turns."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
import pytest

from blockwire.content import StreamEvent, TurnEnded
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.settings import EngineProfile
from blockwire.gateway.turns.engine_use import EngineSet, EngineUse
from blockwire.ports import EngineRequest
from tests.gateway.core.world import ScriptEngine, answering, bare_guard, gateway, prose

pytestmark = pytest.mark.anyio


def engine_set(name: str, engine: ScriptEngine) -> EngineSet:
    return EngineSet({name: engine}, {name: EngineProfile(model="m-2")}, name, bare_guard, str)


async def closed(engine: ScriptEngine) -> None:
    with anyio.fail_after(15):
        while not engine.is_let_go:
            await anyio.lowlevel.checkpoint()


@pytest.mark.requirement("gateway:operations:reload-turns")
async def test_a_turn_keeps_its_engine_and_the_next_one_gets_the_new() -> None:
    go_on = anyio.Event()

    async def patient(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        await go_on.wait()
        for event in prose(request.turn_id, "b1", "old"):
            yield event
        yield TurnEnded(request.turn_id, "completed")

    old, new = ScriptEngine(patient), ScriptEngine(answering("new"))
    async with gateway(engines={"old": old}) as world:
        first = await world.conversation()
        running = await world.submit(first)
        world.service.use_engines(engine_set("new", new))

        second = await world.ask(await world.conversation())
        still_open = not old.is_let_go
        go_on.set()
        ended = await world.ended(first, running)
        await closed(old)

        assert still_open
        assert (ended["engine"], ended["status"]) == ("old", "completed")
        assert (second["engine"], second["model"]) == ("new", "m-2")
        assert world.service.engine_names == ("new", "external")
        assert not new.is_let_go
    assert new.is_let_go


async def test_an_engine_without_turns_is_closed_at_once() -> None:
    old, new = ScriptEngine(answering("x")), ScriptEngine(answering("y"))
    async with gateway(engines={"old": old}) as world:
        world.service.use_engines(engine_set("new", new))
        await closed(old)

        with pytest.raises(RemoteProtocolError) as refused:
            await world.submit(await world.conversation(), engine="old")

    assert refused.value.code == "engine_not_found"


async def test_a_stop_closes_engines_that_were_replaced_and_still_ran() -> None:
    async def forever(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in prose(request.turn_id, "b1", "x"):
            yield event
        await anyio.sleep_forever()

    old, new = ScriptEngine(forever), ScriptEngine(answering("y"))
    async with gateway(engines={"old": old}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id)
        await world.wait_for_seq(conversation_id, 4)
        world.service.use_engines(engine_set("new", new))

    assert old.is_let_go
    assert new.is_let_go
    with pytest.raises(StoreError) as refused:
        world.service.use_engines(engine_set("new", new))
    assert refused.value.code == "gateway_stopping"


async def test_an_engine_is_free_when_its_last_turn_is_over() -> None:
    use, engine = EngineUse(), ScriptEngine(answering("x"))
    freed: list[int] = []

    async def wait() -> None:
        await use.until_free(engine)
        freed.append(1)

    async with anyio.create_task_group() as tasks:
        with use.hold(engine), use.hold(engine):
            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert freed == []
    await use.until_free(engine)

    assert freed == [1, 1]


async def test_a_turn_that_waits_for_an_engine_that_is_gone_is_dropped_with_a_reason() -> None:
    go_on = anyio.Event()

    async def patient(request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        await go_on.wait()
        yield TurnEnded(request.turn_id, "completed")

    old, new = ScriptEngine(patient), ScriptEngine(answering("new"))
    async with gateway(engines={"old": old}) as world:
        conversation_id = await world.conversation()
        await world.submit(conversation_id)
        waiting = await world.submit(conversation_id)
        world.service.use_engines(engine_set("new", new))

        go_on.set()
        with pytest.raises(RemoteProtocolError) as dropped:
            await world.ended(conversation_id, waiting)

    assert dropped.value.code == "engine_not_found"
