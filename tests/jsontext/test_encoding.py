"""What is written, when values are the same, and which values may enter at all."""

import math
from typing import Any, Final

import pytest
from hypothesis import given

from blockwire.errors import LocalProtocolError
from blockwire.jsontext import (
    DEPTH_MAX,
    INTEGER_DIGITS_MAX,
    SAFE_INTEGER_MAX,
    Json,
    check_json_value,
    decode_json,
    encode_json,
    equal_json,
)
from tests.jsontext.values import json_values

WRITTEN: Final[list[tuple[Json, bytes]]] = [
    ({"b": [1, -0.0, True, None], "a": {}}, b'{"b":[1,-0.0,true,null],"a":{}}'),
    (2**70, b"1180591620717411303424"),
    (10**INTEGER_DIGITS_MAX - 1, b"9" * INTEGER_DIGITS_MAX),
    (1e22, b"1e22"),
    (5e-324, b"5e-324"),
    (0.1, b"0.1"),
    ('a\r\n\t"\\\x00', b'"a\\r\\n\\t\\"\\\\\\u0000"'),
    ("é\u2028\U0001f600", '"é\u2028\U0001f600"'.encode()),
    ("null", b'"null"'),
]


class Text(str):
    __slots__ = ()


def nested(levels: int) -> Json:
    value: Json = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def endless() -> Json:
    value: list[Json] = []
    value.append(value)
    return value


# value, pointer to what is wrong with it
REFUSED: Final[list[tuple[Any, str]]] = [
    (math.nan, ""),
    ([1, {"a/b": math.inf}], "/1/a~1b"),
    ({"a": [0.5, -math.inf]}, "/a/1"),
    ("\ud800", ""),
    (["é\udfff"], "/0"),
    ({"a": {"\ud83d\ude00": 1}}, "/a"),
    ({1: 2}, ""),
    ({"a": {None: 2}}, "/a"),
    ({Text("a"): 2}, ""),
    ((1, 2), ""),
    ([{"a": (1,)}], "/0/a"),
    (b"x", ""),
    ({1, 2}, ""),
    (Text("a"), ""),
    (object(), ""),
    (10**INTEGER_DIGITS_MAX, ""),
    ([-(10**INTEGER_DIGITS_MAX)], "/0"),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN, ids=lambda value: ascii(value)[:40])
def test_a_value_is_written_compactly_and_exactly(value: Json, text: bytes) -> None:
    assert encode_json(value) == text


@pytest.mark.parametrize(("value", "place"), REFUSED, ids=lambda value: type(value).__name__)
@pytest.mark.requirement("content:json:encodable")
def test_a_value_that_no_json_text_can_hold_is_refused_with_its_place(
    value: Any, place: str
) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        check_json_value(value)
    assert (refused.value.code, refused.value.pointer) == ("invalid_json_value", place)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        [math.inf],
        {"a": [{"b": -math.inf}]},
        "\ud800",
        {"\ud800": None},
        10**INTEGER_DIGITS_MAX,
        endless(),
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_writer_never_turns_a_bad_value_into_another_one(value: Any) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        encode_json(value)
    assert refused.value.code == "invalid_json_value"


@pytest.mark.parametrize("depth_max", [1, 5, DEPTH_MAX])
def test_levels_of_a_value_are_counted_as_in_a_text(depth_max: int) -> None:
    value = nested(depth_max)
    assert check_json_value(value, depth_max=depth_max) is value
    assert decode_json(encode_json(value), depth_max=depth_max) == value
    with pytest.raises(LocalProtocolError) as refused:
        check_json_value(nested(depth_max + 1), depth_max=depth_max)
    assert refused.value.code == "invalid_json_value"


def test_a_value_that_contains_itself_is_refused() -> None:
    with pytest.raises(LocalProtocolError) as refused:
        check_json_value(endless())
    assert refused.value.pointer == "/0" * DEPTH_MAX


def test_nulls_beside_finite_numbers_are_written() -> None:
    value: Json = {"a": None, "b": [1.5, None, {"c": 2.5}]}
    assert encode_json(value) == b'{"a":null,"b":[1.5,null,{"c":2.5}]}'


@given(json_values())
@pytest.mark.requirement("content:json:one-line")
def test_every_checked_value_can_be_written_on_one_line(value: Json) -> None:
    assert check_json_value(value) is value
    text = encode_json(value)
    assert not {0x0A, 0x0D} & set(text)
    assert equal_json(decode_json(text), value)


SAME: Final[list[tuple[Json, Json, bool]]] = [
    (1, 1, True),
    (1, True, False),
    (0, False, False),
    (1, 1.0, False),
    (100.0, 1e2, True),
    (0.0, -0.0, False),
    (2**64, 2.0**64, False),
    ("a", "a", True),
    ("é", "e\u0301", False),
    (None, False, False),
    ([], {}, False),
    ([1, 2], [2, 1], False),
    ({"a": 1, "b": 2}, {"a": 1, "b": 2}, True),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
    ({"a": [{"b": 1}]}, {"a": [{"b": True}]}, False),
    ({"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2, "b": 1}]}, False),
]


@pytest.mark.parametrize(("left", "right", "same"), SAME, ids=ascii)
@pytest.mark.requirement("content:json:sameness")
def test_sameness_is_that_of_what_is_written(left: Json, right: Json, same: bool) -> None:
    assert equal_json(left, right) is same
    assert equal_json(right, left) is same


def test_a_value_is_the_same_as_itself() -> None:
    value: Json = {"a": [1.5]}
    assert equal_json(value, value)


def test_safe_integers_are_those_of_binary64() -> None:
    assert float(SAFE_INTEGER_MAX) == SAFE_INTEGER_MAX
    assert float(SAFE_INTEGER_MAX + 2) != SAFE_INTEGER_MAX + 2
