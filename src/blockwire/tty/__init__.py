"""Terminal blocks on a real terminal: the driver of an application, in asyncio.

Spec: docs/spec/terminal/application.md.
"""

from blockwire.tty.driver import (
    OpenContext,
    Terminal,
    TerminalError,
    TerminalOptions,
    open_terminal,
)

__all__ = ["OpenContext", "Terminal", "TerminalError", "TerminalOptions", "open_terminal"]
