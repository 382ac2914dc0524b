"""The application behind a real server: sockets, signals, and readers that misbehave."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from blockwire.errors import LocalProtocolError
from blockwire.gateway.http.protocol import BoundedProtocol
from blockwire.gateway.http.server import bind, serve
from blockwire.gateway.streams.direct import direct_writer
from tests.gateway.http.surface import Surface, a_turn, delta, surface
from tests.suites import PROJECT

pytestmark = pytest.mark.anyio

EVENTS = "/v1/conversations/conv_a/events"


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Surface, int]]:
    """Serve a gateway on a port; yield it and the port."""
    async with surface(is_served=True) as s:
        listening = asyncio.get_running_loop().create_future()

        def on_listening(host: str, port: int) -> None:
            assert host == "127.0.0.1"
            listening.set_result(port)

        async with anyio.create_task_group() as group:
            group.start_soon(serve, s.app, "127.0.0.1", 0, on_listening)
            with anyio.fail_after(15):
                port = await listening
            yield s, port
            group.cancel_scope.cancel()


class Connection:
    """A raw client: what was read, and nothing that a library makes of it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.raw = b""

    async def until(self, holds: Callable[[bytes], bool]) -> bytes:
        with anyio.fail_after(10):
            while not holds(self.raw):
                piece = await self.reader.read(1 << 20)
                assert piece, f"the server closed after {self.raw[-200:]!r}"
                self.raw += piece
        return self.raw

    async def until_closed(self) -> bytes:
        with anyio.fail_after(10):
            while piece := await self.reader.read(1 << 20):
                self.raw += piece
        return self.raw

    @property
    def body(self) -> bytes:
        """The body so far, its chunks joined."""
        rest = self.raw.partition(b"\r\n\r\n")[2]
        pieces = []
        while b"\r\n" in rest:
            size, _, rest = rest.partition(b"\r\n")
            pieces.append(rest[: int(size, 16)])
            rest = rest[int(size, 16) + 2 :]
        return b"".join(pieces)


async def connect(port: int, path: str, *, receive_bytes: int = 0, **headers: str) -> Connection:
    sock = socket.socket()
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=sock, limit=1 << 16)
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    return Connection(reader, writer)


@pytest.mark.requirement("gateway:stream:uncompressed")
async def test_a_stream_passes_compression_by() -> None:
    async with served() as (s, port):
        await s.bare_conversation()
        connection = await connect(port, EVENTS, accept_encoding="gzip, br")
        await connection.until(lambda raw: b"subscription.ready" in raw)

        head = connection.raw.partition(b"\r\n\r\n")[0].lower()
        assert b"content-encoding" not in head
        assert b"content-length" not in head
        assert b"content-type: text/event-stream" in head
        for text in ("a", "b"):
            await s.log("conv_a", delta(text))
            await connection.until(lambda raw, text=text: f'"text":"{text}"'.encode() in raw)  # type: ignore[misc]
        connection.writer.close()


async def test_five_hundred_readers_get_the_same_bytes() -> None:
    async with served() as (s, port):
        await s.bare_conversation()
        readers = [await connect(port, EVENTS) for _ in range(500)]
        for reader in readers:
            await reader.until(lambda raw: b"subscription.ready" in raw)

        for event in a_turn(*map(str, range(50))):
            await s.log("conv_a", event)
        for reader in readers:
            await reader.until(lambda raw: b"turn.completed" in raw and raw.endswith(b"\r\n"))

        assert len({reader.body for reader in readers}) == 1
        assert readers[0].body.count(b"\nevent: ") == 55
        for reader in readers:
            reader.writer.close()
        with anyio.fail_after(15):
            while s.app.surface.hub.stream_count:
                await anyio.lowlevel.checkpoint()
        assert s.app.surface.hub.channel_count == 0


async def test_live_writes_go_straight_to_the_transport() -> None:
    """If uvicorn changes inside, this says that the shortcut is gone; all else goes on."""
    async with served() as (s, port):
        await s.bare_conversation()
        connection = await connect(port, EVENTS)
        await connection.until(lambda raw: b"subscription.ready" in raw)

        stream: Any = next(iter(s.app.surface.hub._streams))

        assert stream.direct is not None
        assert direct_writer(s.client.get) is None
        connection.writer.close()


