"""The signals of ``serve``: stop, stop now, read the configuration again.

Spec: docs/spec/gateway/operations.md, "Stop" and "Reload".
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

import anyio

__all__ = ["StopSignal", "service_signals"]

_HANGUP: Final[int | None] = getattr(signal, "SIGHUP", None)
_STOPS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignal:
    """Whether to stop, and why.

    Attributes:
        event: Set with the first signal.
        number: Of that signal.
    """

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.number: int | None = None


@contextmanager
def service_signals(
    *,
    on_stop: Callable[[], None],
    on_force: Callable[[], None],
    on_reload: Callable[[], None],
) -> Iterator[StopSignal]:
    """Take the signals of this process until the end of the block. Needs a running loop.

    Args:
        on_stop: Called with the first SIGTERM, Ctrl-C or end of the terminal, in the loop.
        on_force: Called with the second one; the process ends when it returns.
        on_reload: Called with SIGHUP, unless that says that the terminal of this process is gone.
    """
    loop = asyncio.get_running_loop()
    stop = StopSignal()
    had_terminal = _has_terminal()
    taken: list[int] = []

    def end(number: int) -> None:
        if stop.number is not None:
            _leave(number, on_force)
        stop.number = number
        stop.event.set()
        on_stop()

    def hang_up(number: int) -> None:
        if had_terminal and not _has_terminal():
            end(number)
        else:
            on_reload()

    for number in (*_STOPS, _HANGUP):
        # nohup has SIGHUP ignored, and wants it to stay so.
        if number is None or signal.getsignal(number) is signal.SIG_IGN:
            continue
        try:
            loop.add_signal_handler(number, hang_up if number == _HANGUP else end, number)
        except (NotImplementedError, RuntimeError, ValueError):
            # Windows; or a thread that gets no signals.
            continue
        taken.append(number)
    try:
        yield stop
    finally:
        for number in taken:
            loop.remove_signal_handler(number)


def _leave(number: int, on_force: Callable[[], None]) -> NoReturn:
    # What was acknowledged is in the store; the next start interrupts what still runs.
    on_force()
    os._exit(128 + number)


def _has_terminal() -> bool:
    """Whether standard input is a terminal that still has somebody at its other end."""
    try:
        os.tcgetpgrp(sys.__stdin__.fileno() if sys.__stdin__ is not None else 0)
    except (OSError, ValueError):
        return False
    return True
