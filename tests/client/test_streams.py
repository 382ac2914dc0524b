"""Streams over real sockets, from a server that cuts, resets, stalls and lies."""

from __future__ import annotations

import gzip
import logging
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from blockwire.client import AsyncClient, ClientError, ClientSettings, ConnectionChange
from blockwire.content import ConversationSnapshot, ConversationState
from tests.client.events import (
    CONVERSATION,
    answer,
    block,
    delta,
    ended,
    folded,
    frame,
    frames,
    heartbeat,
    numbered,
    ready,
    snapshot,
    started,
    text_of,
)
from tests.client.fakes import (
    CHUNKED_SSE,
    SILENCE_S,
    SSE,
    Cut,
    FakeTiming,
    Hold,
    Reset,
    ScriptServer,
    Send,
    Stall,
    chunk,
    client_of,
    head,
    playing,
    whole,
)

pytestmark = pytest.mark.anyio

EVENTS = answer("Hel", "lo", "!")
OVER = whole("204 No Content", b"")


async def read_all(client: AsyncClient, **options: Any) -> tuple[list[int], ConversationState]:
    """Return the numbers that came and the last state."""
    seqs: list[int] = []
    last = ConversationState()
    async with client, aclosing(client.events(CONVERSATION, **options)) as events:
        async for state, event in events:
            seqs.append(event.seq)
            last = state
    return seqs, last


def assert_whole(seqs: list[int], state: ConversationState) -> None:
    assert seqs == [1, 2, 3, 4, 5, 6, 7]
    assert state.messages == folded(EVENTS).messages


@pytest.mark.requirement("client:stream:any-cut")
@pytest.mark.parametrize(
    "breaking",
    [
        pytest.param([SSE, Send(ready() + frames(EVENTS[:3])), Cut()], id="clean end"),
        pytest.param([SSE, Send(ready() + frames(EVENTS[:4])[:-9]), Cut()], id="cut in an event"),
        pytest.param([SSE, Send(ready() + frames(EVENTS[:3])), Reset()], id="reset"),
        pytest.param(
            [CHUNKED_SSE, chunk(ready() + frames(EVENTS[:3])), Cut()], id="chunks without an end"
        ),
        pytest.param(
            [CHUNKED_SSE, chunk(frames(EVENTS[:3])), Send(b"zz\r\n"), Cut()], id="no chunk"
        ),
        pytest.param([CHUNKED_SSE, chunk(frames(EVENTS[:3])), chunk(b"")], id="chunked end"),
    ],
)
async def test_a_broken_stream_goes_on_from_its_cursor(breaking: list[Any]) -> None:
    async with playing(breaking, [SSE, Send(ready(3) + frames(EVENTS)), Cut()], OVER) as server:
        seqs, state = await read_all(client_of(server.url), until_idle=True)

    # A torn connection may lose what was sent last; then it is asked for again.
    assert server.cursors[0] is None
    assert server.cursors[1] in {"0", "3"}
    assert server.cursors[2] == "7"
    assert_whole(seqs, state)


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param([Cut()], id="nothing"),
        pytest.param([Reset()], id="reset"),
        pytest.param([Send(b"HTTP/1.1 200 O")], id="half a head"),
        pytest.param([Send(b"hello\r\n\r\n")], id="no http"),
        pytest.param(whole("502 Bad Gateway", b"<h1>", content_type="text/html"), id="502"),
        pytest.param(whole("503 Service Unavailable", b"{}", retry_after="2"), id="503"),
        pytest.param(
            [head("500 Oops", content_length="9"), Send(b"half"), Cut()], id="half a refusal"
        ),
    ],
)
async def test_a_gateway_that_fails_is_tried_again(failing: list[Any]) -> None:
    good = [SSE, Send(ready() + frames(EVENTS)), Cut()]
    async with playing(failing, failing, good, OVER) as server:
        seqs, state = await read_all(client_of(server.url), until_idle=True)

    assert_whole(seqs, state)


