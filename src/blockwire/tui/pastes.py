"""Pasted bytes as text that can do nothing but be read.

Spec: docs/spec/chat/input.md, "Paste".
"""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["PASTE_CHARS_MAX", "PasteReader", "clean_text", "is_long"]

PASTE_CHARS_MAX: Final = 4_194_304
"""Of one paste; four times what a terminal is asked to bear without loss."""

PASTE_LINES_SHOWN_MAX: Final = 20
PASTE_CHARS_SHOWN_MAX: Final = 1_000
"""A longer paste is shown as a placeholder: it would push the conversation off the screen."""

# All of C0 and C1 but Tab and LF, and DEL: ESC[201~ and its C1 form cannot end a paste twice.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean_text(text: str) -> str:
    """Return ``text`` with LF for each line break, and no other control than Tab."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def is_long(text: str) -> bool:
    """Return whether a placeholder stands for ``text``."""
    return len(text) > PASTE_CHARS_SHOWN_MAX or text.count("\n") >= PASTE_LINES_SHOWN_MAX


class PasteReader:
    """Puts the pieces of pastes together.

    Attributes:
        is_cut: Whether the last paste was longer than :data:`PASTE_CHARS_MAX`, and lost its end.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parts: list[str] = []
        self._is_open = False
        self._room_chars = PASTE_CHARS_MAX
        self.is_cut = False

    def receive_data(self, data: bytes, *, is_last: bool) -> str | None:
        """Return the whole paste with its last piece, cleaned; None before."""
        if not self._is_open:
            self._is_open = True
            self._room_chars = PASTE_CHARS_MAX
            self.is_cut = False
        text = self._decoder.decode(data, is_last)
        if len(text) > self._room_chars:
            self.is_cut = True
            text = text[: self._room_chars]
        if text:
            self._parts.append(text)
            self._room_chars -= len(text)
        if not is_last:
            return None
        whole = "".join(self._parts)
        self._parts.clear()
        self._decoder.reset()
        self._is_open = False
        return clean_text(whole)
