"""Reading an archive: bytes in, items out, and an error that says which line is wrong.

Spec: docs/spec/gateway/exports.md, "The archive".

A reader believes nothing before it is proven: counts and digests of each conversation and of the
whole are compared, so that neither a cut at the end nor a hole in the middle looks whole.
"""

from __future__ import annotations

import hashlib
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

from msgspec import Struct

from blockwire.archives.lines import (
    ARCHIVE_FORMAT,
    ARCHIVE_VERSION,
    FOLLOWERS,
    LINE_BYTES_MAX,
    LINE_DEPTH_MAX,
    LINE_FIELDS,
    RECORD_FIELDS,
    SHA256,
    Place,
)
from blockwire.archives.splitter import LineSplitter, LineTooLongError
from blockwire.content import Message, check_keys, check_members
from blockwire.content.fields import Field
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json

__all__ = [
    "ArchiveCompleted",
    "ArchiveError",
    "ArchiveItem",
    "ArchiveReader",
    "ArchiveStarted",
    "AttachmentData",
    "AttachmentHead",
    "AttachmentStarted",
    "ConversationCompleted",
    "ConversationStarted",
    "IgnoredLine",
    "MessageLine",
    "TurnLine",
]

_SHA256: Final = re.compile(SHA256 + r"(?!\n)")
_COUNTED: Final = {
    "attachment.started": "attachment_count",
    "message": "message_count",
    "turn": "turn_count",
}


class ArchiveError(RemoteProtocolError):
    """An archive is not what it should be.

    Attributes:
        line: Number of the line, counted from 1; the detail names it, too.
    """

    def __init__(self, code: str, detail: str, line: int, pointer: str | None = None) -> None:
        super().__init__(code, f"line {line}: {detail}", pointer=pointer)
        self.line = line


class ArchiveStarted(Struct, frozen=True):
    """The archive has begun; ``members`` are those of its line."""

    members: dict[str, Json]


class ConversationStarted(Struct, frozen=True):
    """A conversation has begun; ``conversation`` is what is known of it."""

    conversation: dict[str, Json]
    line: int


class AttachmentHead(Struct, frozen=True, kw_only=True):
    """What is known of an attachment before its bytes come. Times are Unix milliseconds."""

    id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    created_at: int | None


class AttachmentStarted(Struct, frozen=True):
    """An attachment has begun."""

    attachment: AttachmentHead
    line: int


class AttachmentData(Struct, frozen=True):
    """The next bytes of the attachment; with the last ones its size and digest are right."""

    data: bytes
    line: int
    is_last: bool


class MessageLine(Struct, frozen=True):
    """A complete, valid message."""

    message: Message
    line: int


class TurnLine(Struct, frozen=True):
    """What was known of a finished turn."""

    turn: dict[str, Json]
    line: int


class ConversationCompleted(Struct, frozen=True):
    """The conversation was whole.

    Attributes:
        counts: ``attachment_count``, ``message_count``, ``turn_count``.
        sha256: Of its lines, hexadecimal.
        line: Number of the line.
    """

    counts: dict[str, int]
    sha256: str
    line: int


class ArchiveCompleted(Struct, frozen=True):
    """The archive was whole; ``sha256`` is that of all lines before the last."""

    conversation_count: int
    sha256: str


class IgnoredLine(Struct, frozen=True):
    """A line of a type that this version does not know."""

    type: str
    line: int


ArchiveItem: TypeAlias = (
    ArchiveStarted
    | ConversationStarted
    | AttachmentStarted
    | AttachmentData
    | MessageLine
    | TurnLine
    | ConversationCompleted
    | ArchiveCompleted
    | IgnoredLine
)


