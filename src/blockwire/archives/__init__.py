"""Conversations as files: our archive, and the histories of other programs; opens no file.

Spec: docs/spec/gateway/exports.md.

Above are gateway, client and command line, which bring the bytes; below are ``providers``,
``content`` and ``jsontext``.
"""

from __future__ import annotations

from blockwire.archives.lines import (
    ARCHIVE_FORMAT,
    ARCHIVE_MEDIA_TYPE,
    ARCHIVE_VERSION,
    ATTACHMENT_DATA_BYTES,
    LINE_BYTES_MAX,
    archive_schema,
)
from blockwire.archives.reader import (
    ArchiveCompleted,
    ArchiveError,
    ArchiveItem,
    ArchiveReader,
    ArchiveStarted,
    AttachmentData,
    AttachmentHead,
    AttachmentStarted,
    ConversationCompleted,
    ConversationStarted,
    IgnoredLine,
    MessageLine,
    TurnLine,
)
from blockwire.archives.splitter import LineSplitter
from blockwire.archives.writer import ArchiveJoiner, ArchiveWriter

__all__ = [
    "ARCHIVE_FORMAT",
    "ARCHIVE_MEDIA_TYPE",
    "ARCHIVE_VERSION",
    "ATTACHMENT_DATA_BYTES",
    "LINE_BYTES_MAX",
    "ArchiveCompleted",
    "ArchiveError",
    "ArchiveItem",
    "ArchiveJoiner",
    "ArchiveReader",
    "ArchiveStarted",
    "ArchiveWriter",
    "AttachmentData",
    "AttachmentHead",
    "AttachmentStarted",
    "ConversationCompleted",
    "ConversationStarted",
    "IgnoredLine",
    "LineSplitter",
    "MessageLine",
    "TurnLine",
    "archive_schema",
]
