"""The request: its schema and its JSON."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from blockwire.engines import encode_request, engine_request_schema
from blockwire.jsontext import decode_json
from tests.engines.tools import assistant, request, user

LONG = [
    {**user("be kind", "msg_s"), "role": "system"},
    user("old question", "msg_1"),
    assistant({"id": "b", "type": "prose", "markdown": "old answer"}, turn_id="turn_1"),
    user("new question", "msg_2"),
    assistant({"id": "b", "type": "prose", "markdown": "new answer"}, turn_id="turn_2"),
    user("now", "msg_3"),
]


def valid(value: Any) -> bool:
    schema = engine_request_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.requirement("engines:request:schema")
@pytest.mark.parametrize(
    "members",
    [
        {},
        {"model": "m", "system": "s", "options": {"deep": [1]}},
        {"messages": LONG},
    ],
)
def test_what_is_sent_is_what_the_schema_says(members: dict[str, Any]) -> None:
    line = encode_request(request(**members))

    value = decode_json(line)
    assert valid(value)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert isinstance(value, dict)
    schema: Any = engine_request_schema()
    assert [name for name in schema["properties"] if name in value] == list(value)


@pytest.mark.parametrize(
    "broken",
    [{"protocol": 2}, {"turn_id": ""}, {"messages": [{"id": "m"}]}, {"options": None}],
)
def test_the_schema_refuses_what_is_never_sent(broken: dict[str, Any]) -> None:
    value = decode_json(encode_request(request(messages=LONG)))
    assert isinstance(value, dict)

    assert not valid({**value, **broken})
