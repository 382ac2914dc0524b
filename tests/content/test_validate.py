"""Blocks and messages against the tables: every field of every type, from both sides."""

from itertools import chain

import pytest
from hypothesis import given

from blockwire.content import Block, check_block, check_complete_message, check_message
from blockwire.content.fields import (
    BLOCK_FIELDS,
    ENUMS,
    EVENT_FIELDS,
    MESSAGE_FIELDS,
    REQUEST_FIELDS,
    SCALARS,
    TOOL_CHANGES,
    TURN_FIELDS,
)
from blockwire.content.validate import _RECORDS, check_open_value
from blockwire.content.vocabulary import DELTA_FIELDS
from blockwire.errors import BlockwireError, LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json
from blockwire.testing.strategies import BLOCK_TYPES, blocks, messages
from tests.content.words import user_message

MINIMAL: dict[str, Block] = {
    "prose": {"id": "b", "type": "prose", "markdown": ""},
    "code": {"id": "b", "type": "code", "text": ""},
    "tool": {"id": "b", "type": "tool", "tool": "ls", "status": "pending"},
    "reasoning": {"id": "b", "type": "reasoning", "text": ""},
    "error": {"id": "b", "type": "error", "code": "a_b", "message": ""},
    "attachment": {
        "id": "b",
        "type": "attachment",
        "attachment_id": "att_1",
        "name": "",
        "media_type": "",
    },
    "notice": {"id": "b", "type": "notice", "code": "a", "message": ""},
    "speech": {"id": "b", "type": "speech", "text": "a"},
    "acme": {"id": "b", "type": "acme"},
}

# Values that no member of this kind may hold, and the code that says so.
WRONG: dict[str, list[tuple[Json, str]]] = {
    "text": [(1, "invalid_member"), (None, "invalid_member")],
    "spoken": [(" \n\u2003", "invalid_member"), ("", "invalid_member"), (1, "invalid_member")],
    "id": [
        ("", "invalid_name"),
        ("  ", "invalid_name"),
        ("a\x00", "invalid_name"),
        ("x" * 257, "invalid_name"),
        (1, "invalid_name"),
    ],
    "name": [("a\x9b", "invalid_name"), ("x" * 257, "invalid_name"), ([], "invalid_name")],
    "code": [
        ("A", "invalid_member"),
        ("a\n", "invalid_member"),
        ("", "invalid_member"),
        (1, "invalid_member"),
    ],
    "value": [],
    "object": [([], "invalid_member"), (None, "invalid_member")],
    "integer": [
        (-1, "invalid_member"),
        (1.0, "invalid_member"),
        (True, "invalid_member"),
        (2**53, "invalid_member"),
    ],
    "boolean": [(0, "invalid_member"), ("true", "invalid_member")],
    "ids": [("a", "invalid_member"), ([""], "invalid_member"), ([1], "invalid_member")],
    "role": [("robot", "invalid_enum"), (None, "invalid_enum")],
    "message_status": [("done", "invalid_enum")],
    "tool_status": [("done", "invalid_enum"), ({}, "invalid_enum")],
    "visibility": [("PRIVATE", "invalid_enum")],
    "blocks": [({}, "invalid_member"), (None, "invalid_member")],
}

BLOCK_CASES = [
    (block_type, name, value, code)
    for block_type, fields in BLOCK_FIELDS.items()
    for name, field in fields.items()
    for value, code in WRONG[field.kind]
]


@pytest.mark.parametrize(("block_type", "name", "value", "code"), BLOCK_CASES)
@pytest.mark.requirement("content:block:members")
def test_each_member_of_each_type_refuses_what_its_kind_does_not_hold(
    block_type: str, name: str, value: Json, code: str
) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        check_block({**MINIMAL[block_type], name: value}, "/at")

    assert (refused.value.code, refused.value.pointer) == (code, f"/at/{name}")


