"""``blockwire config``."""

from __future__ import annotations

from typing import Any

import click

from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import write
from blockwire.cli.settings import SETTINGS, Config, Resolved, config_path
from blockwire.cli.wiring import engine_configs
from blockwire.engines.settings import SETTINGS as ENGINE_SETTINGS
from blockwire.engines.settings import EngineConfig
from blockwire.jsontext import Json, encode_json
from blockwire.render import clean

HIDDEN = "(hidden)"


@click.command()
@options(*CONFIG_OPTIONS, click.option("--json", "as_json", is_flag=True, help="Print JSON."))
def command(*, as_json: bool, **arguments: Any) -> None:
    """Show every setting, its value, and where it came from.

    A flag beats the environment (BLOCKWIRE_STORE, BLOCKWIRE_PORT, ...), which beats the file
    ($XDG_CONFIG_HOME/blockwire/config.toml, BLOCKWIRE_CONFIG or --config), which beats the default.
    """
    import os

    config = take_config(arguments)
    engines = engine_configs(config)
    if as_json:
        write(encode_json(_as_json(config, engines)).decode() + "\n")
        return
    rows: list[tuple[str, str, str]] = [
        (name, _shown(resolved.value, is_secret=SETTINGS[name].is_secret), _origin(resolved))
        for name, resolved in config.settings.items()
    ]
    for engine in engines.values():
        source = str(config.path) if engine.name in config.engines and config.path else "built in"
        rows.append((f"engines.{engine.name}.kind", engine.kind, source))
        for key, value in config.engines.get(engine.name, {}).items():
            if key != "kind":
                secret = ENGINE_SETTINGS[engine.kind][key].is_secret
                rows.append(
                    (f"engines.{engine.name}.{key}", _shown(value, is_secret=secret), source)
                )
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    for name, value, origin in rows:
        write(f"{clean(name):{widths[0]}}  {clean(value):{min(widths[1], 60)}}  {clean(origin)}\n")
    if config.path is None:
        write(f"\nNo configuration file; {clean(str(config_path(os.environ)))} would be read.\n")


def _shown(value: Any, *, is_secret: bool) -> str:
    if value is None or value == []:
        return "-"
    if is_secret:
        return HIDDEN
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _origin(resolved: Resolved) -> str:
    return resolved.detail or resolved.origin


def _as_json(config: Config, engines: dict[str, EngineConfig]) -> Json:
    return {
        "file": str(config.path) if config.path is not None else None,
        "settings": {
            name: {
                "value": HIDDEN if SETTINGS[name].is_secret and r.value else r.value,
                "origin": r.origin,
                "detail": r.detail,
            }
            for name, r in config.settings.items()
        },
        "engines": [{"name": e.name, "kind": e.kind} for e in engines.values()],
    }
