"""What was typed into the chat, kept for its next start: one JSON string a line.

Spec: docs/spec/chat/drawing.md, "Inputs of earlier times".
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, encode_json

__all__ = ["InputFile"]

FILE_BYTES_MAX: Final = 4_194_304
"""Of a larger file the end is read."""

FILE_MODE: Final = 0o600
"""What a person asks is their own business."""


class InputFile:
    """Inputs in a file; without one that can be read or written, the chat works all the same.

    Args:
        path: Of the file; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> list[str]:
        """Return the inputs, the oldest first; what is no input is passed over."""
        if self._path is None:
            return []
        data = b""
        with suppress(OSError), self._path.open("rb") as file:
            size_bytes = file.seek(0, os.SEEK_END)
            file.seek(max(size_bytes - FILE_BYTES_MAX, 0))
            data = file.read(FILE_BYTES_MAX)
        inputs: list[str] = []
        for line in data.split(b"\n"):
            with suppress(RemoteProtocolError):
                value = decode_json(line)
                if isinstance(value, str):
                    inputs.append(value)
        return inputs

    def add(self, text: str) -> None:
        """Append an input; two chats at once take nothing from each other."""
        if self._path is None:
            return
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, FILE_MODE)
            try:
                os.write(descriptor, encode_json(text) + b"\n")
            finally:
                os.close(descriptor)
