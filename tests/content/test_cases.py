"""Situations from public bug reports, at the level of the reducer; words and data are our own.

The codes in the names of the tests are those of the list that the situations come from.
"""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    ConversationState,
    Merged,
    StreamEvent,
    apply,
    check_message,
    convert_keys,
    cut_merged,
    decode_event,
    encode_event,
    make_snapshot,
    merge_deltas,
    merge_entries,
)
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.testing.scripts import numbered
from tests.content.words import (
    TURN,
    advanced,
    block,
    delta,
    done,
    end,
    folded,
    prose,
    spelled,
    thought,
    tool,
    turn,
    user_message,
)


def texts(state: ConversationState, turn_id: str = TURN) -> list[tuple[str, str]]:
    """Return the id and the text of each block of a turn's message, in order."""
    message: Any = state.find_message(turn_id)
    return [
        (it["id"], it.get("markdown", it.get("text", it.get("tool")))) for it in message["content"]
    ]


GREETING = numbered(
    [turn(), prose(), delta("Guten"), delta(" Mor"), delta("gen"), done(), end()],
)


@pytest.mark.parametrize("lost_at", range(1, len(GREETING)))
@pytest.mark.case("R04")
def test_r04_a_new_connection_that_replays_everything_counts_nothing_twice(lost_at: int) -> None:
    before = folded(GREETING[:lost_at])

    # The cursor outlives the connection object: it is part of the state.
    after = folded(GREETING, before)

    assert texts(after) == [("b1", "Guten Morgen")]
    assert after.seq == len(GREETING)


THINKING = numbered(
    [
        turn(),
        thought(),
        delta("Count", "r1", "text"),
        delta("ing", "r1", "text"),
        done("r1"),
        prose(),
        delta("Seven."),
        done(),
        end(),
    ]
)


@pytest.mark.case("R07")
def test_r07_replay_in_one_burst_equals_event_by_event_at_every_number() -> None:
    live = ConversationState()
    for event in THINKING:
        live = apply(live, event)
        assert spelled(folded(THINKING[: event.seq])) == spelled(live)

    resumed = folded(THINKING[:3])
    reasoning = resumed.running[TURN].find("r1")
    assert reasoning is not None
    assert reasoning.is_open
    assert texts(resumed) == [("r1", "Count")]
    assert spelled(folded(THINKING[3:], resumed)) == spelled(live)


@pytest.mark.requirement("content:cursor:by-number")
@pytest.mark.case("R11")
def test_r11_an_overlap_of_replay_and_live_is_told_by_number_and_not_by_text() -> None:
    log = numbered([turn(), prose(), delta("ho"), delta("ho"), delta(" ho")])
    replay, live_again, live = log[:4], log[3:4], log[4:]

    state = folded([*replay, *live_again, *live])

    assert texts(state) == [("b1", "hoho ho")]


INTERLEAVED: list[StreamEvent] = [
    turn(),
    thought("r1"),
    delta("un", "r1", "text"),
    done("r1"),
    prose("b1"),
    delta("deux"),
    done("b1"),
    thought("r2"),
    delta("trois", "r2", "text"),
    done("r2"),
    end(),
]


@given(st.lists(st.booleans(), min_size=len(INTERLEAVED), max_size=len(INTERLEAVED)))
@pytest.mark.case("O02")
def test_o02_batches_keep_the_order_of_blocks(cuts: list[bool]) -> None:
    log = numbered(INTERLEAVED)
    batches: list[list[StreamEvent]] = [[]]
    for event, is_cut in zip(log, cuts, strict=True):
        batches[-1].append(event)
        if is_cut:
            batches.append([])

    state = folded([event for batch in batches for event in merge_deltas(batch)])

    assert texts(state) == [("r1", "un"), ("b1", "deux"), ("r2", "trois")]


@pytest.mark.requirement("content:reduce:order")
@pytest.mark.case("O03")
def test_o03_a_block_stands_where_it_started_whenever_it_ends() -> None:
    state = advanced(
        turn(),
        prose(),
        delta("I look "),
        tool(status="completed"),
        done("k1"),
        delta("and see."),
        done(),
        end(),
    )

    assert texts(state) == [("b1", "I look and see."), ("k1", "ls")]


