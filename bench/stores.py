"""The store alone, as figures: see ``bench/store.py``."""

from __future__ import annotations

from bench import store
from bench.figures import Figure

__all__ = ["measure_stores"]


def measure_stores(*, quick: bool) -> list[Figure]:
    """Measure appends against one another, and replay of rows against segments."""
    del quick
    result = store.main()
    one, five, replay = result["append_1"], result["append_5"], result["replay"]
    sizes = result["sizes"]
    return [
        Figure(
            what="store: 5 events an append, 1,000 appenders", ours=five["events_per_s"],
            unit="events/s", peer=one["events_per_s"], peer_name="1 event an append", reach=1.3,
            more_is_better=True,
            note=f"p99 of an append {one['p99_ms']:.0f} ms and {five['p99_ms']:.0f} ms, closed loop",
        ),
        Figure(
            what="store: replay of 100,000 events from segments", ours=replay["segments_ms"],
            unit="ms", peer=replay["rows_ms"], peer_name="a row an event", reach=0.5,
            note=f"joining them took {replay['joining_ms']:.0f} ms, while nobody waits",
        ),
        Figure(
            what="store: bytes on disk for a byte of an answer, merged", ours=sizes["merged"],
            unit="bytes", peer=sizes["plain"], peer_name="a row an event", reach=0.05,
            note=f"{sizes['joined']:.0f} when joined only; the message itself is one of them; merging "
            f"took {sizes['merging_us']:.1f} us an event, while nobody waits",
        ),
    ]  # fmt: skip
