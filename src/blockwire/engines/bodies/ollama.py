"""A request to Ollama's chat.

Spec: docs/spec/gateway/engines.md, "What a provider is told".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blockwire.engines.options import place_options, read_tools
from blockwire.engines.transcript import Image, Said, Step, Transcript
from blockwire.jsontext import Json

__all__ = ["ollama_body"]


def ollama_body(transcript: Transcript, model: str, options: Mapping[str, Json]) -> dict[str, Json]:
    """Return the body of ``POST /api/chat``.

    ``tool_choice`` is not known there: ``none`` leaves the tools out, other words change nothing.

    Raises:
        EngineError: ``invalid_option``.
    """
    messages: list[Json] = []
    if transcript.system:
        messages.append({"role": "system", "content": transcript.system})
    messages += [message for step in transcript.steps for message in _messages(step)]
    body: dict[str, Json] = {"model": model, "messages": messages, "stream": True}
    place_options("ollama-chat", options, body)
    tools = read_tools(options) if options.get("tool_choice") != "none" else []
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in tools
        ]
    return body


def _messages(step: Step) -> Iterator[Json]:
    message: dict[str, Json] = {
        "role": step.role,
        "content": "\n\n".join(part.text for part in step.parts if isinstance(part, Said)),
    }
    images: list[Json] = [part.base64 for part in step.parts if isinstance(part, Image)]
    if images:
        message["images"] = images
    calls: list[Json] = [
        {"function": {"name": call.name, "arguments": call.input}} for call in step.calls
    ]
    if calls:
        message["tool_calls"] = calls
    if message["content"] or images or calls:
        yield message
    for call in step.calls:
        yield {"role": "tool", "tool_name": call.name, "content": call.result}
