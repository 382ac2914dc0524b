"""A turn's request as JSON: its schema and its encoding.

Spec: docs/spec/gateway/engines.md, "The request".
"""

from __future__ import annotations

from typing import Final

from blockwire.content import NAME_CHARS_MAX, ROLES, TERMINAL_STATUSES, TIME_MAX
from blockwire.content.json_schema import SCHEMA_DIALECT
from blockwire.jsontext import Json, encode_json
from blockwire.ports import REQUEST_PROTOCOL, Answer, EngineRequest

__all__ = ["encode_answer", "encode_request", "engine_request_schema"]

SCHEMA_ID: Final = "/schemas/engine-request.json"


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


def encode_answer(turn_id: str, answer: Answer) -> bytes:
    """Return what a program is told when its question was answered: one line of JSON."""
    members: dict[str, Json] = {
        "type": "turn.resumed",
        "turn_id": turn_id,
        "request_id": answer.request_id,
        "answer": answer.answer,
    }
    return encode_json(members) + b"\n"


def engine_request_schema() -> dict[str, Json]:
    """Return the JSON Schema (2020-12) of the request."""
    text: dict[str, Json] = {"type": "string"}
    name: dict[str, Json] = {"type": "string", "minLength": 1, "maxLength": NAME_CHARS_MAX}
    members: dict[str, Json] = {
        "protocol": {"const": REQUEST_PROTOCOL, "description": "Version of this request."},
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
        "$schema": SCHEMA_DIALECT,
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
    time: dict[str, Json] = {"type": "integer", "minimum": 0, "maximum": TIME_MAX}
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "role": {"enum": [*sorted(ROLES)]},
            "status": {"enum": [*sorted(TERMINAL_STATUSES)]},
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
                "description": "Of an attachment: a file that the program may read while it runs.",
            },
        },
        "required": ["id", "type"],
    }
