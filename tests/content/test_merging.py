"""Merging: what may be merged is, and no reader can tell, whatever its cursor."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from blockwire.content import (
    BlockDelta,
    ConversationState,
    Merged,
    StreamEvent,
    View,
    apply,
    cut_merged,
    merge_deltas,
    merge_entries,
)
from blockwire.errors import LocalProtocolError
from blockwire.testing.scripts import conversation_scripts, numbered, numbered_for
from tests.content.words import TURN, delta, done, end, folded, prose, spelled, thought, turn


def outline(events: list[StreamEvent]) -> list[str]:
    return [
        f"{it.block_id}:{it.text}" if isinstance(it, BlockDelta) else type(it).__name__
        for it in events
    ]


TWO_BLOCKS = numbered(
    [
        turn(),
        prose("a"),
        prose("b"),
        delta("1", "a"),
        delta("2", "a"),
        delta("3", "b"),
        delta("4", "a"),
        delta("5", "a"),
        delta("6", "a"),
        done("b"),
        delta("7", "a"),
        done("a"),
        end(),
    ]
)


@pytest.mark.requirement("content:merge:numbers")
def test_neighbouring_deltas_of_one_block_become_one() -> None:
    merged = merge_deltas(TWO_BLOCKS)

    assert outline(merged) == [
        "TurnStarted",
        "BlockStarted",
        "BlockStarted",
        "a:12",
        "b:3",
        "a:456",
        "BlockCompleted",
        "a:7",
        "BlockCompleted",
        "TurnEnded",
    ]
    assert (merged[5].prev_seq, merged[5].seq, merged[5].ts) == (6, 9, 1009)


def test_a_merged_delta_knows_what_it_stands_for() -> None:
    entries = merge_entries(map(Merged, TWO_BLOCKS))

    assert [entry.pairs for entry in entries if entry.pairs] == [
        ((4, 1), (5, 1)),
        ((7, 1), (8, 1), (9, 1)),
    ]


FIRST = BlockDelta(TURN, "a", "markdown", "x", conversation_id="c", seq=2, prev_seq=1)
APART = [
    ("another block", {"block_id": "b"}),
    ("another turn", {"turn_id": "turn_2"}),
    ("another field", {"field": "text"}),
    ("another conversation", {"conversation_id": "d"}),
    ("a number is missing between them", {"prev_seq": 3, "seq": 4}),
    ("the same number again", {"prev_seq": 1, "seq": 2}),
    ("a number that goes back", {"prev_seq": 2, "seq": 1}),
    ("a member that nobody knows", {"extra": {"x": 1}}),
]


@pytest.mark.parametrize("changes", [changes for _why, changes in APART], ids=[w for w, _ in APART])
@pytest.mark.requirement("content:merge:neighbours")
def test_what_does_not_follow_directly_stays_apart(changes: dict[str, object]) -> None:
    second = replace(FIRST, **{"seq": 3, "prev_seq": 2, **changes})

    assert merge_deltas([FIRST, second]) == [FIRST, second]


@pytest.mark.requirement("content:merge:unknown-members")
def test_a_delta_before_one_with_an_unknown_member_stays_apart_too() -> None:
    first = replace(FIRST, extra={"x": 1})
    second = replace(FIRST, seq=3, prev_seq=2)

    assert merge_deltas([first, second]) == [first, second]


def test_events_without_numbers_are_merged_and_have_no_pairs() -> None:
    events: list[StreamEvent] = [delta("a"), delta("b"), prose("c"), delta("d", "c")]

    entries = merge_entries(map(Merged, events))

    assert [entry.event for entry in entries] == [delta("ab"), prose("c"), delta("d", "c")]
    assert all(entry.pairs == () for entry in entries)


def test_a_merged_delta_stays_within_its_bound_and_a_long_one_as_it_is() -> None:
    log = numbered([delta(text) for text in ("aa", "bb", "c", "dddddddd", "e")])

    assert outline(merge_deltas(log, chars_max=4)) == ["b1:aabb", "b1:c", "b1:dddddddd", "b1:e"]


@pytest.mark.requirement("content:merge:steps")
def test_merging_in_steps_is_merging_at_once() -> None:
    log = [Merged(event) for event in TWO_BLOCKS]

    in_steps = merge_entries(merge_entries(log[:5]) + merge_entries(log[5:8]) + log[8:])

    assert in_steps == merge_entries(log)


MERGED = replace(FIRST, text="abcdé", prev_seq=3, seq=9)
PAIRS = ((5, 2), (7, 0), (9, 3))
CUTS = [
    # cursor, text that is sent, prev_seq
    (0, "abcdé", 3),
    (3, "abcdé", 3),
    # A number that this view was not given may be a cursor, too.
    (4, "abcdé", 4),
    (5, "cdé", 5),
    (6, "cdé", 6),
    (8, "cdé", 8),
    (9, None, 0),
    (12, None, 0),
]


@pytest.mark.parametrize(("cursor", "text", "prev_seq"), CUTS)
@pytest.mark.requirement("content:merge:cut")
def test_a_reader_inside_the_range_gets_only_the_text_after_its_cursor(
    cursor: int, text: str | None, prev_seq: int
) -> None:
    cut = cut_merged(MERGED, PAIRS, cursor)

    assert cut == (None if text is None else replace(MERGED, text=text, prev_seq=prev_seq))


def test_a_delta_that_was_never_merged_is_sent_whole() -> None:
    assert cut_merged(MERGED, (), 5) == replace(MERGED, prev_seq=5)


@pytest.mark.parametrize("pairs", [None, ((9, 4),)])
@pytest.mark.requirement("content:merge:pairs-gone")
def test_where_the_pairs_are_gone_the_reader_needs_a_snapshot(
    pairs: tuple[tuple[int, int], ...] | None,
) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        cut_merged(MERGED, pairs, 5)

    assert refused.value.code == "cursor_inside_delta"
    assert cut_merged(MERGED, pairs, 3) == MERGED
    assert cut_merged(MERGED, pairs, 9) is None


def served(entries: list[Merged], cursor: int) -> list[StreamEvent]:
    """Return what a reader with this cursor is sent of a log that may be merged."""
    sent: list[StreamEvent] = []
    for event, pairs in entries:
        if isinstance(event, BlockDelta):
            part = cut_merged(event, pairs, cursor)
            sent += [part] if part is not None else []
        elif event.seq > cursor:
            sent.append(event)
    return sent


@given(conversation_scripts(), st.data(), st.sampled_from(["owner", "public"]))
@example(
    [turn(), thought(), prose(), delta("x"), delta("y", "r1", "text"), delta("z")], None, "public"
)
@pytest.mark.requirement("content:merge:same-state")
def test_every_cursor_and_every_moment_of_compaction_give_the_same_state(
    events: list[StreamEvent], data: st.DataObject | None, view: View
) -> None:
    log = numbered_for(view, numbered(events))
    whole = folded(log)
    compacted = len(log) if data is None else data.draw(st.integers(0, len(log)))
    bound = None if data is None else data.draw(st.none() | st.integers(0, 6))
    entries = merge_entries(map(Merged, log[:compacted]), chars_max=bound)
    entries += map(Merged, log[compacted:])

    for cursor in range(len(events) + 1):
        state = folded([event for event in log if event.seq <= cursor]).at(cursor, "conv_1")
        for event in served(entries, cursor):
            # Never an event whose range strictly contains the cursor.
            assert event.prev_seq <= state.seq < event.seq
            state = apply(state, event)
        expected = {**spelled(whole), "seq": max(whole.seq, cursor), "conversation_id": "conv_1"}
        assert spelled(state) == expected


@given(conversation_scripts(), st.sampled_from(["owner", "public"]))
@pytest.mark.requirement("content:merge:same-state")
def test_full_and_merged_logs_give_the_same_state(events: list[StreamEvent], view: View) -> None:
    log = numbered_for(view, numbered(events))

    assert spelled(folded(merge_deltas(log))) == spelled(folded(log))
    assert len(merge_deltas(log)) <= len(log)


@given(conversation_scripts())
def test_a_merged_log_has_no_two_deltas_that_could_be_one(events: list[StreamEvent]) -> None:
    merged = merge_deltas(numbered(events))

    assert merge_deltas(merged) == merged
    for first, second in pairwise(merged):
        assert not (
            isinstance(first, BlockDelta)
            and isinstance(second, BlockDelta)
            and (first.turn_id, first.block_id) == (second.turn_id, second.block_id)
        )


def test_the_state_of_a_merged_log_is_that_of_an_empty_one_where_there_is_nothing() -> None:
    assert merge_deltas([]) == []
    assert spelled(folded([])) == spelled(ConversationState())
