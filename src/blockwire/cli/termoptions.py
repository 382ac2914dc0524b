"""What ``blockwire term`` is made of: its options from the settings, and the session that they make.

Spec: docs/spec/host/process.md. Imported where the host runs, and by ``blockwire config``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blockwire.cli.encoding import terminal_charset
from blockwire.cli.keysettings import keymap_of
from blockwire.cli.settings import Config
from blockwire.cli.terminals import ColorFlag, wants_colour
from blockwire.errors import LocalProtocolError
from blockwire.host.core import HostCore
from blockwire.host.drivercore import NewSession
from blockwire.host.emulator import best_emulator
from blockwire.host.options import HostOptions
from blockwire.host.outer import OuterColours, colour_depth
from blockwire.host.programoutput import TerminalColours
from blockwire.host.theme import ROLES, Theme, ThemeName, theme_from

__all__ = ["COLOUR_ROLES", "new_session", "theme_of"]

COLOUR_ROLES: Final = ROLES
"""What ``[colours]`` may name."""

MIB: Final = 1_048_576

_LIGHT: Final = 0.5
"""Backgrounds brighter than this want dark text."""


def theme_of(config: Config, name: ThemeName) -> Theme:
    """Return a theme with the colours of the file.

    Raises:
        LocalProtocolError: ``invalid_config``, naming the file and the role.
    """
    try:
        return theme_from(name, config.colours)
    except LocalProtocolError as error:
        raise LocalProtocolError(
            "invalid_config", f"{config.path}: [colours]: {error.detail}"
        ) from None


def new_session(config: Config, *, color: ColorFlag, env: Mapping[str, str]) -> NewSession:
    """Return what makes a session; all that may be wrong with the settings is found here.

    Args:
        config: The settings.
        color: ``--color``.
        env: What says how many colours there are.

    Raises:
        LocalProtocolError: ``invalid_config`` or ``emulator_missing``.
    """
    depth = colour_depth(env, wants_colour=wants_colour(color, env, is_tty=True))
    keymap = keymap_of(config)
    theme_of(config, "dark")
    # The library is loaded here, and not behind a screen that is hidden already.
    best_emulator(1, 1, name=config["emulator"])

    def make(columns: int, rows: int, colours: OuterColours) -> HostCore:
        name: ThemeName = "plain" if depth == "none" else _theme_name(config["theme"], colours)
        options = HostOptions(
            theme=theme_of(config, name),
            keymap=keymap,
            colours=depth,
            has_links=env.get("TERM") != "linux",
            ambiguous_width=config["ambiguous_width"],
            charset=terminal_charset(env),
            capacity_bytes=config["history_mib"] * MIB,
            status_line=config["status_line"] == "on",
            mouse=config["mouse"] == "on",
            copy_on_select=config["copy_on_select"] == "on",
            program_clipboard=config["program_clipboard"] == "on",
            terminal_colours=TerminalColours(colours.foreground, colours.background),
        )
        emulator = best_emulator(
            columns,
            rows,
            name=config["emulator"],
            foreground=colours.foreground,
            background=colours.background,
            ambiguous_width=config["ambiguous_width"],
        )
        return HostCore(columns, rows, emulator, options)

    return make


def _theme_name(name: str, colours: OuterColours) -> ThemeName:
    match name:
        case "dark" | "light" | "plain":
            return name
        case _:
            return "light" if _brightness(colours.background) > _LIGHT else "dark"


def _brightness(colour: str | None) -> float:
    """Return how bright ``"#rrggbb"`` is to the eye, from 0 to 1; what is not known is dark."""
    if colour is None:
        return 0.0
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