class ArchiveReader:
    """Reads one archive.

    Between calls it keeps less than one line. After an error it reads nothing more.

    Args:
        line_bytes_max: Of one line.

    Attributes:
        line: Number of the last line that was read.
        place: Where the reader is.
    """

    def __init__(self, *, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        self.line = 0
        self.place: Place = "start"
        self._line_bytes_max = line_bytes_max
        self._splitter = LineSplitter(line_bytes_max)
        self._whole = hashlib.sha256()
        self._part = hashlib.sha256()
        self._counts: dict[str, int] = {}
        self._conversation_count = 0
        self._attachment: AttachmentHead | None = None
        self._content = hashlib.sha256()
        self._left_bytes = 0

    @property
    def retained_bytes(self) -> int:
        """How many bytes of an unfinished line are kept."""
        return self._splitter.retained_bytes

    def receive_data(self, data: bytes) -> Iterator[ArchiveItem]:
        """Yield what ``data`` completes. Exhaust it.

        Raises:
            ArchiveError: ``archive_line_too_long`` and the codes of :meth:`receive_line`.
        """
        try:
            for line in self._splitter.receive_data(data):
                item = self.receive_line(line)
                if item is not None:
                    yield item
        except LineTooLongError:
            raise self.line_too_long() from None

    def receive_eof(self) -> Iterator[ArchiveItem]:
        """Yield what the rest completes, and check that the archive was whole. Exhaust it.

        Raises:
            ArchiveError: ``archive_truncated``, ``archive_order``.
        """
        item = self.receive_rest(self._splitter.receive_eof())
        if item is not None:
            yield item

    def receive_rest(self, rest: bytes) -> ArchiveItem | None:
        """Return what comes behind the last line end, and check that the archive was whole.

        Raises:
            ArchiveError: ``archive_truncated``, ``archive_order``.
        """
        item: ArchiveItem | None = None
        if rest.strip():
            was_at_end = self.place == "end"
            try:
                item = self.receive_line(rest)
            except ArchiveError:
                # A line that was cut is wrong in many ways, and none of them is the reason.
                if was_at_end:
                    raise
        if self.place != "end":
            detail = "the archive ends before it is whole; get it again"
            raise ArchiveError("archive_truncated", detail, self.line)
        return item

    def line_too_long(self) -> ArchiveError:
        """Return the refusal of the line that follows."""
        detail = f"over {self._line_bytes_max} bytes"
        return ArchiveError("archive_line_too_long", detail, self.line + 1)

    def receive_line(self, line: bytes) -> ArchiveItem | None:
        """Return what one line, without its end, holds; None for a blank one.

        Raises:
            ArchiveError: ``archive_order``, ``archive_version_unsupported``, ``archive_mismatch``,
                ``missing_member``, ``invalid_member``, ``invalid_name``, ``invalid_key``, the
                codes of a message and those of the strict decoder.
        """
        self.line += 1
        item = self._item(line) if line.strip() else None
        self._whole.update(line)
        self._whole.update(b"\n")
        self._part.update(line)
        self._part.update(b"\n")
        return item

    def _item(self, line: bytes) -> ArchiveItem:
        try:
            return self._take(decode_json(line, depth_max=LINE_DEPTH_MAX))
        except ArchiveError:
            raise
        except RemoteProtocolError as error:
            # The line's own pieces know nothing of lines.
            raise self._refused(error.code, error.detail, error.pointer) from None

    def _refused(self, code: str, detail: str, pointer: str | None = None) -> ArchiveError:
        return ArchiveError(code, detail, self.line, pointer)

    def _take(self, record: Json) -> ArchiveItem:
        if not isinstance(record, dict):
            raise RemoteProtocolError("invalid_member", "a line is an object", pointer="")
        check_members(record, _TYPE_FIELDS, "")
        kind = cast("str", record["type"])
        allowed = FOLLOWERS[self.place]
        if kind not in LINE_FIELDS and self.place in {"archive", "conversation"}:
            return IgnoredLine(kind, self.line)
        if kind not in allowed:
            expected = " or ".join(sorted(allowed)) or "nothing more"
            raise self._refused("archive_order", f"expected {expected}", "/type")
        check_keys(record)
        check_members(record, LINE_FIELDS[kind], "")
        for name in LINE_FIELDS[kind].keys() & RECORD_FIELDS.keys():
            inner = cast("dict[str, Json]", record[name])
            check_members(inner, RECORD_FIELDS[name], f"/{name}")
        if kind in _COUNTED:
            self._counts[_COUNTED[kind]] += 1
        return _TAKERS[kind](self, record)

    def _start(self, record: dict[str, Json]) -> ArchiveItem:
        if record["format"] != ARCHIVE_FORMAT or record["version"] != ARCHIVE_VERSION:
            raise self._refused(
                "archive_version_unsupported",
                f"this is no {ARCHIVE_FORMAT} of version {ARCHIVE_VERSION}; a newer release may read it",
                "/version" if record["format"] == ARCHIVE_FORMAT else "/format",
            )
        self.place = "archive"
        return ArchiveStarted(record)

    def _start_conversation(self, record: dict[str, Json]) -> ArchiveItem:
        self.place = "conversation"
        self._part = hashlib.sha256()
        self._counts = dict.fromkeys(_COUNTED.values(), 0)
        return ConversationStarted(cast("dict[str, Json]", record["conversation"]), self.line)

    def _start_attachment(self, record: dict[str, Json]) -> ArchiveItem:
        members = cast("dict[str, Any]", record["attachment"])
        if not _SHA256.match(members["sha256"]):
            raise self._refused("invalid_member", "expected a SHA-256", "/attachment/sha256")
        head = AttachmentHead(
            id=members["id"],
            name=members["name"],
            media_type=members["media_type"],
            size_bytes=members["size_bytes"],
            sha256=members["sha256"],
            created_at=members.get("created_at"),
        )
        self.place = "attachment"
        self._attachment, self._content = head, hashlib.sha256()
        self._left_bytes = head.size_bytes
        return AttachmentStarted(head, self.line)

    def _add_data(self, record: dict[str, Json]) -> ArchiveItem:
        head = self._attachment
        assert head is not None, "data come after the start of an attachment only"
        data = self._bytes_of(cast("str", record["data"]))
        if not data and head.size_bytes:
            raise self._refused("invalid_member", "a piece has at least one byte", "/data")
        self._left_bytes -= len(data)
        self._content.update(data)
        is_last = self._left_bytes <= 0
        if is_last:
            is_right = self._left_bytes == 0 and self._content.hexdigest() == head.sha256
            if not is_right:
                raise self._refused(
                    "archive_mismatch", f"attachment {head.id} is not what its digest says", "/data"
                )
            self.place, self._attachment = "conversation", None
        return AttachmentData(data, self.line, is_last)

    def _bytes_of(self, text: str) -> bytes:
        try:
            data = a2b_base64(text, strict_mode=True) if text else b""
        except ValueError:
            data = None
        # The strict mode still takes bits behind the last byte that are not zero.
        if data is None or b2a_base64(data, newline=False).decode() != text:
            raise self._refused("invalid_member", "expected base64 with padding", "/data")
        return data

    def _message(self, record: dict[str, Json]) -> ArchiveItem:
        return MessageLine(cast("Message", record["message"]), self.line)

    def _turn(self, record: dict[str, Json]) -> ArchiveItem:
        return TurnLine(cast("dict[str, Json]", record["turn"]), self.line)

    def _end_conversation(self, record: dict[str, Json]) -> ArchiveItem:
        digest = self._part.hexdigest()
        counts = {name: cast("int", record[name]) for name in self._counts}
        if counts != self._counts or record["sha256"] != digest:
            raise self._refused(
                "archive_mismatch", "the conversation is not what its counts and digest say"
            )
        self.place = "archive"
        self._conversation_count += 1
        return ConversationCompleted(counts, digest, self.line)

    def _end(self, record: dict[str, Json]) -> ArchiveItem:
        count, digest = self._conversation_count, self._whole.hexdigest()
        if record["conversation_count"] != count or record["sha256"] != digest:
            raise self._refused(
                "archive_mismatch", "the archive is not what its count and digest say"
            )
        self.place = "end"
        return ArchiveCompleted(count, digest)


_TYPE_FIELDS: Final = {"type": Field("id", required=True)}
_TAKERS: Final[Mapping[str, Callable[[ArchiveReader, dict[str, Json]], ArchiveItem]]] = (
    MappingProxyType(
        {
            "archive.started": ArchiveReader._start,  # noqa: SLF001 - a table of its own methods
            "conversation.started": ArchiveReader._start_conversation,  # noqa: SLF001
            "attachment.started": ArchiveReader._start_attachment,  # noqa: SLF001
            "attachment.data": ArchiveReader._add_data,  # noqa: SLF001
            "message": ArchiveReader._message,  # noqa: SLF001
            "turn": ArchiveReader._turn,  # noqa: SLF001
            "conversation.completed": ArchiveReader._end_conversation,  # noqa: SLF001
            "archive.completed": ArchiveReader._end,  # noqa: SLF001
        }
    )
)
