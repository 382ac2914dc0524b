"""What every bus keeps; subclass :class:`BusContract` to run it against another one.

Spec: docs/spec/gateway/persistence.md. Needs pytest with anyio's plugin and a fixture ``bus`` that
gives an open :class:`~blockwire.ports.Bus`.
"""
# ruff: noqa: D102 - the names of the tests say it

from __future__ import annotations

from collections.abc import Callable

import anyio

from blockwire.ports import Bus, BusNotice, Committed, ControlNotice, Entry

__all__ = ["BusContract", "Listener"]

_WAIT_S = 5


class Listener:
    """A subscriber that keeps what it hears, and lets a test wait for it."""

    def __init__(self, bus: Bus) -> None:
        self.heard: list[BusNotice] = []
        self._changed = anyio.Event()
        self.leave = bus.subscribe(self._deliver)

    def _deliver(self, notice: BusNotice) -> None:
        self.heard.append(notice)
        self._changed.set()
        self._changed = anyio.Event()

    async def hears(self, count: int) -> list[BusNotice]:
        """Return what was heard once there are so many notices."""
        with anyio.fail_after(_WAIT_S):
            while len(self.heard) < count:
                await self._changed.wait()
        return self.heard


def _notice(number: int) -> ControlNotice:
    return ControlNotice("conv_1", "cancel", str(number).encode())


class BusContract:
    """The tests; each gets the fixture ``bus``."""

    async def test_every_subscriber_hears_every_notice_in_order(self, bus: Bus) -> None:
        listeners = [Listener(bus), Listener(bus)]
        notices = [_notice(number) for number in range(100)]

        for notice in notices:
            bus.publish(notice)

        for listener in listeners:
            assert await listener.hears(100) == notices

    async def test_entries_arrive_as_they_were_committed(self, bus: Bus) -> None:
        listener = Listener(bus)
        frame = b"id: 1\nevent: x\ndata: {}\n\n"
        committed = Committed("conv_1", [Entry(1, "x", frame, frame), Entry(2, "x", frame, None)])

        bus.publish(committed)

        assert await listener.hears(1) == [committed]

    async def test_who_left_hears_nothing_more(self, bus: Bus) -> None:
        leaver, stayer = Listener(bus), Listener(bus)

        leaver.leave()
        leaver.leave()
        bus.publish(_notice(1))

        assert await stayer.hears(1) == [_notice(1)]
        assert leaver.heard == []

    async def test_the_same_function_may_subscribe_twice_and_leave_once(self, bus: Bus) -> None:
        heard: list[BusNotice] = []
        leave = bus.subscribe(heard.append)
        bus.subscribe(heard.append)
        last = Listener(bus)

        bus.publish(_notice(1))
        await last.hears(1)
        leave()
        bus.publish(_notice(2))
        await last.hears(2)

        assert heard == [_notice(1), _notice(1), _notice(2)]

    async def test_a_subscriber_that_fails_takes_nothing_from_the_others(self, bus: Bus) -> None:
        def fail(notice: BusNotice) -> None:
            raise RuntimeError(f"cannot bear {notice.conversation_id}")

        before = Listener(bus)
        bus.subscribe(fail)
        after = Listener(bus)

        bus.publish(_notice(1))
        bus.publish(_notice(2))

        assert await before.hears(2) == [_notice(1), _notice(2)]
        assert await after.hears(2) == [_notice(1), _notice(2)]

    async def test_what_is_published_while_delivering_comes_after(self, bus: Bus) -> None:
        def answer(notice: BusNotice) -> None:
            if notice == _notice(1):
                bus.publish(_notice(2))

        first = Listener(bus)
        bus.subscribe(answer)
        last = Listener(bus)

        bus.publish(_notice(1))

        assert await first.hears(2) == [_notice(1), _notice(2)]
        assert await last.hears(2) == [_notice(1), _notice(2)]

    async def test_leaving_and_joining_while_delivering_is_harmless(self, bus: Bus) -> None:
        left: list[BusNotice] = []
        joined: list[Listener] = []
        leave_other: list[Callable[[], None]] = []

        def change(notice: BusNotice) -> None:
            leave_other[0]()
            if notice == _notice(1):
                joined.append(Listener(bus))

        bus.subscribe(change)
        leave_other.append(bus.subscribe(left.append))
        last = Listener(bus)

        bus.publish(_notice(1))
        await last.hears(1)
        bus.publish(_notice(2))

        assert await last.hears(2) == [_notice(1), _notice(2)]
        assert left == []
        assert (await joined[0].hears(1))[-1] == _notice(2)

    async def test_a_bus_can_be_pinged_and_closed_twice(self, bus: Bus) -> None:
        await bus.ping()

        await bus.aclose()
        await bus.aclose()
