"""OpenAI Responses, whole, damaged, resumed, and as compatible servers send them."""

from typing import Any

import pytest

from blockwire.content import StreamEvent
from blockwire.providers import make_decoder
from tests.providers.compare import TURN_ID, Decoded, counting_ids, decode, fold, outcome_of, texts
from tests.providers.mutations import events_of
from tests.providers.wire import item, named, response, sse
from tests.suites import suite_path


def read(*objects: dict[str, Any]) -> Decoded:
    return decode("openai-responses", [named(*objects)])


def text_delta(text: str, index: int | None = 0, kind: str = "output_text", **members: Any) -> Any:
    event = {"type": f"response.{kind}.delta", "output_index": index, "delta": text, **members}
    return {name: value for name, value in event.items() if value is not None}


@pytest.mark.requirement("providers:responses:repaired")
def test_lost_deltas_are_repaired_from_the_whole_text() -> None:
    part = {"type": "output_text", "text": "One two three."}
    decoded = read(
        item(0, "message"),
        text_delta("One"),
        item(0, "message", done=True, content=[part]),
        response("completed"),
    )

    assert texts(decoded) == [("prose", "One two three.")]


def test_a_text_that_was_lost_in_the_middle_fails_the_turn() -> None:
    decoded = read(
        text_delta("One "),
        text_delta("three."),
        {"type": "response.output_text.done", "output_index": 0, "text": "One two three."},
        response("completed"),
    )

    assert texts(decoded) == [("prose", "One three."), ("error", "provider_protocol_error")]


def test_a_server_may_trim_the_text_that_it_repeats() -> None:
    decoded = read(
        text_delta("\nYes.\n"),
        {"type": "response.output_text.done", "output_index": 0, "text": "Yes."},
        response("completed"),
    )

    assert texts(decoded) == [("prose", "\nYes.\n")]


def test_a_lost_item_is_taken_from_the_final_list() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}
    function = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'}

    assert texts(read(response("completed", message))) == [("prose", "Yes.")]
    assert outcome_of(read(response("completed", function))) == "tool_calls"
    begun = read(item(0, "function_call", call_id="c", name="f"), response("completed", function))
    assert begun.of_type("tool")[0]["input"] == {"a": 1}


def test_a_call_that_was_not_ended_is_not_run_though_the_response_completed() -> None:
    decoded = read(
        item(0, "function_call", call_id="c", name="f"),
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
        response("completed"),
    )

    assert decoded.of_type("tool")[0]["status"] == "failed"
    assert decoded.ended.error_code == "invalid_tool_call"


def test_a_call_that_the_server_left_incomplete_is_not_run() -> None:
    decoded = read(
        item(0, "function_call", call_id="c", name="f"),
        item(0, "function_call", done=True, name="f", arguments="{}", status="incomplete"),
        response("completed"),
    )

    assert decoded.of_type("tool")[0]["error"]["code"] == "tool_call_cut"


def test_what_comes_after_the_end_of_the_arguments_changes_nothing() -> None:
    more = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "}"}
    decoded = read(
        item(0, "function_call", call_id="c", name="f"),
        {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "{}"},
        more,
        item(0, "function_call", done=True, name="f", arguments='{"a":1}'),
        response("completed"),
    )

    assert decoded.of_type("tool")[0]["input"] == {}


def test_calls_at_one_index_are_told_apart_and_one_told_twice_is_one() -> None:
    first: dict[str, Any] = {"call_id": "c1", "name": "f", "arguments": '{"a":1}'}
    second: dict[str, Any] = {"call_id": "c2", "name": "f", "arguments": '{"a":2}'}
    decoded = read(
        item(0, "function_call", **first),
        item(0, "function_call", **first),
        item(0, "function_call", done=True, **first),
        item(0, "function_call", **first),
        item(0, "function_call", **second),
        item(0, "function_call", done=True, **second),
        response("completed"),
    )

    assert [block["input"] for block in decoded.of_type("tool")] == [{"a": 1}, {"a": 2}]


