"""MemoryBus keeps the contract of every bus."""

from collections.abc import AsyncIterator

import pytest

from blockwire.buses import MemoryBus
from blockwire.errors import BusError
from blockwire.ports import Bus, BusNotice, ControlNotice
from blockwire.testing.bus_contract import BusContract

pytestmark = pytest.mark.anyio

NOTICE = ControlNotice("conv_1", "deleted")


@pytest.fixture
async def bus() -> AsyncIterator[Bus]:
    bus = MemoryBus()
    await bus.open()
    yield bus
    await bus.aclose()


@pytest.mark.requirement("store:bus:order")
class TestMemoryBus(BusContract):
    """Every test of the contract."""


async def test_a_closed_bus_says_so_and_carries_nothing() -> None:
    bus = MemoryBus()
    heard: list[BusNotice] = []
    bus.subscribe(heard.append)

    await bus.aclose()
    bus.publish(NOTICE)

    assert heard == []
    with pytest.raises(BusError) as refused:
        await bus.ping()
    assert refused.value.code == "bus_closed"


async def test_a_failing_subscriber_is_logged_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = MemoryBus()

    def fail(notice: BusNotice) -> None:
        raise RuntimeError(f"a secret of {notice.conversation_id}")

    bus.subscribe(fail)
    bus.publish(NOTICE)

    assert "RuntimeError" in caplog.text
    assert "a secret" not in caplog.text
