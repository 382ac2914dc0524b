"""Small streams of our own, each with its expected result in the form of the public suite.

They make the tests mean something on a machine without the suite, and are what mutations start
from.
"""

from typing import Any, Final, NamedTuple

from blockwire.providers import ProviderApi
from tests.providers.wire import (
    call,
    chat,
    delta,
    ended,
    item,
    lines,
    message,
    named,
    ollama,
    parts,
    response,
    sse,
    start,
    stop,
)


class Sample(NamedTuple):
    """A body and what it must give."""

    name: str
    api: ProviderApi
    body: bytes
    expected: dict[str, Any]


def prose(markdown: str, **members: Any) -> dict[str, Any]:
    return {"type": "prose", "markdown": markdown, **members}


def reasoning(text: str, **members: Any) -> dict[str, Any]:
    return {"type": "reasoning", "text": text, **members}


def tool(name: str, given: Any, by: str = "client", **members: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "input": given, "executed_by": by, **members}


def result(outcome: str, *blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"outcome": outcome, "blocks": list(blocks), **members}


CUT: Final = {"code": "stream_truncated", "retryable": True}
MALFORMED: Final = {"code": "malformed_function_call", "retryable": True}

_CHAT: Final = [
    Sample(
        "text with usage at the end",
        "openai-chat",
        sse(
            chat({"role": "assistant", "content": ""}),
            chat({"content": "  Grüß\n"}),
            chat({"content": "dich, 世界 🧑‍💻"}),
            chat(finish="stop"),
            {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}},
            done=True,
        ),
        result("completed", prose("  Grüß\ndich, 世界 🧑‍💻"), usage={"input": 3, "output": 9}),
    ),
    Sample(
        "reasoning, then two calls in fragments",
        "openai-chat",
        sse(
            chat({"content": None, "reasoning_content": "Both "}),
            chat({"content": None, "reasoning_content": "cities."}),
            chat(call(0, "", id="a", name="weather")),
            chat(call(1, "", id="b", name="weather")),
            chat(call(0, '{"cityName": "Par')),
            chat(call(1, '{"cityName": "Ro')),
            chat(call(0, 'is", "days": 2}')),
            chat(call(1, 'me", "days": 1.0}')),
            chat(finish="tool_calls"),
            done=True,
        ),
        result(
            "tool_calls",
            reasoning("Both cities."),
            tool("weather", {"cityName": "Paris", "days": 2}, call_id="a"),
            tool("weather", {"cityName": "Rome", "days": 1.0}, call_id="b"),
        ),
    ),
    Sample(
        "arguments cut at the token limit",
        "openai-chat",
        sse(
            chat({"content": "Saving."}),
            chat(call(0, "{}", id="a", name="list_files")),
            chat(call(1, '{"name": "a.txt", "text": "Once', id="b", name="save")),
            chat(finish="length"),
            done=True,
        ),
        result(
            "truncated",
            prose("Saving."),
            tool("list_files", None, status="failed"),
            tool("save", None, status="failed"),
        ),
    ),
    Sample(
        "the connection ends in mid-call",
        "openai-chat",
        sse(chat(call(0, '{"path": "/"}', id="a", name="delete"))),
        result("truncated", tool("delete", None, status="failed"), error=CUT),
    ),
    Sample(
        "think tags cut anywhere",
        "openai-chat",
        sse(
            *(
                chat({"content": c})
                for c in ("\n<", "thi", "nk>a <", " b</", "think>\n", "\n1 < 2")
            ),
            chat({"content": ", no </think>"}),
            chat(finish="stop"),
            done=True,
        ),
        result("completed", reasoning("a < b"), prose("1 < 2, no </think>")),
    ),
]

