"""A gateway, an agent that a test speaks for, and a person in a browser in front of both."""

from __future__ import annotations

import json  # what others write with
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

import anyio
import anyio.abc
from playwright.async_api import Browser, BrowserContext, Page

from tests.page import nursery
from tests.support.programs import WAIT_S, Gateway, Network, call, decoded, environment

__all__ = ["Agent", "Turn", "World", "opened_world", "plain"]

PUPPET: Final = Path(__file__).with_name("puppet.py")
WAIT_MS: Final = WAIT_S * 1000


def plain(value: Mapping[str, Any]) -> bytes:
    """Return a JSON line."""
    return json.dumps(value).encode() + b"\n"


class _Gateway(Gateway):
    """A gateway that begins as a copy of a process which has imported it already."""

    def _start(self) -> subprocess.Popen[bytes]:
        assert self._cwd is not None
        arguments = ["--port", str(self.port), *self._arguments]
        process = nursery.shared().serve(arguments, self._env, self._cwd)
        line = process.stdout.readline().decode()
        if not line.startswith("listening on "):
            _, errors = process.communicate()
            raise AssertionError(f"it did not start: {line}{errors.decode()}")
        self.port = int(line.rpartition(":")[2])
        return cast("subprocess.Popen[bytes]", process)


class Turn:
    """One turn of the agent.

    Attributes:
        request: What the engine was asked.
    """

    def __init__(self, stream: anyio.abc.SocketStream, request: Any, rest: bytes) -> None:
        self._stream = stream
        self._rest = rest
        self.request = request

    async def say(self, *events: Mapping[str, Any]) -> None:
        """Say events, in one write."""
        await self._stream.send(b"".join(plain(event) for event in events))

    async def prose(self, text: str, *, block_id: str = "b1") -> None:
        """Begin a block of prose with ``text``."""
        await self.say(
            {
                "type": "content.block.started",
                "block": {"id": block_id, "type": "prose", "markdown": text},
            }
        )

    async def more(self, text: str, *, block_id: str = "b1") -> None:
        """Add to a block of prose."""
        await self.say(
            {
                "type": "content.block.delta",
                "block_id": block_id,
                "field": "markdown",
                "text": text,
            }
        )

    async def complete(self, block_id: str = "b1") -> None:
        """Complete a block."""
        await self.say({"type": "content.block.completed", "block_id": block_id})

    async def end(self, *events: Mapping[str, Any]) -> None:
        """End the turn well, after ``events``."""
        await self.say(*events, {"type": "turn.completed"})
        await self._stream.aclose()

    async def answer(self) -> Any:
        """Return the next answer that a person gave."""
        while b"\n" not in self._rest:
            self._rest += await self._stream.receive()
        line, _, self._rest = self._rest.partition(b"\n")
        return decoded(line)


class Agent:
    """Where the turns of a gateway arrive."""

    def __init__(self, listener: anyio.abc.Listener[anyio.abc.SocketStream]) -> None:
        self._listener = listener
        send, receive = anyio.create_memory_object_stream[Turn](100)
        self._send, self._receive = send, receive
        self._streams: list[anyio.abc.SocketStream] = []

    async def serve(self) -> None:
        """Take turns until cancelled."""
        with self._send:
            await self._listener.serve(self._meet)

    async def _meet(self, stream: anyio.abc.SocketStream) -> None:
        self._streams.append(stream)
        data = b""
        while b"\n" not in data:
            data += await stream.receive()
        line, _, rest = data.partition(b"\n")
        await self._send.send(Turn(stream, decoded(line), rest))

    async def turn(self) -> Turn:
        """Return the next turn, once the gateway has begun it."""
        with anyio.fail_after(WAIT_S):
            return await self._receive.receive()

    async def close(self) -> None:
        """Hang up on every turn."""
        self._receive.close()
        for stream in self._streams:
            await stream.aclose()


class World:
    """What a test of the page has.

    Attributes:
        gateway: ``blockwire serve``, which can be killed.
        network: Between browser and gateway; can be cut.
        agent: The engine behind the gateway.
        requests: Every URL that any page of this world asked for.
        troubles: What no page may have: errors in the console, exceptions, dialogs, refused loads.
    """

    def __init__(self, gateway: Gateway, network: Network, agent: Agent, browser: Browser) -> None:
        self.gateway = gateway
        self.network = network
        self.agent = agent
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    @property
    def url(self) -> str:
        """Where the browser finds the gateway."""
        return self.network.url

    async def person(self, **options: Any) -> BrowserContext:
        """Return a browser of one person: a fresh profile, whose pages are watched."""
        context = await self._browser.new_context(
            **{"locale": "en-GB", "timezone_id": "UTC", **options}
        )
        context.set_default_timeout(WAIT_MS)
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("weberror", lambda error: self.troubles.append(f"exception: {error.error}"))
        context.on("console", self._hear)
        context.on("dialog", self._refuse)
        self._contexts.append(context)
        return context

    async def page(self, path: str = "/", **options: Any) -> Page:
        """Return a page of a new person at ``path``."""
        page = await (await self.person(**options)).new_page()
        await page.goto(self.url + path)
        return page

    def _hear(self, message: Any) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.troubles.append(f"console: {message.text}")

    async def _refuse(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def call(self, path: str, **options: Any) -> Any:
        """Return an answer of the gateway, asked past the page."""
        return call(self.gateway.url, path, **options)

    def conversation(self, *messages: Mapping[str, Any], **body: Any) -> str:
        """Return the id of a new conversation that holds ``messages``."""
        made = self.call("/v1/conversations", method="POST", body=body)
        for message in messages:
            self.call(f"/v1/conversations/{made['id']}/messages", method="POST", body=message)
        return str(made["id"])

    def figure(self, name: str) -> int:
        """Return one plain number of the gateway's metrics."""
        with urllib.request.urlopen(f"{self.gateway.url}/metrics", timeout=WAIT_S) as answer:
            rows = answer.read().decode().splitlines()
        return next(int(float(row.split()[1])) for row in rows if row.startswith(f"{name} "))

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()


@asynccontextmanager
async def opened_world(
    browser: Browser, folder: Path, *arguments: str, config: str = "", settings: str = ""
) -> AsyncIterator[World]:
    """Yield a world whose gateway was started with ``arguments`` beside its own.

    ``settings`` come first in its file; ``config`` behind the engine of the tests, whose command it
    may name as ``$PUPPET``.
    """
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        agent = Agent(listener)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        command = f'[{sys.executable!r}, {str(PUPPET)!r}, "{port}"]'
        (folder / "blockwire.toml").write_text(
            f'{settings}[engines.puppet]\nkind = "command"\nanswers = true\ncommand = {command}\n'
            + config.replace("$PUPPET", command),
            encoding="utf-8",
        )
        with _Gateway(
            environment(folder),
            "--store", f"sqlite:///{folder / 'store.db'}",
            "--config", str(folder / "blockwire.toml"),
            "--engine", "puppet",
            *arguments,
            cwd=folder,
        ) as gateway, Network(gateway.port) as network:  # fmt: skip
            world = World(gateway, network, agent, browser)
            async with anyio.create_task_group() as group:
                group.start_soon(agent.serve)
                try:
                    yield world
                finally:
                    with anyio.CancelScope(shield=True):
                        await world.close()
                        await agent.close()
                    group.cancel_scope.cancel()
