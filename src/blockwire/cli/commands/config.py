"""``blockwire config``."""

from __future__ import annotations

import os
from typing import Any

import click

from blockwire.cli.encoding import readable
from blockwire.cli.engine_tables import engine_configs
from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import note, one_line, write, write_json
from blockwire.cli.settings import (
    SETTINGS,
    Config,
    Resolved,
    config_path,
    load_config,
    unknown_variables,
)
from blockwire.engines.settings import SETTINGS as ENGINE_SETTINGS
from blockwire.engines.settings import EngineConfig
from blockwire.jsontext import Json

HIDDEN = "(hidden)"


@click.group(invoke_without_command=True)
@click.pass_context
@options(*CONFIG_OPTIONS, click.option("--json", "as_json", is_flag=True, help="Print JSON."))
def command(context: click.Context, /, *, as_json: bool, **arguments: Any) -> None:
    """Show every setting, its value, and where it came from.

    A flag beats the environment (BLOCKWIRE_STORE, BLOCKWIRE_PORT, ...), which beats the file
    ($XDG_CONFIG_HOME/blockwire/config.toml, BLOCKWIRE_CONFIG or --config), which beats the default.
    """
    if context.invoked_subcommand is None:
        _show(take_config(arguments), as_json=as_json)


@command.command("path")
def print_path() -> None:
    """Print the name of the file that is read without --config, whether it is there or not."""
    write(f"{one_line(os.environ.get('BLOCKWIRE_CONFIG') or str(config_path(os.environ)))}\n")


@command.command("check")
@click.argument("file", required=False)
def check(file: str | None) -> None:
    """Check FILE, or the file that would be read, as serve would; start nothing.

    Settings, keys, colours, engines, and the token file that it names. Prints "ok", or what is wrong and status 1:
    a gateway that is told to read its configuration again (SIGHUP) would not take it.
    """
    from blockwire.cli.keysettings import chat_bindings_of, keymap_of
    from blockwire.cli.parts import auth_of, engines_of, http_settings_of
    from blockwire.cli.system import SystemClock, UlidFactory
    from blockwire.cli.termoptions import theme_of

    config = load_config({}, path=file)
    keymap_of(config)
    chat_bindings_of(config)
    theme_of(config, "dark")
    engines_of(config, clock=SystemClock(), ids=UlidFactory())
    http_settings_of(config)
    for warning in auth_of(config, host=None, key="").warnings:
        note(f"warning: {warning}")
    for sentence in unknown_variables(os.environ):
        note(f"warning: {sentence}")
    write("ok\n")


def _show(config: Config, *, as_json: bool) -> None:
    engines = engine_configs(config)
    if as_json:
        write_json(_as_json(config, engines))
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
    rows += [
        (f"{kind}.{name}", _shown(it.value, is_secret=False), _origin(it))
        for kind, table in _tables(config).items()
        for name, it in table.items()
    ]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    for name, value, origin in rows:
        write(
            f"{one_line(name):{widths[0]}}  {one_line(value):{min(widths[1], 60)}}  {one_line(origin)}\n"
        )
    for sentence in unknown_variables(os.environ):
        note(f"warning: {sentence}")
    if config.path is None:
        write(f"\nNo configuration file; {one_line(str(config_path(os.environ)))} would be read.\n")


def _tables(config: Config) -> dict[str, dict[str, Resolved]]:
    """Return keys and colours of the terminal programs, each with its origin.

    Raises:
        LocalProtocolError: ``invalid_config``: the file has some that there are not.
    """
    from blockwire.cli.keysettings import chat_bindings_of, default_keys, keymap_of
    from blockwire.cli.termoptions import COLOUR_ROLES, theme_of

    keymap_of(config)
    chat_bindings_of(config)
    theme_of(config, "dark")
    keys = {
        name: _resolved(config, config.keys.get(name), list(default))
        for name, default in default_keys().items()
    }
    colours = {
        role: _resolved(config, config.colours.get(role), "of the theme") for role in COLOUR_ROLES
    }
    return {"keys": keys, "colours": colours}


def _resolved(config: Config, given: Any, default: Any) -> Resolved:
    if given is None:
        return Resolved(default, "default", "")
    return Resolved(list(given) if isinstance(default, list) else given, "file", str(config.path))


def _shown(value: Any, *, is_secret: bool) -> str:
    if value is None or value == []:
        return "-"
    if is_secret:
        return HIDDEN
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _json_value(value: Any, *, is_secret: bool) -> Json:
    if is_secret and value:
        return HIDDEN
    return readable(value) if isinstance(value, str) else value


def _origin(resolved: Resolved) -> str:
    return resolved.detail or resolved.origin


def _as_json(config: Config, engines: dict[str, EngineConfig]) -> Json:
    return {
        "file": readable(str(config.path)) if config.path is not None else None,
        "settings": {
            name: {
                "value": _json_value(r.value, is_secret=SETTINGS[name].is_secret),
                "origin": r.origin,
                "detail": readable(r.detail),
            }
            for name, r in config.settings.items()
        },
        **{
            kind: {
                name: {
                    "value": readable(it.value) if isinstance(it.value, str) else it.value,
                    "origin": it.origin,
                    "detail": readable(it.detail),
                }
                for name, it in table.items()
            }
            for kind, table in _tables(config).items()
        },
        "engines": [{"name": e.name, "kind": e.kind} for e in engines.values()],
    }
