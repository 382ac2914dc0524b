"""Fragments of one message, in their order and without anything between them.

Spec: docs/spec/terminal/framing.md, "Assembly".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blockwire.terminal.framing import BadFrame, Fragment, FrameErrorCode, Payload

__all__ = ["Assembly"]

_DETAILS: Final[dict[FrameErrorCode, str]] = {
    "assembly_abandoned": "something else came before the last frame of a message",
    "unfinished": "the stream ended before the last frame of a message",
}


class Assembly:
    """The one message of a direction whose frames have not all come; often none."""

    __slots__ = ("_end", "_frame_id", "_offset", "_parts", "_retained_bytes")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._retained_bytes = 0
        self._frame_id = 0
        self._offset = 0
        self._end = 0

    @property
    def retained_bytes(self) -> int:
        """Bytes of the fragments so far."""
        return self._retained_bytes

    def add(self, fragment: Fragment) -> Sequence[Payload | BadFrame]:
        """Return the message that ``fragment`` completes, and what it abandons or is refused for."""
        frame_id = fragment.frame_id
        if fragment.index == 0:
            abandoned = self.abandon("assembly_abandoned")
            self._frame_id = frame_id
            self._offset = fragment.offset
            self._keep(fragment)
            return abandoned
        if fragment.index != len(self._parts) or frame_id != self._frame_id:
            detail = f"frame {fragment.index} does not follow"
            refused = BadFrame("out_of_sequence", detail, fragment.offset, fragment.end, frame_id)
            return (*self.abandon("assembly_abandoned"), refused)
        self._keep(fragment)
        if not fragment.is_last:
            return ()
        payload = Payload(b"".join(self._parts), frame_id, self._offset, fragment.end)
        self._forget()
        return (payload,)

    def abandon(self, code: FrameErrorCode) -> Sequence[BadFrame]:
        """Forget what has come; return the report, if there was anything."""
        if not self._parts:
            return ()
        report = BadFrame(code, _DETAILS[code], self._offset, self._end, self._frame_id)
        self._forget()
        return (report,)

    def _keep(self, fragment: Fragment) -> None:
        self._parts.append(fragment.data)
        self._retained_bytes += len(fragment.data)
        self._end = fragment.end

    def _forget(self) -> None:
        self._parts.clear()
        self._retained_bytes = 0
