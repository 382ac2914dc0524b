r"""What the outer terminal is told when the host takes it and gives it back.

Spec: docs/spec/host/leaving.md. No I/O, and nothing is imported that the watchdog could do without.
"""

from __future__ import annotations

from typing import Final

__all__ = ["CANCEL", "LEAVE", "enter_sequence"]

CANCEL: Final = b"\x18"
"""CAN: a terminal drops the sequence that it is in the middle of."""

LEAVE: Final = (
    b"\x1b[?2026l"  # the end of a frame that was cut: some terminals show nothing until then
    b"\x1b[r\x1b[0m\x1b]8;;\x1b\\"  # region, style and link; the region before the cursor is put back
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l"
    b"\x1b[23;2t"  # the title that the window had
    b"\x1b[0 q\x1b[?7h"
    b"\x1b[?1049l\x1b[?25h"
)
"""Switches off all that the host may have switched on; does no harm where nothing is on.

The stack of the Kitty keyboard protocol is left alone: nothing is ever put on it.
"""

_ENTER: Final = b"\x1b[22;2t\x1b[?1049h\x1b[?2004h\x1b[?1004h"
_MOUSE: Final = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h"


def enter_sequence(*, has_mouse: bool) -> bytes:
    """Return what is written each time the host gets the terminal.

    Args:
        has_mouse: Whether clicks, drags and the wheel come to us.
    """
    return _ENTER + (_MOUSE if has_mouse else b"")
