"""What the status line says for a moment.

Spec: docs/spec/host/index.md, "The status line".
"""

from __future__ import annotations

from typing import Final

# Long enough to be read, short enough not to be in the way.
NOTICE_S: Final = 3.0


class Notices:
    """At most one notice; a newer one takes its place.

    Attributes:
        text: None if there is none.
        until_s: When it goes.
    """

    def __init__(self) -> None:
        self.text: str | None = None
        self.until_s: float | None = None

    def say(self, text: str, now_s: float) -> None:
        """Say something for a moment."""
        self.text, self.until_s = text, now_s + NOTICE_S

    def tick(self, now_s: float) -> bool:
        """Let the notice go if it is time; return whether it went."""
        if self.until_s is None or now_s < self.until_s:
            return False
        self.text = self.until_s = None
        return True
