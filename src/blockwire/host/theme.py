"""The colours of what the host draws itself: marks in the text, status line, help.

Spec: docs/spec/host/drawing.md, "Colours". Three themes, and a line of text for whoever wants another
look for something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from blockwire.errors import LocalProtocolError
from blockwire.host.emulator import Look, LookAttribute
from blockwire.host.sgr import Rgb, rgb_of
from blockwire.terminal.content import HEX_COLOUR_PATTERN, PALETTE_NAMES

ThemeName: TypeAlias = Literal["dark", "light", "plain"]

THEME_NAMES: Final[tuple[ThemeName, ...]] = get_args(ThemeName)


class Theme(NamedTuple):
    """What each thing looks like.

    Attributes:
        status: The status line.
        status_key: A key in it.
        prompt: What is typed into it.
        notice: What it says for a moment.
        hint: That there is new text below.
        selection: Selected text.
        match: What a search found.
        current_match: The one of them that the search is at.
        help_title: The heading of a part of the help.
        help_key: A key there.
        help_text: Everything else there.
    """

    status: Look
    status_key: Look
    prompt: Look
    notice: Look
    hint: Look
    selection: Look
    match: Look
    current_match: Look
    help_title: Look
    help_key: Look
    help_text: Look


ROLES: Final = Theme._fields

DARK: Final = Theme(
    status=Look("#c8ccd4", "#2c313c"),
    status_key=Look("#ffffff", "#2c313c", ("bold",)),
    prompt=Look("#ffffff", "#2c313c"),
    notice=Look("#ffe08a", "#2c313c"),
    hint=Look("#10131a", "#8fd18f", ("bold",)),
    selection=Look("#ffffff", "#33528a"),
    match=Look("#10131a", "#c9a227"),
    current_match=Look("#10131a", "#ff9e3d", ("bold",)),
    help_title=Look("#ffffff", None, ("bold", "underline")),
    help_key=Look("#8fd18f", None, ("bold",)),
    help_text=Look(),
)

LIGHT: Final = Theme(
    status=Look("#2b303b", "#dfe3ea"),
    status_key=Look("#000000", "#dfe3ea", ("bold",)),
    prompt=Look("#000000", "#dfe3ea"),
    notice=Look("#6b3f00", "#dfe3ea"),
    hint=Look("#ffffff", "#1d6b2f", ("bold",)),
    selection=Look("#000000", "#b3d1ff"),
    match=Look("#000000", "#ffe27a"),
    current_match=Look("#000000", "#ffab5c", ("bold",)),
    help_title=Look("#000000", None, ("bold", "underline")),
    help_key=Look("#1d6b2f", None, ("bold",)),
    help_text=Look(),
)

PLAIN: Final = Theme(
    status=Look(attributes=("inverse",)),
    status_key=Look(attributes=("bold", "inverse")),
    prompt=Look(attributes=("inverse",)),
    notice=Look(attributes=("inverse",)),
    hint=Look(attributes=("bold", "inverse")),
    selection=Look(attributes=("inverse",)),
    match=Look(attributes=("underline",)),
    current_match=Look(attributes=("bold", "inverse", "underline")),
    help_title=Look(attributes=("bold", "underline")),
    help_key=Look(attributes=("bold",)),
    help_text=Look(),
)

THEMES: Final[Mapping[ThemeName, Theme]] = MappingProxyType(
    {"dark": DARK, "light": LIGHT, "plain": PLAIN}
)

# Words of an override that are attributes; the finer underlines are for programs.
_ATTRIBUTES: Final[tuple[LookAttribute, ...]] = (
    "bold", "dim", "italic", "underline", "strikethrough", "inverse",
)  # fmt: skip

_HEX_COLOUR: Final = re.compile(HEX_COLOUR_PATTERN)

# Perceived brightness (of 255 x 1,000) from which on a background is a light one.
_LIGHT_MIN: Final = 128_000


def theme_from(name: ThemeName, overrides: Mapping[str, str]) -> Theme:
    """Return a theme with some looks replaced.

    Args:
        name: Of the theme.
        overrides: A role, such as ``selection``, to its look, as :func:`look_from` reads it.

    Raises:
        LocalProtocolError: ``invalid_colour`` if there is no such role or look.
    """
    theme = THEMES[name]
    for role, text in overrides.items():
        if role not in ROLES:
            raise LocalProtocolError("invalid_colour", f"nothing is called {role!r}{_near(role)}")
        theme = theme._replace(**{role: look_from(text)})
    return theme


def look_from(text: str) -> Look:
    """Return the look that some words describe: ``bold #ffd700 on blue``.

    Attributes and at most one colour, then perhaps ``on`` and the colour of the background;
    ``default`` is the colour that the terminal has itself.

    Raises:
        LocalProtocolError: ``invalid_colour`` if that is no look.
    """
    colours: dict[str, str | None] = {}
    attributes: list[LookAttribute] = []
    role = "foreground"
    for word in text.lower().split():
        attribute = next((it for it in _ATTRIBUTES if it == word), None)
        if attribute is not None and role == "foreground":
            attributes.append(attribute)
        elif word == "on" and role == "foreground":
            role = "background"
        elif role in colours:
            raise LocalProtocolError("invalid_colour", f"{text!r}: there is no place for {word!r}")
        else:
            colours[role] = _colour_from(word, text)
    if role == "background" and role not in colours:
        raise LocalProtocolError("invalid_colour", f"{text!r}: a colour is missing behind 'on'")
    return Look(
        colours.get("foreground"), colours.get("background"), tuple(sorted(set(attributes)))
    )


def theme_for(background: str | None) -> ThemeName:
    """Return the theme for a terminal's background: the dark one if nobody knows it."""
    if background is None:
        return "dark"
    return "light" if _brightness(rgb_of(background)) >= _LIGHT_MIN else "dark"


def _colour_from(word: str, text: str) -> str | None:
    if word == "default":
        return None
    name = word.replace("-", "_")
    if name in PALETTE_NAMES or _HEX_COLOUR.fullmatch(name):
        return name
    raise LocalProtocolError("invalid_colour", f"{text!r}: {word!r} is no colour")


def _near(role: str) -> str:
    near = get_close_matches(role, ROLES, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _brightness(rgb: Rgb) -> int:
    red, green, blue = rgb
    return 299 * red + 587 * green + 114 * blue
