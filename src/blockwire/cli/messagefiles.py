"""Messages out of files: a message, many of them, an export, an archive, or one value a line.

Spec: docs/reference/cli.md. Lines are read as they come, so a file of any length takes the memory
of its longest line; a document that spans lines is read as a whole, and is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from blockwire.cli.documents import read_pieces
from blockwire.content import Message, check_message
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json

__all__ = ["DOCUMENT_BYTES_MAX", "ConversationFacts", "read_messages"]

DOCUMENT_BYTES_MAX: Final = 256 * 1024 * 1024
"""Longest line, and longest document of several lines."""
# Above a message stand at most the list, the member that holds it, and the line.
_DEPTH_MAX: Final = 68
_LISTS: Final = ("messages", "items")
_MESSAGE_MEMBERS: Final = frozenset({"role", "content"})


class ConversationFacts(NamedTuple):
    """What a file says about the conversation whose messages follow."""

    title: str | None
    created_at: int | None


def read_messages(name: str) -> Iterator[Message | ConversationFacts]:
    """Yield the messages of a file, and what it says about their conversation before them.

    Args:
        name: Path, or ``-`` for standard input.

    Raises:
        LocalProtocolError: ``file_unreadable``, ``document_too_large``, ``no_messages``; and for
            what is no valid message the code that tells why, with line and place.
    """
    found = False
    for where, value in _values(name):
        try:
            for item in _items(value):
                found = found or not isinstance(item, ConversationFacts)
                yield item
        except RemoteProtocolError as error:
            raise LocalProtocolError(
                error.code, where + error.detail, pointer=error.pointer
            ) from None
    if not found:
        raise LocalProtocolError(
            "no_messages", "there is no message in it; blockwire show --json prints some"
        )


def _items(value: Json) -> Iterator[Message | ConversationFacts]:
    if isinstance(value, dict) and not value.keys() >= _MESSAGE_MEMBERS:
        yield from _facts(value)
        listed = [name for name in _LISTS if isinstance(value.get(name), list)]
        for name in listed[:1]:
            yield from _messages(value[name], f"/{name}")
        if "message" in value:
            yield check_message(value["message"], "/message")
        elif not listed and not isinstance(value.get("type"), str):
            # Lines of other types, as archives and event logs have them, hold no message.
            check_message(value)
    elif isinstance(value, list):
        yield from _messages(value, "")
    else:
        yield check_message(value)


def _facts(value: dict[str, Json]) -> Iterator[ConversationFacts]:
    conversation = value.get("conversation")
    if isinstance(conversation, dict):
        title, created_at = conversation.get("title"), conversation.get("created_at")
        yield ConversationFacts(
            title if isinstance(title, str) else None,
            created_at if type(created_at) is int else None,
        )


def _messages(items: Json, place: str) -> Iterator[Message]:
    assert isinstance(items, list), "the caller looked"
    for index, item in enumerate(items):
        yield check_message(item, f"{place}/{index}")


def _values(name: str) -> Iterator[tuple[str, Json]]:
    """Yield each JSON text with its place: one a line where the first line is one, else all."""
    lines = enumerate(_lines(read_pieces(name)), 1)
    is_first = True
    for number, line in lines:
        if not line.strip():
            continue
        where = f"line {number}: "
        try:
            value = decode_json(line, depth_max=_DEPTH_MAX)
        except RemoteProtocolError as error:
            if is_first:
                # Blank lines stand for those that were read, so that places are those of the file.
                where, value = "", _document([b"\n" * (number - 1), line], lines)
            else:
                # In its text, the line is the first one.
                detail = error.detail.replace(" at line 1 column", " at column")
                raise LocalProtocolError(error.code, where + detail) from None
        is_first = False
        yield where, value


def _document(parts: list[bytes], lines: Iterator[tuple[int, bytes]]) -> Json:
    size = sum(map(len, parts))
    for _number, line in lines:
        size += len(line)
        _check_size(size)
        parts.append(line)
    try:
        return decode_json(b"".join(parts), depth_max=_DEPTH_MAX)
    except RemoteProtocolError as error:
        raise LocalProtocolError(error.code, error.detail) from None


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends; bounded, and linear in what comes."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        for part in _split(piece):
            held.append(part)
            size += len(part)
            _check_size(size)
            if part.endswith(b"\n"):
                yield b"".join(held)
                held, size = [], 0
    if held:
        yield b"".join(held)


def _split(piece: bytes) -> Iterator[bytes]:
    # Not splitlines(), which also ends lines at a CR alone.
    start = 0
    while (end := piece.find(b"\n", start) + 1) > 0:
        yield piece[start:end]
        start = end
    if start < len(piece):
        yield piece[start:]


def _check_size(size: int) -> None:
    if size > DOCUMENT_BYTES_MAX:
        raise LocalProtocolError(
            "document_too_large",
            f"more than {DOCUMENT_BYTES_MAX // 2**20} MiB without a line that is one message; "
            "JSONL, one message a line, has no such bound",
        )
