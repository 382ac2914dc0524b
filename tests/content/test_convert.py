"""Doors that convert: nothing is lost, and what comes out has keys that obey."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.content import (
    SOURCE_MEMBERS,
    check_block,
    check_event,
    check_keys,
    check_message,
    convert,
    convert_record,
    decode_event,
    source_member,
    tool_source,
    tool_value,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.testing.strategies import json_values, texts
from tests.content.test_keys import any_keys
from tests.content.words import user_message

TOOL_VALUES: list[tuple[str, dict[str, Json]]] = [
    ('{"path": "a"}', {"input": {"path": "a"}}),
    (' {"filePath": 1.50} \n', {"input": {"file_path": 1.5}, "input_json": '{"filePath": 1.50}'}),
    (
        '{"a/b": {"cD": 1}}',
        {
            "input": {"entries": [{"key": "a/b", "value": {"c_d": 1}}]},
            "input_json": '{"a/b": {"cD": 1}}',
        },
    ),
    ("[1, 2]", {"input": [1, 2]}),
    ("null", {"input": None}),
    ("12345678901234567890123", {"input": 12345678901234567890123}),
    # A string by itself means free text, so JSON that is a string keeps its source.
    ('"SELECT 1"', {"input": "SELECT 1", "input_json": '"SELECT 1"'}),
    ("SELECT 1", {"input": "SELECT 1"}),
    ('{"a": ', {"input": '{"a": '}),
    ('{"a": 1}{"b": 2}', {"input": '{"a": 1}{"b": 2}'}),
    ('{"a": 1, "a": 2}', {"input": '{"a": 1, "a": 2}'}),
    ('{"a": "\\ud800"}', {"input": '{"a": "\\ud800"}'}),
    ("[" * 65 + "]" * 65, {"input": "[" * 65 + "]" * 65}),
    ('{"a": NaN}', {"input": '{"a": NaN}'}),
    # What some providers write for no arguments.
    ("", {"input": {}}),
    (" \n", {"input": {}}),
    ("\ud83d\ude00 \ud800", {"input": "\U0001f600 \ufffd"}),
]


@pytest.mark.parametrize(("source", "members"), TOOL_VALUES)
def test_the_arguments_of_a_tool_become_members_of_its_block(
    source: str, members: dict[str, Json]
) -> None:
    assert tool_value(source) == members
    check_keys(members)


def test_bytes_are_taken_as_well_and_what_is_not_utf_8_is_replaced() -> None:
    assert tool_value(b'{"aB": 1}') == {"input": {"a_b": 1}, "input_json": '{"aB": 1}'}
    assert tool_value(b"caf\xe9") == {"input": "caf\ufffd"}


def test_other_members_have_twins_of_their_own() -> None:
    assert tool_value('{"aB": 1}', "output") == {"output": {"a_b": 1}, "output_json": '{"aB": 1}'}
    assert tool_value("", "output") == {"output": ""}
    assert {source_member(name): twin for name, twin in SOURCE_MEMBERS.items()} == {
        twin: twin for twin in SOURCE_MEMBERS.values()
    }
    assert source_member("provider_data") == "provider_data_json"


@pytest.mark.parametrize("source", ['{"aB" : 1}', '"x"', "free text", "{", '{"a":1}', "[1.5]"])
@pytest.mark.requirement("content:keys:source-returned")
def test_what_came_from_a_provider_goes_back_as_it_came(source: str) -> None:
    assert tool_source(tool_value(source)) == source


def test_a_call_without_arguments_goes_back_as_an_empty_object() -> None:
    assert tool_source({}) == "{}"
    assert tool_source(tool_value("")) == "{}"
    assert tool_source({}, "output") == ""
    assert tool_source({"input": None}) == "null"


@given(json_values() | texts())
def test_a_value_goes_back_as_an_equal_value(value: Json) -> None:
    source = encode_json(value).decode()

    assert decode_json(tool_source(tool_value(source)).encode()) == value


@given(st.text() | st.text(st.sampled_from('{}[]":,aB1\\ ')))
def test_no_text_is_lost_on_the_way_to_a_block_and_back(source: str) -> None:
    returned = tool_source(tool_value(source))

    if source.strip():
        assert returned == source or decode_json(returned.encode()) == decode_json(source.encode())


RECORDS: list[tuple[str, Json]] = [
    # Nothing to convert: the value as it is.
    ('{"content": [{"id": "b", "type": "x"}]}', {"content": [{"id": "b", "type": "x"}]}),
    ("3", 3),
    # Members of a block: the exact slice of the member.
    (
        '{"content": [{"id": "b", "type": "tool", "input": { "aB" : 1 }, "state": {"xY": []}}]}',
        {
            "content": [
                {
                    "id": "b",
                    "type": "tool",
                    "input": {"a_b": 1},
                    "state": {"x_y": []},
                    "input_json": '{ "aB" : 1 }',
                    "state_json": '{"xY": []}',
                }
            ]
        },
    ),
    # Own keys of a block: the exact slice of the block.
    (
        '[{"id":"b","type":"attachment","mediaType":"a/b"}]',
        [
            {
                "id": "b",
                "type": "attachment",
                "media_type": "a/b",
                "source_json": '{"id":"b","type":"attachment","mediaType":"a/b"}',
            }
        ],
    ),
    # One that cannot be converted, or would collide, is found in the source alone.
    (
        '{"id":"b","type":"x","\\u00e9":1,"aB":1,"a_b":2}',
        {
            "id": "b",
            "type": "x",
            "a_b": 2,
            "source_json": '{"id":"b","type":"x","\\u00e9":1,"aB":1,"a_b":2}',
        },
    ),
    # A twin that would replace something keeps the whole source.
    (
        '{"id":"b","type":"x","input":{"aB":1},"input_json":"old"}',
        {
            "id": "b",
            "type": "x",
            "input": {"a_b": 1},
            "input_json": '{"aB":1}',
            "source_json": '{"id":"b","type":"x","input":{"aB":1},"input_json":"old"}',
        },
    ),
    # A message, and blocks in it.
    (
        '{"role":"user","content":[{"Id":"b","type":"x"}],"metadata":{"aB":1}}',
        {
            "role": "user",
            "content": [{"id": "b", "type": "x", "source_json": '{"Id":"b","type":"x"}'}],
            "metadata": {"a_b": 1},
            "metadata_json": '{"aB":1}',
        },
    ),
    # The envelope of a request keeps nothing: nothing unknown may stand in it.
    (
        '{"content":"hi","ifLastTurn":"t","options":{"maxTokens":1}}',
        {"content": "hi", "if_last_turn": "t", "options": {"max_tokens": 1}},
    ),
    ('{"\\u00e9":1}', {"entries": [{"key": "é", "value": 1}]}),
    # An event: its members say nothing more than their names, but for those that would be lost.
    (
        '{"type":"content.block.started","turnId":"t","block":{"id":"b","type":"x","aB":1}}',
        {
            "type": "content.block.started",
            "turn_id": "t",
            "block": {
                "id": "b",
                "type": "x",
                "a_b": 1,
                "source_json": '{"id":"b","type":"x","aB":1}',
            },
        },
    ),
    (
        '{"type":"x","\\u00e9":1}',
        {"type": "x", "source_json": '{"type":"x","\\u00e9":1}'},
    ),
    # The changes of a tool have twins only; other names are refused later, in whatever form.
    (
        '{"type":"content.block.updated","blockId":"b","set":{"output":{"aB":1}}}',
        {
            "type": "content.block.updated",
            "block_id": "b",
            "set": {"output": {"a_b": 1}, "output_json": '{"aB":1}'},
        },
    ),
    (
        '{"type":"content.block.updated","set":{"\\u00e9":{"aB":1}}}',
        {
            "type": "content.block.updated",
            "set": {"entries": [{"key": "é", "value": {"a_b": 1}}]},
        },
    ),
    # Shapes that the checks refuse later pass through.
    ('{"content":[1,{"aB":1}]}', {"content": [1, {"a_b": 1, "source_json": '{"aB":1}'}]}),
    ('{"set":[{"aB":1}],"type":"x"}', {"set": [{"a_b": 1}], "type": "x", "set_json": '[{"aB":1}]'}),
]


@pytest.mark.parametrize(("source", "value"), RECORDS)
@pytest.mark.requirement("content:keys:source-kept")
def test_a_body_is_converted_and_its_records_keep_their_exact_sources(
    source: str, value: Json
) -> None:
    assert convert_record(source.encode()) == value
    check_keys(convert_record(source.encode()))


@pytest.mark.parametrize("source", [b"{", b'{"aB":1,"aB":2}', b'{"aB":"\\ud800"}'])
def test_what_is_no_json_is_refused_before_it_is_converted(source: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        convert_record(source)


def test_converted_records_pass_the_checks() -> None:
    message: dict[str, Json] = {**user_message(), "createdAt": 1000, "metadata": {"aB": 1}}
    del message["created_at"]
    source = encode_json({"type": "message.created", "message": message})

    event = decode_event(convert_record(source))

    assert check_event(event) == event
    converted = convert_record(encode_json([message]))
    assert isinstance(converted, list)
    assert check_message(converted[0])["source_json"] == encode_json(message).decode()


@given(st.lists(st.dictionaries(st.text(max_size=3), any_keys(), max_size=3), max_size=3))
@example([{"a": {"bC": 1}}])
@pytest.mark.requirement("content:keys:source-kept")
def test_every_block_keeps_its_type_and_loses_nothing(records: list[dict[str, Json]]) -> None:
    blocks: list[Json] = [
        {**record, "id": f"b{index}", "type": "acme"} for index, record in enumerate(records)
    ]

    body = convert_record(encode_json({"content": blocks}))

    assert isinstance(body, dict)
    assert isinstance(body["content"], list)
    for before, after in zip(blocks, body["content"], strict=True):
        assert isinstance(before, dict)
        block = check_block(after)
        check_keys(block)
        assert lost(before, block) == {}


def lost(before: dict[str, Json], block: dict[str, Json]) -> dict[str, Json]:
    """Return the members of ``before`` that nobody could get back from ``block``."""
    whole = block.get("source_json")
    if "source_json" not in before and isinstance(whole, str):
        return {} if decode_json(whole.encode()) == before else before
    return {
        name: value
        for name, value in before.items()
        if block.get(name) != value and kept(block.get(source_member(name))) != value
    }


def kept(source: Json) -> Json:
    return decode_json(source.encode()) if isinstance(source, str) else None


def test_source_slices_of_a_long_body_are_found_in_linear_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted, not timed: how many bytes are scanned for slices, for each byte of the body."""
    scanned_bytes = 0

    def counting(scan: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        def count(source: bytes) -> Any:
            nonlocal scanned_bytes
            scanned_bytes += len(source)
            return scan(source)

        return count

    for name in ("_raw_items", "_raw_members"):
        monkeypatch.setattr(convert, name, counting(getattr(convert, name)))
    item = '{"id":"b%d","type":"x","input":{"aB":"%s"}}'
    body = '{"content":[' + ",".join(item % (i, "x" * 50) for i in range(2_000)) + "]}"

    value = convert_record(body.encode())

    assert isinstance(value, dict)
    assert isinstance(value["content"], list)
    last = value["content"][-1]
    assert isinstance(last, dict)
    assert last["input_json"] == '{"aB":"' + "x" * 50 + '"}'
    # The body, its content, each block.
    assert scanned_bytes <= 3 * len(body)
