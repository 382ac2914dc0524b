"""A snapshot at any number, and the tail after it, is as good as the whole log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import (
    ConversationSnapshot,
    ConversationState,
    StreamEvent,
    View,
    apply,
    decode_event,
    encode_event,
    load_snapshot,
    make_snapshot,
    visible,
)
from blockwire.jsontext import decode_json, equal_json
from blockwire.testing.scripts import conversation_scripts, numbered, numbered_for
from tests.content.words import (
    TURN,
    advanced,
    ask,
    delta,
    done,
    end,
    folded,
    of,
    prose,
    said,
    spelled,
    thought,
    turn,
    user_message,
)


def over_the_wire(event: StreamEvent) -> StreamEvent:
    return decode_event(decode_json(encode_event(event)))


@given(conversation_scripts(), st.data(), st.sampled_from(["owner", "public"]))
@pytest.mark.requirement("content:snapshot:tail")
def test_a_snapshot_and_the_tail_after_it_equal_the_whole_log_in_both_views(
    events: list[StreamEvent], data: st.DataObject, view: View
) -> None:
    log = numbered(events)
    at = data.draw(st.integers(0, len(log)))
    snapshot = visible(view, make_snapshot(folded(log[:at])), ConversationState())
    assert snapshot is not None
    whole = folded(numbered_for(view, log))

    resumed = apply(ConversationState("other", 999), over_the_wire(snapshot))
    for event in numbered_for(view, log):
        resumed = apply(resumed, event)

    # The cursor of a snapshot counts withheld events, too; one of nothing names no conversation.
    expected = {**spelled(whole), "seq": max(whole.seq, at), "conversation_id": ""}
    assert equal_json({**spelled(resumed), "conversation_id": ""}, expected)


def test_a_block_id_used_in_two_turns_is_open_only_where_it_is() -> None:
    state = advanced(turn(), prose(), done(), turn("turn_2"), of("turn_2", prose()))

    loaded = load_snapshot(make_snapshot(state))

    assert [block.is_open for block in loaded.running[TURN].blocks] == [False]
    assert [block.is_open for block in loaded.running["turn_2"].blocks] == [True]


def test_open_blocks_are_known_from_the_event_where_the_turns_do_not_say() -> None:
    messages = advanced(turn(), prose("b1", "a"), prose("b2", "b"), done("b1")).messages
    event = ConversationSnapshot(messages, [{"id": TURN}], ["b2"], seq=4)

    state = load_snapshot(event)

    assert [block.is_open for block in state.running[TURN].blocks] == [False, True]


@pytest.mark.parametrize("has_turns", [True, False])
def test_a_running_message_without_turn_metadata_still_runs(has_turns: bool) -> None:
    messages = advanced(turn(), prose()).messages
    event = ConversationSnapshot(messages, [{"id": TURN}] if has_turns else [], ["b1"], seq=4)

    state = apply(load_snapshot(event), delta("x"))

    assert state.running.keys() == {TURN}


def test_a_finished_turn_keeps_how_it_ended_and_a_message_of_the_user_is_no_turn() -> None:
    event = ConversationSnapshot(
        [user_message(), user_message(TURN, role="assistant", status="failed")],
        [{"id": TURN, "status": "interrupted", "error_code": "turn_interrupted"}],
        [],
        seq=9,
        more_before="cur",
    )

    state = load_snapshot(event)

    assert [it.turn_id for it in state.turns] == [TURN]
    assert state.turns[0].turn_status == "interrupted"
    assert state.turns[0].ended["error_code"] == "turn_interrupted"
    assert state.more_before == "cur"
    assert make_snapshot(state, reset=True).reset


@pytest.mark.requirement("content:snapshot:visible")
def test_a_snapshot_for_the_public_names_no_private_block() -> None:
    state = advanced(
        said(),
        turn(),
        thought("r1", "secret"),
        prose("b1", "open"),
        ask(block_id="r1", provider_data={"t": 1}),
        turn("turn_s", role="system"),
        turn("turn_2"),
        of("turn_2", end()),
    )
    snapshot = make_snapshot(state)

    shown = visible("public", snapshot, state)

    assert isinstance(shown, ConversationSnapshot)
    text = encode_event(shown)
    assert [word for word in (b"secret", b"r1", b"turn_s", b"provider_data") if word in text] == []
    assert shown.open_block_ids == ["b1"]
    assert [info["id"] for info in shown.turns] == [TURN, "turn_2"]
    assert visible("owner", snapshot, state) is snapshot