async def test_a_slow_reader_delays_nobody_and_gets_everything_in_the_end() -> None:
    async with served() as (s, port):
        await s.bare_conversation()
        slow = await connect(port, EVENTS, receive_bytes=4096)
        quick = await connect(port, EVENTS)
        await slow.until(lambda raw: b"subscription.ready" in raw)
        await quick.until(lambda raw: b"subscription.ready" in raw)
        await s.log("conv_a", *a_turn(ends=False))

        for number in range(300):
            await s.log("conv_a", delta("x" * 10_000 + f" {number}"))
            await quick.until(lambda raw, number=number: f' {number}"'.encode() in raw[-200:])  # type: ignore[misc]
        slow_stream: Any = next(iter(s.app.surface.hub._streams))
        assert slow_stream.is_busy
        held = slow_stream.direct._transport.get_write_buffer_size()
        await s.log("conv_a", *a_turn()[-2:])
        await slow.until(lambda raw: b"turn.completed" in raw)

        assert held <= 256 * 1024
        text = b"".join(
            part.split(b'"')[0] for part in slow.body.split(b'"field":"markdown","text":"')[1:]
        )
        assert text == b"".join(b"x" * 10_000 + b" %d" % number for number in range(300))
        slow.writer.close()
        quick.writer.close()


async def test_an_address_in_use_is_one_clear_error() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(LocalProtocolError) as in_use:
            bind("127.0.0.1", port)
        with pytest.raises(LocalProtocolError) as nowhere:
            bind("192.0.2.1", 0)

    assert in_use.value.code == "address_in_use"
    assert nowhere.value.code == "address_unavailable"


PROGRAM = """
import asyncio, sys
from tests.gateway.http.surface import surface
from blockwire.gateway.http.server import serve
async def main():
    async with surface(is_served=True) as s:
        await s.bare_conversation()
        number = await serve(s.app, "127.0.0.1", 0, lambda host, port: print(port, flush=True))
    print("stopped by", number)
asyncio.run(main())
"""


async def test_a_signal_ends_streams_cleanly_and_the_process_with_them() -> None:
    process = await anyio.open_process(
        [sys.executable, "-c", PROGRAM],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), str(PROJECT / "src")])},
        stderr=subprocess.STDOUT,
    )
    async with process:
        assert process.stdout is not None
        with anyio.fail_after(15):
            port = int(await process.stdout.receive())
        connection = await connect(port, EVENTS)
        waiting = await connect(port, EVENTS + "?wait=100", accept="application/json")
        await connection.until(lambda raw: b"subscription.ready" in raw)

        process.send_signal(signal.SIGTERM)
        streamed = await connection.until_closed()
        answered = await waiting.until_closed()
        rest = b""
        with anyio.fail_after(10):
            async for piece in process.stdout:
                rest += piece

        assert streamed.endswith(b"0\r\n\r\n")
        assert answered.startswith(b"HTTP/1.1 503")
        assert rest.strip() == b"stopped by 15"
        assert await process.wait() == 0
        connection.writer.close()
        waiting.writer.close()


async def raw(port: int, *pieces: bytes) -> bytes:
    """Send ``pieces`` and return all that comes back until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    connection = Connection(reader, writer)
    for piece in pieces:
        writer.write(piece)
        await anyio.lowlevel.checkpoint()
    answer = await connection.until_closed()
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("pieces", "status", "code"),
    [
        ([b"GET / HTTP/1.1\r\n", *[b"x-filler: " + b"x" * 1000 + b"\r\n"] * 400], 431, "headers_too_large"),
        ([b"GET /" + b"x" * 400_000], 431, "headers_too_large"),
        ([b"nonsense\r\n\r\n"], 400, "invalid_http"),
        ([b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n"], 400, "invalid_http"),
    ],
)  # fmt: skip
@pytest.mark.requirement("gateway:limits:head")
async def test_a_head_that_is_too_large_or_no_http_is_refused_like_everything_else(
    pieces: list[bytes], status: int, code: str
) -> None:
    async with served() as (_, port):
        answer = await raw(port, *pieces)

        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert f'"code":"{code}"'.encode() in answer


@pytest.mark.requirement("gateway:limits:head")
async def test_a_head_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "head_s_max", 0.01)
    async with served() as (_, port):
        assert await raw(port, b"GET / HT") == b""
        assert await raw(port) == b""


async def test_silent_connections_are_probed_so_that_peers_that_vanish_are_noticed() -> None:
    with bind("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_a_connection_serves_one_request_after_the_other() -> None:
    async with served() as (_, port):
        request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n%b\r\n"

        answer = await raw(port, request % b"", request % b"connection: close\r\n")

        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert b"server:" not in answer
