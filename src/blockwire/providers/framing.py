"""Bytes to the JSON texts of one stream: an event stream, one text per line, or an array of them.

Spec: docs/spec/providers.md, "Framing". Above is ``decoder``; below is ``sse``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol

from msgspec import Struct

from blockwire.sse import SseDecoder, SseEvent, SseItem

__all__ = ["EventStream", "Framing", "JsonLines", "JsonValues", "RawChunk"]

# Bytes of one event or line; the largest that is seen holds a picture in base64.
CHUNK_BYTES_MAX: Final = 16 * 1024 * 1024

# Bytes of blanks after which a body that has not begun yet is taken for an event stream.
HEAD_BYTES_MAX: Final = 1024

# With one of these begins a line of an event stream, even a cut one.
_FIELDS: Final = (b":", b"data", b"event", b"id", b"retry")

# Bytes of a beginning that tell whether it is one of them.
_FIELD_BYTES_MAX: Final = max(map(len, _FIELDS))

# What matters when JSON is cut into its values; what stands in strings is passed over.
_MARK: Final = re.compile(rb'["\\{}\[\]]')
_OPENING: Final = b"{["
_QUOTE: Final = ord('"')
_BACKSLASH: Final = ord("\\")

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
    """The data of an event stream, one JSON text per event; or JSON, where the body is that."""

    def __init__(self) -> None:
        self._sse = SseDecoder(event_bytes_max=CHUNK_BYTES_MAX)
        # The body until it is clear what it is.
        self._head: bytearray | None = bytearray()
        self._values: JsonValues | None = None
        # How the body began, as long as no event came of it; the same however it was cut.
        self._foreign: bytes | None = None

    def receive_data(self, data: bytes) -> list[RawChunk]:
        """Return the texts that ``data`` completed; blank ones are left out."""
        if self._head is not None:
            self._head += data
            if not _has_begun(self._head):
                return []
            data, self._head = bytes(self._head), None
            self._begin(data)
        elif self._foreign is not None:
            self._foreign = (self._foreign + data).lstrip()[:_FIELD_BYTES_MAX]
        if self._values is not None:
            return self._values.receive_data(data)
        chunks = _raw_chunks(self._sse.receive_data(data))
        if chunks:
            self._foreign = None
        return chunks

    def _begin(self, data: bytes) -> None:
        beginning = data.removeprefix(_BOM).lstrip()
        has_head = len(data) - len(beginning) <= HEAD_BYTES_MAX
        if has_head and beginning[:1] in {b"{", b"["}:
            self._values = JsonValues()
        else:
            self._foreign = beginning[:_FIELD_BYTES_MAX]

    def receive_reconnect(self) -> None:
        """Forget the unfinished event: a new body begins."""
        self._sse = SseDecoder(event_bytes_max=CHUNK_BYTES_MAX)
        self._head = bytearray()
        self._values = None
        self._foreign = None

    def receive_eof(self) -> list[RawChunk]:
        """Return the event whose blank line is missing, or the beginning of what is no stream.

        The standard drops an unfinished event. Here that would take a healthy answer for a cut
        one, and nothing is risked: a JSON object that was cut does not parse.
        """
        if self._values is not None:
            return self._values.receive_eof()
        chunks = _raw_chunks(self._sse.receive_data(b"\n\n"))
        chunks += _raw_chunks(self._sse.receive_eof())
        if not chunks and self._foreign and not _is_field(self._foreign):
            chunks.append(RawChunk("", self._foreign))
        return chunks


def _has_begun(head: bytearray) -> bool:
    if len(head) > HEAD_BYTES_MAX:
        return True
    return bool(head.removeprefix(_BOM).strip()) and not _BOM.startswith(head)


def _is_field(beginning: bytes) -> bool:
    """Return whether a body begins as an event stream does; it may be cut in the first word."""
    return any(beginning.startswith(name) or name.startswith(beginning) for name in _FIELDS)


def _raw_chunks(items: list[SseItem]) -> list[RawChunk]:
    return [
        RawChunk(item.type, item.data.encode() if isinstance(item, SseEvent) else None)
        for item in items
        if not isinstance(item, SseEvent) or item.data.strip()
    ]


class _Depth:
    """How deep in arrays and objects a JSON text is, byte by byte."""

    def __init__(self) -> None:
        self.depth = 0
        self.is_in_string = False
        # Where the byte stands that a backslash made plain, counted from the next piece on.
        self._escaped = -1

    def receive_data(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield each bracket's position and the depth after it; strings are passed over."""
        for mark in _MARK.finditer(data):
            position = mark.start()
            if position == self._escaped or self._is_text(data, position):
                continue
            self.depth = self.depth + 1 if data[position] in _OPENING else max(self.depth - 1, 0)
            yield position, self.depth
        self._escaped -= len(data)

    def _is_text(self, data: bytes, position: int) -> bool:
        """Return whether the mark is a quote, or text between quotes."""
        if data[position] == _QUOTE:
            self.is_in_string = not self.is_in_string
            return True
        if self.is_in_string and data[position] == _BACKSLASH:
            self._escaped = position + 1
        return self.is_in_string


