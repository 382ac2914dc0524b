"""``blockwire serve``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import anyio
import click

from blockwire.cli.engine_tables import engine_configs, with_program
from blockwire.cli.main import EXIT_INTERRUPTED
from blockwire.cli.options import CONFIG_OPTIONS, ENGINE_OPTIONS, options, take_config
from blockwire.cli.output import note, write
from blockwire.cli.places import store_path
from blockwire.cli.readiness import lacks
from blockwire.cli.settings import Config
from blockwire.cli.system import tune_interpreter
from blockwire.cli.wiring import announce, build_gateway, set_up_logging, started
from blockwire.gateway import serve


@click.command()
@options(
    *CONFIG_OPTIONS,
    *ENGINE_OPTIONS,
    click.option("--host", help="Address to bind to (default 127.0.0.1)."),
    click.option("--port", type=click.IntRange(0, 65535), help="Port (default 7890); 0 picks one."),
    click.option(
        "--token-file", metavar="FILE", help="Tokens that may call; needed beyond loopback."
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
    """Serve conversations over HTTP and SSE until Ctrl-C or SIGTERM.

    The first line on standard output says where: "listening on http://HOST:PORT".

    \b
    Connect a model:
      OPENAI_API_KEY=... blockwire serve --engine openai
      blockwire ask --model NAME "Why is the sky blue?"
    Connect a program of yours (question on stdin as JSON, answer on stdout):
      blockwire serve --program ./agent.sh
    Connect an agent that posts its events:
      blockwire serve --engine external
    Let other machines in, each with a token of yours:
      printf %s "$TOKEN" | sha256sum
      blockwire serve --host 0.0.0.0 --token-file tokens.toml
      where tokens.toml has: [[tokens]]
                             name = "me"
                             sha256 = "..."
                             scopes = ["read", "write"]

    ask, watch, list and show find this gateway by itself, through its store.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    config = take_config(arguments)
    if program is not None:
        config = with_program(config, program)
    set_up_logging(config["log_level"])
    ended_by = anyio.run(_serve, config, backend_options={"use_uvloop": _has_uvloop()})
    if ended_by == signal.SIGINT and sys.stderr.isatty():
        note("")  # the terminal has written ^C where the next prompt would stand
    # SIGTERM is how services are stopped: nothing went wrong.
    return EXIT_INTERRUPTED if ended_by == signal.SIGINT else 0


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


async def _serve(config: Config) -> int | None:
    gateway = build_gateway(config)
    for warning in gateway.warnings:
        note(f"warning: {warning}")

    def on_listening(host: str, port: int) -> None:
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        announce(gateway, url)
        write(f"listening on {url}\n")
        _introduce(config, gateway.engine_names, url)

    async with started(gateway):
        tune_interpreter()
        return await serve(
            gateway.app,
            config["host"],
            config["port"],
            on_listening,
        )
