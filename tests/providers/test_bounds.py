"""What a decoder keeps has bounds, and whoever exceeds them fails the turn, not the process."""

import pytest

from blockwire.providers import answer, draft, framing, parts
from tests.providers.compare import decode
from tests.providers.wire import call, chat, delta, item, lines, message, named, ollama, sse, start

DONE = b"data: [DONE]\n\n"


@pytest.mark.requirement("providers:bounds:kept")
def test_an_answer_has_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "TURN_CHARS_MAX", 10)

    decoded = decode("openai-chat", [sse(chat({"content": "12345678"}), chat({"content": "901"}))])

    assert decoded.ended.error_code == "answer_too_large"
    assert decoded.blocks[0]["markdown"] == "12345678"


def test_an_answer_has_a_largest_number_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "BLOCKS_MAX", 2)
    texts = (start(index, "text", text="x") for index in range(3))

    decoded = decode("anthropic", [named(message(), *texts)])

    assert decoded.ended.error_code == "answer_too_large"
    assert len(decoded.of_type("prose")) == 2


def test_the_arguments_of_a_call_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "ARGUMENTS_CHARS_MAX", 10)
    piece = chat(call(0, '"' + "x" * 8, id="a", name="f"))

    decoded = decode("openai-chat", [sse(piece, piece) + DONE])

    assert decoded.ended.error_code == "answer_too_large"
    assert decoded.of_type("tool")[0]["status"] == "failed"


def test_what_is_not_shown_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "BLOCKS_MAX", 3)
    unnamed = [chat({"tool_calls": [{"id": f"c{number}"}]}) for number in range(4)]
    skipped = [start(number, "future_block") for number in range(4)]
    unknown = [delta(number, "future_delta") for number in range(4)]
    items = [item(number, "future_item") for number in range(4)]

    for api, body in (
        ("openai-chat", sse(*unnamed)),
        ("anthropic", named(message(), *skipped)),
        ("anthropic", named(message(), *unknown)),
        ("openai-responses", named(*items)),
    ):
        decoded = decode(api, [body])  # type: ignore[arg-type]
        assert decoded.ended.error_code == "answer_too_large"


def test_a_block_has_a_largest_number_of_citations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "OPAQUE_ITEMS_MAX", 2)
    cited = [delta(0, "citations_delta", citation=None)] * 3

    decoded = decode("anthropic", [named(message(), start(0, "text", text="x"), *cited)])

    assert decoded.ended.error_code == "answer_too_large"


def test_opaque_data_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "TURN_CHARS_MAX", 100)
    cited = [delta(0, "citations_delta", citation={"cited_text": "x" * 40})] * 3

    decoded = decode("anthropic", [named(message(), start(0, "text", text=""), *cited)])

    assert decoded.ended.error_code == "answer_too_large"


@pytest.mark.requirement("providers:bounds:kept")
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_an_event_has_a_largest_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(framing, "CHUNK_BYTES_MAX", 200)
    chunk = chat({"content": "x" * 300})
    for api, body in (("openai-chat", sse(chunk)), ("ollama-chat", lines(chunk))):
        pieces = [body[i : i + size] for i in range(0, len(body), size)]

        decoded = decode(api, pieces)  # type: ignore[arg-type]

        assert decoded.ended.error_code == "provider_protocol_error"


def test_a_line_that_never_ends_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "CHUNK_BYTES_MAX", 100)
    reader = framing.JsonLines()

    for _ in range(50):
        reader.receive_data(b"x" * 30)
        assert len(reader._line) <= 100
    reader.receive_reconnect()

    assert reader.receive_data(lines(ollama(content="x"))) != [framing.RawChunk("", None)]


def test_a_body_that_is_no_event_stream_is_kept_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(framing, "CHUNK_BYTES_MAX", 50)
    reader = framing.JsonValues()

    for piece in (b'[{"a": "', *[b"x" * 20] * 10):
        assert reader.receive_data(piece) == []
        assert len(reader._value) <= 50

    assert reader.receive_data(b'"}, {"b": 1}]') == [
        framing.RawChunk("", None),
        framing.RawChunk("", b'{"b": 1}'),
    ]
    reader.receive_data(b'[{"a": "' + b"x" * 50)
    assert reader.receive_eof() == [framing.RawChunk("", None)]


def test_blanks_before_a_body_are_kept_up_to_a_bound() -> None:
    reader = framing.EventStream()

    for _ in range(framing.HEAD_BYTES_MAX + 1):
        reader.receive_data(b"\n")

    assert reader._head is None
    assert reader.receive_data(b"data: 1\n\n") == [framing.RawChunk("message", b"1")]
