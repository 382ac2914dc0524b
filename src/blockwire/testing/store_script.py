"""Conversations for tests of stores: events in, appends out, as a gateway would make them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationState,
    Message,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    advance,
    encode_event,
    event_type,
    visible_event,
)
from blockwire.ports import Append, ConversationRow, Draft, TurnRow

__all__ = ["T0", "Script", "make_draft", "make_question", "make_turn", "new_conversation"]

T0: Final = 1_740_000_000_000
"""A moment, Unix milliseconds."""


def new_conversation(
    conversation_id: str = "conv_1", created_at: int = T0, **members: Any
) -> ConversationRow:
    """Return the row of a conversation that has no events yet."""
    return ConversationRow(
        id=conversation_id, created_at=created_at, updated_at=created_at, **members
    )


def make_turn(turn_id: str = "turn_1", conversation_id: str = "conv_1", **members: Any) -> TurnRow:
    """Return the row of a running turn."""
    values: dict[str, Any] = {"status": "running", "engine": "test", "created_at": T0}
    values["request_message_id"] = f"msg_{turn_id}"
    return TurnRow(id=turn_id, conversation_id=conversation_id, **(values | members))


def make_question(message_id: str, text: str = "why?") -> Message:
    """Return a user's message."""
    return {
        "id": message_id,
        "role": "user",
        "status": "completed",
        "content": [{"id": "block_1", "type": "prose", "markdown": text}],
        "created_at": T0,
    }


def make_draft(event: StreamEvent, public: StreamEvent | None) -> Draft:
    """Return the draft of ``event``, of which public views get ``public``."""
    owner = encode_event(event)
    shown = None if public is None else owner if public is event else encode_event(public)
    return Draft(event_type(event), owner, owner if shown == owner else shown)


class Script:
    """One conversation, told step by step.

    Attributes:
        conversation_id: Of all appends.
        state: The fold of everything told so far.
        ts: The stamp of what is told next, Unix milliseconds.
    """

    def __init__(self, conversation_id: str = "conv_1") -> None:
        self.conversation_id = conversation_id
        self.state = ConversationState(conversation_id)
        self.ts = T0

    def tell(self, *events: StreamEvent, **members: Any) -> Append:
        """Return the append of ``events``, with the messages that they finish."""
        drafts: list[Draft] = []
        finished: list[tuple[Message, int | None]] = []
        for event in events:
            drafts.append(make_draft(event, visible_event("public", event, self.state)))
            self.state = advance(self.state, msgspec.structs.replace(event, ts=self.ts))
            if isinstance(event, MessageCreated):
                finished.append((event.message, len(drafts) - 1))
            elif isinstance(event, TurnEnded):
                message = self.state.find_message(event.turn_id)
                assert message is not None, "the turn was told before"
                finished.append((message, None))
        return Append(
            conversation_id=self.conversation_id,
            drafts=drafts,
            ts=self.ts,
            finished=finished,
            **members,
        )

    def start_turn(self, turn_id: str = "turn_1", **members: Any) -> Append:
        """Return the append that stores a question and starts the turn that answers it."""
        row = make_turn(turn_id, self.conversation_id, **members)
        return self.tell(
            MessageCreated(message=make_question(row.request_message_id)),
            TurnStarted(turn_id=turn_id, role="assistant", created_at=T0),
            turn=row,
            new_turn=True,
        )

    def start_block(self, turn_id: str = "turn_1", block_id: str = "b1") -> Append:
        """Return the append that opens an empty prose block."""
        block = {"id": block_id, "type": "prose", "markdown": ""}
        return self.tell(BlockStarted(turn_id=turn_id, block={**block}))

    def start_thought(self, turn_id: str = "turn_1", block_id: str = "r1") -> Append:
        """Return the append that opens an empty block of private reasoning."""
        block = {"id": block_id, "type": "reasoning", "text": "", "visibility": "private"}
        return self.tell(BlockStarted(turn_id=turn_id, block={**block}))

    def write(self, *texts: str, turn_id: str = "turn_1", block_id: str = "b1") -> Append:
        """Return the append of one delta a text, for a block that is open."""
        turn = self.state.find_turn(turn_id)
        block = None if turn is None else turn.find(block_id)
        assert block is not None, "the block was told before"
        assert block.field is not None, "and grows"
        field = block.field
        return self.tell(
            *(
                BlockDelta(turn_id=turn_id, block_id=block_id, field=field, text=text)
                for text in texts
            )
        )

    def end_turn(self, turn_id: str = "turn_1", **members: Any) -> Append:
        """Return the append that completes all open blocks, and the turn."""
        turn = self.state.find_turn(turn_id)
        assert turn is not None, "the turn was told before"
        row = make_turn(
            turn_id, self.conversation_id, status="completed", completed_at=self.ts, **members
        )
        return self.tell(
            *(BlockCompleted(turn_id=turn_id, block_id=block.id) for block in turn.open_blocks),
            TurnEnded(turn_id=turn_id, status="completed"),
            turn=row,
        )
