"""Items of OpenAI Responses: what is not a text or a plain function, and what servers leave out."""

from typing import Any

import pytest

from tests.providers.compare import Decoded, decode, outcome_of, texts
from tests.providers.wire import item, named, response


def read(*objects: dict[str, Any]) -> Decoded:
    return decode("openai-responses", [named(*objects)])


def at(index: int, name: str, **members: Any) -> dict[str, Any]:
    """Return an event of the item at ``index``."""
    return {"type": f"response.{name}", "output_index": index, **members}


def said(text: str, **members: Any) -> dict[str, Any]:
    """Return a whole message item."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "content": content, **members}


def ended(index: int, item: dict[str, Any]) -> dict[str, Any]:
    """Return the event that ends an item."""
    return at(index, "output_item.done", item=item)


def counted(*objects: dict[str, Any], first: int = 0) -> list[dict[str, Any]]:
    """Return the events with their numbers."""
    return [{**event, "sequence_number": n} for n, event in enumerate(objects, start=first)]


# Calls


@pytest.mark.parametrize("item_type", ["function_call", "custom_tool_call", "mcp_call"])
def test_a_call_may_get_its_name_with_its_end(item_type: str) -> None:
    member = "input" if item_type == "custom_tool_call" else "arguments"
    decoded = read(
        item(0, item_type, call_id="c", name=""),
        ended(0, {"type": item_type, "call_id": "c", "name": "look", member: "{}"}),
        response("completed"),
    )

    (block,) = decoded.of_type("tool")
    assert (block["tool"], block["status"]) == (
        "look",
        "completed" if item_type == "mcp_call" else "pending",
    )


def test_a_function_without_a_name_is_not_run() -> None:
    decoded = read(
        item(0, "function_call", call_id="c", arguments=""),
        item(0, "function_call", call_id="c", arguments="{}", done=True),
        response("completed"),
    )

    assert texts(decoded) == [("tool", "unnamed"), ("error", "invalid_tool_call")]


@pytest.mark.parametrize(
    ("item_type", "member", "piece"),
    [("function_call", "arguments", '{"n":1}'), ("custom_tool_call", "input", "SELECT 1")],
)
@pytest.mark.parametrize("repeated", [(), (None,), ("",)])
def test_arguments_that_came_are_kept_where_the_end_repeats_none(
    item_type: str, member: str, piece: str, repeated: tuple[Any, ...]
) -> None:
    members: dict[str, Any] = dict.fromkeys([member] * len(repeated), *repeated)
    kind = "function_call_arguments" if item_type == "function_call" else "custom_tool_call_input"
    decoded = read(
        at(
            0,
            "output_item.added",
            item={"type": item_type, "call_id": "c", "name": "f", member: ""},
        ),
        at(0, f"{kind}.delta", delta=piece),
        at(0, f"{kind}.done", **members),
        item(0, item_type, call_id="c", name="f", done=True, **members),
        response("completed"),
    )

    (block,) = decoded.of_type("tool")
    assert block["input"] == ({"n": 1} if item_type == "function_call" else piece)


def test_a_call_of_the_server_keeps_the_arguments_that_came_in_pieces() -> None:
    decoded = read(
        item(0, "mcp_call", id="i", name="roll", arguments=""),
        at(0, "mcp_call_arguments.delta", delta='{"n": 2}'),
        item(0, "mcp_call", id="i", name="roll", done=True, output="7"),
        response("completed", said("Seven.")),
    )

    (block,) = decoded.of_type("tool")
    assert (block["input"], block["output"]) == ({"n": 2}, "7")


def test_the_code_that_the_server_runs_is_told_before_its_result() -> None:
    decoded = read(
        item(0, "code_interpreter_call", id="i", code="", outputs=None),
        at(0, "code_interpreter_call_code.delta", delta="1 +"),
        at(0, "code_interpreter_call_code.delta", delta=" 1"),
        at(0, "code_interpreter_call_code.done", code="1 + 1"),
        at(0, "code_interpreter_call.interpreting"),
    )

    (block,) = decoded.of_type("tool")
    assert (block["input"], block["status"]) == ({"code": "1 + 1"}, "failed")


def test_code_that_only_came_in_pieces_is_kept() -> None:
    begun = (
        item(0, "code_interpreter_call", id="i", code=""),
        at(0, "code_interpreter_call_code.delta", delta="1 +"),
    )
    done = item(0, "code_interpreter_call", id="i", done=True, code=None, outputs=[])

    (cut,) = read(*begun).of_type("tool")
    (ended,) = read(*begun, done, response("completed", said("So."))).of_type("tool")

    assert (cut["input_json"], cut["status"]) == ("1 +", "failed")
    assert (ended["input"], ended["status"]) == ({"code": "1 +"}, "completed")


def test_a_call_of_the_server_that_ends_twice_is_one() -> None:
    done = item(0, "mcp_call", id="i", call_id="c", name="roll", arguments="{}", done=True)
    decoded = read(
        item(0, "mcp_call", id="i", name="roll"),
        done,
        done,
        ended(1, said("So.")),
        response("completed"),
    )

    (block,) = decoded.of_type("tool")
    assert block["provider_data"]["call_id"] == "c"


def test_what_has_to_go_back_with_a_call_is_kept() -> None:
    checks = [{"id": "s", "code": "malicious_instructions", "message": "Look."}]
    decoded = read(
        item(0, "computer_call", call_id="c", pending_safety_checks=[]),
        item(
            0,
            "computer_call",
            call_id="c",
            done=True,
            action={"type": "wait"},
            pending_safety_checks=checks,
        ),
        item(1, "mcp_approval_request", id="r", name="f", arguments="{}", server_label="docs"),
        item(1, "mcp_approval_request", id="r", name="f", arguments="{}", done=True),
        item(2, "function_call", call_id="d", name="f", namespace="files", caller=None),
        item(2, "function_call", call_id="d", name="f", arguments="{}", done=True),
        response("completed"),
    )

    computer, approval, function = (block["provider_data"] for block in decoded.of_type("tool"))
    assert computer["pending_safety_checks"] == checks
    assert (approval["server_label"], approval["item_id"]) == ("docs", "r")
    assert (function["namespace"], function.get("caller")) == ("files", None)


CALLER = {"type": "program", "caller_id": "p"}


def test_a_program_of_the_provider_calls_a_function_of_the_client() -> None:
    decoded = read(
        item(0, "program", id="cm", call_id="p", code="", fingerprint="gA"),
        item(
            0, "program", id="cm", call_id="p", code="await tools.f()", fingerprint="gB", done=True
        ),
        item(1, "function_call", call_id="c", name="f", arguments="", caller=CALLER),
        item(1, "function_call", call_id="c", name="f", arguments="{}", caller=CALLER, done=True),
        response("completed"),
    )

    program, function = decoded.of_type("tool")
    assert (program["tool"], program["status"]) == ("program", "completed")
    assert program["input"] == {"code": "await tools.f()"}
    assert program["provider_data"]["fingerprint"] == "gB"
    assert function["status"] == "pending"
    assert function["provider_data"]["caller"] == CALLER
    assert outcome_of(decoded) == "tool_calls"


def test_a_program_ends_with_its_result_or_fails_with_the_answer() -> None:
    begun = item(0, "program", call_id="p", code="text('x')", done=True)
    result = item(1, "program_output", call_id="p", result="x", status="completed", done=True)

    (whole,) = read(begun, result, response("completed", said("x"))).of_type("tool")
    (cut,) = read(begun).of_type("tool")

    assert (whole["status"], whole["output"]) == ("completed", "x")
    assert cut["status"] == "failed"


def test_a_result_whose_call_is_in_an_earlier_answer_stands_alone() -> None:
    decoded = read(
        item(0, "program_output", id="o", call_id="p", result=""),
        item(0, "program_output", id="o", call_id="p", result='{"n": 1}', done=True),
        item(0, "program_output", id="o", call_id="p", result='{"n": 1}', done=True),
        ended(1, said("One.")),
        response("completed"),
    )

    assert texts(decoded) == [("tool", "program"), ("prose", "One.")]
    (block,) = decoded.of_type("tool")
    assert (block["status"], block["output"]) == ("completed", '{"n": 1}')
    assert block["provider_data"]["call_id"] == "p"


def test_tools_of_a_remote_server_are_told_only_where_they_could_not_be_listed() -> None:
    listed = item(0, "mcp_list_tools", id="l", done=True, tools=[{"name": "roll"}], error=None)
    failed = item(0, "mcp_list_tools", id="l", done=True, tools=[], error="Not reached.")
    done = response("completed", said("So."))

    assert texts(read(listed, ended(1, said("So.")), done)) == [("prose", "So.")]
    (block,) = read(failed, done).of_type("tool")
    assert (block["tool"], block["status"]) == ("mcp_list_tools", "failed")
    assert block["error"] == "Not reached."


def test_the_failure_of_an_item_is_not_the_failure_of_the_answer() -> None:
    decoded = read(
        item(0, "mcp_call", id="i", name="roll", arguments="{}"),
        at(0, "mcp_call.failed", item_id="i", error={"message": "No."}),
        at(0, "future", error=None),
        item(0, "mcp_call", id="i", name="roll", arguments="{}", error="No.", done=True),
        ended(1, said("It failed.")),
        response("completed"),
    )

    assert texts(decoded) == [("tool", "roll"), ("prose", "It failed.")]
    assert decoded.of_type("tool")[0]["status"] == "failed"
    assert outcome_of(decoded) == "completed"


# Items without a block of their own


def test_a_compacted_conversation_is_told_and_kept() -> None:
    decoded = read(
        ended(0, said("Yes.")),
        item(1, "compaction", id="cmp", encrypted_content="gA"),
        item(1, "compaction", id="cmp", encrypted_content="gB", done=True),
        response("completed"),
    )

    assert texts(decoded) == [("prose", "Yes."), ("notice", "context_compacted")]
    assert decoded.blocks[1]["provider_data"] == {
        "provider": "openai-responses",
        "item_id": "cmp",
        "item_type": "compaction",
        "encrypted_content": "gB",
    }
    assert (decoded.ended.status, decoded.ended.finish_reason) == ("completed", "stop")


@pytest.mark.requirement("providers:responses:unknown-kept")
def test_an_item_of_the_future_is_kept_as_it_came() -> None:
    thing: dict[str, Any] = {"id": "x", "Score": 1.50, "nested": {"a-b": [None]}}
    decoded = read(
        item(0, "tool", **thing),
        item(0, "tool", done=True, **thing),
        ended(1, said("Yes.")),
        response("completed"),
    )

    kept, _ = decoded.blocks
    assert kept["type"] == "provider_item"
    assert kept["fallback_text"] == "An item of the provider that is not known here: tool"
    data = kept["provider_data"]
    assert (data["item_type"], data["item_id"]) == ("tool", "x")
    assert data["item"] == '{"type":"tool","id":"x","Score":1.5,"nested":{"a-b":[null]}}'
    assert outcome_of(decoded) == "completed"


def test_the_texts_of_an_item_of_the_future_are_its_blocks() -> None:
    decoded = read(
        item(0, "future", done=True, content=said("Yes.")["content"]), response("completed")
    )

    assert texts(decoded) == [("prose", "Yes.")]


def test_a_part_that_cannot_be_kept_leaves_a_notice() -> None:
    content = [{"type": "output_image", "data": "iVBO"}, {"text": "Yes."}]
    decoded = read(item(0, "message", done=True, content=content), response("completed"))

    assert texts(decoded) == [("notice", "content_not_supported"), ("prose", "Yes.")]


def test_a_text_that_is_no_list_of_parts_is_a_text() -> None:
    decoded = read(response("completed", {"type": "message", "content": "Yes."}))

    assert texts(decoded) == [("prose", "Yes.")]


# Reasoning


@pytest.mark.requirement("providers:reasoning:private")
@pytest.mark.parametrize("kind", ["text", "output_text", "reasoning_text", ""])
def test_whatever_the_parts_of_reasoning_are_called_they_are_private(kind: str) -> None:
    part = {"type": kind, "text": "Hm."}
    decoded = read(
        item(0, "reasoning", content=[]),
        item(0, "reasoning", content=[part, {"type": "future"}], done=True),
        response("completed", {"type": "reasoning"}, said("Yes.")),
    )

    assert texts(decoded) == [("reasoning", "Hm."), ("prose", "Yes.")]
    assert decoded.blocks[0]["visibility"] == "private"


def test_encrypted_reasoning_may_come_with_the_beginning_alone() -> None:
    decoded = read(
        item(0, "reasoning", id="rs", summary=[], encrypted_content="gA"),
        item(0, "reasoning", id="rs", summary=[], done=True),
        item(1, "reasoning", id="rt", summary=[], encrypted_content="gB"),
        item(1, "reasoning", id="rt", summary=[], encrypted_content="gC", done=True),
        response("completed", {"type": "reasoning"}, {"type": "reasoning"}, said("Yes.")),
    )

    assert [b["provider_data"]["encrypted_content"] for b in decoded.blocks[:2]] == ["gA", "gC"]


def test_what_an_item_tells_with_its_end_is_kept_where_its_beginning_was_lost() -> None:
    decoded = read(
        at(0, "output_text.delta", delta="Yes."),
        item(0, "message", id="m", phase="commentary", done=True),
        response("completed"),
    )

    assert decoded.blocks[0]["provider_data"] == {
        "provider": "openai-responses",
        "item_id": "m",
        "phase": "commentary",
    }


# What is lost and what is not


def differing(*deltas: Any) -> list[dict[str, Any]]:
    """Return the numbered events of a message whose whole text is not that of its deltas."""
    return counted(
        item(0, "message"),
        *(at(0, "output_text.delta", delta=delta) for delta in deltas),
        at(0, "output_text.done", text="It ran, and this is what it said."),
        ended(0, said("It ran, and this is what it said.")),
        response("completed"),
    )


@pytest.mark.requirement("providers:responses:lossless")
def test_a_provider_may_tell_another_text_than_it_streamed_if_nothing_was_lost() -> None:
    decoded = read(*differing("It ", "ran."))

    assert texts(decoded) == [("prose", "It ran.")]
    assert outcome_of(decoded) == "completed"


@pytest.mark.requirement("providers:responses:lossless")
@pytest.mark.parametrize(
    "events",
    [
        [event for n, event in enumerate(differing("It ", "has ", "run.")) if n != 2],
        differing("It ", None, "run."),
        [
            e if e.get("delta") != "has " else {**e, "type": "x"}
            for e in differing("It ", "has ", "run.")
        ],
        differing("It ", "run.")[1:],
        [{k: v for k, v in e.items() if k != "sequence_number"} for e in differing("It run.")],
        [{**event, "sequence_number": 0} for event in differing("It run.")],
    ],
    ids=[
        "a number is missing",
        "a delta is no text",
        "a delta of an unknown kind",
        "the beginning is missing",
        "no numbers",
        "numbers that do not count",
    ],
)
def test_a_text_of_which_something_was_lost_fails_the_turn(events: list[dict[str, Any]]) -> None:
    assert texts(read(*events))[-1] == ("error", "provider_protocol_error")


def test_an_item_that_was_lost_among_others_is_taken_from_the_final_list() -> None:
    reasoning = {"type": "reasoning", "id": "rs", "summary": [{"text": "Hm."}]}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"n":1}'}
    begun = [at(0, "output_item.added", item=reasoning), ended(0, reasoning)]

    all_lost = read(*begun, response("completed", reasoning, said("Yes."), call))
    one_lost = read(*begun, ended(2, call), response("completed", reasoning, said("Yes."), call))
    arguments_alone = read(
        *begun,
        at(1, "function_call_arguments.delta", delta='{"n":'),
        response("completed", reasoning, call),
    )

    assert texts(all_lost) == [("reasoning", "Hm."), ("prose", "Yes."), ("tool", "f")]
    assert texts(one_lost) == [("reasoning", "Hm."), ("tool", "f"), ("prose", "Yes.")]
    assert texts(arguments_alone) == [("reasoning", "Hm."), ("tool", "f")]
    assert {outcome_of(each) for each in (all_lost, one_lost, arguments_alone)} == {"tool_calls"}


def test_a_final_list_that_is_another_adds_nothing() -> None:
    decoded = read(
        ended(0, said("Yes.")),
        item(1, "web_search_call", status="completed", done=True),
        response("completed", {"type": "web_search_call"}, said("No."), said("Never.")),
    )

    assert texts(decoded) == [("prose", "Yes."), ("tool", "web_search")]


def test_whole_items_without_indexes_are_told_apart_by_their_ids() -> None:
    done = "response.output_item.done"
    decoded = read(
        {"type": done, "item": said("One.", id="m1")},
        {"type": done, "item": said("Two.", id="m2")},
        {"type": done, "item": said("Two.", id="m2")},
        response("completed"),
    )

    assert texts(decoded) == [("prose", "One."), ("prose", "Two.")]


def test_whole_calls_at_one_index_are_told_apart_by_their_ids() -> None:
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    decoded = read(
        ended(0, {**call, "call_id": "c1"}),
        ended(0, {**call, "call_id": "c2"}),
        ended(0, {**call, "call_id": "c1"}),
        response("completed"),
    )

    assert [b["provider_data"]["call_id"] for b in decoded.of_type("tool")] == ["c1", "c2"]


# Ends


@pytest.mark.parametrize(
    "end",
    [
        {"type": "response.completed", "response": {"status": None}},
        {"type": "response.completed", "response": None},
        {"type": "response.completed"},
        {"type": "response.done", "response": {"status": "completed"}},
        {"type": "response.done", "response": {"output": []}},
    ],
)
def test_an_end_may_leave_its_status_to_its_name(end: dict[str, Any]) -> None:
    assert outcome_of(read(at(0, "output_text.delta", delta="Yes."), end)) == "completed"


def test_the_status_of_a_response_counts_more_than_its_name() -> None:
    end = {"type": "response.done", "response": {"status": "incomplete"}}

    decoded = read(at(0, "output_text.delta", delta="Yes."), end)

    assert texts(decoded)[-1] == ("notice", "unknown_finish_reason")


def test_every_count_of_tokens_is_told() -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 4},
    }

    assert read(response("completed", said("Yes."), usage=usage)).ended.usage == {
        "input_tokens": 9,
        "output_tokens": 5,
        "cached_input_tokens": 3,
        "cache_write_tokens": 2,
        "reasoning_tokens": 4,
    }