async def test_pauses_grow_and_are_told() -> None:
    timing = FakeTiming()
    changes: list[ConnectionChange] = []
    failing = whole("503 Service Unavailable", b"{}", retry_after="2")
    async with playing(
        [Cut()], [Cut()], failing, [SSE, Send(ready() + frames(EVENTS)), Cut()], OVER
    ) as server:
        await read_all(client_of(server.url, timing), until_idle=True, on_connection=changes.append)

    assert timing.pauses == [0.5, 1, 4]
    told = [(change.status, change.error and change.error.code) for change in changes]
    assert told == [
        ("connecting", None),
        ("waiting", "connection_lost"),
        ("connecting", "connection_lost"),
        ("waiting", "connection_lost"),
        ("connecting", "connection_lost"),
        ("waiting", "http_error"),
        ("connecting", "http_error"),
        ("connected", "http_error"),
        ("connecting", "connection_lost"),
    ]
    assert [change.retry_in_s for change in changes if change.status == "waiting"] == [0.5, 1, 4]


@pytest.mark.requirement("client:stream:silence")
@pytest.mark.case("S11")
async def test_a_silent_stream_is_dropped_and_goes_on_from_its_cursor() -> None:
    timing = FakeTiming()
    rest = [SSE, Send(ready(5) + frames(EVENTS[5:])), Cut()]
    async with playing([SSE, Send(ready() + frames(EVENTS[:5])), Stall()], rest, OVER) as server:
        seqs: list[int] = []
        async with client_of(server.url, timing) as client, anyio.create_task_group() as group:

            async def read() -> None:
                async for _state, event in client.events(CONVERSATION, until_idle=True):
                    seqs.append(event.seq)
                    if event.seq == 5:
                        five.set()

            five = anyio.Event()
            group.start_soon(read)
            await five.wait()
            await server.stalled.wait()
            await anyio.wait_all_tasks_blocked()
            timing.advance(SILENCE_S - 1)
            await anyio.wait_all_tasks_blocked()
            assert not server.left.is_set()
            timing.advance(1)
            await server.left.wait()

    assert seqs == [1, 2, 3, 4, 5, 6, 7]
    assert server.cursors[:2] == [None, "5"]


async def test_a_gateway_that_accepts_and_never_answers_is_given_up_after_the_same_time() -> None:
    timing = FakeTiming()
    good = [SSE, Send(ready() + frames(EVENTS)), Cut()]
    async with playing([Stall()], good, OVER) as server, anyio.create_task_group() as group:

        async def read() -> None:
            assert_whole(*await read_all(client_of(server.url, timing), until_idle=True))

        group.start_soon(read)
        await server.stalled.wait()
        timing.advance(SILENCE_S)

    assert server.cursors == [None, None, "7"]
    assert timing.pauses == [0.5]


@pytest.mark.case("S03")
async def test_a_long_quiet_tool_run_with_heartbeats_is_kept() -> None:
    timing = FakeTiming()
    beats = [anyio.Event() for _ in range(8)]
    quiet = [step for beat in beats for step in (Hold(beat), Send(heartbeat()))]
    script = [
        SSE, Send(ready() + frames(EVENTS[:3])), *quiet, Send(frames(EVENTS[3:])), Cut(),
    ]  # fmt: skip
    async with playing(script, OVER) as server, anyio.create_task_group() as group:

        async def read() -> None:
            assert_whole(*await read_all(client_of(server.url, timing), until_idle=True))

        group.start_soon(read)
        for beat in beats:
            await anyio.wait_all_tasks_blocked()
            timing.advance(15)
            beat.set()

    assert server.cursors == [None, "7"]
    assert timing.now_s >= 1_000 + 8 * 15


async def test_a_gap_is_healed_by_a_snapshot() -> None:
    healed = [SSE, Send(ready(2) + frame(snapshot(EVENTS[:5])) + frames(EVENTS[5:])), Cut()]
    async with playing(
        [SSE, Send(frames(EVENTS[:2] + EVENTS[3:])), Stall()], healed, OVER
    ) as server:
        seqs, state = await read_all(client_of(server.url), until_idle=True)

    assert seqs == [1, 2, 5, 6, 7]
    assert state.messages == folded(EVENTS).messages
    assert "snapshot=1" in server.targets[1]
    assert "snapshot" not in server.targets[2]


