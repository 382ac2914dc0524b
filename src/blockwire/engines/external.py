"""``external``: the events of a turn are posted by a producer outside, in any language.

Spec: docs/spec/gateway/engines.md, "External producers". The gateway takes the events in, and
need not run an engine that it knows to be external; run all the same, it waits until it is stopped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio

from blockwire.content import StreamEvent, UnknownEvent
from blockwire.ports import EngineRequest

__all__ = ["ExternalEngine"]


class ExternalEngine:
    """Waits while somebody else does the work."""

    async def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield nothing until the turn is cancelled or the generator closed."""
        await anyio.sleep_forever()
        # Never reached; it makes this a generator.
        yield UnknownEvent(type="", members={"turn_id": request.turn_id})

    async def aclose(self) -> None:
        """Have nothing to let go of."""
