"""A cancel at every point of a turn's life, and which clocks run where."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from blockwire.content import StreamEvent, TurnEnded, TurnSuspended
from blockwire.engines import TurnLimits, guard
from blockwire.errors import BlockwireError
from blockwire.gateway.settings import GatewaySettings
from blockwire.ports import EngineRequest
from tests.gateway.core.world import (
    CountingIds,
    FakeClock,
    HeldStore,
    ScriptEngine,
    World,
    gateway,
    line,
    prose,
)

pytestmark = pytest.mark.anyio

REQUEST: dict[str, Any] = {"id": "r", "kind": "question", "prompt": "?"}


class Life:
    """One turn that goes on when it is told."""

    def __init__(self) -> None:
        self.engine = ScriptEngine(self._run)
        self.go = anyio.Event()
        self.asks = False

    async def _run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        for event in prose(request.turn_id, "b1", "A"):
            yield event
        if self.asks:
            yield TurnSuspended(request.turn_id, REQUEST)
        await self.go.wait()
        yield TurnEnded(request.turn_id, "completed")


async def cancel(world: World, conversation_id: str, turn_id: str) -> str:
    """Return the status after the cancel, or the code of its refusal."""
    try:
        turn = await world.service.cancel_turn(conversation_id, turn_id, None)
    except BlockwireError as error:
        return error.code
    return str(turn["status"])


# point -> what a cancel there answers, status of the turn, text that is kept
POINTS: list[tuple[str, str, str | None, str | None]] = [
    ("queued", "cancelled", None, None),
    ("starting", "cancelled", "cancelled", None),
    ("streaming", "cancelled", "cancelled", "A"),
    ("suspended", "cancelled", "cancelled", "A"),
    ("ending", "turn_terminal", "completed", "A"),
    ("ended", "turn_terminal", "completed", "A"),
    ("unknown", "turn_not_found", None, None),
]


@pytest.mark.parametrize(("point", "answer", "status", "text"), POINTS)
@pytest.mark.requirement("gateway:cancel:anywhere", "gateway:cancel:terminal")
async def test_a_cancel_has_its_answer_at_every_point(
    point: str, answer: str, status: str | None, text: str | None
) -> None:
    store, life = HeldStore(), Life()
    life.asks = point == "suspended"
    answers: list[str] = []
    async with gateway(store=store, engines={"s": life.engine}) as world:
        conversation_id = await world.conversation()

        async def try_it(turn_id: str) -> None:
            answers.append(await cancel(world, conversation_id, turn_id))

        if point == "queued":
            await world.submit(conversation_id)
            turn_id = await world.submit(conversation_id)
            await try_it(turn_id)
        elif point == "starting":
            # The commit of its start is under way, and with it the submit.
            turn_id = "turn_0003"
            store.shut()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(world.submit, conversation_id)
                await store.waiting.wait()
                tasks.start_soon(try_it, turn_id)
                await anyio.wait_all_tasks_blocked()
                store.gate.set()
        elif point == "unknown":
            turn_id = "turn_x"
            await try_it(turn_id)
        else:
            turn_id = await world.submit(conversation_id)
            await world.wait_for_seq(conversation_id, 6 if life.asks else 5)
            if point == "ending":
                # The commit of its end is under way.
                store.shut()
                life.go.set()
                async with anyio.create_task_group() as tasks:
                    await store.waiting.wait()
                    tasks.start_soon(try_it, turn_id)
                    await anyio.wait_all_tasks_blocked()
                    store.gate.set()
            else:
                if point == "ended":
                    life.go.set()
                    await world.ended(conversation_id, turn_id)
                await try_it(turn_id)

        assert answers == [answer]
        if status is not None:
            turn = await world.turn(conversation_id, turn_id)
            content = turn["message"]["content"]
            assert turn["status"] == status
            assert [b["markdown"] for b in content if b["type"] == "prose"] == (
                [] if text is None else [text]
            )
            # The way is free, whatever happened.
            life.asks = False
            life.go.set()
            assert (await world.ask(conversation_id))["status"] == "completed"


# where -> whether its own deadline ends it
CLOCKS: list[tuple[str, str]] = [
    ("queued", "queued"),
    ("running", "turn_deadline_exceeded"),
    ("suspended", "suspended"),
    ("external", "producer_silent"),
    ("external suspended", "suspended"),
]


@pytest.mark.parametrize(("where", "outcome"), CLOCKS)
@pytest.mark.requirement("engines:guard:limits", "engines:guard:suspended")
async def test_a_deadline_counts_while_the_engine_works_and_only_then(
    where: str, outcome: str
) -> None:
    clock, life = FakeClock(), Life()
    life.asks = where == "suspended"
    limits = TurnLimits(deadline_s=0.1, idle_s=1000)

    def guarded(
        events: AsyncGenerator[StreamEvent, None], request: EngineRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        unlimited = TurnLimits() if where == "queued" else limits
        return guard(
            events, request, ids=CountingIds(900), clock=clock, limits=unlimited, redact=str
        )

    settings = GatewaySettings(external_idle_s=0.2)
    engine = "external" if where.startswith("external") else "s"
    async with gateway(
        engines={"s": life.engine}, clock=clock, guard=guarded, settings=settings
    ) as world:
        conversation_id = await world.conversation()
        turn_id = await world.submit(conversation_id, engine=engine)
        if where == "queued":
            turn_id = await world.submit(conversation_id)
        elif where == "suspended":
            await world.wait_for_seq(conversation_id, 6)
        elif where == "external suspended":
            suspended = line(type="turn.suspended", turn_id=turn_id, request=REQUEST)
            await world.post(conversation_id, turn_id, suspended)
        # Much later, by the clock of the gateway...
        clock.s += 1_000
        # ...and a little by that of the machine, which the timers of the loop follow.
        turn = await world.turn(conversation_id, turn_id, wait_s=0.5)

        error = turn.get("error")
        assert (turn["status"] if error is None else error["code"]) == outcome
