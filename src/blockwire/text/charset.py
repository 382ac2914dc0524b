"""What a terminal at hand can write.

Spec: docs/reference/terminal-output.md, "Encodings".
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["UTF_8", "Charset"]


class Charset(NamedTuple):
    """The encoding of a terminal, and what becomes of all that it cannot hold.

    Attributes:
        encoding: A codec that leaves ASCII as it is.
        errors: The name of an error handler that raises nothing; it keeps the width of a text.
    """

    encoding: str = "utf-8"
    errors: str = "replace"

    def encode(self, text: str) -> bytes:
        """Return the bytes of ``text``; never an error."""
        return text.encode(self.encoding, self.errors)


UTF_8: Final = Charset()
