"""Time as a port, so that nothing else reads a clock."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Two clocks: what time it is, and how long something took."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds; it may be set back."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds that only ever rise."""
        ...
