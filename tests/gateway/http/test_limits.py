"""Bounds of the HTTP surface, each answered before it costs anything."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.gateway.access.auth import Auth, Token, hash_token
from blockwire.gateway.access.limits import HttpSettings, TokenBucket
from tests.gateway.core.world import FAST
from tests.gateway.http.surface import json_of, peers, surface

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json"}
CONVERSATIONS = "/v1/conversations"


async def pieces(count: int, size: int, taken: list[int]) -> AsyncIterator[bytes]:
    for _ in range(count):
        taken.append(size)
        yield b" " * size


@pytest.mark.requirement("gateway:limits:body-early")
async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    async with surface() as s, peers(s.app) as connect:
        peer = await connect(
            CONVERSATIONS, method="POST", content_length=str(FAST.body_bytes_max + 1)
        )
        await peer.until_ended()

        assert peer.status == 413
        assert not peer._was_requested
        assert peer.headers["retry-after"]


@pytest.mark.requirement("gateway:limits:body-early")
async def test_a_body_that_does_not_say_is_read_up_to_the_bound() -> None:
    taken: list[int] = []
    async with surface() as s:
        response = await s.client.post(
            CONVERSATIONS, content=pieces(1000, 65_536, taken), headers=JSON
        )

        assert response.status_code == 413
        assert json_of(response)["error"]["code"] == "body_too_large"
        assert sum(taken) <= FAST.body_bytes_max + 2 * 65_536


@pytest.mark.requirement("gateway:limits:body-exact")
async def test_a_body_of_exactly_the_bound_is_taken() -> None:
    async with surface() as s:
        content = b"{}" + b" " * (FAST.body_bytes_max - 2)

        response = await s.client.post(CONVERSATIONS, content=content, headers=JSON)

        assert response.status_code == 201


@pytest.mark.requirement("gateway:limits:query")
async def test_a_query_has_a_bound() -> None:
    async with surface() as s:
        response = await s.client.get(CONVERSATIONS + "?cursor=" + "x" * 16_384)

        assert response.status_code == 414
        assert json_of(response)["error"]["code"] == "query_too_large"


@pytest.mark.requirement("gateway:limits:rate", "gateway:errors:retry-after")
async def test_a_token_asks_no_faster_than_it_may_and_is_told_when_to_ask_again() -> None:
    tokens = [Token(name, hash_token(name), frozenset({"read"})) for name in ("a", "b")]
    http = HttpSettings(requests_per_s=0.5, requests_burst=3)
    async with surface(auth=Auth(tokens), http=http) as s:

        async def ask(token: str) -> int:
            headers = {"authorization": f"Bearer {token}"}
            response = await s.client.get(CONVERSATIONS, headers=headers)
            if response.status_code == 429:
                assert json_of(response)["error"]["code"] == "rate_limited"
                assert json_of(response)["error"]["retryable"] is True
                assert response.headers["retry-after"] == "2"
            return response.status_code

        first = [await ask("a") for _ in range(4)]
        other = await ask("b")
        s.clock.s += 2
        later = [await ask("a") for _ in range(2)]

        assert (first, other, later) == ([200, 200, 200, 429], 200, [200, 429])


@pytest.mark.requirement("gateway:limits:streams")
async def test_a_token_holds_no_more_streams_than_it_may() -> None:
    async with surface(http=HttpSettings(streams_per_caller_max=2)) as s, peers(s.app) as connect:
        await s.bare_conversation()
        events = "/v1/conversations/conv_a/events"
        first, second = await connect(events), await connect(events)
        await first.until_count(1)
        await second.until_count(1)

        third = await connect(events)
        poll = await connect(events + "?wait=5", accept="application/json")
        upload = await connect(
            "/v1/conversations/conv_a/turns/t/events", "POST", content_type="application/x-ndjson"
        )
        for refused in (third, poll, upload):
            await refused.until_ended()
        first.leave()
        with anyio.fail_after(15):
            await first.done.wait()
        fourth = await connect(events)
        await fourth.until_count(1)

        assert (third.status, poll.status, upload.status) == (429, 429, 429)
        assert fourth.status == 200
        assert b"too_many_streams" in third.raw
        assert third.headers["retry-after"]


async def test_turns_in_flight_have_a_bound() -> None:
    settings = FAST.__class__(turns_in_flight_max=1)
    async with surface(settings=settings) as s:
        first, second = await s.world.conversation(), await s.world.conversation()
        await s.world.submit(first, engine="external")

        response = await s.client.post(
            f"{CONVERSATIONS}/{second}/turns",
            content=b'{"content":"x","engine":"external"}',
            headers=JSON,
        )

        assert response.status_code == 429
        assert json_of(response)["error"]["code"] == "turns_in_flight_exceeded"
        assert response.headers["retry-after"]


@given(
    rate=st.floats(0.1, 1000),
    burst=st.integers(1, 50),
    pauses=st.lists(st.floats(0, 5), max_size=60),
)
@pytest.mark.requirement("gateway:limits:rate")
def test_a_bucket_lets_no_more_through_than_burst_and_rate(
    rate: float, burst: int, pauses: list[float]
) -> None:
    now_s = 100.0
    bucket = TokenBucket(rate, burst, now_s)
    taken = 0
    for pause_s in pauses:
        now_s += pause_s
        wait_s = bucket.take(now_s)
        taken += wait_s == 0
        assert wait_s <= 1 / rate
    assert taken <= burst + (now_s - 100.0) * rate + 1e-6


def test_a_clock_that_is_set_back_gives_nothing_away() -> None:
    bucket = TokenBucket(1, 1, 100.0)
    assert bucket.take(100.0) == 0

    assert bucket.take(50.0) > 0


@pytest.mark.requirement("gateway:limits:body-slow")
async def test_a_body_that_does_not_come_is_given_up() -> None:
    async with surface(http=HttpSettings(body_s_max=0.01)) as s, peers(s.app) as connect:
        peer = await connect(
            CONVERSATIONS, method="POST", uploads=True, content_type="application/json"
        )
        await peer.until_ended()

        assert peer.status == 408
        assert peer.headers["connection"] == "close"
        assert b'"request_timeout"' in peer.raw
        assert not s.app.surface.bodies


async def test_somebody_else_who_cancels_a_request_is_not_the_gateway_that_stops() -> None:
    async with surface() as s:
        async with peers(s.app) as connect:
            peer = await connect(
                CONVERSATIONS, method="POST", uploads=True, content_type="application/json"
            )
            await peer.upload(b"{")
            (call,) = s.app.surface.bodies
            assert call._body_task is not None
            call._body_task.cancel()
            with anyio.fail_after(15):
                await peer.done.wait()

        assert peer.status == 0
        assert not s.app.surface.bodies
