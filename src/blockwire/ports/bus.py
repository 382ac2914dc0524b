"""How replicas and readers hear that something was committed.

Spec: docs/spec/gateway/persistence.md. A bus wakes and carries; it is never the truth. With the
bus gone, readers poll the log and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from blockwire.ports.store import Entry

__all__ = ["Bus", "BusNotice", "Committed", "ControlNotice"]


class Committed(Struct, frozen=True):
    """Entries of one conversation, in order, committed before they were published."""

    conversation_id: str
    entries: Sequence[Entry]


class ControlNotice(Struct, frozen=True):
    """A word between replicas that has no number: cancel this turn, this conversation is gone.

    ``payload`` of ``queued`` and ``dequeued`` is the event that live readers are told.
    """

    conversation_id: str
    kind: Literal["cancel", "deleted", "queued", "dequeued"]
    payload: bytes = b""


BusNotice = Committed | ControlNotice


class Bus(Protocol):
    """Fan-out of notices to every replica, the sender's own included."""

    async def open(self) -> None:
        """Be ready."""
        ...

    async def aclose(self) -> None:
        """Let go."""
        ...

    async def ping(self) -> None:
        """Return when notices can be carried."""
        ...

    def subscribe(self, deliver: Callable[[BusNotice], None]) -> Callable[[], None]:
        """Call ``deliver`` with every notice, in order; return a function that stops it.

        ``deliver`` runs on the event loop, must not block and must not raise.
        """
        ...

    def publish(self, notice: BusNotice) -> None:
        """Hand over a notice; returns at once."""
        ...
