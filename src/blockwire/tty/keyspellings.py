"""How terminals spell their keys: tables, and nothing else.

Spec: docs/spec/host/input.md, "Spellings". xterm and its many likes, VT220, rxvt, the Linux console,
and the kitty protocol with xterm's ``modifyOtherKeys``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.tty.keys import KEY_NAMES, MODIFIERS, STATE_KEYS

__all__ = [
    "ALT_SPELLINGS",
    "CODE_KEYS",
    "CODE_STATES",
    "FINAL_KEYS",
    "KEYPAD_KEYS",
    "KEYPAD_SPELLINGS",
    "LINUX_KEYS",
    "MODIFIER_BITS",
    "NUMBER_KEYS",
    "RXVT_ARROWS",
    "RXVT_ENDINGS",
]

MODIFIER_BITS: Final[Mapping[str, int]] = MappingProxyType(
    {"shift": 1, "alt": 2, "ctrl": 4, "super": 8, "hyper": 16, "meta": 32}
)
"""In a parameter that is one more than their sum; 64 and 128 are locks, which are ignored."""

FINAL_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"A": "up", "B": "down", "C": "right", "D": "left", "E": "begin", "F": "end", "H": "home"}
    | {"P": "f1", "Q": "f2", "R": "f3", "S": "f4", "Z": "tab"}
)
"""``CSI A``, ``CSI 1 ; modifiers A``, ``SS3 A``. Z is Tab with Shift."""

NUMBER_KEYS: Final[Mapping[int, str]] = MappingProxyType(
    {1: "home", 2: "insert", 3: "delete", 4: "end", 5: "page-up", 6: "page-down", 7: "home"}
    | {8: "end", 11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8"}
    | {20: "f9", 21: "f10", 23: "f11", 24: "f12", 25: "f13", 26: "f14", 28: "f15", 29: "menu"}
    | {31: "f17", 32: "f18", 33: "f19", 34: "f20"}
)
"""``CSI 3 ~``, ``CSI 3 ; modifiers ~``."""

LINUX_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"A": "f1", "B": "f2", "C": "f3", "D": "f4", "E": "f5"}
)
"""``CSI [ A``."""

ALT_SPELLINGS: Final[Mapping[bytes, tuple[str, str]]] = MappingProxyType(
    {b"\x1b\t": ("shift", "tab")}
)
"""What looks like Alt with a character, and is not: so the Linux console spells Shift-Tab."""

RXVT_ARROWS: Final[Mapping[str, str]] = MappingProxyType(
    {"a": "up", "b": "down", "c": "right", "d": "left"}
)
"""``CSI a`` with Shift, ``SS3 a`` with Ctrl."""

RXVT_ENDINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"$": ("shift",), "^": ("ctrl",), "@": ("ctrl", "shift")}
)
"""In the place of ``~`` behind a number of :data:`NUMBER_KEYS`."""

KEYPAD_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"j": "*", "k": "+", "l": ",", "m": "-", "n": ".", "o": "/", "X": "=", " ": "space"}
    | {chr(ord("p") + digit): str(digit) for digit in range(10)}
    | {"M": "enter", "I": "tab"}
)
"""``SS3 p``, from a keypad in application mode."""

_FIRST_CODE: Final = 57344
_KITTY_ORDER: Final = (
    *KEY_NAMES[: KEY_NAMES.index("f35") + 1],
    *"0123456789", ".", "/", "*", "-", "+", "enter", "=", ",",
    "left", "right", "up", "down", "page-up", "page-down", "home", "end", "insert", "delete",
    "begin", *KEY_NAMES[KEY_NAMES.index("media-play") :], *STATE_KEYS,
)  # fmt: skip
_KITTY: Final = dict(enumerate(_KITTY_ORDER, _FIRST_CODE))

CODE_KEYS: Final[Mapping[int, str]] = MappingProxyType(
    {8: "backspace", 9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace"}
    | {code: name for code, name in _KITTY.items() if name not in STATE_KEYS}
)
"""``CSI code ; modifiers u``, for what is no character."""

CODE_STATES: Final = frozenset(code for code, name in _KITTY.items() if name in STATE_KEYS)

_KITTY_KEYPAD: Final = range(57399, 57417)
_FINAL_OF_KEYPAD: Final = {name: final for final, name in KEYPAD_KEYS.items()}

KEYPAD_SPELLINGS: Final[Mapping[bytes, bytes]] = MappingProxyType(
    {f"\x1bO{final}".encode(): f"\x1bO{final}".encode() for final in KEYPAD_KEYS}
    | {
        f"\x1b[{code}u".encode(): f"\x1bO{_FINAL_OF_KEYPAD[_KITTY[code]]}".encode()
        for code in _KITTY_KEYPAD
    }
)
"""What came from a keypad, and how a keypad in application mode spells it."""

assert _KITTY[57398] == "f35", "the order is that of the kitty protocol"
assert _KITTY[57416] == ",", "the order is that of the kitty protocol"
assert _KITTY[57454] == "level5-shift", "the order is that of the kitty protocol"
assert MODIFIER_BITS.keys() == set(MODIFIERS), "one bit each"
