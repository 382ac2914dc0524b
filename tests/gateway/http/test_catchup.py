"""Frames rewritten on their way out say the same as before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationState,
    StreamEvent,
    TurnStarted,
    apply,
    decode_event,
)
from blockwire.gateway.streams.catchup import merge_frames, relabel_frames
from blockwire.jsontext import decode_json
from blockwire.sse import SseDecoder, SseEvent
from blockwire.stores.entries import stamp_all
from tests.gateway.http.surface import draft

START: list[StreamEvent] = [
    TurnStarted(turn_id="t", role="assistant", created_at=1),
    BlockStarted("t", {"id": "b1", "type": "prose", "markdown": ""}),
    BlockStarted("t", {"id": "b2", "type": "prose", "markdown": ""}),
]


def frames_of(events: list[StreamEvent]) -> bytes:
    entries = stamp_all(
        [draft(event) for event in events], "conv_a", head_seq=0, public_head_seq=0, ts=5
    )
    return b"".join(entry.owner_frame for entry in entries)


def read(frames: bytes) -> list[SseEvent]:
    return [item for item in SseDecoder().receive_data(frames) if isinstance(item, SseEvent)]


def fold(frames: bytes, state: ConversationState | None = None) -> ConversationState:
    state = ConversationState() if state is None else state
    for event in read(frames):
        state = apply(state, decode_event(decode_json(event.data.encode())))
    return state


steps = st.lists(
    st.one_of(
        st.builds(BlockDelta, st.just("t"), st.sampled_from(["b1", "b2"]), st.just("markdown"), st.text(max_size=4)),
        st.just(BlockStarted("t", {"id": "", "type": "code", "text": "\n\ndata: x\n\n"})),
    ),
    max_size=30,
)  # fmt: skip


@given(steps=steps, ends=st.booleans())
def test_merged_frames_fold_to_the_same_state(steps: list[StreamEvent], ends: bool) -> None:
    named: list[StreamEvent] = [
        BlockStarted("t", {**step.block, "id": f"c{n}"}) if isinstance(step, BlockStarted) else step
        for n, step in enumerate(steps)
    ]
    tail: list[StreamEvent] = [BlockCompleted("t", "b1")] if ends else []
    frames = frames_of([*START, *named, *tail])

    merged = merge_frames(frames)

    assert fold(merged).messages == fold(frames).messages
    assert fold(merged).seq == fold(frames).seq
    assert len(read(merged)) <= len(read(frames))
    # What was seen in part before, and merged now, is not applied twice.
    assert fold(merged, fold(frames)).messages == fold(frames).messages
    assert merge_frames(merged) == merged


def test_only_neighbours_of_one_block_are_merged() -> None:
    deltas: list[StreamEvent] = [
        BlockDelta("t", block, "markdown", text)
        for block, text in (("b1", "a"), ("b1", "b"), ("b2", "c"), ("b1", "d"))
    ]

    merged = read(merge_frames(frames_of([*START, *deltas])))

    assert [event.last_event_id for event in merged] == ["1", "2", "3", "5", "6", "7"]


def test_frames_get_a_label_around_their_number_and_those_without_stay() -> None:
    frames = b"id: 7\nevent: x\ndata: id: 7\n\nevent: y\ndata: {}\n\n"

    labelled = relabel_frames(frames, b"a:1,b:", b",c:3")

    assert labelled == b"id: a:1,b:7,c:3\nevent: x\ndata: id: 7\n\nevent: y\ndata: {}\n\n"
