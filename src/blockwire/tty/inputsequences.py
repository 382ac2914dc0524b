"""One whole control sequence of a terminal, as an event. Which bytes make one is the parser's.

Spec: docs/spec/host/input.md, "Spellings" and "Replies".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from blockwire.tty.inputevents import Focus, InputEvent, Key, Mouse, Reply, ReplyKind
from blockwire.tty.keys import MODIFIERS, TEXT_KEY, is_text, make_key
from blockwire.tty.keyspellings import (
    CODE_KEYS,
    CODE_STATES,
    FINAL_KEYS,
    KEYPAD_KEYS,
    LINUX_KEYS,
    MODIFIER_BITS,
    NUMBER_KEYS,
    RXVT_ARROWS,
    RXVT_ENDINGS,
)
from blockwire.tty.mouse import decode_classic_mouse, decode_sgr_mouse

__all__ = ["decode_sequence"]

_CSI: Final = re.compile(r"([<=>?]?)([0-9;:]*)([ -/]*?)([$@-~])")
_SS3: Final = re.compile(r"([0-9;]*)([ -~])")

_MODIFIERS_MAX: Final = 256
_F3_MODIFIERS: Final = range(2, 17)
"""With others it is a cursor position, even where none is expected."""
_OTHER_KEYS: Final = 27
_RELEASED: Final = 3
_SURROGATES: Final = range(0xD800, 0xE000)
_PRIVATE_CODES: Final = range(57344, 63744)
"""The kitty protocol puts its keys there; one that we do not know is not a character."""

_REPLIES: Final[Mapping[str, ReplyKind]] = MappingProxyType(
    {
        "?c": "da1", "c": "da1", ">c": "da2", "n": "dsr", "?n": "dsr", "R": "cpr", "?R": "cpr",
        "$y": "decrqm", "?$y": "decrqm", "t": "window-size", "?u": "kitty-flags",
    }
)  # fmt: skip
_STRINGS: Final[Mapping[str, ReplyKind]] = MappingProxyType({"]": "osc", "P": "dcs", "_": "apc"})


class _Sequence(NamedTuple):
    """A CSI sequence, taken apart; ``fields`` as text, with their subfields."""

    raw: bytes
    parameters: str
    final: str

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.parameters.split(";")) if self.parameters else ()

    @property
    def numbers(self) -> list[list[int]]:
        """Fields and their subfields, at least one; an empty one is 0."""
        return [
            [int(text or 0) for text in field.split(":")] for field in self.parameters.split(";")
        ]


_Read = Callable[[_Sequence], InputEvent | None]


def decode_sequence(raw: bytes, *, is_position_expected: bool = False) -> InputEvent:
    """Return what ``raw``, one whole sequence, says; an unknown one is a reply of that kind.

    Args:
        raw: CSI, SS3, OSC, DCS or APC, with its end.
        is_position_expected: Whether ``CSI 1 ; 2 R`` is a cursor position, and not Shift-F3.
    """
    introducer, body = chr(raw[1]), raw[2:].decode("latin-1")
    if introducer == "[":
        return _csi(raw, body, is_position_expected=is_position_expected)
    if introducer == "O":
        return _ss3(raw, body) or _unknown(raw)
    content = raw[2:].removesuffix(b"\x07").removesuffix(b"\x1b\\").decode("utf-8", "replace")
    return Reply(_STRINGS[introducer], raw, tuple(content.split(";")))


def _unknown(raw: bytes) -> Reply:
    return Reply("unknown", raw, ())


def _csi(raw: bytes, body: str, *, is_position_expected: bool) -> InputEvent:
    if body[0] == "M" and len(body) > 1:
        code, column, row = raw[3:]
        return decode_classic_mouse(code, column - 32, row - 32, raw=raw) or _unknown(raw)
    if body[0] == "[":
        return make_key(LINUX_KEYS[body[1]], (), raw)
    parts = _CSI.fullmatch(body)
    if parts is None:
        return _unknown(raw)
    private, parameters, intermediates, final = parts.groups()
    form = private + intermediates + final
    sequence = _Sequence(raw, parameters, final)
    read = None if is_position_expected and form == "R" else _READERS.get(form)
    if read and (event := read(sequence)):
        return event
    if kind := _REPLIES.get(form):
        return Reply(kind, raw, sequence.fields)
    return _unknown(raw)


def _ss3(raw: bytes, body: str) -> Key | None:
    parts = _SS3.fullmatch(body)
    assert parts is not None, "the parser has found one"
    parameters, final = parts.groups()
    if name := RXVT_ARROWS.get(final):
        return make_key(name, ("ctrl",), raw)
    names = FINAL_KEYS.get(final) or KEYPAD_KEYS.get(final)
    modifiers = _modifiers(_Sequence(raw, parameters, final).numbers[-1][0])
    return None if names is None or modifiers is None else make_key(names, modifiers, raw)


def _modifiers(parameter: int) -> tuple[str, ...] | None:
    """Return the modifiers that a parameter holds; none of them is said by 0, too."""
    if parameter > _MODIFIERS_MAX:
        return None
    bits = max(parameter - 1, 0)
    return tuple(name for name in MODIFIERS if bits & MODIFIER_BITS[name])


def _key(
    name: str, sequence: _Sequence, field: list[int], *, also: tuple[str, ...] = (), text: str = ""
) -> InputEvent | None:
    """Return the key of that name; ``field`` holds its modifiers, and what happened to it."""
    modifiers = _modifiers(field[0])
    if modifiers is None:
        return None
    if len(field) > 1 and field[1] == _RELEASED:
        return Reply("key-state", sequence.raw, sequence.fields)
    return make_key(name, modifiers + also, sequence.raw, text=text)


def _final_key(sequence: _Sequence) -> InputEvent | None:
    numbers = sequence.numbers
    if len(numbers) > 2:
        return None
    if len(numbers) == 2 and numbers[0] != [1]:
        return None
    if sequence.final == "R" and len(numbers) == 2 and numbers[1][0] not in _F3_MODIFIERS:
        return None
    also = ("shift",) if sequence.final == "Z" else ()
    return _key(FINAL_KEYS[sequence.final], sequence, numbers[-1], also=also)


def _number_key(sequence: _Sequence) -> InputEvent | None:
    numbers = sequence.numbers
    if numbers[0] == [_OTHER_KEYS] and len(numbers) == 3:
        # The code is that of the character that was made, with Shift if that was held.
        return _code_key(sequence, [numbers[2][0]], numbers[1], "")
    if len(numbers) > 2 or (name := NUMBER_KEYS.get(numbers[0][0])) is None:
        return None
    also = RXVT_ENDINGS.get(sequence.final, ())
    return _key(name, sequence, numbers[1] if len(numbers) > 1 else [1], also=also)


def _kitty_key(sequence: _Sequence) -> InputEvent | None:
    numbers = sequence.numbers
    if len(numbers) > 3:
        return None
    codes, field, text = numbers[0], [1], ""
    if len(numbers) > 1:
        field = numbers[1]
    if len(numbers) > 2:
        if not all(map(_is_scalar, numbers[2])):
            return None
        text = "".join(filter(is_text, map(chr, numbers[2])))
    return _code_key(sequence, codes, field, text)


def _code_key(
    sequence: _Sequence, codes: list[int], field: list[int], text: str
) -> InputEvent | None:
    """Return the key of a code, of what Shift makes of it, and of its place on a Latin keyboard."""
    if codes[0] in CODE_STATES:
        return Reply("key-state", sequence.raw, sequence.fields)
    if len(text) > 1 or (text and not codes[0]):
        # An input method types, and no key.
        return make_key(text if len(text) == 1 else TEXT_KEY, (), sequence.raw, text=text)
    modifiers = _modifiers(field[0])
    if modifiers is None:
        return None
    code = codes[0]
    if name := CODE_KEYS.get(code):
        return _key(name, sequence, field)
    if len(codes) > 2 and codes[2] and {"ctrl", "alt"} & set(modifiers):
        # Ctrl-C is where C is on a Latin keyboard, in whatever script one writes.
        code = codes[2]
    elif len(codes) > 1 and codes[1] and "shift" in modifiers:
        code = codes[1]
    if not _is_scalar(code) or code in _PRIVATE_CODES or not is_text(chr(code)):
        return None
    return _key(chr(code), sequence, field, text=text)


def _is_scalar(code: int) -> bool:
    return code <= 0x10FFFF and code not in _SURROGATES


def _rxvt_arrow(sequence: _Sequence) -> Key | None:
    if sequence.parameters:
        return None
    return make_key(RXVT_ARROWS[sequence.final], ("shift",), sequence.raw)


def _sgr_mouse(sequence: _Sequence) -> Mouse | None:
    match sequence.numbers:
        case [[code], [column], [row]]:
            return decode_sgr_mouse(
                code, column, row, is_release=sequence.final == "m", raw=sequence.raw
            )
    return None


def _rxvt_mouse(sequence: _Sequence) -> Mouse | None:
    match sequence.numbers:
        case [[code], [column], [row]]:
            return decode_classic_mouse(code, column, row, raw=sequence.raw)
    return None


def _focus(sequence: _Sequence) -> Focus | None:
    return None if sequence.parameters else Focus(is_in=sequence.final == "I")


_READERS: Final[Mapping[str, _Read]] = MappingProxyType(
    dict.fromkeys(FINAL_KEYS, _final_key)
    | dict.fromkeys(("~", *RXVT_ENDINGS), _number_key)
    | dict.fromkeys(RXVT_ARROWS, _rxvt_arrow)
    | {"u": _kitty_key, "<M": _sgr_mouse, "<m": _sgr_mouse, "M": _rxvt_mouse}
    | {"I": _focus, "O": _focus}
)
"""By private mark, intermediates and final byte; who returns None leaves it to the replies."""
