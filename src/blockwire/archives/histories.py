"""Histories of other programs: which there are, how they are told apart, what becomes of them.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal, Protocol, get_args

from blockwire.archives.chatgpt import ChatGptReader
from blockwire.archives.claude import ClaudeReader
from blockwire.archives.claude_code import ClaudeCodeReader
from blockwire.archives.codex import CodexReader
from blockwire.archives.drafting import History
from blockwire.archives.lines import ARCHIVE_FORMAT, ATTACHMENT_DATA_BYTES
from blockwire.archives.opencode import OpencodeReader
from blockwire.archives.report import Report
from blockwire.archives.writer import ArchiveWriter

__all__ = [
    "HEAD_BYTES",
    "HISTORY_FORMATS",
    "HISTORY_ITEM_BYTES_MAX",
    "ArchivedHistory",
    "FileFormat",
    "HistoryReader",
    "archive_history",
    "detect_format",
    "open_history",
]

FileFormat = Literal["blockwire", "chatgpt", "claude", "claude_code", "codex", "opencode"]
HISTORY_FORMATS: Final[tuple[FileFormat, ...]] = get_args(FileFormat)[1:]

HISTORY_ITEM_BYTES_MAX: Final = 268_435_456
"""Bytes of one conversation in a foreign history; it is read as a whole."""

HEAD_BYTES: Final = 65_536
"""How much of a file is looked at to tell what it is."""

# In this order; each looks at the beginning of a file.
_SIGNS: Final[tuple[tuple[FileFormat, re.Pattern[bytes]], ...]] = (
    ("blockwire", re.compile(rb'\A\s*\{[^\n]*"format"\s*:\s*"' + ARCHIVE_FORMAT.encode() + rb'"')),
    ("chatgpt", re.compile(rb'\A\s*[\[{].*"mapping"\s*:\s*\{', re.DOTALL)),
    ("claude", re.compile(rb'\A\s*[\[{].*"chat_messages"\s*:\s*\[', re.DOTALL)),
    ("codex", re.compile(rb'\A\s*\{[^\n]*"type"\s*:\s*"session_meta"')),
    ("codex", re.compile(rb'\A\s*\{"id"\s*:[^\n]*"timestamp"\s*:[^\n]*"instructions"\s*:')),
    (
        "claude_code",
        re.compile(rb'\A\s*\{[^\n]*("sessionId"|"leafUuid"|"file-history-snapshot")\s*[:,]'),
    ),
    ("opencode", re.compile(rb'\A\s*[\[{].*"info"\s*:.*("messages"|"projectID")\s*:', re.DOTALL)),
)


class HistoryReader(Protocol):
    """Reads one file of a foreign history."""

    def receive_data(self, data: bytes) -> Iterator[History]:
        """Yield the conversations that ``data`` completes. Exhaust it."""
        ...

    def receive_eof(self) -> Iterator[History]:
        """Yield the rest."""
        ...


class _MakeReader(Protocol):
    def __call__(
        self, report: Report, *, item_bytes_max: int, with_branches: bool
    ) -> HistoryReader: ...


_READERS: Final[Mapping[FileFormat, _MakeReader]] = MappingProxyType(
    {
        "chatgpt": ChatGptReader,
        "claude": ClaudeReader,
        "claude_code": ClaudeCodeReader,
        "codex": CodexReader,
        "opencode": OpencodeReader,
    }
)


def detect_format(head: bytes) -> FileFormat | None:
    """Return what a file is that begins with ``head``, or None where nobody knows.

    Args:
        head: Its first :data:`HEAD_BYTES`, or all of it.
    """
    head = head[:HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    return next((name for name, sign in _SIGNS if sign.search(head)), None)


def open_history(
    file_format: FileFormat,
    report: Report,
    *,
    item_bytes_max: int = HISTORY_ITEM_BYTES_MAX,
    with_branches: bool = True,
) -> HistoryReader:
    """Return a reader of a history.

    Args:
        file_format: One of :data:`HISTORY_FORMATS`.
        report: Where it tells what it met.
        item_bytes_max: Bytes of one conversation.
        with_branches: Whether other branches of a conversation become conversations, too.
    """
    make = _READERS[file_format]
    return make(report, item_bytes_max=item_bytes_max, with_branches=with_branches)


class ArchivedHistory:
    """One conversation as an archive of its own.

    Attributes:
        lines: The whole archive.
        key: Names what is in it: the same conversation has the same, whenever it is read.
    """

    def __init__(self, history: History, *, created_at: int, generator: str) -> None:
        writer = ArchiveWriter()
        start = writer.start(created_at=created_at, generator=generator, view="owner")
        body = [writer.start_conversation(history.conversation)]
        for file in history.files:
            body.append(
                writer.start_attachment(
                    {
                        "id": file.attachment_id,
                        "name": file.name,
                        "media_type": file.media_type,
                        "size_bytes": len(file.data),
                        "sha256": hashlib.sha256(file.data).hexdigest(),
                    }
                )
            )
            starts = range(0, len(file.data) or 1, ATTACHMENT_DATA_BYTES)
            body += [writer.add_data(file.data[at : at + ATTACHMENT_DATA_BYTES]) for at in starts]
        body += [writer.add_message(message) for message in history.messages]
        self.key = f"history_{hashlib.sha256(b''.join(body)).hexdigest()}"
        self.lines = [start, *body, writer.end_conversation(), writer.end()]


def archive_history(history: History, *, created_at: int, generator: str) -> ArchivedHistory:
    """Return a conversation of a foreign history as an archive.

    Args:
        history: Which.
        created_at: Now, Unix milliseconds.
        generator: Name and version of the program.
    """
    return ArchivedHistory(history, created_at=created_at, generator=generator)
