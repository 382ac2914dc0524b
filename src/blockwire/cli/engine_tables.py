"""The engines of a configuration: its tables, and what is there without any.

Spec: docs/reference/engines.md.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import structs

from blockwire.cli.settings import Config
from blockwire.engines.settings import ENGINE_KINDS, EngineConfig, check_config
from blockwire.errors import LocalProtocolError

__all__ = ["engine_configs", "with_program"]

REPLAY: Final = "replay"
"""The engine of a machine on which nothing is configured: the recordings of the demo."""

PROGRAM: Final = "program"
"""Name of the engine that ``serve --program`` makes."""


def engine_configs(config: Config) -> dict[str, EngineConfig]:
    """Return every engine that turns may name, checked, the default first.

    Besides the tables of the file there are always ``replay`` and ``external``; and the default
    may be the name of a kind that works without settings, such as ``openai``.

    Raises:
        LocalProtocolError: ``invalid_config``.
    """
    tables: dict[str, Mapping[str, Any]] = {name: dict(t) for name, t in config.engines.items()}
    default: str | None = config["engine"]
    if default is None:
        default = next(iter(tables), REPLAY)
    for name in (default, REPLAY, "external"):
        if name not in tables and name in ENGINE_KINDS and name != "command":
            tables[name] = {"kind": name}
    if default not in tables:
        raise LocalProtocolError("invalid_config", _unknown(default, tables))
    names = [default, *(name for name in tables if name != default)]
    return {name: check_config(name, tables[name]) for name in names}


def _unknown(name: str, tables: Mapping[str, Any]) -> str:
    if name == "command":
        return "command needs to know which: --program PROGRAM, or [engines.NAME] in the file"
    known = sorted({*tables, *ENGINE_KINDS} - {"command"})
    close = difflib.get_close_matches(name, known, n=1)
    hint = f", did you mean {close[0]}?" if close else "."
    return (
        f"there is no engine {name}{hint} Known are {', '.join(known)}, "
        "and each [engines.NAME] of the configuration file"
    )


def with_program(config: Config, program: str) -> Config:
    """Return ``config`` with ``program`` as the engine of turns that name none."""
    engines: Mapping[str, Mapping[str, Any]] = {
        **config.engines,
        PROGRAM: {"kind": "command", "command": program},
    }
    engine = config.settings["engine"]._replace(value=PROGRAM, origin="flag", detail="--program")
    settings = MappingProxyType({**config.settings, "engine": engine})
    return structs.replace(config, engines=engines, settings=settings)
