"""Independent terminals that judge what we write.

When its width changes, pyte cuts rows, and tmux breaks them anew.
"""

from __future__ import annotations

import contextlib
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

import pyte
import pytest

from tests.support.programs import WAIT_S
from tests.support.tmux import run_tmux

HISTORY_ROWS: Final = 50_000
FORBIDDEN: Final = re.compile(rb"\x1b\[[123]J|\x1b\[\d*S|\x1b\[[\d;]*r")
"""ED 1, 2 and 3, SU and DECSTBM."""

_REPORT: Final = re.compile(rb"\x1b\[(\d+);(\d+)R")
_RELAY: Final = """
import os, select, socket, sys, tty
tty.setraw(0)
peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
while True:
    ready, _, _ = select.select([0, peer], [], [])
    if peer in ready:
        data = peer.recv(65536)
        if not data:
            break
        while data:
            data = data[os.write(1, data):]
    if 0 in ready:
        peer.sendall(os.read(0, 4096))
"""


class Judge(Protocol):
    """A terminal of somebody else."""

    def feed(self, data: bytes) -> None:
        """Write to it."""

    def resize(self, columns: int, rows: int) -> None:
        """Give its window another size."""

    def place(self) -> tuple[int, int]:
        """Return row and column of the cursor, from 0."""

    def text(self) -> list[str]:
        """Return scrollback and screen, row by row, without blanks at the ends."""

    def screen(self) -> list[str]:
        """Return the rows of the window."""


class _Screen(pyte.HistoryScreen):
    """One that keeps what leaves at the top when the window becomes lower, as xterm does."""

    def draw(self, data: str) -> None:
        # By itself it drops what follows a joiner.
        for char in data:
            super().draw(char)

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        lines, columns = lines or self.lines, columns or self.columns
        for _ in range(max(self.cursor.y - (lines - 1), 0)):
            self.history.top.append(self.buffer[0])
            rest = {row - 1: line for row, line in self.buffer.items() if row}
            self.buffer.clear()
            self.buffer.update(rest)
            self.cursor.y -= 1
        for row in [row for row in self.buffer if row >= lines]:
            del self.buffer[row]
        for line in self.buffer.values():
            for column in [it for it in line if it >= columns]:
                del line[column]
        self.cursor.x = min(self.cursor.x, columns - 1)
        self.lines, self.columns = lines, columns
        self.set_margins()


class PyteJudge:
    """pyte: rows are cut."""

    reflows = False

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = _Screen(columns, rows, history=HISTORY_ROWS, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)

    def feed(self, data: bytes) -> None:
        self._stream.feed(data)

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)

    def place(self) -> tuple[int, int]:
        return self._screen.cursor.y, self._screen.cursor.x

    def screen(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    def text(self) -> list[str]:
        rows = [_row_text(line) for line in self._screen.history.top]
        return _trimmed([*rows, *self.screen()])

    def close(self) -> None:
        pass


def _row_text(line: Any) -> str:
    last = max(line, default=-1)
    return "".join(line[at].data if at in line else " " for at in range(last + 1)).rstrip()


def _trimmed(rows: list[str]) -> list[str]:
    while rows and not rows[-1]:
        rows.pop()
    return rows


class TmuxJudge:
    """tmux: rows are broken anew."""

    reflows = True

    def __init__(self, columns: int, rows: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="judge"))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self._folder / "relay"))
        listener.listen(1)
        listener.settimeout(WAIT_S)
        relay = self._folder / "relay.py"
        relay.write_text(_RELAY, encoding="utf-8")
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows)),
            *(sys.executable, str(relay), str(self._folder / "relay")),
            *(";", "set-option", "-g", "history-limit", str(HISTORY_ROWS)),
            *(";", "set-option", "-g", "status", "off"),
        )
        self._peer, _ = listener.accept()
        listener.close()
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))
        self.place()

    def _tmux(self, *arguments: str) -> str:
        return run_tmux(self._folder / "socket", *arguments)

    def feed(self, data: bytes) -> None:
        self._peer.sendall(data)

    def resize(self, columns: int, rows: int) -> None:
        self.place()
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def place(self) -> tuple[int, int]:
        self._peer.sendall(b"\x1b[6n")
        end_s = time.monotonic() + WAIT_S
        data = b""
        while not (found := _REPORT.search(data)):
            left_s = end_s - time.monotonic()
            assert select.select([self._peer], [], [], max(left_s, 0))[0], "tmux does not answer"
            data += self._peer.recv(4096)
        return int(found[1]) - 1, int(found[2]) - 1

    def screen(self) -> list[str]:
        self.place()
        return [line.rstrip() for line in self._tmux("capture-pane", "-p").split("\n")[:-1]]

    def text(self) -> list[str]:
        self.place()
        rows = self._tmux("capture-pane", "-p", "-S", "-").split("\n")
        return _trimmed([row.rstrip() for row in rows])

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")
        self._peer.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def need_tmux() -> None:
    """Skip where tmux is not installed."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
