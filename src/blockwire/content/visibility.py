"""Who may see what: one function decides, whatever the road.

Spec: docs/spec/content/visibility.md.

Private reasoning, ``provider_data`` and messages of role ``system`` and ``developer`` reach owner
views only. :func:`visible` takes a block, a message or an event and returns what the view gets of
it, or None for nothing.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from blockwire.content.events import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationSnapshot,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
)
from blockwire.content.state import ConversationState
from blockwire.content.vocabulary import OWNER_ROLES, Block, Message, View
from blockwire.jsontext import Json

__all__ = ["visible_block", "visible_event", "visible_message"]

_HIDDEN_MEMBERS = ("provider_data",)
_R = TypeVar("_R", bound=dict[str, Any])


def _without_hidden(record: _R) -> _R:
    if any(name in record for name in _HIDDEN_MEMBERS):
        return cast("_R", {k: v for k, v in record.items() if k not in _HIDDEN_MEMBERS})
    return record


def visible_block(view: View, block: Block) -> Block | None:
    """Return what ``view`` gets of ``block``, or None when it gets nothing of it."""
    if view == "owner":
        return block
    if block["type"] == "reasoning" and block.get("visibility") != "visible":
        return None
    return _without_hidden(block)


def visible_message(view: View, message: Message) -> Message | None:
    """Return what ``view`` gets of ``message``, or None when it gets nothing of it."""
    if view == "owner":
        return message
    if message["role"] in OWNER_ROLES:
        return None
    blocks = [visible_block(view, block) for block in cast("list[Block]", message["content"])]
    seen: list[Json] = [block for block in blocks if block is not None]
    return _without_hidden({**message, "content": seen})


def visible_event(view: View, event: StreamEvent, state: ConversationState) -> StreamEvent | None:
    """Return what ``view`` gets of ``event``, or None when it is withheld.

    Args:
        view: The audience.
        event: Valid in ``state``.
        state: The owner's state *before* the event: it knows which open block is private.
    """
    if view == "owner":
        return event
    event = _strip_extra(event)
    match event:
        case MessageCreated(message=message):
            shown = visible_message(view, message)
            return None if shown is None else msgspec.structs.replace(event, message=shown)
        case ConversationSnapshot() | UnknownEvent():
            # Snapshots are made for one view; what a type means that nobody here knows,
            # nobody here can call public.
            return None
        case TurnStarted(role=role):
            return None if role in OWNER_ROLES else event
        case _:
            return _visible_turn_event(view, event, state)


def _strip_extra(event: StreamEvent) -> StreamEvent:
    if event.extra is None:
        return event
    return msgspec.structs.replace(event, extra=_without_hidden(event.extra))


_TurnEvent = (
    BlockStarted
    | BlockDelta
    | BlockUpdated
    | BlockCompleted
    | TurnEnded
    | TurnResumed
    | TurnSuspended
)


def _visible_turn_event(
    view: View, event: _TurnEvent, state: ConversationState
) -> StreamEvent | None:
    turn = state.find_turn(event.turn_id)
    if turn is not None and turn.envelope["role"] in OWNER_ROLES:
        return None
    if isinstance(event, BlockStarted):
        shown = visible_block(view, event.block)
        return None if shown is None else msgspec.structs.replace(event, block=shown)
    if isinstance(event, BlockDelta | BlockUpdated | BlockCompleted):
        block = None if turn is None else turn.find(event.block_id)
        if block is not None and block.is_private:
            return None
        return _strip_block_event(view, event)
    return event


def _strip_block_event(
    view: View, event: BlockDelta | BlockUpdated | BlockCompleted
) -> StreamEvent | None:
    if isinstance(event, BlockUpdated):
        changes = _without_hidden(event.set)
        return msgspec.structs.replace(event, set=changes) if changes else None
    if isinstance(event, BlockCompleted):
        block = None if event.block is None else visible_block(view, event.block)
        return msgspec.structs.replace(event, block=block, provider_data=None)
    return event
