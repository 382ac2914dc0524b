"""The key rule at both kinds of doors: refuse, or convert without loss.

Spec: docs/spec/content/keys.md.

Doors that speak our format refuse a key that breaks the rule; doors that import other formats
convert it. Conversion is lossless because whoever converts keeps the exact source text beside
the converted value (``input_json`` beside ``input``, and so on).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import DEPTH_MAX, Json, pointer

__all__ = [
    "KEY",
    "SOURCE_MEMBERS",
    "ConvertedValue",
    "check_keys",
    "convert_key",
    "convert_keys",
    "is_key",
]

KEY: Final = re.compile(r"[a-z_][a-z0-9_]*\Z")

# member -> the member that keeps its exact source text when conversion changed something
SOURCE_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "input": "input_json",
        "output": "output_json",
        "error": "error_json",
        "metadata": "metadata_json",
    }
)

_SEPARATORS: Final = re.compile(r"[-. \t]")
_LOWER_UPPER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LAST_CAPITAL_OF_RUN: Final = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])")


class ConvertedValue(NamedTuple):
    """A value whose keys obey the rule, and whether anything had to change for that."""

    value: Json
    changed: bool


def is_key(name: str) -> bool:
    """Return whether ``name`` may be a key of a message, block or event."""
    return KEY.match(name) is not None


def check_keys(value: Json) -> None:
    """Check the keys of ``value`` at every depth.

    Raises:
        RemoteProtocolError: ``invalid_key``; ``pointer`` names the first bad key in document order.
    """
    bad = _first_bad_key(value)
    if bad is not None:
        raise RemoteProtocolError(
            "invalid_key",
            "keys match ^[a-z_][a-z0-9_]*$; ask for conversion with ?keys=convert",
            pointer=pointer(bad),
        )


def _first_bad_key(value: Json) -> list[str | int] | None:
    """Return the path of the first bad key in document order, walking without recursion."""
    stack: list[tuple[Json, tuple[str | int, ...]]] = [(value, ())]
    match = KEY.match
    while stack:
        item, path = stack.pop()
        if isinstance(item, dict):
            children: list[tuple[Json, tuple[str | int, ...]]] = []
            for name, child in item.items():
                if match(name) is None:
                    # An earlier sibling may still hide a bad key of its own: those come first.
                    earlier = _first_bad_of(children)
                    return earlier if earlier is not None else [*path, name]
                if isinstance(child, dict | list):
                    children.append((child, (*path, name)))
            stack.extend(reversed(children))
        elif isinstance(item, list):
            stack.extend(
                (child, (*path, index))
                for index, child in reversed(list(enumerate(item)))
                if isinstance(child, dict | list)
            )
    return None


def _first_bad_of(
    children: list[tuple[Json, tuple[str | int, ...]]],
) -> list[str | int] | None:
    for child, path in children:
        inner = _first_bad_key(child)
        if inner is not None:
            return [*path, *inner]
    return None


def convert_key(name: str) -> str:
    """Return ``name`` in snake_case; the result may still break the rule (``"1st"``, ``"é"``)."""
    spaced = _SEPARATORS.sub("_", name)
    spaced = _LAST_CAPITAL_OF_RUN.sub("_", _LOWER_UPPER.sub("_", spaced))
    return "".join(c.lower() if "A" <= c <= "Z" else c for c in spaced)


def convert_keys(value: Json) -> ConvertedValue:
    """Return ``value`` with keys that obey the rule at every depth.

    An object with a key that cannot be converted, or with two that would collide, becomes
    ``{"entries": [{"key": ..., "value": ...}]}`` with its original keys as data.

    Args:
        value: At most :data:`~blockwire.jsontext.DEPTH_MAX` deep.

    Raises:
        RemoteProtocolError: ``nesting_too_deep`` when ``entries`` push the result over the bound.
    """
    return _convert(value, 1)


def _convert(value: Json, depth: int) -> ConvertedValue:
    if isinstance(value, list):
        _check_depth(depth)
        items = [_convert(item, depth + 1) for item in value]
        return ConvertedValue([item.value for item in items], any(item.changed for item in items))
    if not isinstance(value, dict):
        return ConvertedValue(value, changed=False)
    _check_depth(depth)
    names = [convert_key(name) for name in value]
    if len(set(names)) == len(names) and all(map(is_key, names)):
        members = [_convert(item, depth + 1) for item in value.values()]
        changed = names != list(value) or any(member.changed for member in members)
        return ConvertedValue(
            {name: member.value for name, member in zip(names, members, strict=True)}, changed
        )
    _check_depth(depth + 2)
    entries: list[Json] = [
        {"key": name, "value": _convert(item, depth + 3).value} for name, item in value.items()
    ]
    return ConvertedValue({"entries": entries}, changed=True)


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise RemoteProtocolError(
            "nesting_too_deep", f"a converted value nests deeper than {DEPTH_MAX}"
        )
