"""Which key does what in which mode: the one table, and what a person made of it.

Spec: docs/spec/host/index.md, "Modes and keys". A name is a mode and an action, ``copy.word``; a key may
mean one thing in each mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from blockwire.errors import LocalProtocolError
from blockwire.tty.bindings import Bindings, KeyList, describe_key

Mode: TypeAlias = Literal["live", "reading", "prefix", "search", "copy", "help"]
"""What keys are for: the program, or one of the host's own purposes."""

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

Rest: TypeAlias = Literal["program", "query", "nowhere"]
"""Who gets a key that a mode has no action for."""


class ModeRule(NamedTuple):
    """What becomes of a key in a mode.

    Attributes:
        tables: Whose actions it may mean, the first that has it.
        rest: Who gets it otherwise.
    """

    tables: tuple[Mode, ...]
    rest: Rest


MODE_RULES: Final[Mapping[Mode, ModeRule]] = MappingProxyType(
    {
        "live": ModeRule(("live",), "program"),
        "reading": ModeRule(("reading", "live"), "program"),
        "prefix": ModeRule(("prefix",), "nowhere"),
        "search": ModeRule(("search",), "query"),
        "copy": ModeRule(("copy",), "nowhere"),
        "help": ModeRule(("help",), "nowhere"),
    }
)

DEFAULT_KEYS: Final[Mapping[Mode, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "live": {
            "prefix": ("ctrl-]",),
            "page-up": ("shift-page-up",),
            "page-down": ("shift-page-down",),
            "row-up": ("shift-up",),
            "row-down": ("shift-down",),
            "top": ("shift-home",),
            "bottom": ("shift-end",),
        },
        "reading": {
            "page-up": ("page-up",),
            "page-down": ("page-down",),
            "top": ("home",),
            "bottom": ("escape", "end"),
        },
        "prefix": {
            "search": ("/", "ctrl-f"),
            "copy-mode": ("[",),
            "copy": ("y",),
            "copy-block": ("c",),
            "page-up": ("page-up", "b"),
            "page-down": ("page-down", "f"),
            "row-up": ("up", "k"),
            "row-down": ("down", "j"),
            "left": ("left", "h"),
            "right": ("right", "l"),
            "top": ("home", "g"),
            "bottom": ("end", "G"),
            "block-up": ("{",),
            "block-down": ("}",),
            "help": ("?",),
            "repaint": ("r", "ctrl-l"),
            "suspend": ("d", "ctrl-z"),
            "quit": ("q",),
            "cancel": ("escape", "ctrl-c"),
        },
        "search": {
            "accept": ("enter",),
            "cancel": ("escape", "ctrl-c"),
            "previous": ("up", "ctrl-p"),
            "next": ("down", "ctrl-n"),
            "erase": ("backspace", "ctrl-h"),
            "erase-word": ("ctrl-w", "alt-backspace"),
            "erase-all": ("ctrl-u",),
        },
        "copy": {
            "left": ("h", "left"),
            "right": ("l", "right"),
            "up": ("k", "up"),
            "down": ("j", "down"),
            "word": ("w",),
            "word-back": ("b",),
            "word-end": ("e",),
            "line-start": ("0", "home"),
            "line-first": ("^",),
            "line-end": ("$", "end"),
            "page-up": ("page-up", "ctrl-b"),
            "page-down": ("page-down", "ctrl-f"),
            "half-page-up": ("ctrl-u",),
            "half-page-down": ("ctrl-d",),
            "top": ("g",),
            "bottom": ("G",),
            "view-top": ("H",),
            "view-middle": ("M",),
            "view-bottom": ("L",),
            "block-up": ("{",),
            "block-down": ("}",),
            "select": ("v", "space"),
            "select-line": ("V",),
            "select-block": ("B",),
            "select-rectangle": ("ctrl-v",),
            "other-end": ("o",),
            "copy": ("y", "enter"),
            "search": ("/",),
            "next": ("n",),
            "previous": ("N",),
            "help": ("?",),
            "clear": ("escape",),
            "leave": ("q", "ctrl-c"),
        },
        "help": {
            "row-up": ("up", "k"),
            "row-down": ("down", "j"),
            "page-up": ("page-up", "b"),
            "page-down": ("page-down", "space"),
            "leave": ("escape", "q", "?", "enter", "ctrl-c"),
        },
    }
)

ACTION_NAMES: Final[tuple[str, ...]] = tuple(
    f"{mode}.{action}" for mode, actions in DEFAULT_KEYS.items() for action in actions
)
"""All actions by their whole names, in the order of the help."""


class Keymap:
    """The keys of all modes; it never changes.

    Args:
        overrides: Whole names of actions to the keys that they have instead of the default ones;
            without keys, an action is switched off.

    Raises:
        LocalProtocolError: ``unknown_action``, ``unknown_key`` or ``key_bound_twice``; the pointer
            says at which of the overrides.
    """

    def __init__(self, overrides: Mapping[str, KeyList] = MappingProxyType({})) -> None:
        for name in overrides:
            if name not in ACTION_NAMES:
                [near] = get_close_matches(name, ACTION_NAMES, n=1, cutoff=0.0)
                raise LocalProtocolError(
                    "unknown_action",
                    f"{name!r} is no action; the nearest is {near}",
                    pointer=f"/{name}",
                )
        self._tables: Mapping[Mode, Bindings] = MappingProxyType(
            {mode: _bindings(mode, overrides) for mode in MODES}
        )

    def action(self, mode: Mode, key_name: str) -> str | None:
        """Return what a key does in a mode, if anything."""
        tables = (self._tables[table] for table in MODE_RULES[mode].tables)
        return next((it for table in tables if (it := table.lookup(key_name)) is not None), None)

    def first_key(self, mode: Mode, action: str) -> str:
        """Return the first key of an action as people read it; empty if it has none."""
        return self._tables[mode].describe(action)

    def keys(self, mode: Mode, action: str) -> str:
        """Return all keys of an action as people read them; empty if it has none."""
        return ", ".join(map(describe_key, self._tables[mode].keys_of(action)))


def _bindings(mode: Mode, overrides: Mapping[str, KeyList]) -> Bindings:
    prefix = f"{mode}."
    own = {
        name.removeprefix(prefix): keys
        for name, keys in overrides.items()
        if name.startswith(prefix)
    }
    try:
        return Bindings(DEFAULT_KEYS[mode], own)
    except LocalProtocolError as error:
        at = (error.pointer or "/").removeprefix("/")
        raise LocalProtocolError(error.code, error.detail, pointer=f"/{prefix}{at}") from None
