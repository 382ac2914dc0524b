"""What a request leaves behind is freed at once: the collector of cycles hardly ever runs."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import pytest

from blockwire.jsontext import Json, encode_json
from tests.gateway.core.world import line, numbered
from tests.gateway.http.test_server import served
from tests.gateway.http.test_upload import BLOCK, said, started

pytestmark = pytest.mark.anyio

COUNT = 5
NDJSON = "application/x-ndjson"


class Visitor:
    """Makes requests on connections of its own, and leaves when it has seen enough."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def ask(
        self, method: str, path: str, body: Json | bytes = b"", *, until: bytes = b"", **more: str
    ) -> bytes:
        """Return the answer as far as ``until``, or to its end."""
        data = body if isinstance(body, bytes) else encode_json(body)
        heads = {"content_length": str(len(data)), "content_type": "application/json", **more}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in heads.items()]
        head = [f"{method} {path} HTTP/1.1", "host: localhost", "connection: close", *lines, "", ""]
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write("\r\n".join(head).encode() + data)
        raw = b""
        with anyio.fail_after(15):
            while not until or until not in raw:
                piece = await reader.read(65_536)
                if not piece:
                    break
                raw += piece
        writer.transport.abort()
        return raw


Action = Callable[[Visitor, str, str], Awaitable[None]]


async def read_stream(visitor: Visitor, conversation: str, _upload: str) -> None:
    await visitor.ask("GET", f"{conversation}/events", until=b"subscription.ready")


async def be_refused(visitor: Visitor, conversation: str, _upload: str) -> None:
    assert b" 400 " in await visitor.ask("GET", f"{conversation}/events?wait=1")


async def be_refused_for_a_body(visitor: Visitor, conversation: str, _upload: str) -> None:
    assert b" 400 " in await visitor.ask("POST", f"{conversation}/turns", b"nonsense")


async def poll(visitor: Visitor, conversation: str, _upload: str) -> None:
    path = f"{conversation}/events?after=now&wait=0.01"
    assert b" 200 " in await visitor.ask("GET", path, accept="application/json")


async def leave_in_mid_upload(visitor: Visitor, _conversation: str, upload: str) -> None:
    lines = line(type="agent.step") + b'{"type":'
    heads = {"content_type": NDJSON, "content_length": "1000"}
    await visitor.ask("POST", upload, lines, until=b'"seq"', **heads)


async def be_refused_late(visitor: Visitor, _conversation: str, upload: str) -> None:
    lines = line(type="agent.step") + line(type="agent.step") + b"nonsense\n"
    answer = await visitor.ask("POST", upload, lines, content_type=NDJSON)
    assert b"invalid_json" in answer


@pytest.fixture
async def garbage() -> AsyncIterator[Callable[[], Counter[str]]]:
    """Stop the collector; yield what tells which objects only it would find."""
    gc.collect()
    gc.disable()

    def collect() -> Counter[str]:
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        found = Counter(type(item).__qualname__ for item in gc.garbage)
        gc.garbage.clear()
        return found

    yield collect
    gc.enable()


@pytest.mark.parametrize(
    "action",
    [read_stream, be_refused, be_refused_for_a_body, poll, leave_in_mid_upload, be_refused_late],
)
async def test_requests_leave_no_cycles_behind(
    action: Action, garbage: Callable[[], Counter[str]]
) -> None:
    async with served() as (s, port):
        visitor = Visitor(port)
        conversation_id = await s.world.conversation()
        turn_id = await s.world.submit(conversation_id, engine="external")
        conversation = f"/v1/conversations/{conversation_id}"
        upload = f"{conversation}/turns/{turn_id}/events"
        await s.world.post(
            conversation_id, turn_id, numbered(1, started(turn_id), said(turn_id, BLOCK["id"]))
        )
        await action(visitor, conversation, upload)
        await visitor.ask("GET", "/healthz")
        garbage()

        for _ in range(COUNT):
            await action(visitor, conversation, upload)
        with anyio.fail_after(15):
            while s.app.surface.hub.stream_count or s.app.surface.bodies:
                await anyio.lowlevel.checkpoint()
        for _ in range(2):
            await visitor.ask("GET", "/healthz")

        left = garbage()
        assert left["RequestResponseCycle"] < COUNT, left
        assert left["frame"] < COUNT, left
