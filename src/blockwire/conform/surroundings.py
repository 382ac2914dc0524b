"""The environment of a judged program: the caller's, without what it says of the caller's terminal.

Spec: docs/spec/terminal/tools.md, "What the program finds".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["TERM", "clean_environment"]

TERM: Final = "xterm-256color"
# Where the program runs, what shows it, and how: nothing of that is true in the runner's terminal.
_NAMES: Final = frozenset(
    {
        "BLOCKWIRE_TERMINAL", "BLOCKWIRE_AMBIGUOUS_WIDTH", "COLORFGBG", "COLORTERM", "COLUMNS",
        "FORCE_COLOR", "INSIDE_EMACS", "LINES", "NO_COLOR", "STY", "TERM", "TERMCAP", "TERMINFO",
        "TMUX", "TMUX_PANE", "VTE_VERSION", "WINDOWID", "WT_SESSION", "WT_PROFILE_ID",
    }
)  # fmt: skip
_PREFIXES: Final = (
    "ALACRITTY_", "CLICOLOR", "GHOSTTY_", "ITERM_", "KITTY_", "KONSOLE_", "LC_TERMINAL", "SSH_",
    "TERMINAL_EMULATOR", "TERM_", "WEZTERM_", "ZELLIJ",
)  # fmt: skip


def clean_environment(env: Mapping[str, str], **changes: str) -> dict[str, str]:
    """Return an environment in which a terminal of another is not spoken of.

    Args:
        env: The caller's.
        changes: What is set beside it; TERM is :data:`TERM` unless it is one of them.
    """
    kept = {
        name: value
        for name, value in env.items()
        if name not in _NAMES and not name.startswith(_PREFIXES)
    }
    return {**kept, "TERM": TERM, **changes}
