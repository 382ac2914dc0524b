"""Uploads that break: nothing is lost, nothing comes twice, and the right thing is said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.client import Acknowledgement, ClientError, ClientSettings
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import decode_json
from tests.client.events import CONVERSATION, delta
from tests.client.fakes import (
    PAUSE_S_MAX,
    Cut,
    FakeTiming,
    Request,
    Reset,
    Script,
    Send,
    Stall,
    client_of,
    head,
    playing,
    whole,
)

pytestmark = pytest.mark.anyio

NDJSON = "application/x-ndjson"
EVENTS = [delta(text) for text in "abcdef"]


def ack(producer_seq: int) -> bytes:
    return b'{"producer_seq":%d,"seq":%d}\n' % (producer_seq, producer_seq + 10)


def acked(*producer_seqs: int) -> Script:
    return whole("200 OK", b"".join(map(ack, producer_seqs)), content_type=NDJSON)


def lines(request: Request) -> list[int]:
    return [decode_json(line)["producer_seq"] for line in request.body.splitlines()]  # type: ignore[call-overload,index,misc]


async def post(
    url: str, events: Any = EVENTS, timing: FakeTiming | None = None, **options: Any
) -> tuple[Acknowledgement, list[int]]:
    told: list[int] = []
    settings = options.pop("settings", ClientSettings(call_s=60.0))
    transport = options.pop("transport", None)
    async with client_of(url, timing, settings=settings, transport=transport) as client:
        last = await client.post_events(
            CONVERSATION,
            "turn_1",
            events,
            on_acknowledged=lambda acknowledged: told.append(acknowledged.producer_seq),
            **options,
        )
    return last, told


async def test_what_gathers_while_one_request_is_answered_goes_with_the_next() -> None:
    async with playing(acked(1), acked(4, 6)) as server:
        last, told = await post(server.url, epoch=3)

    assert [lines(request) for request in server.requests] == [[1], [2, 3, 4, 5, 6]]
    assert last == Acknowledgement(6, 16)
    assert told == [1, 4, 6]
    assert server.requests[0].headers["blockwire-epoch"] == "3"
    assert server.requests[0].headers["content-type"] == NDJSON
    assert server.targets[0] == "/v1/conversations/conv_a/turns/turn_1/events"


@pytest.mark.parametrize(
    ("breaking", "resent"),
    [
        pytest.param([Cut()], [2, 3, 4, 5, 6], id="cut"),
        pytest.param([Reset()], [2, 3, 4, 5, 6], id="reset"),
        pytest.param(
            [head(content_type=NDJSON, content_length="99"), Send(ack(3) + ack(4)[:5]), Cut()],
            [4, 5, 6], id="cut after an acknowledgement",
        ),
        pytest.param(acked(4), [5, 6], id="not all acknowledged"),
        pytest.param(acked(), [2, 3, 4, 5, 6], id="nothing acknowledged"),
        pytest.param(
            whole("503 Service Unavailable", b'{"error":{"code":"store_busy","retryable":true}}'),
            [2, 3, 4, 5, 6], id="503",
        ),
        pytest.param(
            whole(
                "200 OK", ack(3) + b'{"error":{"code":"store_busy","retryable":true}}\n',
                content_type=NDJSON,
            ),
            [4, 5, 6], id="a refusal that passes",
        ),
    ],
)  # fmt: skip
async def test_a_broken_upload_goes_on_after_the_last_acknowledged_line(
    breaking: Script, resent: list[int]
) -> None:
    async with playing(acked(1), breaking, acked(6)) as server:
        last, _told = await post(server.url)

    assert last.producer_seq == 6
    assert lines(server.requests[2]) == resent


async def test_an_upload_that_is_never_acknowledged_is_sent_again() -> None:
    timing = FakeTiming()
    async with (
        playing([Stall()], acked(6)) as server,
        anyio.create_task_group() as group,
    ):

        async def upload() -> None:
            assert (await post(server.url, EVENTS[:1], timing))[0].producer_seq == 6

        group.start_soon(upload)
        await server.stalled.wait()
        timing.advance(60)

    assert PAUSE_S_MAX < 60
    assert len(server.requests) == 2


async def test_repetition_has_an_end() -> None:
    async with playing(*[[Cut()]] * 4) as server:
        with pytest.raises(ClientError) as caught:
            await post(server.url)

    assert caught.value.code == "connection_lost"


async def test_an_upload_that_gets_on_is_never_given_up() -> None:
    steps = [script for number in range(1, 7) for script in (acked(number), acked())]
    async with playing(*steps[:-1]) as server:
        last, told = await post(server.url)

    assert last.producer_seq == 6
    assert told == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (whole("409 Conflict", b'{"error":{"code":"turn_terminal","message":"m"}}'),
         "turn_terminal"),
        (whole("200 OK", ack(1) + b'{"error":{"code":"block_not_found"}}\n', content_type=NDJSON),
         "block_not_found"),
        (whole("200 OK", b"nonsense\n", content_type=NDJSON), "invalid_answer"),
        (whole("200 OK", b'{"producer_seq":"1"}\n', content_type=NDJSON), "invalid_answer"),
        (whole("200 OK", b"x" * 70_000, content_type=NDJSON), "invalid_answer"),
        (whole("200 OK", ack(1), content_type=NDJSON, blockwire_protocol="7"),
         "protocol_mismatch"),
    ],
)  # fmt: skip
async def test_a_refusal_is_an_error_and_never_sent_again(answer: Script, code: str) -> None:
    async with playing(answer) as server:
        with pytest.raises(ClientError) as caught:
            await post(server.url, EVENTS[:2], settings=ClientSettings(call_s=60.0))

    assert caught.value.code == code
    assert len(server.requests) == 1


async def test_a_request_holds_no_more_than_its_bounds() -> None:
    few = ClientSettings(call_s=60.0, upload_events_max=2)
    async with playing(acked(1), acked(3), acked(5), acked(6)) as server:
        await post(server.url, settings=few)
    assert [lines(request) for request in server.requests] == [[1], [2, 3], [4, 5], [6]]

    small = ClientSettings(call_s=60.0, upload_bytes_max=1)
    async with playing(*[acked(number) for number in range(1, 7)]) as server:
        await post(server.url, settings=small)
    assert [lines(request) for request in server.requests] == [[n] for n in range(1, 7)]


async def test_events_are_taken_only_as_fast_as_they_go_up() -> None:
    taken = 0

    async def source() -> AsyncIterator[dict[str, Any]]:
        nonlocal taken
        for event in EVENTS * 10:
            taken += 1
            yield event

    settings = ClientSettings(call_s=60.0, upload_events_max=4)
    timing = FakeTiming()
    async with playing([Stall()]) as server, anyio.create_task_group() as group:

        async def upload() -> None:
            await post(server.url, source(), timing, settings=settings)

        group.start_soon(upload)
        await server.stalled.wait()
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()

    assert taken <= 2 * 4 + 1


class SourceBrokeError(Exception):
    pass


async def test_what_breaks_the_source_is_raised_once_all_before_it_is_up() -> None:
    def source() -> Iterable[dict[str, Any]]:
        yield from EVENTS[:2]
        raise SourceBrokeError

    async with playing(acked(1), acked(2)) as server:
        with pytest.raises(SourceBrokeError):
            await post(server.url, source())

    assert [lines(request) for request in server.requests] == [[1], [2]]


async def test_an_event_that_is_no_json_is_the_callers_error() -> None:
    async with playing(acked(1)) as server:
        with pytest.raises(LocalProtocolError) as caught:
            await post(server.url, [EVENTS[0], delta("\ud800")])

    assert caught.value.code == "invalid_json_value"


async def test_nothing_to_post_is_nothing() -> None:
    async with playing() as server:
        last, told = await post(server.url, [], producer_seq=4)

    assert (last, told) == (Acknowledgement(4, 0), [])
    assert server.requests == []


@given(data=st.data())
def test_any_breaks_bring_every_line_up_exactly_once_in_order(data: st.DataObject) -> None:
    """A gateway that takes lines by number, and a network that breaks before or after it does."""
    kept: list[str] = []
    breaks_left = 6

    def serve(request: httpx.Request) -> httpx.Response:
        nonlocal breaks_left
        hows = ["good", "unsent", "unanswered", "partly"] if breaks_left else ["good"]
        how = data.draw(st.sampled_from(hows))
        breaks_left -= how != "good"
        if how == "unsent":
            raise httpx.WriteError("cut")
        taken: list[Any] = [decode_json(line) for line in request.content.splitlines()]
        if how == "partly":
            taken = taken[: data.draw(st.integers(0, len(taken)))]
        for line in taken:
            assert line["producer_seq"] <= len(kept) + 1, "a gap"
            if line["producer_seq"] == len(kept) + 1:
                kept.append(line["text"])
        if how == "unanswered":
            raise httpx.ReadError("cut")
        return httpx.Response(200, content=ack(len(kept)))

    async def run() -> None:
        settings = ClientSettings(call_s=60.0, call_tries_max=10)
        transport = httpx.MockTransport(serve)
        last, _told = await post("http://gateway", settings=settings, transport=transport)
        assert last.producer_seq == len(EVENTS)

    anyio.run(run)
    assert kept == list("abcdef")
