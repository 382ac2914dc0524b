"""ChatGPT's data export: ``conversations.json``, an array of trees of messages.

Spec: docs/spec/gateway/exports.md, "Histories of other programs". As exported from 2023 to February 2026; there is
no published schema. What follows one question, up to the next, becomes one message: thoughts, calls
of tools with their results, and the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from blockwire.archives.drafting import ConversationDraft, History, MessageDraft
from blockwire.archives.readers import ItemsReader
from blockwire.archives.trees import branches
from blockwire.archives.values import rest_of, seconds_ms, tool_members
from blockwire.content import Block
from blockwire.jsontext import Json, pointer
from blockwire.providers.members import opaque, record_of, text_of

__all__ = ["ChatGptReader"]

SOURCE: Final = "chatgpt"

# What a person is not shown in ChatGPT either.
_HIDDEN: Final = "is_visually_hidden_from_conversation"
_ROLES: Final = frozenset({"user", "assistant", "system", "tool"})
_EMPTY_STATUSES: Final = frozenset({"", "finished_successfully"})

Record = Mapping[str, Json]


class ChatGptReader(ItemsReader):
    """Reads the conversations of one export."""

    def _read(self, value: Json, place: str) -> Iterator[History]:
        mapping = value.get("mapping") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(mapping, dict):
            self.report.add("unreadable", "items without a mapping", place)
            return
        nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
        for _ in range(len(mapping) - len(nodes)):
            self.report.add("left_out", "nodes that are no objects", place)
        parents = {name: _parent(node) for name, node in nodes.items()}
        leaf = value.get("current_node")
        paths = branches(parents, leaf if isinstance(leaf, str) else None, self.report, place)
        for number, path in self._taken(paths, place):
            history = self._read_path(value, nodes, path, place, number)
            if history is not None:
                yield history

    def _read_path(
        self, value: Record, nodes: Mapping[str, Record], path: list[str], place: str, number: int
    ) -> History | None:
        draft = ConversationDraft(
            SOURCE,
            value.get("conversation_id") or value.get("id"),
            seconds_ms(value.get("create_time")),
            self.report,
            place,
            title=value.get("title"),
            tags=("branch",) if number > 1 else (),
        )
        turn = _Turn(draft)
        for name in path:
            message = nodes[name].get("message")
            if isinstance(message, dict):
                turn.take(message, f"{place}{pointer(['mapping', name, 'message'])}")
        return draft.finish(suffix=f" (branch {number})" if number > 1 else "")


def _parent(node: Record) -> str | None:
    parent = node.get("parent")
    return parent if isinstance(parent, str) else None


class _Turn:
    """Puts what one side says into one message.

    Args:
        draft: The conversation.
    """

    def __init__(self, draft: ConversationDraft) -> None:
        self._draft = draft
        self._answer: MessageDraft | None = None
        self._call: Block | None = None

    def take(self, record: Record, place: str) -> None:
        """Take the next message."""
        author = record_of(record, "author")
        role = text_of(author, "role")
        if role not in _ROLES:
            self._draft.report.add("kept", f"role {role}", place)
        metadata = record_of(record, "metadata")
        is_hidden = metadata.get(_HIDDEN) is True or record.get("weight") == 0
        if role in {"assistant", "tool"}:
            self._take_answer(record, place, is_hidden=is_hidden)
            return
        self._answer = self._call = None
        our_role = "user" if role == "user" and not is_hidden else "system"
        message = self._draft.open(
            our_role,
            source_id=record.get("id"),
            at=seconds_ms(record.get("create_time")),
            rest=rest_of(record, "id", "content", "create_time"),
        )
        told = metadata.get("user_context_message_data")
        if isinstance(told, dict):
            _context(message, told, None, place)
        _add_content(message, record, place, is_hidden=False)

    def _take_answer(self, record: Record, place: str, *, is_hidden: bool) -> None:
        metadata = record_of(record, "metadata")
        at = seconds_ms(record.get("create_time"))
        if self._answer is None:
            self._answer = self._draft.open("assistant", source_id=record.get("id"), at=at)
        message = self._answer
        model = metadata.get("model_slug")
        if isinstance(model, str) and model and "model" not in message.members:
            message.members["model"] = model
        if at is not None:
            message.members["completed_at"] = max(at, message.at)
        status = text_of(record, "status")
        if status not in _EMPTY_STATUSES:
            # An answer that was stopped, or had not ended when the export was made.
            message.status = "cancelled"
        recipient = text_of(record, "recipient")
        if text_of(record_of(record, "author"), "role") == "tool":
            self._end_call(message, record, place)
        elif recipient not in {"", "all"}:
            self._call = message.tool(
                recipient,
                "completed",
                rest_of(record, "content", "recipient"),
                **tool_members(_spoken(record_of(record, "content")), "input"),
            )
        else:
            _add_content(message, record, place, is_hidden=is_hidden)

    def _end_call(self, message: MessageDraft, record: Record, place: str) -> None:
        """Add the result of a tool, to its call where that is the last thing that was said."""
        call, self._call = self._call, None
        content = record_of(record, "content")
        if call is None or call not in message.blocks:
            name = record_of(record, "author").get("name")
            call = message.tool(name, "completed", rest_of(record, "content"))
        else:
            known = record_of(call, "provider_data")
            call["provider_data"] = {
                "provider": SOURCE,
                "record": known.get("record"),
                "result": opaque(rest_of(record, "content")),
            }
        if content.get("content_type") == "system_error":
            call["status"] = "failed"
            call.update(tool_members(_spoken(content), "error"))
            return
        call.update(tool_members(_spoken(content), "output"))
        _note_assets(message, content, place)


def _spoken(content: Record) -> Json:
    """Return the text of a content, or the whole of it where there is more than text."""
    match content:
        case {"content_type": "code" | "execution_output" | "system_error", "text": str(text)}:
            return text
        case {"content_type": "tether_browsing_display", "result": str(text)} if text:
            return text
        case {"content_type": "text", "parts": [str(text)]}:
            return text
        case _:
            return dict(content)


def _note_assets(message: MessageDraft, content: Record, place: str) -> None:
    parts = content.get("parts")
    for index, part in enumerate(parts if isinstance(parts, list) else []):
        if isinstance(part, dict) and "asset_pointer" in part:
            _asset(message, part, f"{place}/content/parts/{index}")


def _add_content(message: MessageDraft, record: Record, place: str, *, is_hidden: bool) -> None:
    content = record_of(record, "content")
    rest = rest_of(record, "content", "id", "create_time", "status")
    if message.role != "assistant":
        # The message itself keeps it.
        rest = {}
    kind = text_of(content, "content_type")
    take = _CONTENTS.get(kind)
    if is_hidden and kind not in _PRIVATE:
        spoken = _spoken(content)
        if spoken != "":
            message.reasoning(spoken, rest if isinstance(spoken, str) else {"hidden": spoken})
        return
    if take is None:
        message.unknown(kind or "content", dict(content), f"{place}/content")
        return
    take(message, content, rest, f"{place}/content")


def _text(message: MessageDraft, content: Record, rest: Json, place: str) -> None:
    parts = content.get("parts")
    for index, part in enumerate(parts if isinstance(parts, list) else [content.get("text")]):
        _part(message, part, rest if index == 0 else None, f"{place}/parts/{index}")


def _part(message: MessageDraft, part: Json, rest: Json, place: str) -> None:
    match part:
        case str(text):
            message.prose(text, rest)
        case {"content_type": "audio_transcription", "text": str(text)}:
            message.prose(text, rest_of(record_of({"part": part}, "part"), "content_type", "text"))
        case {"asset_pointer": _}:
            _asset(message, part, place)
        case {"content_type": str(kind)}:
            message.unknown(kind, part, place)
        case None:
            pass
        case _:
            message.unknown("part", part, place)


def _asset(message: MessageDraft, part: Json, place: str) -> None:
    """Keep the pointer to a file, which lies elsewhere in the export or not at all."""
    kind = text_of(part, "content_type") if isinstance(part, dict) else ""
    message.unknown(kind or "asset", part, place, "(a file that the export keeps elsewhere)")


def _code(message: MessageDraft, content: Record, rest: Json, _place: str) -> None:
    language = content.get("language")
    message.code(text_of(content, "text"), None if language == "unknown" else language, rest)


def _thoughts(message: MessageDraft, content: Record, rest: Json, place: str) -> None:
    thoughts = content.get("thoughts")
    for thought in thoughts if isinstance(thoughts, list) else []:
        if isinstance(thought, dict):
            pieces = [text_of(thought, "summary"), text_of(thought, "content")]
            message.reasoning("\n\n".join(piece for piece in pieces if piece), rest)
        else:
            message.unknown("thought", thought, place)


def _recap(message: MessageDraft, content: Record, rest: Json, _place: str) -> None:
    message.reasoning(text_of(content, "content"), rest)


def _quote(message: MessageDraft, content: Record, rest: Json, _place: str) -> None:
    members = tool_members(rest_of(content, "content_type"), "output")
    message.tool("quote", "completed", rest, **members)


def _output(message: MessageDraft, content: Record, rest: Json, _place: str) -> None:
    message.tool("output", "completed", rest, **tool_members(_spoken(content), "output"))


def _context(message: MessageDraft, content: Record, _rest: Json, _place: str) -> None:
    """Keep what a person has told ChatGPT about themselves, which is not for others."""
    message.role = "system"
    text = "\n\n".join(
        value
        for name, value in content.items()
        if name != "content_type" and isinstance(value, str)
    )
    message.prose(text or "(context)", dict(content))


_Take = Callable[[MessageDraft, Record, Json, str], None]
_CONTENTS: Final[Mapping[str, _Take]] = MappingProxyType(
    {
        "text": _text,
        "multimodal_text": _text,
        "code": _code,
        "thoughts": _thoughts,
        "reasoning_recap": _recap,
        "execution_output": _output,
        "system_error": _output,
        "tether_browsing_display": _output,
        "tether_quote": _quote,
        "user_editable_context": _context,
    }
)
_PRIVATE: Final = frozenset({"thoughts", "reasoning_recap"})
