"""The stage of the demo: a gateway in a process of its own, and a network that can be cut."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

import anyio
import anyio.abc

from blockwire.errors import StoreError

__all__ = ["Proxy", "Stage"]

READ_BYTES: Final = 65_536


class Proxy:
    """Forwards connections to wherever the gateway is now, and cuts one when it was told to."""

    CUT_BYTES: ClassVar[int] = 6_000
    """After so many bytes of an event stream the demo cuts it."""

    def __init__(self) -> None:
        self.target_port = 0
        self.url = ""
        self._cut_after: int | None = None
        self._cuts = 0

    def cut_after(self, byte_count: int) -> None:
        """Cut the next connection that brings more than so many bytes from the gateway."""
        self._cut_after = byte_count

    def take_cuts(self) -> int:
        """Return how many connections were cut since the last call."""
        cuts, self._cuts = self._cuts, 0
        return cuts

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Accept connections until cancelled."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with listener:
            port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - not Django
            self.url = f"http://127.0.0.1:{port}"
            task_status.started()
            await listener.serve(self._forward)

    async def _forward(self, near: anyio.abc.SocketStream) -> None:
        async with near:
            try:
                far = await anyio.connect_tcp("127.0.0.1", self.target_port)
            except OSError:
                return  # the gateway is down; the peer sees its connection end
            async with far, anyio.create_task_group() as tasks:
                tasks.start_soon(self._pump, near, far, tasks.cancel_scope)
                await self._pump_back(far, near)
                tasks.cancel_scope.cancel()

    async def _pump(
        self,
        source: anyio.abc.SocketStream,
        sink: anyio.abc.SocketStream,
        scope: anyio.CancelScope,
    ) -> None:
        async for data in _received(source):
            await sink.send(data)
        scope.cancel()

    async def _pump_back(
        self, source: anyio.abc.SocketStream, sink: anyio.abc.SocketStream
    ) -> None:
        count = 0
        async for data in _received(source):
            count += len(data)
            if self._cut_after is not None and count > self._cut_after:
                # In the middle of whatever was under way.
                await sink.send(data[: len(data) // 2])
                self._cut_after = None
                self._cuts += 1
                return
            try:
                await sink.send(data)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


async def _received(source: anyio.abc.SocketStream) -> AsyncIterator[bytes]:
    try:
        while True:
            yield await source.receive(READ_BYTES)
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


class Stage:
    """A gateway process on a store, reached through a :class:`Proxy`."""

    KILL_CHARS: ClassVar[int] = 400
    """So many characters of the answer have arrived when the demo kills the gateway."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._process: subprocess.Popen[bytes] | None = None
        self._tasks: anyio.abc.TaskGroup | None = None
        self.proxy = Proxy()

    async def __aenter__(self) -> Self:
        """Start the gateway and the proxy."""
        await self._start()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        await self._tasks.start(self.proxy.serve)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        """Stop both."""
        assert self._tasks is not None, "entered before"
        self._tasks.cancel_scope.cancel()
        is_swallowed = await self._tasks.__aexit__(kind, error, trace)
        if self._process is not None:
            self._process.terminate()
            await anyio.to_thread.run_sync(self._process.communicate)
        return is_swallowed

    async def _start(self) -> None:
        self._process = await anyio.to_thread.run_sync(self._spawn)
        assert self._process.stdout is not None, "asked for"
        line = await anyio.to_thread.run_sync(self._process.stdout.readline)
        if not line.startswith(b"listening on "):
            _, errors = await anyio.to_thread.run_sync(self._process.communicate)
            detail = errors.decode(errors="replace").strip().rsplit("\n", 1)[-1]
            raise StoreError("gateway_not_started", f"the gateway did not start: {detail}")
        self.proxy.target_port = int(line.decode().strip().rpartition(":")[2])

    def _spawn(self) -> subprocess.Popen[bytes]:
        arguments = ["serve", "--port", "0", "--store", f"sqlite:///{self._store}"]
        return subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "blockwire", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # The demo shows the defaults, not what this machine is configured for.
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("BLOCKWIRE_")},
                "BLOCKWIRE_CONFIG": os.devnull,
            },
        )

    async def kill_and_restart(self) -> None:
        """Kill the gateway without warning and start another one on its store."""
        assert self._process is not None, "started before"
        self._process.kill()
        await anyio.to_thread.run_sync(self._process.communicate)
        await self._start()
