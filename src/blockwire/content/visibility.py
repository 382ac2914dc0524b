"""Who may see what: one function decides, whatever the road.

Spec: docs/spec/content/visibility.md.

Private reasoning, provider data and messages of role ``system`` and ``developer`` reach owner
views only, and so do exact source texts of whole records, which repeat all of it. :func:`visible`
takes a block, a message or an event and returns what the view gets of it, or None for nothing.
What it returns for the owner is the thing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias, TypeVar, cast, overload

from msgspec.structs import replace

from blockwire.content.convert import RECORD_SOURCE, source_member
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
from blockwire.content.state import ConversationState, TurnState, is_private_block
from blockwire.content.vocabulary import OWNER_ROLES, Block, Message, View
from blockwire.jsontext import Json

__all__ = [
    "HIDDEN_MEMBERS",
    "visible",
    "visible_block",
    "visible_event",
    "visible_message",
    "visible_request",
]

HIDDEN_MEMBERS: Final = frozenset(
    {"provider_data", source_member("provider_data"), RECORD_SOURCE, source_member("content")}
)
"""Members of blocks, messages and events that reach owner views only."""

_R = TypeVar("_R", bound=Mapping[str, Any])


def _without_hidden(record: _R) -> _R:
    """Return ``record`` without hidden members; itself where it has none."""
    if HIDDEN_MEMBERS.isdisjoint(record):
        return record
    return cast("_R", {k: v for k, v in record.items() if k not in HIDDEN_MEMBERS})


@overload
def visible(view: View, thing: dict[str, Json]) -> dict[str, Json] | None: ...
@overload
def visible(view: View, thing: StreamEvent, state: ConversationState) -> StreamEvent | None: ...
def visible(
    view: View, thing: dict[str, Json] | StreamEvent, state: ConversationState | None = None
) -> dict[str, Json] | StreamEvent | None:
    """Return what ``view`` gets of a block, a message or an event, or None for nothing.

    Args:
        view: The audience.
        thing: Valid. A record with a ``role`` and ``content`` is a message.
        state: For an event, the owner's state before it.
    """
    if not isinstance(thing, dict):
        return visible_event(view, thing, state or ConversationState())
    if "role" in thing and isinstance(thing.get("content"), list):
        return visible_message(view, thing)
    return visible_block(view, thing)


def visible_block(view: View, block: Block) -> Block | None:
    """Return what ``view`` gets of ``block``, or None when it gets nothing of it."""
    if view == "owner":
        return block
    return None if is_private_block(block) else _without_hidden(block)


def visible_message(view: View, message: Message) -> Message | None:
    """Return what ``view`` gets of ``message``, or None when it gets nothing of it."""
    if view == "owner":
        return message
    if message["role"] in OWNER_ROLES:
        return None
    blocks = cast("list[Block]", message["content"])
    seen = [shown for block in blocks if (shown := visible_block(view, block)) is not None]
    if len(seen) < len(blocks) or any(a is not b for a, b in zip(seen, blocks, strict=True)):
        message = {**message, "content": cast("list[Json]", seen)}
    return _without_hidden(message)


def visible_request(
    view: View, request: Mapping[str, Json], turn: TurnState | None
) -> Mapping[str, Json]:
    """Return what ``view`` gets of the request of a suspended turn.

    The question is part of the conversation; that it concerns a private block is not told.
    """
    if view == "owner":
        return request
    blocks = () if turn is None else turn.blocks
    return _see_request(request, {block.id for block in blocks if not block.is_private})


def _see_request(request: Mapping[str, Json], seen_ids: AbstractSet[Json]) -> Mapping[str, Json]:
    if "block_id" in request and request["block_id"] not in seen_ids:
        request = {name: value for name, value in request.items() if name != "block_id"}
    return _without_hidden(request)


def visible_event(view: View, event: StreamEvent, state: ConversationState) -> StreamEvent | None:
    """Return what ``view`` gets of ``event``, or None when it is withheld.

    Args:
        view: The audience.
        event: Valid in ``state``. What it says about a turn that ``state`` does not hold is
            withheld.
        state: The owner's state *before* the event: it knows which open block is private.
    """
    if view == "owner":
        return event
    if event.extra is not None and not HIDDEN_MEMBERS.isdisjoint(event.extra):
        event = replace(event, extra=_without_hidden(event.extra) or None)
    match event:
        case MessageCreated(message=message):
            return _showing(event, "message", visible_message(view, message))
        case ConversationSnapshot():
            return _see_snapshot(event)
        case UnknownEvent():
            # What a type means that nobody here knows, nobody here can call public.
            return None
        case TurnStarted(role=role):
            return None if role in OWNER_ROLES else event
        case _:
            return _see_turn_event(view, event, state.find_turn(event.turn_id))


def _showing(event: StreamEvent, name: str, shown: Any) -> StreamEvent | None:
    """Return ``event`` with ``shown`` as its member; itself where nothing was hidden."""
    if shown is None:
        return None
    return event if shown is getattr(event, name) else replace(event, **{name: shown})


_TurnEvent: TypeAlias = (
    BlockStarted
    | BlockDelta
    | BlockUpdated
    | BlockCompleted
    | TurnEnded
    | TurnResumed
    | TurnSuspended
)


def _see_turn_event(view: View, event: _TurnEvent, turn: TurnState | None) -> StreamEvent | None:
    if turn is None or turn.envelope["role"] in OWNER_ROLES:
        return None
    match event:
        case BlockStarted(block=block):
            return _showing(event, "block", visible_block(view, block))
        case TurnSuspended(request=request):
            return _showing(event, "request", visible_request(view, request, turn))
        case TurnEnded() | TurnResumed():
            return event
        case _:
            block_state = turn.find(event.block_id)
            if block_state is None or block_state.is_private:
                return None
            return _see_block_event(view, event)


def _see_block_event(
    view: View, event: BlockDelta | BlockUpdated | BlockCompleted
) -> StreamEvent | None:
    if isinstance(event, BlockUpdated):
        # An update of hidden members alone would tell that there are some.
        return _showing(event, "set", _without_hidden(event.set) or None)
    if isinstance(event, BlockCompleted):
        if event.provider_data is not None:
            event = replace(event, provider_data=None)
        return (
            event
            if event.block is None
            else _showing(event, "block", visible_block(view, event.block))
        )
    return event


def _see_snapshot(event: ConversationSnapshot) -> ConversationSnapshot:
    messages = {
        cast("str", message["id"]): shown
        for message in event.messages
        if (shown := visible_message("public", message)) is not None
    }
    withheld = {cast("str", message["id"]) for message in event.messages} - messages.keys()
    seen_ids = {name: _block_ids(message) for name, message in messages.items()}
    all_ids = frozenset().union(*seen_ids.values())
    return replace(
        event,
        messages=list(messages.values()),
        turns=[
            _see_turn_info(info, seen_ids.get(cast("str", info["id"]), frozenset()))
            for info in event.turns
            if info["id"] not in withheld
        ],
        open_block_ids=[name for name in event.open_block_ids if name in all_ids],
    )


def _block_ids(message: Message) -> frozenset[Json]:
    return frozenset(block["id"] for block in cast("list[Block]", message["content"]))


def _see_turn_info(info: dict[str, Json], seen_ids: frozenset[Json]) -> dict[str, Json]:
    """Return what the public gets of a snapshot's turn, of whose message it sees these blocks."""
    changes: dict[str, Json] = {}
    if "open_block_ids" in info:
        open_ids = cast("list[Json]", info["open_block_ids"])
        changes["open_block_ids"] = [name for name in open_ids if name in seen_ids]
    if "request" in info:
        request = cast("Mapping[str, Json]", info["request"])
        changes["request"] = dict(_see_request(request, seen_ids))
    return _without_hidden({**info, **changes})
