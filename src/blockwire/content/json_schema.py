r"""JSON Schemas (2020-12) of messages, blocks and events, generated from the tables in ``fields``.

Spec: docs/spec/content/schemas.md.

Every schema stands for itself: what it refers to is in its ``$defs``. Unknown members, block types
and event types are allowed, as the protocol allows them, and the key rule holds at every depth.
What JSON Schema cannot say is listed in :data:`SCHEMA_EXCEPTIONS`; but for those, a value is
accepted by its schema if and only if it is accepted by the decoder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content.fields import (
    BLOCK_FIELDS,
    CODE,
    COMMON_BLOCK_FIELDS,
    ENUMS,
    EVENT_FIELDS,
    MESSAGE_FIELDS,
    REQUEST_FIELDS,
    STAMP_FIELDS,
    STARTED_EXTRAS,
    TOOL_CHANGES,
    TURN_FIELDS,
    Field,
    Kind,
)
from blockwire.content.keys import KEY
from blockwire.content.vocabulary import NAME_CHARS_MAX, TERMINAL_STATUSES, TURN_ENDS
from blockwire.jsontext import SAFE_INTEGER_MAX, Json

__all__ = ["SCHEMA_DIALECT", "SCHEMA_EXCEPTIONS", "content_schemas"]

SCHEMA_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

SCHEMA_EXCEPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "duplicate_name": "An object that names a member twice is refused before any schema.",
        "lone_surrogate": "Text holds Unicode scalar values only.",
        "depth": "Arrays and objects nest at most 64 deep, the root being 1.",
        "number_range": "Numbers are finite binary64, integers have at most 4300 digits.",
        "integer_spelling": "1.0 is no integer: a protocol field wants an integer as such.",
        "completed_before_created": "completed_at is not before created_at.",
        "repeated_block_id": "Block ids are unique in their message.",
        "repeated_message_id": "Message ids are unique in a snapshot.",
        "repeated_turn_id": "Turn ids are unique in a snapshot.",
        "number_order": "prev_seq is below seq.",
        "other_block": "The final block of content.block.completed is the one of block_id.",
        "capitals_beyond_ascii": "Types are lower-case beyond ASCII, too.",
    }
)
"""What a schema accepts and the decoder refuses: class -> the rule, in one sentence."""

_Schema = dict[str, Json]

# `$` alone also matches before a last line break in some dialects of regular expressions.
_END: Final = r"$(?!\n)"


def _pattern(expression: re.Pattern[str]) -> str:
    """Return the pattern of what our own readers match from the start to the end."""
    return "^" + expression.pattern.removesuffix(r"\Z") + _END


_KEY: Final[_Schema] = {"pattern": _pattern(KEY)}
_CONTROLS: Final = r"\u0000-\u001f\u007f-\u009f"
_BLANKS: Final = (
    r"\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
)
_NAME_PATTERN: Final = f"[^{_CONTROLS}]*{_END}"
_VISIBLE_PATTERN: Final = f"[^{_BLANKS}]"

_KINDS: Final[Mapping[Kind, _Schema]] = MappingProxyType(
    {
        "text": {"type": "string"},
        "spoken": {"type": "string", "pattern": _VISIBLE_PATTERN},
        "id": {
            "type": "string",
            "maxLength": NAME_CHARS_MAX,
            "pattern": rf"^(?=[\s\S]*{_VISIBLE_PATTERN}){_NAME_PATTERN}",
        },
        "name": {"type": "string", "maxLength": NAME_CHARS_MAX, "pattern": f"^{_NAME_PATTERN}"},
        "code": {"type": "string", "pattern": _pattern(CODE)},
        "value": {"$ref": "#/$defs/json"},
        "object": {"type": "object", "$ref": "#/$defs/json"},
        "integer": {"type": "integer", "minimum": 0, "maximum": SAFE_INTEGER_MAX},
        "boolean": {"type": "boolean"},
        "ids": {"type": "array", "items": {"$ref": "#/$defs/id"}},
        "block": {"$ref": "#/$defs/block"},
        "blocks": {"type": "array", "items": {"$ref": "#/$defs/block"}},
        "complete_message": {"$ref": "#/$defs/complete_message"},
        "messages": {"type": "array", "items": {"$ref": "#/$defs/message"}},
        "turns": {"type": "array", "items": {"$ref": "#/$defs/turn"}},
        "tool_changes": {"$ref": "#/$defs/tool_changes"},
        "request": {"$ref": "#/$defs/request"},
        **{kind: {"enum": list(values)} for kind, values in ENUMS.items()},
    }
)

_ANY_JSON: Final[_Schema] = {
    "propertyNames": _KEY,
    "additionalProperties": {"$ref": "#/$defs/json"},
    "items": {"$ref": "#/$defs/json"},
}


def _record(fields: Mapping[str, Field], **overrides: Json) -> _Schema:
    """Return the schema of an open object with these members."""
    properties: dict[str, Json] = {name: _KINDS[field.kind] for name, field in fields.items()}
    properties.update(overrides)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, field in fields.items() if field.required],
        "propertyNames": _KEY,
        "additionalProperties": {"$ref": "#/$defs/json"},
    }


def _either(base: _Schema, prefix: str, types: Mapping[str, object]) -> _Schema:
    """Return the schema of records that ``type`` tells apart, unknown types being ``base``."""
    return {
        **base,
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}},
                "then": {"$ref": f"#/$defs/{prefix}{_file_name(name)}"},
            }
            for name in types
        ],
    }


def _file_name(event_type: str) -> str:
    return event_type.replace(".", "_")


def _type_schema(unknown_to: Mapping[str, object] | None = None) -> _Schema:
    schema: _Schema = {"allOf": [{"$ref": "#/$defs/id"}, {"pattern": "^[^A-Z]*" + _END}]}
    if unknown_to is not None:
        schema["not"] = {"enum": [*unknown_to]}
    return schema


def _block_definitions() -> dict[str, _Schema]:
    definitions = {
        f"block_{name}": _record({**COMMON_BLOCK_FIELDS, **fields}, type={"const": name})
        for name, fields in BLOCK_FIELDS.items()
    }
    definitions["block_unknown"] = _record(COMMON_BLOCK_FIELDS, type=_type_schema(BLOCK_FIELDS))
    base = _record(COMMON_BLOCK_FIELDS, type=_type_schema())
    definitions["block"] = _either(base, "block_", BLOCK_FIELDS)
    return definitions


def _message_definitions() -> dict[str, _Schema]:
    changes = _record(TOOL_CHANGES)
    changes["additionalProperties"] = False
    terminal: _Schema = {"enum": [*sorted(TERMINAL_STATUSES)]}
    return {
        "message": _record(MESSAGE_FIELDS),
        "complete_message": _record(MESSAGE_FIELDS, status=terminal),
        "request": _record(REQUEST_FIELDS),
        "tool_changes": changes,
        "turn": _record(TURN_FIELDS),
    }


# What the decoder demands beyond the kinds of the members.
_EVENT_OVERRIDES: Final[Mapping[str, _Schema]] = MappingProxyType(
    {
        "turn.started": {name: _KINDS[field.kind] for name, field in STARTED_EXTRAS.items()},
        "content.block.completed": {"block": {"$ref": "#/$defs/block_tool"}},
        # A terminal event never repeats the answer.
        **{
            name: {"status": {"const": status}, "content": False}
            for name, status in TURN_ENDS.items()
        },
    }
)


def _event_definitions() -> dict[str, _Schema]:
    envelope = {"type": Field("id", required=True), **STAMP_FIELDS}
    definitions = {
        f"event_{_file_name(name)}": _record(
            {**envelope, **fields}, type={"const": name}, **_EVENT_OVERRIDES.get(name, {})
        )
        for name, fields in EVENT_FIELDS.items()
    }
    definitions["event_unknown"] = _record(envelope, type=_type_schema(EVENT_FIELDS))
    base = _record(envelope, type=_type_schema())
    definitions["event"] = _either(base, "event_", EVENT_FIELDS)
    return definitions


def content_schemas() -> dict[str, _Schema]:
    """Return the published schemas by name.

    ``message`` and ``complete_message``, ``block``, ``block_TYPE`` and ``block_unknown``,
    ``event``, ``event_TYPE`` (with ``_`` for dots) and ``event_unknown``, ``request`` (of a
    suspended turn), ``turn`` (of a snapshot), ``tool_changes``.
    """
    definitions = {**_message_definitions(), **_block_definitions(), **_event_definitions()}
    shared: dict[str, _Schema] = {"json": _ANY_JSON, "id": _KINDS["id"], **definitions}
    return {
        name: {
            "$schema": SCHEMA_DIALECT,
            "$id": f"urn:blockwire:content:{name}",
            "title": name.replace("_", " "),
            **definition,
            "$defs": cast("Json", {used: shared[used] for used in _used(definition, shared)}),
        }
        for name, definition in sorted(definitions.items())
    }


def _used(schema: Json, shared: Mapping[str, _Schema]) -> list[str]:
    """Return the names of the definitions that ``schema`` refers to, directly or not, sorted."""
    found: set[str] = set()
    pending: list[Json] = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item
        elif isinstance(item, dict):
            pending += item.values()
            name = str(item.get("$ref", "")).removeprefix("#/$defs/")
            if name in shared and name not in found:
                found.add(name)
                pending.append(shared[name])
    return sorted(found)
