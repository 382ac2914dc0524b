"""Streams of our own in what Anthropic Messages have beyond text and calls.

As ``samples``, each with its expected result in the form of the public suite.
"""

from typing import Any, Final

from blockwire.jsontext import encode_json
from tests.providers.samples import CUT, Sample, prose, reasoning, result, tool
from tests.providers.wire import delta, ended, message, named, start, stop


def whole_text(index: int, text: str) -> list[dict[str, Any]]:
    return [start(index, "text", text=""), delta(index, "text_delta", text=text), stop(index)]


def server_call(index: int, name: str, arguments: str, kind: str = "server_tool_use") -> list[Any]:
    return [
        start(index, kind, id=f"srv{index}", name=name, input={}),
        delta(index, "input_json_delta", partial_json=""),
        delta(index, "input_json_delta", partial_json=arguments[:3]),
        delta(index, "input_json_delta", partial_json=arguments[3:]),
        stop(index),
    ]


def outcome(index: int, of: int, kind: str, content: Any, **members: Any) -> list[dict[str, Any]]:
    block = {"tool_use_id": f"srv{of}", "content": content, **members}
    return [start(index, f"{kind}_tool_result", **block), stop(index)]


def failed(code: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": code, "message": "Sorry."}}


_RESULT: Final = {"type": "code_execution_result", "stdout": "2\n", "return_code": 0}
_PREFILLED: Final[list[Any]] = [
    {"type": "code_execution_tool_result", "tool_use_id": "srv_old", "content": _RESULT},
    {"type": "text", "text": "Next."},
    {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"n": 1.0}},
]

ANTHROPIC: Final[list[Sample]] = [
    Sample(
        "a fetch that failed, then a call without arguments",
        "anthropic",
        named(
            message(),
            *server_call(0, "web_fetch", '{"url": "https://example.org/"}'),
            *outcome(
                1,
                0,
                "web_fetch",
                {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
            ),
            start(2, "tool_use", id="t1", name="show", input={}, caller={"type": "direct"}),
            delta(2, "input_json_delta", partial_json=""),
            stop(2),
            *ended("tool_use", stop_details=None),
        ),
        result(
            "tool_calls",
            tool("web_fetch", {"url": "https://example.org/"}, "provider", status="failed"),
            tool("show", {}, call_id="t1"),
        ),
    ),
    Sample(
        "a tool of a remote server, a search for tools, a file editor",
        "anthropic",
        named(
            message(),
            *server_call(0, "roll", '{"n": 2}', "mcp_tool_use"),
            *outcome(1, 0, "mcp", [{"type": "text", "text": "7"}], is_error=False),
            *server_call(2, "tool_search_tool_regex", '{"pattern": "x"}'),
            *outcome(3, 2, "tool_search", {"type": "tool_search_tool_search_result"}),
            *server_call(4, "text_editor_code_execution", '{"command": "view"}'),
            *outcome(5, 4, "text_editor_code_execution", {"content": "abc"}),
            start(6, "container_upload", file_id="f"),
            stop(6),
            *whole_text(7, "Done."),
            *ended("end_turn"),
        ),
        result(
            "completed",
            tool("roll", {"n": 2}, "provider", output_contains="7"),
            tool("tool_search_tool_regex", {"pattern": "x"}, "provider"),
            tool("text_editor_code_execution", {"command": "view"}, "provider"),
            prose("Done."),
        ),
    ),
    Sample(
        "a tool of a remote server that failed",
        "anthropic",
        named(
            message(),
            *server_call(0, "roll", "{}", "mcp_tool_use"),
            *outcome(1, 0, "mcp", [{"type": "text", "text": "No dice."}], is_error=True),
            *whole_text(2, "No."),
            *ended("end_turn"),
        ),
        result("completed", tool("roll", {}, "provider", status="failed"), prose("No.")),
    ),
    Sample(
        "a message that begins with blocks, after calls of a program",
        "anthropic",
        named(
            {
                "type": "message_start",
                "message": {
                    "id": "msg_1",
                    "model": "m",
                    "content": _PREFILLED,
                    "stop_reason": "tool_use",
                    "usage": {"input_tokens": 3, "output_tokens": 2},
                },
            },
            {"type": "message_stop"},
        ),
        result(
            "tool_calls",
            tool("code_execution", None, "provider", output_contains="code_execution_result"),
            prose("Next."),
            tool("look_up", {"n": 1.0}, call_id="t1"),
            usage={"input": 3, "output": 2},
        ),
    ),
    Sample(
        "a whole message that was not streamed",
        "anthropic",
        encode_json(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                    {"type": "text", "text": "Yes.", "citations": [{"cited_text": "y"}]},
                ],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 2},
            }
        ),
        result(
            "completed",
            reasoning("Hm.", signature=True),
            prose("Yes."),
            usage={"input": 3, "output": 2},
        ),
    ),
    Sample(
        "an error that was not streamed",
        "anthropic",
        b'{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
        result(
            "failed",
            error={
                "code": "authentication_error",
                "message_contains": "x-api-key",
                "retryable": False,
            },
        ),
    ),
    Sample(
        "thinking that is not shown, and another model after a fallback",
        "anthropic",
        named(
            message(),
            start(0, "thinking", thinking="", signature=""),
            delta(0, "signature_delta", signature="c2ln"),
            stop(0),
            start(1, "fallback", to={"model": "m2"}),
            stop(1),
            start(2, "text", text="Pre"),
            delta(2, "text_delta", text="filled."),
            stop(2),
            *ended("stop_sequence", stop_sequence="###"),
        ),
        result("completed", reasoning("", signature=True), prose("Prefilled.")),
    ),
    Sample(
        "a summary of what was said before is no part of the answer",
        "anthropic",
        named(
            message(),
            start(0, "compaction", content=None),
            delta(0, "compaction_delta", content="Earlier", encrypted_content="opaque"),
            stop(0),
            *whole_text(1, "Hello."),
            *ended("end_turn"),
        ),
        result("completed", prose("Hello.")),
    ),
    Sample(
        "a window that is full",
        "anthropic",
        named(message(), *whole_text(0, "So"), *ended("model_context_window_exceeded")),
        result("truncated", prose("So")),
    ),
    Sample(
        "a message without a reason to stop",
        "anthropic",
        named(message(), *whole_text(1, "So"), {"type": "message_stop"}),
        result("completed", prose("So")),
    ),
    Sample(
        "a message that is cut after its reason to stop",
        "anthropic",
        named(message(), *whole_text(0, "So"), ended("end_turn")[0]),
        result("truncated", prose("So"), error=CUT),
    ),
    Sample(
        "arguments that are no JSON",
        "anthropic",
        named(
            message(),
            *whole_text(0, "Calling."),
            start(1, "tool_use", id="t1", name="f", input={}),
            delta(1, "input_json_delta", partial_json='{"unit": celsius}'),
            stop(1),
            *ended("tool_use"),
        ),
        result("failed", prose("Calling."), tool("f", None, status="failed", call_id="t1")),
    ),
    *(
        Sample(
            f"an event of {code}",
            "anthropic",
            named(message(), *whole_text(0, "So"), failed(code)),
            result(
                "failed",
                prose("So"),
                error={"code": code, "message_contains": "Sorry.", "retryable": retryable},
            ),
        )
        for code, retryable in (
            ("api_error", True),
            ("rate_limit_error", True),
            ("timeout_error", True),
            ("invalid_request_error", False),
            ("permission_error", False),
            ("request_too_large", False),
        )
    ),
]
