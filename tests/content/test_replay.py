"""What replay rests on: cuts, repeats, refusals and branches do not change the state, nor its cost."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import (
    BlockDelta,
    ConversationState,
    MessageCreated,
    StreamEvent,
    TurnStarted,
    advance,
    apply,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import equal_json
from blockwire.testing.scripts import conversation_scripts, numbered, turn_scripts
from tests.content.words import (
    TURN,
    advanced,
    delta,
    done,
    end,
    folded,
    of,
    prose,
    said,
    spelled,
    turn,
    update,
)


@given(conversation_scripts())
@pytest.mark.requirement("content:reduce:message-order")
def test_every_valid_script_is_taken_and_its_messages_stand_in_the_order_of_their_starts(
    events: list[StreamEvent],
) -> None:
    state = folded(numbered(events))

    starts = [
        it.message["id"] if isinstance(it, MessageCreated) else it.turn_id
        for it in events
        if isinstance(it, MessageCreated | TurnStarted)
    ]
    assert [message["id"] for message in state.messages] == starts


@given(conversation_scripts(), st.data())
@pytest.mark.requirement("content:cursor:replay")
def test_applying_a_prefix_twice_changes_nothing(
    events: list[StreamEvent], data: st.DataObject
) -> None:
    log = numbered(events)
    start = data.draw(st.integers(0, len(log)))
    again = data.draw(st.integers(0, start))

    state = folded(log[:start])
    replayed = folded(log[again:], state)

    assert spelled(replayed) == spelled(folded(log))


@given(pieces=st.lists(st.text(max_size=5), max_size=8), cut=st.integers(0, 40))
@pytest.mark.requirement("content:reduce:cuts")
def test_text_does_not_depend_on_how_it_was_cut(pieces: list[str], cut: int) -> None:
    text = "".join(pieces)

    in_pieces = advanced(turn(), prose(), *map(delta, pieces), done())
    in_two = advanced(turn(), prose(), delta(text[:cut]), delta(text[cut:]), done())

    assert spelled(in_pieces) == spelled(in_two)
    assert in_pieces.running[TURN].blocks[0].length_chars == len(text)


# Wrong in every state of the turn.
ALWAYS_WRONG = [
    turn(),
    said(TURN),
    delta("x", "nowhere"),
    delta("x", "b0", "id"),
    update("nowhere", output=1),
    done("nowhere"),
    of("turn_other", end()),
]


@given(turn_scripts(), st.data(), st.sampled_from(ALWAYS_WRONG))
def test_an_event_refused_in_the_middle_changes_nothing_of_what_follows(
    events: list[StreamEvent], data: st.DataObject, wrong: StreamEvent
) -> None:
    at = data.draw(st.integers(1, len(events)))
    state = advanced(*events[:at])
    before = spelled(state)

    with pytest.raises(RemoteProtocolError):
        advance(state, wrong)

    assert spelled(state) == before
    for event in events[at:]:
        state = advance(state, event)
    assert spelled(state) == spelled(advanced(*events))


@given(turn_scripts(ended=False), st.lists(st.text(max_size=3), min_size=1, max_size=4))
def test_branches_of_an_older_state_do_not_see_each_other(
    events: list[StreamEvent], texts: list[str]
) -> None:
    trunk = advance(advanced(*events), prose("own"))
    before = spelled(trunk)

    branches = [advance(trunk, delta(text, "own")) for text in texts]
    branches = [advance(it, prose(f"n{i}", str(i))) for i, it in enumerate(branches)]
    branches = [advance(it, delta("!", "own")) for it in branches]

    assert spelled(trunk) == before
    for index, (branch, text) in enumerate(zip(branches, texts, strict=True)):
        blocks = branch.running[TURN]
        own, new = blocks.find("own"), blocks.find(f"n{index}")
        assert own is not None
        assert new is not None
        assert own.block["markdown"] == f"{text}!"
        assert new.block["markdown"] == str(index)
        assert all(blocks.find(f"n{i}") is None for i in range(len(texts)) if i != index)


@given(conversation_scripts())
def test_a_state_spells_its_messages_the_same_each_time_and_whenever_it_is_asked(
    events: list[StreamEvent],
) -> None:
    asked_often = ConversationState()
    for event in numbered(events):
        asked_often = apply(asked_often, event)
        spelled(asked_often)

    assert equal_json(spelled(asked_often), spelled(folded(numbered(events))))
    assert equal_json(spelled(asked_often), spelled(asked_often))


@pytest.mark.requirement("content:reduce:linear")
def test_a_delta_copies_no_text_that_was_there_before() -> None:
    """Counted, not timed: the same deltas allocate as much after 10 MB of text as after 1 kB."""

    def allocated_bytes(size: int) -> int:
        state = advanced(turn(), prose(markdown="x" * size), delta("y"))
        tracemalloc.start()
        for _ in range(200):
            state = advance(state, delta("z"))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    small, large = allocated_bytes(1_000), allocated_bytes(10_000_000)

    assert large < 2 * small


def test_deltas_share_their_pieces() -> None:
    state = advanced(turn(), prose(), *(BlockDelta(TURN, "b1", "markdown", "a") for _ in range(50)))
    later = advance(state, delta("b"))

    pieces, more = state.running[TURN].blocks[0]._pieces, later.running[TURN].blocks[0]._pieces

    assert pieces is not None
    assert more is not None
    assert pieces._items is more._items
    assert (len(pieces), len(more)) == (51, 52)
