"""Runs the benchmarks and prints one table."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from bench.durable import measure_durable
from bench.exports import measure_exports
from bench.fanout import measure_batches, measure_fanout, measure_idle
from bench.figures import Figure, render_table
from bench.join import measure_join
from bench.markdown import measure_markdown
from bench.page import measure_page
from bench.processes import raise_file_limit
from bench.reducer import measure_deltas
from bench.replay import measure_replay
from bench.search import measure_search
from bench.startup import measure_startup
from bench.stores import measure_stores
from bench.terminal import measure_terminal_codec
from bench.terminal_endpoint import measure_terminal_endpoint
from bench.terminal_framing import measure_terminal_framing
from bench.terminal_ui import measure_terminal_ui

__all__ = ["main"]

BENCHES: Final[Mapping[str, Callable[..., list[Figure]]]] = MappingProxyType(
    {
        "deltas": measure_deltas,
        "durable": measure_durable,
        "replay": measure_replay,
        "join": measure_join,
        "search": measure_search,
        "exports": measure_exports,
        "fanout": measure_fanout,
        "batches": measure_batches,
        "idle": measure_idle,
        "store": measure_stores,
        "markdown": measure_markdown,
        "startup": measure_startup,
        "terminal_codec": measure_terminal_codec,
        "terminal_framing": measure_terminal_framing,
        "terminal_endpoint": measure_terminal_endpoint,
        "terminal_ui": measure_terminal_ui,
        "page": measure_page,
    }
)


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; return 1 when something could not be measured.

    A figure that was missed is no failure: it says so in the table.
    """
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    parser.add_argument("--only", action="append", choices=BENCHES, help="may be repeated")
    parser.add_argument("--quick", action="store_true", help="short rounds, for a first look")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(arguments)
    raise_file_limit()
    figures: list[Figure] = []
    failures = 0
    for name in options.only or BENCHES:
        started_s = time.monotonic()
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            figures += BENCHES[name](quick=options.quick)
        except (ConnectionError, TimeoutError, OSError, AssertionError) as error:
            failures += 1
            print(f"{name}: {error}", file=sys.stderr)
        gc.collect()
        print(f"{name}: {time.monotonic() - started_s:.0f} s", file=sys.stderr, flush=True)
    print(render_table(figures))
    if options.json:
        rows = [{**msgspec.to_builtins(f), "ratio": f.ratio, "verdict": f.verdict} for f in figures]
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    return 1 if failures else 0
