"""What a gateway counts about itself: plain numbers, read when somebody asks for them.

Spec: docs/spec/gateway/operations.md, "Metrics". All are changed in the event loop alone, so that no count
costs a lock; ``metrics`` turns them into an exposition. Labels come from tables of ours (routes, codes,
configured engines), and each family has a bound all the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = [
    "COMMIT_BUCKETS_S",
    "LABEL_SETS_MAX",
    "OTHER",
    "REQUEST_BUCKETS_S",
    "TURN_BUCKETS_S",
    "Counts",
    "Figures",
    "Histogram",
]

LABEL_SETS_MAX: Final = 2_000
"""Label sets of one family; what comes beyond is counted as :data:`OTHER`."""

OTHER: Final = "other"

COMMIT_BUCKETS_S: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
)  # fmt: skip
REQUEST_BUCKETS_S: Final = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
)  # fmt: skip
TURN_BUCKETS_S: Final = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0)


class Histogram:
    """Seconds by bucket.

    Attributes:
        buckets_s: Upper bounds, ascending.
        counts: For each bound those not above it and above the one before; last those above all.
        sum_s: Of all.
    """

    __slots__ = ("buckets_s", "counts", "sum_s")

    def __init__(self, buckets_s: Sequence[float]) -> None:
        self.buckets_s = buckets_s
        self.counts = [0] * (len(buckets_s) + 1)
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(self.buckets_s, seconds)] += 1
        self.sum_s += seconds

    def cumulative(self) -> Iterator[tuple[str, int]]:
        """Yield bound and count of all not above it, to ``+Inf``."""
        total = 0
        for bound, count in zip((*map(repr, self.buckets_s), "+Inf"), self.counts, strict=True):
            total += count
            yield bound, total


class Counts(dict[tuple[str, ...], float]):
    """A number for each label set."""

    def add(self, labels: tuple[str, ...], amount: float = 1) -> None:
        """Add to one; a new one beyond the bound is added to ``other``."""
        if labels not in self and len(self) >= LABEL_SETS_MAX:
            labels = (OTHER,) * len(labels)
        self[labels] = self.get(labels, 0) + amount


class Figures:
    """Everything that is counted.

    Attributes:
        requests: By method, route and status.
        request_seconds: By route.
        request_bytes: Of bodies that were received, by route.
        response_bytes: Of bodies that were sent, by route.
        refusals: By code.
        turns: That ended, by engine and status.
        turn_seconds: By engine.
        tokens: By engine and kind.
        events: That were committed.
        event_bytes: Of these, encoded, owner view.
        commit_seconds: From handing a change to the store to its answer.
        commits_waiting: Changes that the store has not answered yet.
        store_errors: By code.
        upkeep_runs: Of background jobs, by job and outcome.
        upkeep_seconds: By job.
        upkeep_items: What they dealt with, by job.
    """

    __slots__ = (
        "commit_seconds", "commits_waiting", "event_bytes", "events", "refusals", "request_bytes",
        "request_seconds", "requests", "response_bytes", "store_errors", "tokens", "turn_seconds",
        "turns", "upkeep_items", "upkeep_runs", "upkeep_seconds",
    )  # fmt: skip

    def __init__(self) -> None:
        self.requests = Counts()
        self.request_seconds: dict[str, Histogram] = {}
        self.request_bytes = Counts()
        self.response_bytes = Counts()
        self.refusals = Counts()
        self.turns = Counts()
        self.turn_seconds: dict[str, Histogram] = {}
        self.tokens = Counts()
        self.events = 0
        self.event_bytes = 0
        self.commit_seconds = Histogram(COMMIT_BUCKETS_S)
        self.commits_waiting = 0
        self.store_errors = Counts()
        self.upkeep_runs = Counts()
        self.upkeep_seconds = Counts()
        self.upkeep_items = Counts()

    def observe_request(self, route: str, seconds: float) -> None:
        """Count the time of a request; routes are as many as our table has."""
        histogram = self.request_seconds.get(route)
        if histogram is None:
            histogram = self.request_seconds[route] = Histogram(REQUEST_BUCKETS_S)
        histogram.observe(seconds)

    def observe_turn(self, engine: str, seconds: float) -> None:
        """Count the time of a turn."""
        if engine not in self.turn_seconds and len(self.turn_seconds) >= LABEL_SETS_MAX:
            engine = OTHER
        histogram = self.turn_seconds.get(engine)
        if histogram is None:
            histogram = self.turn_seconds[engine] = Histogram(TURN_BUCKETS_S)
        histogram.observe(seconds)
