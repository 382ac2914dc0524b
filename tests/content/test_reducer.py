"""The reducer: every refusal and every transition."""

from typing import get_args

import pytest
from msgspec.structs import replace

from blockwire.content import (
    Block,
    ConversationSnapshot,
    ConversationState,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    UnknownEvent,
    advance,
    apply,
)
from blockwire.content.reducer import _TRANSITIONS
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json
from tests.content.words import (
    TURN,
    advanced,
    ask,
    block,
    delta,
    done,
    end,
    prose,
    resume,
    said,
    spelled,
    thought,
    tool,
    turn,
    update,
    user_message,
)

FINAL_TOOL: Block = {"id": "k1", "type": "tool", "tool": "ls", "status": "completed"}

REFUSALS: list[tuple[list[StreamEvent], StreamEvent, str]] = [
    # so far,                                   then,                            code
    ([],                                        prose(),                         "turn_not_found"),
    ([],                                        delta("x"),                      "turn_not_found"),
    ([],                                        update(status="running"),        "turn_not_found"),
    ([],                                        done(),                          "turn_not_found"),
    ([],                                        ask(),                           "turn_not_found"),
    ([],                                        resume(),                        "turn_not_found"),
    ([],                                        end(),                           "turn_not_found"),
    ([turn()],                                  turn(),                          "turn_exists"),
    ([turn(), end()],                           turn(),                          "turn_exists"),
    ([said(TURN)],                              turn(),                          "turn_exists"),
    ([said()],                                  said(),                          "message_exists"),
    ([turn()],                                  said(TURN),                      "message_exists"),
    ([turn(), end("failed")],                   said(TURN),                      "message_exists"),
    # A message of the user is no turn, so nothing can be added to it.
    ([said(TURN)],                              prose(),                         "turn_not_found"),
    ([turn(), end("cancelled")],                prose(),                         "turn_terminal"),
    ([turn(), prose(), done(), end()],          delta("x"),                      "turn_terminal"),
    ([turn(), tool(status="failed"), done("k1"), end()], update(output=1),       "turn_terminal"),
    ([turn(), prose(), done(), end()],          done(),                          "turn_terminal"),
    ([turn(), end()],                           end(),                           "turn_terminal"),
    ([turn(), end("failed")],                   ask(),                           "turn_terminal"),
    ([turn(), end()],                           resume(),                        "turn_terminal"),
    ([turn()],                                  delta("x"),                      "block_not_found"),
    ([turn()],                                  update(output=1),                "block_not_found"),
    ([turn()],                                  done(),                          "block_not_found"),
    ([turn()],                                  ask(block_id="b1"),              "block_not_found"),
    ([turn(), prose()],                         prose(),                         "block_exists"),
    ([turn(), prose(), done()],                 tool("b1"),                      "block_exists"),
    ([turn(), prose(), done()],                 delta("x"),                      "block_complete"),
    ([turn(), prose(), done()],                 done(),                          "block_complete"),
    ([turn(), tool(), done("k1")],              update(output=1),                "block_complete"),
    ([turn(), prose()],                         delta("x", field="text"),        "field_not_mutable"),
    ([turn(), thought()],                       delta("x", "r1"),                "field_not_mutable"),
    ([turn(), block("c1", "code", text="")],    delta("x", "c1", "text"),        "field_not_mutable"),
    ([turn(), block("s1", "speech", text="a")], delta("x", "s1", "text"),        "field_not_mutable"),
    ([turn(), tool()],                          delta("x", "k1", "input"),       "field_not_mutable"),
    ([turn(), block("u1", "acme_chart")],       delta("x", "u1", "text"),        "field_not_mutable"),
    ([turn(), prose()],                         update("b1", status="running"),  "field_not_mutable"),
    ([turn(), tool()],                          update(tool="rm"),               "field_not_mutable"),
    ([turn(), tool()],                          update(output=1, id="k2"),       "field_not_mutable"),
    ([turn(), prose()],                         done("b1", FINAL_TOOL),          "field_not_mutable"),
    ([turn(), tool()],             done("k1", {**FINAL_TOOL, "id": "k2"}),       "field_not_mutable"),
    ([turn(), tool()],             done("k1", {**FINAL_TOOL, "tool": "rm"}),     "field_not_mutable"),
    ([turn(), tool(status="running")],          update(status="pending"),  "tool_status_regression"),
    ([turn(), tool(status="completed")],        update(status="running"),  "tool_status_regression"),
    ([turn(), tool(status="completed")],        update(status="failed"),   "tool_status_regression"),
    ([turn(), tool(status="cancelled")],        done("k1", FINAL_TOOL),    "tool_status_regression"),
    ([turn(), tool(status="running")],          done("k1"),                      "tool_not_finished"),
    ([turn(), tool()], done("k1", {**FINAL_TOOL, "status": "running"}),          "tool_not_finished"),
    ([turn(), prose()],                         end(),                           "blocks_open"),
    ([turn(), prose()],                         end("failed"),                   "blocks_open"),
    ([turn(), ask()],                           ask(),                           "turn_suspended"),
    ([turn(), ask()],                           end("completed"),                "turn_suspended"),
    ([turn()],                                  resume(),                        "turn_not_suspended"),
    ([turn(), ask(), resume()],                 resume(),                        "turn_not_suspended"),
]  # fmt: skip


