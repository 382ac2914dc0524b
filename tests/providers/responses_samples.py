"""Streams of our own in what OpenAI Responses have beyond text and functions.

As ``samples``, each with its expected result in the form of the public suite.
"""

from typing import Any, Final

from tests.providers.samples import Sample, prose, result, tool
from tests.providers.wire import item, named, response


def text_of(index: int, text: str, **members: Any) -> list[dict[str, Any]]:
    """Return the events of a message item of a response."""
    at = {"output_index": index, "content_index": 0, **members}
    part = {"type": "output_text", "text": text, "annotations": []}
    return [
        item(index, "message", id=f"m{index}"),
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": text[:2]},
        {"type": "response.output_text.delta", **at, "delta": text[2:]},
        {"type": "response.content_part.done", **at, "part": part},
        item(index, "message", id=f"m{index}", done=True, content=[part]),
    ]


_SHELL: Final = {"commands": ["ls"], "timeout_ms": None}

RESPONSES: Final[list[Sample]] = [
    Sample(
        "a search for tools, which the server runs, and a call of the one it found",
        "openai-responses",
        named(
            item(0, "tool_search_call", execution="server", call_id=None, arguments={}),
            item(0, "tool_search_call", done=True, execution="server", arguments={"paths": ["f"]}),
            item(1, "tool_search_output", execution="server", call_id=None, tools=[]),
            item(1, "tool_search_output", done=True, tools=[{"type": "function", "name": "f"}]),
            item(2, "function_call", call_id="c", name="f", arguments=""),
            item(2, "function_call", done=True, call_id="c", name="f", arguments="{}"),
            response("completed"),
        ),
        result(
            "tool_calls",
            tool("tool_search", {"paths": ["f"]}, "provider", output_contains='"f"'),
            tool("f", {}, call_id="c"),
        ),
    ),
    Sample(
        "a search for tools that the client runs; its id changes",
        "openai-responses",
        named(
            item(0, "tool_search_call", execution="client", call_id="c1", arguments={}),
            item(
                0,
                "tool_search_call",
                done=True,
                execution="client",
                call_id="c2",
                arguments={"goal": "weather"},
            ),
            response("completed"),
        ),
        result("tool_calls", tool("tool_search", {"goal": "weather"}, call_id="c2")),
    ),
    Sample(
        "a shell in the server's container",
        "openai-responses",
        named(
            item(0, "shell_call", call_id="c", action={}, environment={"type": "container_auto"}),
            {"type": "response.shell_call_command.delta", "output_index": 0, "delta": "ls"},
            item(0, "shell_call", done=True, call_id="c", action=_SHELL),
            item(1, "shell_call_output", call_id="c", output=[]),
            item(1, "shell_call_output", done=True, call_id="c", output=[{"stdout": "a.txt"}]),
            *text_of(2, "One file."),
            response("completed"),
        ),
        result(
            "completed",
            tool("shell", _SHELL, "provider", output_contains="a.txt"),
            prose("One file."),
        ),
    ),
    Sample(
        "a shell of the client",
        "openai-responses",
        named(
            item(0, "shell_call", call_id="c", action={"commands": []}),
            item(0, "shell_call", done=True, call_id="c", action=_SHELL, status="completed"),
            response("completed"),
        ),
        result("tool_calls", tool("shell", _SHELL, call_id="c")),
    ),
    Sample(
        "several actions at a computer",
        "openai-responses",
        named(
            item(0, "computer_call", call_id="c"),
            item(0, "computer_call", done=True, call_id="c", actions=[{"type": "screenshot"}]),
            response("completed"),
        ),
        result("tool_calls", tool("computer", {"actions": [{"type": "screenshot"}]}, call_id="c")),
    ),
    Sample(
        "a patch for the client to apply",
        "openai-responses",
        named(
            item(0, "apply_patch_call", call_id="c", operation={"type": "create_file", "diff": ""}),
            {
                "type": "response.apply_patch_call_operation_diff.delta",
                "output_index": 0,
                "delta": "+x",
            },
            item(
                0,
                "apply_patch_call",
                done=True,
                call_id="c",
                operation={"type": "create_file", "diff": "+x", "path": "a"},
            ),
            response("completed"),
        ),
        result(
            "tool_calls",
            tool("apply_patch", {"type": "create_file", "diff": "+x", "path": "a"}, call_id="c"),
        ),
    ),
    Sample(
        "xAI: what the server runs looks like a custom call",
        "openai-responses",
        named(
            {"type": "response.created", "response": {"tools": [{"type": "x_search"}]}},
            item(0, "custom_tool_call", call_id="c", name="x_keyword_search", input=""),
            {
                "type": "response.custom_tool_call_input.delta",
                "output_index": 0,
                "delta": '{"q": "a"}',
            },
            item(
                0,
                "custom_tool_call",
                done=True,
                call_id="c",
                name="x_keyword_search",
                input='{"q": "a"}',
            ),
            *text_of(1, "Nothing."),
            response("completed"),
        ),
        result("completed", tool("x_keyword_search", {"q": "a"}, "provider"), prose("Nothing.")),
    ),
    Sample(
        "a tool of a remote server: its list, and a call that needs leave",
        "openai-responses",
        named(
            item(0, "mcp_list_tools", id="l", tools=[]),
            item(0, "mcp_list_tools", id="l", done=True, tools=[{"name": "roll"}]),
            item(1, "mcp_approval_request", id="r", name="roll", arguments='{"n": 2}'),
            item(1, "mcp_approval_request", id="r", done=True, name="roll", arguments='{"n": 2}'),
            response("completed"),
        ),
        result("completed", tool("roll", {"n": 2}, "provider", status="failed")),
    ),
    Sample(
        "a call of a remote server, its arguments in pieces",
        "openai-responses",
        named(
            item(0, "mcp_call", id="i", name="roll", arguments="", output=None, error=None),
            {
                "type": "response.mcp_call_arguments.delta",
                "output_index": 0,
                "delta": '{"n": 2}',
            },
            {"type": "response.mcp_call.completed", "output_index": 0},
            item(0, "mcp_call", id="i", done=True, name="roll", arguments='{"n": 2}', output="7"),
            *text_of(1, "Seven."),
            response("completed"),
        ),
        result(
            "completed", tool("roll", {"n": 2}, "provider", output_contains="7"), prose("Seven.")
        ),
    ),
    Sample(
        "a picture that the server makes",
        "openai-responses",
        named(
            item(0, "image_generation_call", id="i", status="in_progress"),
            {
                "type": "response.image_generation_call.partial_image",
                "output_index": 0,
                "partial_image_b64": "iVBO",
            },
            item(0, "image_generation_call", id="i", done=True, status="completed", result="iVBO"),
            response("completed"),
        ),
        result("completed", tool("image_generation", {}, "provider", output_contains="iVBO")),
    ),
    Sample(
        "two items at once, told apart by their ids where indexes are missing",
        "openai-responses",
        named(
            *(
                {
                    "type": "response.output_item.added",
                    "item": {"type": "function_call", "id": i, "call_id": f"c{i}", "name": "f"},
                }
                for i in "ab"
            ),
            *(
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": i,
                    "delta": piece,
                }
                for i, piece in (("a", '{"n":'), ("b", '{"n":'), ("a", "1}"), ("b", "2}"))
            ),
            *(
                {
                    "type": "response.output_item.done",
                    "item": {"type": "function_call", "id": i, "call_id": f"c{i}", "name": "f"},
                }
                for i in "ab"
            ),
            response("completed"),
        ),
        result("tool_calls", tool("f", {"n": 1}, call_id="ca"), tool("f", {"n": 2}, call_id="cb")),
    ),
    Sample(
        "an error with a number that was seen, after text",
        "openai-responses",
        named(
            {"type": "response.created", "sequence_number": 0, "response": {"model": "m"}},
            {
                "type": "response.output_text.delta",
                "sequence_number": 3,
                "output_index": 0,
                "content_index": 0,
                "delta": "So",
            },
            {
                "type": "error",
                "sequence_number": 0,
                "error": {"type": "server_error", "code": None, "message": "Sorry."},
            },
        ),
        result(
            "failed",
            prose("So"),
            error={"code": "server_error", "message_contains": "Sorry.", "retryable": True},
        ),
    ),
    Sample(
        "an error in the old form",
        "openai-responses",
        named({"type": "error", "code": "rate_limit_exceeded", "message": "Slow.", "param": None}),
        result("failed", error={"code": "rate_limit_exceeded", "retryable": True}),
    ),
    Sample(
        "queued, then failed for too many tokens",
        "openai-responses",
        named(
            {"type": "response.queued", "response": {"status": "queued"}},
            response("failed", error={"code": "rate_limit_exceeded", "message": "Too large."}),
        ),
        result("failed", error={"code": "rate_limit_exceeded", "retryable": True}),
    ),
    Sample(
        "the filter of the provider",
        "openai-responses",
        named(
            *text_of(0, "I can"),
            response("incomplete", incomplete_details={"reason": "content_filter"}),
        ),
        result("refused", prose("I can")),
    ),
    Sample(
        "a text that only its part tells",
        "openai-responses",
        named(
            item(0, "message"),
            {
                "type": "response.content_part.done",
                "output_index": 0,
                "content_index": 0,
                "part": {"type": "output_text", "text": "Whole."},
            },
            item(0, "message", done=True),
            response("completed"),
        ),
        result("completed", prose("Whole.")),
    ),
]
