"""Ollama's lines."""

from typing import Any

import pytest

from tests.providers.compare import Decoded, decode, outcome_of
from tests.providers.wire import lines, ollama


def read(*objects: Any) -> Decoded:
    return decode("ollama-chat", [lines(*objects)])


def calling(**members: Any) -> dict[str, Any]:
    call_id = members.pop("id", None)
    piece = {"function": members} if call_id is None else {"id": call_id, "function": members}
    return ollama(tool_calls=[piece])


@pytest.mark.parametrize(
    ("function", "given"),
    [
        ({"name": "f", "arguments": {"a": 1.0}}, {"a": 1.0}),
        ({"name": "f", "arguments": '{"a": 1}'}, {"a": 1}),
        ({"name": "f", "arguments": None}, {}),
        ({"name": "f"}, {}),
    ],
)
def test_arguments_have_several_forms(function: dict[str, Any], given: Any) -> None:
    decoded = read(calling(**function), ollama(done=True, done_reason="stop"))

    assert outcome_of(decoded) == "tool_calls"
    assert decoded.of_type("tool")[0]["input"] == given


def test_an_id_is_kept_where_there_is_one() -> None:
    decoded = read(
        calling(id="c1", name="f"), calling(name="f"), ollama(done=True, done_reason="stop")
    )

    first, second = decoded.of_type("tool")
    assert first["provider_data"]["call_id"] == "c1"
    assert first["id"] != second["id"]


def test_think_tags_in_the_text_are_reasoning() -> None:
    decoded = read(ollama(content="<think>Hm.</th"), ollama(content="ink>Yes."), ollama(done=True))

    assert [block["type"] for block in decoded.blocks] == ["reasoning", "prose"]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("stop", None),
        ("length", "answer_truncated"),
        ("moon_phase", "unknown_finish_reason"),
    ],
)
def test_every_reason_to_stop_is_told(reason: str, code: str | None) -> None:
    decoded = read(ollama(content="Some."), ollama(done=True, done_reason=reason))

    told = decoded.of_type("error", "notice")
    assert [block["code"] for block in told] == ([code] if code else [])


def test_loading_a_model_is_no_answer() -> None:
    decoded = read(ollama(done=True, done_reason="load"))

    assert decoded.of_type("notice")[0]["code"] == "empty_answer"


def test_an_error_has_the_status_beside_it() -> None:
    decoded = read({"error": "model overloaded", "status_code": 503})

    (error,) = decoded.of_type("error")
    assert error["message"] == "model overloaded"
    assert (error["code"], error["retryable"]) == ("provider_unavailable", True)


def test_a_last_line_needs_no_end_and_a_cut_one_is_a_cut() -> None:
    body = lines(ollama(content="Hi."), ollama(done=True)).rstrip(b"\n")

    assert outcome_of(decode("ollama-chat", [body])) == "completed"
    assert outcome_of(decode("ollama-chat", [body[:-1]])) == "truncated"


def test_invalid_bytes_become_the_replacement_character() -> None:
    body = b'{"message": {"content": "a\xff"}}\n{"done": true}\n'

    decoded = decode("ollama-chat", [b"\xef\xbb\xbf" + body])

    assert decoded.blocks[0]["markdown"] == "a\ufffd"
