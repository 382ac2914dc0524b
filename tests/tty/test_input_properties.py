"""What holds for any input: cuts do not matter, nothing is lost, no reply is typed."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.tty import InputParser, Key, Mouse, Reply, encode_key
from blockwire.tty.input import STRING_BYTES_MAX
from tests.tty.inputs import bytes_of, joined
from tests.tty.test_input import BROKEN, REPLIES
from tests.tty.test_input_spellings import SPELLINGS

PASTE_CLOSED: Final = b"\x1b[201~"
KNOWN: Final = [
    *(raw for spellings in SPELLINGS.values() for raw in spellings),
    *(raw for raw, _kind, _fields in REPLIES),
    *(raw for raw, _events in BROKEN),
    b"\x1b[<0;3;4M", b"\x1b[<35;300;4m", b"\x1b[M !\xff", b"\x1b[32;5;6M", b"\x1b[200~", PASTE_CLOSED,
]  # fmt: skip
# Bytes that mean something here come more often than by chance.
BYTES: Final = st.binary(max_size=12) | st.lists(
    st.sampled_from(b"\x1b[]OP_M<?;:0129$~u\\\x07AR \x03\xc3\xa9\x9b"), max_size=12
).map(bytes)
INPUTS: Final = st.lists(
    st.sampled_from(KNOWN) | BYTES | st.text(max_size=4).map(str.encode), max_size=12
).map(b"".join)
CUTS: Final = st.lists(st.integers(1, 9), max_size=40)


def pieces_of(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


@pytest.mark.requirement("host:input:any-split")
@given(data=INPUTS, sizes=CUTS)
@example(data=b"\x1b\x1b[[", sizes=[2])
def test_cuts_do_not_matter(data: bytes, sizes: list[int]) -> None:
    whole, cut = InputParser(), InputParser()
    events = whole.receive_data(data)

    found = [event for piece in pieces_of(data, sizes) for event in cut.receive_data(piece)]

    assert joined(found) == joined(events)
    assert (cut.retained_bytes, cut.is_holding) == (whole.retained_bytes, whole.is_holding)
    assert cut.flush() == whole.flush()
    assert cut.retained_bytes <= STRING_BYTES_MAX + 1


@pytest.mark.requirement("host:input:every-byte")
@given(data=INPUTS, sizes=CUTS)
@example(data=b"\x1b[200~\x1b[2", sizes=[1, 5])
def test_every_byte_is_in_one_event_in_order(data: bytes, sizes: list[int]) -> None:
    # A paste that never closed would have shown no bracket.
    data += PASTE_CLOSED
    parser = InputParser()
    events = []

    for piece in pieces_of(data, sizes):
        events += parser.receive_data(piece) + parser.flush()

    assert bytes_of(events) == data


@pytest.mark.requirement("host:input:text")
@given(data=INPUTS)
def test_what_is_typed_holds_no_control(data: bytes) -> None:
    parser = InputParser()

    keys = [event for event in parser.receive_data(data) if isinstance(event, Key)]

    for key in keys:
        assert not any(c < " " or "\x7f" <= c <= "\x9f" for c in key.text), key


@pytest.mark.requirement("host:input:never-typed")
@given(
    content=st.text(st.characters(min_codepoint=32, codec="utf-8", exclude_categories=["Cc"])),
    head=st.sampled_from([b"\x1b]", b"\x1bP", b"\x1b_"]),
    end=st.sampled_from([b"\x07", b"\x1b\\"]),
    sizes=CUTS,
)
def test_an_answer_is_never_typed_however_late_and_slow(
    content: str, head: bytes, end: bytes, sizes: list[int]
) -> None:
    parser = InputParser()
    events = []

    for piece in pieces_of(head + content.encode() + end, sizes):
        events += parser.receive_data(piece)
        if parser.retained_bytes > 1:
            # An ESC alone is a key after 50 ms, whatever comes behind it.
            events += parser.flush(is_reply_outstanding=True)

    assert [type(event) for event in events] == [Reply]


@pytest.mark.requirement("host:input:plain")
@given(data=INPUTS, application_cursor=st.booleans())
def test_what_a_program_is_sent_is_the_same_key_on_its_terminal(
    data: bytes, application_cursor: bool
) -> None:
    for event in InputParser().receive_data(data):
        if not isinstance(event, Key) or event.name.startswith("byte-"):
            continue
        sent = encode_key(event, application_cursor=application_cursor, application_keypad=False)
        again = InputParser()
        keys = again.receive_data(sent) + again.flush()
        # A key that a plain xterm cannot say is sent as what is nearest, always as the same.
        resent = [
            encode_key(key, application_cursor=application_cursor, application_keypad=False)
            for key in keys
            if isinstance(key, Key)
        ]
        assert b"".join(resent) == sent


def test_the_strategies_reach_every_kind_of_event() -> None:
    kinds = {type(event) for raw in KNOWN for event in InputParser().receive_data(raw)}

    assert {Key, Mouse, Reply} <= kinds
