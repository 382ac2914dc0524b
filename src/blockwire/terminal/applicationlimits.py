"""How patient an application is with its terminal, and how much it keeps for it.

Spec: docs/spec/terminal/application.md, "Bounds".
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from blockwire.terminal.detection import ANSWER_S

__all__ = ["REQUEST_S", "WAITING_BYTES_MAX", "ApplicationLimits"]

REQUEST_S: Final = 10.0
"""How long a terminal may take to open or close a Context: it may have much to do before."""

WAITING_BYTES_MAX: Final = 8_388_608
"""How much may wait to be written before a program is refused more."""


class ApplicationLimits(Struct, frozen=True, kw_only=True):
    """How patient an application is, and how much it keeps.

    Attributes:
        answer_s: How long an answer to the query is waited for.
        request_s: How long one to a request about a Context is.
        waiting_bytes_max: How much may wait to be written before a program is refused more.
    """

    answer_s: float = ANSWER_S
    request_s: float = REQUEST_S
    waiting_bytes_max: int = WAITING_BYTES_MAX
