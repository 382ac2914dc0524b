"""Keys as people write them, and tables of what they do."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blockwire.errors import LocalProtocolError
from blockwire.tty import Bindings, describe_key, read_binding
from blockwire.tty.keys import KEY_NAMES, MODIFIERS, key_name

WRITTEN: Final[list[tuple[str, str]]] = [
    ("Ctrl+Shift+Up", "ctrl-shift-up"),
    ("ctrl-shift-up", "ctrl-shift-up"),
    ("shift-ctrl-up", "ctrl-shift-up"),
    ("C-x", "ctrl-x"),
    ("C-X", "ctrl-x"),
    ("^X", "ctrl-x"),
    ("^", "^"),
    ("Control-F", "ctrl-f"),
    ("M-x", "alt-x"),
    ("Alt+X", "alt-X"),
    ("Option-Left", "alt-left"),
    ("Cmd+C", "super-C"),
    ("S-Tab", "shift-tab"),
    ("shift-a", "A"),
    ("alt-shift-a", "alt-A"),
    ("Ctrl+Shift+F", "ctrl-shift-f"),
    ("PgUp", "page-up"),
    ("page_up", "page-up"),
    ("PageDown", "page-down"),
    ("Shift-PageUp", "shift-page-up"),
    ("Return", "enter"),
    ("Esc", "escape"),
    ("DEL", "delete"),
    ("F12", "f12"),
    ("spc", "space"),
    ("C-Space", "ctrl-space"),
    ("C-@", "ctrl-space"),
    ("C-i", "tab"),
    ("C-m", "enter"),
    ("C-[", "escape"),
    ("C-/", "ctrl-_"),
    ("ctrl--", "ctrl--"),
    ("Ctrl++", "ctrl-+"),
    ("Ctrl+plus", "ctrl-+"),
    ("ctrl-minus", "ctrl--"),
    ("-", "-"),
    ("+", "+"),
    ("é", "é"),
    (" a ", "a"),
    ("c", "c"),
]

REFUSED: Final = [
    "", " ", "ctrl-", "ctrl", "hyperspace", "ctl-x", "ab", "shift-1", "ctrl-shift-1", "\x1b", "C-\t",
    "\x9b", "x" * 65, "kneel-x", "ctrl-ctrl",
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), WRITTEN)
def test_keys_are_read_as_people_write_them(text: str, name: str) -> None:
    assert read_binding(text) == name


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        read_binding(text)

    assert caught.value.code == "unknown_key"
    assert len(caught.value.detail) < 120


def test_a_refusal_names_the_nearest_key() -> None:
    with pytest.raises(LocalProtocolError, match="do you mean escape"):
        read_binding("escap")


@pytest.mark.requirement("host:input:written")
@example(key="ß", modifiers=frozenset({"ctrl"}))
@example(key="İ", modifiers=frozenset({"ctrl"}))
@given(
    key=st.sampled_from(KEY_NAMES) | st.characters(codec="utf-8", exclude_categories=["C", "Z"]),
    modifiers=st.frozensets(st.sampled_from(MODIFIERS)),
)
def test_what_is_written_for_people_is_read_again(key: str, modifiers: frozenset[str]) -> None:
    name = key_name(key, modifiers)

    assert read_binding(describe_key(name)) == name
    assert read_binding(name) == name


DEFAULTS: Final = {"search": "ctrl-f /", "copy": ("C-Insert",), "help": "F1", "leave": ""}


@pytest.mark.requirement("host:input:bindings")
def test_a_key_does_what_the_table_says() -> None:
    bindings = Bindings(DEFAULTS)

    assert bindings.actions == ("search", "copy", "help", "leave")
    assert bindings.lookup("ctrl-f") == bindings.lookup("/") == "search"
    assert bindings.lookup("x") is None
    assert bindings.keys_of("search") == ("ctrl-f", "/")
    assert [bindings.describe(action) for action in bindings.actions] == [
        "Ctrl-F", "Ctrl-Insert", "F1", "",
    ]  # fmt: skip


@pytest.mark.requirement("host:input:bindings")
def test_settings_give_other_keys() -> None:
    bindings = Bindings(DEFAULTS, {"help": ["?", "?", "F2"], "search": ""})

    assert bindings.keys_of("help") == ("?", "f2")
    assert bindings.lookup("f1") is bindings.lookup("ctrl-f") is None
    assert bindings.describe("search") == ""
    assert bindings.actions == ("search", "copy", "help", "leave")


@pytest.mark.requirement("host:input:bindings")
@pytest.mark.parametrize(
    ("overrides", "code", "pointer", "said"),
    [
        ({"serach": "x"}, "unknown_action", None, "the nearest is search"),
        ({"help": "ctrl-f"}, "key_bound_twice", "/help", "Ctrl-F would do both search and help"),
        ({"help": "tab", "leave": "ctrl-i"}, "key_bound_twice", "/leave", "both help and leave"),
        ({"help": "F99"}, "unknown_key", "/help", "'F99' is no key"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(
    overrides: dict[str, str], code: str, pointer: str | None, said: str
) -> None:
    with pytest.raises(LocalProtocolError, match=said) as caught:
        Bindings(DEFAULTS, overrides)

    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_an_action_of_a_table_without_any_has_no_nearest() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        Bindings({}, {"help": "x"})

    assert caught.value.code == "unknown_action"