@pytest.mark.parametrize(("so_far", "then", "code"), REFUSALS)
@pytest.mark.requirement(
    "content:reduce:refusal-changes-nothing",
    "content:reduce:codes",
    "content:reduce:turn-terminal",
    "content:reduce:block-complete",
    "content:reduce:blocks-open",
    "content:message:immutable",
    "content:delta:declared-field",
    "content:tool:no-regression",
    "content:suspend:once",
    "content:suspend:block",
    "content:complete:not-running",
    "content:update:allowed",
    "content:end:once",
)
def test_a_refused_event_reports_its_code_and_changes_nothing(
    so_far: list[StreamEvent], then: StreamEvent, code: str
) -> None:
    state = advanced(*so_far)
    before = spelled(state)

    with pytest.raises(RemoteProtocolError) as refused:
        advance(state, then)

    assert refused.value.code == code
    assert spelled(state) == before


@pytest.mark.requirement("content:reduce:unannounced")
def test_a_receiver_begins_a_turn_that_nobody_announced() -> None:
    # As the published contract shows a stream: five events, and no word about the turn before.
    events: list[StreamEvent] = [
        prose(), delta("Implemented "), delta("it."), done(), end(),
    ]  # fmt: skip

    state = ConversationState()
    for seq, event in enumerate(events, 1):
        stamped = replace(event, seq=seq, prev_seq=seq - 1, ts=100 + seq)
        state = apply(state, stamped)

    assert state.find_message(TURN) == {
        "id": TURN,
        "role": "assistant",
        "status": "completed",
        "content": [{"id": "b1", "type": "prose", "markdown": "Implemented it."}],
        "created_at": 101,
        "completed_at": 105,
    }


@pytest.mark.parametrize(
    ("so_far", "then", "code"),
    [
        ([], delta("x"), "turn_not_found"),
        ([], done(), "turn_not_found"),
        ([], end(), "turn_not_found"),
        ([said(TURN)], prose(), "turn_not_found"),
        ([turn(), end()], prose(), "turn_terminal"),
    ],
)
def test_nothing_else_begins_a_turn(
    so_far: list[StreamEvent], then: StreamEvent, code: str
) -> None:
    state = advanced(*so_far)

    with pytest.raises(RemoteProtocolError) as refused:
        apply(state, replace(then, seq=9, prev_seq=0))

    assert refused.value.code == code


ALLOWED: list[list[StreamEvent]] = [
    [turn(), prose(), delta("x"), ask(), delta("y"), resume(), delta("z"), done(), end()],
    [turn(), ask(), end("failed")],
    [turn(), ask(), end("cancelled")],
    [turn(), tool(), update(status="completed"), done("k1"), end()],
    [turn(), tool(), update(status="pending"), update(status="running"), update(status="running")],
    [turn(), tool(), update(status="failed"), update(status="failed", error=None), done("k1")],
    [turn(), tool(), done("k1"), end()],
    [turn(), prose(), tool("k1"), delta("x"), done("k1"), done("b1"), end()],
    [said(), turn(), turn("turn_2"), said("msg_2")],
]


@pytest.mark.parametrize("events", ALLOWED)
def test_what_the_protocol_allows_is_taken(events: list[StreamEvent]) -> None:
    advanced(*events)


def test_every_class_of_event_has_its_transition() -> None:
    assert set(_TRANSITIONS) == set(get_args(StreamEvent))


@pytest.mark.requirement("content:update:whole", "content:reduce:order")
@pytest.mark.requirement("content:message:turn-id")
def test_the_message_grows_as_the_events_say() -> None:
    state = advanced(
        said(),
        TurnStarted(TURN, "assistant", 1000, model="m-1", extra={"author": "Ada", "x": 1}),
        thought(visibility="visible"),
        delta("Hm.", "r1", "text"),
        prose(),
        delta("Six "),
        tool(input={"p": 1}),
        delta("tests."),
        update(status="running", started_at=5),
        update(output=None, status="completed"),
        done("k1"),
        done("b1"),
        done("r1"),
    )

    assert state.find_message(TURN) == {
        "id": TURN,
        "role": "assistant",
        "status": "streaming",
        "content": [
            {"id": "r1", "type": "reasoning", "text": "Hm.", "visibility": "visible"},
            {"id": "b1", "type": "prose", "markdown": "Six tests."},
            {
                "id": "k1",
                "type": "tool",
                "tool": "ls",
                "status": "completed",
                "input": {"p": 1},
                "started_at": 5,
                "output": None,
            },
        ],
        "created_at": 1000,
        "model": "m-1",
        "author": "Ada",
    }
    assert state.messages[0] == user_message()