_RESPONSES: Final = [
    Sample(
        "encrypted reasoning, a search of the server, text with a citation",
        "openai-responses",
        named(
            {"type": "response.created", "sequence_number": 0, "response": {"model": "m"}},
            item(0, "reasoning", id="rs", summary=[], sequence_number=1),
            item(0, "reasoning", id="rs", done=True, summary=[], encrypted_content="gAAA"),
            item(1, "web_search_call", id="ws", status="in_progress"),
            item(
                1,
                "web_search_call",
                id="ws",
                done=True,
                status="completed",
                action={"type": "search", "query": "q"},
            ),
            item(2, "message", id="m", phase="final_answer"),
            {
                "type": "response.output_text.delta",
                "output_index": 2,
                "content_index": 0,
                "delta": "Sunny",
                "obfuscation": "xxxx",
            },
            {
                "type": "response.output_text.annotation.added",
                "output_index": 2,
                "content_index": 0,
                "annotation": {"type": "url_citation", "url": "https://example.org/"},
            },
            {
                "type": "response.output_text.done",
                "output_index": 2,
                "content_index": 0,
                "text": "Sunny.",
            },
            item(2, "message", id="m", done=True),
            response("completed", usage={"input_tokens": 4, "output_tokens": 2}),
        ),
        result(
            "completed",
            reasoning("", encrypted=True),
            tool("web_search", {"type": "search", "query": "q"}, "provider"),
            prose("Sunny.", phase="final_answer"),
            usage={"input": 4, "output": 2},
        ),
    ),
    Sample(
        "a function and a custom tool for the client",
        "openai-responses",
        named(
            item(0, "function_call", id="fc", call_id="c1", name="add", arguments=""),
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "delta": '{"a":1,',
            },
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "delta": '"b":2}',
            },
            {
                "type": "response.function_call_arguments.done",
                "output_index": 0,
                "arguments": '{"a":1,"b":2}',
            },
            item(1, "custom_tool_call", id="ct", call_id="c2", name="sql", input=""),
            {
                "type": "response.custom_tool_call_input.delta",
                "output_index": 1,
                "delta": "SELECT 1",
            },
            {
                "type": "response.custom_tool_call_input.done",
                "output_index": 1,
                "input": "SELECT 1",
            },
            response("completed"),
        ),
        result(
            "tool_calls",
            tool("add", {"a": 1, "b": 2}, call_id="c1"),
            tool("sql", None, call_id="c2", input_text="SELECT 1"),
        ),
    ),
    Sample(
        "an error, then the failed response",
        "openai-responses",
        named(
            {"type": "error", "code": "server_error", "message": "Oh."},
            response("failed", error={"code": "server_error", "message": "Oh."}),
        ),
        result("failed", error={"code": "server_error", "retryable": True}),
    ),
    Sample(
        "the token limit in mid-call",
        "openai-responses",
        named(
            item(0, "function_call", id="fc", call_id="c1", name="save", arguments=""),
            {
                "type": "response.function_call_arguments.delta",
                "output_index": 0,
                "delta": '{"text":"Once',
            },
            response("incomplete", incomplete_details={"reason": "max_output_tokens"}),
        ),
        result("truncated", tool("save", None, status="failed")),
    ),
]

_ANTHROPIC: Final = [
    Sample(
        "signed thinking, text, a call",
        "anthropic",
        named(
            message(),
            start(0, "thinking", thinking="", signature=""),
            {"type": "ping"},
            delta(0, "thinking_delta", thinking="Look it up."),
            delta(0, "signature_delta", signature="c2ln"),
            stop(0),
            start(1, "text", text=""),
            delta(1, "text_delta", text="One "),
            delta(1, "text_delta", text="moment."),
            stop(1),
            start(2, "tool_use", id="toolu_1", name="find", input={}),
            delta(2, "input_json_delta", partial_json=""),
            delta(2, "input_json_delta", partial_json='{"q": "x'),
            delta(2, "input_json_delta", partial_json='y"}'),
            stop(2),
            *ended("tool_use"),
        ),
        result(
            "tool_calls",
            reasoning("Look it up.", signature=True),
            prose("One moment."),
            tool("find", {"q": "xy"}, call_id="toolu_1"),
            usage={"input": 7, "output": 5},
        ),
    ),
    Sample(
        "redacted thinking, a tool of the server, cited text",
        "anthropic",
        named(
            message(),
            start(0, "redacted_thinking", data="EqkE"),
            stop(0),
            start(1, "server_tool_use", id="srv_1", name="web_search", input={}),
            delta(1, "input_json_delta", partial_json='{"query": "now"}'),
            stop(1),
            start(2, "web_search_tool_result", tool_use_id="srv_1", content=[{"title": "T"}]),
            stop(2),
            start(3, "text", text=""),
            delta(3, "citations_delta", citation={"type": "page", "title": "T"}),
            delta(3, "text_delta", text="It is"),
            stop(3),
            start(4, "text", text=" so."),
            stop(4),
            *ended("end_turn"),
        ),
        result(
            "completed",
            reasoning("", redacted=True),
            tool("web_search", {"query": "now"}, "provider", output_contains="T"),
            prose("It is so."),
            merge_adjacent=True,
        ),
    ),
    Sample(
        "a refusal without a word",
        "anthropic",
        named(
            message(),
            start(0, "text", text=""),
            stop(0),
            *ended("refusal", stop_details={"category": "bio", "explanation": "It was refused."}),
        ),
        result("refused", error={"code_any": ["bio"], "message_contains": "refused"}),
    ),
    Sample(
        "overloaded in mid-answer",
        "anthropic",
        named(
            message(),
            start(0, "text", text=""),
            delta(0, "text_delta", text="Half"),
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        ),
        result("failed", prose("Half"), error={"code": "provider_overloaded", "retryable": True}),
    ),
]

