"""Soak: a gateway under everything that producers, readers and their networks do, for minutes.

    python tests/soak/soak.py --minutes 2

A real ``blockwire serve`` on SQLite. Producers stream, break off, resume, repeat, cancel; readers
are steady, slow, restless, of several conversations, in both views, on raw sockets and through the
SDK. Every second the gateway merges what was completed, and readers come back to numbers inside. In the middle the gateway is stopped by SIGTERM and killed by SIGKILL, and comes back on the
same port. Each reader folds what it gets, is held against GET at random moments, and in the end
against what is stored; what is stored is held against what producers sent and were told. Loopback
only; ends by itself; the exit status is the verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from blockwire.client import AsyncClient
from blockwire.content import View
from tests.soak.producers import Producer
from tests.soak.readers import Kind, RawReader
from tests.soak.sdk import SdkReader
from tests.soak.server import Server, Usage
from tests.soak.verdict import (
    check_memory,
    compare_producers,
    compare_readers,
    load_truth,
    share,
)
from tests.soak.world import CLOCK, World

SIGTERM_AT: Final = 0.2
SIGKILL_AT: Final = 0.35
CONVERSATIONS_OF_MANY: Final = 4
READERS_OF_A_CLIENT: Final = 20
FREE_S_MAX: Final = 5.0
FDS_LEFT_MAX: Final = 8
FINISH_S_MAX: Final = 60.0
SETTLE_S: Final = 0.5


class Plan(NamedTuple):
    """How much of what, for how long."""

    conversations: int
    readers: int
    rate_per_s: float
    duration_s: float
    seed: int


class Soak:
    """One run."""

    def __init__(self, plan: Plan, server: Server) -> None:
        self.plan = plan
        self.server = server
        self.world = World(("127.0.0.1", server.port), plan.seed)
        self.producers = [
            Producer(self.world, f"c{number}", plan.rate_per_s)
            for number in range(plan.conversations)
        ]
        self.readers: list[RawReader | SdkReader] = []
        self.clients: list[AsyncClient] = []
        self.samples: list[Usage] = []
        self.lags_ms: list[int] = []

    async def run(self) -> list[str]:
        """Return the lines of the report; faults are in the world."""
        for producer in self.producers:
            await producer.create()
        fds_before = self.server.usage().fd_count
        self._make_readers()
        async with asyncio.TaskGroup() as group:
            reading = [group.create_task(reader.run()) for reader in self.readers]
            spots = [
                group.create_task(reader.spot_check())
                for reader in self.readers
                if isinstance(reader, RawReader) and reader.kind != "slow"
            ]
            measuring = [group.create_task(self._measure()), group.create_task(self._lag())]
            producing = [group.create_task(producer.run()) for producer in self.producers]
            await self._live()
            for task in measuring:
                task.cancel()
            await self._finish(producing)
            for task in spots:
                task.cancel()
            await self._compare()
            for task in reading:
                task.cancel()
        for client in self.clients:
            await client.aclose()
        return [*self._report(), await self._check_freed(fds_before)]

    def _make_readers(self) -> None:
        names = [producer.conversation_id for producer in self.producers]
        rng = self.world.rng("readers")
        kinds: list[Kind | str] = ["slow", "restless", "many", "sdk", "sdk", *["steady"] * 5]
        for number in range(self.plan.readers):
            view: View = "public" if number // len(kinds) % 2 else "owner"
            kind = kinds[number % len(kinds)]
            if kind == "sdk":
                if not self.clients or number % READERS_OF_A_CLIENT == 0:
                    self.clients.append(AsyncClient(f"http://127.0.0.1:{self.server.port}"))
                name = names[number % len(names)]
                self.readers.append(SdkReader(self.world, self.clients[-1], name, view))
                continue
            count = min(CONVERSATIONS_OF_MANY, len(names)) if kind == "many" else 1
            own = rng.sample(names, count)
            self.readers.append(RawReader(self.world, f"r{number}", kind, own, view))  # type: ignore[arg-type]

    # the time of it -----------------------------------------------------------------------
    async def _live(self) -> None:
        duration_s = self.plan.duration_s
        await asyncio.sleep(duration_s * SIGTERM_AT)
        await self._restart(signal.SIGTERM)
        await asyncio.sleep(duration_s * (SIGKILL_AT - SIGTERM_AT))
        await self._restart(signal.SIGKILL)
        self.samples.clear()
        await asyncio.sleep(duration_s * (1 - SIGKILL_AT))

    async def _restart(self, number: signal.Signals) -> None:
        self.world.is_down = True
        self.world.life += 1
        started_s = CLOCK.monotonic_s()
        status = await asyncio.to_thread(self.server.stop, number)
        stopped_s = CLOCK.monotonic_s()
        await asyncio.to_thread(self.server.start)
        ended_s = CLOCK.monotonic_s()
        print(f"{number.name}: down in {stopped_s - started_s:.2f} s, "
              f"up in {ended_s - stopped_s:.2f} s", flush=True)  # fmt: skip
        if status != (0 if number == signal.SIGTERM else -signal.SIGKILL):
            self.world.fault("exit status", status)
        await asyncio.sleep(SETTLE_S)
        self.world.is_down = False

    async def _measure(self) -> None:
        while True:
            if not self.world.is_down:
                self.samples.append(self.server.usage())
            await asyncio.sleep(0.5)

    async def _lag(self) -> None:
        """Measure how late this program itself is: no reader can be quicker."""
        while True:
            before_s = CLOCK.monotonic_s()
            await asyncio.sleep(0.05)
            self.lags_ms.append(int((CLOCK.monotonic_s() - before_s - 0.05) * 1000))

    async def _finish(self, producing: list[asyncio.Task[None]]) -> None:
        self.world.is_stopping = self.world.is_draining = True
        _done, stuck = await asyncio.wait(producing, timeout=FINISH_S_MAX)
        for task in stuck:
            self.world.fault("producer stuck", task)
            task.cancel()

    async def _compare(self) -> None:
        truth = await load_truth(self.world, [item.conversation_id for item in self.producers])
        compare_producers(self.world, self.producers, truth)
        started_s = CLOCK.monotonic_s()
        await compare_readers(self.world, self.readers, truth)
        print(f"readers compared after {CLOCK.monotonic_s() - started_s:.1f} s", flush=True)

    async def _check_freed(self, fds_before: int) -> str:
        ends_at_s = CLOCK.monotonic_s() + FREE_S_MAX
        while (left := self.server.usage().fd_count - fds_before) > FDS_LEFT_MAX:
            if CLOCK.monotonic_s() > ends_at_s:
                self.world.fault("descriptors left", left)
                break
            await asyncio.sleep(0.1)
        return f"descriptors left over when all had gone: {max(left, 0)}"

    def _report(self) -> list[str]:
        world, samples = self.world, self.samples
        lines = [
            f"from stamp to live reader: {_spread(world.latencies_ms)}",
            f"this program itself is late: {_spread(self.lags_ms)}",
            check_memory(world, samples),
        ]
        if len(samples) > 1:
            cpu = (samples[-1].cpu_s - samples[0].cpu_s) / (0.5 * len(samples))
            lines.append(f"gateway: {cpu:.0%} of a core, {samples[-1].fd_count} descriptors")
        lines += [f"{name}: {count}" for name, count in sorted(world.counts.items())]
        return lines


def _spread(values_ms: list[int]) -> str:
    parts = f"p50 {share(values_ms, 0.5)} ms, p99 {share(values_ms, 0.99)} ms"
    return f"{parts}, most {max(values_ms, default=0)} ms ({len(values_ms)} samples)"


def soak(plan: Plan) -> World:
    """Run one and print its report."""
    with tempfile.TemporaryDirectory(prefix="blockwire-soak-") as folder:
        server = Server(Path(folder))
        try:
            server.start()
            run = Soak(plan, server)
            lines = asyncio.run(run.run())
            status = server.stop(signal.SIGTERM)
            if status:
                run.world.fault("exit status", status)
            trouble = server.check()
            if trouble:
                run.world.fault("check", trouble)
            for line in server.complaints():
                run.world.fault("log", line)
        finally:
            server.close()
    print("\n".join(lines))
    for kind, count in run.world.faults.items():
        print(f"FAULT {kind}: {count} times; {json.dumps(run.world.examples[kind], indent=1)}")
    print(f"soak: {'failed' if run.world.faults else 'passed'}, seed {plan.seed}", flush=True)
    return run.world


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--conversations", type=int, default=60)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0, help="deltas a second, each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    plan = Plan(
        options.conversations, options.readers, options.rate, options.minutes * 60, options.seed
    )
    return 1 if soak(plan).faults else 0


if __name__ == "__main__":
    sys.exit(main())
