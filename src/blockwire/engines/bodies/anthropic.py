"""A request to Anthropic Messages.

Spec: docs/spec/gateway/engines.md, "What a provider is told".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from blockwire.engines.options import Tool, place_options, read_tools
from blockwire.engines.transcript import Call, Image, Part, Said, Step, Thought, Transcript
from blockwire.jsontext import Json, decode_json

__all__ = ["anthropic_body"]

# The API demands a bound; the model's own may be lower, so it is not the largest there is.
MAX_TOKENS_DEFAULT: Final = 8192

_CHOICES: Final[Mapping[str, str]] = {"auto": "auto", "none": "none", "required": "any"}


def anthropic_body(
    transcript: Transcript, model: str, options: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the body of ``POST /v1/messages``.

    Raises:
        EngineError: ``invalid_option``.
    """
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": MAX_TOKENS_DEFAULT,
        "messages": [message for step in transcript.steps for message in _messages(step)],
        "stream": True,
    }
    if transcript.system:
        body["system"] = transcript.system
    place_options("anthropic", options, body)
    thinking = body.get("thinking")
    if isinstance(thinking, dict):
        thinking["type"] = "enabled"
        if "max_tokens" not in options:
            # What is thought counts as well.
            body["max_tokens"] = MAX_TOKENS_DEFAULT + cast("int", thinking["budget_tokens"])
    _add_tools(body, transcript, options)
    return body


def _add_tools(body: dict[str, Json], transcript: Transcript, options: Mapping[str, Json]) -> None:
    tools = read_tools(options)
    choice = options.get("tool_choice")
    if not tools:
        # A conversation with calls in it is refused unless their tools are declared.
        names = dict.fromkeys(
            call.name for step in transcript.steps for call in step.calls if not _is_server(call)
        )
        tools = [Tool(name, "", {"type": "object"}) for name in names]
        choice = "none" if tools else None
    if tools:
        body["tools"] = [
            {
                "name": tool.name,
                **({"description": tool.description} if tool.description else {}),
                "input_schema": tool.parameters,
            }
            for tool in tools
        ]
    if isinstance(choice, str):
        word = _CHOICES.get(choice)
        body["tool_choice"] = {"type": "tool", "name": choice} if word is None else {"type": word}


def _messages(step: Step) -> Iterator[Json]:
    content = [piece for part in step.parts for piece in _content(part)]
    if content:
        yield {"role": step.role, "content": content}
    results: list[Json] = [
        {
            "type": "tool_result",
            "tool_use_id": call.call_id,
            "content": call.result,
            **({"is_error": True} if call.is_error else {}),
        }
        for call in step.calls
        if not _is_server(call)
    ]
    if results:
        yield {"role": "user", "content": results}


def _content(part: Part) -> Iterator[Json]:
    match part:
        case Said(text=text):
            yield {"type": "text", "text": text}
        case Image(media_type=media_type, base64=base64):
            source: Json = {"type": "base64", "media_type": media_type, "data": base64}
            yield {"type": "image", "source": source}
        case Thought(text=text, data=data):
            if "redacted_data" in data:
                yield {"type": "redacted_thinking", "data": data["redacted_data"]}
            elif "signature" in data:
                yield {"type": "thinking", "thinking": text, "signature": data["signature"]}
        case Call() if _is_server(part):
            yield from _server_call(part)
        case Call():
            yield {
                "type": "tool_use",
                "id": part.call_id,
                "name": part.name,
                "input": part.input,
            }


def _is_server(call: Call) -> bool:
    """Return whether Anthropic ran the call itself, and told its result."""
    return (
        call.data is not None and call.data.get("block_type") == "server_tool_use"
    ) and call.result[:1] in {"{", "["}


def _server_call(call: Call) -> Iterator[Json]:
    yield {
        "type": "server_tool_use",
        "id": call.call_id,
        "name": call.name,
        "input": call.input,
    }
    # The tools that search for tools share one type of result.
    kind = "tool_search" if call.name.startswith("tool_search_tool_") else call.name
    yield {
        "type": f"{kind}_tool_result",
        "tool_use_id": call.call_id,
        "content": decode_json(call.result.encode()),
    }