def test_messages_one_after_another_at_one_index_are_two() -> None:
    decoded = read(
        item(0, "message"),
        text_delta("One."),
        item(0, "message", done=True),
        item(0, "message", done=True),
        item(0, "message"),
        text_delta("Two."),
        response("completed"),
    )

    assert texts(decoded) == [("prose", "One."), ("prose", "Two.")]


def test_indexes_may_be_missing() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    decoded = read(
        {"type": "response.output_item.added", "item": {"type": "message"}},
        text_delta("Yes.", None),
        {"type": "response.output_item.added", "item": call},
        {"type": "response.function_call_arguments.done", "arguments": '{"b": 2}'},
        response("completed"),
    )

    assert texts(decoded) == [("prose", "Yes."), ("tool", "f")]
    assert decoded.of_type("tool")[0]["input"] == {"b": 2}


def test_events_of_an_item_that_never_began_make_no_call() -> None:
    decoded = read(
        {"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{}"},
        {"type": "response.function_call_arguments.done", "output_index": 3, "arguments": "{}"},
        {"type": "response.function_call_arguments.done", "output_index": 3, "arguments": None},
        {"type": "response.future.delta"},
        text_delta(""),
        {"type": "response.output_text.done", "output_index": 0, "text": ""},
        text_delta("Yes.", 4),
        item(3, "function_call", done=True, call_id="c", name="f", arguments='{"a":1}'),
        item(5, "compaction", encrypted_content="x", done=True),
        response("completed"),
    )

    assert [block["input"] for block in decoded.of_type("tool")] == [{"a": 1}]


def test_reasoning_has_a_block_per_part_and_keeps_what_is_encrypted() -> None:
    decoded = read(
        item(0, "reasoning", id="rs"),
        text_delta("One.", kind="reasoning_summary_text", summary_index=0),
        {
            "type": "response.reasoning_summary_text.done",
            "output_index": 0,
            "summary_index": 1,
            "text": "Two.",
        },
        item(
            0,
            "reasoning",
            done=True,
            encrypted_content="gAAA",
            summary=[{"text": "One."}, {"text": "Two."}],
            content=[{"type": "reasoning_text", "text": "Raw."}, {"type": "future"}],
        ),
        text_delta("Yes.", 1),
        response("completed"),
    )

    assert texts(decoded) == [
        ("reasoning", "One."),
        ("reasoning", "Two."),
        ("reasoning", "Raw."),
        ("prose", "Yes."),
    ]
    assert decoded.blocks[2]["provider_data"]["encrypted_content"] == "gAAA"
    assert all(block["provider_data"]["item_id"] == "rs" for block in decoded.blocks[:3])


def test_a_refusal_is_said_and_told() -> None:
    whole = [{"type": "refusal", "refusal": "No."}]
    decoded = read(item(0, "message", done=True, content=whole), response("completed"))

    assert texts(decoded) == [("prose", "No."), ("notice", "refusal")]
    assert outcome_of(decoded) == "refused"


def test_citations_are_kept_with_their_text() -> None:
    citation = {"type": "url_citation", "url": "https://example.org/"}
    late = read(
        item(
            0,
            "message",
            done=True,
            content=[{"type": "output_text", "text": "Yes.", "annotations": [citation]}],
        ),
        response("completed"),
    )

    assert late.blocks[0]["provider_data"]["annotations"] == [citation]
    event = {"type": "response.output_text.annotation.added", "output_index": 0}
    part = {"type": "output_text", "text": "Yes.", "annotations": [citation]}
    early = read(
        text_delta("Yes."),
        {**event, "annotation": citation},
        item(0, "message", done=True, content=[part]),
        response("completed"),
    )
    assert early.blocks[0]["provider_data"]["annotations"] == [citation]


