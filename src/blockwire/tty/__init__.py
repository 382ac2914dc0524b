"""A real terminal: the driver of terminal blocks for an application, and what people type.

Spec: docs/spec/terminal/application.md, docs/spec/host/input.md.
"""

from blockwire.tty.bindings import Bindings, describe_key, read_binding
from blockwire.tty.driver import (
    OpenContext,
    Terminal,
    TerminalError,
    TerminalOptions,
    open_terminal,
)
from blockwire.tty.input import InputParser
from blockwire.tty.inputevents import Focus, InputEvent, Key, Mouse, MouseKind, Pasted, Reply
from blockwire.tty.keysencoding import encode_key
from blockwire.tty.mouse import encode_mouse
from blockwire.tty.paste import PasteEncoder, encode_paste

__all__ = [
    "Bindings",
    "Focus",
    "InputEvent",
    "InputParser",
    "Key",
    "Mouse",
    "MouseKind",
    "OpenContext",
    "PasteEncoder",
    "Pasted",
    "Reply",
    "Terminal",
    "TerminalError",
    "TerminalOptions",
    "describe_key",
    "encode_key",
    "encode_mouse",
    "encode_paste",
    "open_terminal",
    "read_binding",
]
