"""Events of one engine between being made and being committed; bounded.

Spec: docs/spec/gateway/turns.md, "Durable before visible". While one commit is under way the next events gather here, so
each commit takes all there are: group commit without a timer.
"""

from __future__ import annotations

import anyio

from blockwire.content import StreamEvent

__all__ = ["Inbox"]


class Inbox:
    """A bounded list with one writer; whoever holds the conversation's lock may empty it.

    Attributes:
        failure: Code and sentence of what ended the writer, once it is closed.
    """

    __slots__ = ("_events", "_is_broken", "_is_closed", "_max", "_space", "_wake", "failure")

    def __init__(self, events_max: int) -> None:
        self._max = events_max
        self._events: list[StreamEvent] = []
        self._is_closed = False
        self._is_broken = False
        self.failure: tuple[str, str] | None = None
        self._wake = anyio.Event()
        self._space = anyio.Event()

    @property
    def is_closed(self) -> bool:
        """Whether the writer will add nothing more."""
        return self._is_closed

    async def put(self, event: StreamEvent) -> None:
        """Add ``event``; wait while there are as many as allowed."""
        while len(self._events) >= self._max:
            self._space = anyio.Event()
            await self._space.wait()
        if not self._is_broken:
            self._events.append(event)
            self._wake.set()

    def close(self, failure: tuple[str, str] | None = None) -> None:
        """Say that nothing more comes, and what went wrong if something did."""
        if not self._is_broken:
            self._is_closed = True
            self.failure = failure
            self._wake.set()

    def break_off(self, failure: tuple[str, str]) -> None:
        """Take nothing more, and forget what is there: something before it is lost."""
        self.drain()
        self.close(failure)
        self._is_broken = True

    async def wait(self) -> None:
        """Return when there is an event, or when nothing more comes."""
        if not self._events and not self._is_closed:
            self._wake = anyio.Event()
            await self._wake.wait()

    def drain(self) -> list[StreamEvent]:
        """Take out all there is."""
        events, self._events = self._events, []
        self._space.set()
        return events
