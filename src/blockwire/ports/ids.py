"""Fresh ids as a port, so that nothing else is random."""

from __future__ import annotations

from typing import Protocol

from blockwire.content import IdKind

__all__ = ["IdFactory"]


class IdFactory(Protocol):
    """Makes ids that never repeat: a prefix for the kind, and a ULID."""

    def new_id(self, kind: IdKind) -> str:
        """Return a fresh id of this kind."""
        ...
