"""Gemini: parts, pieces of arguments, and every reason to stop."""

from typing import Any

import pytest

from tests.providers.compare import Decoded, decode, outcome_of, texts
from tests.providers.wire import parts, sse


def read(*objects: Any) -> Decoded:
    return decode("gemini", [sse(*objects)])


def pieces(*partial: dict[str, Any]) -> dict[str, Any]:
    return parts({"functionCall": {"partialArgs": list(partial), "willContinue": True}})


BEGIN = parts({"functionCall": {"name": "f", "id": "c1", "willContinue": True}})
END = parts({"functionCall": {}}, finish="STOP")


@pytest.mark.parametrize(
    ("reason", "status", "code"),
    [
        ("MAX_TOKENS", "completed", "answer_truncated"),
        ("SAFETY", "failed", "content_filter"),
        ("RECITATION", "failed", "content_filter"),
        ("OTHER", "failed", "other"),
        ("MALFORMED_FUNCTION_CALL", "failed", "malformed_function_call"),
        ("FINISH_REASON_UNSPECIFIED", "failed", "stream_truncated"),
        ("MOON_PHASE", "completed", "unknown_finish_reason"),
    ],
)
def test_every_reason_to_stop_is_told(reason: str, status: str, code: str) -> None:
    decoded = read(parts({"text": "Some."}, finish=reason))

    assert decoded.ended.status == status
    assert texts(decoded)[-1][1] == code


def test_the_provider_s_own_sentence_is_told() -> None:
    chunk = parts(finish="MALFORMED_FUNCTION_CALL")
    chunk["candidates"][0]["finishMessage"] = "Malformed function call: f("

    (error,) = read(chunk).of_type("error")
    assert error["message"] == "Malformed function call: f("
    assert error["retryable"] is True


def test_a_blocked_prompt_is_told() -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "Not this."}

    (error,) = read({"promptFeedback": feedback}).of_type("error")
    assert error["code"] == "content_filter"
    assert error["message"].endswith("Not this.")
    assert error["provider_code"] == "SAFETY"


def test_an_error_ends_the_turn_also_inside_an_array() -> None:
    problem = {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED"}}

    for body in (sse(problem), sse([problem])):
        (error,) = decode("gemini", [body]).of_type("error")
        assert (error["code"], error["retryable"]) == ("resource_exhausted", True)


def test_only_the_first_candidate_counts() -> None:
    chunk = parts({"text": "One"}, finish="STOP")
    chunk["candidates"].append({"index": 1, "content": {"parts": [{"text": "Two"}]}})

    assert texts(read(chunk)) == [("prose", "One")]


def test_a_call_has_its_id_and_signature() -> None:
    part = {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "s"}
    decoded = read(parts(part, finish="STOP"))

    assert decoded.of_type("tool")[0]["provider_data"] == {
        "provider": "gemini",
        "call_id": "c1",
        "thought_signature": "s",
    }


def test_a_signature_alone_belongs_to_what_was_before_it() -> None:
    signed = {"text": "", "thoughtSignature": "s"}
    after_call = read(parts({"functionCall": {"name": "f"}}), parts(signed, finish="STOP"))
    alone = read(parts(signed), parts({"text": "Hi."}, finish="STOP"))

    assert after_call.of_type("tool")[0]["provider_data"]["thought_signature"] == "s"
    assert texts(alone) == [("reasoning", ""), ("prose", "Hi.")]
    assert alone.blocks[0]["provider_data"]["thought_signature"] == "s"


def test_grounding_is_kept_with_the_text() -> None:
    chunk = parts({"text": "Hi."}, finish="STOP")
    chunk["candidates"][0]["groundingMetadata"] = {"webSearchQueries": ["q"]}

    data = read(chunk).blocks[0]["provider_data"]
    assert data["grounding_metadata"] == '{"webSearchQueries":["q"]}'


def test_a_file_is_not_silently_left_out() -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}
    remote: dict[str, Any] = {"fileData": {}}
    decoded = read(parts({"text": "See:"}, inline, remote, finish="STOP"))

    assert [code for _, code in texts(decoded)] == ["See:", *["content_not_supported"] * 2]
    assert "image/png" in decoded.blocks[1]["message"]


