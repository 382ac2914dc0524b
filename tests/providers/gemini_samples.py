"""Streams of our own in what Gemini and Ollama have beyond text and calls.

As ``samples``, each with its expected result in the form of the public suite.
"""

from typing import Final

from blockwire.jsontext import encode_json
from tests.providers.samples import CUT, Sample, prose, result, tool
from tests.providers.wire import ollama, parts, sse

PROTOCOL: Final = {"code": "provider_protocol_error", "retryable": True}

GEMINI: Final[list[Sample]] = [
    Sample(
        "an array of chunks, as it comes without events",
        "gemini",
        b"["
        + b"\n,\r\n".join(
            encode_json(chunk)
            for chunk in (
                parts({"text": "Three } "}),
                parts({"text": '"of [them".'}),
                parts(finish="STOP", usageMetadata={"promptTokenCount": 4}),
            )
        )
        + b"\n]\n",
        result("completed", prose('Three } "of [them".')),
    ),
    Sample(
        "an array that an error ends",
        "gemini",
        b"["
        + encode_json(parts({"text": "Thr"}))
        + b',\n{"error": {"code": 503, "status": "UNAVAILABLE", "message": "Busy."}}]',
        result("failed", prose("Thr"), error={"code": "provider_unavailable", "retryable": True}),
    ),
    Sample(
        "an array that is cut",
        "gemini",
        b"[" + encode_json(parts({"text": "Thr"})) + b',\n{"candidates": [{"cont',
        result("truncated", prose("Thr"), error=CUT),
    ),
    Sample(
        "a search that the server runs",
        "gemini",
        sse(
            parts(
                {
                    "toolCall": {
                        "toolType": "GOOGLE_SEARCH_WEB",
                        "args": {"queries": ["a"]},
                        "id": "s",
                    },
                    "thoughtSignature": "c2ln",
                }
            ),
            parts(
                {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s", "response": {"x": 1}}}
            ),
            parts({"toolResponse": {"id": "other"}}),
            parts({"text": "Found."}, finish="STOP"),
        ),
        result(
            "completed",
            tool("google_search_web", {"queries": ["a"]}, "provider", output_contains='"x"'),
            prose("Found."),
        ),
    ),
    Sample(
        "calls with ids, several candidates",
        "gemini",
        sse(
            {
                "candidates": [
                    {
                        "index": 0,
                        "content": {
                            "parts": [
                                {"functionCall": {"name": "f", "id": "a", "args": {"n": 1}}},
                                {"functionCall": {"name": "f", "id": "b"}},
                            ]
                        },
                        "finishReason": "STOP",
                    },
                    {"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "STOP"},
                ]
            }
        ),
        result("tool_calls", tool("f", {"n": 1}, call_id="a"), tool("f", {}, call_id="b")),
    ),
    *(
        Sample(
            f"ended for {reason}",
            "gemini",
            sse(parts({"text": "So"}), parts(finish=reason)),
            result(outcome, prose("So")),
        )
        for reason, outcome in (
            ("MAX_TOKENS", "truncated"),
            ("SAFETY", "refused"),
            ("RECITATION", "refused"),
            ("BLOCKLIST", "refused"),
            ("PROHIBITED_CONTENT", "refused"),
            ("LANGUAGE", "refused"),
            ("SPII", "refused"),
            ("MODEL_ARMOR", "refused"),
            ("OTHER", "failed"),
            ("UNEXPECTED_TOOL_CALL", "failed"),
            ("TOO_MANY_TOOL_CALLS", "failed"),
        )
    ),
    Sample(
        "a prompt that was blocked",
        "gemini",
        sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": "m"}),
        result("refused", error={"code": "content_filter", "retryable": False}),
    ),
]

OLLAMA: Final[list[Sample]] = [
    Sample(
        "calls in several lines",
        "ollama-chat",
        b"".join(
            encode_json(line) + b"\n"
            for line in (
                *(
                    ollama(
                        content="",
                        tool_calls=[{"function": {"index": n, "name": "f", "arguments": {"n": n}}}],
                    )
                    for n in range(2)
                ),
                ollama(content="", done=True, done_reason="stop"),
            )
        ),
        result("tool_calls", tool("f", {"n": 0}), tool("f", {"n": 1})),
    ),
    Sample(
        "one object without a line end",
        "ollama-generate",
        b'{"model": "m", "response": "Hi", "done": true, "prompt_eval_count": 1, "eval_count": 2}',
        result("completed", prose("Hi"), usage={"input": 1, "output": 2}),
    ),
    Sample(
        "objects over several lines",
        "ollama-chat",
        b'{\n  "message": {\n    "content": "a } \\"{\\n"\n  },\n  "done": false\n}\n\n'
        b'{"message": {"content": "b"},\n"done": true, "done_reason": "stop"}\n',
        result("completed", prose('a } "{\nb')),
    ),
    Sample(
        "a line that is broken off, and another one",
        "ollama-chat",
        b'{"message": {"content": "a"}, "done": false}\n{"message": {"content": "b\n'
        b'{"message": {"content": "c"}, "done": true}\n',
        result("failed", prose("a"), error=PROTOCOL),
    ),
    Sample(
        "a page that is none of ours",
        "ollama-chat",
        b"404 page not found",
        result("failed", error=PROTOCOL),
    ),
]
