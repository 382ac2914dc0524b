"""One process of the load: some conversations, with who writes them and all who read them."""

from __future__ import annotations

import asyncio
import gc
from multiprocessing.connection import Connection as Pipe
from typing import Final, Literal, NamedTuple

import uvloop

from blockwire.client import AsyncClient
from blockwire.content import View
from tests.soak.producers import Producer
from tests.soak.readers import Kind, RawReader
from tests.soak.sdk import SdkReader
from tests.soak.verdict import compare_all
from tests.soak.world import CLOCK, Plan, Report, World

CONVERSATIONS_OF_MANY: Final = 4
READERS_OF_A_CLIENT: Final = 20
FINISH_S_MAX: Final = 60.0
LAG_S: Final = 0.05
GC_YOUNG: Final = 50_000
GC_NEVER: Final = 1_000_000
"""Looking through everything that is kept of a long run would stop the load for seconds."""

KINDS: Final[tuple[Kind | Literal["sdk"], ...]] = (
    *("slow", "restless", "many", "sdk"),
    *("steady",) * 7,
    *("slow", "restless"),
    *("steady",) * 7,
)
"""Of each twenty: a tenth slow, a tenth that reconnect at random."""

Order = Literal["create", "begin", "down", "up", "end"]


class Part(NamedTuple):
    """What one worker does of a plan."""

    plan: Plan
    port: int
    number: int


def work(pipe: Pipe, part: Part) -> None:
    """Do a part of the load; orders come through the pipe, and each is answered."""
    gc.set_threshold(GC_YOUNG, 20, GC_NEVER)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_Worker(pipe, part).run())
    except (KeyboardInterrupt, asyncio.CancelledError):
        # Whoever gives orders is gone, or going.
        pass


class _Worker:
    def __init__(self, pipe: Pipe, part: Part) -> None:
        plan = part.plan
        self._pipe = pipe
        self._part = part
        self._orders: asyncio.Queue[Order] = asyncio.Queue()
        self._world = World(("127.0.0.1", part.port), plan.seed)
        self._producers = [
            Producer(self._world, f"c{number}", plan)
            for number in range(part.number, plan.conversations, plan.workers)
        ]
        self._readers: list[RawReader | SdkReader] = []
        self._clients: list[AsyncClient] = []
        self._up_s = 0.0

    async def run(self) -> None:
        """Obey until the end."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None, "this is one"
        loop.add_reader(self._pipe.fileno(), self._receive, task)
        try:
            await self._expect("create")
            for producer in self._producers:
                await producer.create()
            self._pipe.send(None)
            await self._expect("begin")
            report = await self._live()
            self._pipe.send(report)
        finally:
            loop.remove_reader(self._pipe.fileno())

    def _receive(self, task: asyncio.Task[None]) -> None:
        try:
            order: Order = self._pipe.recv()
        except EOFError:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            task.cancel()
            return
        if order in {"down", "up"}:
            self._world.is_down = order == "down"
            self._world.life += order == "down"
            self._pipe.send(None)
        else:
            self._orders.put_nowait(order)

    async def _expect(self, order: Order) -> None:
        given = await self._orders.get()
        assert given == order, given

    async def _live(self) -> Report:
        self._make_readers()
        async with asyncio.TaskGroup() as group:
            reading = [group.create_task(reader.run()) for reader in self._readers]
            spots = [
                group.create_task(reader.spot_check())
                for reader in self._readers
                if isinstance(reader, RawReader) and reader.kind != "slow"
            ]
            lag = group.create_task(self._lag())
            producing = [group.create_task(producer.run()) for producer in self._producers]
            self._pipe.send(None)
            await self._expect("end")
            lag.cancel()
            await self._finish(producing)
            for task in spots:
                task.cancel()
            await compare_all(self._world, self._producers, self._readers)
            for task in reading:
                task.cancel()
        for client in self._clients:
            await client.aclose()
        self._world.forget_connections()
        return self._world.report._replace(deltas=self._world.deltas, up_s=self._up_s)

    def _make_readers(self) -> None:
        plan, index = self._part.plan, self._part.number
        names = [producer.conversation_id for producer in self._producers]
        rng = self._world.rng(f"readers {index}")
        for number in range(len(range(index, plan.readers, plan.workers))):
            # Every other one of the steady, and each of the others every other time.
            view: View = "public" if (number + number // len(KINDS)) % 2 else "owner"
            kind = KINDS[number % len(KINDS)]
            if kind == "sdk":
                if number // len(KINDS) % READERS_OF_A_CLIENT == 0:
                    self._clients.append(AsyncClient(f"http://127.0.0.1:{self._part.port}"))
                name = names[number % len(names)]
                self._readers.append(SdkReader(self._world, self._clients[-1], name, view))
                continue
            count = min(CONVERSATIONS_OF_MANY, len(names)) if kind == "many" else 1
            own = rng.sample(names, count)
            self._readers.append(RawReader(self._world, f"r{index}-{number}", kind, own, view))

    async def _lag(self) -> None:
        """Measure how late this program itself is: no reader can be quicker."""
        lags_ms = self._world.report.lags_ms
        while True:
            before_s = CLOCK.monotonic_s()
            await asyncio.sleep(LAG_S)
            past_s = CLOCK.monotonic_s() - before_s
            lags_ms[int((past_s - LAG_S) * 1000)] += 1
            if self._world.is_measuring:
                self._up_s += past_s

    async def _finish(self, producing: list[asyncio.Task[None]]) -> None:
        self._world.is_stopping = self._world.is_draining = True
        _done, stuck = await asyncio.wait(producing, timeout=FINISH_S_MAX)
        for task in stuck:
            self._world.fault("producer stuck", task)
            task.cancel()
