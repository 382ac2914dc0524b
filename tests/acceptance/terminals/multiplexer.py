"""Our programs in a pane of tmux, which is their terminal: it breaks rows anew when its width changes."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.acceptance.terminals.outer import SITUATION_S_MAX
from tests.suites import PROJECT
from tests.support.tmux import run_tmux

HISTORY_ROWS: Final = 50_000
_ENDED: Final = re.compile(r"^ended (\d+)$", re.MULTILINE)


class TmuxWindow:
    """A window of tmux with one pane, in which a shell runs one command.

    Args:
        command: What is run.
        columns: Of the window.
        rows: Likewise.
        env: Variables of the command.
        before: Lines that were shown before.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int,
        rows: int,
        env: Mapping[str, str],
        before: Sequence[str] = (),
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="pane"))
        told = self._folder / "before"
        told.write_text("".join(f"{line}\n" for line in before), encoding="utf-8")
        script = 'cat "$0"; "$@"; echo "ended $?"; exec sleep 600'
        variables = {"PYTHONPATH": f"{PROJECT}/src:{PROJECT}", **env}
        del variables["TERM"]  # which is tmux's to say
        self._tmux(
            *("-f", "/dev/null", "start-server", ";", "set-option", "-g", "status", "off"),
            *(";", "set-option", "-g", "history-limit", str(HISTORY_ROWS)),
            *(";", "new-session", "-d", "-x", str(columns), "-y", str(rows)),
            *(word for name, value in variables.items() for word in ("-e", f"{name}={value}")),
            *("sh", "-c", script, str(told), *command),
            *(";", "resize-window", "-x", str(columns), "-y", str(rows)),
        )

    def _tmux(self, *arguments: str) -> str:
        return run_tmux(self._folder / "socket", *arguments)

    def press(self, keys: str) -> None:
        """Type text, and controls."""
        self._tmux("send-keys", "-l", keys)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size, and wait until the pane's device has it."""
        self.resize_at_once(columns, rows)
        self.until(lambda: self._device_size() == (columns, rows))

    def resize_at_once(self, columns: int, rows: int) -> None:
        """Give the window another size; the pane's device has it up to a quarter of a second later."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def _device_size(self) -> tuple[int, int]:
        device = os.open(
            self._tmux("display-message", "-p", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY
        )
        try:
            return tuple(os.get_terminal_size(device))  # type: ignore[return-value]  # two
        finally:
            os.close(device)

    def until(self, is_so: Callable[[], object]) -> None:
        """Look again and again until a condition holds."""
        end_s = time.monotonic() + SITUATION_S_MAX
        while not is_so():
            if time.monotonic() > end_s:
                raise AssertionError("it never came:\n" + self.screen_text())

    def screen_text(self) -> str:
        """Return what the window shows."""
        return self._tmux("capture-pane", "-p")

    def main_lines(self) -> list[str]:
        """Return scrollback and screen, row by row."""
        return [row.rstrip() for row in self._tmux("capture-pane", "-p", "-S", "-").split("\n")]

    def exit_status(self) -> int:
        """Wait for the end."""
        self.until(lambda: _ENDED.search(self.screen_text()))
        found = _ENDED.search(self.screen_text())
        assert found is not None
        return int(found[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")
        shutil.rmtree(self._folder, ignore_errors=True)
