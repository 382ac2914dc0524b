"""Peers that do not read: nobody waits for them, and they cost no more than their share."""

from __future__ import annotations

import tracemalloc

import anyio
import pytest

from blockwire.content import ConversationState, apply, decode_event
from blockwire.gateway.streams.ring import RING_BYTES_MAX
from blockwire.gateway.streams.stream import LOG_PAGE_BYTES, STREAM_BYTES_MAX
from tests.gateway.http.surface import Peer, Surface, a_turn, delta, peers, surface

pytestmark = pytest.mark.anyio

EVENTS = "/v1/conversations/conv_a/events"


async def flood(s: Surface, count: int, *, text: str = "0123456789" * 10) -> None:
    for _ in range(count):
        await s.log("conv_a", delta(text))
        await anyio.lowlevel.checkpoint()


def text_of(peer: Peer) -> str:
    """Return the text that the reader's state ends with."""
    state = ConversationState()
    for value in peer.values:
        if "seq" in value:
            state = apply(state, decode_event(value))
    message = state.messages[0]
    return str(message["content"][0]["markdown"])  # type: ignore[index, call-overload]


@pytest.mark.requirement("gateway:slow:nobody-waits", "gateway:slow:merged")
async def test_a_stuck_reader_delays_nobody_and_then_gets_everything_merged() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        quick, stuck = await connect(EVENTS), await connect(EVENTS)
        await s.log("conv_a", *a_turn(ends=False))
        await quick.until_count(3)
        await stuck.until_count(3)
        await anyio.wait_all_tasks_blocked()

        stuck.stop_reading()
        await flood(s, 3000)
        await quick.until_count(3003)
        held = len(stuck.events)
        stuck.read_on()
        await stuck.until(lambda: stuck.seqs[-1:] == [3002])

        assert held == 3
        assert text_of(stuck) == text_of(quick) == "0123456789" * 10 * 3000
        assert len(stuck.events) < 300
        assert max(map(len, stuck.writes)) <= LOG_PAGE_BYTES
        # And then it is live again, event by event.
        await s.log("conv_a", delta("."))
        await stuck.until(lambda: stuck.seqs[-1:] == [3003])
        assert stuck.writes[-1] == quick.writes[-1]


