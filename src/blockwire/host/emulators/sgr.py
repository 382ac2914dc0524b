"""Select Graphic Rendition: parameters to a look.

Spec: docs/spec/host/emulation.md, "Rows".
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from blockwire.host.emulator import PLAIN_LOOK, Look, LookAttribute
from blockwire.host.emulators.palette import PALETTE

_UNDERLINES: Final[frozenset[LookAttribute]] = frozenset(
    {"underline", "double_underline", "curly_underline"}
)
# Parameter -> what comes, what goes.
_SWITCHES: Final = MappingProxyType[int, tuple[LookAttribute | None, frozenset[LookAttribute]]](
    {
        1: ("bold", frozenset()),
        2: ("dim", frozenset()),
        3: ("italic", frozenset()),
        4: ("underline", _UNDERLINES),
        5: ("blink", frozenset()),
        6: ("blink", frozenset()),
        7: ("inverse", frozenset()),
        8: ("hidden", frozenset()),
        9: ("strikethrough", frozenset()),
        21: ("double_underline", _UNDERLINES),
        22: (None, frozenset({"bold", "dim"})),
        23: (None, frozenset({"italic"})),
        24: (None, _UNDERLINES),
        25: (None, frozenset({"blink"})),
        27: (None, frozenset({"inverse"})),
        28: (None, frozenset({"hidden"})),
        29: (None, frozenset({"strikethrough"})),
        53: ("overline", frozenset()),
        55: (None, frozenset({"overline"})),
    }
)
# The subparameter of 4; what is not here is underlined like others.
_UNDERLINE_KINDS: Final[dict[str, LookAttribute | None]] = {
    "0": None,
    "2": "double_underline",
    "3": "curly_underline",
}
# Foreground, background, and the colour of underlines, which is not shown.
_COLOURS: Final = frozenset({38, 48, 58})


PARAMETER_MAX: Final = 9_999
"""Of any sequence; what is more is as much."""


def read_parameter(text: str) -> int:
    """Return a parameter, digits or nothing, as a number."""
    # No integer is made of more digits than it needs.
    return min(int(text), PARAMETER_MAX) if 0 < len(text) < 9 else PARAMETER_MAX if text else 0


def select_graphic_rendition(look: Look, parameters: str) -> Look:
    """Return ``look`` after ``CSI parameters m``; the link stays."""
    parts = iter(parameters.split(";"))
    for part in parts:
        head, colon, rest = part.partition(":")
        number = read_parameter(head)
        if number == 0:
            look = PLAIN_LOOK._replace(link=look.link)
        elif number in _COLOURS:
            colour = _read_colour(iter(_subparameters(rest)) if colon else parts)
            if colour is not None and number == 38:
                look = look._replace(foreground=colour)
            elif colour is not None and number == 48:
                look = look._replace(background=colour)
        elif number == 4 and colon:
            look = _switch(look, _UNDERLINE_KINDS.get(rest, "underline"), _UNDERLINES)
        elif number in _SWITCHES:
            look = _switch(look, *_SWITCHES[number])
        else:
            look = _select_palette(look, number)
    return look


def _switch(look: Look, comes: LookAttribute | None, goes: frozenset[LookAttribute]) -> Look:
    attributes = set(look.attributes) - goes
    if comes is not None:
        attributes.add(comes)
    return look._replace(attributes=tuple(sorted(attributes)))


def _select_palette(look: Look, number: int) -> Look:
    tens, unit = divmod(number, 10)
    match tens:
        case 3 if unit != 8:
            return look._replace(foreground=None if unit == 9 else PALETTE[unit])
        case 4 if unit != 8:
            return look._replace(background=None if unit == 9 else PALETTE[unit])
        case 9 if unit < 8:
            return look._replace(foreground=PALETTE[8 + unit])
        case 10 if unit < 8:
            return look._replace(background=PALETTE[8 + unit])
        case _:
            return look


def _subparameters(rest: str) -> list[str]:
    """Return the subparameters of a colour, without the colour space that may be among them."""
    parts = rest.split(":")
    return [parts[0], *parts[2:]] if parts[0] == "2" and len(parts) > 4 else parts


def _read_colour(parts: Iterator[str]) -> str | None:
    kind = next(parts, "")
    if kind == "5":
        index = read_parameter(next(parts, ""))
        return PALETTE[index] if index < len(PALETTE) else None
    if kind == "2":
        levels = [read_parameter(next(parts, "")) for _ in range(3)]
        return "#{:02x}{:02x}{:02x}".format(*levels) if max(levels) < 256 else None
    return None
