"""Long work that blocks, for commands: Ctrl-C and SIGTERM end it, and it tidies up.

Spec: docs/spec/gateway/operations.md, "Commands". SQLite works for minutes without coming back to Python,
so such work runs in a thread and is told to stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from blockwire.cli.signals import ended_by_signals
from blockwire.errors import BlockwireError

__all__ = ["run_stoppable"]

T = TypeVar("T")


def run_stoppable(work: Callable[[threading.Event], T]) -> T:
    """Return what ``work`` returns.

    Args:
        work: Called in a thread; returns or raises soon after its event is set, and what it does
            then is no news to anybody.

    Raises:
        EndedBySignalError: SIGTERM or SIGHUP came.
        KeyboardInterrupt: Ctrl-C did.
    """
    return anyio.run(_run, work)


async def _run(work: Callable[[threading.Event], T]) -> T:
    stopping = threading.Event()
    with ended_by_signals():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_when_cancelled, stopping)
            try:
                result = await anyio.to_thread.run_sync(work, stopping)
            except BlockwireError:
                if stopping.is_set():
                    # Given up because somebody wanted it: that is what ends this, not an error.
                    await anyio.lowlevel.checkpoint()
                raise
            tasks.cancel_scope.cancel()
        return result
    raise AssertionError("a signal ends the block by its own error")


async def _stop_when_cancelled(stopping: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stopping.set()
