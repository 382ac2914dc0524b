"""How long a person waits: ``--help``, and a gateway until it listens."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Final

from bench.figures import Figure
from bench.gateway import serving
from bench.processes import ROOT

__all__ = ["measure_startup"]

ROUNDS: Final = 5
HELP_RATIO: Final = 6.0
SERVE_RATIO: Final = 40.0


def python_ms(*arguments: str) -> float:
    """Return how long a Python process with these arguments takes."""
    started_s = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, cwd=ROOT)
    return (time.perf_counter() - started_s) * 1000


def listening_ms() -> float:
    """Return how long ``blockwire serve`` takes on a new store until it says that it listens."""
    started_s = time.perf_counter()
    with serving():
        return (time.perf_counter() - started_s) * 1000


def measure_startup(*, quick: bool) -> list[Figure]:
    """Measure against an interpreter that does nothing, interleaved."""
    rounds = 2 if quick else ROUNDS
    bare, helped, listened = [], [], []
    for _ in range(rounds):
        bare.append(python_ms("-c", "pass"))
        helped.append(python_ms("-m", "blockwire", "--help"))
        listened.append(listening_ms())
    bare_ms = statistics.median(bare)
    return [
        Figure(
            what="blockwire --help", ours=statistics.median(helped), unit="ms",
            peer=bare_ms, peer_name="python -c pass", reach=HELP_RATIO,
        ),
        Figure(
            what="blockwire serve until it listens", ours=statistics.median(listened), unit="ms",
            peer=bare_ms, peer_name="python -c pass", reach=SERVE_RATIO,
        ),
    ]  # fmt: skip
