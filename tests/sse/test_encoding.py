"""Writing event streams: what is written reads back, and nothing can break out of a field."""

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.sse import SseDecoder, SseEvent, encode_comment, encode_retry, encode_sse

WRITTEN: Final[list[tuple[bytes, str | None, str | None, bytes]]] = [
    # data, event, id, bytes
    (b"{}", "turn.started", "7", b"id: 7\nevent: turn.started\ndata: {}\n\n"),
    (b"{}", None, None, b"data: {}\n\n"),
    (b"", None, "", b"id: \ndata: \n\n"),
    (b"a\nb", None, None, b"data: a\ndata: b\n\n"),
    (b"a\r\nb\rc\n", None, None, b"data: a\ndata: b\ndata: c\ndata: \n\n"),
    (b"\n\r", None, None, b"data: \ndata: \ndata: \n\n"),
    ("é\u2028".encode(), None, "é", "id: é\ndata: é\u2028\n\n".encode()),
]

_FIELDS: Final = st.none() | st.text(
    st.characters(exclude_characters="\r\n\x00", exclude_categories=["Cs"]), max_size=8
)


@pytest.mark.parametrize(("data", "event", "event_id", "written"), WRITTEN)
@pytest.mark.requirement("sse:write:id-first")
def test_an_event_is_written_with_its_id_first(
    data: bytes, event: str | None, event_id: str | None, written: bytes
) -> None:
    assert encode_sse(data, event=event, id=event_id) == written


@given(st.text(st.characters(exclude_categories=["Cs"])), _FIELDS, _FIELDS)
@example("\ufeff a\r\n\rb\u2028\x85", "\ufeff", " ")
@pytest.mark.requirement("sse:write:reads-back")
def test_what_is_written_reads_back(text: str, event: str | None, event_id: str | None) -> None:
    stream = encode_sse(text.encode(), event=event, id=event_id)
    expected = SseEvent(
        event or "message", text.replace("\r\n", "\n").replace("\r", "\n"), event_id or ""
    )
    noisy = encode_comment("hello") + stream + encode_retry(5) + encode_comment()
    assert SseDecoder().receive_data(noisy) == [expected]


@pytest.mark.parametrize("value", ["a\nb", "a\r", "\x00", "\ud800", "é\udfff"])
@pytest.mark.requirement("sse:write:fields")
def test_a_field_that_would_end_early_is_refused(value: str) -> None:
    for event, event_id in ((value, None), (None, value)):
        with pytest.raises(LocalProtocolError) as refused:
            encode_sse(b"{}", event=event, id=event_id)
        assert refused.value.code == "invalid_sse_field"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", b":\n\n"),
        ("keep-alive", b": keep-alive\n\n"),
        ("a\r\n\ndata: b\rc", b": a\n:\n: data: b\n: c\n\n"),
    ],
)
def test_a_comment_stays_a_comment(text: str, written: bytes) -> None:
    assert encode_comment(text) == written
    assert SseDecoder().receive_data(written) == []


def test_a_comment_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(LocalProtocolError) as refused:
        encode_comment("\ud800")
    assert refused.value.code == "invalid_sse_field"


def test_a_reconnection_time_is_written_in_digits() -> None:
    assert encode_retry(1000) == b"retry: 1000\n\n"
    with pytest.raises(LocalProtocolError) as refused:
        encode_retry(-1)
    assert refused.value.code == "invalid_sse_field"
