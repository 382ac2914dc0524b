"""Reports of the mouse, both ways: SGR (1006), the classic form of X10 and xterm, and rxvt's (1015).

Spec: docs/spec/host/input.md, "Mouse".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.tty.inputevents import Mouse, MouseKind

__all__ = ["CELL_MAX", "decode_classic_mouse", "decode_sgr_mouse", "encode_mouse"]

CELL_MAX: Final = 65_535
"""Counted from 1. No terminal has as many; what says more is none of the mouse."""

_MODIFIER_BITS: Final[Mapping[str, int]] = MappingProxyType({"shift": 4, "alt": 8, "ctrl": 16})
_MOTION: Final = 32
_CODE_MAX: Final = 255
_LOW: Final = 3
_NO_BUTTON: Final = 3
_OFFSET: Final = 32
"""The classic form adds it, so that no byte is a control."""

# The bits 64 and 128 with the lowest two: wheel, or further buttons.
_WHEEL: Final = 64
_WHEELS: Final[tuple[MouseKind, ...]] = ("wheel-up", "wheel-down", "wheel-left", "wheel-right")
_BUTTONS: Final[Mapping[int, int]] = MappingProxyType(
    {0: 1, 1: 2, 2: 3, 3: 0, 128: 8, 129: 9, 130: 10, 131: 11}
)
_CODES: Final[Mapping[int, int]] = MappingProxyType({one: code for code, one in _BUTTONS.items()})


def decode_sgr_mouse(
    code: int, column: int, row: int, *, is_release: bool, raw: bytes
) -> Mouse | None:
    """Return what an SGR report says; None if it says nothing that can be.

    Args:
        code: Buttons, modifiers and motion.
        column: Counted from 1.
        row: Counted from 1.
        is_release: Whether the final byte is ``m``.
        raw: All of it.
    """
    if not (0 <= code <= _CODE_MAX and 1 <= column <= CELL_MAX and 1 <= row <= CELL_MAX):
        return None
    low = code & ~_MOTION & ~sum(_MODIFIER_BITS.values())
    is_motion = bool(code & _MOTION)
    kind: MouseKind
    if low & _WHEEL:
        if low & ~_WHEEL > _LOW or is_motion or is_release:
            return None
        kind, button = _WHEELS[low & _LOW], 0
    else:
        button = _BUTTONS[low]
        if is_release:
            kind = "release"
        elif is_motion:
            kind = "drag" if button else "move"
        else:
            kind = "press" if button else "release"
    modifiers = frozenset(name for name, bit in _MODIFIER_BITS.items() if code & bit)
    return Mouse(kind, button, column - 1, row - 1, modifiers, raw)


def decode_classic_mouse(code: int, column: int, row: int, *, raw: bytes) -> Mouse | None:
    """Return what ``CSI M`` and three bytes say, or three numbers of rxvt.

    Args:
        code: As it came, with 32 added.
        column: Counted from 1.
        row: Counted from 1.
        raw: All of it.
    """
    return decode_sgr_mouse(code - _OFFSET, column, row, is_release=False, raw=raw)


def encode_mouse(event: Mouse, *, sgr: bool) -> bytes:
    """Return the report of ``event``; nothing if the classic form cannot say it.

    Args:
        event: Whether the program has asked for its kind is for the caller to know.
        sgr: Whether the program has set mode 1006.
    """
    code = sum(bit for name, bit in _MODIFIER_BITS.items() if name in event.modifiers)
    if event.kind in _WHEELS:
        code += _WHEEL + _WHEELS.index(event.kind)
    else:
        code += _button_code(event, sgr=sgr)
    if event.kind in {"drag", "move"}:
        code += _MOTION
    column, row = event.column + 1, event.row + 1
    if sgr:
        return f"\x1b[<{code};{column};{row}{'m' if event.kind == 'release' else 'M'}".encode()
    numbers = [_OFFSET + code, _OFFSET + column, _OFFSET + row]
    return b"\x1b[M" + bytes(numbers) if max(numbers) <= 0xFF else b""


def _button_code(event: Mouse, *, sgr: bool) -> int:
    if event.kind != "release":
        return _CODES[event.button]
    if not sgr:
        return _NO_BUTTON
    # The classic form does not say which was released; the left one is the likeliest.
    return _CODES[event.button or 1]