SERVER_CALLS: list[tuple[str, dict[str, Any], tuple[str, str, Any, Any]]] = [
    ("file_search_call",
     {"queries": ["q"], "results": [{"fileId": "f"}]},
     ("file_search", "completed", {"queries": ["q"]}, [{"file_id": "f"}])),
    ("code_interpreter_call",
     {"code": "1+1", "outputs": None, "status": "completed"},
     ("code_interpreter", "completed", {"code": "1+1"}, None)),
    ("mcp_call",
     {"name": "roll", "arguments": '{"n": 2}', "output": "7", "error": None},
     ("roll", "completed", {"n": 2}, "7")),
    ("mcp_call",
     {"name": "roll", "arguments": "{}", "error": {"code": "x"}},
     ("roll", "failed", {}, None)),
    ("image_generation_call", {"status": "failed"}, ("image_generation", "failed", {}, None)),
    ("future_call", {"input": "free text"}, ("future", "completed", None, None)),
]  # fmt: skip


@pytest.mark.requirement("providers:calls:server")
@pytest.mark.parametrize(
    ("item_type", "members", "expected"), SERVER_CALLS, ids=[row[0] for row in SERVER_CALLS]
)
def test_what_the_server_runs_is_never_handed_out(
    item_type: str, members: dict[str, Any], expected: tuple[str, str, Any, Any]
) -> None:
    decoded = read(
        item(0, item_type, id="i", name=members.get("name")),
        item(0, item_type, done=True, **members),
        text_delta("Done.", 1),
        response("completed"),
    )

    (block,) = decoded.of_type("tool")
    given = (block["tool"], block["status"], block.get("input"), block.get("output"))
    assert given == expected
    assert outcome_of(decoded) == "completed"


def test_a_server_call_without_a_result_is_failed_at_the_end() -> None:
    decoded = read(item(0, "web_search_call"), text_delta("So.", 1), response("completed"))

    assert decoded.of_type("tool")[0]["error"]["code"] == "tool_result_missing"


def test_an_end_without_members_ends_with_what_was_told_before() -> None:
    decoded = read(
        item(0, "function_call", call_id="c", name="f"),
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
        item(0, "function_call", done=True),
        response("completed"),
    )

    assert outcome_of(decoded) == "tool_calls"


def test_what_the_client_runs_is_handed_out() -> None:
    action = {"type": "click", "x": 1}
    decoded = read(
        item(0, "computer_call", call_id="c"),
        item(0, "computer_call", done=True, call_id="c", action=action),
        response("completed"),
    )

    (block,) = decoded.of_type("tool")
    assert (block["tool"], block["status"], block["input"]) == ("computer", "pending", action)


@pytest.mark.parametrize(
    ("end", "status", "code"),
    [
        (response("failed", error={"code": "server_error"}), "failed", "server_error"),
        (response("failed", error=None), "failed", "provider_error"),
        (response("cancelled"), "cancelled", "turn_cancelled"),
        (response("incomplete"), "completed", "unknown_finish_reason"),
        (
            response("incomplete", incomplete_details={"reason": "content_filter"}),
            "failed",
            "content_filter",
        ),
        ({"type": "response.completed", "response": {"status": "queued"}}, "failed", "stream_truncated"),
        ({"type": "response.failed", "error": "x"}, "failed", "provider_error"),
        ({"type": "error", "error": None, "message": "x"}, "failed", "provider_error"),
        ({"type": "future", "error": {"code": "e"}}, "failed", "e"),
    ],
)  # fmt: skip
def test_every_end_is_told(end: dict[str, Any], status: str, code: str) -> None:
    decoded = read(text_delta("Some."), end)

    assert decoded.ended.status == status
    assert texts(decoded)[-1][1] == code


def test_a_body_that_does_not_stream_is_read_too() -> None:
    part = {"type": "output_text", "text": "Yes."}
    body = {"object": "response", "status": "completed", "output": [{"type": "message", "content": [part]}]}  # fmt: skip

    assert texts(decode("openai-responses", [sse(body)])) == [("prose", "Yes.")]


def numbered(*numbers: int) -> list[dict[str, Any]]:
    return [text_delta(str(number), sequence_number=number) for number in numbers]


