"""What a program writes, apart from what its screen shows.

Spec: docs/spec/host/emulation.md, "What is taken out".
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Text(NamedTuple):
    """Bytes for the emulator: text, and escape sequences that are whole or go on in the next one."""

    data: bytes


class SavedLinesErased(NamedTuple):
    """The program has the rows forgotten that left its screen (``CSI 3 J``)."""


class Bell(NamedTuple):
    """BEL, outside of control strings."""


class Title(NamedTuple):
    """The title of the window (OSC 0 and 2); may be empty."""

    text: str


class ClipboardWritten(NamedTuple):
    """The program copies something (OSC 52).

    Attributes:
        selection: Where to, letters as xterm has them: ``c`` is the clipboard, ``p`` the primary.
        data: At most :data:`~blockwire.host.programoutput.CLIPBOARD_BYTES_MAX` bytes; none clears.
    """

    selection: str
    data: bytes


class WorkingDirectory(NamedTuple):
    """Where the program is (OSC 7): a ``file:`` URI in ASCII."""

    uri: str


class PromptMark(NamedTuple):
    """Where a prompt, a command or its output begins or ends (OSC 133), such as ``D;0``."""

    payload: str


class Progress(NamedTuple):
    """How far the program is (OSC 9;4), such as ``1;50``."""

    payload: str


class Notified(NamedTuple):
    """The program wants the person's attention (OSC 9 and 777)."""

    text: str


class ProgramReply(NamedTuple):
    """An answer to what the program asked, to be written to it."""

    data: bytes


ProgramEvent: TypeAlias = (
    Text
    | SavedLinesErased
    | Bell
    | Title
    | ClipboardWritten
    | WorkingDirectory
    | PromptMark
    | Progress
    | Notified
    | ProgramReply
)
