"""Pointers, and the exact source of a value inside a text."""

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.jsontext import Json, decode_json, encode_json, member_source, pointer
from tests.jsontext.values import json_values

POINTERS: Final[list[tuple[list[str | int], str]]] = [
    ([], ""),
    (["a", 0, "b"], "/a/0/b"),
    (["a/b", "m~n", "~1"], "/a~1b/m~0n/~01"),
    (["", " "], "// "),
]

TEXT: Final = b""" { "a" : [ 1 , {"b]": " } , \\" " , "c":{ "x":[[],{}] } }, -1.50e+3 ] ,
 "\\u00e9" : "escaped" , "caf\xc3\xa9":"raw", "\\ud83d":"broken", "last" : null } """

FOUND: Final[list[tuple[list[str | int], bytes | None]]] = [
    ([], TEXT.strip()),
    (["a"], b"""[ 1 , {"b]": " } , \\" " , "c":{ "x":[[],{}] } }, -1.50e+3 ]"""),
    (["a", 0], b"1"),
    (["a", 1, "b]"], b'" } , \\" "'),
    (["a", 1, "c"], b'{ "x":[[],{}] }'),
    (["a", 1, "c", "x", 1], b"{}"),
    (["a", 2], b"-1.50e+3"),
    (["é"], b'"escaped"'),
    (["café"], b'"raw"'),
    (["last"], b"null"),
    (["absent"], None),
    (["a", 3], None),
    (["a", -1], None),
    (["a", "0"], None),
    ([0], None),
    (["last", 0], None),
    (["last", "a"], None),
    (["a", 1, "c", "x", 0, 0], None),
    (["a", 1, "c", "x", 1, "y"], None),
]


@pytest.mark.parametrize(("tokens", "text"), POINTERS)
def test_pointers_are_escaped(tokens: list[str | int], text: str) -> None:
    assert pointer(tokens) == text


@pytest.mark.parametrize(("path", "source"), FOUND, ids=ascii)
def test_the_source_of_a_value_is_cut_out_byte_for_byte(
    path: list[str | int], source: bytes | None
) -> None:
    assert member_source(TEXT, path) == source


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b"", []),
        (b"[1", []),
        (b'"a', []),
        (b'{"a"', ["a"]),
        (b'{"a" 1}', ["a"]),
        (b'{"a":', ["a"]),
        (b'{"a":[', ["b"]),
        (b'{"a":1', ["b"]),
        (b"[1", [1]),
        (b"[", [0]),
        (b"]", []),
        (b"[[", [1]),
    ],
)
def test_broken_texts_have_no_such_place(text: bytes, path: list[str | int]) -> None:
    assert member_source(text, path) is None


def places(
    value: Json, path: tuple[str | int, ...] = ()
) -> list[tuple[tuple[str | int, ...], Json]]:
    found = [(path, value)]
    if isinstance(value, dict):
        for name, member in value.items():
            found += places(member, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


@given(json_values(), st.sampled_from([None, 1]), st.booleans())
def test_the_source_at_every_place_reads_as_the_value_there(
    value: Json, indent: int | None, ensure_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii).encode()
    for path, there in places(value):
        source = member_source(text, path)
        assert source is not None
        assert encode_json(decode_json(source)) == encode_json(there)


@given(st.binary(max_size=40), st.lists(st.sampled_from(["a", "", 0, 1]), max_size=3))
def test_noise_never_raises(noise: bytes, path: list[str | int]) -> None:
    for text in (noise, b'{"a":[' + noise):
        source = member_source(text, path)
        assert source is None or source in text


def test_a_long_text_takes_linear_time() -> None:
    arguments = b'{"x":"' + b'\\"]' * 700_000 + b'"}'
    text = b'{"skip":[' + b"[]," * 300_000 + b'0],"input":' + arguments + b"}"
    assert member_source(text, ["input"]) == arguments