@pytest.mark.requirement("client:stream:refusal")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        (whole("200 OK", b"<html>Sign in", content_type="text/html"), "unexpected_content_type"),
        (whole("302 Found", b"", location="/login"), "unexpected_status"),
        (whole("404 Not Found", b"nginx", content_type="text/html"), "http_error"),
        (
            whole("401 Unauthorized", b'{"error":{"code":"unauthorized","message":"m"}}'),
            "unauthorized",
        ),
        (
            [head(content_type="text/event-stream", blockwire_protocol="2"), Stall()],
            "protocol_mismatch",
        ),
    ],
)
async def test_what_no_repetition_heals_is_one_error(script: list[Any], code: str) -> None:
    async with playing(script) as server:
        with pytest.raises(ClientError) as caught:
            await read_all(client_of(server.url))

    assert caught.value.code == code
    assert len(server.requests) == 1


async def test_a_deletion_comes_after_what_was_there() -> None:
    deleted = frame({"type": "conversation.deleted", "conversation_id": CONVERSATION})
    seqs: list[int] = []
    async with playing([SSE, Send(frames(EVENTS[:2]) + deleted), Stall()]) as server:

        async def read() -> None:
            async with client_of(server.url) as client:
                async for _state, event in client.events(CONVERSATION):
                    seqs.append(event.seq)

        with pytest.raises(ClientError) as caught:
            await read()

    assert seqs == [1, 2]
    assert caught.value.code == "conversation_deleted"


@pytest.mark.parametrize("size_bytes", [65_537, 1_048_577, 8_000_000])
@pytest.mark.case("S10")
async def test_a_line_of_any_documented_length_is_delivered(size_bytes: int) -> None:
    events = numbered(
        started(), block("c1", type="code", text="x" * size_bytes), *EVENTS[1:1], ended()
    )[:2]
    async with playing([SSE, Send(frames(events)), Cut()], OVER) as server:
        seqs, state = await read_all(client_of(server.url), until_idle=True)

    assert seqs == [1, 2]
    assert len(text_of(state, block_id="c1")) == size_bytes


@pytest.mark.parametrize("is_heard", [True, False])
@pytest.mark.case("S10")
async def test_a_longer_one_is_reported_once_and_never_asked_for_again(
    *, is_heard: bool, caplog: pytest.LogCaptureFixture
) -> None:
    settings = ClientSettings(call_s=60.0, event_bytes_max=65_536)
    reports: list[ClientError] = []
    events = numbered(started(), block(), delta("x" * 65_537), delta("y"))
    async with playing([SSE, Send(frames(events)), Cut()], OVER) as server:
        with caplog.at_level(logging.WARNING, logger="blockwire"):
            seqs, state = await read_all(
                client_of(server.url, settings=settings),
                until_idle=True,
                on_report=reports.append if is_heard else None,
            )

    assert seqs == [1, 2, 4]
    assert text_of(state) == "y"
    assert server.cursors == [None, "4"]
    assert [error.code for error in reports] == ["event_too_large"] * is_heard
    assert ("event_too_large" in caplog.text) is not is_heard


async def test_a_compressing_proxy_is_understood_and_a_broken_one_is_reconnected() -> None:
    squeezed = head(content_type="text/event-stream", content_encoding="gzip")
    packed = gzip.compress(frames(EVENTS))
    async with playing(
        [squeezed, Send(b"no gzip"), Cut()], [squeezed, Send(packed), Cut()], OVER
    ) as server:
        assert_whole(*await read_all(client_of(server.url), until_idle=True))


async def test_a_watcher_sees_the_newest_state_only() -> None:
    go_on, go_further = anyio.Event(), anyio.Event()
    queued = frame({"type": "turn.queued", "turn_id": "turn_2", "position": 1})
    script = [
        SSE, Send(ready() + frames(EVENTS[:4]) + queued), Hold(go_on), Send(queued),
        Hold(go_further), Send(frames(EVENTS[4:])), Cut(),
    ]  # fmt: skip
    texts: list[str] = []
    async with playing(script, OVER) as server, anyio.create_task_group() as group:

        async def watch() -> None:
            async with client_of(server.url) as client:
                async for state in client.watch(CONVERSATION, until_idle=True):
                    texts.append(text_of(state))
                    go_on.set()

        group.start_soon(watch)
        await go_on.wait()
        await anyio.wait_all_tasks_blocked()
        go_further.set()

    assert texts[0] == "Hello"
    assert texts[-1] == "Hello!"
    assert len(texts) <= 3


