"""Crash truth: kill the gateway at any moment, restart it, compare.

Named fault points in the shipped code path, and random times. Every byte that a raw reader saw,
every acknowledgement and every answered submit is held against the store after the restart.

    python tests/crash/harness.py --runs 200            # all must pass
    python tests/crash/harness.py --runs 40 --reversed  # publishes before it commits: must fail
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.crash.server import Server
from tests.crash.verdict import problems_of
from tests.crash.workload import Told, converse

POINTS: Final = (
    "encode.before",
    "encode.after",
    "commit.before",
    "commit.after",
    "publish.before",
    "publish.after",
    "acknowledge.before",
    "acknowledge.after",
)
# Passed by each step of upkeep, some of them a second.
UPKEEP_POINTS: Final = ("compact.before", "compact.after")
MIGRATION_POINTS: Final = ("migrate.before", "migrate.after")
CONVERSATIONS: Final = 3
LIFE_S_MAX: Final = 8.0


class Run(NamedTuple):
    """How one run dies: at a point passed for the Nth time, or after some time."""

    number: int
    seed: int
    crash_at: str
    after_s: float | None
    recovery_crash_at: str


def plan(number: int, seed: int) -> Run:
    """Return the run of this number: half at points, half at random times, some twice."""
    rng = random.Random(f"{seed}:{number}")
    recovery = rng.choice(["", "", "", "commit.before:1", "commit.after:1", "publish.before:2"])
    if number % 20 == 19:
        point = MIGRATION_POINTS[number // 20 % 2]
        return Run(number, seed, f"{point}:1", None, "")
    if number % 10 == 8:
        point = UPKEEP_POINTS[number // 10 % 2]
        return Run(number, seed, f"{point}:{rng.randrange(1, 16)}", None, recovery)
    if number % 2 == 0:
        point = POINTS[number // 2 % len(POINTS)]
        return Run(number, seed, f"{point}:{rng.randrange(2, 120)}", None, recovery)
    return Run(number, seed, "", rng.uniform(0.05, 1.2), recovery)


async def _work(server: Server, run: Run, tolds: list[Told]) -> None:
    async def one(index: int) -> None:
        rng = random.Random(f"{run.seed}:{run.number}:{index}")
        try:
            await converse(server.address, tolds[index], rng, f"c{index}")
        except* OSError:
            pass  # the gateway died, which is the point

    async with asyncio.TaskGroup() as tasks:
        for index in range(CONVERSATIONS):
            tasks.create_task(one(index))
        tasks.create_task(_death(server, run))


async def _death(server: Server, run: Run) -> None:
    if run.after_s is not None:
        await asyncio.sleep(run.after_s)
        server.kill()
    is_dead = await asyncio.to_thread(server.wait_dead, LIFE_S_MAX)
    if not is_dead:
        # The point was never passed that often; any moment is as good.
        server.kill()
        await asyncio.to_thread(server.wait_dead, LIFE_S_MAX)


async def _verify(server: Server, tolds: list[Told]) -> list[str]:
    problems: list[str] = []
    for told in tolds:
        problems += await problems_of(server.address, told)
    return problems


def _check(store: Path) -> list[str]:
    result = subprocess.run(
        [sys.executable, "-m", "blockwire", "check", "--store", f"sqlite:///{store}"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return [] if result.returncode == 0 else [f"check: {result.stdout}{result.stderr}"]


def execute(run: Run, *, is_reversed: bool) -> list[str]:
    """Return what a run proved wrong."""
    with tempfile.TemporaryDirectory(prefix="blockwire-crash-") as folder:
        store = Path(folder) / "conversations.db"
        tolds = [Told() for _ in range(CONVERSATIONS)]
        server = Server(store, crash_at=run.crash_at, is_reversed=is_reversed)
        if server.wait_listening():
            asyncio.run(_work(server, run, tolds))
        server.close()
        if run.recovery_crash_at:
            # Recovery itself may be killed; a second one must find nothing done twice.
            second = Server(store, crash_at=run.recovery_crash_at, is_reversed=is_reversed)
            second.wait_listening()
            second.close()
        last = Server(store)
        problems: list[str] = []
        if last.wait_listening():
            problems += asyncio.run(_verify(last, tolds))
        else:
            problems.append("it does not start again")
        errors = last.close()
        if problems and "Traceback" in errors:
            problems.append(errors[-2000:])
        return problems + _check(store)


def main() -> int:
    """Run the harness and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, help="execute this run alone")
    parser.add_argument("--reversed", action="store_true", help="the build that must fail")
    arguments = parser.parse_args()
    numbers = range(arguments.runs) if arguments.only is None else [arguments.only]
    runs = [plan(number, arguments.seed) for number in numbers]
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda run: execute(run, is_reversed=arguments.reversed), runs)
        for run, problems in zip(runs, results, strict=True):
            if problems:
                failed += 1
                death = run.crash_at or f"after {run.after_s:.3f} s"
                sys.stdout.write(f"run {run.number} ({death}): {len(problems)} problems\n")
                for problem in problems[:6]:
                    sys.stdout.write(f"  {problem}\n")
            elif run.number % 20 == 0:
                sys.stdout.write(f"run {run.number} ok\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(runs) - failed} passed, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
