"""A request to OpenAI Chat Completions and to servers that speak it.

Spec: docs/spec/gateway/engines.md, "What a provider is told".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blockwire.engines.options import place_options, read_tools
from blockwire.engines.transcript import Call, Image, Said, Step, Thought, Transcript
from blockwire.jsontext import Json, decode_json

__all__ = ["openai_chat_body", "openai_tool_choice"]


def openai_chat_body(
    transcript: Transcript, model: str, options: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the body of ``POST /chat/completions``.

    Raises:
        EngineError: ``invalid_option``.
    """
    messages: list[Json] = []
    if transcript.system:
        messages.append({"role": "system", "content": transcript.system})
    for step in transcript.steps:
        messages += _user(step) if step.role == "user" else _assistant(step)
    body: dict[str, Json] = {
        "model": model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    place_options("openai-chat", options, body)
    tools = read_tools(options)
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
    choice = options.get("tool_choice")
    if isinstance(choice, str):
        named: Json = {"type": "function", "function": {"name": choice}}
        body["tool_choice"] = openai_tool_choice(choice, named)
    return body


def openai_tool_choice(choice: str, named: Json) -> Json:
    """Return the word that OpenAI has for ``choice``, or ``named`` for the name of a tool."""
    return choice if choice in {"auto", "none", "required"} else named


def _user(step: Step) -> Iterator[Json]:
    if all(isinstance(part, Said) for part in step.parts):
        yield {"role": "user", "content": _joined(step)}
        return
    content: list[Json] = []
    for part in step.parts:
        if isinstance(part, Said):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, Image):
            url = f"data:{part.media_type};base64,{part.base64}"
            content.append({"type": "image_url", "image_url": {"url": url}})
    yield {"role": "user", "content": content}


def _joined(step: Step) -> str:
    return "\n\n".join(part.text for part in step.parts if isinstance(part, Said))


def _assistant(step: Step) -> Iterator[Json]:
    said = _joined(step)
    calls: list[Json] = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in step.calls
    ]
    if not said and not calls:
        return
    message: dict[str, Json] = {"role": "assistant", "content": said or None}
    details = [detail for part in step.parts for detail in _details(part)]
    if details:
        message["reasoning_details"] = details
    if calls:
        message["tool_calls"] = calls
    yield message
    for call in step.calls:
        yield {"role": "tool", "tool_call_id": call.call_id, "content": call.result}


def _details(part: Said | Image | Thought | Call) -> Iterator[Json]:
    """Yield what is signed or encrypted of the reasoning; the reasoning itself stays here."""
    for name, value in part.data.items() if isinstance(part, Thought) else ():
        if name.startswith("reasoning_detail"):
            is_source = name.endswith("_json") and isinstance(value, str)
            yield decode_json(str(value).encode()) if is_source else value
