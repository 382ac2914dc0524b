"""A store that forgets: for tests, demos and whoever wants no file."""

from __future__ import annotations

from blockwire.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
