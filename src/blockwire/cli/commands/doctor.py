"""``blockwire doctor``."""

from __future__ import annotations

import os
import platform
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from blockwire import __version__
from blockwire.cli.checkup import (
    look_at_backups,
    look_at_clock,
    look_at_limits,
    look_at_proxy,
    look_at_store,
)
from blockwire.cli.engine_tables import engine_configs
from blockwire.cli.findings import Finding
from blockwire.cli.main import EXIT_FAILED
from blockwire.cli.options import CONFIG_OPTIONS, options, take_config
from blockwire.cli.output import one_line, write, write_json
from blockwire.cli.places import prepare_place, store_path
from blockwire.cli.readiness import lacks
from blockwire.cli.settings import Config, unknown_variables
from blockwire.cli.system import SystemClock
from blockwire.cli.terminals import screen_of
from blockwire.cli.wiring import build_gateway
from blockwire.errors import BlockwireError
from blockwire.gateway.access.sites import is_loopback
from blockwire.stores import SQLITE_VERSION, list_tokens_in, read_owner


@click.command()
@options(
    *CONFIG_OPTIONS,
    click.option("--backups", metavar="FOLDER", help="Look there for copies of the store."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)
def command(*, backups: str | None, as_json: bool, **arguments: Any) -> int:
    """Look for what could stop blockwire from working on this machine.

    Looks at configuration, store, disk, backups, tokens, engines, port, clock and limits of this
    machine. Changes nothing. Status 1 when there is a problem.
    """
    findings = list(_findings(arguments, backups))
    if as_json:
        write_json([dict(finding._asdict()) for finding in findings])
    else:
        marks = {"ok": "ok      ", "warning": "warning ", "problem": "PROBLEM "}
        for finding in findings:
            write(
                f"{marks[finding.verdict]} {one_line(finding.what)}: {one_line(finding.detail)}\n"
            )
    return EXIT_FAILED if any(f.verdict == "problem" for f in findings) else 0


def _findings(arguments: dict[str, Any], backups: str | None) -> Iterator[Finding]:
    yield Finding("ok", "version", f"blockwire {__version__}, Python {platform.python_version()}")
    try:
        config = take_config(arguments)
    except BlockwireError as error:
        yield Finding("problem", "configuration", error.detail)
        return
    yield Finding(
        "ok", "configuration", str(config.path) if config.path else "no file; defaults are used"
    )
    told: set[str] = set()
    looks = {look.__name__.strip("_"): partial(look, config) for look in _LOOKS}
    looks["backups"] = partial(_backups, config, backups)
    for name, look in looks.items():
        try:
            yield from look()
        except BlockwireError as error:
            # Building the gateway meets again what looking at its parts has met.
            if error.detail not in told:
                yield Finding("problem", name, f"{error.detail} [{error.code}]")
            told.add(error.detail)


def _sqlite(_config: Config) -> Iterator[Finding]:
    yield Finding("ok", "sqlite", SQLITE_VERSION)


def _environment(_config: Config) -> Iterator[Finding]:
    for sentence in unknown_variables(os.environ):
        yield Finding("warning", "environment", sentence)


def _store(config: Config) -> Iterator[Finding]:
    path = store_path(config["store"])
    if path is None:
        yield Finding("warning", "store", "in memory: nothing survives the end of the process")
        return
    if not path.exists():
        yield from _future_store(path)
        return
    prepare_place(path)
    yield from look_at_store(path)


def _clock(config: Config) -> Iterator[Finding]:
    yield from look_at_clock(store_path(config["store"]), SystemClock().now_ms())


def _limits(_config: Config) -> Iterator[Finding]:
    yield from look_at_limits()


def _backups(config: Config, folder: str | None) -> Iterator[Finding]:
    path = store_path(config["store"])
    if path is not None and path.exists():
        place = Path(folder) if folder is not None else None
        yield from look_at_backups(path, place, SystemClock().now_ms())


def _future_store(path: Path) -> Iterator[Finding]:
    folder = next(parent for parent in (path.parent, *path.parent.parents) if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield Finding("problem", "store", f"cannot write in {folder}: {error.strerror}")
        return
    yield Finding("ok", "store", f"{path} will be made at the first start")


def _engines(config: Config) -> Iterator[Finding]:
    for name, engine in engine_configs(config).items():
        sentences = list(lacks(engine, os.environ))
        for sentence in sentences:
            yield Finding("warning", f"engine {name}", sentence)
        if not sentences:
            yield Finding("ok", f"engine {name}", engine.kind)


def _tokens(config: Config) -> Iterator[Finding]:
    if is_loopback(config["host"]) or config["token_file"]:
        return
    path = store_path(config["store"])
    if path is None or not path.exists() or not list_tokens_in(path):
        detail = f"serve refuses {config['host']} without any: blockwire token create NAME"
        yield Finding("problem", "tokens", detail)


def _wiring(config: Config) -> Iterator[Finding]:
    for warning in build_gateway(config).warnings:
        yield Finding("warning", "tokens", warning)


def _port(config: Config) -> Iterator[Finding]:
    host, port = config["host"], config["port"]
    where = f"{host}:{port}"
    path = store_path(config["store"])
    owner = read_owner(path) if path is not None else None
    if owner is not None and owner.url == f"http://{where}":
        yield Finding("ok", "port", f"{where} is the gateway of this store")
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            detail = f"{where}: {error.strerror}; give serve another one with --port"
            yield Finding("warning", "port", detail)
            return
    yield Finding("ok", "port", f"{where} is free")


def _terminal(_config: Config) -> Iterator[Finding]:
    screen = screen_of(sys.stdout)
    if not screen.is_terminal:
        yield Finding("ok", "terminal", "output is not a terminal: plain text")
        return
    colour = "colours" if screen.look.colour else "no colours"
    yield Finding(
        "ok", "terminal", f"{os.environ.get('TERM', '-')}, {screen.look.columns} columns, {colour}"
    )
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        yield Finding("warning", "terminal", f"encoding is {encoding}; set a UTF-8 locale")


_LOOKS: tuple[Callable[[Config], Iterator[Finding]], ...] = (
    _environment,
    _sqlite,
    _store,
    _engines,
    _tokens,
    _wiring,
    _port,
    look_at_proxy,
    _clock,
    _limits,
    _terminal,
)
