"""What a session of the host wants its driver to do, beside writing what it paints.

Spec: docs/spec/host/index.md, "What the driver does". Values, so that a test is a script.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class CopyText(NamedTuple):
    """Put a text on the clipboard."""

    text: str


class SetTitle(NamedTuple):
    """Give the window of the outer terminal a title; there are no controls in it."""

    text: str


class RingBell(NamedTuple):
    """The program rang its bell."""


class OuterSequence(NamedTuple):
    """Write one control sequence that says something and draws nothing, between two frames."""

    data: bytes


class Suspend(NamedTuple):
    """Stop the host, as a shell's Ctrl-Z stops a program."""


class Quit(NamedTuple):
    """End the program, as closing its window would."""


Command: TypeAlias = CopyText | SetTitle | RingBell | OuterSequence | Suspend | Quit
