"""Which key does what: names as people write them, and a table of actions that settings may change.

Spec: docs/spec/host/input.md, "Bindings".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, TypeAlias

from blockwire.errors import LocalProtocolError
from blockwire.tty.keys import (
    KEY_NAMES,
    MODIFIERS,
    is_text,
    key_name,
    lower_case,
    split_name,
    upper_case,
)

__all__ = ["Bindings", "KeyList", "describe_key", "read_binding"]

KeyList: TypeAlias = str | Iterable[str]
"""Keys as somebody writes them: a list, or one text with blanks between; empty for none."""

_MODIFIER_SPELLINGS: Final[Mapping[str, str]] = MappingProxyType(
    {name: name for name in MODIFIERS}
    | {"control": "ctrl", "c": "ctrl", "option": "alt", "opt": "alt", "m": "alt", "a": "alt"}
    | {"s": "shift", "cmd": "super", "command": "super", "win": "super"}
)
_KEY_SPELLINGS: Final[Mapping[str, str]] = MappingProxyType(
    {name.replace("-", ""): name for name in KEY_NAMES}
    | {"esc": "escape", "return": "enter", "ret": "enter", "del": "delete", "ins": "insert"}
    | {"pgup": "page-up", "pgdn": "page-down", "pgdown": "page-down", "prior": "page-up"}
    | {"next": "page-down", "bs": "backspace", "spc": "space", "plus": "+", "minus": "-"}
    | {"arrowup": "up", "arrowdown": "down", "arrowleft": "left", "arrowright": "right"}
)
_MODIFIER: Final = re.compile(r"([A-Za-z]+)[-+](?=.)")
_JOINT: Final = re.compile(r"[-_]")
_BINDING_CHARS_MAX: Final = 64


def read_binding(text: str) -> str:
    """Return the canonical name of a key: ``Ctrl+Shift+Up``, ``C-x``, ``^X``, ``PgUp``.

    A letter is the small one with Ctrl, and otherwise the one that is written.

    Raises:
        LocalProtocolError: ``unknown_key``, if no terminal has a key that is called so.
    """
    rest, modifiers = text.strip(), set()
    if len(rest) > _BINDING_CHARS_MAX:
        raise _unknown_key(f"{rest[:_BINDING_CHARS_MAX]}...")
    if len(rest) == 2 and rest[0] == "^":
        rest = f"ctrl-{rest[1]}"
    while found := _MODIFIER.match(rest):
        modifier = _MODIFIER_SPELLINGS.get(found[1].lower())
        if modifier is None:
            break
        modifiers.add(modifier)
        rest = rest[found.end() :]
    if key := _KEY_SPELLINGS.get(_JOINT.sub("", rest).lower()):
        return key_name(key, modifiers)
    is_character = len(rest) == 1 and rest.isprintable() and is_text(rest)
    if not is_character or ("shift" in modifiers and not _is_letter(rest)):
        # What Shift makes of a digit depends on the keyboard: the character itself is the name.
        raise _unknown_key(text.strip())
    return key_name(rest, modifiers)


def _is_letter(character: str) -> bool:
    return lower_case(character) != upper_case(character)


def describe_key(name: str) -> str:
    """Return a canonical name as people read it, ``Ctrl-F`` or ``Shift-PageUp``."""
    key, modifiers = split_name(name)
    if len(key) > 1:
        key = "".join(part.capitalize() for part in key.split("-"))
    elif "ctrl" in modifiers:
        key = upper_case(key)
    return "".join(f"{one.capitalize()}-" for one in MODIFIERS if one in modifiers) + key


class Bindings:
    """A table of actions and their keys; it never changes.

    Args:
        defaults: For each action there is, the keys that do it unless somebody says otherwise.
        overrides: For some of them, the keys instead; none switches the action off.

    Raises:
        LocalProtocolError: ``unknown_key``, ``unknown_action``, or ``key_bound_twice``; the
            pointer says at which of the overrides.
    """

    def __init__(
        self, defaults: Mapping[str, KeyList], overrides: Mapping[str, KeyList] | None = None
    ) -> None:
        overrides = overrides or {}
        for action in overrides:
            if action not in defaults:
                raise _unknown_action(action, defaults)
        self._keys: dict[str, tuple[str, ...]] = {}
        self._actions: dict[str, str] = {}
        for action, keys in {**defaults, **overrides}.items():
            names = tuple(dict.fromkeys(_read_at(action, text) for text in _split(keys)))
            for name in names:
                if other := self._actions.get(name):
                    raise _bound_twice(name, other, action)
                self._actions[name] = action
            self._keys[action] = names

    @property
    def actions(self) -> tuple[str, ...]:
        """Every action, in the order of the defaults."""
        return tuple(self._keys)

    def lookup(self, name: str) -> str | None:
        """Return what the key of this canonical name does; None if nothing."""
        return self._actions.get(name)

    def keys_of(self, action: str) -> tuple[str, ...]:
        """Return the canonical names of the keys of ``action``."""
        return self._keys[action]

    def describe(self, action: str) -> str:
        """Return the first key of ``action`` for people; empty if it has none."""
        names = self._keys[action]
        return describe_key(names[0]) if names else ""


def _split(keys: KeyList) -> list[str]:
    return keys.split() if isinstance(keys, str) else list(keys)


def _read_at(action: str, text: str) -> str:
    try:
        return read_binding(text)
    except LocalProtocolError as error:
        raise LocalProtocolError(error.code, error.detail, pointer=f"/{action}") from None


def _unknown_key(text: str) -> LocalProtocolError:
    near = get_close_matches(text.lower(), KEY_NAMES, n=1)
    hint = f"; do you mean {near[0]}?" if near else ""
    return LocalProtocolError("unknown_key", f"{text!r} is no key{hint}")


def _unknown_action(action: str, known: Iterable[str]) -> LocalProtocolError:
    near = get_close_matches(action, list(known), n=1, cutoff=0.0)
    hint = f"; the nearest is {near[0]}" if near else ""
    return LocalProtocolError("unknown_action", f"{action!r} is no action{hint}")


def _bound_twice(name: str, one: str, other: str) -> LocalProtocolError:
    return LocalProtocolError(
        "key_bound_twice",
        f"{describe_key(name)} would do both {one} and {other}",
        pointer=f"/{other}",
    )
