"""Which trace the work at hand belongs to, so that what it starts can join it.

Spec: docs/spec/gateway/operations.md, "Traces". The value follows the work of its own accord: a task
inherits the context of whoever started it.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

__all__ = ["CURRENT_TRACEPARENT"]

CURRENT_TRACEPARENT: Final[ContextVar[str | None]] = ContextVar(
    "blockwire_traceparent", default=None
)
"""W3C Trace Context, level 1: a valid ``traceparent``; None where nobody asked for a trace."""
