"""Rare moments of event streams: bursts, backends that fail, servers that say that a peer left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import anyio
import pytest

from blockwire.errors import StoreError
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.reading import Head
from tests.gateway.http.surface import Surface, a_turn, delta, peers, surface

pytestmark = pytest.mark.anyio

EVENTS = "/v1/conversations/conv_a/events"


async def test_a_burst_larger_than_the_ring_comes_from_the_log() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()

        await s.log("conv_a", *(delta("x" * 1000) for _ in range(400)))
        await peer.until(lambda: peer.seqs[-1:] == [400])

        numbers = [(v["prev_seq"], v["seq"]) for v in peer.values[1:]]
        assert all(a[1] == b[0] for a, b in pairwise(numbers))
        assert peer.text == "x" * 400_000


async def test_a_tick_gathers_what_is_committed_within_it() -> None:
    async with surface(http=HttpSettings(tick_ms=20)) as s, peers(s.app) as connect:
        await s.bare_conversation()
        readers = [await connect(EVENTS) for _ in range(100)]
        await anyio.wait_all_tasks_blocked()
        writes = len(readers[0].writes)

        for text in "abc":
            await s.log("conv_a", delta(text))
            await anyio.lowlevel.checkpoint()
        await readers[0].until_count(4)

        assert len(readers[0].writes) == writes + 1
        assert readers[0].text == "abc"


async def test_a_tick_is_for_many_readers_only() -> None:
    async with surface(http=HttpSettings(tick_ms=10_000)) as s, peers(s.app) as connect:
        await s.bare_conversation()
        reader = await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()

        await s.log("conv_a", delta("a"))

        await reader.until_count(2)


async def test_what_is_committed_while_a_pass_is_under_way_gets_a_pass_of_its_own() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        readers = [await connect(EVENTS) for _ in range(501)]
        await anyio.wait_all_tasks_blocked()

        await s.log("conv_a", delta("a"))
        await readers[0].until_count(2)
        await s.log("conv_a", delta("b"))
        for reader in readers:
            await reader.until_count(3)

        assert {tuple(reader.seqs) for reader in readers} == {(1, 2)}


async def test_until_idle_waits_for_what_is_committed_and_not_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        await s.log("conv_a", *a_turn("x"))
        asked = 0

        async def head(*_args: Any) -> Head:
            nonlocal asked
            asked += 1
            if asked == 2:
                await s.commit_only("conv_a", delta("late"))
            return Head(5 if asked == 1 else 6, ())

        monkeypatch.setattr(s.world.service, "head", head)
        peer = await connect(EVENTS + "?until=idle")
        await peer.until_ended()

        assert peer.seqs == [1, 2, 3, 4, 5, 6]


async def test_until_idle_of_a_conversation_that_is_gone_waits_for_the_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        asked = 0

        async def head(*_args: Any) -> Head:
            nonlocal asked
            asked += 1
            if asked > 1:
                raise StoreError("conversation_not_found", "gone")
            return Head(0, ())

        monkeypatch.setattr(s.world.service, "head", head)
        peer = await connect(EVENTS + "?until=idle")
        await anyio.wait_all_tasks_blocked()
        assert not peer.ended.is_set()
        monkeypatch.undo()
        await s.client.delete("/v1/conversations/conv_a")
        await peer.until_ended()

        assert peer.types[-1] == "conversation.deleted"


async def test_a_turn_that_starts_as_another_ends_keeps_the_stream() -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        first = await s.world.submit(conversation_id, engine="external")
        peer = await connect(f"/v1/conversations/{conversation_id}/events?until=idle")
        await anyio.wait_all_tasks_blocked()

        url = f"/v1/conversations/{conversation_id}/turns"
        await s.client.post(f"{url}/{first}/cancel")
        second = await s.world.submit(conversation_id, engine="external")
        await peer.until(lambda: peer.types.count("turn.started") == 2)
        ended = peer.ended.is_set()
        await s.client.post(f"{url}/{second}/cancel")
        await peer.until_ended()

        assert not ended
        assert peer.types.count("turn.cancelled") == 2


async def test_a_log_that_has_no_way_on_from_a_cursor_gives_a_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with surface() as s, peers(s.app) as connect:
        conversation_id = await s.world.conversation()
        await s.world.ask(conversation_id)
        read_frames = s.world.service.store.read_frames

        async def refusing(name: str, after: int, **more: Any) -> Any:
            if after == 4:
                raise StoreError("cursor_inside_delta", "merged, and the pairs are gone")
            return await read_frames(name, after, **more)

        monkeypatch.setattr(s.world.service.store, "read_frames", refusing)
        peer = await connect(f"/v1/conversations/{conversation_id}/events?after=4")
        await peer.until_count(2)

        assert peer.types == ["subscription.ready", "conversation.snapshot"]
        assert "reset" not in peer.values[1]
        assert peer.decoder.last_event_id == "7"


async def test_a_store_that_fails_ends_the_stream_and_leaves_the_cursor(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        async def failing(*_args: Any, **_more: Any) -> Any:
            raise StoreError("store_unavailable", "/secret/path.db is away")

        monkeypatch.setattr(s.world.service.store, "read_frames", failing)
        peer = await connect(EVENTS, last_event_id="0")
        await peer.until_ended()

        assert peer.decoder.last_event_id == "0"
        assert "store_unavailable" in caplog.text
        assert "secret" not in caplog.text


@pytest.mark.parametrize("is_first_step", [True, False])
async def test_a_server_that_says_that_the_peer_left_is_believed(is_first_step: bool) -> None:
    """ASGI 2.4: ``send`` raises OSError, at once or after it waited."""
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        peer = await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()
        stream: Any = next(iter(s.app.surface.hub._streams))

        async def gone(_message: Any) -> None:
            if not is_first_step:
                await anyio.lowlevel.checkpoint()
            raise BrokenPipeError

        stream._send = gone
        await s.log("conv_a", delta("a"))
        await anyio.wait_all_tasks_blocked()

        assert s.app.surface.hub.stream_count == 0
        peer.leave()


async def test_cancelling_a_request_frees_its_stream_and_stays_a_cancellation() -> None:
    async with surface() as s:
        await s.bare_conversation()
        sent: list[Any] = []
        was_cancelled = False

        async def receive() -> Any:
            await anyio.sleep_forever()

        async def send(message: Any) -> None:
            sent.append(message)

        async def serve() -> None:
            nonlocal was_cancelled
            scope = {
                "type": "http", "method": "GET", "path": EVENTS, "query_string": b"",
                "headers": [(b"host", b"localhost")],
            }  # fmt: skip
            try:
                await s.app(scope, receive, send)
            except anyio.get_cancelled_exc_class():
                was_cancelled = True
                raise

        async with anyio.create_task_group() as group:
            group.start_soon(serve)
            await anyio.wait_all_tasks_blocked()
            assert s.app.surface.hub.stream_count == 1
            group.cancel_scope.cancel()

        assert was_cancelled
        assert s.app.surface.hub.stream_count == 0
        assert sent[0]["status"] == 200


async def test_several_conversations_survive_a_slow_peer() -> None:
    async with surface() as s, peers(s.app) as connect:
        for name in ("conv_a", "conv_b"):
            await s.bare_conversation(name)
        peer = await connect("/v1/events?conversations=conv_a,conv_b")
        await anyio.wait_all_tasks_blocked()
        peer.stop_reading()

        for _ in range(1500):
            await s.log("conv_a", delta("a" * 100))
            await s.log("conv_b", delta("b" * 100))
            await anyio.lowlevel.checkpoint()
        peer.read_on()
        await peer.until(lambda: peer.decoder.last_event_id == "conv_a:1500,conv_b:1500")

        for name, letter in (("conv_a", "a"), ("conv_b", "b")):
            own = [v for v in peer.values if v.get("conversation_id") == name and "text" in v]
            assert "".join(v["text"] for v in own) == letter * 150_000
            cursor = 0
            for value in own:
                assert value["prev_seq"] <= cursor < value["seq"]
                cursor = value["seq"]


async def test_a_bug_in_the_middle_of_an_upload_cuts_the_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_args: Any, **_more: Any) -> AsyncIterator[dict[str, Any]]:
        yield {"producer_seq": 1, "seq": 1}
        raise RuntimeError("password=hunter2")

    async with surface() as s:
        monkeypatch.setattr(s.world.service, "post_events", broken)
        response = await s.client.post(
            "/v1/conversations/c/turns/t/events",
            content=b"{}\n",
            headers={"content-type": "application/x-ndjson"},
        )

        assert response.status_code == 200
        assert b"hunter2" not in response.content
        assert "a route failed" in caplog.text


@pytest.mark.parametrize("accept", ["application/*", "application/json, text/plain"])
async def test_any_kind_of_json_is_json(accept: str) -> None:
    async with surface() as s:
        await s.bare_conversation()

        response = await s.client.get(EVENTS, headers={"accept": accept})

        assert response.headers["content-type"] == "application/json"


async def test_a_stream_is_what_a_client_gets_that_takes_both() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()

        peer = await connect(EVENTS, accept="text/event-stream, application/json;q=0.5")
        await peer.until_count(1)

        assert peer.headers["content-type"] == "text/event-stream"


async def test_the_lifespan_starts_and_stops_the_application() -> None:
    async with surface(is_served=True) as s:
        sent: list[str] = []
        stop = anyio.Event()
        received = 0

        async def receive() -> Any:
            nonlocal received
            received += 1
            if received == 1:
                return {"type": "lifespan.startup"}
            await stop.wait()
            return {"type": "lifespan.shutdown"}

        async def send(message: Any) -> None:
            sent.append(message["type"])

        async with anyio.create_task_group() as group:
            group.start_soon(s.app, {"type": "lifespan"}, receive, send)
            await anyio.wait_all_tasks_blocked()
            await reads_live(s)
            stop.set()

        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def reads_live(s: Surface) -> None:
    await s.bare_conversation()
    async with peers(s.app) as connect:
        peer = await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()
        await s.log("conv_a", delta("a"))
        await peer.until_count(2)


async def test_a_stream_that_fails_takes_no_other_reader_along() -> None:
    async with surface() as s, peers(s.app) as connect:
        await s.bare_conversation()
        bad, good = await connect(EVENTS), await connect(EVENTS)
        await anyio.wait_all_tasks_blocked()
        (stream, _) = s.app.surface.hub._streams

        async def fail(_message: Any) -> None:
            raise RuntimeError("a server's own mistake")

        stream._send = fail  # type: ignore[attr-defined]
        await s.log("conv_a", delta("a"))
        await good.until_count(2)
        await s.log("conv_a", delta("b"))
        await good.until_count(3)

        assert good.text == "ab"
        with anyio.fail_after(15):
            await bad.done.wait()
        assert s.app.surface.hub.stream_count == 1
