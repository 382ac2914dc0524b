"""Answers of people on their way to the engine that asked.

Spec: docs/spec/gateway/turns.md, "Waiting for a person".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import anyio

from blockwire.ports import Answer

__all__ = ["AnswerBox"]


class AnswerBox:
    """Implements :class:`~blockwire.ports.Answers` for one turn.

    At most one answer is under way: a turn that has not gone on asks nothing new.
    """

    __slots__ = ("_arrived", "_listeners", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[Answer] = deque()
        self._listeners: list[Callable[[Answer], None]] = []
        self._arrived = anyio.Event()

    def give(self, answer: Answer) -> None:
        """Hand over ``answer``: its ``turn.resumed`` is committed."""
        for hear in self._listeners:
            hear(answer)
        self._waiting.append(answer)
        self._arrived.set()

    async def receive(self) -> Answer:
        """Return the next answer that nobody received yet, waiting for it."""
        while not self._waiting:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._waiting.popleft()

    def listen(self, hear: Callable[[Answer], None]) -> None:
        """Call ``hear`` with every later answer as it comes in."""
        self._listeners.append(hear)
