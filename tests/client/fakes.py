"""A clock that moves when told, and a server that plays bytes with all that networks do to them."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import anyio
from anyio import CancelScope
from anyio.abc import SocketAttribute, SocketStream

from blockwire.client import AsyncClient, ClientSettings, SystemTiming

NOW_MS: Final = 1_740_000_000_000
SILENCE_S: Final = 45.0

# Longer than any pause, so that a fake clock can tell the two apart.
SETTINGS: Final = ClientSettings(call_s=60.0)
PAUSE_S_MAX: Final = 40.0


class FakeTiming:
    """Moves when told; pauses between attempts pass at once and are remembered.

    Attributes:
        pauses: How long each pause would have been.
    """

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.pauses: list[float] = []
        self._limits: list[tuple[float, CancelScope]] = []

    def now_ms(self) -> int:
        return NOW_MS + int(self.now_s * 1000) - 1_000_000

    def monotonic_s(self) -> float:
        return self.now_s

    def limit(self, limit_s: float) -> CancelScope:
        scope = anyio.CancelScope()
        if limit_s <= PAUSE_S_MAX:
            self.pauses.append(limit_s)
            self.now_s += limit_s
            scope.cancel()
        self._limits.append((self.now_s + limit_s, scope))
        return scope

    def advance(self, duration_s: float) -> None:
        """Let time pass: waits that are over by then end."""
        self.now_s += duration_s
        for end_s, scope in self._limits:
            if end_s <= self.now_s:
                scope.cancel()


class HastyTiming(SystemTiming):
    """The time of this machine, but for pauses between attempts: those are short."""

    def limit(self, limit_s: float) -> CancelScope:
        return super().limit(0.02 if limit_s <= PAUSE_S_MAX else limit_s)


class Step:
    """One thing that a server does to a connection."""


@dataclass(frozen=True, slots=True)
class Send(Step):
    """Write bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Cut(Step):
    """Close the connection in order, in the middle of whatever was being said."""


@dataclass(frozen=True, slots=True)
class Reset(Step):
    """Tear the connection down (RST)."""


@dataclass(frozen=True, slots=True)
class Stall(Step):
    """Say nothing more and keep the connection open until the peer leaves."""


@dataclass(frozen=True, slots=True)
class Hold(Step):
    """Say nothing until an event is set."""

    until: anyio.Event


Script = Sequence[Step]


class Request(NamedTuple):
    """A request as the server saw it."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def head(status: str = "200 OK", **headers: str) -> Send:
    """Return the head of an answer that ends where its connection does."""
    lines = [f"HTTP/1.1 {status}", "connection: close", "blockwire-protocol: 1"]
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [line for line in lines if line.partition(":")[0] not in named]
    lines += [f"{name}: {value}" for name, value in named.items() if value]
    return Send(("\r\n".join(lines) + "\r\n\r\n").encode())


SSE: Final = head(content_type="text/event-stream")
CHUNKED_SSE: Final = head(content_type="text/event-stream; charset=utf-8",
                          transfer_encoding="chunked")  # fmt: skip


def chunk(data: bytes) -> Send:
    """Return one chunk of a chunked body; an empty one ends it."""
    return Send(b"%x\r\n%s\r\n" % (len(data), data))


def whole(status: str, body: bytes, **headers: str) -> Script:
    """Return a whole answer."""
    headers.setdefault("content_type", "application/json")
    return [head(status, content_length=str(len(body)), **headers), Send(body), Cut()]


class ScriptServer:
    """Answers the n-th connection with the n-th script.

    Attributes:
        url: Where it listens.
        requests: What was asked.
        left: The peer left in the middle of a script.
        stalled: A script has come to a :class:`Stall`.
    """

    def __init__(self, scripts: Iterable[Script]) -> None:
        self._scripts = list(scripts)
        self.url = ""
        self.requests: list[Request] = []
        self.left = anyio.Event()
        self.stalled = anyio.Event()

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            request = await _read_request(stream)
            self.requests.append(request)
            index = len(self.requests) - 1
            assert index < len(self._scripts), f"nobody expected {request.target}"
            try:
                for step in self._scripts[index]:
                    await self._play(step, stream)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                self.left.set()

    async def _play(self, step: Step, stream: SocketStream) -> None:
        if isinstance(step, Send):
            await stream.send(step.data)
        elif isinstance(step, Hold):
            await step.until.wait()
        elif isinstance(step, Stall):
            self.stalled.set()
            await stream.receive()
        elif isinstance(step, Reset):
            raw = stream.extra(SocketAttribute.raw_socket)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    @property
    def cursors(self) -> list[str | None]:
        """What ``Last-Event-ID`` each request named."""
        return [request.headers.get("last-event-id") for request in self.requests]

    @property
    def targets(self) -> list[str]:
        """Paths and queries that were asked for."""
        return [request.target for request in self.requests]


async def _read_request(stream: SocketStream) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode().split("\r\n")
    method, target, _version = first.split(" ")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    return Request(method, target, headers, body)


@asynccontextmanager
async def playing(*scripts: Script) -> AsyncIterator[ScriptServer]:
    """Run a server that answers each connection by its script."""
    server = ScriptServer(scripts)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    server.url = f"http://127.0.0.1:{port}"
    with anyio.fail_after(10):
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, server.serve)
            yield server
            group.cancel_scope.cancel()


def client_of(
    url: str, timing: FakeTiming | None = None, *, settings: ClientSettings = SETTINGS, **more: Any
) -> AsyncClient:
    """Return a client whose pauses pass at once and are half of the longest."""
    return AsyncClient(
        url,
        settings=settings,
        timing=timing if timing is not None else FakeTiming(),
        random=lambda: 0.5,
        **more,
    )
