"""Streams of our own in the dialects of Chat Completions.

As ``samples``, each with its expected result in the form of the public suite.
"""

from typing import Any, Final

from blockwire.jsontext import encode_json
from tests.providers.samples import CUT, Sample, prose, reasoning, result, tool
from tests.providers.wire import call, chat, sse

USAGE: Final = {"prompt_tokens": 3, "completion_tokens": 2}
PROTOCOL: Final = {"code": "provider_protocol_error", "retryable": True}


def filtered(**members: Any) -> dict[str, Any]:
    """Return what Azure sends before and after the answer: a verdict, and no delta."""
    choice = {"index": 0, "finish_reason": None, "content_filter_results": {}, **members}
    return {"id": "", "model": "", "object": "", "choices": [choice]}


CHAT: Final[list[Sample]] = [
    Sample(
        "Azure: a verdict first, another one after the end",
        "openai-chat",
        sse(
            {"choices": [], "prompt_filter_results": [{"prompt_index": 0}], "model": ""},
            chat({"role": "assistant", "content": "", "refusal": None}),
            chat({"content": "Hi"}),
            chat(finish="stop"),
            filtered(content_filter_offsets={"check_offset": 0}),
            {"choices": [], "usage": USAGE},
            done=True,
        ),
        result("completed", prose("Hi"), usage={"input": 3, "output": 2}),
    ),
    Sample(
        "a call as it was written before there could be several",
        "openai-chat",
        sse(
            chat({"content": None, "function_call": {"name": "add", "arguments": ""}}),
            chat({"function_call": {"arguments": '{"a":'}}),
            chat({"function_call": {"arguments": " 1}"}}),
            chat(finish="function_call"),
            done=True,
        ),
        result("tool_calls", tool("add", {"a": 1})),
    ),
    Sample(
        "a call of old with its arguments as an object",
        "openai-chat",
        sse(
            chat({"function_call": {"name": "add", "arguments": {"a": 1.0}}}, "function_call"),
            done=True,
        ),
        result("tool_calls", tool("add", {"a": 1.0})),
    ),
    Sample(
        "the name in pieces, and another call after it",
        "openai-chat",
        sse(
            chat(call(0, "", id="a", name="get_")),
            chat(call(0, None, name="weather")),
            chat(call(1, None, id="b", name="time")),
            chat(call(0, '{"city": "Rome"}')),
            chat(finish="tool_calls"),
            done=True,
        ),
        result(
            "tool_calls",
            tool("get_weather", {"city": "Rome"}, call_id="a"),
            tool("time", {}, call_id="b"),
        ),
    ),
    Sample(
        "the name in growing pieces, then text, then the arguments",
        "openai-chat",
        sse(
            chat(call(0, "", id="a", name="get")),
            chat(call(0, "", id="a", name="get_time")),
            chat({"content": "Now."}),
            chat(call(0, "{}", id="a", name="get_time")),
            chat(finish="tool_calls"),
            done=True,
        ),
        result("tool_calls", tool("get_time", {}, call_id="a"), prose("Now.")),
    ),
    Sample(
        "a name that the connection cuts",
        "openai-chat",
        sse(chat(call(0, "", id="a", name="delete"))),
        result("truncated", tool("delete", None, status="failed"), error=CUT),
    ),
    Sample(
        "a custom tool with free text",
        "openai-chat",
        sse(
            chat(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "a",
                            "type": "custom",
                            "custom": {"name": "sql", "input": "SELECT "},
                        }
                    ]
                }
            ),
            chat({"tool_calls": [{"index": 0, "custom": {"input": '"x"'}}]}),
            chat(finish="tool_calls"),
            done=True,
        ),
        result("tool_calls", tool("sql", None, input_text='SELECT "x"', call_id="a")),
    ),
    Sample(
        "empty lists of calls and null deltas",
        "openai-chat",
        sse(
            chat({"content": "", "reasoning_content": "Hm", "tool_calls": []}),
            {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
            {"choices": None},
            {"id": "x"},
            chat({"content": "Yes", "reasoning_content": "", "tool_calls": None}, "stop"),
        ),
        result("completed", reasoning("Hm"), prose("Yes")),
    ),
    Sample(
        "reasoning and content in one delta, a member for the stop in capitals",
        "openai-chat",
        sse(chat({"reasoning": "Hm.", "content": "Yes."}), chat(finish="STOP")),
        result("completed", reasoning("Hm."), prose("Yes.")),
    ),
    Sample(
        "reasoning in its details only, unsigned",
        "openai-chat",
        sse(
            chat(
                {
                    "reasoning_details": [
                        {"type": "reasoning.text", "text": "Both", "signature": None, "index": 0}
                    ]
                }
            ),
            chat({"reasoning_details": [{"type": "reasoning.summary", "summary": " ways"}]}),
            chat({"content": "So"}, "stop"),
        ),
        result("completed", reasoning("Both ways"), prose("So")),
    ),
    Sample(
        "Mistral: thinking parts, then a part and a string of text",
        "openai-chat",
        sse(
            chat({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "1."}]}]}),
            chat(
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": " 2."}]},
                        {"type": "text", "text": "3"},
                    ]
                }
            ),
            chat({"content": "91"}, "stop", usage=USAGE, p="abcd"),
        ),
        result("completed", reasoning("1. 2."), prose("391"), usage={"input": 3, "output": 2}),
    ),
    Sample(
        "Perplexity: sources, usage in every chunk, the whole message beside the delta",
        "openai-chat",
        sse(
            *(
                {
                    "citations": ["https://example.org/"],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 1 + len(finish or "")},
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": finish,
                            "message": {"role": "assistant", "content": whole},
                            "delta": {"role": "assistant", "content": delta},
                        }
                    ],
                }
                for whole, delta, finish in (
                    ("It", "It", None),
                    ("It is.", " is.", None),
                    ("It is.", "", "stop"),
                )
            ),
        ),
        result("completed", prose("It is."), usage={"input": 3, "output": 5}),
    ),
    Sample(
        "Groq: usage in a member of its own, an id in the first chunk",
        "openai-chat",
        sse(
            chat({"role": "assistant", "content": ""}, x_groq={"id": "req_1"}),
            chat({"content": "Hi"}),
            chat(finish="stop", x_groq={"id": "req_1", "usage": USAGE}),
            done=True,
        ),
        result("completed", prose("Hi"), usage={"input": 3, "output": 2}),
    ),
    Sample(
        "speech with its words",
        "openai-chat",
        sse(
            chat({"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Hel"}}),
            chat({"audio": {"transcript": "lo"}}),
            chat({"audio": {"data": "UklGRg=="}}),
            chat({"audio": {"expires_at": 1}}),
            chat(finish="stop"),
            done=True,
        ),
        result("completed", prose("Hello")),
    ),
    Sample(
        "two ends, and what comes after them",
        "openai-chat",
        b": keep-alive\n\n"
        + sse(chat({"content": "Hi"}, "stop"), done=True)
        + sse(chat({"content": "?"}), done=True),
        result("completed", prose("Hi")),
    ),
    Sample(
        "no blank lines between the events",
        "openai-chat",
        sse(chat({"content": "Hi"}), chat(finish="stop"), done=True).replace(b"\n\n", b"\n"),
        result("completed", prose("Hi")),
    ),
    Sample(
        "no blank lines, and cut",
        "openai-chat",
        sse(chat({"content": "Hi"}), chat({"content": "there"})).replace(b"\n\n", b"\n")[:-9],
        result("truncated", prose("Hi"), error=CUT),
    ),
    Sample(
        "no blank line between an event and what is no JSON",
        "openai-chat",
        sse(chat({"content": "Hi"}))[:-1] + b"data: oops\n\n",
        result("failed", prose("Hi"), error=PROTOCOL),
    ),
    Sample(
        "an event over several lines, and a broken one",
        "openai-chat",
        b'data: {"choices":\ndata: [{"delta": {"content": "Hi"}}]}\n\ndata: {"a":\ndata: }\n\n',
        result("failed", prose("Hi"), error=PROTOCOL),
    ),
    Sample(
        "an error inside the choice",
        "openai-chat",
        sse(
            chat({"content": "Ha"}),
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": ""},
                        "finish_reason": "error",
                        "error": {"code": 502, "message": "Upstream broke."},
                    }
                ]
            },
            done=True,
        ),
        result(
            "failed",
            prose("Ha"),
            error={
                "code": "provider_unavailable",
                "message_contains": "Upstream broke.",
                "retryable": True,
            },
        ),
    ),
    Sample(
        "an error first, as vLLM words it",
        "openai-chat",
        sse({"object": "error", "message": "Too long.", "type": "BadRequestError", "code": 400}),
        result("failed", error={"code": "bad_request_error", "retryable": False}),
    ),
    *(
        Sample(
            f"a complaint under {name}",
            "openai-chat",
            encode_json({name: "No such model."}),
            result(
                "failed", error={"code": "provider_error", "message_contains": "No such model."}
            ),
        )
        for name in ("detail", "message")
    ),
    Sample(
        "a filter of Azure as an error",
        "openai-chat",
        sse({"error": {"code": "content_filter", "message": "Filtered.", "status": 400}}),
        result("refused", error={"code": "content_filter", "retryable": False}),
    ),
    Sample(
        "a page instead of a stream",
        "openai-chat",
        b"<html>\n<head><title>502 Bad Gateway</title></head>\n</html>\n",
        result("failed", error=PROTOCOL),
    ),
    Sample(
        "a sentence instead of a stream",
        "openai-chat",
        b"upstream connect error or disconnect/reset before headers",
        result("failed", error=PROTOCOL),
    ),
    Sample("no body at all", "openai-chat", b"", result("truncated", error=CUT)),
    Sample("a body cut in its first word", "openai-chat", b"dat", result("truncated", error=CUT)),
    Sample(
        "a whole answer, indented",
        "openai-chat",
        b'\n{\n  "choices": [\n    {"index": 0, "finish_reason": "stop",\n     "message": '
        b'{"role": "assistant", "content": "{\\"a\\": [1}"}}\n  ],\n'
        b'  "usage": {"prompt_tokens": 3, "completion_tokens": 2}\n}\n',
        result("completed", prose('{"a": [1}'), usage={"input": 3, "output": 2}),
    ),
    Sample(
        "one chunk a line, without the lines of an event stream",
        "openai-chat",
        b"".join(encode_json(c) + b"\n" for c in (chat({"content": "Hi"}), chat(finish="stop"))),
        result("completed", prose("Hi")),
    ),
    Sample(
        "a whole answer, cut",
        "openai-chat",
        b'{"choices": [{"index": 0, "message": {"content": "Hal',
        result("truncated", error=CUT),
    ),
]
