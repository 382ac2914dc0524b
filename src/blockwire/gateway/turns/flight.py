"""How many turns run at once, of all conversations.

Spec: docs/spec/gateway/limits.md.
"""

from __future__ import annotations

from collections import deque

import anyio

from blockwire.errors import RemoteProtocolError

__all__ = ["Flight"]


class Flight:
    """Places for running turns; who waits for one gets it in order.

    Attributes:
        count: Places that are taken.
    """

    __slots__ = ("_max", "_waiting", "count")

    def __init__(self, count_max: int) -> None:
        self._max = count_max
        self._waiting: deque[anyio.Event] = deque()
        self.count = 0

    def take(self) -> None:
        """Take a place at once.

        Raises:
            RemoteProtocolError: ``turns_in_flight_exceeded``.
        """
        if self.count >= self._max:
            raise RemoteProtocolError(
                "turns_in_flight_exceeded", "too many turns are running", retryable=True
            )
        self.count += 1

    async def wait(self) -> None:
        """Take a place, once there is one."""
        if self.count < self._max:
            self.count += 1
            return
        handed_over = anyio.Event()
        self._waiting.append(handed_over)
        try:
            await handed_over.wait()
        except BaseException:
            if handed_over.is_set():
                self.release()
            else:
                self._waiting.remove(handed_over)
            raise

    def release(self) -> None:
        """Give a place back; it goes to whoever waits longest."""
        if self._waiting:
            self._waiting.popleft().set()
        else:
            self.count -= 1
