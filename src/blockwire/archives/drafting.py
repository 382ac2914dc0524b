"""Conversations out of foreign records: ids, names, times and bounds are put right here once.

Spec: docs/spec/gateway/exports.md, "Histories of other programs". What a reader does not understand is
kept in ``provider_data``, which reaches owners only: nobody here can say that it may be seen.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, cast

from msgspec import Struct

from blockwire.archives.report import NoteKind, Report
from blockwire.content import Block, Message, check_complete_message
from blockwire.content.fields import is_id
from blockwire.content.filetypes import sniff_type
from blockwire.content.inline import InlineFile, extract_inline
from blockwire.content.naming import safe_file_name
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, encode_json
from blockwire.providers.members import clean_name, opaque

__all__ = ["ConversationDraft", "History", "MessageDraft"]

_ID_CHARS: Final = 26
"""Hexadecimal digits of an attachment's id."""


class History(Struct, frozen=True, kw_only=True):
    """One conversation of a foreign history.

    Attributes:
        conversation: As an archive has it.
        messages: Complete ones, oldest first.
        files: Attachments that messages name.
    """

    conversation: dict[str, Json]
    messages: list[Message]
    files: list[InlineFile]


class ConversationDraft:
    """One conversation while it is read.

    Args:
        source: Name of the format.
        source_id: Id of the conversation there; None where it has none.
        created_at: Unix milliseconds; None where nobody knows.
        report: Where to tell what was met.
        place: Of the conversation in the file.
    """

    def __init__(  # noqa: PLR0913 - what is known of it
        self,
        source: str,
        source_id: Json,
        created_at: int | None,
        report: Report,
        place: str,
        *,
        title: Json = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        self.source = source
        self.report = report
        self.place = place
        self.files: list[InlineFile] = []
        self._source_id = clean_name(source_id) if isinstance(source_id, str) else ""
        self._created_at = created_at
        self._title = clean_name(title).strip() if isinstance(title, str) else ""
        self._tags = tags
        self._drafts: list[MessageDraft] = []
        self._file_count = 0
        self._ids: set[str] = set()

    def open(
        self, role: str, *, source_id: Json = None, at: int | None = None, rest: Json = None
    ) -> MessageDraft:
        """Return a new message, which is last.

        Args:
            role: Ours.
            source_id: Its id there.
            at: When it was made, Unix milliseconds; else when the one before it was.
            rest: What else the record says, kept as it is.
        """
        before = self._drafts[-1].at if self._drafts else self._created_at
        draft = MessageDraft(self, role, self._new_id(source_id), at or before or 0, rest)
        self._drafts.append(draft)
        return draft

    def _new_id(self, source_id: Json) -> str:
        name = clean_name(source_id) if isinstance(source_id, str) else ""
        base = name if is_id(name) else f"msg_{len(self._drafts) + 1}"
        new_id, number = base, 1
        while new_id in self._ids:
            number += 1
            new_id = f"{base[:240]}~{number}"
        self._ids.add(new_id)
        return new_id

    def next_file_id(self) -> str:
        """Return the id of the next file; that of the same history is the same each time."""
        self._file_count += 1
        known: list[Json] = [self.source, self._source_id, self.place, self._file_count]
        return f"att_{hashlib.sha256(encode_json(known)).hexdigest()[:_ID_CHARS]}"

    def finish(self, *, suffix: str = "") -> History | None:
        """Return the conversation; None where nothing is left to show.

        Args:
            suffix: Behind its title and id, for another branch.
        """
        messages = []
        for draft in self._drafts:
            message = draft.finish()
            if message is not None:
                messages.append(message)
        if not messages:
            self.report.add("left_out", "empty conversations", self.place)
            return None
        created_at = self._created_at or min(draft.at for draft in self._drafts)
        source: dict[str, Json] = {"format": self.source}
        if self._source_id.strip():
            source["id"] = self._source_id
        conversation: dict[str, Json] = {
            "id": (self._source_id.strip() or f"{self.source}{self.place}")[:200] + suffix,
            "created_at": created_at,
            "tags": [*self._tags],
            "metadata": {"source": source},
        }
        if self._title:
            conversation["title"] = clean_name(self._title[: 240 - len(suffix)] + suffix)
        return History(conversation=conversation, messages=messages, files=self.files)


class MessageDraft:
    """One message while it is read.

    Attributes:
        source: Name of the format.
        role: Ours.
        at: Unix milliseconds.
        blocks: So far.
        members: Others of the message: ``model``, ``usage``, ``completed_at``, ...
        status: Of the message.
    """

    def __init__(
        self, conversation: ConversationDraft, role: str, message_id: str, at: int, rest: Json
    ) -> None:
        self._conversation = conversation
        self.source = conversation.source
        self._id = message_id
        self._rest = rest
        self.role = role
        self.at = at
        self.blocks: list[Block] = []
        self.members: dict[str, Json] = {}
        self.status = "completed"
        self._marks: list[Json] = []

    def mark(self, kind: str, record: Json, place: str) -> None:
        """Keep a record that is no part of what was said, beside the message and for its owner."""
        self.report("kept", f"marks of type {kind}", place)
        self._marks.append(record)

    def prose(self, text: Json, rest: Json = None) -> None:
        """Add text that was said; nothing for none."""
        if isinstance(text, str) and text.strip():
            self._add("prose", rest, markdown=text)

    def reasoning(self, text: Json, rest: Json = None) -> None:
        """Add private reasoning, or what was hidden from people for another reason."""
        shown = text if isinstance(text, str) else ""
        if shown.strip() or rest:
            self._add("reasoning", rest, text=shown, visibility="private")

    def code(self, text: str, language: Json = None, rest: Json = None) -> None:
        """Add code."""
        members: dict[str, Json] = {"text": text}
        if isinstance(language, str) and language.strip():
            members["language"] = clean_name(language)
        self._add("code", rest, **members)

    def tool(self, name: Json, status: str, rest: Json = None, **members: Json) -> Block:
        """Add a call of a tool, which may be completed later."""
        shown = clean_name(name) if isinstance(name, str) and name.strip() else "unnamed"
        return self._add("tool", rest, tool=shown, status=status, **members)

    def notice(self, code: str, message: str, rest: Json = None) -> None:
        """Add a notice."""
        self._add("notice", rest, code=code, message=message)

    def error(self, code: str, message: str, rest: Json = None) -> None:
        """Add an error."""
        self._add("error", rest, code=code, message=message)

    def attachment(self, name: str, data: bytes, claimed_type: str | None) -> None:
        """Add a file with its content."""
        draft = self._conversation
        file = InlineFile(
            attachment_id=draft.next_file_id(),
            name=safe_file_name(name),
            media_type=sniff_type(data, claimed_type),
            data=data,
        )
        draft.files.append(file)
        self.show(file)

    def show(self, file: InlineFile) -> None:
        """Add a file that is kept already."""
        self._add(
            "attachment",
            None,
            attachment_id=file.attachment_id,
            name=file.name,
            media_type=file.media_type,
        )

    def take_files(self, content: Json, place: str) -> tuple[Json, list[InlineFile]]:
        """Return a content in the shapes of the known APIs without the files in it, and those."""
        draft = self._conversation
        try:
            blocks, files = extract_inline(
                [{"type": "tool", "output": content}], draft.next_file_id, place=place
            )
        except RemoteProtocolError:
            draft.report.add("kept", "more inline files than a message may have", place)
            return content, []
        draft.files += files
        block = cast("list[dict[str, Json]]", blocks)[0]
        return block["output"], files

    def unknown(self, kind: str, record: Json, place: str, text: str = "") -> None:
        """Keep what is not understood: its name for all, itself for the owner.

        Args:
            kind: Its type, in somebody else's words.
            record: As it came.
            place: In the file.
            text: What may be shown in its place.
        """
        self.report("kept", kind, place)
        draft = self._conversation
        name = clean_name(kind).lower().strip() or "unnamed"
        block_type = f"{draft.source}_{name}"[:200].replace(" ", "_").replace("-", "_")
        self._add(block_type, record, fallback_text=text or f"({name}, not shown here)")

    def report(self, kind: NoteKind, what: str, place: str) -> None:
        """Tell what was met."""
        self._conversation.report.add(kind, what, place)

    def _add(self, block_type: str, rest: Json, **members: Json) -> Block:
        block: Block = {"id": f"b{len(self.blocks) + 1}", "type": block_type, **members}
        if rest:
            block["provider_data"] = {
                "provider": self._conversation.source,
                "record": opaque(rest),
            }
        self.blocks.append(block)
        return block

    def finish(self) -> Message | None:
        """Return the message; None for one without anything in it."""
        draft = self._conversation
        if not self.blocks:
            draft.report.add("left_out", f"empty {self.role} messages", draft.place)
            return None
        message: dict[str, Any] = {
            "id": self._id,
            "role": self.role,
            "status": self.status,
            "content": self.blocks,
            "created_at": self.at,
            **self.members,
        }
        completed_at = message.get("completed_at")
        if isinstance(completed_at, int) and completed_at < self.at:
            del message["completed_at"]
        model = message.get("model")
        if model is not None:
            message["model"] = clean_name(str(model))
        if self._rest or self._marks:
            kept: dict[str, Json] = {"provider": draft.source}
            if self._rest:
                kept["record"] = opaque(self._rest)
            if self._marks:
                kept["marks"] = opaque(self._marks)
            message["provider_data"] = kept
        return check_complete_message(message)
