"""JSON Schemas (2020-12) of the messages, generated from the types that the decoder uses.

Spec: docs/spec/terminal/messages.md, "Schemas".

What the types say comes from msgspec; what :mod:`blockwire.terminal.rules` and the versions add is
laid over it here. What JSON Schema cannot say is listed in :data:`SCHEMA_EXCEPTIONS`; but for
those, a value is accepted by its schema if and only if it is accepted by the decoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

import msgspec

from blockwire.jsontext import Json
from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.messages import MESSAGE_TYPES
from blockwire.terminal.types import CONTENT_TYPES, fragment_schema
from blockwire.terminal.vocabulary import PLAIN, WIRE_KINDS

__all__ = ["SCHEMA_EXCEPTIONS", "message_schemas"]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = "#/$defs/"

SCHEMA_EXCEPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "duplicate_name": "An object names a member once.",
        "lone_surrogate": "Text holds Unicode scalar values only.",
        "depth": "Arrays and objects nest at most 64 deep, the message being 1.",
        "number_range": "Numbers are finite binary64, integers have at most 4300 digits.",
        "integer_spelling": "1.0 is no integer.",
    }
)
"""What a schema accepts and the decoder refuses: class -> the rule, in one sentence."""

_Schema = dict[str, Json]


def message_schemas() -> dict[str, Json]:
    """Return the schemas by name: ``terminal_message``, and one a kind with ``_`` for each dot."""
    definitions = _definitions()
    names = {kind: cls.__name__ for kind, cls in zip(WIRE_KINDS, MESSAGE_TYPES, strict=True)}
    schemas: _Schema = {
        _name(kind): _document(kind, {**definitions[cls]}, definitions)
        for kind, cls in names.items()
    }
    any_of: _Schema = {"oneOf": [{"$ref": _REFERENCE + cls} for cls in names.values()]}
    schemas["terminal_message"] = _document("message", any_of, definitions)
    return schemas


def _name(kind: str) -> str:
    return "terminal_" + kind.replace(".", "_")


def _document(kind: str, schema: _Schema, definitions: Mapping[str, _Schema]) -> _Schema:
    return {
        "$schema": _DIALECT,
        "$id": f"urn:blockwire:terminal:{kind}",
        **schema,
        "title": kind,
        "$defs": {name: definitions[name] for name in _used(schema, definitions)},
    }


def _definitions() -> dict[str, _Schema]:
    """Return the schemas of all messages and of what is in them, by the name of the type."""
    _, components = msgspec.json.schema_components(
        MESSAGE_TYPES, ref_template=_REFERENCE + "{name}"
    )
    definitions = {name: cast("_Schema", _plain(it)) for name, it in components.items()}
    for cls in MESSAGE_TYPES:
        # A query is understood in any version.
        if cls.__name__ != "CapabilityQuery":
            _member(definitions[cls.__name__], "version", const=PROTOCOL_VERSION)
    listed = cast("_Schema", _properties(definitions["Supported"])["optional_content_types"])
    listed["uniqueItems"] = True
    listed["items"] = {**cast("_Schema", listed["items"]), "not": {"const": PLAIN}}
    _properties(definitions["ExtendBody"])["fragment"] = fragment_schema(is_empty_allowed=False)
    _properties(definitions["ReplaceSuffixBody"])["replacement"] = fragment_schema(
        is_empty_allowed=True
    )
    definitions["ContentSnapshot"]["allOf"] = [
        {
            "if": {"properties": {"type": {"const": name}}},
            "then": {"properties": {"data": content_type.schema()}},
        }
        for name, content_type in CONTENT_TYPES.items()
    ]
    definitions["ContextOpenResponse"] |= {
        "if": {"properties": {"body": {"properties": {"outcome": {"const": "opened"}}}}},
        "then": {"required": ["context_id"]},
        "else": {"properties": {"context_id": False}},
    }
    return definitions


def _properties(schema: _Schema) -> _Schema:
    return cast("_Schema", schema["properties"])


def _member(schema: _Schema, name: str, **keywords: Json) -> None:
    properties = _properties(schema)
    properties[name] = {**cast("_Schema", properties[name]), **keywords}


def _plain(schema: Json) -> Json:
    """Return a schema of msgspec without what belongs to OpenAPI and to our own reference."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _plain(value) for name, value in schema.items() if name != "discriminator"}
    if isinstance(kept.get("title"), str):
        kept["description"] = str(kept["description"]).partition("\n")[0].replace("``", "`")
    return kept


def _used(schema: Json, definitions: Mapping[str, _Schema]) -> list[str]:
    """Return the names of the definitions that ``schema`` refers to, directly or not, sorted."""
    found: set[str] = set()
    pending: list[Json] = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item
        elif isinstance(item, dict):
            pending += item.values()
            name = str(item.get("$ref", "")).removeprefix(_REFERENCE)
            if name in definitions and name not in found:
                found.add(name)
                pending.append(definitions[name])
    return sorted(found)
