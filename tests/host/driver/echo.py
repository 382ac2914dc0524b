"""A host with a session as simple as can be: it keeps lines, and draws the last of them.

Run as a program (``python -m tests.host.driver.echo [options] -- CMD``) it is a whole host, watchdog included, so
that what is said of processes, signals and terminals can be tried without an emulator.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from blockwire.host import driver
from blockwire.host.commands import (
    Command,
    CopyText,
    OuterSequence,
    Quit,
    RingBell,
    SetTitle,
    Suspend,
)
from blockwire.host.drivercore import HostSettings
from blockwire.host.outer import OuterColours
from blockwire.host.transcript import run_host
from blockwire.host.watchdog import end_as, watch

# key -> what it makes the session want
COMMANDS: Final[dict[bytes, Command]] = {
    b"\x1c": Suspend(),
    b"\x1d": Quit(),
    b"\x1e": CopyText("copied"),
    b"\x1f": SetTitle("a title"),
    b"\x02": RingBell(),
    b"\x0f": OuterSequence(b"\x1b]7;file:///tmp\x1b\\"),
}
ANSWERS: Final = re.compile(rb"\x1b\][^\x1b\x07]*(?:\x07|\x1b\\)|\x1b\[\?[0-9;]*c|\x1b\[[IO]")
FAIL_KEY: Final = b"\x0e"
HANG_KEY: Final = b"\x10"
HANGS: Final = b"\x1b]777;hangs\x07"
"""Says that it hangs from now on; terminals show nothing of it."""


class EchoCore:
    """Lines of output, drawn with the size and the colours in the last row."""

    def __init__(self, columns: int, rows: int, colours: OuterColours) -> None:
        self.columns, self.rows = columns, rows
        self.colours = colours
        self.lines = [""]
        self._input = bytearray()
        self._commands: list[Command] = []
        self._shown: list[str] = []
        self.tick_count = 0
        self.has_ended = False
        self.idle_count = 0

    @property
    def program_size(self) -> tuple[int, int]:
        return self.columns, max(self.rows - 1, 1)

    def receive_output(self, data: bytes, now_s: float) -> None:
        del now_s
        text = data.decode("utf-8", "replace").replace("\r", "")
        first, *others = text.split("\n")
        self.lines[-1] += first
        self.lines += others

    def receive_input(self, data: bytes, now_s: float) -> None:
        del now_s
        data = ANSWERS.sub(b"", data)
        if FAIL_KEY in data:
            raise RuntimeError("the session has failed")
        if HANG_KEY in data:
            os.write(1, HANGS)
            while True:
                pass
        for key, command in COMMANDS.items():
            if key in data:
                self._commands.append(command)
                data = data.replace(key, b"")
        self._input += data

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._shown = []

    def repaint(self) -> None:
        self._shown = []

    def tick(self, now_s: float) -> None:
        del now_s
        self.tick_count += 1

    @property
    def wake_at_s(self) -> float | None:
        return None

    def data_for_program(self) -> bytes:
        data = bytes(self._input)
        self._input.clear()
        return data

    def paint(self) -> bytes:
        rows = [line[: self.columns] for line in self.lines[-(self.rows - 1) :]]
        rows = [*rows, *[""] * (self.rows - 1 - len(rows))][: self.rows - 1]
        status = f"{self.columns}x{self.rows} {self.colours.background}"[: self.columns - 1]
        rows.append(status)
        if rows == self._shown:
            return b""
        self._shown = rows
        return "".join(f"\x1b[{at};1H\x1b[K{row}" for at, row in enumerate(rows, 1)).encode()

    def idle(self) -> bool:
        self.idle_count += 1
        return False

    def take_commands(self) -> list[Command]:
        commands, self._commands = self._commands, []
        return commands

    def program_ended(self) -> None:
        self.has_ended = True

    def transcript(self, *, last_rows: int | None) -> Iterator[str]:
        lines = self.lines if self.lines[-1] else self.lines[:-1]
        yield from lines if last_rows is None else lines[-last_rows:]


def main(arguments: Sequence[str]) -> int:
    screens = None
    if arguments[0].startswith("--screens="):
        screens = int(arguments[0].partition("=")[2])
        arguments = arguments[1:]
    driver.ENDING_S_MAX = 1  # type: ignore[misc]  # nobody waits longer for a test
    settings = HostSettings(arguments[1:], os.environ)
    return end_as(
        watch(
            lambda lifeline: run_host(settings, EchoCore, lifeline, transcript_screens=screens),
            0,
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
