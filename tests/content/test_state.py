"""What a state tells: messages, turns, and text without paying for what was read before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import BlockState, ConversationState, advance
from tests.content.words import (
    TURN,
    advanced,
    block,
    delta,
    done,
    end,
    of,
    prose,
    said,
    thought,
    tool,
    turn,
)


@given(st.lists(st.text(max_size=4), max_size=6), st.integers(0, 30), st.booleans())
def test_text_since_an_offset_is_the_end_of_the_text(
    pieces: list[str], offset: int, was_read: bool
) -> None:
    state = advanced(turn(), prose(markdown="So: "), *map(delta, pieces))
    growing = state.running[TURN].blocks[0]
    text = "So: " + "".join(pieces)
    if was_read:
        assert growing.block["markdown"] == text

    assert growing.text_since(offset) == text[offset:]
    assert growing.length_chars == len(text)


def test_a_block_that_does_not_grow_has_no_text_since() -> None:
    assert advanced(turn(), tool()).running[TURN].blocks[0].text_since(0) == ""


def test_a_block_tells_its_status_and_whether_it_is_private() -> None:
    blocks = advanced(
        turn(),
        tool(status="running"),
        thought("r1"),
        thought("r2", visibility="visible"),
        block("x", "acme", status="running", visibility="private"),
    ).running[TURN]

    assert [it.status for it in blocks.blocks] == ["running", None, None, None]
    assert [it.is_private for it in blocks.blocks] == [False, True, False, False]
    assert blocks.find("nowhere") is None


def test_messages_and_turns_are_found_by_their_ids() -> None:
    state = advanced(said(), turn(), prose(), turn("turn_2"), of("turn_2", end()))

    assert [it["id"] for it in state.iter_messages()] == ["msg_1", TURN, "turn_2"]
    assert [it.turn_id for it in state.turns] == [TURN, "turn_2"]
    assert state.find_message("msg_1") == state.messages[0]
    assert state.find_message(TURN) == state.messages[1]
    assert state.find_message("nowhere") is None
    assert state.find_turn("msg_1") is None
    assert state.find_turn("nowhere") is None
    assert state.find_turn("turn_2") is state.turns[1]
    assert state.has_message("turn_2")
    assert not state.has_message("nowhere")


def test_what_became_final_is_told_in_the_order_in_which_it_did() -> None:
    state = advanced(turn(), said(), turn("turn_2"), of("turn_2", end()), end())

    assert state.finished_count == 3
    found = [(ordinal, it["id"]) for ordinal, it, _turn in state.finished_since(1)]
    assert found == [(2, "turn_2"), (0, TURN)]
    assert [it["id"] for it in state.messages] == [TURN, "msg_1", "turn_2"]


def test_a_state_without_its_finished_messages_goes_on_where_it_was() -> None:
    whole = advanced(said(), turn("turn_2"), turn(), of("turn_2", end()))

    light = whole.without_finished()
    after = advance(light, said("msg_2"))

    assert [it["id"] for it in light.messages] == [TURN]
    assert [it["id"] for it in after.messages] == [TURN, "msg_2"]
    assert after.next_ordinal == whole.next_ordinal + 1
    assert not light.has_message("msg_1")
    assert whole.has_message("msg_1")


def test_two_next_messages_of_one_state_know_nothing_of_each_other() -> None:
    trunk = advanced(said())

    left, right = advance(trunk, said("left")), advance(trunk, said("right"))

    assert (left.has_message("left"), left.has_message("right")) == (True, False)
    assert (right.has_message("left"), right.has_message("right")) == (False, True)


def test_states_that_go_different_ways_find_their_own_messages_only() -> None:
    trunk = advanced(said())

    left = advance(advance(trunk, said("left")), said("both"))
    right = advance(advance(trunk, said("both")), said("right"))

    assert [it["id"] for it in left.messages] == ["msg_1", "left", "both"]
    assert [it["id"] for it in right.messages] == ["msg_1", "both", "right"]
    assert not left.has_message("right")
    assert not right.has_message("left")
    assert not trunk.has_message("both")
    assert right.find_message("both") == right.messages[1]


def test_turns_that_go_different_ways_find_their_own_blocks_only() -> None:
    trunk = advanced(turn(), prose("a"))

    left = advance(advance(trunk, prose("left")), tool("both"))
    right = advance(advance(trunk, tool("both")), prose("right"))

    for state, ids in ((left, ["a", "left", "both"]), (right, ["a", "both", "right"])):
        found = {
            name: state.running[TURN].position(name) for name in ("a", "left", "both", "right")
        }
        assert {name: at for name, at in found.items() if at is not None} == {
            name: at for at, name in enumerate(ids)
        }


def test_a_state_given_running_turns_numbers_on_after_them() -> None:
    running = advanced(said(), said("msg_2"), turn()).running

    state = ConversationState("conv_1", 7, running=running)

    assert state.next_ordinal == 3
    assert ConversationState().next_ordinal == 0


@pytest.mark.parametrize("is_open", [True, False])
def test_a_block_from_a_snapshot_is_open_or_not_and_grows_on(is_open: bool) -> None:
    it = BlockState({"id": "b1", "type": "prose", "markdown": "ab"}, is_open=is_open)

    assert it.is_open == is_open
    assert it.with_text("c").block["markdown"] == "abc"
    assert it.block["markdown"] == "ab"
    assert advanced(turn(), prose(), done()).running[TURN].open_blocks == []
