"""Anthropic Messages, with what proxies do to them."""

from typing import Any

import pytest

from tests.providers.compare import Decoded, decode, outcome_of, texts
from tests.providers.wire import delta, ended, message, named, start, stop


def read(*objects: dict[str, Any]) -> Decoded:
    return decode("anthropic", [named(*objects)])


def said(text: str, index: int = 0) -> tuple[dict[str, Any], ...]:
    return (start(index, "text", text=""), delta(index, "text_delta", text=text), stop(index))


def asked(index: int, call_id: str, *pieces: str) -> list[dict[str, Any]]:
    return [
        start(index, "tool_use", id=call_id, name="f", input={}),
        *(delta(index, "input_json_delta", partial_json=piece) for piece in pieces),
        stop(index),
    ]


def test_a_start_told_twice_is_one_start() -> None:
    begun = start(0, "text", text="")
    decoded = read(message(), message(), begun, begun, *said("Hi.")[1:], *ended("end_turn"))

    assert texts(decoded) == [("prose", "Hi.")]


@pytest.mark.requirement("providers:anthropic:spliced")
@pytest.mark.parametrize(
    "objects",
    [
        [message(), *said("Hi."), message("msg_2"), *said("Hi."), *ended("end_turn")],
        [message(), start(0, "text", text=""), start(0, "tool_use", id="t", name="f")],
        [message(), *asked(0, "t", "{}"), *asked(1, "t", "{}"), *ended("tool_use")],
        [message(), delta(0, "input_json_delta", partial_json="{}"), *ended("tool_use")],
        [
            message(),
            *asked(0, "t", "{}"),
            delta(0, "input_json_delta", partial_json="x"),
            *ended("tool_use"),
        ],
        [message(), *said("Hi."), delta(0, "text_delta", text="more"), *ended("end_turn")],
        [
            message(),
            *asked(0, "t", "{}"),
            start(1, "x_tool_result", tool_use_id="t", content="?"),
            *ended("tool_use"),
        ],
    ],
)
def test_what_breaks_the_protocol_fails_the_turn_and_runs_nothing(
    objects: list[dict[str, Any]],
) -> None:
    decoded = read(*objects)

    assert decoded.ended.error_code == "provider_protocol_error"
    assert decoded.of_type("error")[0]["retryable"] is True
    assert all(block["status"] == "failed" for block in decoded.of_type("tool"))


def test_one_index_for_all_blocks_is_understood() -> None:
    decoded = read(message(), *said("Hi."), *asked(0, "t", '{"a"', ":1}"), *ended("tool_use"))

    assert texts(decoded) == [("prose", "Hi."), ("tool", "f")]
    assert outcome_of(decoded) == "tool_calls"


def test_an_input_may_come_whole_with_the_start() -> None:
    given = start(0, "tool_use", id="t", name="f", input={"a": 1.0})
    alone = read(message(), given, stop(0), *ended("tool_use"))
    begun = read(
        message(),
        given,
        delta(0, "input_json_delta", partial_json='{"b":2}'),
        stop(0),
        *ended("tool_use"),
    )

    assert alone.of_type("tool")[0]["input"] == {"a": 1.0}
    assert begun.of_type("tool")[0]["input"] == {"b": 2}


def test_a_call_without_its_end_is_not_run() -> None:
    decoded = read(message(), *asked(0, "t", "{}")[:-1], *ended("tool_use"))

    assert decoded.of_type("tool")[0]["error"]["code"] == "tool_call_cut"
    assert decoded.ended.error_code == "invalid_tool_call"


def test_a_call_without_an_id_is_run_all_the_same() -> None:
    decoded = read(message(), *asked(0, "", "{}"), *asked(1, "", "{}"), *ended("end_turn"))

    assert len(decoded.of_type("tool")) == 2
    assert outcome_of(decoded) == "tool_calls"


