"""The end of the program: once its status is decided, no Ctrl-C changes it.

Spec: docs/reference/cli.md. The interpreter gives Ctrl-C back to the system when it tidies up, and the
system would kill the process: its status would be that of a signal, whatever it had done before.
"""

from __future__ import annotations

import atexit
import os
import signal
from types import FrameType
from typing import NoReturn

from blockwire.cli.main import EXIT_INTERRUPTED, main

__all__ = ["run_to_end"]


def run_to_end() -> int:
    """Run the command line and return its status; from then on a Ctrl-C leaves with it at once."""
    # Registered first, so called last: until then a Ctrl-C need not wait for threads that linger.
    atexit.register(_ignore)
    status = EXIT_INTERRUPTED
    try:
        try:
            status = main()
        finally:
            _decide(status)
    except KeyboardInterrupt:
        # Between the two: it was interrupted already.
        _decide(status)
    return status


def _decide(status: int) -> None:
    def leave(_number: int, _frame: FrameType | None) -> NoReturn:
        # All that is written to standard output has been flushed.
        os._exit(status)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, leave)


def _ignore() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
