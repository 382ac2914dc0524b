"""Writing an archive: values in, lines out, and the digests that tell a whole one from a part.

Spec: docs/spec/gateway/exports.md, "The archive".
"""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections.abc import Iterator, Mapping

from blockwire.archives.lines import ARCHIVE_FORMAT, ARCHIVE_VERSION
from blockwire.archives.reader import (
    ArchiveCompleted,
    ArchiveReader,
    ArchiveStarted,
    ConversationCompleted,
)
from blockwire.archives.splitter import LineSplitter, LineTooLongError
from blockwire.content import Message, View
from blockwire.jsontext import Json, encode_json

__all__ = ["ArchiveJoiner", "ArchiveWriter"]


class ArchiveWriter:
    """Returns the lines of one archive; the caller keeps their order.

    ``start``; for each conversation ``start_conversation``, attachments (``start_attachment``, all
    of its bytes by ``add_data``), messages, turns, ``end_conversation``; ``end``.
    """

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._part = hashlib.sha256()
        self._conversation_count = 0
        self._counts = {"attachment_count": 0, "message_count": 0, "turn_count": 0}

    def start(self, *, created_at: int, generator: str, view: View) -> bytes:
        """Return the first line.

        Args:
            created_at: Now, Unix milliseconds.
            generator: Name and version of the program.
            view: For whom the messages are.
        """
        return self._line(
            {
                "type": "archive.started",
                "format": ARCHIVE_FORMAT,
                "version": ARCHIVE_VERSION,
                "created_at": created_at,
                "generator": generator,
                "view": view,
            }
        )

    def start_conversation(self, conversation: Mapping[str, Json]) -> bytes:
        """Return the line with what is known of a conversation."""
        self._part = hashlib.sha256()
        self._counts = dict.fromkeys(self._counts, 0)
        return self._line({"type": "conversation.started", "conversation": dict(conversation)})

    def start_attachment(self, attachment: Mapping[str, Json]) -> bytes:
        """Return the line with what is known of an attachment, its digest and size included."""
        self._counts["attachment_count"] += 1
        return self._line({"type": "attachment.started", "attachment": dict(attachment)})

    def add_data(self, data: bytes) -> bytes:
        """Return the line of a piece of the attachment; all but the last are of full size."""
        text = b2a_base64(data, newline=False).decode()
        return self._line({"type": "attachment.data", "data": text})

    def add_message(self, message: Message) -> bytes:
        """Return the line of a complete message."""
        self._counts["message_count"] += 1
        return self._line({"type": "message", "message": message})

    def add_turn(self, turn: Mapping[str, Json]) -> bytes:
        """Return the line of a finished turn."""
        self._counts["turn_count"] += 1
        return self._line({"type": "turn", "turn": dict(turn)})

    def end_conversation(self) -> bytes:
        """Return the line that says that the conversation is whole."""
        self._conversation_count += 1
        return self._line(
            {
                "type": "conversation.completed",
                **self._counts,
                "sha256": self._part.hexdigest(),
            }
        )

    def end(self) -> bytes:
        """Return the last line."""
        return self._line(
            {
                "type": "archive.completed",
                "conversation_count": self._conversation_count,
                "sha256": self._whole.hexdigest(),
            }
        )

    def copy(self, line: bytes, *, is_end: bool) -> bytes:
        """Return a line, without its end, of a conversation that was written before.

        Args:
            line: As it stands there.
            is_end: It is the one that completes its conversation.
        """
        self._conversation_count += is_end
        return self._written(line + b"\n")

    def _line(self, value: Json) -> bytes:
        return self._written(encode_json(value) + b"\n")

    def _written(self, line: bytes) -> bytes:
        self._part.update(line)
        self._whole.update(line)
        return line


class ArchiveJoiner:
    """Puts the conversations of several archives into one, line by line as they are.

    Args:
        writer: Of the one; started and ended by the caller.
        line_bytes_max: Of one line.
    """

    def __init__(self, writer: ArchiveWriter, *, line_bytes_max: int) -> None:
        self._writer = writer
        self._line_bytes_max = line_bytes_max
        self.start_part()

    def start_part(self) -> None:
        """Begin with the next archive."""
        self._reader = ArchiveReader(line_bytes_max=self._line_bytes_max)
        self._splitter = LineSplitter(self._line_bytes_max)

    def receive_data(self, data: bytes) -> Iterator[bytes]:
        """Yield lines of the one archive for more bytes of a part.

        Raises:
            ArchiveError: The part is no good archive.
        """
        try:
            for line in self._splitter.receive_data(data):
                item = self._reader.receive_line(line)
                if item is None or isinstance(item, ArchiveStarted | ArchiveCompleted):
                    continue
                is_end = isinstance(item, ConversationCompleted)
                yield self._writer.copy(line, is_end=is_end)
        except LineTooLongError:
            raise self._reader.line_too_long() from None

    def end_part(self) -> None:
        """Check that the part was whole.

        Raises:
            ArchiveError: ``archive_truncated``.
        """
        self._reader.receive_rest(self._splitter.receive_eof())
