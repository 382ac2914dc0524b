"""Where conversations live; one module per backend, SQL as named files, migrations.

Spec: docs/spec/gateway/persistence.md. Above are gateway and cli; below is ``ports``.
"""

from __future__ import annotations

from blockwire.stores.memory import MemoryStore
from blockwire.stores.sqlite import (
    SqliteStore,
    StoreLock,
    StoreOwner,
    backup_store,
    check_store,
    read_owner,
)
from blockwire.stores.urls import open_store

__all__ = [
    "MemoryStore",
    "SqliteStore",
    "StoreLock",
    "StoreOwner",
    "backup_store",
    "check_store",
    "open_store",
    "read_owner",
]
