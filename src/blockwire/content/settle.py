"""How a turn ends well: whatever is open is settled first, then the word, then the end.

Spec: docs/spec/content/endings.md. Nothing that was received is thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from blockwire.content.events import (
    BlockCompleted,
    BlockStarted,
    BlockUpdated,
    StreamEvent,
    TurnEnded,
)
from blockwire.content.state import BlockState, TurnState
from blockwire.content.vocabulary import TOOL_FINISHED, Block, TerminalStatus
from blockwire.jsontext import Json

__all__ = [
    "ENGINE_FAILED_MESSAGE",
    "TRUNCATED_MESSAGE",
    "closing_error",
    "end_turn",
    "interrupt_turn",
    "settle_blocks",
]

# What readers are told of an end that nobody else explained.
ENGINE_FAILED_MESSAGE: Final = "The engine failed unexpectedly; see the log."
TRUNCATED_MESSAGE: Final = "The answer ended before it was complete; what had arrived is kept."
INTERRUPTED_MESSAGE: Final = (
    "The turn was interrupted before it finished; what had arrived is kept."
)


def settle_blocks(
    turn: TurnState, status: TerminalStatus, *, finish_reason: str | None = None
) -> list[StreamEvent]:
    """Return the events that complete every open block as it stands.

    An open tool becomes ``cancelled`` after a cancel, else ``failed``. The exception: when the
    turn completes with ``tool_calls``, a pending tool is the client's to run and stays pending.
    """
    events: list[StreamEvent] = []
    for block in turn.open_blocks:
        events += _settle(turn.turn_id, block, status, finish_reason)
    return events


def _settle(
    turn_id: str, block: BlockState, status: TerminalStatus, finish_reason: str | None
) -> list[StreamEvent]:
    if block.type != "tool":
        return [BlockCompleted(turn_id, block.id)]
    events: list[StreamEvent] = []
    final = block.block
    is_handed_out = (
        status == "completed" and finish_reason == "tool_calls" and block.status == "pending"
    )
    if block.status not in TOOL_FINISHED and not is_handed_out:
        settled = "cancelled" if status == "cancelled" else "failed"
        events.append(BlockUpdated(turn_id, block.id, {"status": settled}))
        final = {**final, "status": settled}
    events.append(BlockCompleted(turn_id, block.id, final))
    return events


def end_turn(  # noqa: PLR0913 - the members of a terminal event
    turn: TurnState,
    status: TerminalStatus,
    *,
    block: Block | None = None,
    usage: Mapping[str, Json] | None = None,
    finish_reason: str | None = None,
    reason: str | None = None,
) -> list[StreamEvent]:
    """Return the events that end ``turn``: open blocks settled, ``block``, the terminal event.

    Args:
        turn: Not terminal.
        status: How it ends.
        block: An ``error`` or ``notice`` block that says why, with its own id.
        usage: Token counts.
        finish_reason: Why the model stopped.
        reason: Why the turn did not complete.
    """
    events = settle_blocks(turn, status, finish_reason=finish_reason)
    if block is not None:
        events.append(BlockStarted(turn.turn_id, block))
        events.append(BlockCompleted(turn.turn_id, cast("str", block["id"])))
    events.append(
        TurnEnded(
            turn.turn_id,
            status,
            usage=dict(usage) if usage is not None else None,
            finish_reason=finish_reason,
            reason=reason,
            error_code=cast("str", block["code"])
            if block is not None and block["type"] == "error"
            else None,
        )
    )
    return events


def interrupt_turn(turn: TurnState, error_block_id: str) -> list[StreamEvent]:
    """Return the events with which a restart or an expired lease ends a running turn.

    Exactly one ``turn_interrupted`` error (retryable) is added; the turn is never resubmitted.
    """
    error: Block = {
        "id": error_block_id,
        "type": "error",
        "code": "turn_interrupted",
        "message": INTERRUPTED_MESSAGE,
        "retryable": True,
    }
    return end_turn(turn, "failed", block=error, reason="interrupted")


def closing_error(turn: TurnState) -> dict[str, Json] | None:
    """Return ``{code, message, retryable}`` of the last error block of a turn, or None."""
    for block in reversed(turn.blocks):
        if block.type == "error":
            error = block.block
            return {
                "code": error["code"],
                "message": error["message"],
                "retryable": error.get("retryable", False),
            }
    return None
