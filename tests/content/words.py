"""Short words for the events that the tests of this room are made of."""

from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace

from blockwire.content import (
    Block,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationState,
    Message,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    advance,
    apply,
)
from blockwire.content.vocabulary import TerminalStatus
from blockwire.jsontext import Json

TURN = "turn_1"

E = TypeVar("E", BlockStarted, BlockDelta, BlockUpdated, BlockCompleted, TurnEnded)


def turn(turn_id: str = TURN, role: str = "assistant") -> TurnStarted:
    return TurnStarted(turn_id, role, 1000)


def block(block_id: str, kind: str, **members: Json) -> BlockStarted:
    return BlockStarted(TURN, {"id": block_id, "type": kind, **members})


def prose(block_id: str = "b1", markdown: str = "") -> BlockStarted:
    return block(block_id, "prose", markdown=markdown)


def thought(block_id: str = "r1", text: str = "", **members: Json) -> BlockStarted:
    return block(block_id, "reasoning", text=text, **members)


def tool(block_id: str = "k1", status: str = "pending", **members: Json) -> BlockStarted:
    return block(block_id, "tool", tool="ls", status=status, **members)


def delta(text: str, block_id: str = "b1", field: str = "markdown") -> BlockDelta:
    return BlockDelta(TURN, block_id, field, text)


def update(block_id: str = "k1", **changes: Json) -> BlockUpdated:
    return BlockUpdated(TURN, block_id, changes)


def done(block_id: str = "b1", final: Block | None = None) -> BlockCompleted:
    return BlockCompleted(TURN, block_id, final)


def ask(**members: Json) -> TurnSuspended:
    return TurnSuspended(TURN, {"id": "req_1", "kind": "approval", "prompt": "May I?", **members})


def resume() -> TurnResumed:
    return TurnResumed(TURN)


def end(status: TerminalStatus = "completed") -> TurnEnded:
    return TurnEnded(TURN, status)


def of(turn_id: str, event: E) -> E:
    """Return ``event`` as one of another turn."""
    return replace(event, turn_id=turn_id)


def user_message(message_id: str = "msg_1", **members: Json) -> Message:
    return {
        "id": message_id,
        "role": "user",
        "status": "completed",
        "content": [{"id": "b1", "type": "prose", "markdown": "How many?"}],
        "created_at": 1000,
        **members,
    }


def said(message_id: str = "msg_1", **members: Json) -> MessageCreated:
    return MessageCreated(user_message(message_id, **members))


def advanced(*events: StreamEvent) -> ConversationState:
    """Return the state after events without numbers."""
    state = ConversationState()
    for event in events:
        state = advance(state, event)
    return state


def folded(
    events: Iterable[StreamEvent], state: ConversationState | None = None
) -> ConversationState:
    """Return the state after numbered events."""
    state = state or ConversationState()
    for event in events:
        state = apply(state, event)
    return state


def spelled(state: ConversationState) -> dict[str, Json]:
    """Return all that can be seen of a state, as JSON."""
    return {
        "conversation_id": state.conversation_id,
        "seq": state.seq,
        "more_before": state.more_before,
        "messages": list(state.messages),
        "turns": [
            {
                "id": turn.turn_id,
                "status": turn.turn_status,
                "request": dict(turn.request) if turn.request is not None else None,
                "ended": dict(turn.ended),
                "open": [block.id for block in turn.open_blocks],
                "lengths": [block.length_chars for block in turn.blocks if block.is_open],
            }
            for turn in state.turns
        ],
    }
