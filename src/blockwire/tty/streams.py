"""Bytes from and to file descriptors, without ever blocking the event loop.

A terminal is opened once more by its name, so that it can be made non-blocking for us alone: that
is a property of what is open, and shells and other programs share what we were given. A pipe is
written in pieces that it has said it has room for; a file never blocks for long.
"""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import Callable
from typing import Final

__all__ = ["InputStream", "OutputStream", "open_again"]

READ_BYTES: Final = 65_536
FINISH_S_MAX: Final = 1.0
TERMINAL_PIECE_BYTES: Final = 256


def open_again(fd: int, flags: int) -> int:
    """Return a descriptor of our own for ``fd``: non-blocking if it is a terminal."""
    try:
        name = os.ttyname(fd)
        return os.open(name, flags | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return os.dup(fd)


class InputStream:
    """Reads as long as somebody wants it to.

    Args:
        fd: Its own to close.
        on_data: Called with what was read, and with nothing at the end.
    """

    def __init__(self, fd: int, on_data: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._on_data = on_data
        self._loop = asyncio.get_running_loop()
        self._is_reading = False
        self._is_file = False
        self._is_over = False

    def resume(self) -> None:
        """Read."""
        if self._is_reading or self._is_over:
            return
        self._is_reading = True
        if self._is_file:
            self._loop.call_soon(self._read)
            return
        try:
            self._loop.add_reader(self._fd, self._read)
        except PermissionError:
            # Linux watches no regular files: they are always ready.
            self._is_file = True
            self._loop.call_soon(self._read)

    def pause(self) -> None:
        """Do not read until further notice."""
        if self._is_reading and not self._is_file:
            self._loop.remove_reader(self._fd)
        self._is_reading = False

    def close(self) -> None:
        """Read no more."""
        self.pause()
        if not self._is_over:
            self._is_over = True
            os.close(self._fd)

    def read_within(self, time_s: float) -> bool:
        """Wait for data, without the event loop; return whether any came."""
        if not self._is_reading or not select.select((self._fd,), (), (), time_s)[0]:
            return False
        self._read()
        return True

    def _read(self) -> None:
        if not self._is_reading:
            return
        try:
            data = os.read(self._fd, READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            # A terminal that is gone says EIO.
            data = b""
        if not data:
            self.close()
        elif self._is_file:
            self._loop.call_soon(self._read)
        self._on_data(data)


class OutputStream:
    """Writes what there is whenever there is room; asks for more only when all is written.

    Args:
        fd: Its own to close.
        take: Returns all that is to be written now.
        on_progress: Called when something was written, or nothing can be any more.
    """

    def __init__(self, fd: int, take: Callable[[], bytes], on_progress: Callable[[], None]) -> None:
        self._fd = fd
        self._take = take
        self._on_progress = on_progress
        self._loop = asyncio.get_running_loop()
        self._rest = memoryview(b"")
        self._is_begun = False
        self._is_watching = False
        self._is_scheduled = False
        self._is_closed = False
        # A blocking descriptor is asked for room before each piece, and takes that much of a pipe;
        # a terminal is only blocking if it could not be opened again.
        self._is_blocking = os.get_blocking(fd)
        self._piece_bytes = READ_BYTES
        if self._is_blocking:
            self._piece_bytes = TERMINAL_PIECE_BYTES if os.isatty(fd) else select.PIPE_BUF
        self.error: OSError | None = None

    @property
    def rest_bytes(self) -> int:
        """How much was taken and is not written."""
        return len(self._rest)

    @property
    def is_cut(self) -> bool:
        """Whether something was written in part."""
        return self._is_begun and bool(self._rest)

    def wake(self) -> None:
        """Write soon."""
        if not (self._is_scheduled or self._is_watching or self._is_closed):
            self._is_scheduled = True
            self._loop.call_soon(self._pump)

    def finish(self) -> bool:
        """Write what is begun, waiting for room; return whether it is written."""
        end_s = time.monotonic() + FINISH_S_MAX
        while self._rest and self.error is None:
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not select.select((), (self._fd,), (), left_s)[1]:
                return False
            self._write()
        return self.error is None

    def drop(self) -> None:
        """Do not write what is left of what was taken."""
        self._rest = memoryview(b"")
        self._is_begun = False

    def close(self) -> None:
        """Write no more."""
        if not self._is_closed:
            self._is_closed = True
            self._watch(is_wanted=False)
            os.close(self._fd)

    def _pump(self) -> None:
        self._is_scheduled = False
        if self._is_closed:
            return
        while self.error is None:
            if not self._rest:
                self._rest = memoryview(self._take())
                self._is_begun = False
                if not self._rest:
                    break
            if not self._write():
                break
        self._watch(is_wanted=bool(self._rest) and self.error is None)
        self._on_progress()

    def _write(self) -> bool:
        """Write a piece, and return whether there was room."""
        if self._is_blocking and not select.select((), (self._fd,), (), 0)[1]:
            return False
        try:
            count = os.write(self._fd, self._rest[: self._piece_bytes])
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            self.error = error
            self.drop()
            return False
        self._is_begun = True
        self._rest = self._rest[count:]
        return True

    def _watch(self, *, is_wanted: bool) -> None:
        if is_wanted == self._is_watching:
            return
        self._is_watching = is_wanted
        if is_wanted:
            self._loop.add_writer(self._fd, self._pump)
        else:
            self._loop.remove_writer(self._fd)
