"""JSON Schemas (2020-12) of texts, spans, lines and fragments, from the types that read them.

Spec: docs/spec/terminal/content-types.md. They refer to nothing outside, so they fit anywhere.
"""

from __future__ import annotations

from typing import get_args

from blockwire.jsontext import Json
from blockwire.terminal.content import (
    HEX_COLOUR_PATTERN,
    PALETTE_NAMES,
    Align,
    Attribute,
    Wrap,
)


def text_schema(*, min_length: int = 0) -> Json:
    """Return the schema of a Text of at least so many scalars."""
    return {"type": "string", "minLength": min_length} if min_length else {"type": "string"}


def span_list_schema(*, min_items: int = 0) -> Json:
    """Return the schema of a SpanList of at least so many spans."""
    return _list_of(_span(), min_items)


def line_list_schema(*, min_items: int = 0) -> Json:
    """Return the schema of a LineList of at least so many lines."""
    return _list_of(_line(), min_items)


def fragment_schema(*, is_empty_allowed: bool) -> Json:
    """Return the schema of a fragment, or of a replacement, which may be empty."""
    least = 0 if is_empty_allowed else 1
    return {
        "anyOf": [
            text_schema(min_length=least),
            span_list_schema(min_items=least),
            line_list_schema(min_items=least),
        ]
    }


def _list_of(items: Json, min_items: int = 0) -> Json:
    return {"type": "array", "items": items, **({"minItems": min_items} if min_items else {})}


def _closed(properties: dict[str, Json], *required: str) -> Json:
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


def _words(literal: object) -> Json:
    return {"enum": list(get_args(literal))}


def _colour() -> Json:
    # The bound, since `$` lets a break follow in some dialects of patterns.
    hexadecimal: Json = {"type": "string", "maxLength": 7, "pattern": f"^{HEX_COLOUR_PATTERN}$"}
    return {"anyOf": [hexadecimal, {"enum": list(PALETTE_NAMES)}]}


def _style() -> Json:
    return _closed(
        {
            "foreground": _colour(),
            "background": _colour(),
            "attributes": {"type": "array", "items": _words(Attribute), "uniqueItems": True},
            "link": text_schema(),
        }
    )


def _span() -> Json:
    return _closed({"text": text_schema(), "style": _style()}, "text")


def _layout() -> Json:
    return _closed(
        {
            "wrap": _words(Wrap),
            "align": _words(Align),
            "first_prefix": _list_of(_span()),
            "rest_prefix": _list_of(_span()),
            "fill": _style(),
        }
    )


def _line() -> Json:
    return _closed({"spans": _list_of(_span()), "layout": _layout()}, "spans")
