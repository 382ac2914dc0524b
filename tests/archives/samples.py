"""Archives that the tests of this room read."""

import hashlib
from collections.abc import Iterable
from typing import Final

from blockwire.archives import ArchiveItem, ArchiveReader, ArchiveWriter
from blockwire.content import Message
from blockwire.jsontext import Json

CONTENT: Final = b"\x89PNG not really\x00" * 7_000
ATTACHMENT: Final[dict[str, Json]] = {
    "id": "att_1",
    "name": "plan.png",
    "media_type": "image/png",
    "size_bytes": len(CONTENT),
    "sha256": hashlib.sha256(CONTENT).hexdigest(),
    "created_at": 5,
}
QUESTION: Final[Message] = {
    "id": "msg_1",
    "role": "user",
    "status": "completed",
    "content": [{"id": "b1", "type": "prose", "markdown": "Zwölf Münzen?\n"}],
    "created_at": 10,
}
ANSWER: Final[Message] = {
    "id": "turn_1",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"id": "b1", "type": "reasoning", "text": "Three.", "visibility": "private"},
        {"id": "b2", "type": "prose", "markdown": "Three weighings do."},
    ],
    "created_at": 11,
    "completed_at": 12,
    "usage": {"output_tokens": 7},
}
TURN: Final[dict[str, Json]] = {"id": "turn_1", "status": "completed", "engine": "replay"}
CONVERSATION: Final[dict[str, Json]] = {
    "id": "conv_1",
    "title": "Coins",
    "tags": ["maths"],
    "created_at": 9,
    "updated_at": 12,
    "seq": 12,
}


def conversation_lines(
    writer: ArchiveWriter,
    messages: Iterable[Message] = (QUESTION, ANSWER),
    content: bytes = CONTENT,
    piece_bytes: int = 49_152,
    conversation: dict[str, Json] | None = None,
) -> list[bytes]:
    """Return the lines of one conversation with an attachment, messages and a turn."""
    head = {**ATTACHMENT, "size_bytes": len(content), "sha256": digest(content)}
    pieces = [content[at : at + piece_bytes] for at in range(0, len(content), piece_bytes)]
    return [
        writer.start_conversation(CONVERSATION if conversation is None else conversation),
        writer.start_attachment(head),
        *(writer.add_data(piece) for piece in pieces or [b""]),
        *(writer.add_message(message) for message in messages),
        writer.add_turn(TURN),
        writer.end_conversation(),
    ]


def archive_lines(conversations: int = 1) -> list[bytes]:
    """Return the lines of an archive with so many equal conversations."""
    writer = ArchiveWriter()
    lines = [writer.start(created_at=20, generator="tests 1", view="owner")]
    for _ in range(conversations):
        lines += conversation_lines(writer)
    return [*lines, writer.end()]


def digest(content: bytes) -> str:
    """Return its SHA-256."""
    return hashlib.sha256(content).hexdigest()


def read_all(data: bytes, cut: int | None = None) -> list[ArchiveItem]:
    """Return the items of an archive that comes in pieces of ``cut`` bytes, or at once."""
    reader = ArchiveReader()
    items: list[ArchiveItem] = []
    for at in range(0, len(data), cut or len(data) or 1):
        items += reader.receive_data(data[at : at + (cut or len(data))])
    items += reader.receive_eof()
    return items
