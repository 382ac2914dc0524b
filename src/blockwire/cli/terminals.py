"""What the terminal at hand can show.

Spec: docs/reference/terminal-output.md. ``--color`` beats ``NO_COLOR``, which beats
``FORCE_COLOR`` and ``CLICOLOR_FORCE``, which beat what standard output is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TextIO

from blockwire.cli.encoding import terminal_charset
from blockwire.render import TerminalLook
from blockwire.text import AmbiguousWidth

__all__ = ["ColorFlag", "Screen", "screen_of", "wants_colour"]

ColorFlag = Literal["auto", "always", "never"]
_BLIND_TERMS: Final = frozenset({"", "dumb"})
COLUMNS_DEFAULT: Final = 80


class Screen(NamedTuple):
    """Where output goes.

    Attributes:
        look: Of a terminal; also used for ``--color always`` into a pipe.
        is_terminal: Whether to draw; else plain text is written.
    """

    look: TerminalLook
    is_terminal: bool


def _is_forced(env: Mapping[str, str]) -> bool | None:
    """Return what ``FORCE_COLOR`` and ``CLICOLOR_FORCE`` say, if they say anything."""
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        value = env.get(name)
        if value:
            return value != "0"
    return None


def wants_colour(flag: ColorFlag, env: Mapping[str, str], *, is_tty: bool) -> bool:
    """Return whether colours are written."""
    if flag != "auto":
        return flag == "always"
    if env.get("NO_COLOR"):
        return False
    forced = _is_forced(env)
    if forced is not None:
        return forced
    return is_tty and env.get("TERM", "") not in _BLIND_TERMS


def screen_of(
    stream: TextIO,
    *,
    flag: ColorFlag = "auto",
    width: int | None = None,
    ambiguous_width: AmbiguousWidth | None = None,
    env: Mapping[str, str] = os.environ,
) -> Screen:
    """Return what ``stream`` can show.

    Args:
        stream: Standard output, usually.
        flag: ``--color``.
        width: ``--width``, columns.
        ambiguous_width: The setting; without it what the environment says.
        env: The environment.
    """
    is_tty = stream.isatty()
    colour = wants_colour(flag, env, is_tty=is_tty)
    can_escape = is_tty and env.get("TERM", "") not in _BLIND_TERMS and flag != "never"
    if ambiguous_width is None:
        ambiguous_width = 2 if env.get("BLOCKWIRE_AMBIGUOUS_WIDTH") == "2" else 1
    look = TerminalLook(
        columns=max(width or _columns(stream, env), 1),
        escapes=can_escape or colour,
        colour=colour,
        ambiguous_width=ambiguous_width,
        charset=terminal_charset(env),
    )
    return Screen(look, is_terminal=is_tty or colour)


def _columns(stream: TextIO, env: Mapping[str, str]) -> int:
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    if columns > 0:
        return columns
    text = env.get("COLUMNS", "")
    return int(text) if text.isdecimal() and int(text) > 0 else COLUMNS_DEFAULT
