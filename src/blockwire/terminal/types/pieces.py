"""A text that grows at its end and is cut at its end, however often, for the price of the change.

Spec: docs/spec/terminal/content-types.md, "Cost".

Whole chunks all have the same length, so an offset finds its chunk by division. What came last waits
in small pieces until it fills a chunk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Scalars of a whole chunk; what one change may copy beyond itself.
CHUNK_CHARS: Final = 4_096

# Pieces that wait to become a chunk; strings of one character take dozens of bytes each.
WAITING_PIECES_MAX: Final = 64

# Most texts never have one, and a list for each would be work for the collector. Stays empty.
_NO_CHUNKS: Final[list[str | bytes]] = []

_BREAK: Final = re.compile(r"\r\n?|\n")


class TextLine(NamedTuple):
    """A line of a text: offset of its first scalar, text without the break, scalars of the break."""

    start: int
    text: str
    break_chars: int


def utf8_bytes(text: str) -> int:
    """Return the length of ``text`` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def _packed(chunk: str) -> str | bytes:
    """Return a whole chunk as it is kept: in at most twice the bytes of its UTF-8.

    One character may make a string take four bytes for each.
    """
    if chunk.isascii():
        return chunk
    encoded = chunk.encode()
    return encoded if len(encoded) < 2 * len(chunk) else chunk


def _unpacked(chunk: str | bytes) -> str:
    return chunk if isinstance(chunk, str) else chunk.decode()


class GrowingText:
    """A text of Unicode scalar values.

    Adding takes time in what is added and cutting in what is removed, amortised, each plus at most
    :data:`CHUNK_CHARS`; neither depends on the length of the whole or on the number of changes.

    Attributes:
        scalar_count: Its length in Unicode scalar values.
        utf8_bytes: Its length in UTF-8.
    """

    __slots__ = ("_chunks", "_waiting", "_waiting_chars", "scalar_count", "utf8_bytes")

    def __init__(self, text: str = "") -> None:
        self._chunks = _NO_CHUNKS
        self._waiting: list[str] = []
        self._waiting_chars = 0
        self.scalar_count = 0
        self.utf8_bytes = 0
        self.add(text)

    def add(self, text: str) -> None:
        """Add ``text`` at the end."""
        if not text:
            return
        self.scalar_count += len(text)
        self.utf8_bytes += utf8_bytes(text)
        self._waiting.append(text)
        self._waiting_chars += len(text)
        if self._waiting_chars >= CHUNK_CHARS:
            self._make_chunks()
        elif len(self._waiting) > WAITING_PIECES_MAX:
            self._waiting = ["".join(self._waiting)]

    def cut(self, retain: int) -> None:
        """Keep the first ``retain`` scalars, which are at most all."""
        removed: list[str] = []
        whole_chars = len(self._chunks) * CHUNK_CHARS
        while whole_chars > retain:
            removed.append(self._rest())
            self._wait_for(_unpacked(self._chunks.pop()))
            whole_chars -= CHUNK_CHARS
        rest = self._rest()
        kept = rest[: retain - whole_chars]
        removed.append(rest[retain - whole_chars :])
        self._wait_for(kept)
        self.utf8_bytes -= sum(map(utf8_bytes, removed))
        self.scalar_count = retain

    def utf8_bytes_from(self, start: int) -> int:
        """Return the UTF-8 bytes of what stands from scalar ``start``, in time of that."""
        if start == self.scalar_count:
            return 0
        return sum(map(utf8_bytes, self._pieces_from(start)))

    def text(self) -> str:
        """Return all of it."""
        return "".join((*map(_unpacked, self._chunks), *self._waiting))

    def slice(self, start: int, end: int) -> str:
        """Return the scalars from ``start`` up to ``end``, in time of what is returned."""
        first, skipped = divmod(start, CHUNK_CHARS)
        last = (end - 1) // CHUNK_CHARS if end > start else first
        if first == last:
            return self._piece(first)[skipped : skipped + end - start]
        joined = "".join(self._piece(index) for index in range(first, last + 1))
        return joined[skipped : skipped + end - start]

    def line_start(self, at: int) -> int:
        """Return where the line begins that holds scalar ``at``, or the last line from the end on.

        A break belongs to the line that it ends: LF, CRLF or a CR before anything else.
        """
        position = min(at, self.scalar_count - 1)
        while position > 0:
            # Of the line before, all but the break is looked through at once.
            index, end = divmod(position - 1, CHUNK_CHARS)
            piece = self._piece(index)
            found = max(piece.rfind("\n", 0, end + 1), piece.rfind("\r", 0, end + 1))
            if found < 0:
                position = index * CHUNK_CHARS
                continue
            behind = index * CHUNK_CHARS + found + 1
            if piece[found] == "\n" or self.slice(behind, behind + 1) != "\n":
                return behind
            position = behind - 1
        return 0

    def lines(self, start: int) -> Iterator[TextLine]:
        """Yield the lines from ``start``, where one begins; at least one, and none behind a last break."""
        parts: list[str] = []
        is_after_cr = False
        line_start = start
        for piece in self._pieces_from(start):
            at = 0
            if is_after_cr:
                is_after_cr = False
                at = int(piece[0] == "\n")
                line = "".join(parts)
                yield TextLine(line_start, line, 1 + at)
                line_start += len(line) + 1 + at
                parts.clear()
            for found in _BREAK.finditer(piece, at):
                parts.append(piece[at : found.start()])
                at = found.end()
                if at == len(piece) and piece[-1] == "\r":
                    # Whether an LF belongs to it is known with the next piece.
                    is_after_cr = True
                    break
                line = "".join(parts)
                yield TextLine(line_start, line, at - found.start())
                line_start += len(line) + at - found.start()
                parts.clear()
            if at < len(piece):
                parts.append(piece[at:])
        if is_after_cr or parts or line_start == start:
            yield TextLine(line_start, "".join(parts), int(is_after_cr))

    def _pieces_from(self, start: int) -> Iterator[str]:
        """Yield what stands from ``start`` in pieces that are not empty."""
        first, skipped = divmod(start, CHUNK_CHARS)
        for index in range(first, len(self._chunks) + 1):
            piece = self._piece(index)
            if len(piece) > skipped:
                yield piece[skipped:] if skipped else piece
            skipped = 0

    def _piece(self, index: int) -> str:
        return _unpacked(self._chunks[index]) if index < len(self._chunks) else self._rest()

    def _rest(self) -> str:
        """Return what stands behind the whole chunks, as one piece from now on."""
        if len(self._waiting) > 1:
            self._waiting = ["".join(self._waiting)]
        return self._waiting[0] if self._waiting else ""

    def _wait_for(self, rest: str) -> None:
        self._waiting = [rest] if rest else []
        self._waiting_chars = len(rest)

    def _make_chunks(self) -> None:
        waiting = "".join(self._waiting)
        end = len(waiting) - len(waiting) % CHUNK_CHARS
        if not self._chunks:
            self._chunks = []
        self._chunks += [
            _packed(waiting[at : at + CHUNK_CHARS]) for at in range(0, end, CHUNK_CHARS)
        ]
        self._wait_for(waiting[end:])
