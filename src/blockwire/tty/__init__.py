"""A real terminal: the driver of terminal blocks for an application, and what people type.

Spec: docs/spec/terminal/application.md, docs/spec/host/input.md.
"""

from blockwire.tty.driver import (
    OpenContext,
    Terminal,
    TerminalError,
    TerminalOptions,
    open_terminal,
)
from blockwire.tty.inputevents import Focus, InputEvent, Key, Mouse, MouseKind, Pasted, Reply

__all__ = [
    "Focus",
    "InputEvent",
    "Key",
    "Mouse",
    "MouseKind",
    "OpenContext",
    "Pasted",
    "Reply",
    "Terminal",
    "TerminalError",
    "TerminalOptions",
    "open_terminal",
]
