"""Named places where a crash test may kill the process.

Spec: docs/spec/gateway/persistence.md. The shipped code path passes through them; without a test
that arms one they do nothing.
"""

from __future__ import annotations

from typing import Literal, Protocol

__all__ = ["FaultPoint", "Faults"]

FaultPoint = Literal[
    "encode.before",
    "encode.after",
    "commit.before",
    "commit.after",
    "publish.before",
    "publish.after",
    "acknowledge.before",
    "acknowledge.after",
    "migrate.before",
    "migrate.after",
    "compact.before",
    "compact.after",
]


class Faults(Protocol):
    """Told whenever a fault point is passed; an armed one does not come back."""

    def reach(self, point: FaultPoint) -> None:
        """Pass through ``point``."""
        ...
