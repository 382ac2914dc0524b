"""Which texts of a message can be found by a search: the visible ones.

Spec: docs/spec/gateway/search.md, "What is searched". Everything goes through the one function that
decides who may see what, as the public view does: an index that holds nothing private can tell nothing
private, whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, cast

from blockwire.content.visibility import visible_block
from blockwire.content.vocabulary import OWNER_ROLES, Block, Message
from blockwire.jsontext import Json, encode_json

__all__ = [
    "SEARCHED_BLOCKS_MAX",
    "SEARCHED_CHARS_MAX",
    "block_parts",
    "searchable_block",
    "searchable_blocks",
]

SEARCHED_BLOCKS_MAX: Final = 4096
"""Blocks of a message that are searched: the first ones."""

SEARCHED_CHARS_MAX: Final = 65_536
"""Scalars of a block that are searched: the first ones of its parts together."""


def searchable_blocks(message: Message) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of ``message`` that a search may find, each with its place in the owner's."""
    for index in range(len(cast("list[Block]", message["content"]))):
        block = searchable_block(message, index)
        if block is not None:
            yield index, block


def searchable_block(message: Message, index: int) -> Block | None:
    """Return what a search may show of the block at ``index``, or None for nothing."""
    blocks = cast("list[Block]", message["content"])
    if message["role"] in OWNER_ROLES or index >= min(len(blocks), SEARCHED_BLOCKS_MAX):
        return None
    return visible_block("public", blocks[index])


def _members(*names: str) -> Callable[[Block], list[str]]:
    def parts(block: Block) -> list[str]:
        return [text for name in names if isinstance(text := block.get(name), str) and text]

    return parts


def _tool(block: Block) -> list[str]:
    values = (block.get(name) for name in ("input", "output", "error"))
    texts = [cast("str", block["tool"]), *(_flat(value) for value in values if value is not None)]
    return [text for text in texts if text]


def _flat(value: Json) -> str:
    """Return the texts in ``value``, names of members included, a line each, as far as needed."""
    lines: list[str] = []
    room_chars = SEARCHED_CHARS_MAX
    waiting: list[tuple[str, Json]] = [("", value)]
    while waiting and room_chars > 0:
        name, item = waiting.pop()
        if isinstance(item, dict):
            waiting += reversed(item.items())
            line = name
        elif isinstance(item, list):
            waiting += [("", element) for element in reversed(item)]
            line = name
        else:
            # An output may be some hundred times as long as what is searched of it.
            text = item[:room_chars] if isinstance(item, str) else encode_json(item).decode()
            line = f"{name}: {text}" if name else text
        if line:
            lines.append(line)
            room_chars -= len(line) + 1
    return "\n".join(lines)


_PARTS: Final[Mapping[str, Callable[[Block], list[str]]]] = MappingProxyType(
    {
        "prose": _members("markdown"),
        "code": _members("text"),
        "reasoning": _members("text"),
        "speech": _members("text"),
        "error": _members("message", "code"),
        "notice": _members("message", "code"),
        "attachment": _members("name"),
        "tool": _tool,
    }
)
_UNKNOWN: Final = _members("fallback_text")


def block_parts(block: Block) -> list[str]:
    """Return the texts by which ``block`` is found; no phrase reaches from one into the next."""
    parts: list[str] = []
    room_chars = SEARCHED_CHARS_MAX
    for part in _PARTS.get(cast("str", block["type"]), _UNKNOWN)(block):
        if room_chars <= 0:
            break
        parts.append(part[:room_chars])
        room_chars -= len(part)
    return parts
