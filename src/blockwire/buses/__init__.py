"""How notices of what was committed reach every reader; one module per backend.

Spec: docs/spec/gateway/persistence.md.
"""

from __future__ import annotations

from blockwire.buses.memory import MemoryBus

__all__ = ["MemoryBus"]
