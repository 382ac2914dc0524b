"""A request to Gemini ``generateContent``.

Spec: docs/spec/gateway/engines.md, "What a provider is told".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from blockwire.engines.options import place_options, read_tools
from blockwire.engines.transcript import Call, Image, Part, Said, Step, Thought, Transcript
from blockwire.jsontext import Json

__all__ = ["gemini_body"]

_ROLES: Final[Mapping[str, str]] = {"user": "user", "assistant": "model"}
_MODES: Final[Mapping[str, str]] = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def gemini_body(transcript: Transcript, model: str, options: Mapping[str, Json]) -> dict[str, Json]:
    """Return the body of ``POST /models/MODEL:streamGenerateContent``; the path names the model.

    Raises:
        EngineError: ``invalid_option``.
    """
    del model
    body: dict[str, Json] = {
        "contents": [content for step in transcript.steps for content in _contents(step)]
    }
    if transcript.system:
        body["systemInstruction"] = {"parts": [{"text": transcript.system}]}
    place_options("gemini", options, body)
    tools = read_tools(options)
    if tools:
        declarations: list[Json] = [
            {
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.parameters,
            }
            for tool in tools
        ]
        body["tools"] = [{"functionDeclarations": declarations}]
    choice = options.get("tool_choice")
    if isinstance(choice, str):
        mode = _MODES.get(choice)
        config: Json = (
            {"mode": "ANY", "allowedFunctionNames": [choice]} if mode is None else {"mode": mode}
        )
        body["toolConfig"] = {"functionCallingConfig": config}
    return body


def _contents(step: Step) -> Iterator[Json]:
    parts = [piece for part in step.parts for piece in _parts(part)]
    if parts:
        yield {"role": _ROLES[step.role], "parts": parts}
    results: list[Json] = [
        {
            "functionResponse": {
                **_id(call),
                "name": call.name,
                "response": {"error" if call.is_error else "result": call.result},
            }
        }
        for call in step.calls
    ]
    if results:
        yield {"role": "user", "parts": results}


def _parts(part: Part) -> Iterator[Json]:
    match part:
        case Said(text=text, data=data):
            yield {"text": text, **_signature(data)}
        case Image(media_type=media_type, base64=base64):
            yield {"inlineData": {"mimeType": media_type, "data": base64}}
        case Thought(text=text, data=data):
            # Thoughts are summaries for people; only what is signed has to go back.
            if signature := _signature(data):
                yield {"text": text, **({"thought": True} if text else {}), **signature}
        case Call(data=data):
            call: Json = {**_id(part), "name": part.name, "args": part.input}
            yield {"functionCall": call, **_signature(data)}


def _id(call: Call) -> dict[str, Json]:
    """Return the id where Gemini gave one; it has none of its own for most calls."""
    return {"id": call.call_id} if call.data is not None and "call_id" in call.data else {}


def _signature(data: Mapping[str, Json] | None) -> dict[str, Json]:
    signature = None if data is None else data.get("thought_signature")
    return {"thoughtSignature": signature} if isinstance(signature, str) else {}
