"""Numbers beyond finite binary64 are taken out of a text, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json
from blockwire.terminal.vastness import without_vast_numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[1e999,-1E+999,1.5e0999]", b"[null,null,null]"),
        (b"9" * 400, b"null"),
        (b'["1e999","\\"1e999",1]', b'["1e999","\\"1e999",1]'),
        (b'{"1e999":1e308}', b'{"1e999":1e308}'),
        (b"01e999", b"01e999"),
        (b"+1e999", b"+1e999"),
        (b"1e999.5", b"1e999.5"),
        (b".1e999", b".1e999"),
        (b"x1e999", b"x1e999"),
        (b'"1e999', b'"null'),
        (b"", b""),
    ],
)
@pytest.mark.requirement("terminal:json:vast-numbers")
def test_vast_numbers_become_null(text: bytes, expected: bytes) -> None:
    assert without_vast_numbers(text) == expected


@given(st.text(alphabet='{}[]",:\\ 0123456789.eE+-nulx', max_size=30))
@pytest.mark.requirement("terminal:json:silent")
def test_what_is_no_json_stays_none(text: str) -> None:
    data = text.encode()
    try:
        decode_json(data)
        code = None
    except RemoteProtocolError as error:
        code = error.code
    try:
        decode_json(without_vast_numbers(data))
        is_json = True
    except RemoteProtocolError:
        is_json = False

    assert is_json is (code in {None, "number_out_of_range"})
