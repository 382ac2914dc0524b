"""Where a program is found, and what it finds in its environment under the host.

Spec: docs/spec/host/process.md, "Environment". Nothing in it speaks of the outer terminal: the
program talks to ours.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from blockwire import __version__
from blockwire.errors import BlockwireError

__all__ = [
    "STATUS_NOT_EXECUTABLE",
    "STATUS_NOT_FOUND",
    "TERM",
    "ProgramError",
    "find_program",
    "program_environment",
    "shell_of",
]

TERM: Final = "xterm-256color"
"""What our emulators understand, and what every system has a description of."""

# What showed the terminal that we run in, and how large it was: nothing of that is true inside.
_REMOVED: Final = frozenset(
    {
        "BLOCKWIRE_TERMINAL", "COLUMNS", "INSIDE_EMACS", "LINES", "STY", "TERMCAP", "TERMINFO", "TMUX",
        "TMUX_PANE", "VTE_VERSION", "WINDOW", "WINDOWID",
    }
)  # fmt: skip
_REMOVED_PREFIXES: Final = (
    "ALACRITTY_", "GHOSTTY_", "ITERM_", "KITTY_", "KONSOLE_", "LC_TERMINAL", "TERMINAL_EMULATOR", "TERM_",
    "WEZTERM_", "WT_", "ZELLIJ",
)  # fmt: skip

SHELL: Final = "/bin/sh"

STATUS_NOT_EXECUTABLE: Final = 126
STATUS_NOT_FOUND: Final = 127


class ProgramError(BlockwireError):
    """The program cannot be started.

    Attributes:
        status: What a shell would return.
    """

    def __init__(self, name: str, error_number: int) -> None:
        is_missing = error_number in {errno.ENOENT, errno.ENOTDIR}
        super().__init__("program_not_started", f"cannot start {name}: {os.strerror(error_number)}")
        self.status = STATUS_NOT_FOUND if is_missing else STATUS_NOT_EXECUTABLE


def find_program(name: str, env: Mapping[str, str]) -> str:
    """Return the path of a program as a shell would find it.

    Raises:
        ProgramError: There is none, or it may not be executed.
    """
    if (found := shutil.which(name, path=env.get("PATH"))) is not None:
        return found
    is_path = os.sep in name
    is_there = is_path and Path(name).exists()
    raise ProgramError(name, errno.EACCES if is_there else errno.ENOENT)


def program_environment(env: Mapping[str, str], *, ambiguous_width: int) -> dict[str, str]:
    """Return the environment of a program that runs in our terminal.

    Args:
        env: Ours.
        ambiguous_width: Cells of a character of ambiguous width, so that all agree.
    """
    kept = {
        name: value
        for name, value in env.items()
        if name not in _REMOVED and not name.startswith(_REMOVED_PREFIXES)
    }
    return {
        **kept,
        "TERM": TERM,
        "COLORTERM": "truecolor",
        "TERM_PROGRAM": "blockwire",
        "TERM_PROGRAM_VERSION": __version__,
        "BLOCKWIRE_AMBIGUOUS_WIDTH": str(ambiguous_width),
    }


def shell_of(env: Mapping[str, str]) -> Sequence[str]:
    """Return the command that is run if none is given: the user's shell."""
    return (env.get("SHELL") or SHELL,)