@pytest.mark.requirement("content:reduce:completed-at")
def test_a_message_ends_at_the_stamp_of_its_terminal_event_and_never_before_it_began() -> None:
    usage: dict[str, Json] = {"input_tokens": 3}

    after = advance(advanced(turn()), TurnEnded(TURN, "completed", usage=usage, ts=1500))
    clock_set_back = advance(advanced(turn()), TurnEnded(TURN, "completed", ts=500))
    unstamped = advance(advanced(turn()), end())

    assert after.messages[0]["completed_at"] == 1500
    assert after.messages[0]["usage"] == usage
    assert clock_set_back.messages[0]["completed_at"] == 1000
    assert "completed_at" not in unstamped.messages[0]


def test_a_turn_says_more_than_its_message() -> None:
    running = advanced(turn(), prose())
    suspended = advance(running, ask(block_id="b1"))
    interrupted = advanced(turn(), replace(end("failed"), reason="interrupted", error_code="e"))

    assert [it.turn_status for it in running.turns] == ["running"]
    assert suspended.turns[0].turn_status == "suspended"
    assert suspended.turns[0].request == ask(block_id="b1").request
    assert interrupted.turns[0].turn_status == "interrupted"
    assert interrupted.messages[0]["status"] == "failed"
    assert interrupted.turns[0].ended == {"reason": "interrupted", "error_code": "e"}
    assert advance(suspended, resume()).turns[0].request is None


@pytest.mark.requirement("content:reduce:final-tool-adds")
def test_the_final_form_of_a_tool_adds_to_what_was_received_and_loses_nothing() -> None:
    state = advanced(turn(), tool(input={"a": 1}), done("k1", {**FINAL_TOOL, "output": 2}))

    assert state.running[TURN].blocks[0].block == {**FINAL_TOOL, "input": {"a": 1}, "output": 2}


NUMBERS = [
    # cursor, prev_seq, seq, what happens
    (5, 4, 5, "ignored"),
    (5, 0, 3, "ignored"),
    (5, 5, 6, "applied"),
    (5, 3, 9, "applied"),
    (5, 0, 6, "applied"),
    (5, 6, 7, "gap"),
    # Concerns the connection only.
    (5, 0, 0, "ignored"),
]


@pytest.mark.parametrize(("cursor", "prev_seq", "seq", "outcome"), NUMBERS)
@pytest.mark.requirement("content:cursor:table")
def test_numbers_say_what_a_receiver_does(
    cursor: int, prev_seq: int, seq: int, outcome: str
) -> None:
    state = advanced(turn(), prose(markdown="a")).at(cursor, "conv_1")
    event = replace(delta("b"), prev_seq=prev_seq, seq=seq)
    if outcome == "gap":
        with pytest.raises(RemoteProtocolError) as refused:
            apply(state, event)
        assert refused.value.code == "sequence_gap"
        return

    after = apply(state, event)

    assert after.running[TURN].blocks[0].block["markdown"] == (
        "ab" if outcome == "applied" else "a"
    )
    assert after.seq == (seq if outcome == "applied" else cursor)
    assert after.conversation_id == "conv_1"


@pytest.mark.requirement("content:event:unknown-type")
def test_an_event_of_a_newer_peer_moves_the_cursor_and_nothing_else() -> None:
    state = advanced(turn(), prose()).at(4, "")
    event = UnknownEvent("acme.progress", {"x": 1}, seq=5, prev_seq=4, conversation_id="conv_1")

    after = apply(state, event)

    assert spelled(after) == {**spelled(state), "seq": 5, "conversation_id": "conv_1"}


@pytest.mark.requirement("content:snapshot:replaces")
def test_a_snapshot_replaces_everything_also_when_it_is_older() -> None:
    state = advanced(said(), turn(), prose()).at(9, "conv_1")
    event = ConversationSnapshot([user_message("msg_9")], [], [], seq=3, conversation_id="conv_1")

    after = apply(state, event)

    assert after.seq == 3
    assert [message["id"] for message in after.messages] == ["msg_9"]
    assert after.running == {}
