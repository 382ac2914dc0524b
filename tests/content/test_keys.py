"""The key rule: what is refused and where, what is converted and how."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import check_keys, convert_key, convert_keys, is_key
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import DEPTH_MAX, Json
from blockwire.testing.strategies import json_values

KEYS = [
    ("a", True),
    ("_", True),
    ("a1_b", True),
    ("__proto__", True),
    ("", False),
    ("A", False),
    ("1a", False),
    ("a-b", False),
    ("a b", False),
    ("a\n", False),
    ("é", False),
    ("aB", False),
    ("\x00", False),
]


@pytest.mark.parametrize(("name", "is_allowed"), KEYS)
def test_a_key_is_snake_case(name: str, is_allowed: bool) -> None:
    assert is_key(name) == is_allowed


BAD_KEYS: list[tuple[Json, str]] = [
    ({"A": 1}, "/A"),
    ([{"a": [{"B/~": 1}]}], "/0/a/0/B~1~0"),
    # The first in document order, not the first that a walk happens to meet.
    ({"a": {"b": {"X": 1}}, "Y": 2}, "/a/b/X"),
    ({"a": {"b": 1}, "Y": {"Z": 1}}, "/Y"),
    ({"a": {"X": 1}, "b": {"Y": 2}}, "/a/X"),
    ([[{"X": 1}], {"Y": 2}], "/0/0/X"),
    ({"a": [], "b": [{}, {"c": 1, "D": 2}], "E": 3}, "/b/1/D"),
    ([[], {"a": {}}, {"": 1}], "/2/"),
]


@pytest.mark.parametrize(("value", "pointer"), BAD_KEYS)
@pytest.mark.requirement("content:keys:refused")
def test_the_first_bad_key_in_document_order_is_named(value: Json, pointer: str) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        check_keys(value)

    assert (refused.value.code, refused.value.pointer) == ("invalid_key", pointer)
    assert "keys=convert" in refused.value.detail


@given(json_values())
def test_keys_that_obey_pass_and_are_not_touched(value: Json) -> None:
    check_keys(value)

    assert convert_keys(value) == (value, False)


CONVERSIONS = [
    ("filePath", "file_path"),
    ("HTTPServer", "http_server"),
    ("getHTTPResponse", "get_http_response"),
    ("ABC", "abc"),
    ("aB1C", "a_b1_c"),
    ("x-request-id", "x_request_id"),
    ("a.b c", "a_b_c"),
    ("tab\there", "tab_here"),
    ("_already_", "_already_"),
    ("1st", "1st"),
    ("É", "É"),
    ("", ""),
]


@pytest.mark.parametrize(("name", "converted"), CONVERSIONS)
@pytest.mark.requirement("content:keys:conversion")
def test_a_key_becomes_snake_case(name: str, converted: str) -> None:
    assert convert_key(name) == converted


VALUES: list[tuple[Json, Json]] = [
    ({"aB": {"cD": 1}}, {"a_b": {"c_d": 1}}),
    ([{"aB": 1}, 2], [{"a_b": 1}, 2]),
    ({"a/b": 1, "c": 2}, {"entries": [{"key": "a/b", "value": 1}, {"key": "c", "value": 2}]}),
    (
        {"aB": 1, "a_b": {"xY": 2}},
        {"entries": [{"key": "aB", "value": 1}, {"key": "a_b", "value": {"x_y": 2}}]},
    ),
    ({"ok": {"é": 1}}, {"ok": {"entries": [{"key": "é", "value": 1}]}}),
    ({"": None}, {"entries": [{"key": "", "value": None}]}),
]


@pytest.mark.parametrize(("value", "converted"), VALUES)
@pytest.mark.requirement("content:keys:entries")
def test_objects_with_keys_beyond_help_become_entries(value: Json, converted: Json) -> None:
    assert convert_keys(value) == (converted, True)


def nested(levels: int, inner: Json) -> Json:
    for _ in range(levels):
        inner = {"aB": inner}
    return inner


@pytest.mark.parametrize("inner", [{"é": 1}, {"é": {}}, {"é": []}, {"é": [1]}])
@pytest.mark.requirement("content:keys:entries-depth")
def test_entries_that_push_a_value_over_the_depth_are_refused(inner: Json) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        convert_keys(nested(DEPTH_MAX - 1, inner))

    assert refused.value.code == "nesting_too_deep"


def test_entries_that_just_fit_are_kept() -> None:
    value, changed = convert_keys(nested(DEPTH_MAX - 3, {"é": 1}))

    assert changed
    check_keys(value)


def any_keys() -> st.SearchStrategy[Json]:
    return st.recursive(
        st.none() | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.text(max_size=4) | st.sampled_from(("aB", "a_b")), inner, max_size=3
            )
        ),
        max_leaves=8,
    )


@given(any_keys())
@pytest.mark.requirement("content:keys:idempotent")
def test_conversion_gives_keys_that_obey_and_is_the_same_the_second_time(value: Json) -> None:
    converted = convert_keys(value)

    check_keys(converted.value)
    assert converted.changed == (converted.value != value)
    assert convert_keys(converted.value) == (converted.value, False)
