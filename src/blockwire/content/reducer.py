"""The one reducer: gateway, SDK and screens call the same :func:`apply`.

Spec: docs/spec/content/reducer.md.

:func:`advance` is the transition alone, for events that have no number yet; :func:`apply` adds
what the numbers say. A refused event changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

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
from blockwire.content.fields import STARTED_EXTRAS, TOOL_CHANGES
from blockwire.content.snapshot import load_snapshot
from blockwire.content.state import BlockState, ConversationState, TurnState
from blockwire.content.vocabulary import END_MEMBERS, TOOL_ORDER, Block
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json

__all__ = ["advance", "apply", "with_turn_of"]


def apply(state: ConversationState, event: StreamEvent) -> ConversationState:
    """Return the state after ``event``; ``state`` is never changed.

    An event that ``state`` has seen already (``seq`` not above the cursor) changes nothing. A
    snapshot replaces everything, also when its ``seq`` is lower. An event without a number (one
    that concerns the connection only) changes nothing. The first block of a turn that nobody
    announced begins it: ``turn.started`` is ours, and other gateways do not send it.

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
    after = advance(with_turn_of(state, event), event)
    if after is state:
        return state.at(seq, event.conversation_id)
    # Nobody else has seen this state yet, so it needs no copy.
    after.seq = seq
    after.conversation_id = event.conversation_id or state.conversation_id
    return after


def with_turn_of(state: ConversationState, event: StreamEvent) -> ConversationState:
    """Return ``state`` with the turn that ``event`` begins unannounced; else ``state`` itself.

    That is a ``content.block.started`` of a turn that is in no message. For receivers; whoever
    writes a log announces its turns.
    """
    if type(event) is not BlockStarted or event.turn_id in state.running:
        return state
    if state.has_message(event.turn_id):
        return state
    return _start_turn(state, TurnStarted(event.turn_id, "assistant", event.ts))


def advance(state: ConversationState, event: StreamEvent) -> ConversationState:
    """Return the state after ``event`` whatever its numbers; the cursor stays.

    Raises:
        RemoteProtocolError: ``turn_not_found``, ``turn_exists``, ``turn_terminal``,
            ``turn_suspended``, ``turn_not_suspended``, ``message_exists``, ``block_not_found``,
            ``block_exists``, ``block_complete``, ``blocks_open``, ``field_not_mutable``,
            ``tool_status_regression``, ``tool_not_finished``.
    """
    return _TRANSITIONS[type(event)](state, event)


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


def _extend(state: ConversationState, event: BlockDelta) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    position, block = _open_block(turn, event.block_id)
    if block.field is None or block.field != event.field:
        raise RemoteProtocolError("field_not_mutable", "deltas extend only the declared text field")
    return state.with_running(turn.with_block(position, block.with_text(event.text)))


def _start_block(state: ConversationState, event: BlockStarted) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    if turn.position(cast("str", event.block["id"])) is not None:
        raise RemoteProtocolError("block_exists", "block ids are unique in their message")
    return state.with_running(turn.with_new_block(BlockState(event.block, is_open=True)))


def _check_tool_status(block: BlockState, status: Json) -> None:
    # A final status may be repeated, never changed; an open one may be repeated or advanced.
    old, new = cast("str", block.status), cast("str", status)
    if old != new and TOOL_ORDER[new] <= TOOL_ORDER[old]:
        raise RemoteProtocolError("tool_status_regression", f"a tool never goes {old} -> {new}")


def _update_block(state: ConversationState, event: BlockUpdated) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    position, block = _open_block(turn, event.block_id)
    if block.type != "tool" or not event.set.keys() <= TOOL_CHANGES.keys():
        raise RemoteProtocolError("field_not_mutable", "only results and status of a tool change")
    if "status" in event.set:
        _check_tool_status(block, event.set["status"])
    return state.with_running(turn.with_block(position, block.with_members(event.set)))


def _complete_block(state: ConversationState, event: BlockCompleted) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    position, block = _open_block(turn, event.block_id)
    final = event.block
    if block.type == "tool":
        final = _final_tool(block, final)
    elif final is not None:
        raise RemoteProtocolError("field_not_mutable", "only a tool repeats itself at its end")
    if event.provider_data is not None:
        # A signature comes after the text that it signs, when nothing else may change any more.
        base = block.block if final is None else final
        final = {**base, "provider_data": event.provider_data}
    return state.with_running(turn.with_block(position, block.completed(final)))


def _final_tool(block: BlockState, final: Block | None) -> Block:
    """Return a tool block as it stays: what its end repeats, and nothing received thrown away."""
    so_far = block.block
    if final is None:
        final = so_far
    if any(final.get(name) != so_far[name] for name in ("id", "type", "tool")):
        raise RemoteProtocolError("field_not_mutable", "a tool block stays the call that it was")
    _check_tool_status(block, final["status"])
    # A pending one is complete, too: its call is the client's to run.
    if final["status"] == "running":
        raise RemoteProtocolError("tool_not_finished", "a running tool is not complete")
    return {**so_far, **final}


def _suspend_turn(state: ConversationState, event: TurnSuspended) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    if turn.status == "suspended":
        raise RemoteProtocolError("turn_suspended", "the turn waits for an answer already")
    block_id = event.request.get("block_id")
    if block_id is not None and turn.position(cast("str", block_id)) is None:
        raise RemoteProtocolError("block_not_found", "the request names no block of the turn")
    return state.with_running(turn.with_status("suspended", request=event.request))


def _resume_turn(state: ConversationState, event: TurnResumed) -> ConversationState:
    turn = _open_turn(state, event.turn_id)
    if turn.status != "suspended":
        raise RemoteProtocolError("turn_not_suspended", "the turn does not wait")
    return state.with_running(turn.with_status("streaming"))


def _create_message(state: ConversationState, event: MessageCreated) -> ConversationState:
    if state.has_message(cast("str", event.message["id"])):
        raise RemoteProtocolError("message_exists", "a message with this id exists")
    return state.with_finished(state.next_ordinal, event.message)


def _load_snapshot(_state: ConversationState, event: ConversationSnapshot) -> ConversationState:
    return load_snapshot(event)


def _ignore(state: ConversationState, _event: UnknownEvent) -> ConversationState:
    return state


def _start_turn(state: ConversationState, event: TurnStarted) -> ConversationState:
    if state.has_message(event.turn_id):
        raise RemoteProtocolError("turn_exists", "a turn with this id exists")
    envelope: dict[str, Json] = {"role": event.role, "created_at": event.created_at}
    if event.model is not None:
        envelope["model"] = event.model
    if event.provider is not None:
        envelope["provider"] = event.provider
    extra = event.extra or {}
    envelope.update({name: value for name, value in extra.items() if name in STARTED_EXTRAS})
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
        name: value for name in END_MEMBERS if (value := getattr(event, name)) is not None
    }
    turn = turn.with_status(event.status, ended=ended, envelope=envelope)
    return state.with_finished(turn.ordinal, turn.message, turn)


# Every class of event has one; a test holds the keys against ``StreamEvent``.
_TRANSITIONS: Final[Mapping[type, Callable[[ConversationState, Any], ConversationState]]] = {
    BlockDelta: _extend,
    BlockStarted: _start_block,
    BlockUpdated: _update_block,
    BlockCompleted: _complete_block,
    TurnStarted: _start_turn,
    TurnEnded: _end_turn,
    TurnSuspended: _suspend_turn,
    TurnResumed: _resume_turn,
    MessageCreated: _create_message,
    ConversationSnapshot: _load_snapshot,
    UnknownEvent: _ignore,
}
