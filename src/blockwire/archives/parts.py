"""Parts of messages as Anthropic's API has them, in the data export and in the sessions of Claude Code.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blockwire.archives.drafting import MessageDraft
from blockwire.archives.values import iso_ms, rest_of, tool_members
from blockwire.content import Block
from blockwire.jsontext import Json
from blockwire.providers.members import opaque, record_of, text_of

__all__ = ["Calls", "add_part", "plain_text"]

_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})

Record = Mapping[str, Json]


class Calls:
    """Calls of tools that wait for their results."""

    def __init__(self) -> None:
        self._by_id: dict[str, Block] = {}
        self._last: Block | None = None

    def add(self, call_id: Json, block: Block) -> None:
        """Remember a call."""
        if isinstance(call_id, str) and call_id:
            self._by_id[call_id] = block
        self._last = block

    def take(self, call_id: Json, name: Json) -> Block | None:
        """Return the call that a result answers, once: by id, or the last one by its name."""
        if isinstance(call_id, str) and call_id:
            return self._by_id.pop(call_id, None)
        last, self._last = self._last, None
        return last if last is not None and last["tool"] == name else None


def add_part(message: MessageDraft, part: Json, calls: Calls, place: str) -> None:
    """Add one part of a message."""
    if not isinstance(part, dict):
        message.unknown("part", part, place)
        return
    kind = text_of(part, "type")
    match kind:
        case "text" | "voice_note" if isinstance(part.get("text"), str):
            message.prose(part["text"], rest_of(part, "type", "text"))
        case "thinking" if isinstance(part.get("thinking"), str):
            message.reasoning(part["thinking"], rest_of(part, "type", "thinking"))
        case "redacted_thinking":
            message.reasoning("", part)
        case _ if kind in _CALLS:
            _add_call(message, part, calls)
        case _ if kind.endswith("tool_result"):
            _add_result(message, part, calls, place)
        case "token_budget" | "flag":
            message.mark(kind, part, place)
        case "image" | "document":
            _add_file(message, part, kind, place)
        case _:
            message.unknown(kind or "part", part, place)


def _add_call(message: MessageDraft, part: Record, calls: Calls) -> None:
    members = tool_members(part.get("input"), "input") if "input" in part else {}
    started_at = iso_ms(part.get("start_timestamp"))
    if started_at is not None:
        members["started_at"] = started_at
    block = message.tool(
        part.get("name"), "completed", rest_of(part, "type", "name", "input"), **members
    )
    calls.add(part.get("id"), block)


def _add_result(message: MessageDraft, part: Record, calls: Calls, place: str) -> None:
    block = calls.take(part.get("tool_use_id"), part.get("name"))
    rest = rest_of(part, "type", "content", "tool_use_id", "name", "is_error")
    if block is None:
        block = message.tool(part.get("name"), "completed", rest)
    elif rest:
        known = record_of(block, "provider_data")
        block["provider_data"] = {**known, "provider": message.source, "result": opaque(rest)}
    is_error = part.get("is_error") is True
    content = part.get("content")
    output, files = message.take_files(content, place)
    text = plain_text(output)
    members = tool_members(output if text is None else text, "error" if is_error else "output")
    block.update(members)
    if is_error:
        block["status"] = "failed"
    if files:
        block["attachments"] = [file.attachment_id for file in files]


def plain_text(content: Json) -> str | None:
    """Return the text of a content that holds nothing else, else None."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts: list[str] = []
    for part in content:
        match part:
            case {"type": "text", "text": str(text), **rest} if not any(rest.values()):
                texts.append(text)
            case _:
                return None
    return "\n".join(texts)


def _add_file(message: MessageDraft, part: Record, kind: str, place: str) -> None:
    _content, files = message.take_files([dict(part)], place)
    for file in files:
        message.show(file)
    if not files:
        message.unknown(kind, dict(part), place, "(a file that is not in the history)")
