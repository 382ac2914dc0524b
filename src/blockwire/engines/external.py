"""``external``: the events of a turn are posted by a producer outside, in any language.

Spec: docs/spec/gateway/engines.md, "External producers". The gateway takes the events in; this
engine only says that it has to, and keeps its turn until that turn is stopped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

import anyio

from blockwire.content import StreamEvent, UnknownEvent
from blockwire.ports import EngineRequest

__all__ = ["ExternalEngine"]


class ExternalEngine:
    """Waits while somebody else does the work.

    Attributes:
        is_external: True: the gateway takes the turn's events from outside instead of
            :meth:`run`, guards none of them by idle time, and need not call :meth:`run` at all.
    """

    is_external: Final = True

    async def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield nothing until the turn is cancelled or the generator closed."""
        await anyio.sleep_forever()
        # Never reached; it makes this a generator.
        yield UnknownEvent(type="", members={"turn_id": request.turn_id})

    async def aclose(self) -> None:
        """Have nothing to let go of."""
