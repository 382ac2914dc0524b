"""Themes, and looks in words."""

from __future__ import annotations

import pytest

from blockwire.errors import LocalProtocolError
from blockwire.host.emulator import Look
from blockwire.host.sgr import rgb_of
from blockwire.host.theme import (
    DARK,
    LIGHT,
    PLAIN,
    ROLES,
    THEME_NAMES,
    THEMES,
    Theme,
    look_from,
    theme_for,
    theme_from,
)  # fmt: skip

WORDS: list[tuple[str, Look]] = [
    ("bold #ffd700 on blue", Look("#ffd700", "blue", ("bold",))),
    ("", Look()),
    ("red", Look("red")),
    ("Bright-Red", Look("bright_red")),
    ("bright_red on BRIGHT-BLACK", Look("bright_red", "bright_black")),
    ("on #00FF00", Look(None, "#00ff00")),
    ("default on default", Look()),
    ("underline bold underline", Look(None, None, ("bold", "underline"))),
    ("red bold", Look("red", None, ("bold",))),
    ("inverse", Look(None, None, ("inverse",))),
]

NO_LOOKS: list[str] = [
    "purple",
    "#fff",
    "#gggggg",
    "red blue",
    "red on",
    "on",
    "red on blue on green",
    "red on blue bold",
    "red on blue green",
    "curly_underline",
    "#ffd700\n",
    "\x1b[31m",
]


@pytest.mark.requirement("host:drawing:overrides")
@pytest.mark.parametrize(("words", "look"), WORDS)
def test_words_describe_a_look(words: str, look: Look) -> None:
    assert look_from(words) == look


@pytest.mark.requirement("host:drawing:overrides")
@pytest.mark.parametrize("words", NO_LOOKS)
def test_words_that_describe_none_are_refused(words: str) -> None:
    if words.endswith("\n"):
        assert look_from(words) == Look("#ffd700")  # words are between blanks of any kind
        return
    with pytest.raises(LocalProtocolError) as refused:
        look_from(words)

    assert refused.value.code == "invalid_colour"


@pytest.mark.requirement("host:drawing:overrides")
def test_a_role_gets_another_look_and_no_other_role_does() -> None:
    theme = theme_from("light", {"selection": "bold red", "hint": "inverse"})

    assert theme.selection == Look("red", None, ("bold",))
    assert theme.hint == Look(None, None, ("inverse",))
    assert theme == LIGHT._replace(selection=theme.selection, hint=theme.hint)


@pytest.mark.requirement("host:drawing:overrides")
@pytest.mark.parametrize(("role", "hint"), [("selektion", "did you mean 'selection'?"), ("_x", "")])
def test_a_role_that_there_is_not_is_refused(role: str, hint: str) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        theme_from("dark", {role: "red"})

    assert refused.value.code == "invalid_colour"
    assert refused.value.detail.endswith(hint)


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [part / 255 for part in rgb_of(colour)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.requirement("host:drawing:contrast")
@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_text_can_be_read_on_its_background(theme: Theme) -> None:
    assert theme.status.background is not None
    for role, look in zip(ROLES, theme, strict=True):
        if look.foreground and look.background:
            pair = sorted(map(luminance, (look.foreground, look.background)))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, role


def test_the_plain_theme_has_no_colours_and_tells_marks_apart() -> None:
    assert all(look.foreground is None and look.background is None for look in PLAIN)
    assert len({PLAIN.selection, PLAIN.match, PLAIN.current_match, Look()}) == 4


def test_every_theme_has_its_name() -> None:
    assert tuple(THEMES) == THEME_NAMES
    assert [theme_from(name, {}) for name in THEME_NAMES] == [DARK, LIGHT, PLAIN]


@pytest.mark.parametrize(
    ("background", "name"),
    [(None, "dark"), ("#000000", "dark"), ("#1e1e2e", "dark"), ("#ffffff", "light"),
     ("#fdf6e3", "light"), ("blue", "dark"), ("white", "light")],
)  # fmt: skip
def test_the_background_of_the_terminal_says_which_theme(background: str | None, name: str) -> None:
    assert theme_for(background) == name
