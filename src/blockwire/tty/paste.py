"""What is pasted, on its way to the program: it acts on nothing and does not end its own brackets.

Spec: docs/spec/host/input.md, "Pastes".
"""

from __future__ import annotations

import codecs
import re
from typing import Final

__all__ = ["PASTE_BEGIN", "PASTE_END", "PasteEncoder", "encode_paste"]

PASTE_BEGIN: Final = b"\x1b[200~"
PASTE_END: Final = b"\x1b[201~"

# Tab, line ends and form feed stay: no line discipline acts on them, and texts have them.
_ACTING: Final = re.compile("[^\t\n\f\r -~\u00a0-\U0010ffff]+")
_LINE_END: Final = re.compile("\r\n|\n")


class PasteEncoder:
    """Encodes one paste after the other, each in pieces; retains a cut character at most."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_open = False
        self._is_bracketed = False
        self._is_after_cr = False

    def encode(self, data: bytes, *, is_last: bool, bracketed: bool) -> bytes:
        """Return the next piece for the program, in time linear in its length.

        Args:
            data: Cut anywhere. What is no UTF-8 becomes U+FFFD.
            is_last: Whether the paste ends with it.
            bracketed: Whether the program has set mode 2004. The first piece decides for all: what
                was opened is closed.
        """
        before = after = b""
        if not self._is_open:
            self._is_open, self._is_bracketed = True, bracketed
            before = PASTE_BEGIN if bracketed else b""
        text = _ACTING.sub("", self._decoder.decode(data, final=is_last))
        if not self._is_bracketed:
            text = self._to_returns(text)
        if is_last:
            after = PASTE_END if self._is_bracketed else b""
            self._is_open = self._is_after_cr = False
        return before + text.encode() + after

    def _to_returns(self, text: str) -> str:
        """Return ``text`` with the line ends that the Enter key makes."""
        if not text:
            return text
        is_after_cr, self._is_after_cr = self._is_after_cr, text.endswith("\r")
        if is_after_cr:
            text = text.removeprefix("\n")
        return _LINE_END.sub("\r", text)


def encode_paste(data: bytes, *, bracketed: bool) -> bytes:
    """Return a whole paste for the program: see :class:`PasteEncoder`."""
    return PasteEncoder().encode(data, is_last=True, bracketed=bracketed)
