"""From bytes to messages: frames in the middle of everything else that a terminal carries.

Spec: docs/spec/terminal/framing.md. Below is the :mod:`~blockwire.terminal.scanner`, which finds
frames; above are messages, still as bytes of JSON.
"""

from __future__ import annotations

from typing import Final

from blockwire.terminal.assembly import Assembly
from blockwire.terminal.bounds import (
    FRAGMENT_BYTES,
    INDEX_MAX,
    INPUT_HOLD_S,
    OSC_CONTENT_BYTES_MAX,
)
from blockwire.terminal.framing import Fragment, FrameEvent
from blockwire.terminal.scanner import FrameScanner, ScanToken
from blockwire.terminal.scantable import ESC, INTRODUCER

__all__ = ["RETAINED_BYTES_MAX", "FrameDecoder"]

RETAINED_BYTES_MAX: Final = INDEX_MAX * FRAGMENT_BYTES + OSC_CONTENT_BYTES_MAX + len(INTRODUCER)
"""What one decoder keeps at most: an assembly, one frame, and what may begin another."""


class FrameDecoder:
    """Separates one direction of a connection into messages and everything else.

    Everything else comes out byte for byte and in order. No bytes make it raise, and it keeps at
    most :data:`RETAINED_BYTES_MAX` of them. The same bytes give the same events however they are
    cut, but for the pieces that ordinary bytes come in.

    Args:
        is_input: Whether people type into this direction: what may begin a frame is held for
            ``INPUT_HOLD_S`` at most, see :meth:`flush`. The other direction waits without end.
    """

    __slots__ = ("_assembly", "_held_offset", "_held_since_s", "_is_input", "_is_wait_extended",
                 "_scanner")  # fmt: skip

    def __init__(self, *, is_input: bool = False) -> None:
        self._scanner = FrameScanner()
        self._assembly = Assembly()
        self._is_input = is_input
        self._held_offset = -1
        self._held_since_s = 0.0
        self._is_wait_extended = False

    @property
    def retained_bytes(self) -> int:
        """Bytes that are kept until more arrive."""
        return self._scanner.retained_bytes + self._assembly.retained_bytes

    @property
    def next_flush_at_s(self) -> float | None:
        """When :meth:`flush` releases what is held; None if it holds nothing, or not for a time.

        None also after a flush that left something alone because of a reply: then the caller
        flushes again as soon as it waits for none any more.
        """
        if not self._is_input or not self._scanner.held or self._is_wait_extended:
            return None
        return self._held_since_s + INPUT_HOLD_S

    def receive_data(self, data: bytes, now_s: float = 0.0) -> list[FrameEvent]:
        """Return what ``data`` completes, in stream order.

        Args:
            data: Any number of bytes.
            now_s: Seconds on a clock that only goes forward; of use to the input side only.
        """
        events = self._assemble(self._scanner.receive_data(data))
        if self._is_input and self._scanner.held:
            self._note_held(now_s)
        return events

    def flush(self, now_s: float, *, is_reply_outstanding: bool = False) -> list[FrameEvent]:
        """Return ordinary bytes that were held too long; for the input side only.

        A key may be ESC, or begin as a frame does. What is held goes out ``INPUT_HOLD_S`` after
        its first byte came. While a reply is outstanding only a lone ESC goes out: more of an
        introducer is rather the beginning of that reply.
        """
        held = self._scanner.held
        if not self._is_input or not held or now_s < self._held_since_s + INPUT_HOLD_S:
            return []
        self._is_wait_extended = is_reply_outstanding and held != ESC
        if self._is_wait_extended:
            return []
        return self._assemble(self._scanner.release())

    def end_of_stream(self) -> list[FrameEvent]:
        """Return what is left: held bytes are ordinary, what did not end is bad.

        Whatever is received after it is read from ground.
        """
        events = self._assemble(self._scanner.end_of_stream())
        events += self._assembly.abandon("unfinished")
        return events

    def _note_held(self, now_s: float) -> None:
        # A longer beginning of the same introducer does not start the wait anew.
        if self._scanner.held_offset != self._held_offset:
            self._held_offset = self._scanner.held_offset
            self._held_since_s = now_s
            self._is_wait_extended = False

    def _assemble(self, tokens: list[ScanToken]) -> list[FrameEvent]:
        events: list[FrameEvent] = []
        for token in tokens:
            if isinstance(token, Fragment):
                events += self._assembly.add(token)
                continue
            if self._assembly.retained_bytes:
                events += self._assembly.abandon("assembly_abandoned")
            events.append(token)
        return events
