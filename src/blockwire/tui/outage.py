"""Whether the gateway is out of reach for long enough to say so.

Spec: docs/spec/chat/index.md, "Connection".
"""

from __future__ import annotations

from typing import Final

from blockwire.client import ConnectionChange

__all__ = ["OUTAGE_SHOWN_S", "Outage"]

OUTAGE_SHOWN_S: Final = 1.0
"""A shorter outage is nobody's business."""


class Outage:
    """Follows the connection of one stream."""

    def __init__(self) -> None:
        self._since_s: float | None = None

    def connection_changed(self, change: ConnectionChange, now_s: float) -> bool:
        """Take what the connection does now, and return whether an outage is over by it."""
        if change.status == "connected":
            was_lost, self._since_s = self._since_s is not None, None
            return was_lost
        if change.error is not None and self._since_s is None:
            self._since_s = now_s
        return False

    def is_shown(self, now_s: float) -> bool:
        """Return whether it lasts long enough."""
        return self._since_s is not None and now_s - self._since_s >= OUTAGE_SHOWN_S

    def wake_at_s(self, now_s: float) -> float | None:
        """Return when it will have; None if it has, or there is none."""
        if self._since_s is None or self.is_shown(now_s):
            return None
        return self._since_s + OUTAGE_SHOWN_S
