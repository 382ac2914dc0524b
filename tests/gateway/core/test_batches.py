"""A batch is the reducer, event by event, only cheaper."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
    advance,
    decode_event,
    encode_event,
    visible_event,
)
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.turns.drafts import Batch
from blockwire.jsontext import Json, decode_json

TS = 1_740_000_000_000
TURNS = st.sampled_from(["t1", "t2"])
IDS = st.sampled_from(["a", "b", "c"])
BLOCKS: list[dict[str, Json]] = [
    {"type": "prose", "markdown": ""},
    {"type": "reasoning", "text": ""},
    {"type": "reasoning", "text": "", "visibility": "visible"},
    {"type": "tool", "tool": "ls", "status": "pending", "provider_data": 1},
]
EVENTS: st.SearchStrategy[StreamEvent] = st.one_of(
    st.builds(
        BlockDelta,
        turn_id=TURNS,
        block_id=IDS,
        field=st.sampled_from(["markdown", "text"]),
        text=st.text(max_size=3),
        extra=st.sampled_from([None, None, None, {"note": 1}]),
        seq=st.sampled_from([0, 0, 7]),
    ),
    st.builds(
        lambda turn_id, block_id, block: BlockStarted(turn_id, {"id": block_id, **block}),
        TURNS,
        IDS,
        st.sampled_from(BLOCKS),
    ),
    st.builds(BlockCompleted, turn_id=TURNS, block_id=IDS),
    st.builds(
        BlockUpdated,
        turn_id=TURNS,
        block_id=IDS,
        set=st.sampled_from([{"status": "running"}, {"status": "failed"}, {"provider_data": 2}]),
    ),
    st.builds(
        TurnStarted,
        turn_id=TURNS,
        role=st.sampled_from(["assistant", "system"]),
        created_at=st.just(1),
    ),
    st.builds(TurnResumed, turn_id=TURNS),
    st.builds(
        TurnSuspended,
        turn_id=TURNS,
        request=st.just({"id": "r", "kind": "question", "prompt": "?"}),
    ),
    st.builds(TurnEnded, turn_id=TURNS, status=st.sampled_from(["completed", "failed"])),
    st.just(UnknownEvent(type="agent.mood", members={"mood": "good"})),
)
STARTED = TurnStarted("t1", "assistant", 1)
OPEN = BlockStarted("t1", {"id": "a", "type": "prose", "markdown": ""})


def delta(text: str, block_id: str = "a") -> BlockDelta:
    return BlockDelta("t1", block_id, "markdown", text)


def shape(state: ConversationState) -> Any:
    turns = [(turn.turn_id, turn.status, dict(turn.ended), turn.message) for turn in state.turns]
    return turns, state.messages, [[b.is_open for b in turn.blocks] for turn in state.turns]


@given(events=st.lists(EVENTS, max_size=25), reads=st.sets(st.integers(0, 24)))
@example(events=[STARTED, OPEN, delta("x"), delta("y"), delta("z", "b"), delta("w")], reads={3})
@example(events=[STARTED, OPEN, delta("x"), BlockCompleted("t1", "a"), delta("y")], reads=set())
@example(
    events=[STARTED, OPEN, delta("x"), delta("y"), UnknownEvent(type="x", members={}), delta("z")],
    reads=set(),
)
def test_a_batch_ends_where_the_reducer_does_and_refuses_what_it_refuses(
    events: list[StreamEvent], reads: set[int]
) -> None:
    batch = Batch(ConversationState(), TS)
    state = ConversationState()
    for index, event in enumerate(events):
        expected = actual = None
        before = state
        try:
            # The stamp of the batch is the end of a message.
            stamped = type(event)(**{**members(event), "ts": TS, "seq": 0})
            state = advance(state, stamped)
        except RemoteProtocolError as error:
            expected = error.code
        try:
            batch.add(event)
        except RemoteProtocolError as error:
            actual = error.code
        assert actual == expected
        if actual is None:
            check_draft(batch, before)
        if index in reads:
            assert shape(batch.state) == shape(state)
    assert shape(batch.state) == shape(state)
    assert len(batch.finished) == len(batch.ended) == sum(t.is_terminal for t in state.turns)


def members(event: StreamEvent) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


def check_draft(batch: Batch, before: ConversationState) -> None:
    """Check that the newest draft is what each view gets of its event."""
    draft = batch.drafts[-1]
    owner = decode_event(decode_json(draft.owner))
    public = visible_event("public", owner, before)
    assert owner.seq == owner.ts == 0
    assert draft.type == decode_json(draft.owner)["type"]  # type: ignore[index, call-overload]
    assert draft.public == (None if public is None else encode_event(public))
    if draft.public == draft.owner:
        assert draft.public is draft.owner
