"""Bytes to the JSON texts of one stream: an event stream, or one text per line.

Spec: docs/spec/providers.md, "Framing". Above is ``decoder``; below is ``sse``.
"""

from __future__ import annotations

from typing import Final, Protocol

from msgspec import Struct

from blockwire.sse import SseDecoder, SseEvent, SseItem

__all__ = ["EventStream", "Framing", "JsonLines", "RawChunk"]

# Bytes of one event or line; the largest that is seen holds a picture in base64.
CHUNK_BYTES_MAX: Final = 16 * 1024 * 1024

# Bytes kept of a body that may turn out to be no event stream but one JSON text.
HEAD_BYTES_MAX: Final = 1024 * 1024

_BOM: Final = b"\xef\xbb\xbf"


class RawChunk(Struct, frozen=True):
    """One JSON text as it came.

    Attributes:
        name: Event type of an event stream; empty where it has none.
        data: The text; None when it was larger than :data:`CHUNK_BYTES_MAX`.
    """

    name: str
    data: bytes | None


class Framing(Protocol):
    """Cuts a body into JSON texts."""

    def receive_data(self, data: bytes) -> list[RawChunk]:
        """Return the texts that ``data`` completed; blank ones are left out."""
        ...

    def receive_reconnect(self) -> None:
        """Forget the unfinished text: a new body begins."""
        ...

    def receive_eof(self) -> list[RawChunk]:
        """Return what may be a last text without its end; a cut one does not parse."""
        ...


class EventStream:
    """The data of an event stream, one JSON text per event."""

    def __init__(self) -> None:
        self._sse = SseDecoder(event_bytes_max=CHUNK_BYTES_MAX)
        self._head: bytearray | None = bytearray()

    def receive_data(self, data: bytes) -> list[RawChunk]:
        """Return the texts that ``data`` completed; blank ones are left out."""
        chunks = _raw_chunks(self._sse.receive_data(data))
        if chunks:
            self._head = None
        elif self._head is not None and len(self._head) + len(data) <= HEAD_BYTES_MAX:
            self._head += data
        return chunks

    def receive_reconnect(self) -> None:
        """Forget the unfinished event: a new body begins."""
        self._sse = SseDecoder(event_bytes_max=CHUNK_BYTES_MAX)

    def receive_eof(self) -> list[RawChunk]:
        """Return the event whose blank line is missing, or a body that was one JSON text.

        The standard drops an unfinished event. Here that would take a healthy answer for a cut
        one, and nothing is risked: a JSON object that was cut does not parse.
        """
        chunks = _raw_chunks(self._sse.receive_data(b"\n\n"))
        chunks += _raw_chunks(self._sse.receive_eof())
        if not chunks and self._head:
            chunks.append(RawChunk("", bytes(self._head)))
        return chunks


def _raw_chunks(items: list[SseItem]) -> list[RawChunk]:
    return [
        RawChunk(item.type, item.data.encode() if isinstance(item, SseEvent) else None)
        for item in items
        if not isinstance(item, SseEvent) or item.data.strip()
    ]


class JsonLines:
    """One JSON text per line."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._is_too_large = False

    def receive_data(self, data: bytes) -> list[RawChunk]:
        """Return the texts that ``data`` completed; blank ones are left out."""
        *ended, rest = data.split(b"\n")
        chunks: list[RawChunk] = []
        for piece in ended:
            self._keep(piece)
            chunks += self._take_line()
        self._keep(rest)
        return chunks

    def _keep(self, piece: bytes) -> None:
        if self._is_too_large or len(self._line) + len(piece) > CHUNK_BYTES_MAX:
            self._is_too_large = True
            self._line.clear()
        else:
            self._line += piece

    def _take_line(self) -> list[RawChunk]:
        line = bytes(self._line).removeprefix(_BOM).strip()
        is_too_large = self._is_too_large
        self._line.clear()
        self._is_too_large = False
        if is_too_large:
            return [RawChunk("", None)]
        if not line:
            return []
        return [RawChunk("", line.decode(errors="replace").encode())]

    def receive_reconnect(self) -> None:
        """Forget the unfinished line: a new body begins."""
        self._line.clear()
        self._is_too_large = False

    def receive_eof(self) -> list[RawChunk]:
        """Return the line whose end is missing; a cut one does not parse."""
        return self._take_line()
