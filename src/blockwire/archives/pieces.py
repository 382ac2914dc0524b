"""The items of a JSON array that is too large to be read whole.

Spec: docs/spec/gateway/exports.md, "Histories of other programs".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from blockwire.archives.report import HistoryError

__all__ = ["JsonItems"]

_BLANKS: Final = b" \t\r\n"
_OUTSIDE: Final = re.compile(rb'["\[\]{},]')
_INSIDE: Final = re.compile(rb'["\\]')
_DEPTHS: Final = {b'"': 0, b",": 0, b"[": 1, b"{": 1, b"]": -1, b"}": -1}
_ENDS: Final = frozenset({b",", b"]"})


class JsonItems:
    """Cuts the bytes of a JSON array into those of its items; another value is one item.

    Looks at brackets and strings only: whether an item is JSON is for its reader to say. Takes time
    linear in what comes, and keeps one item.

    Args:
        item_bytes_max: Of one item.
    """

    def __init__(self, item_bytes_max: int) -> None:
        self._item_bytes_max = item_bytes_max
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self._is_array: bool | None = None
        self._is_over = False
        self._depth = 0
        self._in_string = False
        self._is_escaped = False

    @property
    def retained_bytes(self) -> int:
        """How many bytes of an unfinished item are kept."""
        return self._size_bytes

    def receive_data(self, data: bytes) -> Iterator[bytes]:
        """Yield the items that ``data`` completes. Exhaust it.

        Raises:
            HistoryError: ``invalid_json`` for brackets that do not fit, ``item_too_large``.
        """
        if self._is_array is None:
            data = data.lstrip(_BLANKS).removeprefix(b"\xef\xbb\xbf").lstrip(_BLANKS)
            if not data:
                return
            self._is_array = data[:1] == b"["
            data = data[1:] if self._is_array else data
        if not self._is_array:
            self._keep(data)
            return
        yield from self._cut(data)

    def _cut(self, data: bytes) -> Iterator[bytes]:
        start = 0
        for end, mark in self._marks(data):
            if self._is_over:
                raise _not_json()
            if self._depth or mark not in _ENDS:
                self._depth += _DEPTHS[mark]
                if self._depth < 0:
                    raise _not_json()
                continue
            self._keep(data[start : end - 1])
            start = end
            self._is_over = mark == b"]"
            if self._size_bytes:
                yield self._take()
            elif not self._is_over:
                raise _not_json()
        rest = data[start:]
        if not self._is_over:
            self._keep(rest)
        elif rest.strip(_BLANKS):
            raise _not_json()

    def _marks(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield what matters outside of strings, with the place behind it."""
        position = 0
        while position < len(data):
            if self._is_escaped:
                self._is_escaped = False
                position += 1
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(data, position)
            if found is None:
                return
            position, mark = found.end(), found.group()
            if self._in_string:
                self._is_escaped = mark == b"\\"
                self._in_string = self._is_escaped
            else:
                self._in_string = mark == b'"'
                yield position, mark

    def receive_eof(self) -> Iterator[bytes]:
        """Yield the value that is no array.

        Raises:
            HistoryError: ``history_truncated`` when the array has no end.
        """
        if self._is_array is None or (self._is_array and not self._is_over):
            raise HistoryError(
                "history_truncated", "the file ends before its JSON does; get it again"
            )
        if not self._is_array:
            yield self._take()

    def _keep(self, piece: bytes) -> None:
        if not self._pieces:
            piece = piece.lstrip(_BLANKS)
        if not piece:
            return
        self._size_bytes += len(piece)
        if self._size_bytes > self._item_bytes_max:
            detail = f"a conversation of the file has over {self._item_bytes_max} bytes"
            raise HistoryError("item_too_large", detail)
        self._pieces.append(piece)

    def _take(self) -> bytes:
        item = b"".join(self._pieces)
        self._pieces, self._size_bytes = [], 0
        return item


def _not_json() -> HistoryError:
    return HistoryError("invalid_json", "the file is no JSON: its brackets do not fit")
