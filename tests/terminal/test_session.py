"""What a session answers and what it changes: requests, Contexts, operations, ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blockwire.errors import LocalProtocolError
from blockwire.terminal import (
    Answer,
    BlockAppended,
    BlockExtended,
    BlockSealed,
    BlockSuffixReplaced,
    BlockUpdated,
    CapabilityResponse,
    Closed,
    ContextClosed,
    ContextCloseResponse,
    ContextInvalidated,
    ContextOpened,
    Ignored,
    Rejected,
    TerminalSession,
    Unsupported,
    WireMessage,
)
from blockwire.terminal.content import Line, Span
from blockwire.terminal.preconditions import Sheet
from blockwire.terminal.requests import CONTEXT_ID_ATTEMPTS_MAX, PreparedRequest
from blockwire.terminal.vocabulary import LINES, PLAIN, STYLED
from tests.terminal.sessions import (
    World,
    append,
    closing,
    code_of,
    extend,
    invalid_operation,
    invalid_request,
    opening,
    plain,
    query,
    replace_suffix,
    seal,
    update,
)


# requests ---------------------------------------------------------------------------------
def test_a_query_is_answered_with_the_optional_types_in_their_order() -> None:
    world = World(contexts=0, optional_content_types=(LINES, STYLED))

    answer = world.answer(query("q"))

    assert answer is not None
    assert plain(answer) == {
        "version": 1, "kind": "capability.response", "request_id": "q",
        "body": {"outcome": "supported", "optional_content_types": [LINES, STYLED]},
    }  # fmt: skip
    assert list(world.session.content_types) == [PLAIN, LINES, STYLED]


@pytest.mark.requirement("terminal:request:incomplete")
def test_an_endpoint_without_the_baseline_answers_unsupported() -> None:
    world = World(contexts=0, is_baseline_complete=False)

    assert world.codes(query("q"), query("q"), query("r")) == ["unsupported"] * 3


@pytest.mark.requirement(
    "terminal:request:other-version",
    "terminal:request:other-version-unrecorded",
    "terminal:request:echo",
)
def test_a_query_of_another_version_is_answered_in_it_and_leaves_no_trace() -> None:
    world = World(contexts=0)

    assert world.answer(query("q", version=7)) == CapabilityResponse(
        version=7, request_id="q", body=Unsupported()
    )
    assert world.code(opening("q")) == "opened"
    assert world.code(query("q", version=7)) == "unsupported", "it never conflicts"
    assert world.code(opening("q")) == "opened"


@pytest.mark.requirement("terminal:context:no-query")
def test_a_context_is_opened_without_a_query() -> None:
    assert World(contexts=0).do(opening())[0] == ContextOpened("c1")


@pytest.mark.requirement("terminal:request:replay", "terminal:request:equality")
def test_the_same_request_gets_the_same_answer_and_does_nothing_again() -> None:
    world = World(contexts=0)
    first = {message: world.answer(message) for message in (query("q"), opening("o"), closing("c"))}
    before = world.state()

    for message, answer in first.items():
        assert world.do(message) == [Answer(answer)]  # type: ignore[arg-type] # none is silent
    assert world.state() == before


@pytest.mark.requirement(
    "terminal:request:conflict",
    "terminal:request:conflict-changes-nothing",
    "terminal:request:one-namespace",
)
@pytest.mark.parametrize(
    "first", [query("i"), opening("i"), closing("i", "c1"), closing("i", "no")]
)
@pytest.mark.parametrize(
    "second", [query("i"), opening("i"), closing("i", "c1"), closing("i", "no")]
)
def test_another_request_under_the_same_id_is_a_conflict(
    first: WireMessage, second: WireMessage
) -> None:
    world = World()
    outcome = world.code(first)
    before = world.state()

    found = world.code(second)

    assert found == (outcome if first == second else "request_id_conflict")
    assert world.state() == before
    assert world.code(first) == outcome


def test_request_ids_and_operation_ids_are_different_ids() -> None:
    world = World()

    assert world.codes(append("open-1"), query("open-2"), append("open-2", block_id="b")) == [
        None, "supported", None,
    ]  # fmt: skip


@pytest.mark.requirement("terminal:request:rejected-occupies")
def test_a_request_that_failed_keeps_its_answer_whatever_happens_later() -> None:
    world = World(contexts=0)

    assert world.code(closing("c", "c1")) == "context_not_open"
    assert world.code(opening("o")) == "opened"
    assert world.code(closing("c", "c1")) == "context_not_open"
    assert world.code(opening("c")) == "request_id_conflict"


@pytest.mark.requirement("terminal:request:rejected-occupies")
@pytest.mark.parametrize(
    ("kind", "context_id", "valid"),
    [
        ("capability.query", None, query("i")),
        ("context.open", None, opening("i")),
        ("context.close", "c1", closing("i")),
    ],
)
def test_an_invalid_request_is_answered_and_occupies_its_id(
    kind: str, context_id: str | None, valid: WireMessage
) -> None:
    world = World()

    answer = world.session.refuse_invalid(invalid_request(kind, "i", context_id))

    assert answer is not None
    members = plain(answer)
    assert members["kind"] == f"{kind.replace('query', '')}.response".replace("..", ".")
    assert (members["request_id"], members.get("context_id")) == ("i", context_id)
    assert code_of(answer) == "invalid_message"
    assert world.code(valid) == "request_id_conflict"


@pytest.mark.requirement("terminal:request:invalid-first", "terminal:request:stored-stays")
def test_an_invalid_request_under_a_known_id_leaves_the_stored_answer() -> None:
    world = World()

    answer = world.session.refuse_invalid(invalid_request("context.close", "open-1", "c1"))

    assert code_of(answer) == "invalid_message"
    assert world.code(opening("open-1")) == "opened"


def test_a_context_id_that_is_taken_is_asked_for_again() -> None:
    offers = iter(["c1", "c1", "", "c2"])
    world = World(contexts=0, new_context_id=lambda: next(offers))

    assert world.codes(opening("a"), opening("b")) == ["opened", "opened"]
    assert list(world.session.contexts) == ["c1", "c2"]


@pytest.mark.requirement("terminal:context:id-once")
def test_a_host_that_has_only_one_context_id_opens_one_context() -> None:
    asked: list[str] = []

    def same() -> str:
        asked.append("c1")
        return "c1"

    world = World(contexts=0, new_context_id=same)

    assert world.codes(opening("a"), closing("b"), opening("c"), opening("c")) == [
        "opened", "closed", "internal_error", "internal_error",
    ]  # fmt: skip
    assert len(asked) == 1 + CONTEXT_ID_ATTEMPTS_MAX
    assert [it["state"] for it in world.state()] == ["closed"]


# contexts ---------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:context:close-seals")
def test_a_close_seals_what_is_mutable_and_leaves_the_content() -> None:
    world = World()
    world.do(append("1", "m"), append("2", "s", block_id="b", lifecycle="sealed"))
    blocks = world.session.contexts["c1"].blocks

    changes = world.do(closing("c"))

    assert changes == [
        BlockSealed(blocks["a"], None),
        ContextClosed("c1"),
        Answer(ContextCloseResponse(version=1, request_id="c", context_id="c1", body=Closed())),
    ]
    assert [block.lifecycle for block in blocks.values()] == ["sealed", "sealed"]
    assert [world.text("a"), world.text("b")] == ["m", "s"]


@pytest.mark.requirement("terminal:context:close-again")
def test_a_closed_context_is_closed_again_by_any_request() -> None:
    world = World()

    assert world.codes(closing("c"), closing("c"), closing("d")) == ["closed"] * 3
    assert len(world.do(closing("e"))) == 1, "nothing but the answer"


@pytest.mark.requirement("terminal:context:close-unknown", "terminal:context:refuses")
@pytest.mark.parametrize("how", ["never opened", "closed", "invalidated"])
def test_a_context_that_is_not_open_takes_no_operation(how: str) -> None:
    world = World(contexts=0 if how == "never opened" else 1)
    if how == "closed":
        world.do(append("1"), closing("c"))
    elif how == "invalidated":
        world.do(append("1"))
        world.session.invalidate("c1")
    before = world.state()

    assert world.codes(
        append("1"), append("2", block_id="b"), update("3"), extend("4", "1"),
        replace_suffix("5", "1", 0), seal("6"),
    ) == ["context_not_open"] * 6  # fmt: skip
    assert world.code(closing("d")) == ("closed" if how == "closed" else "context_not_open")
    assert world.state() == before


@pytest.mark.requirement("terminal:context:separate")
def test_contexts_share_neither_blocks_nor_operation_ids() -> None:
    world = World(contexts=2)

    assert world.codes(
        append("1", "one"), append("1", "two", context_id="c2"), seal("2"),
        extend("2", "1", "!", context_id="c2"), seal("3", block_id="b", context_id="c2"),
        closing("c", "c1"), extend("4", "2", "!", context_id="c2"),
    ) == [None, None, None, None, "block_not_found", "closed", None]  # fmt: skip
    assert (world.text(), world.text(context_id="c2")) == ("one", "two!!")


@pytest.mark.requirement("terminal:context:invalidated", "terminal:context:invalidated-silently")
def test_an_invalidated_context_keeps_its_blocks_as_they_are() -> None:
    world = World()
    world.do(append("1"), append("2", block_id="b", lifecycle="sealed"))

    assert world.session.invalidate("c1") == (ContextInvalidated("c1"),)

    (context,) = world.state()
    assert context["state"] == "invalidated"
    assert [block["lifecycle"] for block in context["blocks"]] == ["mutable", "sealed"]
    assert world.session.invalidate("c1") == ()


@pytest.mark.requirement("terminal:context:invalidated")
def test_a_closed_context_is_not_invalidated_and_its_close_is_replayed() -> None:
    world = World()
    world.do(closing("c"))

    assert world.session.invalidate("c1") == ()
    assert world.session.invalidate("never") == ()
    assert world.codes(closing("c"), closing("d")) == ["closed", "closed"]


@pytest.mark.requirement("terminal:context:end")
def test_the_end_of_the_connection_closes_what_is_open_and_silences_the_rest() -> None:
    world = World(contexts=3)
    world.do(append("1"), closing("c", "c2"))
    world.session.invalidate("c3")
    block = world.session.contexts["c1"].blocks["a"]

    assert world.session.end_of_connection() == (BlockSealed(block, None), ContextClosed("c1"))

    assert [context["state"] for context in world.state()] == ["closed", "closed", "invalidated"]
    assert world.session.has_ended
    assert world.session.prepare(query("z")) == Ignored("connection_ended")
    assert world.codes(query("z"), opening("z"), append("9")) == [None] * 3
    assert world.session.refuse_invalid(invalid_operation("1")) is None
    assert world.session.fail_message(query("z")) is None


@pytest.mark.requirement("terminal:operation:fail-stop")
def test_a_stopped_session_leaves_everything_as_it_is() -> None:
    world = World()
    world.do(append("1"))
    before = world.state()

    world.session.stop()

    assert world.codes(query("z"), seal("2"), closing("c")) == [None] * 3
    assert world.state() == before


# operations -------------------------------------------------------------------------------
@pytest.mark.requirement("terminal:operation:silent", "terminal:operation:state")
def test_each_operation_says_what_it_changed() -> None:
    world = World()

    (appended,) = world.do(append("1", "Hallo"))
    block = world.session.contexts["c1"].blocks["a"]
    assert appended == BlockAppended(block, "1")
    assert world.do(replace_suffix("2", "1", 1, "ello")) == [
        BlockSuffixReplaced(block, "2", 1, "ello")
    ]
    assert world.do(extend("3", "2", " there")) == [BlockExtended(block, "3", 5, " there")]
    assert (world.text(), block.content_state) == ("Hello there", "3")
    assert world.do(update("4", (Span(text="new"),), type_name=STYLED)) == [
        BlockUpdated(block, "4")
    ]
    assert (block.content_type, block.content_state, world.text()) == (STYLED, "4", "new")
    assert world.do(seal("5")) == [BlockSealed(block, "5")]
    assert (block.lifecycle, block.content_state, block.is_evicted) == ("sealed", "4", False)
    assert (block.context_id, block.block_id) == ("c1", "a")


@pytest.mark.requirement("terminal:operation:state", "terminal:operation:no-state")
def test_a_state_is_the_last_operation_that_changed_the_content() -> None:
    world = World()
    world.do(append("1", "same"))

    assert world.codes(
        update("2", "same"),
        replace_suffix("3", "2", 3, "e"),
        extend("4", "1", "!"),
        extend("5", "4", "!"),
        extend("6", "3", "!"),
    ) == [None, None, "content_state_mismatch", "content_state_mismatch", None]
    world.do(seal("7"))
    assert world.session.contexts["c1"].blocks["a"].content_state == "6"


@pytest.mark.requirement("terminal:operation:update", "terminal:operation:order")
def test_an_update_keeps_place_and_lifecycle() -> None:
    world = World()
    world.do(append("1"), append("2", block_id="b"), append("3", block_id="c"), update("4", "y"))

    (context,) = world.state()
    assert [block["id"] for block in context["blocks"]] == ["a", "b", "c"]
    assert context["blocks"][0]["lifecycle"] == "mutable"


@pytest.mark.requirement("terminal:operation:failed-append", "terminal:operation:id-once")
def test_a_failed_append_uses_its_operation_id_up_and_not_its_block_id() -> None:
    world = World(optional_content_types=())

    assert world.codes(
        append("1", type_name="text/none"), append("1"), append("2"), append("3")
    ) == ["unsupported_content_type", "operation_id_reused", None, "block_id_reused"]


@pytest.mark.requirement("terminal:operation:reused", "terminal:operation:id-once")
def test_an_operation_id_is_used_once_whatever_became_of_it() -> None:
    world = World()
    world.do(append("done"), seal("rejected", block_id="none"))
    world.session.refuse_invalid(invalid_operation("invalid"))

    for used in ("done", "rejected", "invalid"):
        assert world.codes(
            append(used, block_id="new"), update(used), extend(used, "done"),
            replace_suffix(used, "done", 0), seal(used),
        ) == ["operation_id_reused"] * 5  # fmt: skip


@pytest.mark.requirement("terminal:error:invalid-uses-id")
def test_an_invalid_operation_uses_its_id_up_only_where_a_context_is_open() -> None:
    world = World(contexts=0)
    assert code_of(world.session.refuse_invalid(invalid_operation("1"))) == "invalid_message"
    world.do(opening())

    assert world.code(append("1")) is None
    assert code_of(world.session.refuse_invalid(invalid_operation("2"))) == "invalid_message"
    assert code_of(world.session.refuse_invalid(invalid_operation("2"))) == "invalid_message"
    assert world.code(seal("2")) == "operation_id_reused"


@pytest.mark.requirement("terminal:operation:scalars", "terminal:operation:retain")
@pytest.mark.parametrize(
    ("text", "scalars"),
    [
        ("\r\n", 2),
        ("\t", 1),
        ("\x1b", 1),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", 7),
        ("\U0001f1e6\U0001f1f9", 2),
        ("e\u0301", 2),
    ],
)
def test_positions_count_scalars(text: str, scalars: int) -> None:
    world = World()
    world.do(append("1", text))

    assert world.code(replace_suffix("2", "1", scalars, "")) == "invalid_content_boundary"
    assert world.code(replace_suffix("3", "1", scalars - 1, "!")) is None
    assert world.text() == text[:-1] + "!"


@pytest.mark.requirement("terminal:operation:retain")
def test_an_empty_block_has_no_suffix_to_replace() -> None:
    world = World()
    world.do(append("1", ""))

    assert world.codes(replace_suffix("2", "1", 0, "x"), extend("3", "1", "x")) == [
        "invalid_content_boundary", None,
    ]  # fmt: skip


@pytest.mark.requirement("terminal:operation:sealed")
@pytest.mark.parametrize("how", ["appended", "sealed"])
def test_a_sealed_block_changes_no_more(how: str) -> None:
    world = World()
    world.do(append("1", lifecycle="sealed")) if how == "appended" else world.do(
        append("1"), seal("2")
    )

    assert (
        world.codes(update("3"), extend("4", "1"), replace_suffix("5", "1", 0), seal("6"))
        == ["block_sealed"] * 4
    )


@pytest.mark.requirement("terminal:operation:empty-text")
@pytest.mark.parametrize(
    ("type_name", "fragment"), [(STYLED, (Span(text=""),)), (LINES, (Line(spans=()),))]
)
def test_a_fragment_without_text_is_a_state_of_its_own(type_name: str, fragment: Any) -> None:
    world = World()
    world.do(append("1", fragment, type_name=type_name))

    assert world.codes(extend("2", "1", fragment), extend("3", "1", fragment)) == [
        None, "content_state_mismatch",
    ]  # fmt: skip
    assert world.text() == ""


# the host's word --------------------------------------------------------------------------
@pytest.mark.requirement("terminal:operation:host")
def test_a_host_rejects_before_anything_changed() -> None:
    world = World()
    prepared = world.session.prepare(append("1"))
    assert isinstance(prepared, Sheet)

    answer = world.session.reject(prepared, "resource_exhausted")

    assert code_of(answer) == "resource_exhausted"
    assert world.codes(append("1"), append("2")) == ["operation_id_reused", None]


def test_a_host_cannot_reject_with_a_code_that_answers_no_operation() -> None:
    world = World()
    prepared = world.session.prepare(append("1"))
    assert isinstance(prepared, Sheet)

    with pytest.raises(LocalProtocolError, match="wrong_error_code"):
        world.session.reject(prepared, "request_id_conflict")  # type: ignore[arg-type] # the point
    assert world.code(append("1")) is None


@pytest.mark.parametrize(
    ("message", "again"),
    [(append("1"), "operation_id_reused"), (query("i"), "internal_error"),
     (opening("i"), "internal_error"), (closing("i"), "internal_error")],
)  # fmt: skip
def test_a_message_that_the_terminal_failed_for_is_used_up(
    message: WireMessage, again: str
) -> None:
    world = World()
    before = world.state()

    assert code_of(world.session.fail_message(message)) == "internal_error"

    assert world.code(message) == again
    assert world.state() == before


def test_what_terminals_send_gets_no_answer_from_a_failing_one() -> None:
    world = World()
    error = world.answer(seal("1"))
    assert error is not None

    assert world.session.fail_message(error) is None
    assert world.session.fail_message(query("q", version=2)) is None
    assert world.code(opening("q")) == "opened"


def test_preparing_changes_nothing() -> None:
    world = World()
    world.do(append("1"))
    before = world.state()

    for message in (opening("x"), closing("x"), append("2", block_id="b"), extend("2", "1"),
                    seal("2"), update("2", "y"), replace_suffix("2", "1", 0), seal("1")):  # fmt: skip
        verdict = world.session.prepare(message)
        assert isinstance(verdict, Sheet | PreparedRequest | Rejected)
    assert world.state() == before
    assert world.code(extend("2", "1")) is None


CHANGES: dict[str, Callable[[TerminalSession], object]] = {
    "an operation": lambda session: session.commit(session.prepare(seal("1"))),
    "a rejection": lambda session: session.commit(session.prepare(seal("1", block_id="none"))),
    "a request": lambda session: session.commit(session.prepare(query("z"))),
    "an invalid message": lambda session: session.refuse_invalid(invalid_operation("1")),
    "a failure": lambda session: session.fail_message(query("z")),
    "an invalidation": lambda session: session.invalidate("c1"),
    "a Block trimmed": lambda session: session.evict("c1", "a"),
    "the end": lambda session: session.end_of_connection(),
    "a stop": lambda session: session.stop(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize(
    "message", [append("2", block_id="b"), opening("x"), seal("2", block_id="none")]
)
def test_what_was_prepared_before_something_changed_is_refused(
    message: WireMessage, change: Callable[[TerminalSession], object]
) -> None:
    world = World()
    world.do(append("0"))
    prepared = world.session.prepare(message)
    change(world.session)
    before = world.state()

    with pytest.raises(LocalProtocolError, match="stale_prepared"):
        world.session.commit(prepared)
    assert world.state() == before


# who is spoken to -------------------------------------------------------------------------
@pytest.mark.requirement("terminal:operation:for-application")
def test_what_terminals_send_is_ignored() -> None:
    world = World()
    messages = [world.answer(message) for message in (query(), opening(), closing(), seal("1"))]

    for message in messages:
        assert message is not None
        assert world.session.prepare(message) == Ignored("not_for_terminal")
        assert world.do(message) == []


@pytest.mark.parametrize("kind", ["open", "close", "append"])
def test_messages_of_another_version_are_ignored(kind: str) -> None:
    world = World()
    message: Any = {"open": opening("i"), "close": closing("i"), "append": append("1")}[kind]
    other = type(message)(**{name: getattr(message, name) for name in message.__struct_fields__
                             if name != "version"}, version=2)  # fmt: skip

    assert world.session.prepare(other) == Ignored("unknown_version")


@pytest.mark.parametrize(
    ("types", "code"),
    [((PLAIN,), "content_type_listed_twice"), ((LINES, LINES), "content_type_listed_twice"),
     (("text/none",), "unknown_content_type")],
)  # fmt: skip
def test_a_session_offers_types_that_it_has(types: tuple[str, ...], code: str) -> None:
    with pytest.raises(LocalProtocolError, match=code):
        TerminalSession(new_context_id=str, optional_content_types=types)


def test_views_cannot_be_changed() -> None:
    world = World()
    contexts: Any = world.session.contexts

    with pytest.raises(TypeError):
        contexts["c2"] = contexts["c1"]