def test_events_that_were_seen_already_are_skipped() -> None:
    decoded = read(*numbered(1, 2, 3), *numbered(1, 2, 3, 4), response("completed"))

    assert texts(decoded) == [("prose", "1234")]
    assert decoded.decoder.sequence_number == 4


def test_numbers_of_a_server_that_does_not_count_mean_nothing() -> None:
    created = {"type": "response.created", "sequence_number": 0, "response": {}}
    decoded = read(created, *numbered(0), *numbered(0), response("completed"))

    assert texts(decoded) == [("prose", "00")]
    assert decoded.decoder.sequence_number is None


@pytest.mark.requirement("providers:responses:resumed")
def test_a_response_goes_on_after_a_new_connection() -> None:
    first = named(*numbered(1, 2, 3))
    second = named(*numbered(2, 3, 4), response("completed"))
    for cut in range(len(first)):
        decoder = make_decoder("openai-responses", turn_id=TURN_ID, new_id=counting_ids())
        events: list[StreamEvent] = decoder.receive_data(first[:cut])
        decoder.receive_reconnect()
        events += decoder.receive_data(named(*numbered(1)) + second)

        content: Any = fold(events)["content"]
        assert content[0]["markdown"] == "1234"


def test_a_resumed_response_of_the_suite_adds_nothing_twice() -> None:
    full = events_of(suite_path("streams/files/resp-background-full.sse").read_bytes())
    resumed = suite_path("streams/files/resp-background-resume.sse").read_bytes()
    whole = decode("openai-responses", [b"".join(full)])

    for count in range(1, len(full)):
        decoded = decode("openai-responses", [b"".join(full[:count]), resumed])
        assert decoded.message == whole.message


def test_another_item_at_the_index_of_one_that_was_not_ended_is_another() -> None:
    decoded = read(
        item(0, "reasoning"),
        text_delta("Hm.", kind="reasoning_text"),
        item(0, "message"),
        text_delta("Yes."),
        response("completed"),
    )

    assert texts(decoded) == [("reasoning", "Hm."), ("prose", "Yes.")]


def test_a_result_of_the_server_is_no_result_of_a_call_for_the_client() -> None:
    decoded = read(
        item(0, "shell_call", call_id="c", done=True, action={"commands": ["ls"]}),
        item(1, "shell_call_output", call_id="c", done=True, output=[]),
        item(2, "future_call_output", call_id="c", done=True, output=[]),
        response("completed"),
    )

    assert [block["status"] for block in decoded.of_type("tool")] == ["pending"]


def test_a_server_call_whose_result_is_an_item_that_never_comes_failed() -> None:
    decoded = read(
        item(0, "tool_search_call", done=True, execution="server", arguments={"paths": []}),
        text_delta("So.", 1),
        response("completed"),
    )

    assert decoded.of_type("tool")[0]["error"]["code"] == "tool_result_missing"


@pytest.mark.parametrize(
    ("tools", "status"),
    [
        ([], "pending"),
        ([None], "pending"),
        ([{"type": "custom", "name": "sql"}], "pending"),
        ([{"type": "x_search"}, {"type": "custom", "name": "sql"}], "pending"),
        ([{"type": "namespace", "name": "db", "tools": [{"name": "sql"}]}], "pending"),
        ([{"type": "x_search"}, {"type": "custom", "name": "other"}], "completed"),
        ([{"type": "web_search"}, {"type": "function", "name": "f"}], "completed"),
    ],
)
def test_a_custom_call_is_the_client_s_where_the_client_declared_it(
    tools: Any, status: str
) -> None:
    decoded = read(
        {"type": "response.created", "response": {"tools": tools}},
        item(0, "custom_tool_call", call_id="c", name="sql", input=""),
        item(0, "custom_tool_call", done=True, call_id="c", name="sql", input="SELECT 1"),
        text_delta("So.", 1),
        response("completed"),
    )

    assert [block["status"] for block in decoded.of_type("tool")] == [status]
