"""What a configuration decides about a gateway and a reload decides anew: engines and who may call.

Spec: docs/spec/gateway/operations.md, "Reload".
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import NamedTuple

from blockwire.cli.engine_tables import engine_configs
from blockwire.cli.settings import Config
from blockwire.content import Redactor, StreamEvent
from blockwire.engines import TurnLimits, guard
from blockwire.engines.registry import engine_provider, engine_secrets, make_engine
from blockwire.engines.settings import EngineConfig
from blockwire.gateway import (
    Auth,
    EngineProfile,
    HttpSettings,
    Token,
    TokenFile,
    hash_token,
    load_token_file,
)
from blockwire.gateway.access.auth import SCOPES
from blockwire.gateway.turns.accounts import Prices
from blockwire.gateway.turns.engine_use import EngineSet
from blockwire.gateway.turns.runner import Guard
from blockwire.ports import Clock, Engine, EngineRequest, IdFactory

__all__ = ["AuthParts", "auth_of", "engines_of", "http_settings_of"]


class AuthParts(NamedTuple):
    """Who may call, the tokens of the file, and sentences about how they are kept."""

    auth: Auth
    tokens: tuple[Token, ...]
    warnings: tuple[str, ...]


def engines_of(config: Config, *, clock: Clock, ids: IdFactory) -> EngineSet:
    """Return the engines that ``config`` describes, the default first.

    Raises:
        LocalProtocolError: ``invalid_config``.
    """
    configs = engine_configs(config)
    engines: dict[str, Engine] = {}
    for name, checked in configs.items():
        if not checked.is_external:
            table = config.engines.get(name, {"kind": checked.kind})
            engines[name] = make_engine(name, table, clock=clock, ids=ids, env=os.environ)
    return EngineSet(
        engines=engines,
        profiles={name: _profile(checked) for name, checked in configs.items()},
        default=next(iter(configs)),
        guard=_guard_of(configs, clock, ids),
        redact=Redactor(_secrets(configs)).redact,
    )


def _profile(engine: EngineConfig) -> EngineProfile:
    return EngineProfile(
        model=engine.values.get("model"),
        provider=engine_provider(engine, os.environ),
        system=engine.values.get("system"),
        is_external=engine.is_external,
        is_replay=engine.kind == "replay",
        takes_answers=bool(engine.values.get("answers")),
        prices=_prices(engine),
    )


def _prices(engine: EngineConfig) -> Prices | None:
    by_model = engine.values["prices"]
    if not by_model:
        return None
    # Anthropic counts what came from its cache beside the other tokens, everybody else among them.
    is_among = engine.kind != "anthropic"
    return Prices(by_model=by_model, currency=engine.values["currency"], input_has_cached=is_among)


def _guard_of(configs: Mapping[str, EngineConfig], clock: Clock, ids: IdFactory) -> Guard:
    redactors = {name: Redactor(engine_secrets(c, os.environ)) for name, c in configs.items()}
    limits = {name: c.limits for name, c in configs.items()}
    # For a turn that began when there were other engines.
    every = Redactor(_secrets(configs))

    def guarded(
        events: AsyncGenerator[StreamEvent, None], request: EngineRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        return guard(
            events,
            request,
            ids=ids,
            clock=clock,
            limits=limits.get(request.engine, TurnLimits()),
            redact=redactors.get(request.engine, every).redact,
        )

    return guarded


def _secrets(configs: Mapping[str, EngineConfig]) -> list[str]:
    """Return what no diagnostic of an outside producer may repeat."""
    return [secret for c in configs.values() for secret in engine_secrets(c, os.environ)]


def auth_of(config: Config, *, host: str | None, key: str) -> AuthParts:
    """Return who may call.

    Args:
        config: Names the token file, and sites.
        host: The bind, instead of the configured one.
        key: Lets in the commands of whoever runs the gateway.

    Raises:
        LocalProtocolError: ``invalid_config``, ``invalid_token_file``.
    """
    file = TokenFile((), ())
    if config["token_file"]:
        file = load_token_file(Path(config["token_file"]))
    auth = Auth(
        file.tokens,
        own_token=Token("local", hash_token(key), SCOPES),
        host=host or config["host"],
        allowed_hosts=config["allowed_hosts"],
        allowed_origins=config["allowed_origins"],
        trusted_proxies=config["trusted_proxies"],
    )
    return AuthParts(auth, file.tokens, file.warnings)


def http_settings_of(config: Config) -> HttpSettings:
    """Return the bounds of the HTTP surface."""
    return HttpSettings(tick_ms=config["tick_ms"], requests_per_s=config["requests_per_s"])
