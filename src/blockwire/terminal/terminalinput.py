"""What comes in on a terminal, parted: messages for us, DA1 answers that we asked for, the rest.

Spec: docs/spec/terminal/application.md, "Input". Frames are the business of the decoder. What it
calls ordinary is what somebody types, and now and then the answer to our own request for primary
device attributes, which looks like a key that nobody has: ``ESC [ ? digits ; ... c``.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from msgspec import Struct

from blockwire.terminal.bounds import INPUT_HOLD_S
from blockwire.terminal.decoder import FrameDecoder
from blockwire.terminal.framing import FrameEvent, Ordinary, Payload

__all__ = ["DA1_BYTES_MAX", "DA1_REQUEST", "DeviceAnswer", "InputPart", "InputSeparator", "Typed"]

DA1_REQUEST: Final = b"\x1b[c"
DA1_BYTES_MAX: Final = 128
"""A longer one is none: real ones have a dozen parameters of two digits."""

_MARK: Final = re.compile(rb"\x1b\[(?:\?[0-9;:]*c|(?P<paste>20[01])~)")
# No lone ESC: the decoder has held it already, for as long as it may be held.
_PART: Final = re.compile(rb"\x1b\[(?:\?[0-9;:]*|2(?:0[01]?)?)?\Z")
_NO_KEY: Final = b"\x1b[?"
_ESC: Final = b"\x1b"


class Typed(Struct, frozen=True):
    """Bytes that are for the program."""

    data: bytes


class DeviceAnswer(Struct, frozen=True):
    """An answer to our own request for device attributes, taken out of the input."""

    data: bytes


InputPart: TypeAlias = Typed | DeviceAnswer | Payload


class InputSeparator:
    """Reads what a terminal sends, at any split, and keeps the order of everything.

    Every byte is given out once: as part of a frame, of an answer, or as typed. Frames that are
    broken are nobody's. Retains what the decoder does, and :data:`DA1_BYTES_MAX` bytes.
    """

    def __init__(self) -> None:
        self._decoder = FrameDecoder(is_input=True)
        self._expected_count = 0
        self._held = b""
        self._held_since_s = 0.0
        self._given_count = 0
        self._is_pasting = False
        self._is_wait_extended = False
        self._is_flush_owed = False
        self._is_esc_given = False
        self._is_esc_repeated = False
        self._repeated_count = 0

    @property
    def expected_count(self) -> int:
        """How many answers were asked for that have not come yet."""
        return self._expected_count

    @property
    def retained_bytes(self) -> int:
        """What is kept between two calls."""
        return self._decoder.retained_bytes + len(self._held)

    @property
    def next_flush_at_s(self) -> float | None:
        """When :meth:`flush` releases something; None if nothing, or not before replies are in."""
        due_s = self._decoder.next_flush_at_s
        if not self._is_holding_a_key or self._is_wait_extended:
            return due_s
        own_s = self._held_since_s + INPUT_HOLD_S
        return own_s if due_s is None else min(own_s, due_s)

    @property
    def _is_holding_a_key(self) -> bool:
        # ESC [ is Alt and a bracket; ESC [ ? is on no keyboard, and waits for what follows.
        return len(self._held) > self._given_count and not self._held.startswith(_NO_KEY)

    @property
    def is_waiting(self) -> bool:
        """Whether :meth:`flush` has left something alone because of a reply: flush again then."""
        return self._is_flush_owed

    def expect_answer(self) -> None:
        """Take one more answer out of the input, whenever it comes."""
        self._expected_count += 1

    def receive_data(self, data: bytes, now_s: float) -> list[InputPart]:
        """Return the parts that ``data`` completed, in order."""
        if self._is_esc_given and data:
            self._is_esc_given, self._is_esc_repeated = False, True
            self._repeated_count += 1
            data = _ESC + data
        return self._sort(self._decoder.receive_data(data, now_s), now_s)

    def flush(self, now_s: float, *, is_reply_outstanding: bool) -> list[InputPart]:
        """Return what was held for too long, as typed.

        A lone ESC is a key after ``INPUT_HOLD_S``; the beginning of a frame or of an answer waits
        as long as one may come.
        """
        due_s = self._decoder.next_flush_at_s
        events = self._decoder.flush(now_s, is_reply_outstanding=is_reply_outstanding)
        is_left = due_s is not None and not events and self._decoder.next_flush_at_s is None
        parts = self._sort(events, now_s)
        if parts and parts[-1].data.endswith(_ESC):
            # It went out as a key, and was perhaps none: what follows is read with it once more.
            self._is_esc_given = bool(is_reply_outstanding or self._expected_count)
        # As a sum, as it is announced: the difference may be a hair less.
        if self._is_holding_a_key and now_s >= self._held_since_s + INPUT_HOLD_S:
            self._is_wait_extended = is_reply_outstanding
            if is_reply_outstanding:
                is_left = True
            else:
                self._release(parts)
        self._is_flush_owed = is_reply_outstanding and (is_left or self._is_flush_owed)
        return parts

    def end_of_stream(self) -> list[InputPart]:
        """Return the rest."""
        parts = self._sort(self._decoder.end_of_stream(), 0.0)
        self._release(parts)
        return parts

    def _sort(self, events: list[FrameEvent], now_s: float) -> list[InputPart]:
        parts: list[InputPart] = []
        for event in events:
            if isinstance(event, Ordinary):
                if self._is_esc_repeated:
                    self._given_count = 1
                self._is_esc_repeated = False
                self._read(event.data, parts, now_s)
                continue
            # An ESC that was read twice is the first of what comes out, or else part of a frame.
            self._is_esc_repeated = False
            self._release(parts)
            if isinstance(event, Payload):
                start, end = event.offset - self._repeated_count, event.end - self._repeated_count
                parts.append(event._replace(offset=start, end=end))
        return parts

    def _read(self, data: bytes, parts: list[InputPart], now_s: float) -> None:
        if not self._expected_count:
            # A part that is held was held for an answer that is still expected.
            _give(data[self._given_count :], parts)
            self._given_count = 0
            return
        was_held, start = bool(self._held), self._given_count
        data = self._held + data
        self._held, self._given_count = b"", 0
        answer_end = 0
        for mark in _MARK.finditer(data):
            if mark["paste"]:
                self._is_pasting = mark["paste"] == b"200"
            elif self._expected_count and self._is_answer(mark[0]):
                _give(data[start : mark.start()], parts)
                parts.append(DeviceAnswer(mark[0]))
                start = answer_end = mark.end()
                self._expected_count -= 1
        end = len(data)
        if self._expected_count and (
            part := _PART.search(data, max(answer_end, end - DA1_BYTES_MAX))
        ):
            self._held, end = part[0], part.start()
            self._given_count = max(start - end, 0)
            if not (was_held and end == 0):
                self._held_since_s = now_s
                self._is_wait_extended = False
        _give(data[start:end], parts)

    def _is_answer(self, data: bytes) -> bool:
        # What is pasted is what was copied somewhere, whatever it looks like.
        return not self._is_pasting and len(data) <= DA1_BYTES_MAX

    def _release(self, parts: list[InputPart]) -> None:
        _give(self._held[self._given_count :], parts)
        self._held, self._given_count = b"", 0


def _give(data: bytes, parts: list[InputPart]) -> None:
    if not data:
        return
    if parts and isinstance(last := parts[-1], Typed):
        parts[-1] = Typed(last.data + data)
    else:
        parts.append(Typed(data))
