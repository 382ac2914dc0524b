"""What an emulator may answer a program.

Spec: docs/spec/host/emulation.md, "Modes and replies".
"""

from __future__ import annotations

import re
from typing import Final

# Cursor position and status, device attributes, modes, and the size in cells. Nothing else: not the
# keyboard protocol of kitty, which nobody would speak here, and nothing that repeats a text.
_ALLOWED: Final = re.compile(
    rb"\x1b\[\??[0-9]{1,5};[0-9]{1,5}(?:;[0-9]{1,5})?R"
    rb"|\x1b\[\??[0-9]{1,5}n"
    rb"|\x1b\[[?>][0-9;]{0,64}c"
    rb"|\x1bP!\|[0-9A-F]{8}\x1b\\"
    rb"|\x1b\[\??[0-9]{1,5};[0-4]\$y"
    rb"|\x1b\[8;[0-9]{1,5};[0-9]{1,5}t"
)


def allowed_replies(data: bytes) -> bytes:
    """Return the replies in ``data`` that a program may get, in order."""
    return b"".join(_ALLOWED.findall(data))
