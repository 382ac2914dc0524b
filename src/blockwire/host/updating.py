"""Updates that a program announces (DEC mode 2026): nothing of them is drawn before they are whole.

Spec: docs/spec/host/index.md, "Updates in one piece".
"""

from __future__ import annotations

from typing import Final

# What others wait too: long for a program that draws, short for a person before one that has died.
UPDATE_S: Final = 0.15

_BEGIN: Final = b"\x1b[?2026h"


def last_update(data: bytes) -> int | None:
    """Return where the last update begins that ``data`` begins; None if there is none.

    Before it is the last moment at which everything may be drawn. A beginning that is written in
    another way is not found: then what was drawn before stays until the end.
    """
    begin = data.rfind(_BEGIN)
    return begin if begin >= 0 else None


class Updating:
    """Whether a program is within an update, and for how long that is believed.

    Attributes:
        until_s: Until then nothing is drawn; None if anything may be.
    """

    def __init__(self) -> None:
        self.until_s: float | None = None
        # Whether the update was not over in time: it no longer counts until it is over.
        self._is_overdue = False

    def note(self, now_s: float, *, is_on: bool) -> None:
        """Take what the program says now."""
        if not is_on:
            self.until_s, self._is_overdue = None, False
        elif self.until_s is None and not self._is_overdue:
            self.until_s = now_s + UPDATE_S

    def tick(self, now_s: float) -> bool:
        """Wait no longer if it is time; return whether that is so."""
        if self.until_s is None or now_s < self.until_s:
            return False
        self.until_s, self._is_overdue = None, True
        return True