async def test_starting_now_begins_with_a_snapshot() -> None:
    script = [SSE, Send(ready(4) + frame(snapshot(EVENTS[:4])) + frames(EVENTS[4:])), Cut()]
    async with playing(script, OVER) as server:
        seqs, state = await read_all(client_of(server.url), after="now", until_idle=True)

    assert seqs == [4, 5, 6, 7]
    assert state.messages == folded(EVENTS).messages
    assert server.targets[0].endswith("?until=idle&snapshot=1")


async def test_leaving_early_closes_the_connection() -> None:
    stalling = [SSE, Send(ready() + frames(EVENTS[:1])), Stall()]
    async with playing(stalling) as server, client_of(server.url) as client:
        async with aclosing(client.events(CONVERSATION)) as events:
            await anext(events)

        await server.left.wait()


async def test_a_gateway_that_is_not_there_is_given_up_when_patience_ends() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    await listener.aclose()
    changes: list[ConnectionChange] = []

    with pytest.raises(ClientError) as caught:
        await read_all(
            client_of(f"http://127.0.0.1:{port}"), give_up_s=10, on_connection=changes.append
        )

    assert caught.value.code == "gateway_unreachable"
    assert "blockwire serve" in caught.value.detail
    assert {change.status for change in changes} == {"connecting", "waiting"}


# asking -------------------------------------------------------------------------------------
TURN_BODY = (
    b'{"id":"turn_1","conversation_id":"conv_a","status":"%s","engine":"e","created_at":1,'
    b'"request_message_id":"msg_1","message_id":"turn_1","seq":7,"durable":true%s}'
)


def submitted(status: bytes = b"running") -> list[Any]:
    return list(whole("202 Accepted", TURN_BODY % (status, b""), blockwire_epoch="3"))


def read_over(status: bytes = b"completed") -> list[Any]:
    message = (
        b',"message":{"id":"turn_1","role":"assistant","status":"completed","created_at":1,'
        b'"content":[{"id":"b1","type":"prose","markdown":"Hello!"}]}'
    )
    return list(whole("200 OK", TURN_BODY % (status, message)))


async def asked(server: ScriptServer, **options: Any) -> list[tuple[str, str]]:
    """Ask and return status and text of each state."""
    seen: list[tuple[str, str]] = []
    async with client_of(server.url) as client:
        async for turn in client.ask(CONVERSATION, "Hi", **options):
            found = turn.find("b1")
            seen.append((turn.status, "" if found is None else str(found.block["markdown"])))
    return seen


async def test_asking_follows_the_answer_to_its_end_over_broken_connections() -> None:
    question = numbered({"type": "message.created", "message": {
        "id": "msg_1", "role": "user", "status": "completed", "created_at": 1,
        "content": [{"id": "q", "type": "prose", "markdown": "Hi"}]}})  # fmt: skip
    turn = numbered(started(), block(), delta("Hel"), delta("lo"), first=2)
    rest = numbered(
        {"type": "content.block.completed", "turn_id": "turn_1", "block_id": "b1"},
        ended(),
        first=6,
    )
    events = [*question, *turn, *rest]
    async with playing(
        submitted(),
        [SSE, Send(ready() + frame(snapshot(events[:2]))), Cut()],
        [SSE, Send(ready() + frames(events[:4])), Reset()],
        [SSE, Send(ready() + frames(events)), Stall()],
    ) as server:
        seen = await asked(server)

    assert seen[-1] == ("completed", "Hello")
    assert [text for _status, text in seen] == sorted(text for _status, text in seen)
    assert server.requests[0].headers["idempotency-key"].startswith("key_")
    assert server.requests[0].body == b'{"content":"Hi"}'
    assert "snapshot=1" in server.targets[1]


