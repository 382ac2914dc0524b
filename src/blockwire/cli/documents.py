"""Files as command lines name them: a path, or ``-`` for standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from blockwire.errors import LocalProtocolError

__all__ = ["read_document", "read_pieces"]

PIECE_BYTES: Final = 65_536


def read_pieces(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file as they come.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    try:
        if name == "-":
            # Unbuffered: a pipe is read as it fills, not when it ends.
            while piece := os.read(sys.stdin.fileno(), PIECE_BYTES):
                yield piece
            return
        with Path(name).open("rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece
    except OSError as error:
        raise LocalProtocolError(
            "file_unreadable", f"cannot read {name}: {error.strerror}"
        ) from None


def read_document(name: str) -> bytes:
    """Return the whole of a file.

    Raises:
        LocalProtocolError: ``file_unreadable``.
    """
    return b"".join(read_pieces(name))
