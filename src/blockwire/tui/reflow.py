"""Where rows are after a terminal has changed its width.

Spec: docs/spec/chat/fallback.md, "Another size".

Some terminals break rows anew (tmux, kitty, VTE, Windows Terminal), others cut them (xterm, GNU
screen, the Linux console). No terminal says which kind it is; where its cursor went does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from blockwire.render import TerminalLook
from blockwire.text import clusters, width

__all__ = ["Spot", "known_reflow", "rows_above", "rows_taken"]

_BREAKING_TERMS: Final = ("tmux", "xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm")
_CUTTING_TERMS: Final = ("screen", "linux")
_BREAKING: Final = (
    "TMUX",
    "TERM_PROGRAM",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "WT_SESSION",
    "KONSOLE_VERSION",
    "ALACRITTY_WINDOW_ID",
)
_CUTTING: Final = ("STY", "XTERM_VERSION")


class Spot(NamedTuple):
    """A cell among rows, both counted from 0."""

    row: int
    column: int


def known_reflow(environment: Mapping[str, str]) -> bool | None:
    """Return whether the terminal breaks rows anew, as far as its variables tell; a first guess.

    The innermost comes first: a multiplexer inherits the variables of the terminal around it.
    """
    if environment.get("TMUX"):
        return True
    if any(environment.get(name) for name in _CUTTING):
        return False
    if any(environment.get(name) for name in _BREAKING):
        return True
    term = environment.get("TERM", "")
    if term.startswith(_BREAKING_TERMS):
        return True
    return False if term.startswith(_CUTTING_TERMS) else None


def rows_taken(text: str, look: TerminalLook) -> list[int]:
    """Return the cells of each row that ``text`` takes; at least one row."""
    cells = width(text, ambiguous_width=look.ambiguous_width)
    if cells <= look.columns:
        return [cells]
    taken = [0]
    for cluster in clusters(text):
        more = width(cluster, ambiguous_width=look.ambiguous_width)
        if more and taken[-1] and taken[-1] + more > look.columns:
            taken.append(0)
        taken[-1] += more
    return taken


def rows_above(texts: Sequence[str], cursor: Spot, look: TerminalLook) -> Spot:
    """Return where the cursor is among rows that were broken anew for the width of ``look``.

    Args:
        texts: Of the rows as they were drawn.
        cursor: Where it was among them.
        look: Of the terminal now.
    """
    above = sum(len(rows_taken(text, look)) for text in texts[: cursor.row])
    left = cursor.column
    taken = rows_taken(texts[cursor.row], look)
    row = 0
    while row < len(taken) - 1 and left >= taken[row]:
        left -= taken[row]
        row += 1
    return Spot(above + row, min(left, look.columns - 1))
