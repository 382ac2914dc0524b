"""The 256 colours of a terminal's palette.

Spec: docs/spec/host/emulation.md, "Colours".
"""

from __future__ import annotations

from typing import Final

from blockwire.terminal.content import PALETTE_NAMES

# xterm: a cube of 6 levels each, then a ramp of 24 greys.
_LEVELS: Final = (0, 95, 135, 175, 215, 255)


def _colours() -> tuple[str, ...]:
    cube = [
        f"#{red:02x}{green:02x}{blue:02x}"
        for red in _LEVELS
        for green in _LEVELS
        for blue in _LEVELS
    ]
    return (
        *PALETTE_NAMES,
        *cube,
        *(f"#{grey:02x}{grey:02x}{grey:02x}" for grey in range(8, 248, 10)),
    )


PALETTE: Final = _colours()
"""By index: 16 names, whose colours are the terminal's own, then 240 times ``#rrggbb``."""

assert len(PALETTE) == 256