@pytest.mark.requirement("gateway:slow:merged")
async def test_what_is_merged_for_a_slow_reader_keeps_numbers_without_a_gap() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        stuck = await connect(EVENTS)
        await s.log("conv_a", *a_turn(ends=False))
        await stuck.until_count(3)
        await anyio.wait_all_tasks_blocked()
        stuck.stop_reading()

        await flood(s, RING_BYTES_MAX // 200)
        stuck.read_on()
        last = 2 + RING_BYTES_MAX // 200
        await stuck.until(lambda: stuck.seqs[-1:] == [last])

        numbers = [(v["prev_seq"], v["seq"]) for v in stuck.values if "prev_seq" in v]
        cursor = 0
        for prev_seq, seq in numbers:
            assert prev_seq <= cursor < seq
            cursor = seq


@pytest.mark.requirement("gateway:slow:bounded")
async def test_stuck_readers_hold_no_more_than_their_share() -> None:
    """Twenty of them, and 20 MB go by: what they hold together is the ring and a piece each."""
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        readers = [await connect(EVENTS) for _ in range(20)]
        await s.log("conv_a", *a_turn(ends=False))
        for reader in readers:
            await reader.until_count(3)
        await anyio.wait_all_tasks_blocked()
        for reader in readers:
            reader.stop_reading()
        channel = s.app.surface.hub._channels["conv_a"]
        store_bytes = 0

        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(200):
                await s.log("conv_a", delta("x" * 10_000))
                await anyio.lowlevel.checkpoint()
            for entry in s.world.service.store._conversations["conv_a"].log:  # type: ignore[attr-defined]
                store_bytes += len(entry.owner)
            grown = tracemalloc.get_traced_memory()[0] - before - store_bytes
        finally:
            tracemalloc.stop()

        assert channel.ring.retained_bytes <= RING_BYTES_MAX
        assert all(reader.waiting_sends == 1 for reader in readers)
        # The core keeps state of its own; what matters is that nothing is kept for each reader.
        assert grown < 20 * STREAM_BYTES_MAX / 2


async def test_one_event_larger_than_everything_goes_through_whole() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        live = await connect(EVENTS)
        await s.log("conv_a", *a_turn(ends=False))
        await live.until_count(3)
        await anyio.wait_all_tasks_blocked()

        for size in (65_537, 1_048_577, 8_000_000):
            await s.log("conv_a", delta("x" * size))
            await live.until(lambda size=size: len(live.values[-1].get("text", "")) == size)
        late = await connect(EVENTS)
        await late.until_count(6)

        assert late.events == live.events
        assert live.seqs == [1, 2, 3, 4, 5]


async def test_nothing_more_is_composed_while_a_large_write_has_no_room() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        reader = await connect(EVENTS)
        await s.log("conv_a", *a_turn(ends=False))
        await reader.until_count(3)
        await anyio.wait_all_tasks_blocked()
        reader.stop_reading()

        for _ in range(3):
            await s.log("conv_a", delta("x" * 500_000))
        await anyio.wait_all_tasks_blocked()
        stream = next(iter(s.app.surface.hub._streams))
        cursor = stream.readers[0].cursor
        reader.read_on()
        await reader.until_count(6)

        assert cursor == 2
        assert [len(write) > 500_000 for write in reader.writes[-3:]] == [True, True, True]


async def test_a_second_large_event_is_not_composed_before_the_first_has_left() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        reader = await connect(EVENTS)
        await s.log("conv_a", *a_turn(ends=False))
        await reader.until_count(3)
        await anyio.wait_all_tasks_blocked()
        reader.fills_at_bytes = 65_536

        stream = next(iter(s.app.surface.hub._streams))
        for _ in range(2):
            await s.log("conv_a", delta("x" * 500_000))
            await anyio.wait_all_tasks_blocked()
            assert stream.is_busy
        cursor = stream.readers[0].cursor

        assert (len(reader.events), cursor) == (4, 3)


async def test_a_stuck_reader_that_leaves_takes_its_task_with_it() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        reader = await connect(EVENTS)
        await reader.until_count(1)
        await anyio.wait_all_tasks_blocked()
        reader.stop_reading()
        await s.log("conv_a", delta("a"))
        await reader.is_stuck.wait()
        channel = s.app.surface.hub._channels["conv_a"]
        assert channel.busy_count == 1

        reader.leave()
        with anyio.fail_after(15):
            await reader.done.wait()

        assert channel.busy_count == 0
        assert s.app.surface.hub.channel_count == 0


async def test_deletion_reaches_a_stuck_reader_when_it_reads_again() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        reader = await connect(EVENTS)
        await reader.until_count(1)
        await anyio.wait_all_tasks_blocked()
        reader.stop_reading()
        await s.log("conv_a", delta("a"))
        await reader.is_stuck.wait()

        await s.client.delete("/v1/conversations/conv_a")
        reader.read_on()
        await reader.until_ended()

        assert reader.types[-1] == "conversation.deleted"


async def test_the_ring_is_empty_when_everybody_has_everything() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        reader = await connect(EVENTS)
        await reader.until_count(1)
        await anyio.wait_all_tasks_blocked()

        await s.log("conv_a", delta("a"))
        await reader.until_count(2)
        await anyio.wait_all_tasks_blocked()

        assert s.app.surface.hub._channels["conv_a"].ring.retained_bytes == 0


async def test_many_are_served_in_slices_and_none_is_left_out() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        readers = [await connect(EVENTS) for _ in range(510)]
        for reader in readers:
            await reader.until_count(1)
        await anyio.wait_all_tasks_blocked()

        await s.log("conv_a", delta("a"))
        await readers[0].until_count(2)
        assert len(readers[-1].events) == 1
        await s.log("conv_a", delta("b"))
        for reader in readers:
            await reader.until_count(3)

        assert all(reader.seqs == [1, 2] for reader in readers)
