"""The client's time: a clock, and waits that end by it; and the pauses between attempts.

Nothing else in this room reads a clock or waits for time to pass, so a test that brings a
:class:`Timing` of its own decides when 45 seconds are over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

import anyio
from anyio import CancelScope

from blockwire.ports import Clock

__all__ = ["SystemTiming", "Timing", "pause_s", "sleep"]

DOUBLINGS_MAX: Final = 32
"""Beyond it every pause is at its bound, and a power of two would only grow."""


class Timing(Clock, Protocol):
    """A clock that can also end a wait."""

    def limit(self, limit_s: float) -> CancelScope:
        """Return a scope, to be entered at once, that is cancelled after ``limit_s``."""
        ...


class SystemTiming:
    """The time of this machine and of the running event loop."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return seconds that only ever rise."""
        return time.monotonic()

    def limit(self, limit_s: float) -> CancelScope:
        """Return a scope that is cancelled after ``limit_s``."""
        return anyio.move_on_after(limit_s)


async def sleep(timing: Timing, duration_s: float) -> None:
    """Return after ``duration_s`` by the client's clock."""
    with timing.limit(duration_s):
        await anyio.sleep_forever()


def pause_s(failure_count: int, first_s: float, max_s: float, random: Callable[[], float]) -> float:
    """Return a random pause before the next attempt: exponential backoff with full jitter.

    Many clients that lose their gateway at the same moment come back spread over the whole
    interval, not in step.

    Args:
        failure_count: Attempts that failed in a row, at least 1.
        first_s: Longest pause after the first.
        max_s: Longest pause after any.
        random: Returns a number in [0, 1).
    """
    longest_s = first_s * 2.0 ** min(failure_count - 1, DOUBLINGS_MAX)
    return random() * min(longest_s, max_s)
