"""Copied text on its way out: to the outer terminal, and to a tool of the desktop at hand.

Spec: docs/spec/host/process.md, "Clipboard"; docs/spec/chat/drawing.md, "The driver". Both are tried: many terminals do not take it, and over
a network there is no tool.
"""

from __future__ import annotations

import base64
import contextlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["OSC52_BYTES_MAX", "clipboard_sequence", "clipboard_tool", "copy_text", "copy_with_tool"]

OSC52_BYTES_MAX: Final = 74_994
"""What fits into the 100,000 bytes that terminals take of a control string."""

TOOL_S_MAX: Final = 5.0

# variable that must be set, None for none -> the tool and its arguments
_TOOLS: Final[Sequence[tuple[str, Sequence[str]]]] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
)
_MAC_TOOL: Final = ("pbcopy",)


def clipboard_sequence(text: str) -> bytes:
    """Return what puts ``text`` on the clipboard of the outer terminal; nothing if it is too long."""
    data = text.encode("utf-8", "replace")
    if len(data) > OSC52_BYTES_MAX:
        return b""
    return b"\x1b]52;c;" + base64.b64encode(data) + b"\x1b\\"


def clipboard_tool(env: Mapping[str, str], *, platform: str = sys.platform) -> Sequence[str] | None:
    """Return the command of a tool that is here and has a desktop to copy to, if there is one.

    Args:
        env: Says which desktop.
        platform: As :data:`sys.platform` has it.
    """
    path = env.get("PATH")
    # Over ssh a Mac has a desktop as well, which is not where the person sits.
    if platform == "darwin" and not env.get("SSH_TTY") and shutil.which("pbcopy", path=path):
        return _MAC_TOOL
    for variable, command in _TOOLS:
        if env.get(variable) and shutil.which(command[0], path=path):
            return command
    return None


def copy_with_tool(command: Sequence[str], text: str, env: Mapping[str, str]) -> threading.Thread:
    """Give ``text`` to a tool, in a thread of its own: it is not waited for.

    A tool that fails or hangs is ended, and nobody is told: the outer terminal has got the text, too.
    """

    def copy() -> None:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603 - the tools of the table
                command,
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(env),
                timeout=TOOL_S_MAX,
                check=False,
                # Such a tool stays and serves what it has copied.
                start_new_session=True,
            )

    thread = threading.Thread(target=copy, name="clipboard", daemon=True)
    thread.start()
    return thread


def copy_text(text: str, env: Mapping[str, str]) -> bytes:
    """Give ``text`` to the tool at hand, and return what gives it to the terminal.

    Args:
        text: To be copied.
        env: Says which desktop, if any.
    """
    if (tool := clipboard_tool(env)) is not None:
        copy_with_tool(tool, text, env)
    return clipboard_sequence(text)
