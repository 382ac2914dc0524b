"""The runner's own reader and tables: right by the code under test, and independent of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.conform import load_cases, wire
from blockwire.conform.shape import find_fault
from blockwire.conform.streams import stream_of
from blockwire.conform.wire import Item, Ordinary, Said, WireReader, Wrong, frames
from blockwire.jsontext import decode_json
from blockwire.terminal import InvalidMessage, bounds, decode_message

QUERY = b'{"version":1,"kind":"capability.query","request_id":"q","body":{}}'


def read(*pieces: bytes) -> list[Item]:
    reader = WireReader()
    items = [item for piece in pieces for item in reader.receive_data(piece)]
    return merged([*items, *reader.end()])


def merged(items: list[Item]) -> list[Item]:
    joined: list[Item] = []
    for item in items:
        if isinstance(item, Ordinary) and joined and isinstance(joined[-1], Ordinary):
            joined[-1] = Ordinary(joined[-1].data + item.data)
        else:
            joined.append(item)
    return joined


@pytest.mark.parametrize(
    "name",
    [
        "OSC_NUMBER", "FRAGMENT_BYTES", "FRAMES_MAX", "FRAME_ID_MAX", "MESSAGE_BYTES_MAX",
        "OSC_CONTENT_BYTES_MAX", "DEPTH_MAX",
    ],
)  # fmt: skip
def test_the_numbers_of_the_runner_are_those_of_the_protocol(name: str) -> None:
    assert getattr(wire, name) == getattr(bounds, name)


@given(st.lists(st.integers(1, 60), max_size=6), st.integers(1, 9_000))
def test_a_message_is_read_whole_at_any_cut(cuts: list[int], size: int) -> None:
    source = b'{"a":"%s"}' % (b"x" * size)
    data = b"before" + frames(source, 7) + b"\x1b]0;title\x07after"
    pieces, at = [], 0
    for cut in cuts:
        pieces.append(data[at : at + cut])
        at += cut

    before, said, after = read(*pieces, data[at:])

    assert before == Ordinary(b"before")
    assert after == Ordinary(b"\x1b]0;title\x07after")
    assert isinstance(said, Said)
    assert (said.source, said.frame_id) == (source, 7)
    assert said.frame_count == -(-len(source) // wire.FRAGMENT_BYTES)


GOOD = frames(QUERY, 1)
LONG = frames(b'{"a":"%s"}' % (b"x" * 4_000), 1)
WRONG = {
    "ended by BEL": GOOD[:-2] + b"\x07",
    "cut by another control": GOOD[:-2] + b"\x1bP",
    "a leading zero": GOOD.replace(b";1;0;0;", b";01;0;0;"),
    "another version": GOOD.replace(b"9002;1;", b"9002;2;"),
    "no payload": b"\x1b]9002;1;1;0;0;\x1b\\",
    "base64 with other bits": b"\x1b]9002;1;1;0;0;eyB9AB==\x1b\\",
    "no JSON": frames(b"{", 1),
    "no object": frames(b"[]", 1),
    "an end without a beginning": b"\x1b]9002;1;1;1;0;AAAA\x1b\\",
    "something between": LONG[:4_200] + b"x" + LONG[4_200:],
    "no last frame": LONG[: LONG.index(b"\x1b\\") + 2],
    "no end": GOOD[:-2],
    "no end within bounds": GOOD[:-2] + b"A" * 5_000 + b"\x1b\\",
    "a frame id that is too large": GOOD.replace(b";1;0;0;", b";2147483648;0;0;"),
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
def test_what_is_not_in_the_form_of_the_specification_is_told(data: bytes) -> None:
    assert any(isinstance(item, Wrong) for item in read(data))
    assert isinstance(read(data, GOOD)[-1], Said), "a good frame after it is read"


def valid(source: bytes) -> bool:
    try:
        decode_message(source)
    except InvalidMessage:
        return False
    return True


# What a terminal checks and the runner need not: values of styles, and numbers that are vast; and
# the answer to a query of another version, which only the runner asks.
LENIENT = (
    "style",
    "version: 2 of capability.response",
    "layout",
    "attributes",
    "color",
    "foreground",
    "text/",
    "e999",
    "digits",
    "fragment",
)


def test_the_runner_and_the_codec_agree_on_every_message_of_the_vectors() -> None:
    sources: list[tuple[str, Any]] = []
    for case in load_cases():
        if case.file.startswith("codec_"):
            items = WireReader().receive_data(stream_of(case.row))
            sources += [(case.name, item.source) for item in items if isinstance(item, Said)]

    differing = [
        name
        for name, source in sources
        if valid(source) != (find_fault(_object(source)) is None)
        and not any(word in name for word in LENIENT)
    ]

    assert len(sources) > 400
    assert differing == []


def _object(source: bytes) -> dict[str, Any]:
    value = decode_json(source)
    assert isinstance(value, dict)
    return value
