"""What msgspec refused, in our words.

Spec: docs/spec/terminal/messages.md, "Refusals". Its own sentences may quote what came, which
belongs into no log.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from blockwire.jsontext import pointer
from blockwire.terminal import content, messages

__all__ = ["schema_fault"]

# How its sentences begin -> ours.
_SENTENCES: Final[tuple[tuple[str, str], ...]] = (
    ("Object missing required", "a member is missing"),
    ("Object contains unknown", "a member is not known here"),
    ("Invalid ", "none of the allowed values"),
    ("Expected `str` of length", "an empty string"),
    ("Expected `int` ", "an integer out of bounds"),
    ("", "of another type"),
)
_PLACE: Final = re.compile(r" - at `\$([^`]*)`\Z")
_STEP: Final = re.compile(r"\.(\w+)|\[([0-9]+)\]")

_NAMES: Final = frozenset(
    name
    for module in (messages, content)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, msgspec.Struct)
    for name in (*cls.__struct_fields__, cls.__struct_config__.tag_field)
)
"""A place is made of these. A name that a peer made up can look like the end of a sentence."""


def schema_fault(error: msgspec.ValidationError) -> tuple[str, str]:
    """Return a sentence that quotes nothing, and the JSON Pointer of the place."""
    told = str(error)
    place = _PLACE.search(told)
    steps = _STEP.findall(place[1]) if place else ()
    sentence = next(ours for beginning, ours in _SENTENCES if told.startswith(beginning))
    return sentence, pointer(name or index for name, index in steps if index or name in _NAMES)
