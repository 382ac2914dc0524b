"""The target behind a real socket: whatever comes, the server answers the next one.

Attacks are those of ``tests/gateway/http/wire_attacks.py``, damaged anew each time.
"""

from __future__ import annotations

import asyncio
import random
import resource
from typing import Final

import anyio

from blockwire.gateway import serve
from fuzz.gateway import GatewayTarget
from tests.gateway.http.wire_attacks import random_attack

__all__ = ["SocketTarget"]

AT_ONCE: Final = 8
READ_S: Final = 0.02
GROWN_KIB_MAX: Final = 64 * 1024
WARM_COUNT: Final = 200
"""Attacks after which memory is measured for the first time."""


class SocketTarget:
    """A served gateway; make it once and attack it again and again."""

    def __init__(self, target: GatewayTarget) -> None:
        self._runner = target.runner
        self._app = target.app
        self._port = 0
        self._count = 0
        self._warm_kib = 0
        self._stop: anyio.Event
        self._server: asyncio.Task[int | None]

    def close(self) -> None:
        """Stop the server, if it ever began."""
        if self._port:
            self._runner.run(self._end())

    async def _end(self) -> None:
        self._stop.set()
        await self._server

    async def _start(self) -> None:
        self._stop = anyio.Event()
        listening = asyncio.get_running_loop().create_future()
        self._server = asyncio.get_running_loop().create_task(
            serve(
                self._app,
                "127.0.0.1",
                0,
                lambda _, port: listening.set_result(port),
                stop=self._stop,
            )
        )
        self._port = await listening

    def wire(self, chance: random.Random) -> None:
        """No bytes at the socket end the server, or stay with it."""
        self._runner.run(self._attack(chance))
        self._count += 1
        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if self._count == WARM_COUNT:
            self._warm_kib = peak_kib
        grown_kib = peak_kib - self._warm_kib if self._warm_kib else 0
        assert grown_kib < GROWN_KIB_MAX, f"memory grew by {grown_kib} KiB"

    async def _attack(self, chance: random.Random) -> None:
        if not self._port:
            await self._start()
        attacks = [self._send(random_attack(chance)) for _ in range(AT_ONCE)]
        async with asyncio.TaskGroup() as group:
            for attack in attacks:
                group.create_task(attack)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        async with asyncio.timeout(5):
            answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 200 "), answer

    async def _send(self, pieces: list[bytes]) -> None:
        _reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            await asyncio.wait_for(_reader.read(65_536), READ_S)
        except (TimeoutError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
