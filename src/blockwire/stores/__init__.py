"""Where conversations live; one module per backend, SQL as named files, migrations.

Spec: docs/spec/gateway/persistence.md. Above are gateway and cli; below is ``ports``.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from blockwire.stores.memory import MemoryStore
from blockwire.stores.sqlite import (
    SqliteStore,
    StoreLock,
    StoreOwner,
    backup_store,
    check_store,
    list_tokens_in,
    read_owner,
)
from blockwire.stores.sqlite.health import StoreHealth, find_copies, store_health
from blockwire.stores.sqlite.upgrade import UpgradePlan, plan_upgrade, upgrade_store
from blockwire.stores.urls import open_store

SQLITE_VERSION: Final = sqlite3.sqlite_version
"""Of the library that this Python was linked with."""

__all__ = [
    "SQLITE_VERSION",
    "MemoryStore",
    "SqliteStore",
    "StoreHealth",
    "StoreLock",
    "StoreOwner",
    "UpgradePlan",
    "backup_store",
    "check_store",
    "find_copies",
    "list_tokens_in",
    "open_store",
    "plan_upgrade",
    "read_owner",
    "store_health",
    "upgrade_store",
]
