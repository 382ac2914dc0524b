"""What the JSON reader takes, what it refuses, and with which code."""

import json
import sys
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import DEPTH_MAX, INTEGER_DIGITS_MAX, Json, decode_json, encode_json
from tests.jsontext.values import json_values

ACCEPTED: Final[list[tuple[bytes, Any]]] = [
    (b" \t\r\n1 \n", 1),
    (b"-0", 0),
    (b"-0.0", -0.0),
    (b"9007199254740993", 2**53 + 1),
    (b"18446744073709551616", 2**64),
    (b"-123456789012345678901234567890", -123456789012345678901234567890),
    (b"9" * INTEGER_DIGITS_MAX, 10**INTEGER_DIGITS_MAX - 1),
    (b"1e308", 1e308),
    (b"0e999", 0.0),
    (b"1e-999", 0.0),
    (b"0.1", 0.1),
    (b"123456789012345678901234567890.5", 123456789012345678901234567890.5),
    (b"[true,false,null]", [True, False, None]),
    (b'{"b":1,"a":{"b":2}}', {"b": 1, "a": {"b": 2}}),
    (b'"\\ud83d\\ude00"', "\U0001f600"),
    (b'"\\u0000"', "\x00"),
    (b'"\x7f"', "\x7f"),
    ('"\ufeff\uffff\u2028"'.encode(), "\ufeff\uffff\u2028"),
    (b'{"__proto__":1,"":2}', {"__proto__": 1, "": 2}),
    (b'{"a":"1e999","b":"[[[["}', {"a": "1e999", "b": "[[[["}),
]

REFUSED: Final[list[tuple[bytes, str]]] = [
    (b"", "invalid_json"),
    (b"1 2", "invalid_json"),
    (b"[1,]", "invalid_json"),
    (b'{"a":1,}', "invalid_json"),
    (b"{a:1}", "invalid_json"),
    (b"// a\n1", "invalid_json"),
    (b"/* a */1", "invalid_json"),
    (b"NaN", "invalid_json"),
    (b"-NaN", "invalid_json"),
    (b"Infinity", "invalid_json"),
    (b"[-Infinity]", "invalid_json"),
    (b"01", "invalid_json"),
    (b"+1", "invalid_json"),
    (b"1.", "invalid_json"),
    (b'"a\nb"', "invalid_json"),
    (b'"\x00"', "invalid_json"),
    (b'"\x1f"', "invalid_json"),
    (b"\x0b1", "invalid_json"),
    (b"\xef\xbb\xbf1", "invalid_json"),
    ('"a"'.encode("utf-16-le"), "invalid_json"),
    (b'{"a":1,"a":1}', "duplicate_member"),
    (b'{"a":1,"\\u0061":2}', "duplicate_member"),
    (b'[{"x":{"y":[{"":1,"":2}]}}]', "duplicate_member"),
    (b'"\\ud800"', "invalid_unicode"),
    (b'"\\udc00"', "invalid_unicode"),
    (b'"\\ud83dx"', "invalid_unicode"),
    (b'"\\ud83d\\n"', "invalid_unicode"),
    (b'"\\ud83d\\u0041"', "invalid_unicode"),
    (b'"\\ud83d\\ud83d\\ude00"', "invalid_unicode"),
    (b'"\\ude00\\ud83d"', "invalid_unicode"),
    (b'{"\\ud800":1}', "invalid_unicode"),
    (b'{"a":[{"\\udfff":1}]}', "invalid_unicode"),
    (b'"\xff"', "invalid_unicode"),
    (b'"\xc0\x80"', "invalid_unicode"),
    (b'"\xe0\x80\x80"', "invalid_unicode"),
    (b'"\xed\xa0\x80"', "invalid_unicode"),
    (b'"\xf4\x90\x80\x80"', "invalid_unicode"),
    (b'"\xe4\xbd"', "invalid_unicode"),
    (b"\xff", "invalid_unicode"),
    (b"1e999", "number_out_of_range"),
    (b"-1e999", "number_out_of_range"),
    (b'{"a":1.8e308}', "number_out_of_range"),
    (b'[[{"a":[1,2.5,1E+400]}]]', "number_out_of_range"),
    (b"1" * 400 + b".0", "number_out_of_range"),
    (b"9" * (INTEGER_DIGITS_MAX + 1), "number_out_of_range"),
    (b"-" + b"9" * 100_000, "number_out_of_range"),
    (b"[" * 65 + b"]" * 65, "nesting_too_deep"),
    (b"[" * 201 + b"]" * 201, "nesting_too_deep"),
    (b"[" * 1_000_000, "nesting_too_deep"),
    (b'{"a":' * 1_000_000, "nesting_too_deep"),
    (b'{"z":[' * 33 + b"]}" * 33, "nesting_too_deep"),
]


