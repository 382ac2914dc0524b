"""What keys are called: one name for a key, however a terminal spells it.

Spec: docs/spec/host/input.md, "Names". A name is modifiers in the order of :data:`MODIFIERS` and a
key, joined by hyphens; the key is a name of :data:`KEY_NAMES` or the character that it types.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from blockwire.tty.inputevents import Key

__all__ = [
    "CONTROL_BYTES",
    "KEY_NAMES",
    "MODIFIERS",
    "STATE_KEYS",
    "TEXT_KEY",
    "KeyParts",
    "byte_key",
    "is_text",
    "key_name",
    "lower_case",
    "make_key",
    "split_name",
    "upper_case",
]

MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")

KEY_NAMES: Final = (
    "escape", "enter", "tab", "backspace", "insert", "delete", "left", "right", "up", "down",
    "page-up", "page-down", "home", "end", "caps-lock", "scroll-lock", "num-lock", "print-screen",
    "pause", "menu", *(f"f{number}" for number in range(1, 36)), "begin", "space",
    "media-play", "media-pause", "media-play-pause", "media-reverse", "media-stop",
    "media-fast-forward", "media-rewind", "media-track-next", "media-track-previous",
    "media-record", "lower-volume", "raise-volume", "mute",
)  # fmt: skip

STATE_KEYS: Final = (
    "left-shift", "left-ctrl", "left-alt", "left-super", "left-hyper", "left-meta",
    "right-shift", "right-ctrl", "right-alt", "right-super", "right-hyper", "right-meta",
    "level3-shift", "level5-shift",
)  # fmt: skip
"""Keys that nobody types with; some terminals tell when they are pressed."""

TEXT_KEY: Final = "text"
"""What an input method types at once: no key of the keyboard, and with no modifiers."""

CONTROL_BYTES: Final[Mapping[str, int]] = MappingProxyType(
    {chr(code).lower(): code & 0x1F for code in range(ord("@"), ord("_") + 1)}
    | {"space": 0x00, "2": 0x00, "3": 0x1B, "4": 0x1C, "5": 0x1D, "6": 0x1E, "7": 0x1F}
    | {"~": 0x1E, "/": 0x1F, "8": 0x7F, "?": 0x7F}
)
"""What Ctrl makes of a character on a plain terminal; with any other it changes nothing."""

_NO_MODIFIERS: Final[frozenset[str]] = frozenset()
_CTRL: Final = frozenset({"ctrl"})
_TYPING: Final[tuple[frozenset[str], ...]] = (_NO_MODIFIERS, frozenset({"shift"}))

_BYTES_OF_KEYS: Final = {0x09: "tab", 0x0D: "enter", 0x1B: "escape", 0x7F: "backspace"}
# What Ctrl-@ and the like are called: after the key that says it best.
_PARTS_OF_BYTES: Final[Mapping[int, tuple[str, frozenset[str]]]] = MappingProxyType(
    {code & 0x1F: (chr(code).lower(), _CTRL) for code in range(ord("A"), ord("_") + 1)}
    | {0x00: ("space", _CTRL)}
    | {byte: (name, _NO_MODIFIERS) for byte, name in _BYTES_OF_KEYS.items()}
)


class KeyParts(NamedTuple):
    """A name, taken apart."""

    key: str
    modifiers: frozenset[str]


def key_name(key: str, modifiers: Collection[str] = ()) -> str:
    """Return the canonical name of ``key`` with ``modifiers``.

    Shift is part of the character that it makes, but for a letter with Ctrl; and Ctrl with a
    character that a plain terminal cannot tell from another key is that key: so a name means the
    same in every terminal.

    Args:
        key: A name, or one character.
        modifiers: Of :data:`MODIFIERS`.
    """
    held = set(modifiers)
    if len(key) == 1:
        key = _fold_character(key, held)
    return "".join(f"{name}-" for name in MODIFIERS if name in held) + key


def _fold_character(character: str, held: set[str]) -> str:
    """Return what ``character`` is called; takes from ``held`` what is part of it then."""
    if character == " ":
        return "space"
    lower = lower_case(character)
    if {"ctrl", "shift"} <= held and lower != upper_case(character):
        return lower
    if "shift" in held:
        held.remove("shift")
        character = upper_case(character)
    if "ctrl" not in held:
        return character
    byte = CONTROL_BYTES.get(lower)
    if byte is None:
        return lower
    key, modifiers = _PARTS_OF_BYTES[byte]
    held -= _CTRL - modifiers
    return key


def split_name(name: str) -> KeyParts:
    """Return the key and the modifiers of a canonical name."""
    modifiers = set()
    while (parts := name.partition("-"))[0] in MODIFIERS and parts[2]:
        modifiers.add(parts[0])
        name = parts[2]
    return KeyParts(name, frozenset(modifiers))


def lower_case(character: str) -> str:
    """Return the small letter of a capital, if the two are a pair of single characters."""
    lower = character.lower()
    return lower if len(lower) == 1 and lower.upper() == character else character


def upper_case(character: str) -> str:
    """Return the capital of a small letter, if the two are a pair of single characters."""
    upper = character.upper()
    return upper if len(upper) == 1 and upper.lower() == character else character


def is_text(character: str) -> bool:
    """Whether a character can be typed: every one but the controls C0, DEL and C1."""
    return not (character < " " or "\x7f" <= character <= "\x9f")


def make_key(key: str, modifiers: Collection[str], raw: bytes, *, text: str = "") -> Key:
    """Return the key of that name, with what it types: ``text`` if given, else its character."""
    name = key_name(key, modifiers)
    parts = split_name(name)
    if parts.modifiers not in _TYPING:
        return Key(name, "", raw)
    character = " " if parts.key == "space" else parts.key if len(parts.key) == 1 else ""
    return Key(name, text or character, raw)


def byte_key(byte: int, modifiers: Collection[str] = (), *, raw: bytes = b"") -> Key:
    """Return the key that sends the one ``byte``.

    A byte that is no character of UTF-8 types U+FFFD, so that it is seen.
    """
    raw = raw or bytes([byte])
    if byte >= 0x80:
        return Key(f"byte-{byte:02x}", "\ufffd", raw)
    if found := _PARTS_OF_BYTES.get(byte):
        return make_key(found[0], found[1] | set(modifiers), raw)
    return make_key(chr(byte), modifiers, raw)