@pytest.mark.case("O05")
def test_o05_a_start_whose_number_was_seen_is_no_error_and_a_new_number_is() -> None:
    log = numbered([turn(), prose(), delta("Gut"), delta("en")])
    state = folded(log[:3])

    resumed = folded(log, state)
    with pytest.raises(RemoteProtocolError) as refused:
        apply(resumed, replace(log[1], seq=5, prev_seq=4))

    assert texts(resumed) == [("b1", "Guten")]
    assert len(resumed.running[TURN].blocks) == 1
    assert refused.value.code == "block_exists"


@pytest.mark.case("O10")
def test_o10_what_a_snapshot_lacks_of_a_merged_delta_goes_where_it_belongs() -> None:
    log = numbered(
        [
            turn(),
            prose("b1"),
            delta("ab"),
            delta("c"),
            delta("d"),
            tool(),
            prose("b2"),
            delta("ef", "b2"),
        ]
    )
    # The snapshot was taken in the middle of what the log holds as one delta by now.
    snapshot = make_snapshot(folded(log[:4]))
    entries = merge_entries(map(Merged, log))

    state = apply(ConversationState(), snapshot)
    for event, pairs in entries:
        if isinstance(event, BlockDelta):
            part = cut_merged(event, pairs, state.seq)
            state = state if part is None else apply(state, part)
        else:
            state = apply(state, event)

    assert texts(state) == [("b1", "abcd"), ("k1", "ls"), ("b2", "ef")]
    assert [it.seq for it, _pairs in entries] == [1, 2, 5, 6, 7, 8]


ESCAPE = "\x1b]0;pwned\x07"


@pytest.mark.parametrize(
    ("event", "pointer"),
    [
        (block("x", "tool", tool=f"{ESCAPE}build", status="pending"), "/block/tool"),
        (block("x", "attachment", attachment_id="a", name=ESCAPE, media_type="a/b"), "/block/name"),
        (block("x", "code", text="", language="c\x9b"), "/block/language"),
        (replace(turn(), model=f"m{ESCAPE}"), "/model"),
        (replace(turn(), provider="p\x00"), "/provider"),
        (replace(turn(), extra={"author": ESCAPE}), "/author"),
    ],
)
@pytest.mark.requirement("content:names:clean")
@pytest.mark.case("T13")
def test_t13_names_with_controls_are_refused_at_the_door(event: StreamEvent, pointer: str) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        decode_event(decode_json(encode_event(event)))

    assert (refused.value.code, refused.value.pointer) == ("invalid_name", pointer)


@pytest.mark.case("T13")
def test_t13_what_a_tool_put_out_keeps_them_as_data() -> None:
    event = block("k1", "tool", tool="sh", status="completed", output=f"{ESCAPE}ok")

    again = decode_event(decode_json(encode_event(event)))

    assert again == event


@pytest.mark.case("P09")
def test_p09_half_a_character_is_refused_with_a_code_and_poisons_nothing() -> None:
    state = advanced(turn(), prose())
    for half in (b"ok \\ud83d", b"\\ude00"):
        with pytest.raises(RemoteProtocolError) as refused:
            decode_json(b'{"type":"content.block.delta","text":"' + half + b'"}')
        assert refused.value.code == "invalid_unicode"
    with pytest.raises(LocalProtocolError):
        encode_event(delta("\ud83d"))

    assert texts(state) == [("b1", "")]


@pytest.mark.requirement("content:json:any-scalar")
@pytest.mark.case("P09")
def test_p09_a_nul_is_data_on_every_road() -> None:
    code = block("c1", "code", text="a\x00b")
    log = numbered([turn(), prose(), delta("nul: \x00 end"), done(), code, done("c1"), end()])
    wire = [decode_event(decode_json(encode_event(event))) for event in log]

    state = folded(wire)
    loaded = apply(
        ConversationState(), decode_event(decode_json(encode_event(make_snapshot(state))))
    )

    assert texts(state) == [("b1", "nul: \x00 end"), ("c1", "a\x00b")]
    assert spelled(loaded) == spelled(state)


@pytest.mark.requirement("content:keys:prototype-names")
def test_names_of_prototypes_are_ordinary_data() -> None:
    value: dict[str, Json] = {"__proto__": {"constructor": 1}, "has_own_property": 2}

    message = check_message(user_message(metadata=value))

    assert message["metadata"] == value
    assert convert_keys(value) == (value, False)


def test_numbers_never_go_back_in_any_of_these_logs() -> None:
    for log in (GREETING, THINKING, numbered(INTERLEAVED)):
        assert all(second.prev_seq == first.seq for first, second in pairwise(log))
        assert sum(isinstance(event, BlockCompleted) for event in log) > 0
