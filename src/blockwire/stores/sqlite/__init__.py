"""The log in one SQLite file: one writer, group commit, readers beside it.

Spec: docs/spec/gateway/persistence.md.
"""

from __future__ import annotations

from blockwire.stores.sqlite.access import list_tokens_in
from blockwire.stores.sqlite.backup import backup_store
from blockwire.stores.sqlite.check import check_store
from blockwire.stores.sqlite.lock import StoreLock, StoreOwner, read_owner
from blockwire.stores.sqlite.store import SqliteStore

__all__ = [
    "SqliteStore",
    "StoreLock",
    "StoreOwner",
    "backup_store",
    "check_store",
    "list_tokens_in",
    "read_owner",
]
