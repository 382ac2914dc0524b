"""Options that several commands share, and the configuration they make."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from blockwire.cli.encoding import TEXT
from blockwire.cli.settings import Config, load_config

__all__ = [
    "COLOR_OPTION",
    "CONFIG_OPTIONS",
    "ENGINE_OPTIONS",
    "READER_OPTIONS",
    "SCREEN_OPTIONS",
    "WIDTH_OPTION",
    "options",
    "take_config",
]

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

COLUMNS_MAX: Final = 10_000
"""Wider than any screen."""

CONFIG_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--config", "config_file", metavar="FILE", help="TOML file with settings and engines."
    ),
    click.option(
        "--store",
        metavar="URL",
        help="sqlite:///PATH (default: one in your data folder) or memory:",
    ),
)
ENGINE_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--engine",
        type=TEXT,
        metavar="NAME",
        help="An engine of the file, or openai, anthropic, gemini, ollama, replay, external.",
    ),
)
READER_OPTIONS: tuple[Decorator, ...] = (
    *CONFIG_OPTIONS,
    click.option(
        "--url",
        type=TEXT,
        metavar="URL",
        help="Gateway to talk to, with the token in BLOCKWIRE_TOKEN; else that of the store.",
    ),
)
COLOR_OPTION: Decorator = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours; auto asks NO_COLOR, FORCE_COLOR and the terminal.",
)
WIDTH_OPTION: Decorator = click.option(
    "--width",
    type=click.IntRange(min=1, max=COLUMNS_MAX),
    metavar="COLUMNS",
    help="Width of rows; else the terminal's.",
)
SCREEN_OPTIONS: tuple[Decorator, ...] = (
    COLOR_OPTION,
    WIDTH_OPTION,
    click.option("--reasoning", is_flag=True, help="Show the model's private reasoning too."),
)


def options(*decorators: Decorator) -> Callable[[F], F]:
    """Return one decorator that adds all of ``decorators``, first one first in the help."""

    def add(function: F) -> F:
        return functools.reduce(lambda f, decorate: decorate(f), reversed(decorators), function)

    return add


def take_config(arguments: dict[str, Any]) -> Config:
    """Return the configuration, taking its options out of a command's ``arguments``."""
    path = arguments.pop("config_file", None)
    names = (
        "store",
        "host",
        "port",
        "engine",
        "token_file",
        "tick_ms",
        "url",
        "log_level",
        "log_format",
    )
    flags = {name: arguments.pop(name) for name in names if name in arguments}
    return load_config(flags, path=path)
