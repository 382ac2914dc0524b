"""What a terminal can write: never an error, and ASCII stays what it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.text.charset import UTF_8, Charset


@pytest.mark.parametrize(
    ("charset", "data"),
    [
        (UTF_8, "caf\u00e9 \u2500?".encode()),
        (Charset("latin-1"), b"caf\xe9 ??"),
        (Charset("ascii"), b"caf? ??"),
        (Charset("ascii", "ignore"), b"caf "),
    ],
)
def test_what_it_cannot_hold_is_left_to_the_handler(charset: Charset, data: bytes) -> None:
    assert (
        charset.encode("caf\u00e9 \u2500" + ("" if charset.errors == "ignore" else "\ud800"))
        == data
    )


@given(st.text(st.characters(categories=["L", "Cs", "So", "Cc"])))
def test_it_never_fails(text: str) -> None:
    assert len(Charset("ascii").encode(text)) == len(text)
    UTF_8.encode(text)
