"""MemoryStore keeps the contract of every store."""

from collections.abc import AsyncIterator

import pytest

from blockwire.ports import Store
from blockwire.stores import MemoryStore
from blockwire.testing.store_contract import StoreContract

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = MemoryStore()
    await store.open()
    yield store
    await store.aclose()


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
)
class TestMemoryStore(StoreContract):
    """Every test of the contract."""
