"""A tmux of our own, with a socket of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def run_tmux(socket: Path, *arguments: str) -> str:
    """Run a command of the server at ``socket``, and return what it prints.

    Raises:
        subprocess.CalledProcessError: It refused.
    """
    # The tests may run in a tmux themselves.
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
    done = subprocess.run(
        ["tmux", "-u", "-S", str(socket), *arguments],
        env={**environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
    )
    return done.stdout
