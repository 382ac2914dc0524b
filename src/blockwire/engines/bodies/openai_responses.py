"""A request to OpenAI Responses.

Spec: docs/spec/gateway/engines.md, "What a provider is told". Nothing is stored at the provider:
every request tells the whole conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from blockwire.engines.bodies.openai_chat import openai_tool_choice
from blockwire.engines.options import place_options, read_tools
from blockwire.engines.transcript import Call, Image, Part, Said, Step, Thought, Transcript
from blockwire.jsontext import Json

__all__ = ["openai_responses_body"]


def openai_responses_body(
    transcript: Transcript, model: str, options: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the body of ``POST /responses``.

    Raises:
        EngineError: ``invalid_option``.
    """
    body: dict[str, Json] = {
        "model": model,
        "input": [item for step in transcript.steps for item in _items(step)],
        "stream": True,
        "store": False,
    }
    if transcript.system:
        body["instructions"] = transcript.system
    place_options("openai-responses", options, body)
    if "reasoning" in body:
        # Models that do not reason refuse this, so it is asked for only of those that do.
        body["include"] = ["reasoning.encrypted_content"]
    tools = read_tools(options)
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in tools
        ]
    choice = options.get("tool_choice")
    if isinstance(choice, str):
        body["tool_choice"] = openai_tool_choice(choice, {"type": "function", "name": choice})
    return body


def _items(step: Step) -> Iterator[Json]:
    content: list[Json] = []
    for part in step.parts:
        piece = _content(step.role, part)
        if piece is not None:
            content.append(piece)
            continue
        if content:
            yield {"role": step.role, "content": content}
            content = []
        if isinstance(part, Thought):
            yield from _reasoning(part)
        elif isinstance(part, Call):
            yield _call(part)
    if content:
        yield {"role": step.role, "content": content}
    for call in step.calls:
        kind = "custom_tool_call_output" if _is_custom(call) else "function_call_output"
        yield {"type": kind, "call_id": call.call_id, "output": call.result}


def _is_custom(call: Call) -> bool:
    """Return whether the input of the call is free text."""
    return call.data is not None and call.data.get("item_type") == "custom_tool_call"


def _call(call: Call) -> Json:
    item: dict[str, Json] = {"call_id": call.call_id, "name": call.name}
    if _is_custom(call):
        return {"type": "custom_tool_call", **item, "input": call.input.get("input", "")}
    return {"type": "function_call", **item, "arguments": call.arguments}


def _content(role: str, part: Part) -> Json:
    if isinstance(part, Said):
        return {"type": "input_text" if role == "user" else "output_text", "text": part.text}
    if isinstance(part, Image):
        url = f"data:{part.media_type};base64,{part.base64}"
        return {"type": "input_image", "image_url": url}
    return None


def _reasoning(thought: Thought) -> Iterator[Json]:
    encrypted = thought.data.get("encrypted_content")
    if not isinstance(encrypted, str):
        return
    item: dict[str, Json] = {"type": "reasoning", "summary": [], "encrypted_content": encrypted}
    item_id = thought.data.get("item_id")
    if isinstance(item_id, str):
        item["id"] = item_id
    yield item
