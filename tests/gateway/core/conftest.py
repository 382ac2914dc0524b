"""Both stores for every test that asks for one, and a way to open the same store again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from blockwire.ports import Store
from blockwire.stores import MemoryStore, SqliteStore

OpenStore = Callable[[], Store]


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    """Return a function that gives the store with the same content each time."""
    memory = MemoryStore()
    if request.param == "memory":
        return lambda: memory
    return lambda: SqliteStore(tmp_path / "store.db")
