"""Looks as the parameters of SGR, for each kind of terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.host.emulator import Look
from blockwire.host.painter import Frame, Painter
from blockwire.host.sgr import ColourDepth, link_start, rgb_of, sgr
from blockwire.terminal.content import PALETTE_NAMES
from tests.host.painting.outer import Outer, row

LOOKS: list[tuple[Look, ColourDepth, str]] = [
    (Look(), "truecolor", ""),
    (Look("red"), "truecolor", "31"),
    (Look("bright_red", "bright_blue"), "16", "91;104"),
    (Look("white", "black"), "256", "37;40"),
    (Look("red", "blue", ("bold", "inverse")), "none", "1;7"),
    (Look("#0a141e", "#ffffff"), "truecolor", "38;2;10;20;30;48;2;255;255;255"),
    (Look("#5f87af"), "256", "38;5;67"),
    (Look("#080808"), "256", "38;5;232"),
    (Look("#eeeeee"), "256", "38;5;255"),
    (Look("#fefefe"), "256", "38;5;231"),
    (Look(background="#010101"), "256", "48;5;16"),
    (Look("#d00505"), "16", "31"),
    (Look(background="#f0f0f0"), "16", "47"),
    (Look(background="#fdfdfd"), "16", "107"),
    (Look(attributes=("blink", "dim", "hidden", "italic")), "truecolor", "5;2;8;3"),
    (Look(attributes=("overline", "strikethrough", "underline")), "truecolor", "53;9;4"),
    (Look(attributes=("curly_underline",)), "truecolor", "4:3"),
    (Look(attributes=("double_underline",)), "truecolor", "4:2"),
    (Look(attributes=("curly_underline",)), "256", "4"),
    (Look(attributes=("double_underline",)), "16", "4"),
]


@pytest.mark.requirement("host:drawing:colours")
@pytest.mark.parametrize(("look", "depth", "codes"), LOOKS)
def test_a_look_is_what_the_terminal_can_show_of_it(
    look: Look, depth: ColourDepth, codes: str
) -> None:
    assert sgr(look, depth) == codes


@pytest.mark.requirement("host:drawing:colours")
@given(st.integers(16, 255))
def test_the_256_colours_are_their_own_nearest(index: int) -> None:
    if index < 232:
        levels = (0, 95, 135, 175, 215, 255)
        cube = index - 16
        rgb = levels[cube // 36], levels[cube // 6 % 6], levels[cube % 6]
    else:
        rgb = (8 + 10 * (index - 232),) * 3

    [_, _, nearest] = sgr(Look("#{:02x}{:02x}{:02x}".format(*rgb)), "256").split(";")

    assert int(nearest) == index


@pytest.mark.parametrize("name", PALETTE_NAMES)
def test_a_name_stands_for_its_own_colour(name: str) -> None:
    as_hex = "#{:02x}{:02x}{:02x}".format(*rgb_of(name))

    assert sgr(Look(as_hex), "16") == sgr(Look(name), "16")


def test_rows_of_one_link_have_one_id_and_other_links_have_others() -> None:
    one, again, other = map(
        link_start, ("https://a.example", "https://a.example", "https://b.example")
    )

    assert one == again
    assert one.partition(";https")[0] != other.partition(";https")[0]


@pytest.mark.requirement("host:drawing:links")
@pytest.mark.parametrize(
    "link", ["", "file:///etc", "javascript:x", "https://a\x1b\\", "https://a b"]
)
def test_what_is_no_link_is_not_written(link: str) -> None:
    assert link_start(link) == ""


def test_a_look_follows_another_from_a_clean_slate() -> None:
    frame = Frame((row(("a", Look("red", None, ("bold",))), ("b", Look(None, "blue")), "c"),))
    outer = Outer(10, 1)

    data = Painter(10, 1).paint(frame)

    outer.feed(data)
    outer.assert_shows(frame)
    assert b"\x1b[1;31ma\x1b[0;44mb\x1b[mc" in data
