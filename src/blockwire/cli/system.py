"""The real clock, real ids and armed fault points: what only the outermost room may touch."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Final

from ulid import ULID

from blockwire.content import ID_PREFIXES, IdKind
from blockwire.errors import LocalProtocolError
from blockwire.ports import FaultPoint

__all__ = [
    "FAULT_VARIABLE",
    "EnvironmentFaults",
    "SystemClock",
    "UlidFactory",
    "armed_faults",
    "tune_interpreter",
]

FAULT_VARIABLE: Final = "BLOCKWIRE_CRASH_AT"
"""``POINT`` or ``POINT:N``: the process kills itself when it passes the point for the Nth time."""

# Objects that are new, and passes over them, until older ones are looked at again.
_NEW_OBJECTS_MAX: Final = 50_000
_PASSES: Final = 10

# How long a thread that computes keeps others waiting.
_SWITCH_S: Final = 0.0005


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


def tune_interpreter() -> None:
    """Fit the interpreter to a process that serves many: the collector, and the turns of threads.

    Thousands of live conversations are objects that stay, and what an event makes is freed by
    counting references. With Python's own settings a third of a busy gateway's time went into
    looking for cycles that are not there. And the thread that commits, which everybody waits for,
    should not itself wait 5 ms for the interpreter after each statement.
    """
    sys.setswitchinterval(_SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS_MAX, _PASSES, _PASSES)


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
