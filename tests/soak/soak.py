"""Soak: a gateway under everything that producers, readers and their networks do, for minutes.

    python tests/soak/soak.py --minutes 2

A real ``blockwire serve`` on SQLite. Producers stream, break off, resume, repeat, cancel; readers
are steady, slow, restless, of several conversations, in both views, on raw sockets and through the
SDK. Every second the gateway merges what was completed, and readers come back to numbers
inside. In the middle the gateway is stopped by SIGTERM and killed by SIGKILL, and comes back on the
same port. Each reader folds what it gets, is held against GET at random moments, and in the end
against what is stored; what is stored is held against what producers sent and were told. The load
is several processes, each with conversations of its own and all who read them. Loopback only; ends
by itself; the exit status is the verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import signal
import sys
import tempfile
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.soak.server import Server, Usage, cpu_s
from tests.soak.verdict import check_memory, spread
from tests.soak.worker import Order, Part, work
from tests.soak.world import CLOCK, Plan, Report, new_report

SIGTERM_AT: Final = 0.2
SIGKILL_AT: Final = 0.35
FREE_S_MAX: Final = 5.0
FDS_LEFT_MAX: Final = 8
SETTLE_S: Final = 0.5
END_S_MAX: Final = 10.0


class Worker:
    """A process of the load, seen from here."""

    def __init__(self, part: Part) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe: Pipe
        self._pipe, other = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(other, part), daemon=True)
        self.process.start()
        # Its own end is the only one left: when it ends, so does the pipe.
        other.close()

    async def order(self, order: Order) -> Any:
        """Give an order and return the answer.

        Raises:
            RuntimeError: The worker is gone.
        """
        try:
            self._pipe.send(order)
            return await asyncio.to_thread(self._pipe.recv)
        except (EOFError, OSError) as error:
            raise RuntimeError("a process of the load has ended") from error

    def cpu_s(self) -> float:
        """Return what it has used of processors so far."""
        assert self.process.pid is not None, "it was started"
        return cpu_s(self.process.pid)

    def close(self) -> None:
        """Let it end, or end it."""
        self._pipe.close()
        self.process.join(END_S_MAX)
        if self.process.is_alive():
            self.process.kill()


class Soak:
    """One run, seen from outside the load."""

    def __init__(self, plan: Plan, server: Server) -> None:
        self.plan = plan
        self.server = server
        self.report = new_report()
        self.samples: list[Usage] = []
        self._workers: list[Worker] = []
        self._is_down = False
        self._sampled_from_s = 0.0
        self._cpus_s: list[float] = []

    async def run(self) -> list[str]:
        """Return the lines of the report; faults are in it, too."""
        try:
            for index in range(self.plan.workers):
                self._workers.append(Worker(Part(self.plan, self.server.port, index)))
            return await self._run()
        finally:
            for worker in self._workers:
                worker.process.terminate()
                worker.close()

    async def _run(self) -> list[str]:
        await self._order("create")
        fds_before = self.server.usage().fd_count
        await self._order("begin")
        measuring = asyncio.create_task(self._measure())
        await self._live()
        measuring.cancel()
        lines = self._loads()
        started_s = CLOCK.monotonic_s()
        reports: list[Report] = await self._order("end")
        lines.append(f"finished and compared in {CLOCK.monotonic_s() - started_s:.1f} s")
        for report in reports:
            self.report.add(report)
        for worker in self._workers:
            await asyncio.to_thread(worker.close)
        return [*lines, *self._lines(reports), await self._check_freed(fds_before)]

    async def _order(self, order: Order) -> list[Any]:
        return await asyncio.gather(*(worker.order(order) for worker in self._workers))

    # the time of it -----------------------------------------------------------------------
    async def _live(self) -> None:
        duration_s = self.plan.duration_s
        await asyncio.sleep(duration_s * SIGTERM_AT)
        await self._restart(signal.SIGTERM)
        await asyncio.sleep(duration_s * (SIGKILL_AT - SIGTERM_AT))
        await self._restart(signal.SIGKILL)
        self.samples.clear()
        self._sampled_from_s = CLOCK.monotonic_s()
        self._cpus_s = self._cpus()
        await asyncio.sleep(duration_s * (1 - SIGKILL_AT))

    async def _restart(self, number: signal.Signals) -> None:
        self._is_down = True
        await self._order("down")
        started_s = CLOCK.monotonic_s()
        status = await asyncio.to_thread(self.server.stop, number)
        stopped_s = CLOCK.monotonic_s()
        await asyncio.to_thread(self.server.start)
        ended_s = CLOCK.monotonic_s()
        print(f"{number.name}: down in {stopped_s - started_s:.2f} s, "
              f"up in {ended_s - stopped_s:.2f} s", flush=True)  # fmt: skip
        if status != (0 if number == signal.SIGTERM else -signal.SIGKILL):
            self.report.fault("exit status", status)
        await asyncio.sleep(SETTLE_S)
        await self._order("up")
        self._is_down = False

    async def _measure(self) -> None:
        while True:
            if not self._is_down:
                self.samples.append(self.server.usage())
            await asyncio.sleep(0.5)

    async def _check_freed(self, fds_before: int) -> str:
        ends_at_s = CLOCK.monotonic_s() + FREE_S_MAX
        while (left := self.server.usage().fd_count - fds_before) > FDS_LEFT_MAX:
            if CLOCK.monotonic_s() > ends_at_s:
                self.report.fault("descriptors left", left)
                break
            await asyncio.sleep(0.1)
        return f"descriptors left over when all had gone: {max(left, 0)}"

    # what is to be said -------------------------------------------------------------------
    def _cpus(self) -> list[float]:
        pids = (self.server.pid, *(worker.process.pid or 0 for worker in self._workers))
        return [cpu_s(pid) for pid in pids]

    def _loads(self) -> list[str]:
        past_s = CLOCK.monotonic_s() - self._sampled_from_s
        names = ["gateway", *(f"worker {index}" for index in range(self.plan.workers))]
        return [
            f"{name}: {(after - before) / past_s:.0%} of a core"
            for name, before, after in zip(names, self._cpus_s, self._cpus(), strict=True)
        ]

    def _lines(self, reports: list[Report]) -> list[str]:
        own, samples = self.report, self.samples
        rates = [report.deltas / report.up_s for report in reports if report.up_s]
        rate = sum(rates) / self.plan.conversations
        lines = [
            f"deltas/s per conversation: {rate:.1f} of {self.plan.rate_per_s:g} asked",
            f"from stamp to live reader: {spread(own.latencies_ms)}",
        ]
        lines += [
            f"worker {index} itself is late: {spread(report.lags_ms)}"
            for index, report in enumerate(reports)
        ]
        lines.append(check_memory(own, samples))
        if samples:
            lines.append(f"descriptors of the gateway: {samples[-1].fd_count}")
        return lines + [f"{name}: {count}" for name, count in sorted(own.counts.items())]


def soak(plan: Plan) -> Report:
    """Run one and print its report."""
    with tempfile.TemporaryDirectory(prefix="blockwire-soak-") as folder:
        server = Server(Path(folder))
        try:
            server.start()
            run = Soak(plan, server)
            lines = asyncio.run(run.run())
            status = server.stop(signal.SIGTERM)
            if status:
                run.report.fault("exit status", status)
            trouble = server.check()
            if trouble:
                run.report.fault("check", trouble)
            for line in server.complaints():
                run.report.fault("log", line)
        finally:
            server.close()
    print("\n".join(lines))
    for kind, count in run.report.faults.items():
        print(f"FAULT {kind}: {count} times; {json.dumps(run.report.examples[kind], indent=1)}")
    print(f"soak: {'failed' if run.report.faults else 'passed'}, seed {plan.seed}", flush=True)
    return run.report


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--conversations", type=int, default=60)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20.0, help="deltas a second, each")
    parser.add_argument("--workers", type=int, default=2, help="processes of the load")
    parser.add_argument("--deltas", type=int, default=600, help="of one answer, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # However it is asked to end, nothing that it started is left.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = Plan(
        conversations=options.conversations,
        readers=options.readers,
        rate_per_s=options.rate,
        duration_s=options.minutes * 60,
        seed=options.seed,
        workers=options.workers,
        deltas_max=options.deltas,
    )
    return 1 if soak(plan).faults else 0


if __name__ == "__main__":
    sys.exit(main())
