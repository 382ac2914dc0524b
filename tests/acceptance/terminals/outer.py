"""Our programs in a terminal of somebody else, as a person sits before it.

:class:`Outer` runs ``blockwire term`` or ``blockwire chat`` on a real pty under a small shell, shows
what they write with an emulator that is not ours, and answers what terminals are asked. It waits for
what is written, never in the hope that something has happened meanwhile.
"""

from __future__ import annotations

import base64
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar

import pyte

from tests.host.core.windows import KEYS, MOUSE
from tests.host.driver.outers import Outer as DriverOuter
from tests.host.driver.outers import OuterScreen
from tests.support.programs import command
from tests.tui.drawing.judges import PyteJudge

ESCAPE_S: Final = 0.08
"""An Escape key is one only if nothing follows it for the 50 ms that the input holds it."""

SITUATION_S_MAX: Final = 30.0
"""How long anything may take in a situation on a machine that does ten other things."""

_T = TypeVar("_T")
Whom: TypeAlias = Literal["watchdog", "host", "program"]

# What is asked, and what is answered; the place of the cursor is known when it is asked for.
_QUESTIONS: Final = {
    b"\x1b]10;?\x1b\\": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?\x1b\\": b"\x1b]11;rgb:0000/1010/2020\x1b\\",
    b"\x1b[c": b"\x1b[?62;22c",
}
_ASK_PLACE: Final = b"\x1b[6n"
_QUESTION: Final = re.compile(b"|".join(map(re.escape, (*_QUESTIONS, _ASK_PLACE))))
_QUESTION_BYTES: Final = max(map(len, _QUESTIONS))
_COPIED: Final = re.compile(rb"\x1b\]52;c;([^\x1b]*)\x1b\\")


