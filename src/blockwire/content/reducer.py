"""The one reducer: gateway, SDK and screens call the same :func:`apply`.

Spec: docs/spec/content/reducer.md.

:func:`advance` is the transition alone, for events that have no number yet; :func:`apply` adds
what the numbers say. A refused event changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, assert_never, cast

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
from blockwire.content.fields import MESSAGE_FIELDS
from blockwire.content.state import BlockState, ConversationState, TurnState
from blockwire.content.vocabulary import (
    TERMINAL_STATUSES,
    TOOL_ORDER,
    TOOL_UPDATABLE,
    Block,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json

__all__ = ["advance", "apply"]

# Members of turn.started beyond its own that describe the message.
_ENVELOPE_EXTRAS: Final = frozenset(MESSAGE_FIELDS) - {
    "id",
    "status",
    "content",
    "completed_at",
    "conversation_id",
    "usage",
}


def apply(state: ConversationState, event: StreamEvent) -> ConversationState:
    """Return the state after ``event``; ``state`` is never changed.

    An event that ``state`` has seen already (``seq`` not above the cursor) changes nothing. A
    snapshot replaces everything, also when its ``seq`` is lower. An event without a number (one
    that concerns the connection only) changes nothing.

    Raises:
        RemoteProtocolError: ``sequence_gap`` when an event before this one is missing, and every
            code of :func:`advance`. The receiver resynchronises; it never guesses.
    """
    if isinstance(event, ConversationSnapshot):
        return advance(state, event)
    seq = event.seq
    if seq <= state.seq:
        return state
    if event.prev_seq > state.seq:
        raise RemoteProtocolError(
            "sequence_gap", f"event {seq} follows {event.prev_seq}, the cursor is at {state.seq}"
        )
    return advance(state, event).at(seq, event.conversation_id)


def advance(state: ConversationState, event: StreamEvent) -> ConversationState:
    """Return the state after ``event`` whatever its numbers; the cursor stays.

    Raises:
        RemoteProtocolError: ``turn_not_found``, ``turn_exists``, ``turn_terminal``,
            ``turn_suspended``, ``turn_not_suspended``, ``message_exists``, ``block_not_found``,
            ``block_exists``, ``block_complete``, ``blocks_open``, ``field_not_mutable``,
            ``tool_status_regression``, ``tool_not_finished``.
    """
    match event:
        case BlockDelta():
            turn = _open_turn(state, event.turn_id)
            return state.with_running(_extend(turn, event))
        case BlockStarted():
            turn = _open_turn(state, event.turn_id)
            return state.with_running(_start_block(turn, event.block))
        case BlockUpdated():
            turn = _open_turn(state, event.turn_id)
            return state.with_running(_update_block(turn, event))
        case BlockCompleted():
            turn = _open_turn(state, event.turn_id)
            return state.with_running(_complete_block(turn, event))
        case TurnStarted():
            return _start_turn(state, event)
        case TurnEnded():
            return _end_turn(state, event)
        case TurnSuspended():
            turn = _open_turn(state, event.turn_id)
            if turn.status == "suspended":
                raise RemoteProtocolError("turn_suspended", "the turn waits for an answer already")
            return state.with_running(turn.with_status("suspended", request=event.request))
        case TurnResumed():
            turn = _open_turn(state, event.turn_id)
            if turn.status != "suspended":
                raise RemoteProtocolError("turn_not_suspended", "the turn does not wait")
            return state.with_running(turn.with_status("streaming"))
        case MessageCreated():
            message_id = cast("str", event.message["id"])
            if state.has_message(message_id):
                raise RemoteProtocolError("message_exists", "a message with this id exists")
            return state.with_finished(state.next_ordinal, event.message)
        case ConversationSnapshot():
            return _load_snapshot(event)
        case UnknownEvent():
            return state
        case _:
            assert_never(event)


def _open_turn(state: ConversationState, turn_id: str) -> TurnState:
    turn = state.running.get(turn_id)
    if turn is not None:
        return turn
    if state.find_turn(turn_id) is not None:
        raise RemoteProtocolError("turn_terminal", "the turn is over and never changes")
    raise RemoteProtocolError("turn_not_found", "no such turn")


def _open_block(turn: TurnState, block_id: str) -> tuple[int, BlockState]:
    position = turn.position(block_id)
    if position is None:
        raise RemoteProtocolError("block_not_found", "no such block in the turn")
    block = turn.blocks[position]
    if not block.is_open:
        raise RemoteProtocolError("block_complete", "the block is complete and never changes")
    return position, block


def _extend(turn: TurnState, event: BlockDelta) -> TurnState:
    position, block = _open_block(turn, event.block_id)
    if block.field is None or block.field != event.field:
        raise RemoteProtocolError("field_not_mutable", "deltas extend only the declared text field")
    return turn.with_block(position, block.with_text(event.text))


def _start_block(turn: TurnState, block: Block) -> TurnState:
    if turn.position(cast("str", block["id"])) is not None:
        raise RemoteProtocolError("block_exists", "block ids are unique in their message")
    return turn.with_new_block(BlockState(block, is_open=True))


def _check_tool_status(block: BlockState, status: Json) -> None:
    # A final status may be repeated, never changed; an open one may be repeated or advanced.
    old, new = cast("str", block.status), cast("str", status)
    if old != new and TOOL_ORDER[new] <= TOOL_ORDER[old]:
        raise RemoteProtocolError("tool_status_regression", f"a tool never goes {old} -> {new}")


def _update_block(turn: TurnState, event: BlockUpdated) -> TurnState:
    position, block = _open_block(turn, event.block_id)
    if block.type != "tool" or not event.set.keys() <= TOOL_UPDATABLE:
        raise RemoteProtocolError("field_not_mutable", "only results and status of a tool change")
    if "status" in event.set:
        _check_tool_status(block, event.set["status"])
    return turn.with_block(position, block.with_members(event.set))


def _complete_block(turn: TurnState, event: BlockCompleted) -> TurnState:
    position, block = _open_block(turn, event.block_id)
    final = event.block
    if final is not None and block.type != "tool":
        raise RemoteProtocolError("field_not_mutable", "only a tool repeats itself at its end")
    if block.type == "tool":
        if final is not None:
            _check_tool_status(block, final["status"])
        status = block.status if final is None else final["status"]
        if status == "running":
            raise RemoteProtocolError("tool_not_finished", "a running tool is not complete")
    if event.provider_data is not None:
        # A signature comes after the text that it signs, when nothing else may change any more.
        base = block.block if final is None else final
        final = {**base, "provider_data": event.provider_data}
    return turn.with_block(position, block.completed(final))


def _start_turn(state: ConversationState, event: TurnStarted) -> ConversationState:
    if state.has_message(event.turn_id):
        raise RemoteProtocolError("turn_exists", "a turn with this id exists")
    envelope: dict[str, Json] = {"role": event.role, "created_at": event.created_at}
    if event.model is not None:
        envelope["model"] = event.model
    if event.provider is not None:
        envelope["provider"] = event.provider
    for name, value in (event.extra or {}).items():
        if name in _ENVELOPE_EXTRAS:
            envelope[name] = value
    return state.with_running(TurnState(event.turn_id, state.next_ordinal, envelope))


def _end_turn(state: ConversationState, event: TurnEnded) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    if turn.status == "suspended" and event.status == "completed":
        raise RemoteProtocolError("turn_suspended", "a waiting turn resumes before it completes")
    if turn.open_blocks:
        raise RemoteProtocolError("blocks_open", "blocks complete before their turn ends")
    created_at = cast("int", turn.envelope["created_at"])
    envelope: dict[str, Json] = dict(turn.envelope)
    if event.ts:
        # A clock that was set back must not make a message end before it began.
        envelope["completed_at"] = max(event.ts, created_at)
    if event.usage is not None:
        envelope["usage"] = event.usage
    ended: dict[str, Json] = {
        name: value
        for name in ("finish_reason", "reason", "error_code")
        if (value := getattr(event, name)) is not None
    }
    turn = turn.with_status(event.status, ended=ended, envelope=envelope)
    return state.with_finished(turn.ordinal, turn.message, turn)


def _load_snapshot(event: ConversationSnapshot) -> ConversationState:
    turn_infos: dict[Any, Mapping[str, Json]] = {info.get("id"): info for info in event.turns}
    still_open = frozenset(event.open_block_ids)
    state = ConversationState(event.conversation_id, event.seq, more_before=event.more_before)
    for ordinal, message in enumerate(event.messages):
        info = turn_infos.get(message["id"])
        envelope = {k: v for k, v in message.items() if k not in {"id", "status", "content"}}
        status = cast("str", message["status"])
        turn = TurnState(
            cast("str", message["id"]),
            ordinal,
            envelope,
            status=status,
            blocks=tuple(
                BlockState(
                    block, is_open=status not in TERMINAL_STATUSES and block["id"] in still_open
                )
                for block in cast("list[Block]", message["content"])
            ),
            ended=_ended_of(info) if info is not None else MappingProxyType({}),
            request=cast("Mapping[str, Json] | None", info.get("request")) if info else None,
        )
        if not turn.is_terminal:
            state = state.with_running(turn)
        else:
            state = state.with_finished(ordinal, message, turn if info is not None else None)
    return state


def _ended_of(info: Mapping[str, Json]) -> Mapping[str, Json]:
    ended = {k: info[k] for k in ("finish_reason", "reason", "error_code") if k in info}
    if info.get("status") == "interrupted":
        ended["reason"] = "interrupted"
    return ended
