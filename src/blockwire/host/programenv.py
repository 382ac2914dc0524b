"""What a program finds in its environment under the host.

Spec: docs/spec/host/process.md, "Environment". Nothing in it speaks of the outer terminal: the
program talks to ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from blockwire import __version__

__all__ = ["TERM", "program_environment", "shell_of"]

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
