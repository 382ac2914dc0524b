"""From a table of the configuration to an engine.

Spec: docs/spec/gateway/engines.md, "Configuration". An HTTP client is imported when the first
engine needs one.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import urlsplit

from blockwire.content.redact import Redactor, environment_secrets
from blockwire.engines.command import CommandEngine, CommandSettings, child_environment
from blockwire.engines.endpoints import ENDPOINTS, ProviderKind
from blockwire.engines.external import ExternalEngine
from blockwire.engines.options import HttpApi
from blockwire.engines.replay import ReplayEngine, ReplaySettings, load_recordings
from blockwire.engines.settings import EngineConfig, EngineKind, check_config
from blockwire.errors import LocalProtocolError
from blockwire.ports import Clock, Engine, IdFactory

__all__ = ["engine_provider", "engine_secrets", "make_engine"]


EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - a server listens there; nobody can be reached there


class _Ports:
    """What engines are given beside their settings."""

    __slots__ = ("clock", "env", "ids", "redact")

    def __init__(
        self,
        *,
        clock: Clock,
        ids: IdFactory,
        env: Mapping[str, str],
        redact: Callable[[str], str],
    ) -> None:
        self.clock = clock
        self.ids = ids
        self.env = env
        self.redact = redact


def make_engine(
    name: str,
    config: Mapping[str, Any],
    *,
    clock: Clock,
    ids: IdFactory,
    env: Mapping[str, str],
) -> Engine:
    """Return the engine of ``[engines.NAME]``.

    Args:
        name: ``NAME``.
        config: The table, as TOML gives it.
        clock: For retries and recordings.
        ids: For blocks.
        env: The gateway's environment: keys, and what programs are passed.

    Raises:
        LocalProtocolError: ``invalid_config``, naming the key and what is allowed there.
    """
    checked = check_config(name, config)
    redact = Redactor(engine_secrets(checked, env)).redact
    ports = _Ports(clock=clock, ids=ids, env=env, redact=redact)
    return _MAKERS[checked.kind](checked, ports)


def engine_secrets(config: EngineConfig, env: Mapping[str, str]) -> list[str]:
    """Return what the engine knows and nobody may read: its keys, and its program's environment."""
    if config.kind == "command":
        return environment_secrets(_command_env(config, env))
    if config.kind in ENDPOINTS:
        key = _key(config, env)
        headers = [value for value in config.values["headers"].values() if len(value) >= 8]
        return [*headers, *([key] if key else [])]
    return []


def engine_provider(config: EngineConfig, env: Mapping[str, str]) -> str | None:
    """Return the name of the provider that messages carry; None where there is none."""
    if config.kind not in ENDPOINTS:
        return None
    named = config.values["provider"]
    if named is not None or not _is_elsewhere(config, env):
        return cast("str", named or config.kind)
    return urlsplit(_base_url(config, env)).hostname or config.kind


def _refuse(config: EngineConfig, key: str, sentence: str) -> LocalProtocolError:
    return LocalProtocolError(
        "invalid_config",
        f"engines.{config.name}: {sentence}",
        pointer=f"/engines/{config.name}/{key}",
    )


def _command_env(config: EngineConfig, env: Mapping[str, str]) -> dict[str, str]:
    values = config.values
    return child_environment(env, names=_words(values["pass_env"]), env=values["env"])


def _words(value: str | list[str]) -> list[str]:
    return shlex.split(value) if isinstance(value, str) else value


def _make_command(config: EngineConfig, ports: _Ports) -> Engine:
    values = config.values
    try:
        command = _words(values["command"])
    except ValueError as error:
        raise _refuse(config, "command", f"`command` has no end: {error}.") from None
    if not command or not command[0]:
        raise _refuse(config, "command", "`command` names no program.")
    settings = CommandSettings(
        command=command,
        env=_command_env(config, ports.env),
        cwd=values["cwd"],
        output=values["output"],
        kill_grace_s=values["kill_grace_s"],
        answers=values["answers"],
    )
    return CommandEngine(settings, ids=ports.ids, redact=ports.redact)


def _make_external(config: EngineConfig, ports: _Ports) -> Engine:
    del config, ports
    return ExternalEngine()


def _make_replay(config: EngineConfig, ports: _Ports) -> Engine:
    values = config.values
    try:
        recordings = load_recordings(values["path"], api=values["api"])
    except LocalProtocolError as error:
        raise _refuse(config, "path", error.detail) from None
    if values["recording"] is not None and values["recording"] not in recordings:
        raise _refuse(config, "recording", f"there are {', '.join(recordings)}.")
    settings = ReplaySettings(
        recordings=recordings, recording=values["recording"], speed=values["speed"]
    )
    return ReplayEngine(settings, ids=ports.ids, clock=ports.clock, redact=ports.redact)


