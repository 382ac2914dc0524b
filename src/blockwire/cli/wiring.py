"""The one place that picks adapters: from a configuration to a gateway that serves.

Spec: docs/explanation/the-house.md.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import anyio

from blockwire.buses import MemoryBus
from blockwire.cli.hooks import delivering, hooks_of
from blockwire.cli.keeping import upkeep_settings
from blockwire.cli.parts import auth_of, engines_of, http_settings_of
from blockwire.cli.places import prepare_place
from blockwire.cli.schemas import PublishedSchemas
from blockwire.cli.settings import Config
from blockwire.cli.spans import open_tracing
from blockwire.cli.system import SystemClock, UlidFactory, armed_faults
from blockwire.engines.hooks import TurnHooks
from blockwire.errors import StoreError
from blockwire.gateway import GatewayApp, GatewayService, GatewaySettings, Token, create_app
from blockwire.gateway.access.credentials import new_secret
from blockwire.gateway.operations.observer import Observer
from blockwire.stores import SqliteStore, open_store

__all__ = ["Gateway", "announce", "build_gateway", "started"]

SPANS_S_MAX: Final = 5.0
"""How long a stop waits for spans that are still to be sent."""


class Gateway(NamedTuple):
    """A gateway, not started yet; ``key`` lets in the commands of whoever runs it."""

    service: GatewayService
    app: GatewayApp
    engine_names: tuple[str, ...]
    warnings: tuple[str, ...]
    key: str
    hooks: TurnHooks
    tokens: tuple[Token, ...]
    clock: SystemClock
    ids: UlidFactory


def build_gateway(config: Config, *, host: str | None = None) -> Gateway:
    """Return the gateway that ``config`` describes.

    Args:
        config: See :func:`~blockwire.cli.settings.load_config`.
        host: Bind to this instead of the configured host.

    Raises:
        LocalProtocolError: ``invalid_config``, ``invalid_token_file``.
        StoreError: ``invalid_store_url``.
    """
    clock, ids = SystemClock(), UlidFactory()
    engines = engines_of(config, clock=clock, ids=ids)
    faults = armed_faults(os.environ)
    choice = open_tracing(os.environ)
    settings = GatewaySettings(
        engine_default=engines.default,
        stop_s_max=config["stop_s_max"],
        **upkeep_settings(config),
    )
    hooks = hooks_of(config, clock=clock, redact=engines.redact)
    service = GatewayService(
        store=open_store(config["store"], faults=faults),
        bus=MemoryBus(),
        clock=clock,
        ids=ids,
        engines=engines.engines,
        guard=engines.guard,
        settings=settings,
        faults=faults,
        profiles=engines.profiles,
        redact=engines.redact,
        on_turn=hooks.tell,
        observer=Observer(
            clock, tracing=choice.tracing, logs_requests=config["access_log"] == "on"
        ),
    )
    key = new_secret("token")
    auth, tokens, warnings = auth_of(config, host=host, key=key)
    app = create_app(
        service,
        settings,
        auth,
        clock=clock,
        http=http_settings_of(config),
        schemas=PublishedSchemas(),
    )
    return Gateway(
        service=service,
        app=app,
        engine_names=tuple(engines.profiles),
        warnings=(*warnings, *choice.warnings),
        key=key,
        hooks=hooks,
        tokens=tokens,
        clock=clock,
        ids=ids,
    )


@asynccontextmanager
async def started(gateway: Gateway) -> AsyncIterator[None]:
    """Run the service; on the way out running turns end as interrupted.

    Raises:
        StoreError: The store does not open; the sentence names its file.
    """
    store = gateway.service.store
    path = store.path if isinstance(store, SqliteStore) else None
    if path is not None:
        prepare_place(path)
    try:
        await gateway.service.start()
    except StoreError as error:
        if path is None or str(path) in error.detail:
            raise
        raise StoreError(
            error.code, f"{path}: {error.detail}", retryable=error.retryable
        ) from error
    try:
        # Around the stop: the turns that it ends are told, too.
        async with delivering(gateway.hooks):
            try:
                yield
            finally:
                await gateway.service.stop()
    finally:
        tracing = gateway.service.observer.tracing
        if tracing.makes_spans:
            with anyio.move_on_after(SPANS_S_MAX, shield=True):
                await anyio.to_thread.run_sync(tracing.close, abandon_on_cancel=True)


def announce(gateway: Gateway, url: str) -> None:
    """Let ``ask``, ``watch``, ``list`` and ``show`` find this gateway through its store."""
    store = gateway.service.store
    if isinstance(store, SqliteStore):
        store.write_url(url, gateway.key)
