"""The program: a process on a pty of its own, whose terminal we are.

Spec: docs/spec/host/process.md, "The program".
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import pty
import signal
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from blockwire.host.programenv import ProgramError, find_program
from blockwire.host.watchdog import Outcome

__all__ = ["INPUT_BYTES_MAX", "Program"]

READ_BYTES: Final = 65_536
READ_S_MAX: Final = 0.004
"""After so long the screen and the keyboard have their turn, however much there is to read."""

TURN_BYTES_MAX: Final = 65_536
"""Likewise."""

WRITE_BYTES: Final = 4_096
"""As much as the line discipline of a terminal takes at once."""

INPUT_BYTES_MAX: Final = 1_048_576
"""With so much waiting that the program has not read, nothing more is taken from the keyboard."""

REPLY_BYTES_MAX: Final = 4_194_304
"""With so much waiting, nothing more is read from the program either: it asks and never listens."""

LAST_WORDS_S: Final = 0.5
"""How long the last output of a program that has ended is waited for."""

REOPENED_S: Final = 0.1
"""How often is looked whether a program that has closed its terminal has opened it again."""

SIGNALS_MAX: Final = 32
"""From here on they have no names, and some belong to the C library."""

_IUTF8: Final = 0x4000
"""Erasing takes whole characters; no name in :mod:`termios` before Python 3.15 or so."""

_DEFAULTED: Final = tuple(
    number
    for number in signal.valid_signals()
    if number < SIGNALS_MAX and number not in {signal.SIGKILL, signal.SIGSTOP}
)


class Program:
    """A program in a session of its own, whose controlling terminal is our pty.

    Args:
        command: Its name and arguments.
        env: Its environment.
        columns: Of its window.
        rows: Likewise.
        on_output: Called with what it wrote, in order.
        on_end: Called once, when it has ended and all its output was given.
        on_room: Called when there is room again after :attr:`is_full`.

    Raises:
        ProgramError: It cannot be started.
    """

    def __init__(  # noqa: PLR0913 - all but the command by name
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        columns: int,
        rows: int,
        on_output: Callable[[bytes], None],
        on_end: Callable[[Outcome], None],
        on_room: Callable[[], None] = lambda: None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_output = on_output
        self._on_end = on_end
        self._on_room = on_room
        self._waiting = bytearray()
        self._is_writing = False
        self._is_reading = False
        self._is_full = False
        self._is_over = False
        self._outcome: Outcome | None = None
        self._timer: asyncio.TimerHandle | None = None
        path = find_program(command[0], env)
        self._fd, far = pty.openpty()
        try:
            os.set_blocking(self._fd, False)
            self.resize(columns, rows)
            _set_terminal(far)
            self.pid = _spawn(path, command, env, far)
        except OSError as error:
            os.close(self._fd)
            raise ProgramError(command[0], error.errno or errno.ENOEXEC) from None
        finally:
            os.close(far)
        self._loop.add_signal_handler(signal.SIGCHLD, self._look)
        self._read_on()
        # It may have ended before anybody listened.
        self._look()

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the program that no more should be typed."""
        return self._is_full

    @property
    def waiting_bytes(self) -> int:
        """How much it has not read yet."""
        return len(self._waiting)

    def write(self, data: bytes) -> None:
        """Give ``data`` to the program's input, as soon as there is room."""
        if self._fd < 0 or not data:
            return
        self._waiting += data
        self._flush()

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program the size of its window."""
        if self._fd >= 0:
            with contextlib.suppress(termios.error):
                termios.tcsetwinsize(self._fd, (max(rows, 1), max(columns, 1)))

    def hang_up(self) -> None:
        """Tell it that its window is closed (SIGHUP), and what runs in front in it."""
        for number in (signal.SIGHUP, signal.SIGCONT):
            with contextlib.suppress(OSError):
                os.killpg(os.tcgetpgrp(self._fd), number)
            if self._outcome is None:
                os.kill(self.pid, number)

    def close(self) -> None:
        """Close its terminal: whatever still runs there is hung up on (SIGHUP)."""
        if self._fd < 0:
            return
        self._loop.remove_signal_handler(signal.SIGCHLD)
        self._stop_reading()
        self._watch_room(is_wanted=False)
        os.close(self._fd)
        self._fd = -1

    # its output ---------------------------------------------------------------------------
    def _read_on(self) -> None:
        if not (self._is_reading or self._is_over or self._fd < 0):
            self._is_reading = True
            self._loop.add_reader(self._fd, self._read)

    def _stop_reading(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._fd)

    def _read(self) -> None:
        end_s = time.monotonic() + READ_S_MAX
        pieces: list[bytes] = []
        read_bytes = 0
        is_over = False
        while read_bytes < TURN_BYTES_MAX:
            try:
                data = os.read(self._fd, READ_BYTES)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                # Linux says EIO when nobody has the far end open.
                data = b""
            if not data:
                is_over = True
                break
            pieces.append(data)
            read_bytes += len(data)
            if time.monotonic() >= end_s:
                break
        if pieces:
            self._on_output(b"".join(pieces))
        if self._fd < 0:
            return
        if is_over:
            self._pause_at_end()
        elif pieces and self._outcome is not None:
            self._wait_for_last_words()

    def _pause_at_end(self) -> None:
        """Do something sensible about a terminal that nobody has open."""
        self._stop_reading()
        if self._outcome is not None:
            self._end()
        else:
            # It runs, and may open its terminal again by name.
            self._timer = self._loop.call_later(REOPENED_S, self._read_on)

    # its end ------------------------------------------------------------------------------
    def _look(self) -> None:
        if self._outcome is not None:
            return
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            self._outcome = Outcome(code) if code >= 0 else Outcome(0, -code)
            self._read_on()
            self._wait_for_last_words()

    def _wait_for_last_words(self) -> None:
        # Its end comes first, and the kernel brings the rest of its output a little later.
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(LAST_WORDS_S, self._end)

    def _end(self) -> None:
        assert self._outcome is not None, "asked for only then"
        self._is_over = True
        self._stop_reading()
        self._on_end(self._outcome)

    # its input ----------------------------------------------------------------------------
    def _flush(self) -> None:
        try:
            while self._waiting:
                del self._waiting[: os.write(self._fd, self._waiting[:WRITE_BYTES])]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            # Nobody has the far end open: nobody will read it.
            self._waiting.clear()
        self._watch_room(is_wanted=bool(self._waiting))
        self._apply_bounds()

    def _apply_bounds(self) -> None:
        is_full = len(self._waiting) >= INPUT_BYTES_MAX
        if is_full != self._is_full:
            self._is_full = is_full
            if not is_full:
                self._on_room()
        if len(self._waiting) >= REPLY_BYTES_MAX:
            self._stop_reading()
        elif self._timer is None:
            self._read_on()

    def _watch_room(self, *, is_wanted: bool) -> None:
        if is_wanted != self._is_writing:
            self._is_writing = is_wanted
            if is_wanted:
                self._loop.add_writer(self._fd, self._flush)
            else:
                self._loop.remove_writer(self._fd)


def _set_terminal(far: int) -> None:
    settings = termios.tcgetattr(far)
    settings[0] |= _IUTF8
    termios.tcsetattr(far, termios.TCSANOW, settings)


def _spawn(path: str, command: Sequence[str], env: Mapping[str, str], far: int) -> int:
    # Opening it without a controlling terminal makes it that; this comes after setsid.
    actions: list[Any] = [
        (os.POSIX_SPAWN_OPEN, 0, os.ttyname(far), os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    return os.posix_spawn(
        path,
        list(command),
        dict(env),
        file_actions=actions,
        setsid=True,
        # Python ignores SIGPIPE, the host blocks and ignores more: none of it is the program's.
        setsigmask=(),
        setsigdef=_DEFAULTED,
    )
