"""The real clock, real ids and armed fault points: what only the outermost room may touch."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from typing import Final

from ulid import ULID

from blockwire.content import ID_PREFIXES, IdKind
from blockwire.errors import LocalProtocolError
from blockwire.ports import FaultPoint

__all__ = ["FAULT_VARIABLE", "EnvironmentFaults", "SystemClock", "UlidFactory", "armed_faults"]

FAULT_VARIABLE: Final = "BLOCKWIRE_CRASH_AT"
"""``POINT`` or ``POINT:N``: the process kills itself when it passes the point for the Nth time."""


class SystemClock:
    """The clock of this machine."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Return seconds that only ever rise."""
        return time.monotonic()


class UlidFactory:
    """Prefix and ULID: ids that sort by the time they were made."""

    def new_id(self, kind: IdKind) -> str:
        """Return a fresh id of this kind."""
        return f"{ID_PREFIXES[kind]}{ULID()}"


class EnvironmentFaults:
    """Kills this process without warning at one fault point, for crash tests."""

    def __init__(self, point: str, passes: int) -> None:
        self._point = point
        self._left = passes

    def reach(self, point: FaultPoint) -> None:
        """Pass through ``point``; an armed one does not come back."""
        if point != self._point:
            return
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def armed_faults(env: Mapping[str, str]) -> EnvironmentFaults | None:
    """Return the fault point that the environment arms, if any.

    Raises:
        LocalProtocolError: ``invalid_config`` when the variable cannot be read.
    """
    text = env.get(FAULT_VARIABLE, "")
    if not text:
        return None
    point, _, count = text.partition(":")
    if not (count or "1").isdecimal():
        raise LocalProtocolError("invalid_config", f"{FAULT_VARIABLE} is POINT or POINT:N")
    return EnvironmentFaults(point, int(count or "1"))