def _make_http(config: EngineConfig, ports: _Ports) -> Engine:
    # The largest import of all engines, and most gateways have none of this kind.
    from blockwire.engines.http import HttpEngine, HttpSettings  # noqa: PLC0415

    values = config.values
    kind = cast("ProviderKind", config.kind)
    endpoint = ENDPOINTS[kind]
    base_url = _base_url(config, ports.env)
    _check_base_url(config, base_url)
    key = _key(config, ports.env)
    headers = {**endpoint.headers}
    if key:
        headers[endpoint.key_header] = f"{endpoint.key_prefix}{key}"
    headers |= {header.lower(): value for header, value in values["headers"].items()}
    settings = HttpSettings(
        api=_api(config, ports.env),
        provider=engine_provider(config, ports.env) or config.kind,
        base_url=base_url,
        headers=headers,
        key_hint=_key_hint(config, ports.env, headers),
        model=values["model"],
        options=values["options"],
        sends_images=values["sends_images"],
        connect_timeout_s=values["connect_timeout_s"],
        idle_timeout_s=values["read_timeout_s"],
        tries_max=values["tries_max"],
    )
    return HttpEngine(
        settings,
        ids=ports.ids,
        clock=ports.clock,
        redact=ports.redact,
        # Spreads clients out; nothing depends on nobody guessing it.
        jitter=random.random,  # noqa: S311
    )


_MAKERS: Final[Mapping[EngineKind, Callable[[EngineConfig, _Ports], Engine]]] = MappingProxyType(
    {
        "command": _make_command,
        "replay": _make_replay,
        "openai": _make_http,
        "anthropic": _make_http,
        "gemini": _make_http,
        "ollama": _make_http,
        "external": _make_external,
    }
)

_APIS: Final[Mapping[str, HttpApi]] = MappingProxyType(
    {
        "responses": "openai-responses",
        "chat": "openai-chat",
        "anthropic": "anthropic",
        "gemini": "gemini",
        "ollama": "ollama-chat",
    }
)


def _api(config: EngineConfig, env: Mapping[str, str]) -> HttpApi:
    if config.kind != "openai":
        return _APIS[config.kind]
    default = "chat" if _is_elsewhere(config, env) else "responses"
    return _APIS[config.values["api"] or default]


def _base_url(config: EngineConfig, env: Mapping[str, str]) -> str:
    endpoint = ENDPOINTS[cast("ProviderKind", config.kind)]
    base_url = cast("str", config.values["base_url"] or env.get(endpoint.url_name, ""))
    if not base_url:
        return endpoint.base_url
    # OLLAMA_HOST is often a bare address, the one that its server listens on.
    return base_url if "://" in base_url else f"http://{base_url.replace(EVERYWHERE, '127.0.0.1')}"


def _is_elsewhere(config: EngineConfig, env: Mapping[str, str]) -> bool:
    """Return whether another address than the provider's own is asked."""
    return _base_url(config, env) != ENDPOINTS[cast("ProviderKind", config.kind)].base_url


def _check_base_url(config: EngineConfig, base_url: str) -> None:
    try:
        parts = urlsplit(base_url)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
        parts = urlsplit("")
    if not is_good or parts.username or parts.password or parts.query or parts.fragment:
        raise _refuse(
            config,
            "base_url",
            "`base_url` begins with http:// or https:// and a host, and holds no user, query or"
            " fragment; a key goes into `api_key_env`.",
        )


def _key_name(config: EngineConfig) -> str:
    endpoint = ENDPOINTS[cast("ProviderKind", config.kind)]
    return cast("str", config.values["api_key_env"] or endpoint.key_name)


def _key(config: EngineConfig, env: Mapping[str, str]) -> str | None:
    key = config.values["api_key"] or env.get(_key_name(config), "")
    return cast("str", key).strip() or None


def _key_hint(
    config: EngineConfig, env: Mapping[str, str], headers: Mapping[str, str]
) -> str | None:
    """Return what to do when a key is missing; servers elsewhere often need none."""
    name = _key_name(config)
    endpoint = ENDPOINTS[cast("ProviderKind", config.kind)]
    is_named = config.values["api_key_env"] is not None
    is_needed = is_named or (endpoint.needs_key and not _is_elsewhere(config, env))
    if not is_needed or endpoint.key_header in headers:
        return None
    return f"No key: set {name}, or `api_key_env` of the engine {config.name}."
