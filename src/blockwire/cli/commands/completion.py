"""``blockwire completion``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click
from click.shell_completion import BashComplete, get_completion_class

from blockwire.cli.main import cli
from blockwire.cli.output import write

PROGRAM: Final = "blockwire"
VARIABLE: Final = "_BLOCKWIRE_COMPLETE"
"""Through which the script asks this program; click's name for it."""

_INSTALL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bash": 'put into ~/.bashrc:  eval "$(blockwire completion bash)"',
        "zsh": 'put into ~/.zshrc, after compinit:  eval "$(blockwire completion zsh)"',
        "fish": "blockwire completion fish > ~/.config/fish/completions/blockwire.fish",
    }
)


class _Bash(BashComplete):
    """Without click's look at the version, which starts a shell; the script needs 4.4."""

    @staticmethod
    def _check_version() -> None:
        return


@click.command()
@click.argument("shell", type=click.Choice(sorted(_INSTALL)))
def command(shell: str) -> None:
    """Print a script with which SHELL completes commands, options and files.

    \b
      bash   eval "$(blockwire completion bash)"  in ~/.bashrc
      zsh    eval "$(blockwire completion zsh)"   in ~/.zshrc, after compinit
      fish   blockwire completion fish > ~/.config/fish/completions/blockwire.fish
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are
    make = _Bash if shell == "bash" else get_completion_class(shell)
    assert make is not None, "click knows the three"
    script = make(cli, {}, PROGRAM, VARIABLE).source()
    write(f"# {_INSTALL[shell]}\n{script.strip()}\n")
