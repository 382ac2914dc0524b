"""Finds the gateway that readers talk to, or runs one for as long as they need it.

Spec: docs/reference/cli.md. In this order: ``--url``; the gateway that owns the store, which its
lock file names; one in this process, on loopback and a free port.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import anyio

from blockwire.cli.output import note
from blockwire.cli.places import prepare_place, store_path
from blockwire.cli.settings import Config
from blockwire.cli.signals import ended_by_signals
from blockwire.client import AsyncClient, ClientError, ConnectionChange, Conversation
from blockwire.errors import LocalProtocolError, StoreError
from blockwire.stores import read_owner

__all__ = ["GatewayAtHand", "find_owner", "newest_conversation", "open_client", "open_gateway"]

T = TypeVar("T")

_LOOPBACK: Final = "127.0.0.1"
OWNER_WAIT_S: Final = 5.0
"""How long a gateway that has just taken the store may take to say where it is."""
OWNER_POLL_S: Final = 0.1
"""Between two looks at the lock file."""
MOVED_AFTER_S: Final = 2.0
"""A gateway that was found through its store and is lost for so long may have come back on
another port."""
_LOST: Final = frozenset({"connection_lost", "gateway_unreachable"})


class GatewayAtHand:
    """A gateway and a client of it, also after it has come back somewhere else.

    Attributes:
        client: Of the gateway where it is now.
        is_own: It runs in this process, and ends with it.
    """

    def __init__(self, client: AsyncClient, *, path: Path | None, token: str | None) -> None:
        """Take what was found.

        Args:
            client: Open.
            path: Of the store through which it was found; None for one that does not move.
            token: Of the configuration; without one the key that the store's owner leaves.
        """
        self.client = client
        self.is_own = False
        self._path = path
        self._token = token

    async def read(
        self,
        open_stream: Callable[[AsyncClient, float | None], AsyncGenerator[T, None]],
        on_connection: Callable[[ConnectionChange], None],
        *,
        patience_s: float | None = None,
    ) -> AsyncGenerator[T, None]:
        """Yield what a stream yields, going on with another one when the gateway has moved.

        Args:
            open_stream: Opens one at a client, which gives up after so many seconds without an
                event; called again for each place, to go on where the last one ended.
            on_connection: Told about outages.
            patience_s: How long to look for the gateway; None looks for ever.

        Raises:
            ClientError: What the stream raised.
        """
        give_up_s = MOVED_AFTER_S if self._path is not None else patience_s
        while True:
            try:
                async with aclosing(open_stream(self.client, give_up_s)) as items:
                    async for item in items:
                        yield item
            except ClientError as error:
                if self._path is None or error.code not in _LOST:
                    raise
                on_connection(
                    ConnectionChange(status="waiting", error=error, retry_in_s=MOVED_AFTER_S)
                )
                if not await self._find_again(self._path, on_connection, patience_s):
                    raise
            else:
                return

    async def _find_again(
        self,
        path: Path,
        on_connection: Callable[[ConnectionChange], None],
        patience_s: float | None,
    ) -> bool:
        """Wait until somebody owns the store and serves it; return False when nobody did."""
        with anyio.move_on_after(patience_s):
            while (owner := read_owner(path)) is None or owner.url is None:
                on_connection(ConnectionChange(status="waiting", retry_in_s=OWNER_POLL_S))
                await anyio.sleep(OWNER_POLL_S)
            await self.client.aclose()
            self.client = AsyncClient(owner.url, token=self._token or owner.key)
            return True
        return False


@asynccontextmanager
async def open_gateway(config: Config, *, makes_store: bool = True) -> AsyncIterator[GatewayAtHand]:
    """Yield the gateway at hand.

    Args:
        config: Where to look.
        makes_store: Start one on a store that does not exist yet.

    Raises:
        LocalProtocolError: ``gateway_not_serving`` when another process owns the store and serves
            no address; ``invalid_config``, ``invalid_url``, ``invalid_token``.
        StoreError: The store does not open; ``store_not_found``.
    """
    token: str | None = config["token"]
    async with AsyncExitStack() as stack:
        url, key, path = config["url"], None, None
        if url is None:
            path = store_path(config["store"])
            url, key = await find_owner(path)
        if url is None:
            if path is not None:
                prepare_place(path, makes_store=makes_store)
            try:
                url, token = await stack.enter_async_context(_own_gateway(config))
            except StoreError as error:
                if error.code != "store_locked":
                    raise
                # Somebody else was faster, and serves it in a moment.
                url, key = await find_owner(path)
                if url is None:
                    raise
            else:
                path = None
        gateway = GatewayAtHand(AsyncClient(url, token=token or key), path=path, token=token)
        gateway.is_own = config["url"] is None and path is None
        try:
            yield gateway
        finally:
            await gateway.client.aclose()


@asynccontextmanager
async def open_client(config: Config, *, makes_store: bool = True) -> AsyncIterator[AsyncClient]:
    """Yield a client of the gateway at hand; see :func:`open_gateway`."""
    async with open_gateway(config, makes_store=makes_store) as gateway:
        yield gateway.client


async def newest_conversation(client: AsyncClient) -> Conversation | None:
    """Return the conversation that was begun last."""
    async with aclosing(client.list_conversations()) as conversations:
        async for conversation in conversations:
            return conversation
    return None


async def find_owner(path: Path | None) -> tuple[str | None, str | None]:
    """Return where the owner of the store serves it, and its key; nothing when nobody owns it."""
    if path is None:
        return None, None
    owner = None
    with anyio.move_on_after(OWNER_WAIT_S):
        while (owner := read_owner(path)) is not None:
            if owner.url is not None:
                return owner.url, owner.key
            await anyio.sleep(OWNER_POLL_S)
    if owner is None:
        return None, None
    raise LocalProtocolError(
        "gateway_not_serving",
        f"process {owner.pid} uses {path} and serves no address; stop it or give --store or --url",
    )


async def _wait_for_others(turns_in_flight: Callable[[], int]) -> None:
    """Wait for turns that other programs started here; they would end with this process."""
    is_told = False
    while turns_in_flight():
        # What was just stopped by whoever leaves here is settled in a moment.
        await anyio.sleep(OWNER_POLL_S)
        if not is_told and turns_in_flight():
            is_told = True
            note("another program still gets its answer through this one (Ctrl-C stops it)")


@asynccontextmanager
async def _own_gateway(config: Config) -> AsyncIterator[tuple[str, str]]:
    """Yield URL and key of a gateway in this process."""
    # Starting a gateway imports much that a client of a running one does not need.
    from blockwire.cli.wiring import announce, build_gateway, started
    from blockwire.gateway import serve

    # Others find it through the store, and need the same tokens as with ``serve``.
    gateway = build_gateway(config, host=_LOOPBACK)
    stop, listening = anyio.Event(), anyio.Event()
    url = ""

    def on_listening(host: str, port: int) -> None:
        nonlocal url
        url = f"http://{host}:{port}"
        announce(gateway, url)
        listening.set()

    async def run() -> None:
        # After Ctrl-C, too, requests end before the store that they need is closed.
        with anyio.CancelScope(shield=True):
            await serve(
                gateway.app,
                _LOOPBACK,
                0,
                on_listening,
                stop=stop,
            )

    async with started(gateway), anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        try:
            await listening.wait()
            # The gateway itself goes on until its turns are settled.
            with ended_by_signals():
                yield url, gateway.key
                await _wait_for_others(lambda: gateway.service.turns_in_flight)
        finally:
            stop.set()
