"""A provider on this machine that plays recorded bytes: in pieces, on a signal, cut, or not at all.

It speaks raw HTTP/1.1 over TCP, so that a test decides about every byte: what no well-behaved
server would send can be sent too.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import anyio
from anyio.abc import SocketAttribute, SocketStream

from blockwire.jsontext import decode_json

__all__ = ["CUT", "Reply", "SeenRequest", "provider_server"]

EVENT_STREAM: Final = "text/event-stream; charset=utf-8"

CUT: Final = "cut"
"""A step of a reply: the connection is reset."""

Step = bytes | anyio.Event | Literal["cut"]
Framing = Literal["chunked", "length", "close"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One response.

    Attributes:
        status: HTTP status.
        headers: Beside the content type and what the framing needs.
        steps: Bytes to send as they are, events to wait for, :data:`CUT`.
        framing: How the end of the body is told.
        content_type: Of the body.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    framing: Framing = "chunked"
    content_type: str = EVENT_STREAM


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request as it came; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as a JSON value."""
        return decode_json(self.body)


class ProviderServer:
    """Answers the n-th request with the n-th reply; the last one is repeated.

    Attributes:
        base_url: Where it listens.
        replies: May be changed at any time.
        requests: What came so far.
        connections: How many were opened.
    """

    def __init__(self, base_url: str, replies: Sequence[Reply]) -> None:
        self.base_url = base_url
        self.replies = list(replies)
        self.requests: list[SeenRequest] = []
        self.connections = 0
        self.closed_by_client = anyio.Event()

    async def serve(self, stream: SocketStream) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        # Small pieces leave at once, as the client is to see them.
        stream.extra(SocketAttribute.raw_socket).setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )
        async with stream:
            try:
                buffered = b""
                while True:
                    request, buffered = await _read_request(stream, buffered)
                    self.requests.append(request)
                    reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
                    if not await _play(stream, reply):
                        return
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self.closed_by_client.set()


@asynccontextmanager
async def provider_server(*replies: Reply) -> AsyncGenerator[ProviderServer, None]:
    """Listen on a free port of the loopback while the context lasts."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(SocketAttribute.local_port)
        server = ProviderServer(f"http://127.0.0.1:{port}", replies)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.serve)
            yield server
            tasks.cancel_scope.cancel()


async def _read_request(stream: SocketStream, buffered: bytes) -> tuple[SeenRequest, bytes]:
    while b"\r\n\r\n" not in buffered:
        buffered += await stream.receive()
    head, _, buffered = buffered.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _version = first.split(" ")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    length = int(headers.get("content-length", "0"))
    while len(buffered) < length:
        buffered += await stream.receive()
    return SeenRequest(method, path, headers, buffered[:length]), buffered[length:]


async def _play(stream: SocketStream, reply: Reply) -> bool:
    """Send the reply; return whether the connection may be used again."""
    await stream.send(_head(reply))
    for step in reply.steps:
        if isinstance(step, anyio.Event):
            await step.wait()
        elif isinstance(step, bytes):
            await stream.send(b"%x\r\n%b\r\n" % (len(step), step) if _is_chunked(reply) else step)
        else:
            # Unread or not, everything is thrown away: the other side sees a reset.
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            raw = stream.extra(SocketAttribute.raw_socket)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return False
    if _is_chunked(reply):
        await stream.send(b"0\r\n\r\n")
    return reply.framing != "close"


def _is_chunked(reply: Reply) -> bool:
    return reply.framing == "chunked"


def _head(reply: Reply) -> bytes:
    headers = {"content-type": reply.content_type, **reply.headers}
    if reply.framing == "chunked":
        headers["transfer-encoding"] = "chunked"
    elif reply.framing == "length":
        pieces = [step for step in reply.steps if isinstance(step, bytes)]
        headers["content-length"] = str(sum(map(len, pieces)))
    else:
        headers["connection"] = "close"
    lines = [f"HTTP/1.1 {reply.status} Status", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
