"""Which parts of an event are diagnostics, and pass the redactor before anybody keeps them.

Spec: docs/spec/content/redaction.md. Messages of errors and notices, and what tools report as
their error; the answer itself is nobody's to change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

import msgspec

from blockwire.content.events import BlockCompleted, BlockStarted, BlockUpdated, StreamEvent
from blockwire.content.vocabulary import EXPLAINING_TYPES, Block, Message
from blockwire.jsontext import Json

__all__ = ["redact_event", "redact_message"]

_TOOL_MEMBERS: Final = frozenset({"error", "error_json"})


def redact_event(event: StreamEvent, redact: Callable[[str], str]) -> StreamEvent:
    """Return ``event`` with its diagnostics redacted; the same object where it has none."""
    match event:
        case BlockStarted(block=block):
            return msgspec.structs.replace(event, block=_redacted_block(block, redact))
        case BlockCompleted(block=block) if block is not None:
            return msgspec.structs.replace(event, block=_redacted_block(block, redact))
        case BlockUpdated(set=changes) if not changes.keys().isdisjoint(_TOOL_MEMBERS):
            return msgspec.structs.replace(event, set=_redacted_tool(changes, redact))
        case _:
            return event


def redact_message(message: Message, redact: Callable[[str], str]) -> Message:
    """Return a message that enters complete, with the diagnostics of its blocks redacted.

    A message that we gave out comes back equal: what is redacted once is not redacted again.
    """
    blocks = cast("list[Block]", message["content"])
    redacted: list[Json] = [_redacted_block(block, redact) for block in blocks]
    return {**message, "content": redacted}


def _redacted_block(block: Block, redact: Callable[[str], str]) -> Block:
    if block["type"] in EXPLAINING_TYPES:
        return {**block, "message": redact(cast("str", block["message"]))}
    if block["type"] == "tool":
        return _redacted_tool(block, redact)
    return block


def _redacted_tool(members: Mapping[str, Json], redact: Callable[[str], str]) -> dict[str, Json]:
    return {
        name: _redacted_value(value, redact) if name in _TOOL_MEMBERS else value
        for name, value in members.items()
    }


def _redacted_value(value: Json, redact: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted_value(item, redact) for item in value]
    if isinstance(value, dict):
        return {name: _redacted_value(item, redact) for name, item in value.items()}
    return value
