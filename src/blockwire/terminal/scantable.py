"""What each byte of a stream does to the search for frames, as a table.

Spec: docs/spec/terminal/framing.md, "The scanner". :mod:`blockwire.terminal.scanner` follows it.

A terminal has control strings of five kinds, and ESC ends every one of them. So it never matters
which of them the stream is inside of: ``ESC ]9002;`` begins a frame wherever it stands. That is
why there is no state here for the strings of others, and why what is ordinary is found by searching
for the introducer and not by looking at each byte. The stream is UTF-8, in which 0x80 to 0x9F are
parts of characters; they introduce and end nothing.

The scanner asks the table about every byte that may begin or end a frame. Between those it searches,
and the tests run the whole table byte by byte to hold the search to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from blockwire.terminal.framing import NUMBER, OSC, FrameErrorCode

__all__ = [
    "BYTE_CLASSES",
    "DROP_CODES",
    "ESC",
    "INTRODUCER",
    "TRANSITIONS",
    "Act",
    "ByteClass",
    "State",
    "Step",
    "step",
]

State: TypeAlias = Literal["ground", "introducer", "number", "frame", "escape"]
ByteClass: TypeAlias = Literal["ESC", "next", ";", "\\", "BEL", "CAN", "SUB", "other"]
Act: TypeAlias = Literal[
    "pass",  # it is ordinary, and so is all that was held
    "hold",  # it may begin a frame; what was held before and cannot any more is ordinary
    "keep",  # it is in a frame
    "end",  # the frame ends with it
    "drop",  # the frame ends with it and is bad
    "again",  # the frame ended before its ESC and is bad; ESC and this byte are read from ground
]


class Step(NamedTuple):
    """What a byte does in a state."""

    state: State
    act: Act


_PASS: Final = Step("ground", "pass")
_HOLD: Final = Step("introducer", "hold")
_KEEP: Final = Step("frame", "keep")
_ESCAPE: Final = Step("escape", "keep")
_DROP: Final = Step("ground", "drop")

# "next" is the next byte of ESC ] 9 0 0 2, and leads to "number" with the last of them.
TRANSITIONS: Final[Mapping[State, Mapping[ByteClass, Step]]] = MappingProxyType(
    {
        "ground": MappingProxyType({"ESC": _HOLD, "other": _PASS}),
        "introducer": MappingProxyType({"ESC": _HOLD, "next": _HOLD, "other": _PASS}),
        "number": MappingProxyType(
            {";": _KEEP, "ESC": _ESCAPE, "BEL": _DROP, "CAN": _DROP, "SUB": _DROP, "other": _PASS}
        ),
        "frame": MappingProxyType(
            {"ESC": _ESCAPE, "BEL": _DROP, "CAN": _DROP, "SUB": _DROP, "other": _KEEP}
        ),
        "escape": MappingProxyType({"\\": Step("ground", "end"), "other": Step("ground", "again")}),
    }
)

BYTE_CLASSES: Final[Mapping[int, ByteClass]] = MappingProxyType(
    {0x1B: "ESC", 0x3B: ";", 0x5C: "\\", 0x07: "BEL", 0x18: "CAN", 0x1A: "SUB"}
)

INTRODUCER: Final = OSC + NUMBER
ESC: Final = b"\x1b"


DROP_CODES: Final[Mapping[int, FrameErrorCode]] = MappingProxyType(
    {0x07: "wrong_terminator", 0x18: "cancelled", 0x1A: "cancelled"}
)
"""Why a frame is bad that one of these bytes ended."""


def step(state: State, byte: int) -> Step:
    """Return what ``byte`` does in ``state``; whether it is the next of the introducer is not seen."""
    row = TRANSITIONS[state]
    return row.get(BYTE_CLASSES.get(byte, "other")) or row["other"]
