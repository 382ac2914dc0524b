"""The short way to read a line of an upload says what the long way says, or nothing."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content import BlockDelta, decode_delta_line, decode_event
from blockwire.content.lines import DELTA_LINE_BYTES_MAX
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import SAFE_INTEGER_MAX, decode_json, encode_json

LINE = (
    b'{"type":"content.block.delta","turn_id":"t","block_id":"b","field":"markdown",'
    b'"text":"it.","producer_seq":7}'
)
DELTA = BlockDelta("t", "b", "markdown", "it.")


def read_strictly(line: bytes) -> tuple[BlockDelta, int] | None:
    """Return what the strict reader makes of ``line``; None for whatever it refuses."""
    try:
        value = decode_json(line)
        assert isinstance(value, dict), "no damage makes it another kind of value"
        number = value.pop("producer_seq", None)
        event = decode_event(value)
    except RemoteProtocolError:
        return None
    if type(number) is not int or not 1 <= number <= SAFE_INTEGER_MAX:
        return None
    return (event, number) if type(event) is BlockDelta else None


def test_a_plain_delta_is_read_at_once() -> None:
    assert decode_delta_line(LINE) == (DELTA, 7)


@pytest.mark.parametrize(
    "last",
    [DELTA, BlockDelta("t", "other", "markdown", ""), BlockDelta("other", "b", "markdown", "")],
)
def test_the_delta_before_it_changes_nothing(last: BlockDelta) -> None:
    assert decode_delta_line(LINE, last) == (DELTA, 7)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b":7}", b": 7 }", id="blanks"),
        pytest.param(b"it.", rb"it\u002e", id="an escape that need not be"),
        pytest.param(b'"text":"it."', b'"text":"a","text":"it."', id="a name twice"),
        pytest.param(b'"text":"it."', rb'"text":"a","t\u0065xt":"it."', id="twice, one escaped"),
        pytest.param(b',"producer_seq":7', b"", id="without a number"),
        pytest.param(b":7}", b":0}", id="number zero"),
        pytest.param(b":7}", b":-7}", id="a number below zero"),
        pytest.param(b":7}", b":7.0}", id="a fraction"),
        pytest.param(b":7}", b":7e0}", id="an exponent"),
        pytest.param(b":7}", b":%d}" % (SAFE_INTEGER_MAX + 1), id="a number too large"),
        pytest.param(b":7}", b":true}", id="a boolean"),
        pytest.param(b":7}", b':7,"x":1}', id="another member"),
        pytest.param(b":7}", b':7,"x":' + b"[" * 1500 + b"]" * 400 + b"}", id="depth"),
        pytest.param(b"content.block.delta", b"content.block.other", id="another type"),
        pytest.param(b'"turn_id":"t"', b'"turn_id":" "', id="a blank id"),
        pytest.param(b'"turn_id":"t"', b'"turn_id":""', id="an empty id"),
        pytest.param(b'"block_id":"b"', b'"block_id":" b"', id="an id that begins blank"),
        pytest.param(b'"block_id":"b"', b'"block_id":"\xc2\x85"', id="a control in an id"),
        pytest.param(b'"block_id":"b"', b'"block_id":"%b"' % (b"b" * 257), id="a long id"),
        pytest.param(b"it.", b"\xff", id="no UTF-8"),
        pytest.param(b"it.", rb"\ud800", id="a lone surrogate"),
        pytest.param(b"it.", b"\x01", id="a raw control"),
        pytest.param(b"{", b"\xef\xbb\xbf{", id="a byte-order mark"),
        pytest.param(b"7}", b"7", id="an open end"),
        pytest.param(b"7}", b"7}}", id="more behind it"),
    ],
)
def test_whatever_is_unusual_is_left_to_the_strict_reader(old: bytes, new: bytes) -> None:
    line = LINE.replace(old, new)

    assert line != LINE
    assert decode_delta_line(line) is None


def test_what_is_long_is_left_to_the_strict_reader() -> None:
    room = DELTA_LINE_BYTES_MAX - len(LINE)

    assert decode_delta_line(LINE.replace(b"it.", b"it." + b"x" * room)) is not None
    assert decode_delta_line(LINE.replace(b"it.", b"it." + b"x" * (room + 1))) is None


@given(
    text=st.text(), turn_id=st.text(max_size=4), block_id=st.text(max_size=4), number=st.integers()
)
def test_it_never_says_anything_else_than_the_strict_reader(
    text: str, turn_id: str, block_id: str, number: int
) -> None:
    line = encode_json(
        {
            "producer_seq": number,
            "field": "markdown",
            "type": "content.block.delta",
            "block_id": block_id,
            "text": text,
            "turn_id": turn_id,
        }
    )

    assert decode_delta_line(line) in {None, read_strictly(line)}


@given(st.randoms(use_true_random=False))
def test_damaged_lines_are_read_as_the_strict_reader_reads_them(chance: random.Random) -> None:
    line = bytearray(LINE)
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(line) + 1)
        piece = LINE[(at := chance.randrange(len(LINE))) : at + chance.randrange(24)]
        line[start : start + chance.randrange(12)] = chance.choice(
            [piece, b" ", b'"', b"\\", b"0", b"e1", b"", b'"text":"x",']
        )

    assert decode_delta_line(bytes(line)) in {None, read_strictly(bytes(line))}
