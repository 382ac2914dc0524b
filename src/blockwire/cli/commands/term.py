"""``blockwire term``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from blockwire.cli.options import COLOR_OPTION, CONFIG_OPTIONS, options
from blockwire.cli.output import note
from blockwire.cli.settings import SETTINGS, Config, is_choice, load_config
from blockwire.cli.terminals import ColorFlag
from blockwire.errors import BlockwireError
from blockwire.host.programenv import ProgramError, find_program, shell_of
from blockwire.host.watchdog import Lifeline, Outcome, end_as, wait_for_foreground, watch

_BLIND_TERMS: Final = frozenset({"", "dumb", "unknown"})


def _screens(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    setting = SETTINGS["transcript"]
    if value is not None and not is_choice(setting, value):
        raise click.BadParameter(f"{value!r} is none of all, none, 1 to {setting.most}.")
    return value


@click.command("term", context_settings={"allow_interspersed_args": False})
@options(
    CONFIG_OPTIONS[0],
    click.option(
        "--theme", type=click.Choice(SETTINGS["theme"].choices),
        help="Colours of what term draws itself; auto asks the terminal.",
    ),
    COLOR_OPTION,
    click.option(
        "--transcript", callback=_screens, metavar="SCREENS",
        help="What stays on the terminal: all, none, or so many windows full.",
    ),
    click.option("--no-transcript", is_flag=True, help="The same as --transcript none."),
    click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
    click.option("--no-status-line", is_flag=True, help="Give the last row to the program."),
    click.option(
        "--ambiguous-width", type=click.IntRange(1, 2),
        help="Cells of characters of ambiguous width.",
    ),
    click.option(
        "--emulator", type=click.Choice(SETTINGS["emulator"].choices),
        help="What reads the program's screen.",
    ),
)  # fmt: skip
@click.argument("program", metavar="[CMD]...", nargs=-1, type=click.UNPROCESSED)
def command(  # noqa: PLR0913 - options, all by name
    *,
    program: Sequence[str],
    config_file: str | None,
    color: ColorFlag,
    no_transcript: bool,
    no_mouse: bool,
    no_status_line: bool,
    **flags: Any,
) -> int:
    """Run CMD, or your shell, in a terminal that keeps Blocks live in its history.

    \b
      blockwire term                       your shell
      blockwire term -- blockwire chat     one program

    What the program shows can be scrolled, searched, selected and copied, also while it writes. Ctrl-]
    and ? show the keys. When it ends, what it showed stays on your terminal, and the status is its
    own; 126 and 127 as in a shell.
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    if no_transcript:
        flags["transcript"] = "none"
    flags["mouse"] = "off" if no_mouse else None
    flags["status_line"] = "off" if no_status_line else None
    config = load_config(flags, path=config_file)
    _check_terminal()
    words = list(program) or list(shell_of(os.environ))
    try:
        find_program(words[0], os.environ)
    except ProgramError as error:
        note(f"blockwire: {error.detail} [{error.code}]")
        return error.status
    if not wait_for_foreground(sys.stdin.fileno()):
        raise click.UsageError("it runs in the background, and there is no shell to bring it back.")
    return end_as(watch(lambda line: _run_host(line, config, words, color), sys.stdin.fileno()))


def _check_terminal() -> None:
    for stream, name in ((sys.stdin, "standard input"), (sys.stdout, "standard output")):
        if not stream.isatty():
            raise click.UsageError(f"term needs a terminal: {name} is not one.")
    if (term := os.environ.get("TERM", "")) in _BLIND_TERMS:
        what = f"TERM is {term!r}" if term else "TERM is not set"
        raise click.UsageError(f"term needs a terminal that it can draw on: {what}.")


def _run_host(
    lifeline: Lifeline, config: Config, words: Sequence[str], color: ColorFlag
) -> Outcome:
    """Run in the host's own process, which has everything that the watchdog does without."""
    from blockwire.cli.encoding import terminal_charset
    from blockwire.cli.system import tune_interpreter
    from blockwire.cli.termoptions import new_session
    from blockwire.host.drivercore import HostSettings
    from blockwire.host.transcript import run_host

    try:
        make = new_session(config, color=color, env=os.environ)
    except BlockwireError as error:
        note(f"blockwire: {error.detail} [{error.code}]")
        return Outcome(1)
    settings = HostSettings(
        words,
        os.environ,
        has_mouse=config["mouse"] == "on",
        ambiguous_width=config["ambiguous_width"],
        charset=terminal_charset(os.environ),
        input_fd=sys.stdin.fileno(),
        output_fd=sys.stdout.fileno(),
    )
    # History is objects that stay, too: a third of a flood's time went into looking for cycles in it.
    tune_interpreter()
    return run_host(settings, make, lifeline, transcript_screens=_count(config["transcript"]))


def _count(setting: str) -> int | None:
    return {"all": None, "none": 0}[setting] if not setting.isdecimal() else int(setting)