async def test_a_reader_that_lost_the_stream_learns_of_the_end_from_the_turn_itself() -> None:
    async with playing(
        submitted(),
        [SSE, Send(ready(9) + frame({**snapshot(EVENTS[:1]), "messages": [], "turns": []}))],
        read_over(),
    ) as server:
        seen = await asked(server)

    assert seen == [("completed", "Hello!")]
    assert server.targets[2] == "/v1/conversations/conv_a/turns/turn_1"


async def test_a_turn_that_the_snapshot_does_not_hold_yet_is_waited_for() -> None:
    nothing = {**snapshot(EVENTS[:1]), "seq": 0, "messages": [], "turns": []}
    del nothing["seq"]
    async with playing(
        submitted(b"running"),
        [SSE, Send(ready() + frame(nothing) + heartbeat()), Hold(held := anyio.Event()),
         Send(frames(EVENTS)), Stall()],
        list(whole("200 OK", TURN_BODY % (b"running", b""))),
    ) as server, anyio.create_task_group() as group:  # fmt: skip

        async def ask() -> None:
            assert (await asked(server))[-1] == ("completed", "Hello!")

        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        held.set()


async def test_a_turn_that_is_over_already_is_read_and_not_streamed() -> None:
    async with playing(whole("200 OK", TURN_BODY % (b"completed", b"")), read_over()) as server:
        assert await asked(server, idempotency_key="k1") == [("completed", "Hello!")]

    assert server.requests[0].headers["idempotency-key"] == "k1"


@pytest.mark.parametrize(
    "ending",
    [pytest.param(OVER, id="204"), pytest.param([Cut()], id="out of patience")],
)
@pytest.mark.parametrize("is_over", [True, False])
async def test_the_turn_has_the_last_word_when_the_stream_gives_up(
    ending: list[Any], *, is_over: bool
) -> None:
    last = read_over() if is_over else list(whole("200 OK", TURN_BODY % (b"running", b"")))
    async with playing(
        submitted(), [SSE, Send(ready() + frame(snapshot(EVENTS[:3]))), Cut()], ending, last
    ) as server:
        if is_over:
            assert (await asked(server, give_up_s=0.7))[-1] == ("completed", "Hello!")
            return
        with pytest.raises(ClientError) as caught:
            await asked(server, give_up_s=0.7)

    assert caught.value.code == "connection_lost"


async def test_when_both_roads_are_closed_the_first_reason_is_told() -> None:
    refused = whole("404 Not Found", b'{"error":{"code":"turn_not_found","message":"m"}}')
    async with playing(submitted(), OVER, refused) as server:
        with pytest.raises(ClientError) as caught:
            await asked(server)

    assert caught.value.code == "connection_lost"


async def test_a_refused_stream_is_an_error_of_the_asker() -> None:
    refused = whole("403 Forbidden", b'{"error":{"code":"insufficient_scope","message":"m"}}')
    async with playing(submitted(), refused) as server:
        with pytest.raises(ClientError) as caught:
            await asked(server)

    assert caught.value.code == "insufficient_scope"


async def test_a_turn_without_its_message_is_no_answer() -> None:
    no_message = whole("200 OK", TURN_BODY % (b"completed", b""))
    async with playing(no_message, no_message) as server:
        with pytest.raises(ClientError) as caught:
            await asked(server)

    assert caught.value.code == "invalid_answer"


async def test_a_snapshot_is_an_event_like_any_other_to_a_reader_of_events() -> None:
    async with (
        playing([SSE, Send(frame(snapshot(EVENTS))), Stall()]) as server,
        client_of(server.url) as client,
        aclosing(client.events(CONVERSATION)) as events,
    ):
        state, event = await anext(events)

    assert isinstance(event, ConversationSnapshot)
    assert state.seq == 7


async def test_the_proxies_of_the_environment_are_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with (
        playing(whole("200 OK", b'{"status":"ok"}')) as server,
        client_of(server.url) as client,
    ):
        assert await client.health()


async def test_a_client_that_was_closed_says_so() -> None:
    client = client_of("http://127.0.0.1:1")
    await client.aclose()

    for use in (read_all(client), client.health()):
        with pytest.raises(ClientError) as caught:
            await use
        assert caught.value.code == "client_closed"
