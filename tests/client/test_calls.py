"""Calls that fail: what is repeated, what never is, and what the error says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx
import pytest

from blockwire.client import AsyncClient, ClientError, ClientSettings, SystemTiming, new_key
from blockwire.client import http as client_http
from blockwire.errors import LocalProtocolError
from tests.client.events import CONVERSATION
from tests.client.fakes import (
    SETTINGS,
    Cut,
    FakeTiming,
    Reset,
    Send,
    Stall,
    client_of,
    playing,
    whole,
)

pytestmark = pytest.mark.anyio

TURN = (
    b'{"id":"turn_1","conversation_id":"conv_a","status":"running","engine":"e","created_at":1,'
    b'"request_message_id":"msg_1","message_id":"turn_1","seq":1,"durable":true,"new_member":[1]}'
)
GOOD = whole("200 OK", TURN)
BUSY = whole("503 Service Unavailable", b'{"error":{"code":"gateway_stopping","retryable":true}}')
LIMITED = whole(
    "429 Too Many Requests", b'{"error":{"code":"rate_limited","message":"m","retryable":true}}',
    retry_after="3",
)  # fmt: skip

Call = Callable[[AsyncClient], Awaitable[Any]]


async def submit(client: AsyncClient) -> Any:
    return await client.submit(CONVERSATION, "Hi")


async def read(client: AsyncClient) -> Any:
    return await client.read_turn(CONVERSATION, "turn_1")


@pytest.mark.parametrize("call", [submit, read])
@pytest.mark.parametrize(
    "failing",
    [
        pytest.param([Cut()], id="cut"),
        pytest.param([Reset()], id="reset"),
        pytest.param([GOOD[0], Send(TURN[:40]), Cut()], id="half an answer"),
        pytest.param(BUSY, id="503"),
        pytest.param(whole("502 Bad Gateway", b"<h1>", content_type="text/html"), id="502"),
    ],
)
async def test_reads_and_submits_are_repeated_under_one_key(call: Call, failing: Any) -> None:
    timing = FakeTiming()
    async with playing(failing, failing, GOOD) as server, client_of(server.url, timing) as client:
        turn = await call(client)

    assert turn.id == "turn_1"
    assert turn.members["new_member"] == [1]
    assert timing.pauses == [0.25, 0.5]
    assert len({request.headers.get("idempotency-key") for request in server.requests}) == 1


async def test_the_wait_that_the_gateway_asks_for_is_waited() -> None:
    timing = FakeTiming()
    async with playing(LIMITED, GOOD) as server, client_of(server.url, timing) as client:
        await read(client)

    assert timing.pauses == [3.25]


async def test_a_wait_that_is_too_long_is_the_callers() -> None:
    long = whole(
        "429 Too Many Requests", b'{"error":{"code":"rate_limited","retryable":true}}',
        retry_after="61",
    )  # fmt: skip
    async with playing(long) as server, client_of(server.url) as client:
        with pytest.raises(ClientError) as caught:
            await read(client)

    assert (caught.value.code, caught.value.retry_after_s) == ("rate_limited", 61)
    assert caught.value.detail == "no reason was given"


async def test_repetition_has_an_end() -> None:
    async with playing(*[[Cut()]] * 4) as server, client_of(server.url) as client:
        with pytest.raises(ClientError) as caught:
            await read(client)

    assert caught.value.code == "connection_lost"
    assert caught.value.retryable


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.create_conversation(title="t"),
        lambda client: client.update_conversation(CONVERSATION, title="t"),
        lambda client: client.delete_conversation(CONVERSATION),
        lambda client: client.append_message(CONVERSATION, {"role": "user", "content": "m"}),
        lambda client: client.cancel(CONVERSATION, "turn_1"),
        lambda client: client.resume(CONVERSATION, "turn_1", "req_1", answer=True),
        lambda client: client.health(),
    ],
)
@pytest.mark.parametrize("failing", [[Cut()], BUSY])
async def test_nothing_else_is_ever_repeated(call: Call, failing: Any) -> None:
    async with playing(failing) as server, client_of(server.url) as client:
        with pytest.raises(ClientError) as caught:
            await call(client)

    assert caught.value.retryable
    assert len(server.requests) == 1


async def test_a_call_that_is_never_answered_is_given_up() -> None:
    settings = ClientSettings(call_s=0.05, call_tries_max=1)
    async with (
        playing([Send(b"HTTP/1.1 "), Stall()]) as server,
        client_of(server.url, settings=settings) as client,
    ):
        with pytest.raises(ClientError) as caught:
            await read(client)

    assert caught.value.code == "connection_lost"


async def test_a_submit_that_landed_and_was_answered_too_late_is_repeated_under_its_key() -> None:
    settings = ClientSettings(call_s=0.05)
    async with (
        playing([Stall()], GOOD) as server,
        client_of(server.url, settings=settings) as client,
    ):
        await submit(client)

    first, second = server.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.body == second.body


async def test_answering_and_cancelling_return_the_turn() -> None:
    async with playing(GOOD, GOOD) as server, client_of(server.url) as client:
        resumed = await client.resume(CONVERSATION, "turn_1", "req_1", {"yes": True})
        cancelled = await client.cancel(CONVERSATION, "turn_1")

    assert resumed == cancelled
    assert server.requests[0].body == b'{"request_id":"req_1","answer":{"yes":true}}'


async def test_a_gateway_that_is_not_there_is_said_to_be_startable() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    await listener.aclose()
    timing = FakeTiming()

    async with client_of(f"http://127.0.0.1:{port}", timing) as client:
        with pytest.raises(ClientError) as caught:
            await submit(client)

    assert caught.value.code == "gateway_unreachable"
    assert "start one with `blockwire serve`" in caught.value.detail
    assert str(port) in caught.value.detail
    assert len(timing.pauses) == 3


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (whole("200 OK", b"<html>", content_type="text/html"), "unexpected_content_type"),
        (whole("200 OK", b"{}", content_type=""), "unexpected_content_type"),
        (whole("200 OK", b'{"id":'), "invalid_answer"),
        (whole("200 OK", b'{"id":1,"id":2}'), "invalid_answer"),
        (whole("200 OK", b"[]"), "invalid_answer"),
        (whole("200 OK", TURN.replace(b"running", b"sleeping")), "invalid_answer"),
        (whole("200 OK", TURN, blockwire_protocol="2"), "protocol_mismatch"),
        (whole("301 Moved", b"", location="/x"), "unexpected_status"),
        (whole("403 Forbidden", b'{"error":"no"}'), "http_error"),
        (whole("403 Forbidden", b'{"error":{"code":"No Code"}}'), "http_error"),
        (whole("403 Forbidden", b"x" * 70_000), "http_error"),
        (whole("404 Not Found", b'{"error":{"code":"turn_not_found","pointer":"/x"}}'),
         "turn_not_found"),
    ],
)  # fmt: skip
async def test_an_answer_that_cannot_be_is_one_clear_error(answer: Any, code: str) -> None:
    async with playing(answer) as server, client_of(server.url) as client:
        with pytest.raises(ClientError) as caught:
            await read(client)

    assert caught.value.code == code
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "page",
    [b"[]", b'{"items":{},"next_cursor":null}', b'{"items":[],"next_cursor":"0"}'],
)
async def test_a_list_that_never_ends_or_has_no_items_is_an_error(page: bytes) -> None:
    async with playing(whole("200 OK", page)) as server, client_of(server.url) as client:
        with pytest.raises(ClientError) as caught:
            await anext(client.list_messages(CONVERSATION))

    assert caught.value.code == "invalid_answer"


async def test_an_answer_that_is_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_http, "ANSWER_BYTES_MAX", 100)
    async with playing(GOOD) as server, client_of(server.url) as client:
        with pytest.raises(ClientError) as caught:
            await read(client)

    assert caught.value.code == "invalid_answer"
    assert "100 bytes" in caught.value.detail


async def test_ids_are_data_in_paths() -> None:
    async with playing(GOOD) as server, client_of(server.url + "/proxied/") as client:
        await client.read_turn("../a b", "?x#", view="public")

    assert server.targets == ["/proxied/v1/conversations/..%2Fa%20b/turns/%3Fx%23?view=public"]
    assert server.requests[0].headers["blockwire-protocol"] == "1"


async def test_a_token_is_sent_as_bearer() -> None:
    async with playing(GOOD) as server, client_of(server.url, token="s3cret ") as client:
        await read(client)

    assert server.requests[0].headers["authorization"] == "Bearer s3cret"


# waiting for a turn -------------------------------------------------------------------------
def turn_of(status: str) -> Any:
    return whole("200 OK", TURN.replace(b"running", status.encode()))


@pytest.mark.parametrize("status", ["completed", "interrupted", "suspended"])
async def test_a_turn_is_waited_for_by_long_polls(status: str) -> None:
    timing = FakeTiming()
    async with (
        playing(turn_of("running"), turn_of("running"), turn_of(status)) as server,
        client_of(server.url, timing) as client,
    ):
        turn = await client.wait_turn(CONVERSATION, "turn_1")

    assert turn.status == status
    assert server.targets == ["/v1/conversations/conv_a/turns/turn_1?wait=30.000"] * 3
    # The gateway did not wait at all, so the client does.
    assert timing.pauses == [1.0, 1.0]


async def test_a_gateway_that_waits_is_asked_again_at_once_and_time_runs_out() -> None:
    timing = FakeTiming()

    async def gateway(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params.get("wait"))
        timing.advance(float(asked[-1] or 0))
        return httpx.Response(200, content=TURN, headers={"content-type": "application/json"})

    asked: list[str | None] = []
    client = client_of("http://gateway", timing, transport=httpx.MockTransport(gateway))
    async with client:
        turn = await client.wait_turn(CONVERSATION, "turn_1", wait_s=70)

    assert turn.status == "running"
    assert asked == ["30.000", "30.000", "10.000", None]
    assert timing.pauses == []


# making one ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("url", "token", "code"),
    [
        ("127.0.0.1:7890", None, "invalid_url"),
        ("ftp://127.0.0.1", None, "invalid_url"),
        ("http://", None, "invalid_url"),
        ("http://[::1", None, "invalid_url"),
        ("http://h/?a=b", None, "invalid_url"),
        ("http://h/#x", None, "invalid_url"),
        ("http://user:pw@h", None, "invalid_url"),
        ("http://h:99999999", None, "invalid_url"),
        ("http://h", "a\r\nb", "invalid_token"),
        ("http://h", "\u00e9", "invalid_token"),
        ("http://h", " ", "invalid_token"),
    ],
)
def test_a_client_that_could_never_work_is_refused(url: str, token: str | None, code: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        AsyncClient(url, token=token)

    assert caught.value.code == code
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("url", ["https://example.org", "http://localhost:1", "http://[::1]:1"])
async def test_a_client_can_be_made_for_any_gateway(url: str) -> None:
    async with AsyncClient(url) as client:
        assert client.base_url == url


def test_keys_never_repeat() -> None:
    assert len({new_key() for _ in range(1_000)}) == 1_000


async def test_the_real_clock_ends_a_wait() -> None:
    timing = SystemTiming()
    before_s, before_ms = timing.monotonic_s(), timing.now_ms()

    with timing.limit(0.01) as scope:
        await anyio.sleep_forever()

    assert scope.cancelled_caught
    assert timing.monotonic_s() - before_s >= 0.01
    assert timing.now_ms() >= before_ms


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(AssertionError):
        ClientSettings(call_tries_max=0)
    with pytest.raises(AssertionError):
        ClientSettings(stream_silence_s=10)
    assert SETTINGS.call_s == 60