_GEMINI: Final = [
    Sample(
        "thoughts, text with a signature at its end",
        "gemini",
        sse(
            parts({"text": "Hm.", "thought": True}),
            parts({"text": "Four"}),
            parts({"text": "."}, {"text": "", "thoughtSignature": "c2ln"}, finish="STOP"),
        ),
        result("completed", reasoning("Hm."), prose("Four.")),
    ),
    Sample(
        "whole and piecewise arguments",
        "gemini",
        sse(
            parts({"functionCall": {"name": "now", "args": {"timeZone": "UTC"}}}),
            parts({"functionCall": {"name": "go", "willContinue": True}, "thoughtSignature": "s"}),
            parts(
                {
                    "functionCall": {
                        "partialArgs": [
                            {"jsonPath": "$.to[0].city", "stringValue": "Ro", "willContinue": True}
                        ],
                        "willContinue": True,
                    }
                }
            ),
            parts(
                {
                    "functionCall": {
                        "partialArgs": [
                            {"jsonPath": "$.to[0].city", "stringValue": "me"},
                            {"jsonPath": "$['fast']", "boolValue": True},
                            {"jsonPath": "$.by", "nullValue": "NULL_VALUE"},
                        ],
                        "willContinue": True,
                    }
                }
            ),
            parts({"functionCall": {}}, finish="STOP"),
        ),
        result(
            "tool_calls",
            tool("now", {"timeZone": "UTC"}),
            tool("go", {"to": [{"city": "Rome"}], "fast": True, "by": None}),
        ),
    ),
    Sample(
        "code that the provider runs",
        "gemini",
        sse(
            parts({"executableCode": {"language": "PYTHON", "code": "print(1)"}}),
            parts({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}),
            parts({"text": "It is 1."}, finish="STOP"),
        ),
        result(
            "completed",
            tool(
                "code_execution",
                {"language": "PYTHON", "code": "print(1)"},
                "provider",
                output_contains="OUTCOME_OK",
            ),
            prose("It is 1."),
        ),
    ),
    Sample(
        "a malformed call",
        "gemini",
        sse(parts(finish="MALFORMED_FUNCTION_CALL")),
        result("failed", error=MALFORMED),
    ),
]

_OLLAMA: Final = [
    Sample(
        "thinking, then a call",
        "ollama-chat",
        lines(
            ollama(content="", thinking="Need "),
            ollama(content="", thinking="it."),
            ollama(tool_calls=[{"function": {"name": "get", "arguments": {"n": 2.0}}}]),
            ollama(content="", done=True, done_reason="stop", prompt_eval_count=1, eval_count=2),
        ),
        result(
            "tool_calls",
            reasoning("Need it."),
            tool("get", {"n": 2.0}),
            usage={"input": 1, "output": 2},
        ),
    ),
    Sample(
        "generated text, cut at the limit",
        "ollama-generate",
        lines(
            {"model": "m", "response": "One", "done": False},
            {"model": "m", "response": " two", "done": False},
            {"model": "m", "response": "", "done": True, "done_reason": "length"},
        ),
        result("truncated", prose("One two")),
    ),
    Sample(
        "an error after text",
        "ollama-chat",
        lines(ollama(content="Hel"), {"error": "model runner has unexpectedly stopped"}),
        result("failed", prose("Hel"), error={"message_contains": "unexpectedly"}),
    ),
    Sample(
        "a call, and no last line",
        "ollama-chat",
        lines(ollama(tool_calls=[{"function": {"name": "get", "arguments": {}}}])),
        result("truncated", tool("get", {}, status="failed"), error=CUT),
    ),
]

SAMPLES: Final[list[Sample]] = [*_CHAT, *_RESPONSES, *_ANTHROPIC, *_GEMINI, *_OLLAMA]
