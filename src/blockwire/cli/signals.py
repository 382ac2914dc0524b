"""Ends that come from outside, for commands that run a gateway of their own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import anyio

__all__ = ["EndedBySignalError", "ended_by_signals"]

# Ctrl-C is left to asyncio, which ends the command the same way.
_ENDING: Final = tuple(
    number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)


class EndedBySignalError(Exception):
    """The command was told to end, and has put its house in order.

    Attributes:
        number: Of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Cancel what runs inside when the process is told to end.

    Raises:
        EndedBySignalError: It was.
    """
    loop = asyncio.get_running_loop()
    caught: list[int] = []
    taken: list[int] = []
    with anyio.CancelScope() as scope:

        def end(number: int) -> None:
            caught.append(number)
            scope.cancel()

        for number in _ENDING:
            try:
                loop.add_signal_handler(number, end, number)
            except (NotImplementedError, RuntimeError, ValueError):
                # Windows; or a thread that gets no signals.
                continue
            taken.append(number)
        try:
            yield
        finally:
            for number in taken:
                loop.remove_signal_handler(number)
    if caught:
        raise EndedBySignalError(caught[0])