def test_code_that_failed_or_told_no_result_is_failed() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1/0"}, "thoughtSignature": "s"}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}
    decoded = read(parts(code, result), parts(code, {"text": "So."}, finish="STOP"))
    alone = read(parts({"codeExecutionResult": {"output": "1"}}, {"text": "So."}, finish="STOP"))

    first, second = decoded.of_type("tool")
    assert first["error"] == {"outcome": "OUTCOME_FAILED", "output": "no"}
    assert second["error"]["code"] == "tool_result_missing"
    assert alone.of_type("tool")[0]["output"] == {"output": "1"}


PIECES: list[tuple[list[dict[str, Any]], Any]] = [
    ([{"jsonPath": "$.a", "numberValue": 1.5}, {"jsonPath": '$["b"]', "boolValue": False}],
     {"a": 1.5, "b": False}),
    ([{"jsonPath": "$.a[0]", "stringValue": "x"}, {"jsonPath": "$.a[1].b", "nullValue": "NULL_VALUE"},
      {"jsonPath": "$.a[0]", "stringValue": "y"}],
     {"a": ["y", {"b": None}]}),
    ([{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}, {"jsonPath": "$.a"}],
     {"a": "x"}),
    ([{"jsonPath": "$.a", "numberValue": 1, "willContinue": True},
      {"jsonPath": "$.a", "numberValue": 2}],
     {"a": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("partial", "given"), PIECES)
def test_arguments_are_built_from_pieces(partial: list[dict[str, Any]], given: Any) -> None:
    decoded = read(BEGIN, *map(pieces, partial), END)

    assert decoded.of_type("tool")[0]["input"] == given
    assert outcome_of(decoded) == "tool_calls"


BROKEN: list[list[dict[str, Any]]] = [
    [{"jsonPath": "a", "stringValue": "x"}],
    [{"jsonPath": "$", "stringValue": "x"}],
    [{"jsonPath": "$..", "stringValue": "x"}],
    [{"jsonPath": "$" + ".a" * 80, "stringValue": "x"}],
    [{"jsonPath": "$.a", "stringValue": "x", "numberValue": 1}],
    [{"jsonPath": "$.a[2]", "stringValue": "x"}],
    [{"jsonPath": "$[0]", "stringValue": "x"}],
    [{"jsonPath": "$[0].a", "stringValue": "x"}],
    [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a.b", "stringValue": "y"}],
    [{"jsonPath": "$.a[0]", "stringValue": "x"}, {"jsonPath": "$.a[3].b", "stringValue": "y"}],
    [{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}, {"jsonPath": "$.b"}],
    [{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}],
]


@pytest.mark.parametrize("partial", BROKEN)
def test_pieces_that_do_not_fit_make_no_call(partial: list[dict[str, Any]]) -> None:
    decoded = read(BEGIN, *map(pieces, partial), END)

    assert decoded.of_type("tool")[0]["status"] == "failed"
    assert decoded.ended.error_code == "invalid_tool_call"


def test_a_call_that_is_never_finished_is_not_run() -> None:
    whole = {"functionCall": {"name": "g", "args": {"a": 1}}}
    decoded = read(BEGIN, parts(whole, finish="STOP"))

    assert [(b["tool"], b["status"]) for b in decoded.of_type("tool")] == [
        ("f", "failed"),
        ("g", "pending"),
    ]


def test_an_end_without_a_call_means_nothing_and_a_call_without_a_name_is_not_run() -> None:
    decoded = read(parts({"functionCall": {}}, {"text": "Hi."}, finish="STOP"))
    unnamed = read(parts({"functionCall": {"args": {"a": 1}}}, finish="STOP"))

    assert texts(decoded) == [("prose", "Hi.")]
    assert texts(unnamed) == [("tool", "unnamed"), ("error", "invalid_tool_call")]


def test_a_call_of_the_server_without_id_and_arguments_is_one() -> None:
    decoded = read(
        parts({"toolCall": {"toolType": "URL_CONTEXT"}}),
        parts({"toolResponse": {"toolType": "URL_CONTEXT"}}),
        parts({"text": "So."}, finish="STOP"),
    )

    assert [(b["tool"], b["status"]) for b in decoded.of_type("tool")] == [
        ("url_context", "completed")
    ]


def test_an_end_of_another_api_means_nothing() -> None:
    body = sse(parts({"text": "So"}), done=True) + sse(parts({"text": "."}, finish="STOP"))

    assert decode("gemini", [body]).blocks[0]["markdown"] == "So."
