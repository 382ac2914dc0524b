"""Blocks to plain text: what goes into pipes, clipboards and text exports.

Spec: docs/spec/rendering/text.md. A projection: it derives from blocks and is never written back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content import Block, Message
from blockwire.content.answers import request_options
from blockwire.jsontext import Json, encode_json

__all__ = [
    "BLOCK_GAP",
    "VALUE_CHARS_MAX",
    "block_text",
    "bounded_text",
    "is_in_text",
    "message_text",
    "request_text",
    "value_text",
]

BLOCK_GAP: Final = "\n\n"
"""What parts the texts of two blocks."""

VALUE_CHARS_MAX: Final = 2000
"""Longest rendering of a tool's input, output or error in text."""


def value_text(value: Json, *, chars_max: int = VALUE_CHARS_MAX) -> str:
    """Return a tool's value as text: a string as it is, anything else as JSON, bounded."""
    return bounded_text(value if isinstance(value, str) else encode_json(value).decode(), chars_max)


def bounded_text(text: str, chars_max: int) -> str:
    """Return ``text``, or its first ``chars_max`` characters and how many are missing."""
    if len(text) <= chars_max:
        return text
    return f"{text[:chars_max]}\u2026 ({len(text) - chars_max} more characters)"


def _text_of(member: str) -> Callable[[Block], str]:
    return lambda block: cast("str", block[member])


def _tool(block: Block) -> str:
    lines = [f"{block['tool']} ({block['status']})"]
    lines += [
        f"{member}: {value_text(block[member])}"
        for member in ("input", "output", "error")
        if block.get(member) is not None
    ]
    return "\n".join(lines)


def _attachment(block: Block) -> str:
    return f"{block['name']} ({block['media_type']})"


def _unknown(block: Block) -> str:
    fallback = block.get("fallback_text")
    name = f"[{block['type']}]"
    return f"{name} {fallback}" if isinstance(fallback, str) and fallback else name


_TEXTS: Final[Mapping[str, Callable[[Block], str]]] = MappingProxyType(
    {
        "prose": _text_of("markdown"),
        "code": _text_of("text"),
        "reasoning": _text_of("text"),
        "speech": _text_of("text"),
        "error": _text_of("message"),
        "notice": _text_of("message"),
        "tool": _tool,
        "attachment": _attachment,
    }
)


def block_text(block: Block) -> str:
    """Return one block as text. The text is raw: writing it to a terminal needs ``clean``."""
    return _TEXTS.get(cast("str", block["type"]), _unknown)(block)


def request_text(request: Mapping[str, Json]) -> str:
    """Return what a suspended turn asks: the prompt, then the options it offers, one a line."""
    lines = [cast("str", request["prompt"])]
    lines += [
        f"{number}. {value_text(option)}"
        for number, option in enumerate(request_options(request), 1)
    ]
    return "\n".join(lines)


def is_in_text(block_type: str, *, with_reasoning: bool) -> bool:
    """Return whether blocks of this type are part of a message's text."""
    return with_reasoning or block_type != "reasoning"


def message_text(message: Message, *, with_reasoning: bool = False) -> str:
    """Return the blocks of ``message`` as text, a blank line between them."""
    texts = [
        block_text(block)
        for block in cast("Iterable[Block]", message["content"])
        if is_in_text(cast("str", block["type"]), with_reasoning=with_reasoning)
    ]
    return BLOCK_GAP.join(text for text in texts if text)
