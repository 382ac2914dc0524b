"""Tells from inside of a gateway how much memory SQLite has; Python runs it when it starts.

The caches of SQLite's connections fill as pages are touched, up to a bound of ours: that is no leak,
and from outside it cannot be told from one. Nothing else of the process is changed.
"""

import contextlib
import ctypes
import os
import threading
from pathlib import Path

PERIOD_S = 0.5


def memory_used() -> int:
    """Return the bytes that SQLite has allocated in this process."""
    import _sqlite3  # noqa: PLC0415 - only where it is asked for

    library = ctypes.CDLL(_sqlite3.__file__)
    used = library.sqlite3_memory_used
    used.restype = ctypes.c_int64
    return int(used())


def report(path: Path) -> None:
    """Write it down again and again, for as long as the process lives."""
    pause = threading.Event()
    new = path.with_suffix(".new")
    with contextlib.suppress(OSError, AttributeError):  # the folder is gone; no such symbol
        while True:
            new.write_text(str(memory_used()), encoding="ascii")
            new.replace(path)
            pause.wait(PERIOD_S)


if target := os.environ.get("BLOCKWIRE_SOAK_SQLITE"):
    threading.Thread(target=report, args=(Path(target),), daemon=True).start()
