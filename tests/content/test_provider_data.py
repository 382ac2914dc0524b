"""What a provider signs a block with comes last, and stays the owner's."""

import pytest

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationState,
    TurnStarted,
    advance,
    decode_event,
    event_members,
    visible_event,
)
from blockwire.jsontext import Json

SIGNATURE: dict[str, Json] = {"provider": "anthropic", "signature": "c2ln"}


def state_with_open_reasoning(visibility: str) -> ConversationState:
    state = ConversationState()
    block: dict[str, Json] = {"id": "b1", "type": "reasoning", "text": "", "visibility": visibility}
    for event in (
        TurnStarted("turn_1", "assistant", 1),
        BlockStarted("turn_1", block),
        BlockDelta("turn_1", "b1", "text", "So."),
    ):
        state = advance(state, event)
    return state


@pytest.mark.requirement("content:complete:provider-data")
def test_a_block_gets_its_signature_when_it_completes() -> None:
    state = state_with_open_reasoning("private")

    state = advance(state, BlockCompleted("turn_1", "b1", provider_data=SIGNATURE))

    message = state.find_message("turn_1")
    assert message is not None
    assert message["content"] == [
        {
            "id": "b1",
            "type": "reasoning",
            "text": "So.",
            "visibility": "private",
            "provider_data": SIGNATURE,
        }
    ]


def test_a_tool_that_repeats_itself_gets_it_too() -> None:
    tool: dict[str, Json] = {"id": "t1", "type": "tool", "tool": "add", "status": "pending"}
    state = advance(ConversationState(), TurnStarted("turn_1", "assistant", 1))
    state = advance(state, BlockStarted("turn_1", tool))

    event = BlockCompleted("turn_1", "t1", {**tool, "input": {}}, provider_data=SIGNATURE)
    turn = advance(state, event).find_turn("turn_1")

    assert turn is not None
    assert turn.blocks[0].block == {**tool, "input": {}, "provider_data": SIGNATURE}


def test_the_signature_travels_on_the_wire() -> None:
    event = BlockCompleted("turn_1", "b1", provider_data=SIGNATURE)

    assert decode_event(event_members(event)) == event


@pytest.mark.parametrize("visibility", ["visible", "private"])
def test_nobody_but_the_owner_gets_the_signature(visibility: str) -> None:
    state = state_with_open_reasoning(visibility)
    event = BlockCompleted("turn_1", "b1", provider_data=SIGNATURE)

    assert visible_event("owner", event, state) is event
    public = visible_event("public", event, state)
    assert public == (BlockCompleted("turn_1", "b1") if visibility == "visible" else None)
