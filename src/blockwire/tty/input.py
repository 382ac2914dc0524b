"""What a terminal sends, read at any split: bytes in, :data:`~blockwire.tty.InputEvent` out.

Spec: docs/spec/host/input.md. The grammar of sequences is here, what they say in
:mod:`blockwire.tty.inputsequences`. What is no key and no mouse is never given out as something
typed, whole or broken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from blockwire.tty.inputevents import InputEvent, Key, Pasted, Reply
from blockwire.tty.inputsequences import decode_sequence
from blockwire.tty.keys import TEXT_KEY, byte_key, is_text, make_key, split_name
from blockwire.tty.keyspellings import ALT_SPELLINGS
from blockwire.tty.paste import PASTE_BEGIN, PASTE_END

__all__ = ["CSI_BYTES_MAX", "PASTE_PIECE_BYTES_MAX", "STRING_BYTES_MAX", "InputParser"]

CSI_BYTES_MAX: Final = 256
"""Of a control sequence; real ones have a few dozen."""

STRING_BYTES_MAX: Final = 8192
"""Of an OSC, DCS or APC. A longer one is consumed, and its beginning given out."""

PASTE_PIECE_BYTES_MAX: Final = 65_536

_ESC: Final = b"\x1b"
_HELD: Final = -1
"""In the place of the next offset: more bytes are needed."""

# A string holds no control: so nobody who strikes Alt-] by chance loses Enter or Ctrl-C.
_STRING_BYTES: Final = rb"[\x20-\x7e\x80-\xff]*"
_WHOLE: Final = re.compile(
    rb"\x1b(?:"
    rb"\[(?:\[[A-E]|M[\x20-\xff]{3}|[0-9]{1,2}\$|(?![\[M])[0-?]*[ -/]*[@-~])"
    rb"|O[0-9;]*[ -/:<-~]"
    rb"|[\]P_]" + _STRING_BYTES + rb"(?:\x07|\x1b\\)"
    rb")"
)
_PART: Final = re.compile(
    rb"\x1b(?:"
    rb"\[(?:\[|M[\x20-\xff]{0,2}|[0-?]*[ -/]*)"
    rb"|O[0-9;]*"
    rb"|[\]P_]" + _STRING_BYTES + rb"\x1b?"
    rb")?"
)
_SKIPPED: Final[Mapping[int, re.Pattern[bytes]]] = MappingProxyType(
    dict.fromkeys(b"[O", re.compile(rb"[ -?]*([@-~])?"))
    | dict.fromkeys(b"]P_", re.compile(_STRING_BYTES + rb"(\x07|\x1b\\)?"))
)
"""By introducer, the rest of what is too long, with its end if that is there."""

# What may also be keys that somebody struck: Escape, Alt with a character, and two of them.
_MAYBE_KEYS: Final = re.compile(rb"\x1b{1,2}[\[O]?|\x1b[\]P_]\x1b?")
_MAYBE_KEY: Final = re.compile(rb"\x1b[\[\]OP_]?")
_CHARACTER: Final = re.compile(
    rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
    rb"|[\x80-\xff]"
)
_CHARACTER_PART: Final = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_CHARACTER_BYTES_MAX: Final = 4
_PASTE_END_PART: Final = re.compile(rb"\x1b(?:\[(?:2(?:01?)?)?)?\Z")

_ESCAPE: Final = byte_key(_ESC[0])


class InputParser:
    """Reads what a terminal sends; every byte is in one event, but for the brackets of pastes.

    Between calls it retains at most :data:`STRING_BYTES_MAX` bytes, and one ESC.
    """

    def __init__(self) -> None:
        self._held = b""
        self._is_pasting = False
        self._skipped: re.Pattern[bytes] | None = None
        self._positions_expected = 0

    @property
    def is_holding(self) -> bool:
        """Whether :meth:`flush` would give something out."""
        is_ground = not self._is_pasting and self._skipped is None
        return is_ground and _MAYBE_KEYS.fullmatch(self._held) is not None

    @property
    def retained_bytes(self) -> int:
        """What is kept between two calls."""
        return len(self._held)

    def expect_position(self) -> None:
        """Take the next ``CSI row ; column R`` for a cursor position.

        In row 1 it is spelled as F3 with a modifier is, and taken for that unless somebody asked.
        """
        self._positions_expected += 1

    def receive_data(self, data: bytes) -> list[InputEvent]:
        """Return the events that ``data`` completed, in order, in time linear in its length."""
        data = self._held + data
        self._held = b""
        events: list[InputEvent] = []
        at = 0
        while at < len(data):
            end = self._read(data, at, events)
            if end == _HELD:
                self._held = data[at:]
                break
            at = end
        return events

    def flush(self, *, is_reply_outstanding: bool = False) -> list[InputEvent]:
        """Return as keys what was held and may be keys; call it 50 ms after the last byte.

        Args:
            is_reply_outstanding: Whether an answer of the terminal may have begun; then only ESC
                is given out.
        """
        if not self.is_holding or (is_reply_outstanding and self._held.strip(_ESC)):
            return []
        held, self._held = self._held, b""
        return _keys_of(held)

    def _read(self, data: bytes, at: int, events: list[InputEvent]) -> int:
        """Read what begins at ``at``; return the offset behind it."""
        if self._is_pasting:
            return self._read_paste(data, at, events)
        if self._skipped is not None:
            return self._skip(self._skipped, data, at)
        if data.startswith(_ESC, at):
            return self._read_escape(data, at, events)
        return _read_characters(data, at, events)

    def _read_paste(self, data: bytes, at: int, events: list[InputEvent]) -> int:
        stop = end = data.find(PASTE_END, at)
        if end < 0:
            part = _PASTE_END_PART.search(data, max(at, len(data) - len(PASTE_END)))
            stop = part.start() if part else len(data)
            if stop == at:
                return _HELD
        # One empty piece, if the end is all that is left.
        for first in range(at, stop, PASTE_PIECE_BYTES_MAX) or (at,):
            behind = min(first + PASTE_PIECE_BYTES_MAX, stop)
            events.append(Pasted(data[first:behind], is_last=behind == end))
        if end < 0:
            return stop
        self._is_pasting = False
        return end + len(PASTE_END)

    def _skip(self, skipped: re.Pattern[bytes], data: bytes, at: int) -> int:
        rest = skipped.match(data, at)
        assert rest is not None, "it matches nothing, too"
        if rest.end() == len(data) and not rest[1]:
            return rest.end()
        if data[rest.end() :] == _ESC and not rest[1]:
            return _HELD if rest.end() == at else rest.end()
        self._skipped = None
        return rest.end()

    def _read_escape(self, data: bytes, at: int, events: list[InputEvent]) -> int:
        if not data.startswith(_ESC * 2, at):
            return self._read_sequence(data, at, events, is_after_escape=False)
        after = data[at + 2 : at + 3]
        if not after:
            return _HELD
        if after in b"[O":
            # rxvt, and others that spell Alt as an ESC in front of the whole.
            return self._read_sequence(data, at + 1, events, is_after_escape=True)
        events.append(_ESCAPE)
        return at + 1

    def _read_sequence(
        self, data: bytes, at: int, events: list[InputEvent], *, is_after_escape: bool
    ) -> int:
        whole, part = _WHOLE.match(data, at), _PART.match(data, at)
        assert part is not None, "an ESC is one"
        end = whole.end() if whole else part.end()
        bound = CSI_BYTES_MAX if data[at + 1 : at + 2] in b"[O" else STRING_BYTES_MAX
        is_short = end - at <= bound
        if whole and is_short:
            self._finish(whole[0], events, is_after_escape=is_after_escape)
            return end
        if end == len(data) and is_short:
            return _HELD
        events += [_ESCAPE] * is_after_escape
        if not is_short:
            return self._cut(data, at, at + bound, events)
        if end == at + 1:
            return _read_alt(data, at, events)
        return _give_broken(data, at, end, events)

    def _cut(self, data: bytes, start: int, end: int, events: list[InputEvent]) -> int:
        """Give out the beginning of what is too long, and skip the rest."""
        # An ESC may be half of the end.
        end -= data[end - 1 : end] == _ESC
        self._skipped = _SKIPPED[data[start + 1]]
        events.append(Reply("oversized", data[start:end], ()))
        return end

    def _finish(self, raw: bytes, events: list[InputEvent], *, is_after_escape: bool) -> None:
        if raw == PASTE_BEGIN:
            self._is_pasting = True
            events += [_ESCAPE] * is_after_escape
            return
        is_expected = self._positions_expected > 0
        event = decode_sequence(raw, is_position_expected=is_expected)
        if is_after_escape and isinstance(event, Key) and event.name != TEXT_KEY:
            name, modifiers = split_name(event.name)
            events.append(make_key(name, modifiers | {"alt"}, _ESC + raw))
            return
        events += [_ESCAPE] * is_after_escape
        events.append(event)
        if is_expected and isinstance(event, Reply) and event.kind == "cpr":
            self._positions_expected -= 1


def _read_characters(data: bytes, at: int, events: list[InputEvent]) -> int:
    """Read up to the next ESC, or to a character that is not whole yet."""
    end = data.find(_ESC, at)
    if end < 0:
        end = len(data)
        part = _CHARACTER_PART.search(data, max(at, end - _CHARACTER_BYTES_MAX + 1))
        if part:
            end = part.start()
            if end == at:
                return _HELD
    events += [_character_key(found[0]) for found in _CHARACTER.finditer(data, at, end)]
    return end


def _read_alt(data: bytes, at: int, events: list[InputEvent]) -> int:
    """Read ESC and a character, which is the character with Alt."""
    if _CHARACTER_PART.match(data, at + 1):
        return _HELD
    found = _CHARACTER.match(data, at + 1)
    assert found is not None, "every byte is in one"
    key = _character_key(found[0])
    if key.text == "\ufffd" or key.name.startswith("control-"):
        events.append(_ESCAPE)
        return at + 1
    raw = _ESC + key.raw
    if spelled := ALT_SPELLINGS.get(raw):
        modifier, name = spelled
        events.append(make_key(name, (modifier,), raw))
    else:
        name, modifiers = split_name(key.name)
        events.append(make_key(name, modifiers | {"alt"}, raw))
    return found.end()


def _give_broken(data: bytes, start: int, end: int, events: list[InputEvent]) -> int:
    """Give out a sequence that something else has ended."""
    end -= data[end - 1 : end] == _ESC
    raw = data[start:end]
    if _MAYBE_KEYS.fullmatch(raw):
        events += _keys_of(raw)
    else:
        events.append(Reply("unknown", raw, ()))
    return end


def _keys_of(held: bytes) -> list[InputEvent]:
    keys: list[InputEvent] = []
    for found in _MAYBE_KEY.finditer(held):
        if len(found[0]) == 1:
            keys.append(_ESCAPE)
        else:
            keys.append(make_key(chr(found[0][1]), ("alt",), found[0]))
    return keys


@lru_cache(maxsize=4096)
def _character_key(raw: bytes) -> Key:
    """Return the key of one character, or of one byte that is none."""
    if len(raw) == 1:
        return byte_key(raw[0])
    character = raw.decode()
    if not is_text(character):
        return Key(f"control-{ord(character):02x}", "", raw)
    return make_key(character, (), raw)
