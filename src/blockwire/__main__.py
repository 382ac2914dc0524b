"""The program: ``blockwire``, and ``python -m blockwire``.

A Ctrl-C that comes while the command line is still being imported ends the program as it does later,
without a word; so this module imports nothing of it at its top.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(130)


def run() -> NoReturn:
    """Run the command line and end the process with its status."""
    # A shell may have started it with Ctrl-C ignored; that stays.
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, _leave)
    from blockwire.cli.ending import run_to_end  # noqa: PLC0415 - see above

    if is_ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(run_to_end())


if __name__ == "__main__":
    run()
