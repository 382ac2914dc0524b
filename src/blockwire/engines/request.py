"""A turn's request as JSON: its schema, its encoding, and what is left out when it is too large.

Spec: docs/spec/gateway/engines.md, "The request".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blockwire.content import ROLES, Message
from blockwire.jsontext import Json, encode_json
from blockwire.ports import EngineRequest

__all__ = ["LEFT_OUT_CODE", "encode_request", "engine_request_schema", "fit_request"]

PROTOCOL: Final = 1
SCHEMA_ID: Final = "/schemas/engine-request.json"
LEFT_OUT_CODE: Final = "history_cut"
"""Code of the notice that tells a reader that older turns were left out."""


def encode_request(request: EngineRequest) -> bytes:
    """Return the request as one line of JSON with its line break.

    Raises:
        LocalProtocolError: ``invalid_json_value`` if it holds what JSON cannot.
    """
    members: dict[str, Json] = {
        "protocol": request.protocol,
        "conversation_id": request.conversation_id,
        "turn_id": request.turn_id,
        "engine": request.engine,
    }
    if request.model is not None:
        members["model"] = request.model
    if request.system is not None:
        members["system"] = request.system
    members["options"] = request.options
    members["messages"] = [*request.messages]
    return encode_json(members) + b"\n"


def fit_request(messages: Sequence[Message], bytes_max: int) -> tuple[list[Message], int]:
    """Return the newest whole turns that fit, oldest first, and how many were left out.

    A turn is a user's message and everything up to the next one; what stands before the first
    user's message counts as a turn of its own. The newest turn always stays, and so does every
    message of role ``system`` or ``developer``.

    Args:
        messages: Oldest first.
        bytes_max: UTF-8 bytes of their JSON.
    """
    turns = _split_turns(messages)
    sizes = [_size_bytes(turn, instructions=False) for turn in turns]
    left_bytes = bytes_max - _size_bytes(messages, instructions=True)
    first = len(turns)
    while first > 0 and (first == len(turns) or sizes[first - 1] <= left_bytes):
        first -= 1
        left_bytes -= sizes[first]
    older = [message for turn in turns[:first] for message in turn if _is_instruction(message)]
    dropped = sum(not all(map(_is_instruction, turn)) for turn in turns[:first])
    return older + [message for turn in turns[first:] for message in turn], dropped


def _size_bytes(messages: Sequence[Message], *, instructions: bool) -> int:
    return sum(
        len(encode_json(message))
        for message in messages
        if _is_instruction(message) is instructions
    )


def _is_instruction(message: Message) -> bool:
    return message["role"] in {"system", "developer"}


def _split_turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if not turns or message["role"] == "user":
            turns.append([])
        turns[-1].append(message)
    return turns


def engine_request_schema() -> dict[str, Json]:
    """Return the JSON Schema (2020-12) of the request."""
    text: dict[str, Json] = {"type": "string"}
    name: dict[str, Json] = {"type": "string", "minLength": 1, "maxLength": 256}
    members: dict[str, Json] = {
        "protocol": {"const": PROTOCOL, "description": "Version of this request."},
        "conversation_id": {**name, "description": "Where the turn belongs."},
        "turn_id": {**name, "description": "The turn; events may leave it out."},
        "engine": {**name, "description": "Name of the engine in the configuration."},
        "model": {**name, "description": "As asked for, else the engine's default."},
        "system": {**text, "description": "System prompt of the conversation or engine."},
        "options": {"type": "object", "description": "Options of the submit, as they came."},
        "messages": {
            "type": "array",
            "items": {"$ref": "#/$defs/message"},
            "description": "Finished turns and the question, oldest first, in owner view.",
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Engine request",
        "description": "One turn to run: what an engine gets, and a program on standard input.",
        "type": "object",
        "properties": members,
        "required": [
            "protocol",
            "conversation_id",
            "turn_id",
            "engine",
            "options",
            "messages",
        ],
        "$defs": {"message": _message_schema(), "block": _block_schema()},
    }


def _message_schema() -> dict[str, Json]:
    time: dict[str, Json] = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "role": {"enum": [*sorted(ROLES)]},
            "status": {"enum": ["completed", "failed", "cancelled"]},
            "content": {"type": "array", "items": {"$ref": "#/$defs/block"}},
            "created_at": time,
            "completed_at": time,
        },
        "required": ["id", "role", "status", "content", "created_at"],
    }


def _block_schema() -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "type": {"type": "string", "minLength": 1},
            "path": {
                "type": "string",
                "description": "Of an attachment: a file that the engine may read.",
            },
            "url": {
                "type": "string",
                "description": "Of an attachment: where the engine may fetch it.",
            },
        },
        "required": ["id", "type"],
    }
