"""Claude's data export: ``conversations.json``, an array of conversations with their messages.

Spec: docs/spec/gateway/exports.md, "Histories of other programs". As exported from 2024 to early 2026; there is no
published schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from blockwire.archives.drafting import ConversationDraft, History, MessageDraft
from blockwire.archives.parts import Calls, add_part
from blockwire.archives.readers import ItemsReader
from blockwire.archives.trees import branches
from blockwire.archives.values import iso_ms, rest_of
from blockwire.jsontext import Json
from blockwire.providers.members import text_of

__all__ = ["ClaudeReader"]

SOURCE: Final = "claude"

_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
# Parents of first messages: an id that stands for nothing.
_NOBODY: Final = frozenset({"00000000-0000-4000-8000-000000000000", ""})

Record = Mapping[str, Json]


class ClaudeReader(ItemsReader):
    """Reads the conversations of one export."""

    def _read(self, value: Json, place: str) -> Iterator[History]:
        messages = value.get("chat_messages") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(messages, list):
            self.report.add("unreadable", "items without messages", place)
            return
        for number, path in self._taken(self._paths(messages, place), place):
            draft = ConversationDraft(
                SOURCE,
                value.get("uuid"),
                iso_ms(value.get("created_at")),
                self.report,
                place,
                title=value.get("name"),
                tags=("branch",) if number > 1 else (),
            )
            for index, record in path:
                _add_message(draft, record, f"{place}/chat_messages/{index}")
            history = draft.finish(suffix=f" (branch {number})" if number > 1 else "")
            if history is not None:
                yield history

    def _paths(self, messages: list[Json], place: str) -> Iterator[list[tuple[int, Record]]]:
        """Yield the branches; exports that say nothing of parents have one."""
        records: dict[str, tuple[int, Record]] = {}
        parents: dict[str, str | None] = {}
        before: str | None = None
        for index, record in enumerate(messages):
            if not isinstance(record, dict):
                self.report.add("left_out", "messages that are no objects", place)
                continue
            name = text_of(record, "uuid") or f"#{index}"
            if name in records:
                self.report.add("repaired", "messages with the id of another", place)
                name = f"#{index}"
            records[name] = (index, record)
            parent = record.get("parent_message_uuid")
            if isinstance(parent, str):
                parents[name] = None if parent in _NOBODY else parent
            else:
                parents[name] = before
            before = name
        for path in branches(parents, before, self.report, place):
            yield [records[name] for name in path]


def _add_message(draft: ConversationDraft, record: Record, place: str) -> None:
    sender = text_of(record, "sender")
    role = _ROLES.get(sender)
    if role is None:
        draft.report.add("kept", f"sender {sender}", place)
    at = iso_ms(record.get("created_at"))
    message = draft.open(
        role or "system",
        source_id=record.get("uuid"),
        at=at,
        rest=rest_of(
            record, "uuid", "text", "content", "created_at", "updated_at", "attachments", "files",
            "sender", "parent_message_uuid",
        ),
    )  # fmt: skip
    updated_at = iso_ms(record.get("updated_at"))
    if updated_at is not None and role == "assistant":
        message.members["completed_at"] = updated_at
    parts = record.get("content")
    if isinstance(parts, list) and parts:
        calls = Calls()
        for index, part in enumerate(parts):
            add_part(message, part, calls, f"{place}/content/{index}")
    else:
        message.prose(record.get("text"))
    _add_files(message, record, place)


def _add_files(message: MessageDraft, record: Record, place: str) -> None:
    attachments, files = record.get("attachments"), record.get("files")
    for index, file in enumerate(attachments if isinstance(attachments, list) else []):
        content = file.get("extracted_content") if isinstance(file, dict) else None
        if isinstance(file, dict) and isinstance(content, str) and content:
            name = text_of(file, "file_name") or "pasted.txt"
            message.attachment(name, content.encode(), "text/plain")
        else:
            message.unknown("attachment", file, f"{place}/attachments/{index}", _named(file))
    for index, file in enumerate(files if isinstance(files, list) else []):
        message.unknown("file", file, f"{place}/files/{index}", _named(file))


def _named(file: Json) -> str:
    name = text_of(file, "file_name") if isinstance(file, dict) else ""
    return f"(file {name}, which the export does not hold)" if name else ""
