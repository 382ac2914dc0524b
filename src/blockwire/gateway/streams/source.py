"""What an event stream asks of the gateway, and for whom it asks.

Spec: docs/spec/gateway/stream.md.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from blockwire.content import View
from blockwire.gateway.reading import Head
from blockwire.ports import Store

__all__ = ["Audience", "StreamSource"]


class StreamSource(Protocol):
    """What a stream asks of the gateway; :class:`GatewayService` is one."""

    @property
    def store(self) -> Store:
        """The log."""
        ...

    async def head(self, conversation_id: str, tenant: str | None) -> Head:
        """Return where the conversation stands. Raises ``conversation_not_found``."""
        ...

    async def snapshot_frame(
        self, conversation_id: str, view: View, *, reset: bool
    ) -> tuple[bytes, int]:
        """Return a ``conversation.snapshot`` frame and the seq that it reflects."""
        ...


class Audience(NamedTuple):
    """Who reads: the view, and the tenant whose conversations they may see."""

    view: View
    tenant: str | None
