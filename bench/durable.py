"""The whole path: NDJSON in, strict decoding, FULL commit, fan-out, acknowledgement."""

from __future__ import annotations

from typing import Final

from bench.figures import Figure
from bench.gateway import Measured, measure, reader_heads, serving
from bench.load import Plan

__all__ = ["measure_durable"]

TURNS: Final = 1_000
BATCH: Final = 20
SMALL_BATCH: Final = 5
OFFERED_PER_S: Final = 42_000
EVENTS_PER_S_MIN: Final = 40_000
P99_MS_MAX: Final = 25.0
TEXT: Final = "twenty characters or so"


def run_once(*, duration_s: float, rate_per_s: float, batch: int = BATCH) -> Measured:
    """Return what 1,000 turns with a reader each come to."""
    with serving() as gateway:
        targets = gateway.targets(TURNS)
        plan = Plan(
            port=gateway.port,
            heads=reader_heads([f"{target.events_path}?after=now" for target in targets]),
            ready="subscription.ready",
            sample_every=20,
            producers=[target.producer(TEXT) for target in targets],
            batch=batch,
            rate_per_s=rate_per_s,
            duration_s=duration_s,
        )
        return measure(plan, gateway.pid)


def measure_durable(*, quick: bool) -> list[Figure]:
    """Measure throughput with closed loops, latency at a fixed rate."""
    duration_s = 2.0 if quick else 6.0
    most = run_once(duration_s=duration_s, rate_per_s=0)
    small = run_once(duration_s=duration_s, rate_per_s=0, batch=SMALL_BATCH)
    paced = run_once(duration_s=duration_s, rate_per_s=OFFERED_PER_S)
    what = f"durable ingestion, {TURNS:,} turns, {BATCH} events a write"
    return [
        Figure(
            what=what,
            ours=most.report.sent / most.report.duration_s,
            unit="events/s",
            peer=EVENTS_PER_S_MIN,
            peer_name="limit",
            reach=1.0,
            more_is_better=True,
            note=(
                f"server CPU {most.cpu_us_per_event:.1f} us an event; with {SMALL_BATCH} events a "
                f"write {small.report.sent / small.report.duration_s:,.0f} events/s"
            ),
        ),
        Figure(
            what=f"its p99 at {OFFERED_PER_S:,} events/s offered",
            ours=paced.report.p99_ms,
            unit="ms",
            peer=P99_MS_MAX,
            peer_name="limit",
            reach=1.0,
            note=(
                f"{paced.report.sent / paced.report.duration_s:,.0f} events/s arrived, "
                f"p50 {paced.report.p50_ms:.1f} ms, "
                f"server CPU {paced.cpu_us_per_event:.1f} us an event"
            ),
        ),
    ]
