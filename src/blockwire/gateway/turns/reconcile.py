"""After a start: turns that somebody else left running are ended, once.

Spec: docs/spec/gateway/turns.md, "Recovery".

Each turn is ended by one append, so a recovery that is killed has ended it or has not; the next
one goes on with those that are left. Nothing is ever submitted again. Suspended turns stay as they
are: a person may still answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from blockwire.errors import StoreError
from blockwire.gateway.turns.conversation import Conversation
from blockwire.gateway.turns.runner import TurnRunner
from blockwire.ports import Store

__all__ = ["reconcile"]

_log: Final = logging.getLogger(__name__)


async def reconcile(store: Store, runner: TurnRunner, find: Callable[[str], Conversation]) -> int:
    """End every turn that the store calls running as interrupted; return how many there were.

    Args:
        store: Open; nobody else writes to it.
        runner: Ends turns.
        find: Returns the conversation with an id, loaded or not; one with a suspended turn must
            be kept until it is loaded.

    Raises:
        StoreError: The store does not work. A turn whose log does not fold is left to ``check``.
    """
    count = 0
    for row in await store.list_unfinished_turns():
        conversation = find(row.conversation_id)
        conversation.unfinished.add(row.id)
        conversation.is_loaded = False
        if row.status != "running":
            continue
        try:
            async with conversation.changing():
                live = conversation.turns.get(row.id)
            if live is not None and await runner.interrupt(conversation, live):
                count += 1
        except StoreError as error:
            if error.code != "store_corrupt":
                raise
            _log.error("turn %s is left as it is: %s", row.id, error)
            conversation.unfinished.discard(row.id)
    return count
