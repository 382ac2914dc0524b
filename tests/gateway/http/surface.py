"""The gateway's application in one process: plain requests, and peers that read as they like."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import anyio
import anyio.abc
import httpx

from blockwire.content import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    encode_event,
    event_type,
)
from blockwire.gateway.access.auth import Auth
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.http.app import GatewayApp, create_app
from blockwire.gateway.settings import GatewaySettings
from blockwire.jsontext import Json, decode_json, encode_json
from blockwire.ports import Append, Committed, ConversationRow, Draft
from blockwire.sse import SseDecoder, SseEvent
from tests.gateway.core.world import FAST, FakeClock, World, gateway

URL: Final = "http://127.0.0.1:7890"


class Surface(NamedTuple):
    """A gateway, its application, a client for plain requests, and the clock of both."""

    world: World
    app: GatewayApp
    client: httpx.AsyncClient
    clock: FakeClock

    async def log(self, conversation_id: str, *events: StreamEvent | Draft) -> None:
        """Commit and publish events, as the core does."""
        service = self.world.service
        drafts = [event if isinstance(event, Draft) else draft(event) for event in events]
        appended = await service.store.append(
            Append(conversation_id=conversation_id, drafts=drafts, ts=self.clock.now_ms())
        )
        service.bus.publish(Committed(conversation_id, appended.entries))

    async def commit_only(self, conversation_id: str, *drafts: Draft) -> Committed:
        """Commit without publishing; the caller publishes what is returned."""
        appended = await self.world.service.store.append(
            Append(conversation_id=conversation_id, drafts=drafts, ts=self.clock.now_ms())
        )
        return Committed(conversation_id, appended.entries)

    async def bare_conversation(self, conversation_id: str = "conv_a") -> str:
        """Store a conversation and return its id; its log is empty."""
        await self.world.service.store.create_conversation(
            ConversationRow(id=conversation_id, created_at=1, updated_at=1)
        )
        return conversation_id


def draft(event: StreamEvent, *, is_private: bool = False) -> Draft:
    data = encode_event(event)
    return Draft(event_type(event), data, None if is_private else data)


def delta(text: str, *, turn_id: str = "turn_1", is_private: bool = False) -> Draft:
    return draft(BlockDelta(turn_id, "b1", "markdown", text), is_private=is_private)


@asynccontextmanager
async def surface(
    *,
    auth: Auth | None = None,
    http: HttpSettings | None = None,
    settings: GatewaySettings = FAST,
    **more: Any,
) -> AsyncIterator[Surface]:
    """Run a gateway with its application."""
    clock = more.pop("clock", None) or FakeClock()
    schemas = more.pop("schemas", {})
    parts = {name: more.pop(name, None) for name in ("page", "previewer")}
    is_served = more.pop("is_served", False)
    async with gateway(settings=settings, clock=clock, **more) as world:
        app = create_app(
            world.service,
            settings,
            auth if auth is not None else Auth(),
            clock=clock,
            http=http,
            schemas=schemas,
            **parts,
        )
        if not is_served:
            # A server does it, as part of the lifespan.
            app.start()
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            try:
                yield Surface(world, app, client, clock)
            finally:
                app.stop()


class Peer:
    """One connection to an event stream, and how its other end behaves.

    Attributes:
        status: Of the answer; 0 before it.
        headers: Of the answer.
        writes: Bodies as they were handed over.
        events: What they spell.
        ended: The answer is complete.
        done: The application is done with the request.
        fills_at_bytes: A write that is larger is taken, and then there is no room.
    """

    def __init__(
        self,
        app: GatewayApp,
        url: str,
        headers: Mapping[str, str],
        *,
        method: str,
        sends_all: bool,
        uploads: bool,
    ) -> None:
        parts = urlsplit(url)
        self._app = app
        self._scope = {
            "type": "http",
            "method": method,
            "path": parts.path,
            "query_string": parts.query.encode(),
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in {"host": "127.0.0.1:7890", **headers}.items()
            ],
        }
        self.status = 0
        self.headers: dict[str, str] = {}
        self.writes: list[bytes] = []
        self.events: list[SseEvent] = []
        self.decoder = SseDecoder()
        self.ended = anyio.Event()
        self.done = anyio.Event()
        self.waiting_sends = 0
        self.is_stuck = anyio.Event()
        self._gone = anyio.Event()
        self._news = anyio.Event()
        self._room = anyio.Event()
        self._room.set()
        self._was_requested = not sends_all
        self.fills_at_bytes = 1 << 40
        send, receive = anyio.create_memory_object_stream[tuple[bytes, bool]](0)
        self._upload_to, self._upload_from = send, receive
        self._is_uploading = uploads

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        task_status.started()
        try:
            await self._app(self._scope, self._receive, self._send)
        finally:
            self._upload_to.close()
            self._upload_from.close()
            self.done.set()
            self._news.set()

    async def upload(self, data: bytes, *, more: bool = True) -> None:
        """Return when the application has taken ``data``."""
        with anyio.fail_after(15):
            await self._upload_to.send((data, more))

    async def _receive(self) -> dict[str, Any]:
        if self._is_uploading and not self._gone.is_set():
            return await self._receive_upload()
        if not self._was_requested:
            self._was_requested = True
            return {"type": "http.request", "body": b"", "more_body": False}
        async with anyio.create_task_group() as group:
            for event in (self._gone, self.ended):
                group.start_soon(self._cancel_after, event, group.cancel_scope)
        return {"type": "http.disconnect"}

    async def _receive_upload(self) -> dict[str, Any]:
        message: dict[str, Any] = {"type": "http.disconnect"}
        async with anyio.create_task_group() as group:
            group.start_soon(self._cancel_after, self._gone, group.cancel_scope)
            data, self._is_uploading = await self._upload_from.receive()
            self._was_requested = True
            message = {"type": "http.request", "body": data, "more_body": self._is_uploading}
            group.cancel_scope.cancel()
        return message

    @staticmethod
    async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
        await event.wait()
        scope.cancel()

    async def _send(self, message: Any) -> None:
        # As a server does: room first, and silence when the peer is gone.
        if not self._room.is_set():
            self.waiting_sends += 1
            self.is_stuck.set()
            await self._room.wait()
            self.waiting_sends -= 1
        if self._gone.is_set():
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {n.decode(): v.decode() for n, v in message["headers"]}
        else:
            self._take(message)
        self._news.set()

    def _take(self, message: Any) -> None:
        if message["body"]:
            self.writes.append(message["body"])
            if len(message["body"]) > self.fills_at_bytes:
                self.stop_reading()
            items = self.decoder.receive_data(message["body"])
            self.events += [item for item in items if isinstance(item, SseEvent)]
        if not message["more_body"]:
            self.ended.set()

    def stop_reading(self) -> None:
        self._room = anyio.Event()
        self.is_stuck = anyio.Event()

    def read_on(self) -> None:
        self._room.set()

    def leave(self) -> None:
        self._gone.set()
        self._room.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Return when ``holds``, which is asked again after each write."""
        with anyio.fail_after(15):
            while not holds():
                self._news = anyio.Event()
                await self._news.wait()

    async def until_count(self, count: int) -> list[SseEvent]:
        """Return the events once there are so many."""
        await self.until(lambda: len(self.events) >= count)
        return self.events

    async def until_type(self, name: str) -> SseEvent:
        """Return the first event of a type once it is there."""
        await self.until(lambda: name in self.types)
        return self.events[self.types.index(name)]

    async def until_ended(self) -> None:
        with anyio.fail_after(15):
            await self.ended.wait()
            await self.done.wait()

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    @property
    def values(self) -> list[dict[str, Any]]:
        """What the events say."""
        return [decode_json(event.data.encode()) for event in self.events]  # type: ignore[misc]

    @property
    def seqs(self) -> list[int]:
        """Numbers of the events of the log, in the order in which they came."""
        return [value["seq"] for value in self.values if "seq" in value]

    @property
    def text(self) -> str:
        """What the deltas add up to."""
        return "".join(value["text"] for value in self.values if "text" in value)

    @property
    def raw(self) -> bytes:
        return b"".join(self.writes)


