"""Who hears when a turn ends or waits, as the configuration says.

Spec: docs/spec/gateway/hooks.md.
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import anyio

from blockwire.cli.settings import Config, SettingName
from blockwire.engines.hooks import HookSettings, TurnHooks
from blockwire.errors import LocalProtocolError
from blockwire.ports import Clock

__all__ = ["delivering", "hooks_of"]

DRAIN_S: Final = 5.0
"""How long a stop waits for what is still to be told."""


def hooks_of(config: Config, *, clock: Clock, redact: Callable[[str], str]) -> TurnHooks:
    """Return the hooks that ``config`` describes.

    Raises:
        LocalProtocolError: ``invalid_config``.
    """
    settings = HookSettings(
        on_turn_end=_command(config, "on_turn_end"),
        on_turn_waiting=_command(config, "on_turn_waiting"),
        webhook_url=_address(config),
        webhook_secret=config["webhook_key"] or None,
    )
    return TurnHooks(settings, clock=clock, redact=redact)


def _refuse(config: Config, name: SettingName, sentence: str) -> LocalProtocolError:
    return LocalProtocolError("invalid_config", f"{config.settings[name].detail}: {sentence}")


def _command(config: Config, name: SettingName) -> list[str]:
    text = config[name] or ""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _refuse(config, name, f"the command has no end: {error}") from None
    if text and not (words and words[0]):
        raise _refuse(config, name, "the command names no program")
    return words


def _address(config: Config) -> str | None:
    url: str | None = config["webhook_url"] or None
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or "@" in urlsplit(url).netloc:
        raise _refuse(
            config,
            "webhook_url",
            "an address begins with http:// or https:// and a host, without user and password",
        )
    return url


@asynccontextmanager
async def delivering(hooks: TurnHooks) -> AsyncIterator[None]:
    """Deliver what hooks are told; on the way out, within bounds, what is left."""
    if hooks.is_empty:
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hooks.run)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await hooks.drain(DRAIN_S)
            tasks.cancel_scope.cancel()
