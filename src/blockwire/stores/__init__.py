"""Where conversations live; one module per backend, SQL as named files, migrations.

Spec: docs/spec/gateway/persistence.md. Above are gateway and cli; below is ``ports``.
"""

from __future__ import annotations

from blockwire.stores.memory import MemoryStore

__all__ = ["MemoryStore"]
