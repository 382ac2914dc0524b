"""Lines out of bytes that come in any pieces.

Spec: docs/spec/gateway/exports.md, "The archive".
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["LineSplitter", "LineTooLongError"]


class LineTooLongError(Exception):
    """A line is longer than may be kept."""


class LineSplitter:
    """Cuts a stream of bytes into lines at LF.

    Between calls it keeps less than a line. Takes time linear in what comes.

    Args:
        bytes_max: Of one line without its end.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._pieces: list[bytes] = []
        self._size_bytes = 0

    @property
    def retained_bytes(self) -> int:
        """How many bytes of an unfinished line are kept."""
        return self._size_bytes

    def receive_data(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that ``data`` completes, without their LF. Exhaust it.

        Raises:
            LineTooLongError: Nothing can be read any more.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._check(end - start)
            if self._pieces:
                self._pieces.append(data[start:end])
                line = b"".join(self._pieces)
                self._pieces, self._size_bytes = [], 0
            else:
                line = data[start:end]
            yield line
            start = end + 1
        if start < len(data):
            self._check(len(data) - start)
            self._pieces.append(data[start:])
            self._size_bytes += len(data) - start

    def receive_eof(self) -> bytes:
        """Return the rest: a line without an end, or nothing."""
        rest = b"".join(self._pieces)
        self._pieces, self._size_bytes = [], 0
        return rest

    def _check(self, more_bytes: int) -> None:
        if self._size_bytes + more_bytes > self._bytes_max:
            raise LineTooLongError
