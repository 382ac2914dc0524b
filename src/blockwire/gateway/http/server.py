"""The HTTP server around the application: uvicorn, started and stopped by program.

Spec: docs/spec/gateway/routes.md; docs/spec/gateway/limits.md.

What uvicorn offers against slow requests is set here, heads are bounded in ``protocol``; bodies,
rates and streams are bounded by the application.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import anyio
import uvicorn

from blockwire.errors import LocalProtocolError
from blockwire.gateway.http.app import GatewayApp
from blockwire.gateway.http.protocol import BoundedProtocol

__all__ = ["bind", "serve"]

BACKLOG: Final = 2048
"""Connections that wait to be accepted; a pile of readers reconnects at once after a restart."""


KEEPALIVE_S: Final = 60
"""Silence after which a connection is probed: a peer that vanished without a word would hold its
connection for ever where nothing is written to it, as to a producer that only sends."""

KEEPALIVE_INTERVAL_S: Final = 15
KEEPALIVE_PROBES: Final = 4


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Args:
        host: A name or address.
        port: 0 lets the system choose.

    Raises:
        LocalProtocolError: ``address_in_use``, ``address_unavailable``.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server(
            (host.strip("[]"), port), family=family, backlog=BACKLOG, reuse_port=False
        )
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        code = "address_in_use" if in_use else "address_unavailable"
        # Python adds the address, in its own notation.
        reason = os.strerror(errno.EADDRINUSE) if in_use else error.strerror
        hint = "; stop what listens there, or take another port (0 picks a free one)"
        detail = f"cannot listen on {host}:{port}: {reason}{hint if in_use else ''}"
        raise LocalProtocolError(code, detail) from None
    except UnicodeError:
        raise LocalProtocolError("address_unavailable", f"{host!a} is no name of a host") from None
    _keep_alive(listener)
    return listener


def _keep_alive(listener: socket.socket) -> None:
    """Have the system probe silent connections; those accepted inherit what is set here."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_S),
        ("TCP_KEEPINTVL", KEEPALIVE_INTERVAL_S),
        ("TCP_KEEPCNT", KEEPALIVE_PROBES),
    ):
        # Not every system has each of them.
        option = getattr(socket, name, None)
        if option is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)


class _Server(uvicorn.Server):
    """Tells the application that it stops before it waits for connections to end."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: GatewayApp,
        on_listening: Callable[[], None],
        *,
        takes_signals: bool,
    ) -> None:
        super().__init__(config)
        self._gateway = app
        self._on_listening = on_listening
        self._takes_signals = takes_signals
        self.signal: int | None = None

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        if not self._takes_signals:
            yield
            return
        with super().capture_signals():
            yield
            # uvicorn raises what it caught again when it is done, and that would end the process
            # before whoever called ``serve`` has ended its turns in the store.
            self.signal = next(iter(self._captured_signals), None)
            self._captured_signals.clear()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Turns end first, while those who read them are still connected. Then streams end with
        # their cursor intact and waits are given up; else both would hold the server for as long as
        # their peers like.
        await self._gateway.drain()
        self._gateway.stop()
        await super().shutdown(sockets)


async def serve(
    app: GatewayApp,
    host: str,
    port: int,
    on_listening: Callable[[str, int], None],
    *,
    stop: anyio.Event | None = None,
) -> int | None:
    """Serve until SIGTERM or SIGINT, then end streams and let answers finish.

    Returns:
        The signal that ended it, for the exit status; it is not raised again.

    Args:
        app: Its service is started already; its ``HttpSettings`` say how long to wait.
        host: Where to listen; checked by whoever made ``app``'s ``Auth``.
        port: 0 lets the system choose.
        on_listening: Called once with host and port when connections are accepted.
        stop: Ends it when set; signals are left to the caller then.

    Raises:
        LocalProtocolError: ``tokens_required``, and see :func:`bind`.
    """
    app.surface.auth.check_bind(app.surface.service.keyring)
    listener = bind(host, port)
    bound_port: int = listener.getsockname()[1]
    config = uvicorn.Config(
        app,
        interface="asgi3",
        http=BoundedProtocol,
        loop="none",
        ws="none",
        lifespan="on",
        backlog=BACKLOG,
        log_config=None,
        # What a route does wrong the application logs itself, and no request line is logged.
        access_log=False,
        log_level=logging.CRITICAL,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=app.surface.http.idle_s_max,
        timeout_graceful_shutdown=app.surface.http.drain_s_max,
    )
    server = _Server(
        config, app, lambda: on_listening(host, bound_port), takes_signals=stop is None
    )

    async def end_when_told() -> None:
        assert stop is not None, "started only with an event"
        await stop.wait()
        server.should_exit = True

    try:
        async with anyio.create_task_group() as tasks:
            if stop is not None:
                tasks.start_soon(end_when_told)
            await server.serve(sockets=[listener])
            tasks.cancel_scope.cancel()
    finally:
        listener.close()
    return server.signal
