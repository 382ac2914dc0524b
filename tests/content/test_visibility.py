"""One function decides who sees what, and the public can tell nothing of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blockwire.content import (
    Block,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationState,
    Message,
    MessageCreated,
    StreamEvent,
    TurnStarted,
    UnknownEvent,
    advance,
    encode_event,
    make_snapshot,
    visible,
    visible_block,
    visible_event,
    visible_message,
    visible_request,
)
from blockwire.jsontext import Json, encode_json, equal_json
from blockwire.testing.scripts import conversation_scripts, numbered, numbered_for, turn_scripts
from blockwire.testing.strategies import blocks, messages
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
    resume,
    said,
    spelled,
    thought,
    tool,
    turn,
    update,
    user_message,
)

PRIVATE: Block = {"id": "r1", "type": "reasoning", "text": "secret"}
PROSE: Block = {"id": "b1", "type": "prose", "markdown": "a"}

BLOCKS: list[tuple[Block, Block | None]] = [
    (PROSE, PROSE),
    (PRIVATE, None),
    ({**PRIVATE, "visibility": "private"}, None),
    # Whoever writes something else hides it; nothing is shown by mistake.
    ({**PRIVATE, "visibility": None}, None),
    ({**PRIVATE, "visibility": "visible"}, {**PRIVATE, "visibility": "visible"}),
    (
        {**PRIVATE, "visibility": "visible", "provider_data": {"signature": "x"}},
        {**PRIVATE, "visibility": "visible"},
    ),
    ({**PROSE, "provider_data": None}, PROSE),
    ({**PROSE, "provider_data_json": "{}", "source_json": "{}"}, PROSE),
    # Opaque values are not searched: a tool may well be asked for something of this name.
    ({**PROSE, "input": {"provider_data": 1}}, {**PROSE, "input": {"provider_data": 1}}),
    ({"id": "x", "type": "acme", "secret": 1}, {"id": "x", "type": "acme", "secret": 1}),
]


@pytest.mark.parametrize(("block", "shown"), BLOCKS)
@pytest.mark.requirement("content:visible:private-reasoning", "content:visible:provider-data")
def test_what_the_public_sees_of_a_block(block: Block, shown: Block | None) -> None:
    assert visible_block("public", block) == shown
    assert visible("public", block) == shown
    assert visible("owner", block) is block


MESSAGES: list[tuple[Message, Message | None]] = [
    (user_message(), user_message()),
    (user_message(role="system"), None),
    (user_message(role="developer"), None),
    (user_message(role="tool"), user_message(role="tool")),
    (user_message(content=[PRIVATE, PROSE]), user_message(content=[PROSE])),
    (
        user_message(content=[{**PROSE, "provider_data": 1}], provider_data={"id": 1}),
        user_message(content=[PROSE]),
    ),
    (user_message(source_json='{"content": "secret"}'), user_message()),
]


@pytest.mark.parametrize(("message", "shown"), MESSAGES)
@pytest.mark.requirement("content:visible:roles")
def test_what_the_public_sees_of_a_message(message: Message, shown: Message | None) -> None:
    assert visible_message("public", message) == shown
    assert visible("public", message) == shown
    assert visible("owner", message) is message


def test_what_hides_nothing_is_not_copied() -> None:
    message = user_message(content=[PROSE])
    state = advanced(turn(), prose(), tool())

    assert visible_message("public", message) is message
    for event in (said(), delta("x"), update(output=1), done(), ask(), end(), prose("b2")):
        assert visible_event("public", event, state) is event


RUNNING = advanced(
    turn(),
    prose(),
    thought("r1", "secret"),
    thought("r2", "shown", visibility="visible"),
    tool(provider_data=1),
    turn("turn_s", role="system"),
    of("turn_s", prose()),
)
FINAL: Block = {"id": "k1", "type": "tool", "tool": "ls", "status": "failed"}

EVENTS: list[tuple[StreamEvent, StreamEvent | None]] = [
    (delta("x"), delta("x")),
    (delta("x", "r1", "text"), None),
    (done("r1"), None),
    (delta("x", "r2", "text"), delta("x", "r2", "text")),
    (thought("r3"), None),
    (thought("r3", visibility="visible"), thought("r3", visibility="visible")),
    (prose("b2"), prose("b2")),
    (tool("k2", provider_data={"a": 1}), tool("k2")),
    (update(output=1, provider_data=2), update(output=1)),
    # That there is something to hide is hidden, too.
    (update(provider_data=2), None),
    (done("k1", {**FINAL, "provider_data": 1}), done("k1", FINAL)),
    (BlockCompleted(TURN, "b1", provider_data={"signature": "x"}), done("b1")),
    (BlockCompleted(TURN, "k1", FINAL, provider_data=1), done("k1", FINAL)),
    (replace(delta("x"), extra={"provider_data": 1}), delta("x")),
    (replace(delta("x"), extra={"provider_data": 1, "x": 1}), replace(delta("x"), extra={"x": 1})),
    (replace(end("failed"), extra={"source_json": "x"}), end("failed")),
    (ask(), ask()),
    (ask(block_id="k1"), ask(block_id="k1")),
    (ask(block_id="r1"), ask()),
    (ask(block_id="nowhere"), ask()),
    (ask(provider_data={"token": 1}), ask()),
    (resume(), resume()),
    (TurnStarted("t", "assistant", 1), TurnStarted("t", "assistant", 1)),
    (TurnStarted("t", "system", 1), None),
    (TurnStarted("t", "developer", 1), None),
    (of("turn_s", delta("x")), None),
    (of("turn_s", prose("b2")), None),
    (of("turn_s", end()), None),
    # Nobody here can say what these are about.
    (of("turn_other", delta("x")), None),
    (delta("x", "b_other"), None),
    (UnknownEvent("acme.progress", {"turn_id": TURN}), None),
    (said(), said()),
    (said(role="system"), None),
    (said(provider_data=1), said()),
]


@pytest.mark.parametrize(("event", "shown"), EVENTS)
@pytest.mark.requirement("content:visible:unknown-events", "content:visible:empty-updates")
def test_what_the_public_sees_of_an_event(event: StreamEvent, shown: StreamEvent | None) -> None:
    assert visible_event("public", event, RUNNING) == shown
    assert visible("public", event, RUNNING) == shown
    assert visible("owner", event, RUNNING) is event


@pytest.mark.requirement("content:visible:requests")
def test_a_question_is_shown_without_what_it_hides() -> None:
    running = RUNNING.running[TURN]
    request = ask(block_id="r1", provider_data=1, options=["yes"]).request

    assert visible_request("owner", request, running) is request
    assert visible_request("public", request, running) == ask(options=["yes"]).request
    assert visible_request("public", request, None) == ask(options=["yes"]).request


@given(conversation_scripts())
@pytest.mark.requirement("content:visible:same-fold")
def test_the_public_fold_is_the_public_part_of_the_owners_fold(events: list[StreamEvent]) -> None:
    log = numbered(events)
    owner = folded(log)

    public = folded(numbered_for("public", log))

    shown = [seen for message in owner.messages if (seen := visible_message("public", message))]
    assert equal_json(list(public.messages), list(shown))
    owner_turns = {it.turn_id: it for it in owner.turns if it.envelope["role"] != "system"}
    assert {it.turn_id: it.turn_status for it in public.turns} == {
        name: it.turn_status for name, it in owner_turns.items()
    }


@given(conversation_scripts())
@pytest.mark.requirement("content:visible:no-false-gap", "content:stamp:prev-seq")
def test_withheld_events_make_no_false_gap(events: list[StreamEvent]) -> None:
    log = numbered(events)
    shown = numbered_for("public", log)

    state = ConversationState()
    for event in shown:
        assert event.prev_seq == state.seq
        state = advance(state, event).at(event.seq, "conv_1")


SECRET = "what no one else would write"


def with_secrets(events: list[StreamEvent]) -> list[StreamEvent]:
    """Return ``events`` with :data:`SECRET` wherever the public must not look."""
    marked: list[StreamEvent] = []
    private: set[Json] = set()
    for event in events:
        if isinstance(event, BlockStarted):
            block: Block = {**event.block, "provider_data": SECRET}
            if block["type"] == "reasoning" and block.get("visibility") != "visible":
                private.add(block["id"])
                block["text"] = SECRET
            marked.append(replace(event, block=block))
        elif isinstance(event, BlockDelta) and event.block_id in private:
            marked.append(replace(event, text=SECRET))
        elif isinstance(event, BlockUpdated):
            marked.append(replace(event, set={**event.set, "provider_data": SECRET}))
        elif isinstance(event, BlockCompleted):
            marked.append(
                replace(event, provider_data=SECRET, extra={"provider_data_json": SECRET})
            )
        elif isinstance(event, MessageCreated):
            message: Message = {**event.message, "provider_data": SECRET, "source_json": SECRET}
            marked.append(replace(event, message=message))
        else:
            marked.append(replace(event, extra={"provider_data": SECRET}))
    return marked


@given(turn_scripts(), messages(role=st.just("user")))
@pytest.mark.requirement("content:visible:private-reasoning", "content:visible:provider-data")
def test_no_secret_reaches_the_public_by_event_fold_or_snapshot(
    events: list[StreamEvent], message: Message
) -> None:
    log = numbered(with_secrets([MessageCreated(message), *events]))
    owner = folded(log)

    shown = numbered_for("public", log)
    public = folded(shown)
    snapshot = visible("public", make_snapshot(owner), owner)

    assert snapshot is not None
    assert SECRET not in str(spelled(public))
    assert all(SECRET.encode() not in encode_event(event) for event in [*shown, snapshot])


@given(messages(), blocks())
def test_seeing_twice_is_seeing_once(message: Message, block: Block) -> None:
    for thing in (message, block):
        shown = visible("public", thing)
        assert shown is None or visible("public", shown) == shown
        assert shown is None or encode_json(shown)


def test_the_state_of_the_public_never_holds_what_it_may_not_see() -> None:
    log = numbered(
        [turn(), thought("r1", "secret"), prose(), delta("a"), done("r1"), done(), end()]
    )

    public = folded(numbered_for("public", log))

    assert "secret" not in str(spelled(public))
    assert public.seq == 7
