"""Run what the coverage runs leave out: a browser, slow and exhaustive tests, many more examples.

As many pytest processes at a time as there; what is longest begins first.

Usage: ``python -m tests.full_runs``.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final

from tests.coverage_rooms import PROJECT, WORKERS, Run

IS_SHORT: Final = os.environ.get("FULL_PROFILE") == "short"
# What coverage runs has tried each property already; the short form leaves it at that.
SELECTED: Final = "slow or exhaustive or browser" + ("" if IS_SHORT else " or hypothesis")
# name -> folders and files; a folder without what another run names, and the last takes every other one
RUNS: Final[dict[str, tuple[str, ...]]] = {
    "page": ("page",),
    "transcript": tuple(
        f"page/test_{name}.py"
        for name in ("copying", "find", "hostile", "markdown", "place", "place_find", "transcript")
    ),
    "web": ("web",),
    "terminal": ("conform", "terminal", "tty"),
    "screens": ("host", "tui"),
    "programs": ("crash", "docs", "integration", "soak"),
    "commands": ("acceptance", "cases", "cli", "client"),
    "rooms": ("archives", "content", "jsontext", "providers", "screen", "sse", "text"),
    "render": ("render",),
    "everything else": (),
}


def main() -> int:
    """Return 0 when every run passed, and tests ran in each."""
    runs = []
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        for future in as_completed([pool.submit(_run, name) for name in RUNS]):
            run = future.result()
            print(f"\n=== {run.name} ({run.duration_s:.0f} s)\n{run.output.rstrip()}", flush=True)
            runs.append(run)
    total = sum((run.outcomes for run in runs), Counter[str]())
    for run in runs:
        if run.status != 0:
            print(f"full: {run.name}: pytest exited with {run.status}")
    failed = total["failed"] + total["error"]
    print(f"full: {total['passed']} passed, {failed} failed, {total['skipped']} skipped")
    return 1 if any(run.status for run in runs) else 0


def _run(name: str) -> Run:
    started_s = time.monotonic()
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-m",
            SELECTED,
            *_selection(name),
        ],
        cwd=PROJECT,
        # .ci/run asks for fewer examples.
        env={**os.environ, "HYPOTHESIS_PROFILE": os.environ.get("FULL_PROFILE", "ci")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Run(name, ended.returncode, ended.stdout + ended.stderr, time.monotonic() - started_s)


def _selection(name: str) -> list[str]:
    own = RUNS[name] or ("",)
    others = [place for run, places in RUNS.items() if run != name for place in places]
    within = [place for place in others if any(_is_within(place, folder) for folder in own)]
    return [
        *(f"tests/{folder}".rstrip("/") for folder in own),
        *(f"--ignore=tests/{place}" for place in within),
    ]


def _is_within(place: str, folder: str) -> bool:
    return not folder or place.startswith(f"{folder}/")


if __name__ == "__main__":
    sys.exit(main())
