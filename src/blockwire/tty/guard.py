"""Every way out of a program leads past :meth:`TerminalModes.leave`, but SIGKILL and a crash.

Spec: docs/spec/terminal/application.md, "Leaving".
"""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

from blockwire.tty.modes import TerminalModes

__all__ = ["ExitGuard"]

_DEADLY: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_STOPS: Final = (signal.SIGTSTP, signal.SIGCONT)


class ExitGuard:
    """Gives the terminal back at each end, and at each stop for as long as it lasts.

    A signal that the program does something about is left to it; one that would just end it
    gives the terminal back first and ends it then, by the same signal. Python only delivers
    signals to its main thread: elsewhere the guard knows ends of the program and nothing else.

    Args:
        modes: What has to be given back.
        finish_writing: Called before a stop: write what is begun, and read what is answered.
        on_resume: Called when the program has the terminal again.
    """

    def __init__(
        self,
        modes: TerminalModes,
        *,
        finish_writing: Callable[[], None],
        on_resume: Callable[[], None],
    ) -> None:
        self._modes = modes
        self._finish_writing = finish_writing
        self._on_resume = on_resume
        self._loop = asyncio.get_running_loop()
        self._signals: list[signal.Signals] = []
        self._is_stopping_ours = False

    def begin(self) -> None:
        """Take the terminal, and watch over it."""
        atexit.register(self._leave)
        if threading.current_thread() is threading.main_thread():
            for number in _DEADLY:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._die)
                    self._signals.append(number)
            if all(signal.getsignal(it) is signal.SIG_DFL for it in _STOPS):
                self._is_stopping_ours = True
                self._watch_stops()
        if self._modes.is_foreground:
            self._modes.enter()

    def end(self) -> None:
        """Give the terminal back, when all is answered that will be."""
        self._leave(is_waiting=False)
        atexit.unregister(self._leave)
        for number in self._signals:
            # The program may have set its own meanwhile.
            if signal.getsignal(number) == self._die:
                signal.signal(number, signal.SIG_DFL)
        self._signals.clear()
        if self._is_stopping_ours:
            self._is_stopping_ours = False
            for number in _STOPS:
                self._loop.remove_signal_handler(number)

    def _leave(self, *, is_waiting: bool = True) -> None:
        try:
            self._modes.leave(is_waiting=is_waiting)
        except KeyboardInterrupt:
            # Somebody leans on Ctrl-C, and it hit just here.
            self._modes.leave(is_waiting=False)
            raise

    def _die(self, number: int, _frame: FrameType | None) -> None:
        # At once, in the middle of whatever runs: the loop may never get to it.
        self._modes.leave(is_waiting=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _watch_stops(self) -> None:
        # In the loop and not at once: a write that was begun has to be ended.
        self._loop.add_signal_handler(signal.SIGTSTP, self._stop)
        self._loop.add_signal_handler(signal.SIGCONT, self._resume)

    def _stop(self) -> None:
        self._finish_writing()
        self._modes.leave(is_waiting=False)
        self._loop.remove_signal_handler(signal.SIGTSTP)
        # To this very thread, so that it has stopped before the next line; and not SIGSTOP, which
        # also stops where there is no shell to let it go on.
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        self._watch_stops()
        self._resume()

    def _resume(self) -> None:
        if self._modes.is_foreground and (not self._modes.is_entered or self._modes.is_changed):
            self._modes.enter()
            self._on_resume()
