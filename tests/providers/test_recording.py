"""Recordings in a file, with times and without."""

import pytest

from blockwire.errors import LocalProtocolError
from blockwire.providers import PLAIN_BYTES_PER_S, PROVIDER_APIS, Recording, parse_recording


def test_a_timed_recording_has_its_times() -> None:
    data = b'{"at_ms": 5, "data": "a"}\n\n{"at_ms": 5, "data": "\xc3\xa9\\n"}\n'

    recording = parse_recording(data, "answer.gemini.timed.jsonl")

    assert recording == Recording("gemini", ((5, b"a"), (5, "é\n".encode())))


@pytest.mark.parametrize(
    ("name", "data", "pieces"),
    [
        ("a.openai-chat.sse", b"data: 1\n\ndata: 2\r\n\r\n", [b"data: 1\n\n", b"data: 2\r\n\r\n"]),
        ("a.openai-chat.sse", b"data: 1\n\ndata: 2", [b"data: 1\n\n", b"data: 2"]),
        ("a.ollama-chat.ndjson", b"{}\n{}\n", [b"{}\n", b"{}\n"]),
        ("a.anthropic.sse", b"", []),
    ],
)
def test_a_plain_body_is_paced_by_its_size(name: str, data: bytes, pieces: list[bytes]) -> None:
    recording = parse_recording(data, name)

    assert [piece for _, piece in recording.chunks] == pieces
    sizes = [len(b"".join(pieces[: i + 1])) for i in range(len(pieces))]
    assert [at_ms for at_ms, _ in recording.chunks] == [
        size * 1000 // PLAIN_BYTES_PER_S for size in sizes
    ]


def test_the_name_or_the_caller_tells_the_api() -> None:
    for api in PROVIDER_APIS:
        assert parse_recording(b"", f"my.answer.{api}.sse").api == api
    assert parse_recording(b"", "answer.sse", api="gemini").api == "gemini"
    with pytest.raises(LocalProtocolError, match="does not name its API"):
        parse_recording(b"", "answer.sse")


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"at_ms": 1}',
        b'{"at_ms": 1, "data": 2}',
        b'{"at_ms": 1.0, "data": ""}',
        b'{"at_ms": -1, "data": ""}',
        b'{"at_ms": true, "data": ""}',
    ],
)
def test_a_broken_line_is_named(line: bytes) -> None:
    data = b'{"at_ms": 0, "data": ""}\n' + line

    with pytest.raises(LocalProtocolError, match="line 2") as raised:
        parse_recording(data, "a.gemini.timed.jsonl")

    assert raised.value.code == "invalid_recording"
