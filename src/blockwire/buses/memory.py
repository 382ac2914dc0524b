"""Fan-out inside one process.

Spec: docs/spec/gateway/persistence.md, "One machine and many".
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from blockwire.errors import BusError
from blockwire.ports import BusNotice

__all__ = ["MemoryBus"]

_log: Final = logging.getLogger(__name__)


class MemoryBus:
    """Implements :class:`~blockwire.ports.Bus` for one process and one event loop.

    ``publish`` calls every subscriber before it returns. A notice that a subscriber publishes
    meanwhile waits until all have heard the present one: everybody hears the same order.
    """

    def __init__(self) -> None:
        self._subscribers: tuple[Callable[[BusNotice], None], ...] = ()
        self._waiting: deque[BusNotice] = deque()
        self._is_delivering = False
        self._is_open = False

    async def open(self) -> None:
        """Be ready."""
        self._is_open = True

    async def aclose(self) -> None:
        """Forget all subscribers. Harmless when repeated."""
        self._is_open = False
        self._subscribers = ()
        self._waiting.clear()

    async def ping(self) -> None:
        """Return when notices can be carried.

        Raises:
            BusError: ``bus_closed``.
        """
        if not self._is_open:
            raise BusError("bus_closed", "the bus is not open")

    def subscribe(self, deliver: Callable[[BusNotice], None]) -> Callable[[], None]:
        """Call ``deliver`` with every later notice; return a function that stops it."""

        # One object a call, so that the same function can be subscribed twice and stopped once.
        def subscriber(notice: BusNotice) -> None:
            deliver(notice)

        def unsubscribe() -> None:
            self._subscribers = tuple(s for s in self._subscribers if s is not subscriber)

        self._subscribers = (*self._subscribers, subscriber)
        return unsubscribe

    def publish(self, notice: BusNotice) -> None:
        """Deliver ``notice`` to all who subscribe now; on a closed bus, to nobody."""
        self._waiting.append(notice)
        if self._is_delivering:
            return
        self._is_delivering = True
        try:
            while self._waiting:
                self._deliver(self._waiting.popleft())
        finally:
            self._is_delivering = False

    def _deliver(self, notice: BusNotice) -> None:
        for subscriber in self._subscribers:
            # Somebody may have left while others were told.
            if subscriber not in self._subscribers:
                continue
            try:
                subscriber(notice)
            except Exception as error:  # noqa: BLE001 - whatever a subscriber may raise
                # A fault of one reader is not the fault of the others. Not the text: it may quote.
                _log.error("a subscriber of the bus failed: %s", type(error).__name__)
