"""Streams on raw sockets: chunked bodies up and down, at the pace of whoever reads."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

from tests.crash.wire import Address

READ_BYTES: Final = 65_536
SLOW_BUFFER_BYTES: Final = 4_096
CONNECT_S_MAX: Final = 20.0


class Body:
    """Takes an HTTP/1.1 answer at any cut; ``receive`` gives what is its body."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.is_over = False
        self._data = b""
        self._left = 0

    def receive(self, data: bytes) -> bytes:
        """Return the bytes of the body that ``data`` completes or goes on with."""
        self._data += data
        if not self.status and not self._take_head():
            return b""
        if self.headers.get("transfer-encoding") != "chunked":
            body, self._data = self._data, b""
            self._left -= len(body)
            self.is_over = self._left <= 0
            return body
        parts: list[bytes] = []
        while self._data and not self.is_over:
            if not self._left and not self._take_size():
                break
            # The two bytes behind a chunk belong to what is left of it.
            piece, self._data = self._data[: self._left], self._data[self._left :]
            body_bytes = max(self._left - 2, 0)
            parts.append(piece[:body_bytes])
            self._left -= len(piece)
        return b"".join(parts)

    @property
    def is_between_chunks(self) -> bool:
        """Whether everything received is body that was returned, and more is to come."""
        return bool(self.status) and not self._data and not self._left and not self.is_over

    def _take_head(self) -> bool:
        head, found, rest = self._data.partition(b"\r\n\r\n")
        if not found:
            return False
        status_line, *lines = head.decode().split("\r\n")
        self.status = int(status_line.split(" ")[1])
        self.headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        self._data = rest
        self._left = int(self.headers.get("content-length", "0"))
        self.is_over = "transfer-encoding" not in self.headers and self._left == 0
        return True

    def _take_size(self) -> bool:
        size, found, rest = self._data.partition(b"\r\n")
        if not found:
            return False
        self._data = rest
        length = int(size, 16)
        self.is_over = length == 0
        self._left = length + 2
        return True


class Connection:
    """One request whose answer is read as it comes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self.body = Body()

    @classmethod
    async def open(cls, address: Address, *, is_slow: bool = False) -> Connection:
        """Connect; a slow one has buffers as small as the system lets them be."""
        async with asyncio.timeout(CONNECT_S_MAX):
            if not is_slow:
                return cls(*await asyncio.open_connection(*address))
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER_BYTES)
            sock.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(sock, address)
            except BaseException:
                sock.close()
                raise
            return cls(*await asyncio.open_connection(sock=sock, limit=1024))

    def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            ConnectionError: The peer has gone.
        """
        if self.writer.is_closing():
            raise ConnectionResetError("the peer has gone")
        self.writer.write(data)

    def send_head(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> None:
        """Write the head of the request, and a body whose length it says."""
        self.write(encode_head(method, path, headers) + body)

    def send_chunk(self, data: bytes) -> None:
        """Write one chunk; an empty one ends the request."""
        self.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def read(self, size: int = READ_BYTES) -> bytes | None:
        """Return what came of the body, perhaps nothing yet; None at its end, or where it is cut."""
        if self.body.is_over:
            return None
        data = await self._reader.read(size)
        return self.body.receive(data) if data else None

    async def read_raw(self, size: int) -> bytes:
        """Return what came, head and framing included; nothing at the end."""
        return await self._reader.read(size)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the whole lines of the body."""
        rest = b""
        while (data := await self.read()) is not None:
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield line
        if rest:
            yield rest

    def abort(self) -> None:
        """Reset the connection."""
        self.writer.transport.abort()

    async def answer(self) -> bytes:
        """Return the whole body of an answer of a known length.

        Raises:
            ConnectionError: It did not come whole.
        """
        parts: list[bytes] = []
        while (data := await self.read()) is not None:
            parts.append(data)
        if not self.body.is_over:
            raise ConnectionResetError("the answer was cut")
        return b"".join(parts)

    def renew(self) -> bool:
        """Make ready for another request; return whether the connection takes one."""
        if self.body.headers.get("connection") == "close" or self.writer.is_closing():
            return False
        self.body = Body()
        return True


class Stream(asyncio.Protocol):
    """One request whose answer is handed on as it comes, without a task to wake for it.

    Attributes:
        ended: Done when the connection is gone, with why where it was not closed in order.
    """

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self.ended: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(
        cls,
        address: Address,
        path: str,
        headers: Mapping[str, str],
        receive: Callable[[bytes], None],
    ) -> tuple[asyncio.Transport, Stream]:
        """Connect and ask."""
        async with asyncio.timeout(CONNECT_S_MAX):
            transport, stream = await asyncio.get_running_loop().create_connection(
                lambda: cls(receive), *address
            )
        if transport.is_closing():
            raise ConnectionResetError("the peer has gone")
        transport.write(encode_head("GET", path, headers))
        return transport, stream

    def data_received(self, data: bytes) -> None:
        """Hand on what came."""
        self._receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end."""
        if not self.ended.done():
            self.ended.set_result(exc)

    def finish(self) -> None:
        """Take the answer for complete, or of no more use."""
        self.connection_lost(None)

    def forget(self) -> None:
        """Hand on nothing more."""
        self._receive = _drop


def _drop(data: bytes) -> None:
    """Do nothing with it."""


def encode_head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """Return the head of a request."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{lines}\r\n".encode()
