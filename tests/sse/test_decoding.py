"""Reading event streams: cuts, bounds, and what is kept between reads."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.sse import (
    EVENT_BYTES_MAX,
    RETRY_DIGITS_MAX,
    SseDecoder,
    SseEvent,
    SseEventTooLarge,
    SseItem,
    encode_sse,
)


def read(chunks: Iterable[bytes], *, event_bytes_max: int = EVENT_BYTES_MAX) -> list[SseItem]:
    decoder = SseDecoder(event_bytes_max=event_bytes_max)
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    return items + decoder.receive_eof()


def single_bytes(stream: bytes) -> list[bytes]:
    return [stream[i : i + 1] for i in range(len(stream))]


# Case S01 of the situations: CR came in one read and LF in the next.
CUT_LINE_END: Final = [b"data: A\r\n", b"data: B\r", b"\ndata: C\r\n", b"\r\n"]


@pytest.mark.requirement("sse:read:line-ends")
@pytest.mark.case("S01")
def test_a_line_end_cut_in_two_ends_one_line() -> None:
    stream = b"".join(CUT_LINE_END)
    event = [SseEvent("message", "A\nB\nC", "")]
    assert read(CUT_LINE_END) == event
    assert read(single_bytes(stream)) == event
    for first in range(len(stream) + 1):
        for second in range(first, len(stream) + 1):
            assert read([stream[:first], stream[first:second], stream[second:]]) == event


@pytest.mark.requirement("sse:read:utf-8")
@pytest.mark.case("S02")
def test_a_character_cut_by_a_read_stays_whole() -> None:
    # Case S02 of the situations.
    text = '{"text":"你好\U0001f9d1\u200d\U0001f4bb"}'
    stream = f"data: {text}\n\n".encode()
    for cut in range(len(stream) + 1):
        assert read([stream[:cut], stream[cut:]]) == [SseEvent("message", text, "")]
    assert read(single_bytes(stream)) == [SseEvent("message", text, "")]


@pytest.mark.parametrize("length", [65_537, 1_048_577, 8_000_000])
@pytest.mark.case("S10")
def test_a_line_far_beyond_a_read_buffer_is_delivered(length: int) -> None:
    # Case S10 of the situations.
    stream = b"data: " + b"x" * length + b"\n\n"
    for chunk_bytes in (1_000, 65_536, len(stream)):
        chunks = [stream[i : i + chunk_bytes] for i in range(0, len(stream), chunk_bytes)]
        assert read(chunks) == [SseEvent("message", "x" * length, "")]


@pytest.mark.requirement("sse:read:linear")
def test_a_long_line_byte_by_byte_takes_linear_time() -> None:
    stream = b"data: " + b"x" * 200_000 + b"\n\n"
    assert read(single_bytes(stream)) == [SseEvent("message", "x" * 200_000, "")]


@pytest.mark.requirement("sse:read:bound")
def test_the_default_bound_is_exact() -> None:
    whole = b"data:" + b"x" * (EVENT_BYTES_MAX - 5) + b"\n\n"
    assert read([whole]) == [SseEvent("message", "x" * (EVENT_BYTES_MAX - 5), "")]
    assert read([whole[:9], b"x", whole[9:]]) == [SseEventTooLarge("message", "")]


# With a bound of 20 bytes: stream, what is read from it, last event id at the end.
TOO_LARGE: Final[list[tuple[bytes, list[SseItem], str]]] = [
    # The line alone is too long, with the id before, after, or none.
    (
        b"id: 7\nevent: t\ndata: 0123456789abcdef\n\ndata: b\n\n",
        [SseEventTooLarge("t", "7"), SseEvent("message", "b", "7")],
        "7",
    ),
    (
        b"data: 0123456789abcdef\nid: 7\nevent: t\n\ndata: b\n\n",
        [SseEventTooLarge("t", "7"), SseEvent("message", "b", "7")],
        "7",
    ),
    (
        b"data: 0123456789abcdef\n\ndata: b\nid: 8\n\n",
        [SseEventTooLarge("message", ""), SseEvent("message", "b", "8")],
        "8",
    ),
    # Many short lines are too much together; what follows in the same event is dropped as well.
    (b"data: 123\n" * 3 + b"data: 4\n\n", [SseEventTooLarge("message", "")], ""),
    # The id itself is what does not fit any more: it is still learned.
    (b"data: 123456789\nid: 12345\n\n", [SseEventTooLarge("message", "12345")], "12345"),
    (b"data: 123456789\nid: 123\n\n", [SseEventTooLarge("message", "123")], "123"),
    # An id that is too long by itself is not.
    (b"id: 0123456789abcdef0\ndata: a\n\n", [SseEventTooLarge("message", "")], ""),
    # One error only, however often the bound is passed.
    (
        (b"data: 0123456789abcdef\n" * 5 + b"\n") * 2 + b"data: b\n\n",
        [SseEventTooLarge("message", "")] * 2 + [SseEvent("message", "b", "")],
        "",
    ),
    # Comments do not count, whatever their length.
    (b": 0123456789abcdef0123456789\ndata: a\n\n", [SseEvent("message", "a", "")], ""),
    (b"data: a\n: 0123456789abcdef\ndata: b\n\n", [SseEvent("message", "a\nb", "")], ""),
    (b"data: 0123456789abcdef\n: 0123456789abcdef0123\n\n", [SseEventTooLarge("message", "")], ""),
    # Exactly the bound fits, twice: the count starts anew with each event.
    (b"data: 0123456789abcd\n\n" * 2, [SseEvent("message", "0123456789abcd", "")] * 2, ""),
    # The stream ends inside: the id counts, or a reader would ask for the event for ever.
    (b"id: 7\ndata: 0123456789abcdef", [SseEventTooLarge("message", "7")], "7"),
    (b"id: 7\ndata: 0123456789abcdef\n", [SseEventTooLarge("message", "7")], "7"),
    (b"id: 7\ndata: 012345678\n", [], ""),
]


@pytest.mark.parametrize(("stream", "items", "last_event_id"), TOO_LARGE, ids=ascii)
@pytest.mark.parametrize("cut", ["whole", "bytes", "halves"])
@pytest.mark.requirement("sse:read:bound")
def test_an_event_above_the_bound_is_reported_once_and_passed_over(
    stream: bytes, items: list[SseItem], last_event_id: str, cut: str
) -> None:
    ways = {
        "whole": [[stream]],
        "bytes": [single_bytes(stream)],
        "halves": [[stream[:at], stream[at:]] for at in range(len(stream))],
    }
    for chunks in ways[cut]:
        decoder = SseDecoder(event_bytes_max=20)
        got: list[SseItem] = []
        for chunk in chunks:
            got += decoder.receive_data(chunk)
            assert decoder.retained_bytes <= 20
        got += decoder.receive_eof()
        assert (got, decoder.last_event_id) == (items, last_event_id)


@pytest.mark.requirement("sse:read:linear")
def test_nothing_is_hoarded_while_an_event_is_passed_over() -> None:
    decoder = SseDecoder(event_bytes_max=1_000)
    for _ in range(500):
        assert decoder.receive_data(b"data: " + b"x" * 900 + b"\n" + b"data: " + b"y" * 90) == []
        assert decoder.retained_bytes <= 1_000


_LINES: Final = (
    b"data",
    b"data: a",
    b"data:  \xe4\xbd\xa0",
    b"data: \xff\xe4",
    b"data: 0123456789abcdef",
    b"id: 7",
    b"id",
    b"id: \x00",
    b"event: t",
    b"event:",
    b": c",
    b": 0123456789abcdef",
    b":",
    b"retry: 5",
    b"retry: x",
    b"other: 1",
    b" data: n",
    b"\xef\xbb\xbfdata: b",
    b"",
)


def streams() -> st.SearchStrategy[bytes]:
    """Return streams of whole lines of all kinds, each with one of the three line ends."""
    line = st.builds(
        bytes.__add__,
        st.sampled_from([*_LINES, b"", b""]),
        st.sampled_from([b"\n", b"\r", b"\r\n"]),
    )
    return st.lists(line, max_size=12).map(b"".join)


def state_after(
    chunks: Iterable[bytes], event_bytes_max: int
) -> tuple[list[SseItem], str, int | None, int, int]:
    decoder = SseDecoder(event_bytes_max=event_bytes_max)
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    retained = decoder.retained_bytes
    items += decoder.receive_eof()
    return items, decoder.last_event_id, decoder.retry_ms, decoder.comment_count, retained


@given(
    streams() | st.binary(max_size=60), st.lists(st.integers(0, 80)), st.sampled_from([12, 10**6])
)
@example(b"\xef\xbb", [1], 12)
@pytest.mark.requirement("sse:read:cuts")
def test_it_does_not_matter_how_a_stream_is_cut(
    stream: bytes, cuts: list[int], event_bytes_max: int
) -> None:
    edges = [0, *sorted(cuts), len(stream) + 80]
    chunks = [stream[start:end] for start, end in pairwise(edges)]
    whole = state_after([stream], event_bytes_max)
    assert state_after(chunks, event_bytes_max) == whole
    assert state_after(single_bytes(stream), event_bytes_max) == whole
    assert whole[-1] <= event_bytes_max


@pytest.mark.requirement("sse:read:comments")
def test_heartbeats_are_counted_and_are_no_events() -> None:
    decoder = SseDecoder()
    assert decoder.receive_data(b": hb\n\n:\n\n: half") == []
    assert decoder.comment_count == 2
    assert decoder.receive_data(b"\n") == []
    assert decoder.comment_count == 3


def test_a_comment_that_is_too_long_to_keep_is_counted_once() -> None:
    decoder = SseDecoder(event_bytes_max=4)
    for chunk in (b": long", b"er ", b"than that\n", b"\n"):
        assert decoder.receive_data(chunk) == []
    assert decoder.comment_count == 1


def test_a_new_connection_starts_from_the_old_id() -> None:
    decoder = SseDecoder(last_event_id="41")
    assert decoder.last_event_id == "41"
    assert decoder.receive_data(b"data: a\n\n") == [SseEvent("message", "a", "41")]


@pytest.mark.parametrize(
    ("field", "retry_ms"),
    [
        (b"retry: 0", 0),
        (b"retry: " + b"9" * RETRY_DIGITS_MAX, int("9" * RETRY_DIGITS_MAX)),
        (b"retry: " + b"9" * (RETRY_DIGITS_MAX + 1), None),
        (b"retry: " + b"9" * 10_000, None),
        (b"retry", None),
        (b"retry: -1", None),
        (b"retry:  1", None),
    ],
)
def test_only_a_short_row_of_digits_is_a_reconnection_time(
    field: bytes, retry_ms: int | None
) -> None:
    decoder = SseDecoder()
    decoder.receive_data(field + b"\n")
    assert decoder.retry_ms == retry_ms


@pytest.mark.requirement("sse:read:unfinished")
def test_an_unfinished_event_is_discarded_at_the_end() -> None:
    decoder = SseDecoder()
    assert decoder.receive_data(b"id: 9\ndata: a\ndata: b") == []
    assert decoder.retained_bytes > 0
    assert decoder.receive_eof() == []
    assert decoder.receive_eof() == []
    assert (decoder.last_event_id, decoder.retained_bytes) == ("", 0)


def test_nothing_follows_the_end() -> None:
    decoder = SseDecoder()
    decoder.receive_eof()
    with pytest.raises(LocalProtocolError) as refused:
        decoder.receive_data(b"")
    assert refused.value.code == "stream_ended"


def test_ten_thousand_events_in_one_read_come_in_order() -> None:
    stream = b"".join(encode_sse(b"%d" % n, id=str(n)) for n in range(10_000))
    assert read([stream]) == [SseEvent("message", str(n), str(n)) for n in range(10_000)]
