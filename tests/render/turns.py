"""Turns and messages for tests, written down in a line or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blockwire.content import BlockState, Message, TurnState

__all__ = ["block", "grown", "message", "turn"]


def block(kind: str, number: int = 1, /, **members: Any) -> dict[str, Any]:
    """Return one block as JSON."""
    return {"id": f"block_{number}", "type": kind, **members}


def message(*blocks: dict[str, Any], role: str = "assistant", **members: Any) -> Message:
    """Return a complete message with ``blocks``, which get ids of their own."""
    content = [{**item, "id": f"block_{number}"} for number, item in enumerate(blocks, 1)]
    return {
        "id": "msg_1",
        "role": role,
        "status": "completed",
        "content": content,
        "created_at": 1,
        **members,
    }


def turn(
    *blocks: BlockState,
    turn_id: str = "turn_1",
    status: str = "streaming",
    request: Mapping[str, Any] | None = None,
    **envelope: Any,
) -> TurnState:
    """Return a turn with these blocks."""
    members = {"role": "assistant", "created_at": 1, **envelope}
    return TurnState(turn_id, 0, members, status=status, blocks=blocks, request=request)


def grown(
    blocks: Sequence[dict[str, Any]], pieces: int | None = None, **envelope: Any
) -> Iterator[TurnState]:
    """Yield every state of a turn in which ``blocks`` arrive one after the other.

    Args:
        blocks: As they are in the end.
        pieces: Characters of a delta; None lets a text arrive in one piece.
        envelope: Of the message; ``turn_id`` too.
    """
    state = turn(**envelope)
    yield state
    for number, item in enumerate(blocks, 1):
        final = {**item, "id": f"block_{number}"}
        field = {"prose": "markdown", "reasoning": "text"}.get(item["type"])
        text = final[field] if field is not None else ""
        started = BlockState({**final, field: ""} if field is not None else final, is_open=True)
        state = state.with_new_block(started)
        yield state
        for start in range(0, len(text), pieces or max(len(text), 1)):
            piece = text[start : start + (pieces or len(text))]
            position = number - 1
            state = state.with_block(position, state.blocks[position].with_text(piece))
            yield state
        state = state.with_block(number - 1, state.blocks[number - 1].completed())
        yield state
