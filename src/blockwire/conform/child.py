"""A program in a terminal of its own: started, written to, read from, ended.

It is the leader of a session whose controlling terminal is the pseudo-terminal, as in a window. The
runner sees what a terminal sees: bytes, and nothing of what is inside.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import selectors
import signal
import struct
import termios
import time
import tty
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from blockwire.errors import LocalProtocolError

__all__ = ["Child", "Silent"]

READ_BYTES: Final = 65_536
WRITE_BYTES: Final = 2_048
"""Below what the line discipline takes at once."""

COLUMNS: Final = 80
ROWS: Final = 24
ENDING_S: Final = 2.0
"""How long a program that was told to end has, before it is killed."""


class Silent(Exception):  # noqa: N818 - what it did, not what went wrong here
    """The program did not do in time what was waited for."""


class Child:
    """A program whose standard input and output are a pseudo-terminal.

    Args:
        command: Program and arguments.
        env: Its environment.
        is_raw: Whether the terminal passes every byte on; else it begins as a shell leaves it.
        shows_errors: Whether standard error goes where the runner's goes, not to the terminal.

    Raises:
        LocalProtocolError: ``program_not_started``.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        is_raw: bool = True,
        shows_errors: bool = True,
    ) -> None:
        self._near, far = pty.openpty()
        self.status: int | None = None
        try:
            fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            if is_raw:
                tty.setraw(far)
            self.modes_before = termios.tcgetattr(far)
            self.pid = self._start(command, env, far, shows_errors=shows_errors)
        except OSError as error:
            os.close(self._near)
            detail = f"cannot start {command[0]}: {os.strerror(error.errno or 0)}"
            raise LocalProtocolError("program_not_started", detail) from None
        finally:
            os.close(far)
        os.set_blocking(self._near, False)
        self._unwritten = bytearray()
        self._is_open = True
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._near, selectors.EVENT_READ)

    def _start(
        self, command: Sequence[str], env: Mapping[str, str], far: int, *, shows_errors: bool
    ) -> int:
        """Start the program at the far end of its terminal, and return its process id."""
        # Opening it without a controlling terminal makes it that; this comes after setsid.
        actions: list[Any] = [
            (os.POSIX_SPAWN_OPEN, 0, os.ttyname(far), os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
        ]
        if not shows_errors:
            actions.append((os.POSIX_SPAWN_DUP2, 0, 2))
        return os.posix_spawnp(
            command[0], list(command), dict(env), file_actions=actions, setsid=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def write(self, data: bytes) -> None:
        """Let the program read ``data``; it goes out while the runner reads."""
        self._unwritten += data

    def write_now(self, data: bytes) -> None:
        """Write at once what the terminal takes, so that it is a piece of its own."""
        self.write(data)
        self._write()

    def read(self, end_s: float) -> bytes:
        """Return what the program wrote next; nothing when it has closed its terminal.

        Args:
            end_s: When to give up, on the monotonic clock.

        Raises:
            Silent: It wrote nothing in time.
        """
        while self._is_open:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unwritten else 0)
            self._selector.modify(self._near, events)
            ready = self._selector.select(max(end_s - time.monotonic(), 0))
            if not ready:
                raise Silent
            mask = ready[0][1]
            if mask & selectors.EVENT_READ:
                data = self._read()
                if data is not None:
                    return data
            if mask & selectors.EVENT_WRITE and self._unwritten:
                self._write()
        return b""

    def _read(self) -> bytes | None:
        try:
            data = os.read(self._near, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            # Linux says so when nobody has the terminal open any more.
            if error.errno != errno.EIO:
                raise
            data = b""
        self._is_open = bool(data)
        return data

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                count = os.write(self._near, self._unwritten[:WRITE_BYTES])
            except OSError as error:
                if error.errno == errno.EAGAIN:
                    return
                count = len(self._unwritten)
            del self._unwritten[:count]

    @property
    def modes(self) -> list[Any]:
        """The modes of its terminal now, as ``tcgetattr`` has them."""
        return termios.tcgetattr(self._near)

    @property
    def is_open(self) -> bool:
        """Whether somebody has its terminal open, as far as was read."""
        return self._is_open

    def hang_up(self) -> None:
        """Close the terminal, as when its window is closed."""
        if self._near >= 0:
            self._selector.close()
            os.close(self._near)
            self._near, self._is_open = -1, False

    def wait(self, end_s: float) -> int:
        """Return its exit status, negative for a signal.

        Raises:
            Silent: It has not ended in time.
        """
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                break
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                raise Silent
            # There is no portable way to wait for a process with a bound; it has left its terminal.
            time.sleep(min(0.002, left_s))
        return self.status

    def end(self) -> None:
        """End the program, whatever it does, and what it started in its terminal."""
        self.hang_up()
        try:
            self._signal(signal.SIGHUP)
            self.wait(time.monotonic() + ENDING_S)
        except Silent:
            self._signal(signal.SIGKILL)
            with contextlib.suppress(Silent):
                self.wait(time.monotonic() + ENDING_S)

    def _signal(self, number: int) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
