"""A build that is wrong on purpose: it publishes before it commits.

The crash harness must catch it, or it proves nothing.
"""

from __future__ import annotations

import sys
from typing import Any

from blockwire.cli import main
from blockwire.gateway.turns.conversation import Conversation
from blockwire.ports import Append, Appended, Committed
from blockwire.stores.entries import stamp_all

_real_append = Conversation._append


async def _publish_then_append(self: Conversation, change: Append) -> Appended:
    entries = stamp_all(
        change.drafts,
        self.id,
        head_seq=self.head_seq,
        public_head_seq=self.head_seq,
        ts=change.ts,
    )
    if entries:
        self._bus.publish(Committed(self.id, entries))
        # Let the readers' tasks write what they heard.
        import anyio  # noqa: PLC0415

        for _ in range(20):
            await anyio.lowlevel.checkpoint()
    return await _real_append(self, change)


def _publish_nothing(self: Conversation, appended: Any) -> None:
    del self, appended


Conversation._append = _publish_then_append  # type: ignore[method-assign]
Conversation._publish = _publish_nothing  # type: ignore[method-assign]

sys.exit(main())
