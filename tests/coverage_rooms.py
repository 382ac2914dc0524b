"""Run the tests under coverage, each room below the I/O line by its own tests alone.

A room is covered when *its* tests reach every branch; that some distant test happened to walk
through proves nothing. So each room gets a run of ``tests/ROOM`` by itself, which must reach
100 %, and a few more take all the other tests. The union must reach ``fail_under`` of
``pyproject.toml``, tests included. Nothing runs twice.

Usage: ``python tests/coverage_rooms.py [ROOM ...]``; with rooms, only theirs.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
DATA: Final = PROJECT / ".coverage.rooms"

# The rooms below the line (tests/test_layers.py compares this with the contracts).
ROOMS: Final = (
    "archives", "content", "errors", "jsontext", "ports", "providers", "render", "screen", "sse",
    "terminal", "text", "web",
)  # fmt: skip
# What is longest begins first: what starts programs, what has to do with terminals, and the rest.
TOGETHER: Final = {
    "commands": ("cli",),
    "programs": ("acceptance", "cases", "client", "integration"),
    "terminals": ("conform", "host", "tty", "tui"),
}
REST: Final = "everything else"
# What a browser does is not traced, and its tests have times of their own (tests/full_runs.py).
UNTRACED: Final = ("tests/page",)
# One more than the cores that we count on: much of it waits for programs and sockets.
WORKERS: Final = 3

# Tracing costs three to four times: what only repeats a path for more inputs runs without it.
UNMARKED: Final = "not slow and not exhaustive and not browser and not postgres and not redis"
OUTCOME: Final = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|xpassed)\b")


@dataclass(frozen=True, slots=True)
class Run:
    """One finished pytest process: its name, exit status, output and wall time."""

    name: str
    status: int
    output: str
    duration_s: float

    @property
    def outcomes(self) -> Counter[str]:
        """The counts in pytest's closing line."""
        closing = self.output.rstrip().rpartition("\n")[2]
        return Counter({word.rstrip("s"): int(count) for count, word in OUTCOME.findall(closing)})


def main(names: Sequence[str]) -> int:
    """Return 0 when every run passed and every limit was reached."""
    if unknown := set(names) - set(ROOMS):
        print(f"no such room below the line: {sorted(unknown)}; there are {', '.join(ROOMS)}")
        return 2
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir()
    runs = list(_run_all(names or (REST, *TOGETHER, *ROOMS)))
    complaints = [f"{run.name}: pytest exited with {run.status}" for run in runs if run.status != 0]
    complaints += [
        f"{run.name}: its own tests do not cover it" for run in runs if not _is_covered(run.name)
    ]
    if not names and not _is_covered_as_a_whole():
        complaints.append("the whole: below fail_under")
    total = sum((run.outcomes for run in runs), Counter[str]())
    if not total["passed"]:
        complaints.append("no test ran")
    for complaint in complaints:
        print(f"cover: {complaint}")
    failed = total["failed"] + total["error"]
    print(f"cover: {total['passed']} passed, {failed} failed, {total['skipped']} skipped")
    return 1 if complaints else 0


def _run_all(names: Iterable[str]) -> Iterable[Run]:
    """Yield each run as it ends, some at a time."""
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        for future in as_completed([pool.submit(_run, name) for name in names]):
            run = future.result()
            print(f"\n=== {run.name} ({run.duration_s:.0f} s)\n{run.output.rstrip()}", flush=True)
            yield run


def _run(name: str) -> Run:
    data_file = DATA / f".coverage.{name.replace(' ', '-')}"
    command = [sys.executable, "-m", "coverage", "run", f"--data-file={data_file}"]
    command += ["-m", "pytest", "-q", "-m", UNMARKED, *_selection(name)]
    command += ["-o", f"cache_dir={DATA / 'cache'}-{name.replace(' ', '-')}"]
    environment = {"HYPOTHESIS_PROFILE": "cover", **os.environ}
    started_s = time.monotonic()
    ended = subprocess.run(
        command,
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Run(name, ended.returncode, ended.stdout + ended.stderr, time.monotonic() - started_s)


def _selection(name: str) -> list[str]:
    if name in TOGETHER:
        return [f"tests/{folder}" for folder in TOGETHER[name]]
    if name == REST:
        others = [path for together in TOGETHER for path in _selection(together)]
        others += [path for room in ROOMS for path in _tests_of(room)]
        others += UNTRACED
        return ["tests", *(f"--ignore={path}" for path in others)]
    return _tests_of(name)


def _tests_of(room: str) -> list[str]:
    places = (f"tests/{room}", f"tests/test_{room}.py")
    return [place for place in places if (PROJECT / place).exists()] or [places[0]]


def _is_covered(name: str) -> bool:
    if name == REST or name in TOGETHER:
        return True
    return _report(
        f"--data-file={DATA / f'.coverage.{name}'}",
        f"--include=src/blockwire/{name}/*,src/blockwire/{name}.py",
        "--fail-under=100",
    )


def _is_covered_as_a_whole() -> bool:
    files = sorted(str(path) for path in DATA.glob(".coverage.*"))
    union = f"--data-file={DATA / 'union'}"
    subprocess.run(
        [sys.executable, "-m", "coverage", "combine", "-q", union, *files], cwd=PROJECT, check=True
    )
    return _report(union)


def _report(*arguments: str) -> bool:
    print(f"\n--- coverage report {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "coverage", "report", *arguments]
    return subprocess.run(command, cwd=PROJECT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
