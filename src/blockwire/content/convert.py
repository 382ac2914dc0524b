"""Values from other formats, converted at the door without loss.

Spec: docs/spec/content/keys.md, "Doors that convert".

``convert_record`` is for bodies that are to become messages, blocks or events; ``tool_value`` and
``tool_source`` are for the arguments and results of tools, to a block and back to the provider.
Whatever conversion changed stays beside the result as its exact source text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from blockwire.content.keys import (
    SOURCE_MEMBERS,
    ConvertedValue,
    convert_key,
    convert_keys,
    is_key,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json, encode_json

__all__ = ["RECORD_SOURCE", "convert_record", "source_member", "tool_source", "tool_value"]

RECORD_SOURCE: Final = "source_json"
"""Member with the exact source text of a block, message or event whose own keys had to change."""

# Members that hold a record or an array of records, which keep their own source texts.
_RECORD_MEMBERS: Final = frozenset({"block", "content", "message", "messages", "request"})

# How an object keeps what changed. A block or message has twins of its members, and its own source
# if one of its own keys changed; an event has its own source only if a member would be lost
# otherwise (``turnId`` for ``turn_id`` says nothing more); the changes of an update have twins
# only, since nothing else may stand there; the envelope of a request keeps nothing.
_Holder = Literal["record", "event", "changes", "envelope"]

_raw_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_raw_items: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


def source_member(name: str) -> str:
    """Return the name of the member that keeps the exact source text of member ``name``."""
    return SOURCE_MEMBERS.get(name, f"{name}_json")


def convert_record(data: bytes) -> Json:
    """Return the value of one JSON text with keys that obey the rule at every depth.

    Blocks, messages and events keep what changed: a converted member its exact source slice
    (``input_json`` beside ``input``), a record whose own keys changed its whole one
    (``source_json``). An own key of a record that cannot be converted, or would collide, is found
    there alone, so that one odd member does not cost the record its type. A value that is none of
    them (the envelope of a request) is converted and keeps nothing.

    Takes time linear in the length of ``data``.

    Raises:
        RemoteProtocolError: The codes of :func:`~blockwire.jsontext.decode_json`.
    """
    value = decode_json(data)
    converted = convert_keys(value)
    if not converted.changed:
        return value
    return _convert_item(data, value, is_record=False)


def _convert_item(source: bytes, value: Json, *, is_record: bool) -> Json:
    if isinstance(value, list):
        pairs = zip(_raw_items(source), value, strict=True)
        return [_convert_item(bytes(raw), item, is_record=is_record) for raw, item in pairs]
    if isinstance(value, dict):
        return _convert_object(source, value, "record" if is_record else _holder_of(value))
    return value


def _holder_of(value: Mapping[str, Json]) -> _Holder:
    """Return what an object at the root is; a block has an ``id`` and an event has none."""
    names = {convert_key(name) for name in value}
    if "type" in names:
        return "record" if "id" in names else "event"
    return "record" if {"role", "content"} <= names else "envelope"


def _convert_object(source: bytes, value: dict[str, Json], holder: _Holder) -> Json:
    names = _own_names(value)
    is_lossy = None in names.values()
    if is_lossy and holder in {"changes", "envelope"}:
        return convert_keys(value).value
    members: dict[str, Json] = {}
    twins: dict[str, Json] = {}
    raws = _raw_members(source)
    for old, name in names.items():
        if name is not None:
            raw = bytes(raws[old])
            members[name], changed = _convert_member(raw, name, value[old])
            if changed:
                twins[source_member(name)] = raw.decode()
    if holder == "envelope":
        return members
    is_changed = holder == "record" and (
        any(old != name for old, name in names.items()) or not twins.keys().isdisjoint(members)
    )
    if is_lossy or is_changed:
        twins[RECORD_SOURCE] = source.decode()
    return {**members, **twins}


def _convert_member(source: bytes, name: str, value: Json) -> ConvertedValue:
    """Return a member, and whether its source text has to be kept beside it."""
    if name in _RECORD_MEMBERS and isinstance(value, dict | list):
        return ConvertedValue(_convert_item(source, value, is_record=True), changed=False)
    if name == "set" and isinstance(value, dict):
        return ConvertedValue(_convert_object(source, value, "changes"), changed=False)
    return convert_keys(value)


def _own_names(value: Mapping[str, Json]) -> dict[str, str | None]:
    """Return the new name of each member, None where there is none that no other member has."""
    taken = {name for name in value if is_key(name)}
    names: dict[str, str | None] = {}
    for old in value:
        name: str | None = old
        if not is_key(old):
            name = convert_key(old)
            if name in taken or not is_key(name):
                name = None
            else:
                taken.add(name)
        names[old] = name
    return names


def tool_value(source: bytes | str, name: str = "input") -> dict[str, Json]:
    """Return the members with which a tool block holds a value that came as JSON text.

    ``{name: value}``, with the exact text beside it (``input_json``) where conversion changed a
    key, and where the value is itself a string, so that a string alone always means free text.
    What is no JSON that we accept (cut, duplicate names, too deep) stays the string that it is;
    a blank text is what some providers write for no arguments, and becomes ``{}`` as an input.

    Args:
        source: What the provider sent; bytes that are not UTF-8 are replaced by U+FFFD.
        name: ``input``, ``output`` or ``error``.
    """
    text = source.decode(errors="replace") if isinstance(source, bytes) else _scalar_text(source)
    if not text.strip():
        return {name: {} if name == "input" else text}
    try:
        converted = convert_keys(decode_json(text.encode()))
    except RemoteProtocolError:
        return {name: text}
    if converted.changed or isinstance(converted.value, str):
        return {name: converted.value, source_member(name): text.strip(" \t\r\n")}
    return {name: converted.value}


def tool_source(block: Mapping[str, Json], name: str = "input") -> str:
    """Return the text to send back to a provider for a value made by :func:`tool_value`.

    The exact source where it was kept, a string as it is, else the JSON text of the value;
    ``"{}"`` for an input that is not there.
    """
    kept = block.get(source_member(name))
    if isinstance(kept, str):
        return kept
    value = block.get(name, {} if name == "input" else "")
    return value if isinstance(value, str) else encode_json(value).decode()


def _scalar_text(text: str) -> str:
    """Return ``text`` with surrogate pairs joined and lone surrogates replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
