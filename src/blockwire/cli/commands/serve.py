"""``blockwire serve``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import click

from blockwire.cli.engine_tables import engine_configs, with_program
from blockwire.cli.logs import set_up_logging
from blockwire.cli.notify import ServiceManager
from blockwire.cli.options import CONFIG_OPTIONS, ENGINE_OPTIONS, options, take_config
from blockwire.cli.output import note, write
from blockwire.cli.places import store_path
from blockwire.cli.readiness import lacks
from blockwire.cli.reload import Reloader
from blockwire.cli.service_signals import service_signals
from blockwire.cli.settings import Config
from blockwire.cli.system import tune_interpreter
from blockwire.cli.wiring import announce, build_gateway, started
from blockwire.engines.child import kill_every_group
from blockwire.gateway import serve


@click.command()
@options(
    *CONFIG_OPTIONS,
    *ENGINE_OPTIONS,
    click.option("--host", help="Address to bind to (default 127.0.0.1)."),
    click.option("--port", type=click.IntRange(0, 65535), help="Port (default 7890); 0 picks one."),
    click.option(
        "--token-file",
        metavar="FILE",
        help='Tokens that may call, beside those of "blockwire token".',
    ),
    click.option(
        "--program",
        metavar="COMMAND",
        help="Answer turns that name no engine with this program; words as in a shell.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        help="How much is logged to standard error (default warning).",
    ),
    click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        help="One line a record, as text or JSON (default text).",
    ),
)
def command(program: str | None, **arguments: Any) -> int:
    """Serve conversations over HTTP and SSE until Ctrl-C or SIGTERM; SIGHUP reads settings again.

    The first line on standard output says where: "listening on http://HOST:PORT". Open that
    address in a browser for the page.

    \b
    Connect a model:
      OPENAI_API_KEY=... blockwire serve --engine openai
      blockwire ask --model NAME "Why is the sky blue?"
    Connect a program of yours (question on stdin as JSON, answer on stdout):
      blockwire serve --program ./agent.sh
    Connect an agent that posts its events:
      blockwire serve --engine external
    Let other machines in, each with a token:
      blockwire token create me --scope read,write
      blockwire serve --host 0.0.0.0

    ask, watch, list and show find this gateway by itself, through its store.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are

    def read() -> Config:
        config = take_config(dict(arguments))
        return config if program is None else with_program(config, program)

    config = read()
    set_up_logging(config["log_level"], config["log_format"])
    ended_by = anyio.run(_serve, config, read, backend_options={"use_uvloop": _has_uvloop()})
    if ended_by == signal.SIGINT and sys.stderr.isatty():
        note("")  # the terminal has written ^C where the next prompt would stand
    # SIGTERM is how services are stopped: nothing went wrong.
    return 0 if ended_by == signal.SIGTERM else 128 + ended_by


def _introduce(config: Config, engine_names: Sequence[str], url: str) -> None:
    """Say who answers, where it is kept, and what to do next."""
    answering, *others = engine_names
    engine = engine_configs(config)[answering]
    is_default = engine.kind == "replay" and answering not in config.engines
    note(
        f"answers come from: {answering}{' (recordings, whatever is asked)' if is_default else ''}"
    )
    for sentence in lacks(engine, os.environ):
        note(f"warning: engine {answering}: {sentence}")
    note(f"a turn may also name: {', '.join(others)}")
    note(f"store: {store_path(config['store']) or 'memory'}")
    if is_default:
        note("for a model or a program of yours instead: blockwire serve --help")
    if sys.stderr.isatty() and config["token_file"] is None:
        # Without a word about the store, everybody finds this gateway through it.
        is_found = config.settings["store"].origin == "default"
        note(f"in another terminal: blockwire ask 'hello'{'' if is_found else f' --url {url}'}")


def _has_uvloop() -> bool:
    try:
        import uvloop  # noqa: F401 - there is none on Windows
    except ImportError:
        return False
    return True


async def _serve(config: Config, read: Callable[[], Config]) -> int:
    """Return the signal that ended it."""
    manager = ServiceManager()
    gateway = build_gateway(config)
    for warning in gateway.warnings:
        note(f"warning: {warning}")
    reloader = Reloader(gateway, config, read=read, tell=note)
    url = ""

    def on_listening(host: str, port: int) -> None:
        nonlocal url
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        announce(gateway, url)
        write(f"listening on {url}\n")
        _introduce(config, gateway.engine_names, url)
        manager.ready(f"listening on {url}")

    def reload() -> None:
        manager.reloading()
        reloader.reload()
        manager.ready(f"listening on {url}")

    def stopping() -> None:
        manager.stopping()
        # A program that does not care for a polite signal must not hold up the end of a service.
        asyncio.get_running_loop().call_later(config["stop_s_max"], kill_every_group)

    with service_signals(on_stop=stopping, on_force=kill_every_group, on_reload=reload) as stop:
        async with started(gateway), anyio.create_task_group() as tasks:
            tune_interpreter()
            tasks.start_soon(_beat, manager)
            await serve(gateway.app, config["host"], config["port"], on_listening, stop=stop.event)
            tasks.cancel_scope.cancel()
        assert stop.number is not None, "nothing else ends it"
        return stop.number


async def _beat(manager: ServiceManager) -> None:
    """Tell the manager that the event loop turns, as often as it wants to hear it."""
    period_s = manager.watchdog_period_s
    while period_s is not None:
        manager.beat()
        await anyio.sleep(period_s)