@pytest.mark.parametrize(("text", "value"), ACCEPTED, ids=ascii)
@pytest.mark.requirement("content:json:exact-integers")
def test_a_valid_text_is_read_exactly(text: bytes, value: Any) -> None:
    read = decode_json(text)
    assert type(read) is type(value)
    # repr tells -0.0 from 0.0, which == does not; large integers have none.
    assert read == value
    if isinstance(value, float):
        assert repr(read) == repr(value)


@pytest.mark.parametrize(("text", "code"), REFUSED, ids=lambda value: ascii(value)[:60])
@pytest.mark.requirement("content:json:refused")
def test_a_bad_text_is_refused_with_its_code(text: bytes, code: str) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        decode_json(text)
    assert refused.value.code == code


def test_members_keep_their_order() -> None:
    value = decode_json(b'{"z":1,"a":2,"m":3}')
    assert isinstance(value, dict)
    assert list(value) == ["z", "a", "m"]


def nested(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b'["deep",1.5]' + b"}" * (levels - 1)


@pytest.mark.parametrize("depth_max", [1, 2, DEPTH_MAX, 100])
@pytest.mark.requirement("content:json:depth")
def test_the_deepest_level_is_counted_from_one(depth_max: int) -> None:
    decode_json(nested(depth_max), depth_max=depth_max)
    with pytest.raises(RemoteProtocolError) as refused:
        decode_json(nested(depth_max + 1), depth_max=depth_max)
    assert refused.value.code == "nesting_too_deep"


@pytest.mark.parametrize("text", [b"{}", b"[]", b'{"a":1}'])
def test_with_no_level_allowed_only_scalars_pass(text: bytes) -> None:
    assert decode_json(b"1", depth_max=0) == 1
    with pytest.raises(RemoteProtocolError) as refused:
        decode_json(text, depth_max=0)
    assert refused.value.code == "nesting_too_deep"


def test_brackets_side_by_side_are_not_deep() -> None:
    assert decode_json(b"[" + b"[]," * 999 + b"{}]") == [[]] * 999 + [{}]


@pytest.mark.parametrize(
    "text",
    [
        b'{"sekrit":1,"sekrit":2}',
        b'["sekrit',
        b"sekrit",
        b'"sekrit\\ud800"',
        b'"sekrit\xff"',
        b'{"sekrit":1e999}',
    ],
)
@pytest.mark.requirement("content:json:not-quoted")
def test_the_detail_never_quotes_the_text(text: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        decode_json(text)
    assert "sekrit" not in str(refused.value)
    assert "sekrit" not in repr(refused.value)
    assert refused.value.__cause__ is None


def test_the_detail_names_the_place() -> None:
    with pytest.raises(RemoteProtocolError, match="line 2 column 3"):
        decode_json(b"[1,\n  x]")


@given(json_values())
def test_a_value_survives_its_text(value: Json) -> None:
    read = decode_json(encode_json(value))
    assert repr(read) == repr(value)


@given(json_values(), st.sampled_from([None, 1]), st.booleans())
def test_texts_of_another_writer_are_read_alike(
    value: Json, indent: int | None, ensure_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ensure_ascii).encode()
    assert repr(decode_json(text)) == repr(value)


@given(
    st.binary(max_size=80)
    | st.text(alphabet='[]{}":,\\ude9nulltrfas .-+1', max_size=60).map(str.encode)
)
def test_no_bytes_raise_anything_but_our_error(noise: bytes) -> None:
    try:
        value = decode_json(noise)
    except RemoteProtocolError:
        return
    # Whatever was taken must be a value that can be written and read again.
    assert repr(decode_json(encode_json(value))) == repr(value)
    assert value == json.JSONDecoder().decode(noise.decode())


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["r", ".17e", "f", ".3f"]))
def test_floats_are_rounded_as_python_rounds_them(number: float, form: str) -> None:
    text = repr(number) if form == "r" else format(number, form)
    assert repr(decode_json(text.encode())) == repr(float(text))


def test_a_lowered_interpreter_limit_does_not_change_what_is_read() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert decode_json(b"1" + b"0" * 4000) == 10**4000
    finally:
        sys.set_int_max_str_digits(limit)
