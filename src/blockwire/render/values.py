"""What tools were given and gave, as documents show it.

Spec: docs/spec/rendering/documents.md.
"""

from __future__ import annotations

from typing import Final

import msgspec

from blockwire.content import Block
from blockwire.jsontext import Json, encode_json
from blockwire.render.plain import bounded_text

__all__ = ["DOCUMENT_VALUE_CHARS_MAX", "VALUE_PARTS", "has_value", "value_text_of"]

DOCUMENT_VALUE_CHARS_MAX: Final = 10_000
"""Longest rendering of a tool's input, output or error in Markdown and HTML."""

VALUE_PARTS: Final = (("input", "Input"), ("output", "Output"), ("error", "Error"))
"""The members of a tool that are shown, with what they are called."""


def has_value(block: Block, member: str) -> bool:
    """Return whether there is something to show; an empty input says nothing."""
    value = block.get(member)
    return value is not None and (member != "input" or value not in ({}, ""))


def value_text_of(value: Json) -> tuple[str, str]:
    """Return a tool's value as bounded text for people, and the language that it is in."""
    if isinstance(value, str):
        return bounded_text(value, DOCUMENT_VALUE_CHARS_MAX), ""
    text = msgspec.json.format(encode_json(value), indent=2).decode()
    return bounded_text(text, DOCUMENT_VALUE_CHARS_MAX), "json"
