"""Outside producers over HTTP: lines up, acknowledgements down, at the same time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.http.upload import PENDING_BYTES_MAX
from blockwire.jsontext import decode_json
from tests.gateway.core.world import line, numbered
from tests.gateway.http.surface import Surface, json_of, peers, surface

pytestmark = pytest.mark.anyio

NDJSON = {"content-type": "application/x-ndjson"}
BLOCK = {"id": "b1", "type": "prose", "markdown": ""}


async def external_turn(s: Surface) -> tuple[str, str]:
    """Return the id of a turn and where its events go."""
    conversation_id = await s.world.conversation()
    turn_id = await s.world.submit(conversation_id, engine="external")
    return turn_id, f"/v1/conversations/{conversation_id}/turns/{turn_id}/events"


def started(turn_id: str) -> dict[str, Any]:
    return {"type": "content.block.started", "turn_id": turn_id, "block": BLOCK}


def said(turn_id: str, text: str) -> dict[str, Any]:
    return {
        "type": "content.block.delta", "turn_id": turn_id, "block_id": "b1", "field": "markdown",
        "text": text,
    }  # fmt: skip


def ended(turn_id: str) -> dict[str, Any]:
    return {"type": "turn.completed", "turn_id": turn_id, "status": "completed"}


def lines_of(data: bytes) -> list[Any]:
    return [decode_json(one) for one in data.splitlines()]


async def test_a_batch_is_committed_and_acknowledged() -> None:
    async with surface() as s:
        turn_id, url = await external_turn(s)
        content = numbered(1, started(turn_id), said(turn_id, "Hi"), ended(turn_id))

        response = await s.client.post(url, content=content, headers=NDJSON)
        turn = json_of(await s.client.get(url.removesuffix("/events")))

        assert response.status_code == 200
        assert response.headers["content-type"] == "application/x-ndjson"
        assert lines_of(response.content)[-1]["producer_seq"] == 3
        assert turn["message"]["content"][0]["markdown"] == "Hi"


@pytest.mark.requirement("gateway:producer:while-uploading")
async def test_acknowledgements_come_while_the_upload_goes_on() -> None:
    async with surface() as s, peers(s.app) as connect:
        turn_id, url = await external_turn(s)
        peer = await connect(url, method="POST", uploads=True, content_type="application/x-ndjson")

        await peer.upload(numbered(1, started(turn_id)))
        await peer.until(lambda: len(lines_of(peer.raw)) == 1)
        await peer.upload(numbered(2, said(turn_id, "a")))
        await peer.until(lambda: len(lines_of(peer.raw)) == 2)
        await peer.upload(numbered(3, ended(turn_id)), more=False)
        await peer.until_ended()

        assert [ack["producer_seq"] for ack in lines_of(peer.raw)] == [1, 2, 3]
        assert [ack["seq"] for ack in lines_of(peer.raw)] == [3, 4, 6]


async def test_a_line_cut_anywhere_is_one_line() -> None:
    async with surface() as s:
        turn_id, url = await external_turn(s)
        content = numbered(1, started(turn_id), said(turn_id, "Grüße"), ended(turn_id))

        async def byte_by_byte() -> AsyncIterator[bytes]:
            for index in range(len(content)):
                yield content[index : index + 1]

        response = await s.client.post(url, content=byte_by_byte(), headers=NDJSON)

        acknowledged = [ack["producer_seq"] for ack in lines_of(response.content)]
        assert acknowledged == [1, 2, 3]


async def test_an_upload_that_was_cut_off_goes_on_where_it_was() -> None:
    async with surface() as s, peers(s.app) as connect:
        turn_id, url = await external_turn(s)
        peer = await connect(url, method="POST", uploads=True, content_type="application/x-ndjson")
        cut = numbered(3, said(turn_id, "not whole"))
        await peer.upload(numbered(1, started(turn_id), said(turn_id, "a")) + cut[:-10])
        await peer.until(lambda: len(peer.raw) > 0)
        peer.leave()
        with anyio.fail_after(15):
            await peer.done.wait()

        content = numbered(
            1, started(turn_id), said(turn_id, "a"), said(turn_id, "b"), ended(turn_id)
        )
        response = await s.client.post(url, content=content, headers=NDJSON)
        turn = json_of(await s.client.get(url.removesuffix("/events")))

        assert lines_of(response.content)[-1]["producer_seq"] == 4
        assert turn["message"]["content"][0]["markdown"] == "ab"


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{}", {"content-type": "application/json"}, 415, "unsupported_media_type"),
        (b"nonsense\n", NDJSON, 400, "invalid_json"),
        (line(type="x", producer_seq=2), NDJSON, 409, "producer_gap"),
        (line(type="x", producer_seq=1), {**NDJSON, "blockwire-epoch": "9"}, 409, "epoch_fenced"),
        (line(type="x"), {**NDJSON, "blockwire-epoch": "x"}, 400, "invalid_parameter"),
        (line(type="x"), {**NDJSON, "blockwire-epoch": "1" * 17}, 400, "invalid_parameter"),
        (line(type="x"), {**NDJSON, "blockwire-epoch": "-1"}, 400, "invalid_parameter"),
        (b"x" * 1_048_577, NDJSON, 413, "limit_exceeded"),
    ],
)
@pytest.mark.requirement("gateway:producer:refusal-status")
async def test_an_upload_whose_first_line_is_refused_gets_a_status(
    content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    async with surface() as s:
        _, url = await external_turn(s)

        response = await s.client.post(url, content=content, headers=headers)

        assert (response.status_code, json_of(response)["error"]["code"]) == (status, code)


@pytest.mark.requirement("gateway:producer:refusal-line")
async def test_a_refusal_that_comes_later_is_the_last_line() -> None:
    async with surface() as s:
        turn_id, url = await external_turn(s)
        content = numbered(1, started(turn_id), said(turn_id, "a"), started(turn_id))

        response = await s.client.post(url, content=content, headers=NDJSON)

        *acknowledged, refusal = lines_of(response.content)
        assert response.status_code == 200
        assert acknowledged[-1]["producer_seq"] == 2
        assert refusal["error"]["code"] == "block_exists"


async def test_an_empty_upload_is_acknowledged_with_nothing() -> None:
    async with surface() as s:
        _, url = await external_turn(s)

        response = await s.client.post(url, content=b"\n\n", headers=NDJSON)

        assert (response.status_code, response.content) == (200, b"")


async def test_keys_of_events_are_converted_where_that_is_asked_for() -> None:
    async with surface() as s:
        turn_id, url = await external_turn(s)
        block = {"id": "t", "type": "tool", "tool": "x", "status": "running", "input": {"aB": 1}}
        content = line(type="content.block.started", turn_id=turn_id, block=block)

        refused = await s.client.post(url, content=content, headers=NDJSON)
        taken = await s.client.post(url + "?keys=convert", content=content, headers=NDJSON)
        turn = json_of(await s.client.get(url.removesuffix("/events")))

        assert json_of(refused)["error"]["code"] == "invalid_key"
        assert taken.status_code == 200
        assert turn["message"]["content"][0]["input"] == {"a_b": 1}


@pytest.mark.requirement("gateway:producer:not-read")
async def test_a_producer_that_reads_no_acknowledgements_is_read_to_its_end() -> None:
    """As clients do that send everything first; else both sides would wait for ever."""
    async with surface() as s, peers(s.app) as connect:
        turn_id, url = await external_turn(s)
        peer = await connect(url, method="POST", uploads=True, content_type="application/x-ndjson")
        await peer.upload(numbered(1, started(turn_id)))
        await peer.until(lambda: len(peer.raw) > 0)
        peer.stop_reading()

        count = PENDING_BYTES_MAX // 20
        for number in range(2, count):
            await peer.upload(numbered(number, said(turn_id, ".")))
        await peer.upload(numbered(count, ended(turn_id)), more=False)
        await s.world.ended(url.split("/")[3], turn_id)
        peer.read_on()
        await peer.until_ended()

        assert lines_of(peer.raw)[-1]["producer_seq"] == count
        assert len(peer.raw) < 3 * PENDING_BYTES_MAX


async def test_an_upload_has_a_bound_where_one_is_set() -> None:
    async with surface(http=HttpSettings(upload_bytes_max=100)) as s:
        _, url = await external_turn(s)

        response = await s.client.post(url, content=b" " * 101, headers=NDJSON)

        assert (response.status_code, json_of(response)["error"]["code"]) == (413, "body_too_large")


@pytest.mark.requirement("gateway:producer:stopping", "gateway:limits:stop-bodies")
async def test_a_gateway_that_stops_ends_uploads_that_wait_for_lines() -> None:
    async with surface() as s, peers(s.app) as connect:
        turn_id, url = await external_turn(s)
        open_ended = {"method": "POST", "uploads": True, "content_type": "application/x-ndjson"}
        begun = await connect(url, **open_ended)
        silent = await connect(url, **open_ended)
        await begun.upload(numbered(1, started(turn_id)) + b'{"type":"content.blo')
        await begun.until(lambda: len(begun.raw) > 0)
        await silent.upload(b"\n")

        s.app.stop()
        await begun.until_ended()
        await silent.until_ended()
        late = await s.client.post(url, content=numbered(2, ended(turn_id)), headers=NDJSON)

        acknowledged, refusal = lines_of(begun.raw)
        assert acknowledged["producer_seq"] == 1
        assert refusal["error"]["code"] == "gateway_stopping"
        assert (silent.status, late.status_code) == (503, 503)
        assert lines_of(silent.raw)[0]["error"]["code"] == "gateway_stopping"
