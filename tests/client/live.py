"""A real gateway on a real socket: service, application, uvicorn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import uvicorn

from blockwire.gateway.access.auth import Auth
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.http.app import create_app
from blockwire.gateway.http.server import bind
from blockwire.gateway.settings import GatewaySettings
from blockwire.ports import Engine, Store
from tests.gateway.core.world import FAST, FakeClock, World, gateway


class Live(NamedTuple):
    """A gateway that serves."""

    url: str
    world: World


@asynccontextmanager
async def serving(
    *,
    engines: Mapping[str, Engine] | None = None,
    store: Store | None = None,
    settings: GatewaySettings = FAST,
    http: HttpSettings | None = None,
    auth: Auth | None = None,
    port: int = 0,
    **more: Any,
) -> AsyncIterator[Live]:
    """Serve until the end of the block; then every stream ends with its cursor intact."""
    clock = FakeClock()
    async with gateway(
        engines=engines, store=store, settings=settings, clock=clock, **more
    ) as world:
        auth = auth if auth is not None else Auth()
        app = create_app(world.service, settings, auth, clock=clock, http=http)
        listener = bind("127.0.0.1", port)
        config = uvicorn.Config(
            app, interface="asgi3", http="httptools", loop="none", ws="none", lifespan="on",
            log_config=None, access_log=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        server = uvicorn.Server(config)
        with listener:
            async with anyio.create_task_group() as group:
                group.start_soon(server._serve, [listener])
                try:
                    yield Live(f"http://127.0.0.1:{listener.getsockname()[1]}", world)
                finally:
                    app.stop()
                    server.should_exit = True
