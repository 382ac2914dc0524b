"""Members of provider objects, read without trust: a member of the wrong kind is not there.

Spec: docs/spec/providers.md, "What is not understood".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blockwire.content import NAME_CHARS_MAX, convert_keys
from blockwire.content.fields import CONTROLS
from blockwire.errors import BlockwireError
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, check_json_value, encode_json

__all__ = [
    "VALUE_DEPTH_MAX",
    "add_counts",
    "clean_name",
    "count_of",
    "is_shallow",
    "opaque",
    "record_of",
    "records_of",
    "text_of",
]

# Levels of a value in a block: a snapshot, its messages, a message, its content and the block are
# above it, and the whole must not nest deeper than 64 (docs/spec/content/model.md).
VALUE_DEPTH_MAX: Final = 56

_NO_MEMBERS: Final[dict[str, Json]] = {}


def text_of(record: Mapping[str, Json], name: str) -> str:
    """Return the string member, else the empty string."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def record_of(record: Mapping[str, Json], name: str) -> dict[str, Json]:
    """Return the object member, else an empty object."""
    value = record.get(name)
    return value if isinstance(value, dict) else _NO_MEMBERS


def records_of(record: Mapping[str, Json], name: str) -> list[tuple[int, dict[str, Json]]]:
    """Return the objects in the array member, each with its index there."""
    value = record.get(name)
    if not isinstance(value, list):
        return []
    return [(index, item) for index, item in enumerate(value) if isinstance(item, dict)]


def count_of(record: Mapping[str, Json], name: str) -> int | None:
    """Return the member if it is an integer from 0 to 2^53-1, else None."""
    value = record.get(name)
    return value if type(value) is int and 0 <= value <= SAFE_INTEGER_MAX else None


def add_counts(
    usage: dict[str, Json],
    counts: Mapping[str, Json],
    names: Mapping[str, str | tuple[str, str]],
) -> None:
    """Take over token counts under our names, leaving those that are not given.

    Args:
        usage: Ours; changed in place.
        counts: The provider's.
        names: Our name -> the provider's, or its object and the name there.
    """
    for ours, theirs in names.items():
        if isinstance(theirs, str):
            count = count_of(counts, theirs)
        else:
            count = count_of(record_of(counts, theirs[0]), theirs[1])
        if count is not None:
            usage[ours] = count


def clean_name(name: str) -> str:
    """Return ``name`` as people may see it: U+FFFD for controls, cut at 256 characters."""
    return CONTROLS.sub("\N{REPLACEMENT CHARACTER}", name[:NAME_CHARS_MAX])


def is_shallow(value: Json) -> bool:
    """Return whether a block may hold ``value``: no deeper than :data:`VALUE_DEPTH_MAX`."""
    try:
        check_json_value(value, depth_max=VALUE_DEPTH_MAX)
    except BlockwireError:
        return False
    return True


def opaque(value: Json) -> Json:
    """Return ``value`` if a block may hold it as it is, else its JSON text.

    Blocks hold no keys that break our rule, and nothing too deep; what is opaque goes back to the
    provider as it came, so it is not converted.
    """
    try:
        is_kept = is_shallow(value) and not convert_keys(value).changed
    except BlockwireError:
        is_kept = False
    return value if is_kept else encode_json(value).decode()
