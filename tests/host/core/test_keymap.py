"""Keys: the table of the specification, what a person may change, and what is refused."""

from __future__ import annotations

import re

import pytest

from blockwire.errors import LocalProtocolError
from blockwire.host.copymode import MOVES, SELECTIONS
from blockwire.host.keymap import ACTION_NAMES, DEFAULT_KEYS, MODE_RULES, MODES, Keymap
from blockwire.host.picturing import DOES, HINTS, TITLES, help_sections
from blockwire.host.reading import SCROLLS
from tests.host.core.windows import Window
from tests.suites import PROJECT

PAGE = PROJECT / "docs" / "spec" / "host" / "index.md"


def test_the_page_has_the_default_keys() -> None:
    rows = re.findall(
        r"^\| (\S+) \| (\S+) \| ((?:`\S+` ?)+)\|$", PAGE.read_text("utf-8"), re.MULTILINE
    )

    stated = [(mode, action, tuple(re.findall(r"`(\S+?)`", keys))) for mode, action, keys in rows]

    assert stated == [
        (mode, action, keys)
        for mode, actions in DEFAULT_KEYS.items()
        for action, keys in actions.items()
    ]


def test_every_mode_has_its_rule_its_hints_and_its_title() -> None:
    assert set(MODES) == set(DEFAULT_KEYS) == set(MODE_RULES) == set(HINTS) == set(TITLES)


def test_every_action_is_known_to_whom_it_is_for() -> None:
    scrolls = {*DEFAULT_KEYS["live"], *DEFAULT_KEYS["reading"]} - {"prefix"}
    asked = {"copy", "search", "next", "previous", "help", "clear", "leave", "other-end"}

    assert scrolls <= SCROLLS.keys()
    assert set(DEFAULT_KEYS["copy"]) == {*MOVES, *SELECTIONS} | asked
    for hints in HINTS.values():
        assert all(action in DEFAULT_KEYS[mode] for mode, action, _does in hints)


@pytest.mark.parametrize("name", ACTION_NAMES)
def test_every_action_does_something_and_nothing_breaks(name: str) -> None:
    mode = name.partition(".")[0]
    way = {
        "live": [],
        "reading": ["shift-page-up"],
        "prefix": ["prefix"],
        "search": ["prefix", "/", "b"],
        "copy": ["prefix", "["],
        "help": ["prefix", "?"],
    }
    window = Window(20, 6, keymap=Keymap({name: "f12"})).open().append("b", "a b c\n" * 20)
    window.keys(*way[mode])

    window.input(b"\x1b[24~").look()

    assert b"\x1b[24~" not in window.typed


@pytest.mark.parametrize(
    ("overrides", "code", "pointer"),
    [
        ({"copy.wrod": "w"}, "unknown_action", "/copy.wrod"),
        ({"nothing": "w"}, "unknown_action", "/nothing"),
        ({"copy.word": "not-a-key"}, "unknown_key", "/copy.word"),
        ({"copy.word": "b"}, "key_bound_twice", "/copy.word-back"),
    ],
)
def test_what_cannot_be_is_refused(overrides: dict[str, str], code: str, pointer: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        Keymap(overrides)

    assert caught.value.code == code
    assert caught.value.pointer == pointer


def test_a_key_may_mean_other_things_in_other_modes() -> None:
    keymap = Keymap({"copy.word": ["f", "W"], "prefix.copy": "", "live.prefix": "C-a"})

    assert keymap.action("copy", "W") == "word"
    assert keymap.action("copy", "w") is None
    assert keymap.action("prefix", "f") == "page-down"
    assert keymap.action("prefix", "y") is None
    assert keymap.keys("copy", "word") == "f, W"
    assert keymap.first_key("prefix", "copy") == ""


@pytest.mark.requirement("host:help:shown")
def test_the_help_has_every_action_that_has_a_key() -> None:
    sections = help_sections(Keymap({"help.leave": "", "prefix.quit": ""}))

    entries = [entry for section in sections for entry in section.entries]
    assert len(entries) == len(ACTION_NAMES) - 2
    assert all(entry.keys and entry.does for entry in entries)
    assert set(DOES) <= {name.partition(".")[2] for name in ACTION_NAMES}


def test_a_mode_without_keys_has_no_section_and_no_hints() -> None:
    keymap = Keymap({name: "" for name in ACTION_NAMES if name.startswith(("help.", "search."))})

    assert len(help_sections(keymap)) == len(MODES) - 2


def test_the_help_says_how_to_see_the_rest_of_it() -> None:
    window = Window(60, 8).keys("prefix", "?")

    assert "PageDown more" in window.status