@asynccontextmanager
async def peers(app: GatewayApp) -> AsyncIterator[Callable[..., Any]]:
    """Yield a function that connects a peer; all leave at the end."""
    connected: list[Peer] = []
    async with anyio.create_task_group() as group:

        async def connect(
            url: str,
            method: str = "GET",
            *,
            sends_all: bool = True,
            uploads: bool = False,
            fills_at_bytes: int = 1 << 40,
            **headers: str,
        ) -> Peer:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            peer = Peer(app, url, named, method=method, sends_all=sends_all, uploads=uploads)
            peer.fills_at_bytes = fills_at_bytes
            connected.append(peer)
            await group.start(peer.run)
            return peer

        yield connect
        for peer in connected:
            peer.leave()


def json_of(response: httpx.Response) -> Any:
    return decode_json(response.content)


def body(value: Json) -> dict[str, Any]:
    """Return the arguments of a request with a JSON body."""
    return {"content": encode_json(value), "headers": {"content-type": "application/json"}}


def a_turn(*pieces: str, turn_id: str = "turn_1", ends: bool = True) -> Sequence[StreamEvent]:
    """Return the events of a turn that says ``pieces``."""
    events: list[StreamEvent] = [
        TurnStarted(turn_id=turn_id, role="assistant", created_at=1),
        BlockStarted(turn_id, {"id": "b1", "type": "prose", "markdown": ""}),
        *(BlockDelta(turn_id, "b1", "markdown", piece) for piece in pieces),
    ]
    if ends:
        events += [BlockCompleted(turn_id, "b1"), TurnEnded(turn_id, "completed")]
    return events
