"""Work that is counted, not timed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def calls_in(work: Callable[[], object]) -> int:
    """Return how many functions ``work`` calls, directly or not, those written in C included.

    The collector of cycles rests meanwhile: what it calls back (hypothesis listens) is not work.
    """
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    previous = sys.getprofile()
    was_enabled = gc.isenabled()
    gc.disable()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(previous)
        if was_enabled:
            gc.enable()
    return count
