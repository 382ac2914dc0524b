"""What a person can choose about the host.

Spec: docs/spec/host/index.md, "Options".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from blockwire.host.keymap import Keymap
from blockwire.host.programoutput import TerminalColours
from blockwire.host.sgr import ColourDepth
from blockwire.host.theme import DARK, Theme
from blockwire.screen import CAPACITY_BYTES
from blockwire.terminal import Limits
from blockwire.text import AmbiguousWidth
from blockwire.text.charset import UTF_8, Charset

# Rows by which one notch of a wheel scrolls; what most terminals have.
WHEEL_ROWS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOptions:
    """How one session looks and behaves.

    Attributes:
        theme: The colours of what the host draws itself.
        keymap: What keys do.
        colours: How many colours the outer terminal has.
        has_links: Whether links are drawn as links.
        ambiguous_width: Cells of a character of ambiguous width, here and in the outer terminal.
        charset: What the outer terminal can write.
        capacity_bytes: Of the history, at least 1.
        limits: What one program may make the host keep.
        status_line: Whether there is one.
        mouse: Whether the outer terminal is asked for the mouse, at all.
        wheel_rows: By which a wheel scrolls.
        copy_on_select: Whether what the mouse selected is copied when the button goes up.
        program_clipboard: Whether the program may write the clipboard.
        terminal_colours: What the program is told about colours.
    """

    theme: Theme = DARK
    keymap: Keymap = field(default_factory=Keymap)
    colours: ColourDepth = "truecolor"
    has_links: bool = True
    ambiguous_width: AmbiguousWidth = 1
    charset: Charset = UTF_8
    capacity_bytes: int = CAPACITY_BYTES
    limits: Limits = field(default_factory=Limits)
    status_line: bool = True
    mouse: bool = True
    wheel_rows: int = WHEEL_ROWS
    copy_on_select: bool = True
    program_clipboard: bool = True
    terminal_colours: TerminalColours = field(default_factory=TerminalColours)
