"""The one place that picks adapters: from a configuration to a gateway that serves.

Spec: docs/explanation/the-house.md.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from blockwire.buses import MemoryBus
from blockwire.cli.engine_tables import engine_configs
from blockwire.cli.places import prepare_place
from blockwire.cli.schemas import published_schemas
from blockwire.cli.settings import Config
from blockwire.cli.system import SystemClock, UlidFactory, armed_faults
from blockwire.content import Redactor, StreamEvent
from blockwire.engines import TurnLimits, guard
from blockwire.engines.registry import engine_provider, engine_secrets, make_engine
from blockwire.engines.settings import EngineConfig
from blockwire.errors import StoreError
from blockwire.gateway import (
    Auth,
    EngineProfile,
    GatewayApp,
    GatewayService,
    GatewaySettings,
    HttpSettings,
    Token,
    create_app,
    hash_token,
    load_token_file,
)
from blockwire.gateway.auth import SCOPES
from blockwire.gateway.turns import Guard
from blockwire.ports import Engine, EngineRequest
from blockwire.stores import SqliteStore, open_store

__all__ = ["Gateway", "announce", "build_gateway", "set_up_logging", "started"]


class Gateway(NamedTuple):
    """A gateway, not started yet."""

    service: GatewayService
    app: GatewayApp
    engine_names: tuple[str, ...]
    warnings: tuple[str, ...]


def _guard_of(configs: Mapping[str, EngineConfig], clock: SystemClock, ids: UlidFactory) -> Guard:
    redactors = {name: Redactor(engine_secrets(c, os.environ)) for name, c in configs.items()}
    limits = {name: c.limits for name, c in configs.items()}

    def guarded(
        events: AsyncGenerator[StreamEvent, None], request: EngineRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        return guard(
            events,
            request,
            ids=ids,
            clock=clock,
            limits=limits.get(request.engine, TurnLimits()),
            redact=redactors[request.engine].redact,
        )

    return guarded


def _secrets(configs: Mapping[str, EngineConfig]) -> list[str]:
    """Return what no diagnostic of an outside producer may repeat."""
    return [secret for c in configs.values() for secret in engine_secrets(c, os.environ)]


def build_gateway(
    config: Config, *, host: str | None = None, own_token: str | None = None
) -> Gateway:
    """Return the gateway that ``config`` describes.

    Args:
        config: See :func:`~blockwire.cli.settings.load_config`.
        host: Bind to this instead of the configured host.
        own_token: Also let this token in, where any is needed.

    Raises:
        LocalProtocolError: ``invalid_config``, ``invalid_token_file``, ``tokens_required``.
        StoreError: ``invalid_store_url``.
    """
    clock, ids = SystemClock(), UlidFactory()
    configs = engine_configs(config)
    engines: dict[str, Engine] = {}
    profiles: dict[str, EngineProfile] = {}
    for name, checked in configs.items():
        profiles[name] = EngineProfile(
            model=checked.values.get("model"),
            provider=engine_provider(checked, os.environ),
            system=checked.values.get("system"),
            is_external=checked.is_external,
        )
        if not checked.is_external:
            table = config.engines.get(name, {"kind": checked.kind})
            engines[name] = make_engine(name, table, clock=clock, ids=ids, env=os.environ)
    store = open_store(config["store"], faults=armed_faults(os.environ))
    settings = GatewaySettings(engine_default=next(iter(configs)))
    service = GatewayService(
        store=store,
        bus=MemoryBus(),
        clock=clock,
        ids=ids,
        engines=engines,
        guard=_guard_of(configs, clock, ids),
        settings=settings,
        faults=armed_faults(os.environ),
        profiles=profiles,
        redact=Redactor(_secrets(configs)).redact,
    )
    tokens = load_token_file(Path(config["token_file"])) if config["token_file"] else None
    accepted = tokens.tokens if tokens is not None else ()
    if accepted and own_token is not None:
        accepted = (*accepted, Token("this process", hash_token(own_token), SCOPES))
    auth = Auth(
        accepted,
        host=host or config["host"],
        allowed_hosts=config["allowed_hosts"],
        allowed_origins=config["allowed_origins"],
    )
    app = create_app(
        service,
        settings,
        auth,
        clock=clock,
        http=HttpSettings(tick_ms=config["tick_ms"]),
        schemas=published_schemas(),
    )
    warnings = tokens.warnings if tokens is not None else ()
    return Gateway(service, app, tuple(configs), warnings)


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
        yield
    finally:
        await gateway.service.stop()


def announce(gateway: Gateway, url: str) -> None:
    """Let ``ask``, ``watch``, ``list`` and ``show`` find this gateway through its store."""
    store = gateway.service.store
    if isinstance(store, SqliteStore):
        store.write_url(url)


def set_up_logging(level: str) -> None:
    """Send the logs of this program to standard error."""
    logging.basicConfig(
        level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("httpx", "httpcore", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