def term(*program: str, options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs ``program`` in the host."""
    return command("term", *options, "--", *program)


def chat(*arguments: str) -> list[str]:
    """Return the command of a conversation; its folder is the HOME of the environment."""
    return command("chat", *arguments)


class _Other(pyte.Screen):
    """The alternate screen."""

    def draw(self, data: str) -> None:
        # By itself it drops what follows a joiner.
        for char in data:
            super().draw(char)


class _Main(PyteJudge):
    """The main screen with all that scrolled away; rows are cut when it becomes narrower."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self.size = (columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        if (columns, rows) != self.size:
            self.size = (columns, rows)
            super().resize(columns, rows)

    def lines(self) -> list[str]:
        return self.text()


class WindowScreen(OuterScreen):
    """A main and an alternate screen in a window that changes its size."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self.judge = _Main(columns, rows)
        self.main = self.judge  # type: ignore[assignment]  # it has lines and can be fed
        self.alternate = _Other(columns, rows)
        self._stream = pyte.ByteStream(self.alternate)

    def resize(self, columns: int, rows: int) -> None:
        super().resize(columns, rows)
        self.judge.resize(columns, rows)


class Outer(DriverOuter):
    """A terminal, and in it a shell that runs one command.

    Args:
        command: What is run: :func:`term`, :func:`chat`, or anything else.
        columns: Of the window.
        rows: Likewise.
        env: Variables in addition to those of a terminal of today.
        before: What the terminal has shown already.
        answers: Whether it answers what it is asked.
    """

    screen: WindowScreen

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        before: bytes = b"",
        answers: bool = True,
    ) -> None:
        self._answers = answers
        self._asked_bytes = 0
        super().__init__(command, env=env, columns=columns, rows=rows, before=before, answer=b"")

    # what a person does -----------------------------------------------------------------------
    def keys(self, *names: str) -> None:
        """Press keys by their names (``shift-page-up``), or type a text that is the name of none."""
        for name in names:
            self.press(KEYS.get(name, name.encode()))
            if name == "escape":
                self.rest(ESCAPE_S)

    def mouse(self, what: str, column: int, row: int, *, shift: bool = False) -> None:
        """Press, drag, release or turn the wheel (``up``, ``down``) in a cell, counted from 0."""
        code, final = MOUSE[what][:-1], MOUSE[what][-1]
        self.press(f"\x1b[<{int(code) + 4 * shift};{column + 1};{row + 1}{final}")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.set_size(columns, rows)

    def kill(self, number: signal.Signals, whom: Whom = "host") -> None:
        """Send a signal to one of the three processes."""
        pids = {
            "watchdog": lambda: self.job,
            "host": lambda: self.host,
            "program": lambda: self.program,
        }
        os.kill(pids[whom](), number)

    # what is waited for -----------------------------------------------------------------------
    def until(
        self, is_so: Callable[[], object], *, pause_s: float = 0.0, bytes_max: int = 65_536
    ) -> None:
        """Be a terminal until a condition holds; a slow one with ``pause_s`` and ``bytes_max``."""
        end_s = time.monotonic() + SITUATION_S_MAX
        while not is_so():
            if time.monotonic() > end_s:
                raise AssertionError(f"it never came: {self.output[-300:]!r}\n{self.screen_text()}")
            self._read_some(0.01, bytes_max)
            if pause_s:
                # Being slow is what this terminal does.
                time.sleep(pause_s)

    def until_shown(self, *texts: str) -> None:
        """Wait until the window shows all of ``texts``."""
        self.until(lambda: all(text in self.screen_text() for text in texts))

    def until_gone(self, text: str) -> None:
        """Wait until the window does not show ``text`` any more."""
        self.until(lambda: text not in self.screen_text())

    def until_written(self, data: bytes) -> None:
        """Wait until ``data`` is somewhere in the output."""
        self.until(lambda: data in self.output)

    def watch(self, look: Callable[[], _T], is_so: Callable[[], object]) -> list[_T]:
        """Return what was to be seen after each read, until a condition holds."""
        seen = [look()]

        def look_again() -> object:
            seen.append(look())
            return is_so()

        self.until(look_again)
        return seen

    def rest(self, within_s: float) -> int:
        """Be a terminal for a time, and return how many bytes came."""
        before = len(self.output)
        end_s = time.monotonic() + within_s
        while (left_s := end_s - time.monotonic()) > 0:
            self._read_some(left_s)
        return len(self.output) - before

    def exit_status(self) -> int:
        """Wait for the end, and return the status that the shell has seen; negative for a signal."""
        return self.read_to_end()

    # what is seen -----------------------------------------------------------------------------
    @property
    def rows(self) -> list[str]:
        """The rows of the window, without blanks at their ends."""
        return self.screen.rows if self.screen.is_alternate else self.screen.judge.screen()

    def screen_text(self) -> str:
        """Return what the window shows."""
        return "\n".join(self.rows)

    def main_lines(self) -> list[str]:
        """Return scrollback and main screen, row by row."""
        return self.screen.main.lines()

    def transcript(self) -> list[str]:
        """Return what stands on the main screen between the lines of the shell; it has ended."""
        lines = self.main_lines()
        begin = next(at for at, line in enumerate(lines) if line.startswith("job ")) + 1
        return lines[begin:-1]

    def copied(self) -> list[str]:
        """Return what was put on the clipboard of this terminal (OSC 52)."""
        return [base64.b64decode(found).decode() for found in _COPIED.findall(self.output)]

    # what a terminal does ---------------------------------------------------------------------
    def set_size(self, columns: int, rows: int) -> None:
        if not hasattr(self.screen, "judge"):
            # The first size, before anything is shown.
            self.screen = WindowScreen(columns, rows)
        super().set_size(columns, rows)

    def _receive(self, data: bytes) -> None:
        self.output += data
        while found := _QUESTION.search(self.output, self._asked_bytes):
            # Up to there only: where the cursor is says what was written before.
            self._asked_bytes = found.end()
            self.screen.feed(self.output[len(self.output) - len(data) : found.end()])
            data = self.output[found.end() :]
            if self._answers:
                os.write(self._near, _QUESTIONS.get(found[0]) or self._place())
        self._asked_bytes = max(self._asked_bytes, len(self.output) - _QUESTION_BYTES)
        self.screen.feed(data)

    def _place(self) -> bytes:
        cursor: Any = self.screen.alternate.cursor
        row, column = (
            (cursor.y, cursor.x) if self.screen.is_alternate else self.screen.judge.place()
        )
        return b"\x1b[%d;%dR" % (row + 1, column + 1)
