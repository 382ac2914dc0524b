"""A look as the bytes that switch a terminal to it.

Spec: docs/spec/host/drawing.md, "Looks". Whatever a terminal cannot show becomes the nearest that it
can; a look begins from a clean slate, and nothing of it stays behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from zlib import crc32

from blockwire.host.emulator import Look, LookAttribute
from blockwire.terminal import is_valid_link
from blockwire.terminal.content import PALETTE_NAMES

ColourDepth: TypeAlias = Literal["none", "16", "256", "truecolor"]
"""Which colours a terminal shows: none, those with names, the 256 of xterm, or all."""

Rgb: TypeAlias = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

RESET: Final = "\x1b[m"
"""Ends every look (SGR 0)."""

LINK_END: Final = "\x1b]8;;\x1b\\"
"""Ends a link (OSC 8)."""

# A program with a picture has thousands of colours; more than so many are computed again.
LOOKS_KEPT: Final = 4_096

_ATTRIBUTE_CODES: Final[Mapping[LookAttribute, str]] = MappingProxyType(
    {
        "bold": "1",
        "dim": "2",
        "italic": "3",
        "underline": "4",
        "double_underline": "4",
        "curly_underline": "4",
        "blink": "5",
        "inverse": "7",
        "hidden": "8",
        "strikethrough": "9",
        "overline": "53",
    }
)

# Subparameters: old terminals print them, so they are for those that show all colours.
_FINE_CODES: Final[Mapping[LookAttribute, str]] = MappingProxyType(
    {"double_underline": "4:2", "curly_underline": "4:3"}
)

# The named colours as xterm has them; every terminal has its own.
_PALETTE: Final[tuple[Rgb, ...]] = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0),
    (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
    (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
)  # fmt: skip

_INDEXES: Final[Mapping[str, int]] = MappingProxyType(
    {name: index for index, name in enumerate(PALETTE_NAMES)}
)

assert len(_PALETTE) == len(PALETTE_NAMES), "each name has a colour"

# The cube of 6 x 6 x 6 colours from 16 on, and the greys from 232 on.
_CUBE_LEVELS: Final = (0, 95, 135, 175, 215, 255)
_CUBE_FIRST: Final = 16
_GREYS: Final = tuple(range(8, 239, 10))
_GREYS_FIRST: Final = 232


@lru_cache(LOOKS_KEPT)
def sgr(look: Look, depth: ColourDepth) -> str:
    """Return the parameters of SGR that give a look, from a clean slate; empty if there are none."""
    codes = [_attribute_code(it, depth) for it in look.attributes]
    if depth != "none":
        if look.foreground is not None:
            codes.append(_colour_code(look.foreground, depth, 30))
        if look.background is not None:
            codes.append(_colour_code(look.background, depth, 40))
    return ";".join(codes)


@lru_cache(LOOKS_KEPT)
def link_start(link: str) -> str:
    """Return what begins a link (OSC 8), or nothing if it is none that may be followed.

    All rows of one link have one id, so that a terminal shows them as one.
    """
    if not is_valid_link(link):
        return ""
    return f"\x1b]8;id={crc32(link.encode()):x};{link}\x1b\\"


def rgb_of(colour: str) -> Rgb:
    """Return what a colour is made of; of a named one, as xterm shows it."""
    if colour.startswith("#"):
        return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
    return _PALETTE[_INDEXES[colour]]


def _attribute_code(attribute: LookAttribute, depth: ColourDepth) -> str:
    if depth == "truecolor" and attribute in _FINE_CODES:
        return _FINE_CODES[attribute]
    return _ATTRIBUTE_CODES[attribute]


def _colour_code(colour: str, depth: ColourDepth, base: int) -> str:
    if not colour.startswith("#"):
        return _named_code(_INDEXES[colour], base)
    red, green, blue = rgb = rgb_of(colour)
    if depth == "truecolor":
        return f"{base + 8};2;{red};{green};{blue}"
    if depth == "256":
        return f"{base + 8};5;{_nearest_256(rgb)}"
    return _named_code(_nearest(rgb, _PALETTE), base)


def _named_code(index: int, base: int) -> str:
    # The bright ones are 60 further on.
    return str(base + index if index < 8 else base + 60 + index - 8)


def _nearest_256(rgb: Rgb) -> int:
    """Return a colour of the cube or of the greys: those with names are not the same everywhere."""
    red, green, blue = map(_nearest_level, rgb)
    cube = (_CUBE_LEVELS[red], _CUBE_LEVELS[green], _CUBE_LEVELS[blue])
    grey = min(range(len(_GREYS)), key=lambda index: abs(3 * _GREYS[index] - sum(rgb)))
    if _distance(rgb, cube) <= _distance(rgb, (_GREYS[grey], _GREYS[grey], _GREYS[grey])):
        return _CUBE_FIRST + 36 * red + 6 * green + blue
    return _GREYS_FIRST + grey


def _nearest_level(value: int) -> int:
    return min(range(len(_CUBE_LEVELS)), key=lambda level: abs(_CUBE_LEVELS[level] - value))


def _nearest(rgb: Rgb, palette: tuple[Rgb, ...]) -> int:
    return min(range(len(palette)), key=lambda index: _distance(rgb, palette[index]))


def _distance(one: Rgb, other: Rgb) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
