"""What a connection can make a terminal keep, and what a trimmed Block still answers."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.terminal import BlockSealed, Limits, WireMessage
from blockwire.terminal.content import Line, Span
from blockwire.terminal.vocabulary import LINES, STYLED
from tests.terminal.sessions import (
    World,
    append,
    closing,
    code_of,
    extend,
    invalid_operation,
    invalid_request,
    opening,
    query,
    replace_suffix,
    seal,
    update,
)
from tests.terminal.test_session_checks import rows

FULL = "resource_exhausted"


def test_the_limits_of_the_page_are_the_defaults() -> None:
    _, *body = rows("limits.md", "Bounds")

    assert {row[0]: int(row[1].split()[0].replace(",", "")) for row in body} == {
        name: getattr(Limits(), name) for name in Limits.__struct_fields__
    }


@pytest.mark.requirement("terminal:limit:answer")
@pytest.mark.parametrize(
    ("limits", "so_far", "fits", "too_much"),
    [
        (Limits(block_bytes_max=4), [append("1", "\u00e9")], extend("2", "1", "ab"),
         extend("3", "2", "c")),
        (Limits(block_bytes_max=4), [], append("1", "abcd"), append("2", "abcde", block_id="b")),
        (Limits(block_bytes_max=4), [append("1", "x")], update("2", "abcd"), update("3", "abcde")),
        (Limits(block_bytes_max=4), [append("1", "abcd")], replace_suffix("2", "1", 3, "e"),
         replace_suffix("3", "2", 3, "fg")),
        (Limits(block_bytes_max=4), [append("1", (Span(text="ab"),), type_name=STYLED)],
         replace_suffix("2", "1", 1, (Span(text="c"),)), extend("3", "2", (Span(text="d" * 40),))),
        (Limits(context_bytes_max=4), [append("1", "ab")], append("2", "cd", block_id="b"),
         append("3", "e", block_id="c")),
        (Limits(connection_bytes_max=4), [append("1", "ab")],
         append("2", "cd", context_id="c2"), append("3", "e", block_id="c")),
        (Limits(blocks_max=2), [append("1")], append("2", block_id="b"), append("3", block_id="c")),
        (Limits(connection_blocks_max=2), [append("1")], append("2", context_id="c2"),
         append("3", block_id="c")),
        (Limits(id_chars_max=6), [], append("1", block_id="b" * 6), append("2", block_id="b" * 7)),
        (Limits(contexts_open_max=3), [], opening("z"), opening("y")),
    ],
)  # fmt: skip
def test_what_passes_a_limit_is_refused_and_what_reaches_it_is_not(
    limits: Limits, so_far: list[WireMessage], fits: WireMessage, too_much: WireMessage
) -> None:
    world = World(contexts=2, limits=limits)
    assert world.codes(*so_far) == [None] * len(so_far)

    assert world.code(fits) in {None, "opened"}

    before = world.state()
    assert world.code(too_much) == FULL
    assert world.state() == before


def test_what_does_not_grow_is_never_refused_for_bytes() -> None:
    world = World(limits=Limits(block_bytes_max=10, context_bytes_max=10))
    world.do(append("1", "0123456789"))

    assert world.codes(
        replace_suffix("2", "1", 5, "abcde"), replace_suffix("3", "2", 9, ""), update("4", ""),
    ) == [None] * 3  # fmt: skip


@pytest.mark.requirement("terminal:limit:answer")
def test_what_is_removed_counts_with_all_its_bytes() -> None:
    world = World(limits=Limits(block_bytes_max=8))
    world.do(append("1", "\U0001f642\u6f22"))

    assert world.codes(
        replace_suffix("2", "1", 1, "abcde"), replace_suffix("3", "1", 1, "abcd"),
        replace_suffix("4", "3", 0, "123456789"), replace_suffix("5", "3", 0, "12345678"),
    ) == [FULL, None, FULL, None]  # fmt: skip


def test_what_shrinks_makes_room() -> None:
    world = World(contexts=2, limits=Limits(connection_bytes_max=10))
    world.do(append("1", "0123456789"))

    assert world.codes(
        append("2", "x", context_id="c2"),
        replace_suffix("2", "1", 4, ""),
        append("3", "012345", context_id="c2"),
        extend("3", "2", "x"),
    ) == [FULL, None, None, FULL]


@pytest.mark.requirement("terminal:limit:full-context", "terminal:limit:never-forget")
@pytest.mark.parametrize(
    "limits",
    [Limits(operation_ids_max=3), Limits(context_id_chars_max=4),
     Limits(connection_operation_ids_max=3), Limits(connection_id_chars_max=4)],
)  # fmt: skip
def test_a_context_at_its_id_limit_answers_everything_so(limits: Limits) -> None:
    world = World(limits=limits)
    world.do(append("1"), extend("2", "1"), seal("3", block_id="none"))

    assert world.codes(
        seal("4"), seal("1"), append("5", block_id="b"), update("6"), extend("7", "2"),
        replace_suffix("8", "2", 0), seal("4"),
    ) == [FULL] * 7  # fmt: skip
    assert code_of(world.session.refuse_invalid(invalid_operation("9"))) == "invalid_message"
    assert world.codes(seal("9"), closing("c")) == [FULL, "closed"]


@pytest.mark.requirement("terminal:limit:full-context", "terminal:limit:never-forget")
def test_a_context_that_was_full_stays_full_when_another_makes_room() -> None:
    world = World(contexts=3, limits=Limits(connection_operation_ids_max=2))
    world.do(append("1"), append("1", context_id="c2"))
    assert world.code(seal("2")) == FULL

    assert world.code(closing("c", "c2")) == "closed"

    assert world.codes(seal("2"), seal("3"), append("1", context_id="c3")) == [FULL, FULL, None]


@pytest.mark.requirement("terminal:limit:not-full")
@pytest.mark.parametrize(
    ("message", "answer"), [(seal("1"), FULL), (seal("1234567"), FULL), ("1", "invalid_message"),
                            ("1234567", "invalid_message")],
)  # fmt: skip
def test_what_records_no_id_leaves_a_context_as_it_was(
    message: WireMessage | str, answer: str
) -> None:
    world = World(contexts=2, limits=Limits(connection_operation_ids_max=2, id_chars_max=6))
    world.do(append("1"), append("1", context_id="c2"))

    if isinstance(message, str):
        given = code_of(world.session.refuse_invalid(invalid_operation(message)))
    else:
        given = world.code(message)

    assert given == answer
    assert world.codes(closing("c", "c2"), seal("1"), seal("2")) == [
        "closed", "operation_id_reused", None,
    ]  # fmt: skip


@pytest.mark.requirement("terminal:limit:full-context")
def test_an_invalid_operation_that_finds_no_room_fills_a_context() -> None:
    world = World(contexts=2, limits=Limits(connection_operation_ids_max=2))
    world.do(append("1"), append("1", context_id="c2"))

    world.session.refuse_invalid(invalid_operation("2"))

    assert world.codes(closing("c", "c2"), seal("1"), seal("3")) == ["closed", FULL, FULL]


def test_the_ids_that_reach_a_sum_of_scalars_are_recorded_whole() -> None:
    world = World(limits=Limits(context_id_chars_max=3, request_id_chars_max=len("open-1") + 3))

    assert world.codes(
        append("1"), append("2345", block_id="bcd"), append("6", block_id="e"), seal("1"),
        query("12"), query("345"), query("6"), query("345"),
    ) == [None, None, FULL, FULL, "supported", "supported", FULL, "supported"]  # fmt: skip


def test_the_ids_of_all_contexts_count_until_nothing_keeps_them() -> None:
    world = World(contexts=3, limits=Limits(connection_id_chars_max=9))

    # Ids of three scalars each; closing forgets the operation ids that no Block keeps.
    assert world.codes(
        append("111", block_id="abc"), seal("112", block_id="abc"), seal("113", context_id="c2"),
    ) == [None, None, FULL]  # fmt: skip
    assert world.codes(closing("x", "c1"), append("114", block_id="abc", context_id="c3")) == [
        "closed", None,
    ]  # fmt: skip
    assert world.code(seal("115", block_id="abc", context_id="c3")) == FULL
    world.session.evict("c1", "abc")
    assert world.code(closing("y", "c3")) == "closed"
    world.session.evict("c3", "abc")
    world.do(opening("z"))
    assert world.codes(
        append("116", block_id="abc", context_id="c4"), seal("117", block_id="abc", context_id="c4"),
    ) == [None, None]  # fmt: skip


@pytest.mark.requirement("terminal:limit:long-id")
def test_an_id_that_is_too_long_is_refused_each_time_and_fills_nothing() -> None:
    world = World(limits=Limits(id_chars_max=6))
    long = "1234567"

    assert world.codes(
        append(long), append(long), append("123456"), query(long), query(long), query("123456"),
    ) == [FULL, FULL, None, FULL, FULL, "supported"]  # fmt: skip


@pytest.mark.requirement("terminal:request:rejected-occupies")
def test_a_request_id_is_taken_however_long_the_context_id_beside_it_is() -> None:
    world = World(limits=Limits(id_chars_max=6))
    long = "1234567"

    assert world.codes(closing("c", long), closing("c", long), opening("c")) == [
        "context_not_open", "context_not_open", "request_id_conflict",
    ]  # fmt: skip
    world.session.refuse_invalid(invalid_request("context.close", "i", long))
    assert world.code(opening("i")) == "request_id_conflict"


def test_the_ids_of_closed_contexts_count_with_those_of_requests() -> None:
    world = World(contexts=0, limits=Limits(request_id_chars_max=10))

    assert world.codes(closing("1", "123456789"), query("2"), query("1")) == [
        "context_not_open", FULL, "request_id_conflict",
    ]  # fmt: skip


@pytest.mark.requirement("terminal:limit:requests", "terminal:limit:never-forget")
@pytest.mark.parametrize("limits", [Limits(requests_max=3), Limits(request_id_chars_max=10)])
def test_a_connection_full_of_outcomes_replays_those_it_has(limits: Limits) -> None:
    world = World(limits=limits)
    assert world.codes(query("12"), query("345")) == ["supported"] * 2

    assert world.codes(query("new"), opening("new"), closing("new"), closing("newer")) == [FULL] * 4
    answer = world.session.refuse_invalid(invalid_request("context.open", "invalid"))
    assert code_of(answer) == "invalid_message"
    assert world.codes(opening("invalid"), opening("open-1"), query("12"), opening("12")) == [
        FULL, "opened", "supported", "request_id_conflict",
    ]  # fmt: skip


def test_a_context_that_closes_makes_room_for_another() -> None:
    world = World(limits=Limits(contexts_open_max=1))

    assert world.codes(opening("b"), closing("c"), opening("b"), opening("d")) == [
        FULL, "closed", FULL, "opened",
    ]  # fmt: skip
    world.session.invalidate("c2")
    assert world.code(opening("e")) == "opened"


# trimmed blocks ---------------------------------------------------------------------------
@pytest.mark.requirement("terminal:limit:trimmed", "terminal:limit:trimmed-for-good")
def test_a_trimmed_block_can_be_sealed_and_nothing_else() -> None:
    world = World()
    world.do(append("1", "abc"))
    block = world.session.contexts["c1"].blocks["a"]

    world.session.evict("c1", "a")

    assert block.is_evicted
    assert world.codes(
        update("2"), extend("3", "1"), extend("4", "wrong"), replace_suffix("5", "1", 0),
        append("6"), update("7", type_name="text/none"),
    ) == [FULL, FULL, FULL, FULL, "block_id_reused", FULL]  # fmt: skip
    assert world.do(seal("8")) == [BlockSealed(block, "8")]
    assert world.codes(update("9"), seal("1")) == ["block_sealed", "operation_id_reused"]
    assert world.state()[0]["blocks"] == [
        {"id": "a", "lifecycle": "sealed", "type": "text/plain", "data": None, "content_state": "1"}
    ]


@pytest.mark.parametrize(
    ("type_name", "data"),
    [("text/plain", "abcdefgh"), (STYLED, (Span(text="abcdefgh"),)),
     (LINES, (Line(spans=(Span(text="abcdefgh"),)),))],
)  # fmt: skip
def test_trimming_makes_room(type_name: str, data: Any) -> None:
    probe = World()
    probe.do(append("1", data, type_name=type_name))
    content = probe.session.contexts["c1"].blocks["a"].content
    assert content is not None
    world = World(limits=Limits(connection_bytes_max=content.cost_bytes))
    world.do(append("1", data, type_name=type_name))
    assert world.code(append("2", data, block_id="b", type_name=type_name)) == FULL

    world.session.evict("c1", "a")
    world.session.evict("c1", "a")

    assert world.codes(
        append("3", data, block_id="b", type_name=type_name),
        append("4", data, block_id="c", type_name=type_name),
    ) == [None, FULL]  # fmt: skip


@pytest.mark.parametrize("is_trimmed_first", [True, False])
@pytest.mark.parametrize("how", ["closed", "invalidated"])
def test_a_trimmed_block_that_nothing_can_address_is_forgotten(
    how: str, *, is_trimmed_first: bool
) -> None:
    world = World(contexts=2, limits=Limits(connection_blocks_max=2))
    world.do(append("1"), append("2", block_id="b"))
    assert world.code(append("1", context_id="c2")) == FULL

    if is_trimmed_first:
        world.session.evict("c1", "a")
        assert world.code(append("2", context_id="c2")) == FULL, "it still answers"
    if how == "closed":
        world.do(closing("c"))
    else:
        world.session.invalidate("c1")
    world.session.evict("c1", "a")

    assert list(world.session.contexts["c1"].blocks) == ["b"]
    assert world.code(append("3", context_id="c2")) is None


def test_trimming_what_is_not_there_does_nothing() -> None:
    world = World()

    world.session.evict("never", "a")
    world.session.evict("c1", "never")

    assert world.code(append("1")) is None