def test_an_error_of_a_tool_of_the_server_is_its_result() -> None:
    problem = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    decoded = read(
        message(),
        start(0, "server_tool_use", id="s1", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"q'),
        stop(0),
        start(1, "web_search_tool_result", tool_use_id="s1", content=problem),
        start(2, "mcp_tool_use", id="s2", name="roll", input={}),
        stop(2),
        start(3, "mcp_tool_result", tool_use_id="s2", is_error=True, content="No dice."),
        start(4, "mcp_tool_result", tool_use_id="s2", content="twice"),
        *said("Sorry.", 5),
        *ended("end_turn"),
    )

    first, second = decoded.of_type("tool")
    assert (first["status"], first["error"], first["input_json"]) == ("failed", problem, '{"q')
    assert (second["status"], second["error"]) == ("failed", "No dice.")
    assert outcome_of(decoded) == "completed"


def test_a_result_of_a_call_before_the_pause_makes_its_own_block() -> None:
    content = [{"title": "T"}]
    decoded = read(
        message(),
        start(0, "web_search_tool_result", tool_use_id="s0", content=content),
        *said("So."),
        *ended("end_turn"),
    )

    (block,) = decoded.of_type("tool")
    assert (block["tool"], block["status"], block["output"]) == ("web_search", "completed", content)


def test_a_result_that_is_too_deep_is_kept_as_text() -> None:
    deep: Any = "x"
    for _ in range(57):
        deep = [deep]
    decoded = read(
        message(),
        start(0, "server_tool_use", id="s", name="w"),
        start(1, "w_tool_result", tool_use_id="s", content=deep),
        start(2, "text", text="So."),
        delta(2, "citations_delta", citation=deep),
        *ended("end_turn"),
    )

    (block,) = decoded.of_type("tool")
    assert block["output_json"] == "[" * 57 + '"x"' + "]" * 57
    assert decoded.of_type("prose")[0]["provider_data"]["citations"] == [block["output_json"]]


def test_opaque_keys_that_cannot_be_converted_in_bounds_are_kept_as_text() -> None:
    deep: Any = 1
    for _ in range(40):
        deep = {"1": deep}
    decoded = read(
        message(),
        start(0, "text", text="So."),
        delta(0, "citations_delta", citation=deep),
        *ended("end_turn"),
    )

    (kept,) = decoded.of_type("prose")[0]["provider_data"]["citations"]
    assert kept.startswith('{"1":{"1":')


def test_a_tool_of_the_server_without_a_name_has_its_result_all_the_same() -> None:
    decoded = read(
        message(),
        start(0, "server_tool_use", id="s"),
        start(1, "w_tool_result", tool_use_id="s", content="x"),
        *said("So.", 2),
        *ended("end_turn"),
    )

    assert decoded.of_type("tool")[0]["tool"] == "unnamed"


def test_blocks_and_deltas_of_the_future_are_skipped() -> None:
    decoded = read(
        message(),
        start(0, "future_block", text="?"),
        delta(0, "text_delta", text="?"),
        stop(0),
        delta(1, "future_delta", text="?"),
        stop(1),
        stop(9),
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "?"}},
        start(2, "text", text="Hi."),
        delta(2, "input_json_delta", partial_json="?"),
        delta(2, "signature_delta"),
        *ended("end_turn"),
    )

    assert texts(decoded) == [("prose", "Hi.")]


def test_text_whose_start_was_lost_is_text() -> None:
    decoded = read(delta(3, "text_delta", text="Hi."), *ended("end_turn"))

    assert texts(decoded) == [("prose", "Hi.")]


def test_thinking_that_is_not_shown_keeps_its_signature() -> None:
    decoded = read(
        message(),
        start(0, "thinking", thinking="", signature="c2"),
        delta(0, "signature_delta", signature="ln"),
        stop(0),
        *said("Hi.", 1),
        *ended(None),
    )

    assert texts(decoded) == [("reasoning", ""), ("prose", "Hi.")]
    assert decoded.blocks[0]["provider_data"]["signature"] == "c2ln"


@pytest.mark.parametrize(
    ("stop_reason", "status", "code"),
    [
        ("pause_turn", "completed", "answer_paused"),
        ("max_tokens", "completed", "answer_truncated"),
        ("model_context_window_exceeded", "completed", "answer_truncated"),
        ("refusal", "failed", "refusal"),
        ("moon_phase", "completed", "unknown_finish_reason"),
    ],
)
def test_every_reason_to_stop_is_told(stop_reason: str, status: str, code: str) -> None:
    decoded = read(message(), *said("Some."), *ended(stop_reason))

    assert decoded.ended.status == status
    assert texts(decoded)[-1][1] == code


def test_calls_of_an_answer_that_did_not_end_well_are_not_run() -> None:
    decoded = read(message(), *asked(0, "t", "{}"), *ended("refusal"))

    (block,) = decoded.of_type("tool")
    assert (block["status"], block["error"]["code"]) == ("failed", "tool_call_not_run")
    assert block["input"] == {}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'data: {"error": {"type": "api_error"}}\n\n', "api_error"),
        (b'event: error\ndata: {"type": "error", "code": "e_1"}\n\n', "e_1"),
        (b'event: message_stop\ndata: {"x": 1}\n\n', None),
    ],
)
def test_names_may_stand_in_the_event_or_in_the_data(body: bytes, code: str | None) -> None:
    decoded = decode("anthropic", [named(message(), *said("Hi.")) + body])

    assert decoded.ended.error_code == code
