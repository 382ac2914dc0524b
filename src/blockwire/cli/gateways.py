"""Finds the gateway that readers talk to, or runs one for as long as they need it.

Spec: docs/reference/cli.md. In this order: ``--url``; the gateway that owns the store, which its
lock file names; one in this process, on loopback and a free port.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import anyio

from blockwire.cli.settings import Config
from blockwire.client import AsyncClient
from blockwire.errors import LocalProtocolError
from blockwire.stores import read_owner

__all__ = ["find_conversation", "open_client"]

_LOOPBACK: Final = "127.0.0.1"
OWNER_WAIT_S: Final = 5.0
"""How long a gateway that has just taken the store may take to say where it is."""


@asynccontextmanager
async def open_client(config: Config) -> AsyncIterator[AsyncClient]:
    """Yield a client of the gateway at hand.

    Raises:
        LocalProtocolError: ``gateway_not_serving`` when another process owns the store and serves
            no address; ``invalid_config``.
        StoreError: The store does not open.
    """
    url = config["url"] or await _owner_url(config)
    if url is not None:
        async with AsyncClient(url, token=config["token"]) as client:
            yield client
        return
    token = secrets.token_urlsafe(32)
    async with _own_gateway(config, token) as own, AsyncClient(own, token=token) as client:
        yield client


async def find_conversation(client: AsyncClient, conversation_id: str | None) -> str:
    """Return the id that somebody named, else that of the newest conversation.

    Raises:
        LocalProtocolError: ``no_conversation`` when there is none yet.
        ClientError: The gateway cannot be asked.
    """
    if conversation_id is not None:
        return conversation_id
    async with aclosing(client.list_conversations()) as conversations:
        async for conversation in conversations:
            return conversation.id
    raise LocalProtocolError(
        "no_conversation", "there is no conversation yet; start one with: blockwire ask 'hello'"
    )


def _store_path(config: Config) -> Path | None:
    url: str = config["store"]
    if not url.startswith("sqlite:///"):
        return None
    return Path(unquote(url.removeprefix("sqlite:///")))


async def _owner_url(config: Config) -> str | None:
    """Return where the owner of the store serves it; None when nobody owns it."""
    path = _store_path(config)
    if path is None:
        return None
    with anyio.move_on_after(OWNER_WAIT_S):
        while (owner := read_owner(path)) is not None:
            if owner.url is not None:
                return owner.url
            await anyio.sleep(0.05)
    if owner is None:
        return None
    raise LocalProtocolError(
        "gateway_not_serving",
        f"process {owner.pid} uses {path} and serves no address; stop it or give --store or --url",
    )


@asynccontextmanager
async def _own_gateway(config: Config, token: str) -> AsyncIterator[str]:
    # Starting a gateway imports much that a client of a running one does not need.
    from blockwire.cli.wiring import announce, build_gateway, started
    from blockwire.gateway import serve

    # Others find it through the store, and need the same tokens as with ``serve``.
    gateway = build_gateway(config, host=_LOOPBACK, own_token=token)
    stop, listening = anyio.Event(), anyio.Event()
    url = ""

    def on_listening(host: str, port: int) -> None:
        nonlocal url
        url = f"http://{host}:{port}"
        announce(gateway, url)
        listening.set()

    async def run() -> None:
        await serve(gateway.app, _LOOPBACK, 0, on_listening, stop=stop)

    async with started(gateway), anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await listening.wait()
        try:
            yield url
        finally:
            stop.set()