class JsonValues:
    """The objects of a body that is one JSON object, several of them, or one array of them.

    An array is what Gemini sends to who does not ask for events, and a lone object what a server
    answers that does not stream.
    """

    def __init__(self) -> None:
        self._value = bytearray()
        self._is_too_large = False
        self._depth = _Depth()
        # Depth at which values begin: 1 inside the array around them.
        self._base: int | None = None

    def receive_data(self, data: bytes) -> list[RawChunk]:
        """Return the texts that ``data`` completed."""
        chunks: list[RawChunk] = []
        start = 0
        for position, depth in self._depth.receive_data(data):
            is_opening = data[position] in _OPENING
            if self._base is None:
                self._base = int(data[position : position + 1] == b"[")
            if is_opening and depth == self._base + 1:
                start = position
            elif not is_opening and depth == self._base:
                self._keep(data[start : position + 1])
                chunks.append(self._take())
        if self._base is not None and self._depth.depth > self._base:
            self._keep(data[start:])
        return chunks

    def _keep(self, piece: bytes) -> None:
        if self._is_too_large or len(self._value) + len(piece) > CHUNK_BYTES_MAX:
            self._is_too_large = True
            self._value.clear()
        else:
            self._value += piece

    def _take(self) -> RawChunk:
        text = self._value.decode(errors="replace").encode()
        chunk = RawChunk("", None if self._is_too_large else text)
        self._value.clear()
        self._is_too_large = False
        return chunk

    def receive_eof(self) -> list[RawChunk]:
        """Return the value whose end is missing: it does not parse."""
        return [self._take()] if self._value or self._is_too_large else []


class JsonLines:
    """One JSON text per line; an object whose line ends before it does goes on in the next."""

    def __init__(self) -> None:
        self.receive_reconnect()

    def receive_reconnect(self) -> None:
        """Forget the unfinished text: a new body begins."""
        self._line = bytearray()
        self._depth = _Depth()
        self._is_too_large = False

    def receive_data(self, data: bytes) -> list[RawChunk]:
        """Return the texts that ``data`` completed; blank ones are left out."""
        *ended, rest = data.split(b"\n")
        chunks: list[RawChunk] = []
        for piece in ended:
            self._keep(piece)
            if self._depth.depth == 0 or self._depth.is_in_string:
                # A string that no quote has ended is broken: it does not go on in the next line.
                chunks += self._take_line()
            else:
                self._keep(b"\n")
        self._keep(rest)
        return chunks

    def _keep(self, piece: bytes) -> None:
        for _ in self._depth.receive_data(piece):
            pass
        if self._is_too_large or len(self._line) + len(piece) > CHUNK_BYTES_MAX:
            self._is_too_large = True
            self._line.clear()
        else:
            self._line += piece

    def _take_line(self) -> list[RawChunk]:
        line = bytes(self._line).removeprefix(_BOM).strip()
        is_too_large = self._is_too_large
        self.receive_reconnect()
        if is_too_large:
            return [RawChunk("", None)]
        if not line:
            return []
        return [RawChunk("", line.decode(errors="replace").encode())]

    def receive_eof(self) -> list[RawChunk]:
        """Return the text whose end is missing; a cut one does not parse."""
        return self._take_line()