@pytest.mark.parametrize("block_type", sorted(MINIMAL))
@pytest.mark.requirement("content:block:members")
def test_each_type_needs_its_required_members_and_no_more(block_type: str) -> None:
    block = MINIMAL[block_type]
    assert check_block(block) is block

    for name in block:
        with pytest.raises(RemoteProtocolError) as refused:
            check_block({key: value for key, value in block.items() if key != name})
        assert (refused.value.code, refused.value.pointer) == ("missing_member", f"/{name}")


MESSAGE_CASES = [
    (name, value, code)
    for name, field in MESSAGE_FIELDS.items()
    for value, code in WRONG[field.kind]
]


@pytest.mark.parametrize(("name", "value", "code"), MESSAGE_CASES)
@pytest.mark.requirement(
    "content:json:safe-integers",
    "content:message:envelope",
    "content:enums:closed",
)
def test_each_member_of_a_message_refuses_what_its_kind_does_not_hold(
    name: str, value: Json, code: str
) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        check_message({**user_message(), name: value})

    assert (refused.value.code, refused.value.pointer) == (code, f"/{name}")


@pytest.mark.requirement("content:names:clean")
def test_names_hold_256_scalars_whatever_their_planes() -> None:
    check_block({**MINIMAL["attachment"], "name": "\U0001f600" * 256})

    with pytest.raises(RemoteProtocolError):
        check_block({**MINIMAL["attachment"], "name": "\U0001f600" * 257})


def test_what_is_no_object_is_neither_a_block_nor_a_message() -> None:
    for check in (check_block, check_message):
        with pytest.raises(RemoteProtocolError) as refused:
            check([], "/x")
        assert (refused.value.code, refused.value.pointer) == ("invalid_member", "/x")


def test_only_a_message_that_is_over_is_complete() -> None:
    for status in ("completed", "failed", "cancelled"):
        check_complete_message(user_message(status=status))
    for status in ("streaming", "suspended"):
        check_message(user_message(status=status))
        with pytest.raises(RemoteProtocolError) as refused:
            check_complete_message(user_message(status=status))
        assert (refused.value.code, refused.value.pointer) == ("invalid_enum", "/status")


def test_a_message_may_complete_the_moment_it_was_created() -> None:
    check_message(user_message(completed_at=1000))


@given(blocks())
@pytest.mark.requirement("content:block:unknown-types")
def test_every_block_that_the_protocol_allows_is_taken_as_it_is(block: Block) -> None:
    assert check_block(block) is block


@given(messages())
@pytest.mark.requirement("content:message:unknown-members")
def test_every_message_that_the_protocol_allows_is_taken_as_it_is(message: Block) -> None:
    assert check_complete_message(message) is message


def test_an_open_value_obeys_the_key_rule_and_can_be_written() -> None:
    value: Json = {"a": [1, "x"]}
    assert check_open_value(value) is value

    cases: list[tuple[object, type[BlockwireError], str]] = [
        ({"A": 1}, RemoteProtocolError, "invalid_key"),
        ({"a": float("nan")}, LocalProtocolError, "invalid_json_value"),
        ({"a": (1,)}, LocalProtocolError, "invalid_json_value"),
    ]
    for bad, error, code in cases:
        with pytest.raises(error) as refused:
            check_open_value(bad)
        assert refused.value.code == code


def test_the_tables_agree_with_each_other() -> None:
    every_table = chain(
        BLOCK_FIELDS.values(),
        EVENT_FIELDS.values(),
        [MESSAGE_FIELDS, REQUEST_FIELDS, TOOL_CHANGES, TURN_FIELDS],
    )
    used = {field.kind for fields in every_table for field in fields.values()}

    # Each kind is defined exactly once, and none for nothing.
    defined = [*SCALARS, *ENUMS, *_RECORDS]
    assert len(defined) == len(set(defined))
    assert set(defined) == used
    assert all(BLOCK_FIELDS[kind][field].kind == "text" for kind, field in DELTA_FIELDS.items())
    assert set(BLOCK_TYPES) - {"acme_chart"} == set(BLOCK_FIELDS)
