"""Copied text on its way to the terminal and to the desktop."""

from __future__ import annotations

import base64
import os
import stat
import threading
from pathlib import Path

import pytest

from blockwire.tty.clipboard import (
    OSC52_BYTES_MAX,
    clipboard_sequence,
    clipboard_tool,
    copy_text,
    copy_with_tool,
)


def test_copied_text_is_one_sequence_if_terminals_take_it() -> None:
    assert (
        clipboard_sequence("é\x1b") == b"\x1b]52;c;" + base64.b64encode(b"\xc3\xa9\x1b") + b"\x1b\\"
    )
    assert len(clipboard_sequence("x" * OSC52_BYTES_MAX)) == 99_992 + 9
    assert clipboard_sequence("x" * (OSC52_BYTES_MAX + 1)) == b""


TOOLS: list[tuple[dict[str, str], str, list[str], str | None]] = [
    # environment,            platform, installed,           first word of the command
    ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", ["wl-copy", "xclip"], "wl-copy"),
    ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", ["xclip"], "xclip"),
    ({"DISPLAY": ":0"}, "linux", ["wl-copy", "xsel"], "xsel"),
    ({"DISPLAY": ":0"}, "linux", [], None),
    ({}, "linux", ["wl-copy", "xclip", "xsel", "pbcopy"], None),
    ({}, "darwin", ["pbcopy"], "pbcopy"),
    ({"SSH_TTY": "/dev/ttys1"}, "darwin", ["pbcopy"], None),
]  # fmt: skip


@pytest.mark.parametrize(("env", "platform", "installed", "tool"), TOOLS)
def test_the_tool_is_that_of_the_desktop_at_hand(
    tmp_path: Path, env: dict[str, str], platform: str, installed: list[str], tool: str | None
) -> None:
    for name in installed:
        (tmp_path / name).write_text("", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    command = clipboard_tool({**env, "PATH": str(tmp_path)}, platform=platform)

    assert (command[0] if command else None) == tool


def test_a_tool_gets_the_text_and_may_fail(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\nexec cat > {tmp_path}/copied\n", encoding="utf-8")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    env = {"PATH": os.environ["PATH"]}

    copy_with_tool([str(tool)], "text", env).join(10)
    copy_with_tool([str(tmp_path / "missing")], "text", env).join(10)

    assert (tmp_path / "copied").read_text(encoding="utf-8") == "text"


@pytest.mark.requirement("chat:copy:both-ways")
def test_a_text_goes_both_ways_and_one_that_is_too_long_to_the_tool_alone(tmp_path: Path) -> None:
    tool = tmp_path / "wl-copy"
    tool.write_text(f"#!/bin/sh\nexec cat > {tmp_path}/copied\n", encoding="utf-8")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "WAYLAND_DISPLAY": "w"}

    for text, sequence in (("short", b"\x1b]52;c;c2hvcnQ=\x1b\\"), ("x" * 80_000, b"")):
        assert copy_text(text, env) == sequence
        for thread in [it for it in threading.enumerate() if it.name == "clipboard"]:
            thread.join(10)
        assert (tmp_path / "copied").read_text(encoding="utf-8") == text
    assert copy_text("short", {"PATH": str(tmp_path)}) == b"\x1b]52;c;c2hvcnQ=\x1b\\"
