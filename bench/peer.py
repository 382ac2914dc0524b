"""Servers whose fan-out alone is measured: they make the events themselves when told to.

``python -m bench.peer ours|starlette PORT CONVERSATIONS TICK_MS``, then ``GET /go?events=N&batch=B&rate=R``: N events to
each conversation that somebody reads, B at a time, R events a second to each (0: at once).
``ours`` is the gateway's hub, fed by the bus; ``starlette`` is what one writes without thinking:
a queue and a ``StreamingResponse`` for each reader. ``rows`` replays a table, a row an event.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final, Protocol
from urllib.parse import parse_qs

import uvicorn
import uvloop
from msgspec import Struct
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bench.load import MARK
from bench.processes import free_port, running, wait_listening
from blockwire.buses import MemoryBus
from blockwire.cli.system import SystemClock, UlidFactory, tune_interpreter
from blockwire.gateway import Auth, GatewayService, GatewaySettings, HttpSettings, create_app
from blockwire.ports import Committed, ConversationRow, Draft
from blockwire.stores import MemoryStore
from blockwire.stores.entries import stamp_all

__all__ = ["ROWS_COUNT", "Peer", "running_peer"]

BACKLOG: Final = 4096
ROWS_COUNT: Final = 100_000

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def delta_json(text: str) -> bytes:
    """Return a delta as an engine makes it, ``text`` behind mark and time."""
    mark = f"{MARK}{time.monotonic_ns()} "
    return (
        '{"type":"content.block.delta","turn_id":"turn_01JGAAAAAAAAAAAAAAAAAAAAAA",'
        f'"block_id":"block_1","field":"markdown","text":"{mark}{text}"}}'
    ).encode()


class Peer(Struct, frozen=True):
    """One of these servers, listening."""

    port: int
    pid: int


@contextmanager
def running_peer(kind: str, *, conversations: int = 1, tick_ms: int = 0) -> Iterator[Peer]:
    """Run one of these servers until the block ends."""
    port = free_port()
    command = ["python", "-m", "bench.peer", kind, str(port), str(conversations), str(tick_ms)]
    with running(command) as process:
        wait_listening(port)
        yield Peer(port, process.pid)


class Fan(Protocol):
    """Who publishes."""

    def names(self) -> list[str]:
        """Return the conversations that somebody reads."""
        ...

    def publish(self, name: str, events: list[bytes]) -> None:
        """Number ``events`` for one conversation and send them to its readers."""
        ...


async def publish_all(fan: Fan, events: int, batch: int, rate_per_s: float) -> None:
    """Publish as told; between two rounds the loop gets its turn."""
    started_s = time.monotonic()
    for done in range(0, events, batch):
        # Made once a round, so that it is the fan-out that is measured.
        made = [delta_json("twenty characters or so") for _ in range(batch)]
        for name in fan.names():
            fan.publish(name, made)
        due_s = started_s + (done + batch) / rate_per_s if rate_per_s else 0.0
        await asyncio.sleep(max(due_s - time.monotonic(), 0.0))


class Triggered:
    """An ASGI application with ``/go`` in front of it."""

    def __init__(self, app: Any, fan: Fan) -> None:
        self._app = app
        self._fan = fan
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/go":
            await self._app(scope, receive, send)
            return
        query = parse_qs(scope["query_string"].decode())
        events, batch = int(query["events"][0]), int(query["batch"][0])
        work = publish_all(self._fan, events, batch, float(query["rate"][0]))
        # A bare task: the request that asks for it is answered before it is done.
        self._task = asyncio.get_running_loop().create_task(work)
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class OurFan:
    """The gateway's bus; conversations are those of the store."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.store = MemoryStore()
        self.heads: dict[str, int] = {}

    def names(self) -> list[str]:
        return list(self.heads)

    def publish(self, name: str, events: list[bytes]) -> None:
        drafts = [Draft("content.block.delta", data, data, is_plain=True) for data in events]
        head = self.heads[name]
        entries = stamp_all(drafts, name, head_seq=head, public_head_seq=head, ts=1)
        self.heads[name] = head + len(events)
        self.bus.publish(Committed(name, entries))


async def make_ours(count: int, tick_ms: int) -> tuple[Any, Fan]:
    """Return the gateway with ``count`` conversations."""
    fan = OurFan()
    clock = SystemClock()
    settings = GatewaySettings()
    service = GatewayService(
        store=fan.store, bus=fan.bus, clock=clock, ids=UlidFactory(), engines={},
        guard=lambda events, _request: events,
        settings=settings,
    )  # fmt: skip
    await service.start()
    for index in range(count):
        row = ConversationRow(id=f"conv_{index}", created_at=1, updated_at=1)
        await fan.store.create_conversation(row)
        fan.heads[row.id] = 0
    app = create_app(
        service, settings, Auth((), host="127.0.0.1"), clock=clock,
        http=HttpSettings(tick_ms=tick_ms),
    )  # fmt: skip
    return app, fan


class StarletteFan:
    """A queue for each reader."""

    def __init__(self) -> None:
        self.queues: dict[str, list[asyncio.Queue[bytes]]] = {}
        self.seq = 0

    def names(self) -> list[str]:
        return list(self.queues)

    def publish(self, name: str, events: list[bytes]) -> None:
        for data in events:
            self.seq += 1
            frame = b"id: %d\nevent: content.block.delta\ndata: %b\n\n" % (self.seq, data)
            for queue in self.queues[name]:
                queue.put_nowait(frame)

    async def read(self, request: Request) -> Response:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self.queues.setdefault(request.query_params["id"], []).append(queue)

        async def frames() -> AsyncGenerator[bytes, None]:
            yield b": ready\n\n"
            while True:
                yield await queue.get()

        return StreamingResponse(frames(), media_type="text/event-stream")


class RowsFan:
    """A table with a row an event, read and written one by one."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, frame BLOB)")
        data = delta_json("a few words")
        self._connection.executemany(
            "INSERT INTO log VALUES (?, ?)",
            (
                (seq, b"id: %d\nevent: content.block.delta\ndata: %b\n\n" % (seq, data))
                for seq in range(1, ROWS_COUNT + 1)
            ),
        )

    def names(self) -> list[str]:
        return []

    def publish(self, name: str, events: list[bytes]) -> None:
        raise NotImplementedError(f"{name} has all its {len(events)} events")

    async def read(self, request: Request) -> Response:
        del request

        async def frames() -> AsyncGenerator[bytes, None]:
            for (frame,) in self._connection.execute("SELECT frame FROM log ORDER BY seq"):
                yield frame

        return StreamingResponse(frames(), media_type="text/event-stream")


async def serve(kind: str, port: int, count: int, tick_ms: int) -> None:
    """Serve until stopped."""
    if kind == "ours":
        app, fan = await make_ours(count, tick_ms)
    else:
        peer = RowsFan() if kind == "rows" else StarletteFan()
        app, fan = Starlette(routes=[Route("/sub", peer.read)]), peer
    tune_interpreter()
    config = uvicorn.Config(
        Triggered(app, fan), host="127.0.0.1", port=port, http="httptools", loop="none", ws="none",
        access_log=False, log_level="critical", backlog=BACKLOG, timeout_graceful_shutdown=1,
        lifespan="on" if kind == "ours" else "off",
    )  # fmt: skip
    await uvicorn.Server(config).serve()


def main() -> None:
    """Serve as the command line says."""
    kind, port, count, tick_ms = sys.argv[1:]
    uvloop.run(serve(kind, int(port), int(count), int(tick_ms)))


if __name__ == "__main__":
    main()
