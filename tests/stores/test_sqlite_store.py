"""SqliteStore keeps the contract of every store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from blockwire.ports import Store
from blockwire.stores import SqliteStore
from blockwire.testing.store_contract import StoreContract

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL") as store:
        yield store


@pytest.mark.requirement(
    "store:log:numbers",
    "store:log:atomic",
    "store:log:cursor",
    "store:log:text",
    "store:log:refused",
    "store:epoch:fenced",
    "store:merge:cursor",
    "store:merge:completed",
    "store:merge:up-to",
    "store:retention:oldest",
    "store:retention:messages",
    "store:retention:unfinished",
    "store:retention:expired",
    "content:stamp:rises",
    "search:delete:gone",
    "search:filter:all",
    "search:order:strong",
    "search:pages:whole",
    "search:tenants:apart",
)
class TestSqliteStore(StoreContract):
    """Every test of the contract."""
