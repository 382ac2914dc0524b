"""How far long work has come, for the person at the terminal.

Spec: docs/spec/gateway/operations.md, "Progress". One row on standard error, only where that is a terminal; it
is rewritten at most ten times a second and gone at the end, so that what stays on screen is the
result. Work may report from any thread.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

from blockwire.cli.output import draw_transient, erase_transient, one_line

__all__ = ["UPDATES_PER_S_MAX", "Progress", "Unit", "report_progress"]

UPDATES_PER_S_MAX: Final = 10

QUIET_S: Final = 0.3
"""Work that is done sooner shows nothing."""

COLUMNS_MIN: Final = 20

Unit = Literal["bytes", "items"]

_BYTE_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


class Progress:
    """How far one piece of work has come.

    Args:
        what: What is done, a few words.
        total: How much there is; None where nobody knows.
        unit: What is counted.
        noun: Name of what is counted, where ``unit`` is items.
        is_shown: Whether anybody sees it.
        now_s: Monotonic seconds.
    """

    def __init__(  # noqa: PLR0913 - what a row is made of
        self,
        what: str,
        *,
        total: int | None = None,
        unit: Unit = "items",
        noun: str = "",
        is_shown: bool = True,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = one_line(what)
        self._noun = one_line(noun)
        self._total = total
        self._unit: Unit = unit
        self._is_shown = is_shown
        self._now_s = now_s
        self._lock = threading.Lock()
        self._done = 0
        self._next_s = now_s() + QUIET_S

    @property
    def done(self) -> int:
        """How much is done."""
        return self._done

    def advance(self, count: int = 1) -> None:
        """So much more is done."""
        with self._lock:
            self._done += count
            self._show()

    def set(self, done: int, total: int | None = None) -> None:
        """So much is done in all, and of ``total`` where that is known now."""
        with self._lock:
            self._done = done
            self._total = total if total is not None else self._total
            self._show()

    def end(self) -> None:
        """Show nothing any more."""
        with self._lock:
            if self._is_shown:
                self._is_shown = False
                erase_transient()

    def _show(self) -> None:
        if not self._is_shown:
            return
        now_s = self._now_s()
        if now_s < self._next_s:
            return
        self._next_s = now_s + 1 / UPDATES_PER_S_MAX
        draw_transient(self.row()[: max(_columns() - 1, COLUMNS_MIN)])

    def row(self) -> str:
        """Return the row as it stands."""
        amount = self._amount(self._done)
        if self._total:
            percent = min(self._done * 100 // self._total, 100)
            amount = f"{amount} of {self._amount(self._total)}"
            return f"{self._what}: {percent:3} %  {amount}{self._suffix}"
        return f"{self._what}: {amount}{self._suffix}"

    @property
    def _suffix(self) -> str:
        return f" {self._noun}" if self._noun and self._unit == "items" else ""

    def _amount(self, count: int) -> str:
        if self._unit == "items":
            return f"{count:,}"
        size, index = float(count), 0
        while size >= 1000 and index < len(_BYTE_UNITS) - 1:
            size, index = size / 1000, index + 1
        return f"{size:.1f} {_BYTE_UNITS[index]}" if index else f"{count} B"


@contextmanager
def report_progress(
    what: str, *, total: int | None = None, unit: Unit = "items", noun: str = ""
) -> Iterator[Progress]:
    """Yield what long work reports to; nothing of it is left on screen at the end, however it ends.

    Args:
        what: What is done, a few words: ``"checking"``.
        total: How much there is, if that is known; :meth:`Progress.set` can tell it later.
        unit: ``bytes`` are shown as kB, MB...
        noun: What is counted, in the plural: ``"conversations"``.
    """
    progress = Progress(what, total=total, unit=unit, noun=noun, is_shown=_has_screen())
    try:
        yield progress
    finally:
        progress.end()


def _has_screen() -> bool:
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}
    except (AttributeError, ValueError):
        # There is none, or it was closed.
        return False


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return 80
