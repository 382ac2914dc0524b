"""Raw HTTP on raw sockets: what a peer saw is exactly the bytes that reached it."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple

Address = tuple[str, int]


class Answer(NamedTuple):
    """A complete answer; ``value`` is its decoded JSON, or a list of them for NDJSON."""

    status: int
    headers: dict[str, str]
    value: Any


class Seen(NamedTuple):
    """One complete SSE frame: its number and its data line as bytes."""

    seq: int
    data: bytes


async def call(
    address: Address,
    method: str,
    path: str,
    body: Any = None,
    *,
    headers: dict[str, str] | None = None,
) -> Answer:
    """Make one request on a connection of its own.

    Raises:
        ConnectionError: The answer did not come whole.
    """
    if isinstance(body, bytes):
        payload, kind = body, "application/x-ndjson"
    else:
        payload, kind = (b"" if body is None else json.dumps(body).encode()), "application/json"
    lines = [
        f"{method} {path} HTTP/1.1",
        f"host: {address[0]}:{address[1]}",
        f"content-length: {len(payload)}",
        "connection: close",
        *([f"content-type: {kind}"] if payload else []),
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    data = await _exchange(address, "\r\n".join(lines).encode() + b"\r\n\r\n" + payload)
    return _parse(data)


async def fetch(address: Address, path: str) -> bytes:
    """Return the body of a whole answer with status 200, whatever it is.

    Raises:
        ConnectionError: It did not come whole.
    """
    request = f"GET {path} HTTP/1.1\r\nhost: {address[0]}:{address[1]}\r\nconnection: close\r\n\r\n"
    data = await _exchange(address, request.encode())
    head, separator, rest = data.partition(b"\r\n\r\n")
    if not separator:
        raise ConnectionResetError("no whole head")
    assert head.startswith(b"HTTP/1.1 200 "), head
    if b"transfer-encoding: chunked" not in head.lower():
        return rest
    body, is_whole = unchunk(rest)
    if not is_whole:
        raise PartialAnswerError(body)
    return body


async def _exchange(address: Address, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(request)
        await writer.drain()
        return await reader.read()
    finally:
        writer.close()


def _parse(data: bytes) -> Answer:
    head, separator, rest = data.partition(b"\r\n\r\n")
    if not separator:
        raise ConnectionResetError("no whole head")
    status_line, *lines = head.decode().split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    if headers.get("transfer-encoding") == "chunked":
        body, is_whole = unchunk(rest)
        if not is_whole:
            raise PartialAnswerError(body)
    else:
        body = rest
        if len(body) < int(headers.get("content-length", "0")):
            raise ConnectionResetError("the body was cut")
    status = int(status_line.split(" ")[1])
    if "ndjson" in headers.get("content-type", ""):
        return Answer(status, headers, [json.loads(line) for line in body.splitlines() if line])
    return Answer(status, headers, json.loads(body) if body else None)


class PartialAnswerError(ConnectionError):
    """A chunked body was cut; ``body`` is what came of it."""

    def __init__(self, body: bytes) -> None:
        super().__init__("the body was cut")
        self.body = body


def unchunk(data: bytes) -> tuple[bytes, bool]:
    """Return the content of chunks, and whether the last one came."""
    parts: list[bytes] = []
    while True:
        size, separator, rest = data.partition(b"\r\n")
        if not separator:
            return b"".join(parts), False
        length = int(size, 16)
        if length == 0:
            return b"".join(parts), True
        parts.append(rest[:length])
        if len(rest) < length + 2:
            return b"".join(parts), False
        data = rest[length + 2 :]


class StreamLog:
    """Reads one event stream and keeps every byte that reached it."""

    def __init__(self, address: Address, conversation_id: str, *, after: int = 0) -> None:
        self._address = address
        self._path = f"/v1/conversations/{conversation_id}/events?after={after}"
        self._bytes = bytearray()

    async def run(self) -> None:
        """Read until the peer is gone."""
        try:
            reader, writer = await asyncio.open_connection(*self._address)
        except ConnectionError:
            return
        try:
            host = f"{self._address[0]}:{self._address[1]}"
            request = f"GET {self._path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
            writer.write(request.encode())
            while piece := await reader.read(65536):
                self._bytes += piece
        except ConnectionError:
            pass
        finally:
            writer.close()

    def frames(self) -> list[Seen]:
        """Return the numbered frames that came whole."""
        _head, _, rest = bytes(self._bytes).partition(b"\r\n\r\n")
        body, _ = unchunk(rest)
        *whole, _cut = body.split(b"\n\n")
        seen: list[Seen] = []
        for frame in whole:
            fields = dict(
                line.split(b": ", 1) for line in frame.split(b"\n") if not line.startswith(b":")
            )
            if fields.get(b"event", b"subscription.ready") == b"subscription.ready":
                continue
            seen.append(Seen(int(fields[b"id"]), fields[b"data"]))
        return seen
