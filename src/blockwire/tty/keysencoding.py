"""Keys as a program on a plain ``xterm-256color`` is sent them, from whatever terminal they came.

Spec: docs/spec/host/input.md, "For the program".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.tty.inputevents import Key
from blockwire.tty.keys import CONTROL_BYTES, KEY_NAMES, TEXT_KEY, split_name
from blockwire.tty.keyspellings import KEYPAD_SPELLINGS, MODIFIER_BITS

__all__ = ["encode_key"]

_CURSOR_FINALS: Final[Mapping[str, str]] = MappingProxyType(
    {"up": "A", "down": "B", "right": "C", "left": "D", "begin": "E", "end": "F", "home": "H"}
)
_FUNCTION_FINALS: Final[Mapping[str, str]] = MappingProxyType(
    {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
)
_NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {"insert": 2, "delete": 3, "page-up": 5, "page-down": 6, "f5": 15, "f6": 17, "f7": 18}
    | {"f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24, "f13": 25, "f14": 26, "f15": 28}
    | {"f16": 29, "menu": 29, "f17": 31, "f18": 32, "f19": 33, "f20": 34}
)
_BYTES: Final[Mapping[str, bytes]] = MappingProxyType(
    {"enter": b"\r", "tab": b"\t", "backspace": b"\x7f", "escape": b"\x1b", "space": b" "}
)
# Beside a longer sequence, Alt is an ESC in front.
_BYTES_WITH: Final[Mapping[tuple[str, str], bytes]] = MappingProxyType(
    {("shift", "tab"): b"\x1b[Z", ("ctrl", "space"): b"\0", ("ctrl", "backspace"): b"\x08"}
)
_SAID: Final = ("shift", "alt", "ctrl")


def encode_key(key: Key, *, application_cursor: bool, application_keypad: bool) -> bytes:
    """Return what a plain xterm sends for ``key``; nothing if it has no such key.

    Modifiers that it cannot say are left out; what has no known name goes out as it came.

    Args:
        key: As the parser gave it out.
        application_cursor: Whether the program has set DECCKM.
        application_keypad: Whether the program has set DECKPAM.
    """
    if application_keypad and key.raw in KEYPAD_SPELLINGS:
        return KEYPAD_SPELLINGS[key.raw]
    name, modifiers = split_name(key.name)
    if (sequence := _sequence(name, modifiers, application_cursor=application_cursor)) is not None:
        return sequence
    if name in _BYTES or len(name) == 1:
        escape = b"\x1b" if "alt" in modifiers else b""
        return escape + _character(name, modifiers)
    if name == TEXT_KEY:
        return key.text.encode()
    return b"" if name in KEY_NAMES else key.raw


def _sequence(name: str, modifiers: frozenset[str], *, application_cursor: bool) -> bytes | None:
    """Return what begins with CSI or SS3."""
    parameter = 1 + sum(MODIFIER_BITS[one] for one in _SAID if one in modifiers)
    if final := _CURSOR_FINALS.get(name):
        return _letter(final, parameter, is_short=application_cursor)
    if final := _FUNCTION_FINALS.get(name):
        return _letter(final, parameter, is_short=True)
    if number := _NUMBERS.get(name):
        return f"\x1b[{number};{parameter}~".replace(";1~", "~").encode()
    return None


def _letter(final: str, parameter: int, *, is_short: bool) -> bytes:
    if parameter > 1:
        return f"\x1b[1;{parameter}{final}".encode()
    return f"\x1bO{final}".encode() if is_short else f"\x1b[{final}".encode()


def _character(name: str, modifiers: frozenset[str]) -> bytes:
    for modifier in ("ctrl", "shift"):
        if modifier in modifiers and (found := _BYTES_WITH.get((modifier, name))):
            return found
    if "ctrl" in modifiers and name in CONTROL_BYTES:
        return bytes([CONTROL_BYTES[name]])
    return _BYTES.get(name) or name.encode()
