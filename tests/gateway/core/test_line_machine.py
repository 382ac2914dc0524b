"""The line of turns against a model: submits, cancels, ends, deletions and restarts in any order.

The model is a list: the first of it runs, the others wait. What is checked after every step: who
runs and who waits, what is stored, whose key names what; and at the end that every question that was
neither handed back nor forgotten was asked of the engine exactly once, in order.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blockwire.content import StreamEvent, TurnEnded
from blockwire.errors import BlockwireError
from blockwire.gateway.settings import GatewaySettings
from blockwire.ports import EngineRequest
from blockwire.stores import MemoryStore
from tests.gateway.core.world import CountingIds, ScriptEngine, World, gateway

pytestmark = pytest.mark.anyio

QUEUE_MAX = 3
SETTINGS = GatewaySettings(queue_max=QUEUE_MAX, store_retry_first_s=0.001)

STEPS = st.lists(
    st.one_of(
        # Often enough that the line is full now and then.
        st.tuples(st.just("submit"), st.just(0)),
        st.tuples(st.just("submit"), st.just(1)),
        st.tuples(st.just("submit"), st.just(2)),
        st.tuples(st.just("repeat"), st.integers(0, 9)),
        st.tuples(st.just("cancel"), st.integers(0, 9)),
        st.tuples(st.just("end"), st.just(0)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    min_size=8,
    max_size=30,
)


class Line:
    """A gateway with one conversation, and what it should look like.

    Attributes:
        line: Keys of the turns that are not over; the first one runs.
        over: Key -> status, of those that are.
    """

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.ids = CountingIds()
        self.engine = ScriptEngine(self._run)
        self.conversation_id = ""
        self.line: list[str] = []
        self.over: dict[str, str] = {}
        self.turn_ids: dict[str, str] = {}
        self.started: list[str] = []
        self._go = anyio.Event()
        self._count = 0

    async def _run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        content: Any = request.messages[-1]["content"]
        self.started.append(content[0]["markdown"])
        go = self._go = anyio.Event()
        await go.wait()
        yield TurnEnded(request.turn_id, "completed")

    async def submit(self, world: World, key: str) -> bool:
        """Submit under a key; return whether it was taken."""
        try:
            turn_id = await world.submit(self.conversation_id, key, key=key)
        except BlockwireError as error:
            if error.code != "queue_full":
                raise
            return False
        assert self.turn_ids.setdefault(key, turn_id) == turn_id
        return True

    async def step(self, world: World, name: str, number: int) -> None:
        match name:
            case "submit":
                self._count += 1
                key = f"k{self._count}"
                is_full = len(self.line) > QUEUE_MAX
                assert await self.submit(world, key) is not is_full
                self.line += [] if is_full else [key]
            case "repeat" if self.turn_ids:
                key = sorted(self.turn_ids)[number % len(self.turn_ids)]
                assert await self.submit(world, key)
            case "cancel" if self.line:
                key = self.line.pop(number % len(self.line))
                back = await world.service.cancel_turn(
                    self.conversation_id, self.turn_ids[key], None
                )
                assert back["status"] == "cancelled"
                if back["durable"]:
                    self.over[key] = "cancelled"
                else:
                    # Its key is free.
                    del self.turn_ids[key]
            case "end" if self.line:
                key = self.line.pop(0)
                await self.until(lambda: key in self.started)
                self._go.set()
                await world.ended(self.conversation_id, self.turn_ids[key])
                self.over[key] = "completed"
            case _:
                pass

    async def until(self, holds: Any) -> None:
        with anyio.fail_after(15):
            while not holds():
                await anyio.lowlevel.checkpoint()

    async def check(self, world: World) -> None:
        """Compare the gateway with the model."""
        if self.line:
            running = self.turn_ids[self.line[0]]
            conversation = world.service._registry.find(self.conversation_id)
            await self.until(lambda: running in conversation.turns)
        shape = await world.service.read_conversation(self.conversation_id, None)
        expected = [self.turn_ids[key] for key in self.line]
        assert shape.get("running_turn_id") == (expected[0] if expected else None)
        assert shape.get("queued_turn_ids", []) == expected[1:]
        page = await world.service.list_turns(
            self.conversation_id, cursor=None, limit=200, tenant=None
        )
        rows: Any = page["items"]
        statuses = {row["id"]: row["status"] for row in rows}
        wanted = {self.turn_ids[key]: status for key, status in self.over.items()}
        wanted |= dict.fromkeys(expected[:1], "running")
        assert statuses == wanted
        for place, turn_id in enumerate(expected[1:], 1):
            turn = await world.turn(self.conversation_id, turn_id)
            assert (turn["status"], turn["position"]) == ("queued", place)
        assert world.service.turns_queued == max(len(expected) - 1, 0)

    def forget(self) -> None:
        """Do what a restart does."""
        for place, key in enumerate(self.line):
            if place == 0:
                self.over[key] = "interrupted"
            else:
                del self.turn_ids[key]
        self.line.clear()


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
@pytest.mark.requirement("gateway:queue:fifo", "gateway:queue:key", "gateway:queue:restart")
async def test_the_line_is_what_a_list_would_be(steps: list[tuple[str, int]]) -> None:
    line = Line()
    runs: list[list[tuple[str, int]]] = [[]]
    for step in steps:
        if step[0] == "restart":
            runs.append([])
        else:
            runs[-1].append(step)
    for number, run in enumerate(runs):
        async with gateway(
            store=line.store, ids=line.ids, engines={"s": line.engine}, settings=SETTINGS
        ) as world:
            if not number:
                line.conversation_id = await world.conversation()
            await line.check(world)
            for name, argument in run:
                await line.step(world, name, argument)
                await line.check(world)
        line.forget()

    # Every question reached the engine at most once, in the order in which it was asked.
    assert len(set(line.started)) == len(line.started)
    assert line.started == sorted(line.started, key=lambda key: int(key[1:]))
