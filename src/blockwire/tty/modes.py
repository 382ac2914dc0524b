"""How a terminal device is set while a program has it, and that it is set back.

Spec: docs/spec/terminal/application.md, "Leaving". All of it is synchronous and may be called from
a signal handler.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

__all__ = ["CANCEL", "Keys", "TerminalModes"]

Keys: TypeAlias = Literal["signals", "bytes"]
"""What Ctrl-C, Ctrl-\\ and Ctrl-Z do: end or stop the program, or come as bytes."""

CANCEL: Final = b"\x18"
"""CAN: a terminal drops the control string that it is in the middle of."""

READ_BYTES: Final = 4_096

WRITE_S_MAX: Final = 1.0
"""How long leaving waits for a terminal that takes no bytes."""

REPLY_S_MAX: Final = 1.0
"""How long leaving at once waits for what the terminal was asked just before."""

REPLY_PAUSE_S: Final = 0.1
"""When nothing more has come for so long, all of the reply is there."""

_INPUT, _LOCAL, _CHARACTERS = 0, 3, 6


class TerminalModes:
    """One terminal device, as it was found and as the program has it.

    Args:
        input_fd: The device.
        output_fd: The same, to write to.
        keys: See :data:`Keys`.
        on_enter: Written each time the program gets the terminal, e.g. ``CSI ? 2004 h``.
        on_leave: Written each time it gives it back, e.g. ``CSI ? 2004 l``.
    """

    def __init__(
        self,
        input_fd: int,
        output_fd: int,
        *,
        keys: Keys = "signals",
        on_enter: bytes = b"",
        on_leave: bytes = b"",
    ) -> None:
        self._fd = input_fd
        self._output_fd = output_fd
        self._on_enter = on_enter
        self._on_leave = on_leave
        self._found = termios.tcgetattr(input_fd)
        self._wanted = _raw(self._found, keys)
        self._is_entered = False
        self._ahead_bytes = 0
        self._pid = os.getpid()
        self.is_cut: Callable[[], bool] = lambda: False
        """Whether a control string is written in part."""

        self.is_reply_expected: Callable[[], bool] = lambda: False
        """Whether what is to be read is not for whoever reads next."""

        self.reply_wait_s: Callable[[], float] = lambda: 0.0
        """For how long that may still be on its way."""

    @property
    def is_entered(self) -> bool:
        """Whether the program has the terminal."""
        return self._is_entered

    @property
    def is_foreground(self) -> bool:
        """Whether it may have it: a program in the background that tries is stopped."""
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            # It is not the controlling terminal, so nobody is stopped for it.
            return True

    @property
    def is_changed(self) -> bool:
        """Whether somebody else has set it while the program had it."""
        try:
            return self._is_entered and termios.tcgetattr(self._fd)[:4] != self._wanted[:4]
        except termios.error:
            return False

    def enter(self) -> None:
        """Take the terminal."""
        was = termios.tcgetattr(self._fd)
        termios.tcsetattr(self._fd, termios.TCSANOW, self._wanted)
        self._is_entered = True
        # Whole lines and the line that is begun: only now both of them count.
        has_newlines = was[_LOCAL] & termios.ICANON and was[_INPUT] & termios.ICRNL
        self._ahead_bytes = _waiting_bytes(self._fd) if has_newlines else 0
        self._write(self._on_enter)

    def as_typed(self, data: bytes) -> bytes:
        """Return what was read next as the keys sent it.

        What was typed before the program had the terminal has LF where Enter was pressed; from
        then on Enter is CR, and LF is Ctrl-J.
        """
        ahead, rest = data[: self._ahead_bytes], data[self._ahead_bytes :]
        self._ahead_bytes -= len(ahead)
        return ahead.replace(b"\n", b"\r") + rest

    def leave(self, *, is_waiting: bool) -> None:
        """Give it back as it was found; once, and never with an error.

        Args:
            is_waiting: Whether to wait for answers that are on their way, and drop them: nobody
                has until now.
        """
        if not self._is_entered or os.getpid() != self._pid:
            # What a program has forked ends before it does.
            return
        # Whoever presses Ctrl-C once more would interrupt just this.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._write((CANCEL if self.is_cut() else b"") + self._on_leave)
            # The terminal may be gone, and there is nobody to tell.
            with contextlib.suppress(OSError, termios.error):
                if self.is_reply_expected():
                    if is_waiting and self.is_foreground:
                        self._drop_replies()
                    termios.tcflush(self._fd, termios.TCIFLUSH)
                termios.tcsetattr(self._fd, termios.TCSANOW, self._found)
            # Only now: what was interrupted before is done again at the exit.
            self._is_entered = False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _drop_replies(self) -> None:
        # Not through the program's reader, which this may have interrupted.
        end_s = time.monotonic() + min(self.reply_wait_s(), REPLY_S_MAX)
        pause_s = REPLY_S_MAX
        while (left_s := end_s - time.monotonic()) > 0:
            if not select.select((self._fd,), (), (), min(left_s, pause_s))[0]:
                break
            if not os.read(self._fd, READ_BYTES):
                break
            pause_s = REPLY_PAUSE_S

    def _write(self, data: bytes) -> None:
        end_s = time.monotonic() + WRITE_S_MAX
        with contextlib.suppress(OSError):
            while data and (left_s := end_s - time.monotonic()) > 0:
                if select.select((), (self._output_fd,), (), left_s)[1]:
                    data = data[os.write(self._output_fd, data) :]


def _waiting_bytes(fd: int) -> int:
    """Return how much can be read at once."""
    try:
        return int(struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0])
    except OSError:
        return 0


def _raw(found: list[Any], keys: Keys) -> list[Any]:
    """Return settings in which bytes come as they are, at once, and are not echoed.

    Output is left as it is, so that LF still begins a new line in column 0.
    """
    wanted = [*found]
    wanted[_INPUT] &= ~(
        termios.BRKINT
        | termios.ICRNL
        | termios.IGNCR
        | termios.INLCR
        | termios.INPCK
        | termios.ISTRIP
        | termios.IXON
    )
    wanted[_LOCAL] &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.IEXTEN)
    if keys == "bytes":
        wanted[_LOCAL] &= ~termios.ISIG
    wanted[_CHARACTERS] = [*found[_CHARACTERS]]
    wanted[_CHARACTERS][termios.VMIN] = 1
    wanted[_CHARACTERS][termios.VTIME] = 0
    return wanted
