"""A child process with bounded pipes, in a process group that can be ended for certain.

Spec: docs/spec/gateway/engines.md, "Programs". Below is asyncio's own protocol interface: its
callbacks need no task that reads standard error while another reads standard output, and its
transports stop reading when nobody takes what was read. POSIX only.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import anyio

from blockwire.errors import EngineError

__all__ = ["ChildProcess", "StderrTail", "kill_every_group"]

STDOUT_BYTES_MAX: Final = 256 * 1024
"""Bytes read ahead of the consumer; beyond it, and what one turn of the loop reads, writes block."""

STDERR_BYTES_MAX: Final = 64 * 1024
"""Bytes of standard error kept for the log, the last ones."""

# A program is over and something it left behind still holds its standard output: what that says
# within this silence belongs to the answer, what it says later does not.
ORPHAN_SILENCE_S: Final = 1.0
# A killed process is gone in no time, unless the kernel holds it in a system call.
REAP_S: Final = 5.0
POLL_S: Final = 0.02

_STDIN: Final = 0
_STDOUT: Final = 1


# Of this process. Nobody asks it but whoever must end at once, with no time to go through owners.
_living: set[ChildProcess] = set()


def kill_every_group() -> None:
    """End, without a word and without waiting, every program that this process has started.

    For a process that leaves without tidying up: nothing that it started may outlive it.
    """
    for child in list(_living):
        child.kill()


class StderrTail:
    """The last lines of a stream: bounded, and never beginning amid a line."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._dropped_bytes = 0
        self._is_amid_line = False

    def receive_data(self, data: bytes) -> None:
        """Keep ``data``, and of everything only the end."""
        if self._is_amid_line:
            beginning, line_break, data = data.partition(b"\n")
            self._dropped_bytes += len(beginning) + len(line_break)
            self._is_amid_line = not line_break
        self._bytes += data
        surplus = len(self._bytes) - STDERR_BYTES_MAX
        if surplus > 0:
            # Half a line may hold half a secret, which nobody would recognise.
            end = self._bytes.find(b"\n", surplus - 1)
            self._is_amid_line = end < 0
            cut = len(self._bytes) if end < 0 else end + 1
            del self._bytes[:cut]
            self._dropped_bytes += cut

    @property
    def text(self) -> str:
        """What was kept, after a line on what was not; controls are written as escapes."""
        text = self._bytes.decode("utf-8", "replace").rstrip("\n")
        lines = [_without_controls(line) for line in text.split("\n")] if text else []
        if self._dropped_bytes:
            lines.insert(0, f"({self._dropped_bytes} bytes left out)")
        return "\n".join(lines)


def _without_controls(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)


class ChildProcess(asyncio.SubprocessProtocol):
    """One program, started in a session of its own.

    ``start`` once, ``read`` until it returns nothing, ``wait``; ``stop`` always.
    """

    def __init__(self) -> None:
        self._transport: asyncio.SubprocessTransport | None = None
        self._chunks = bytearray()
        self._is_paused = False
        self._is_stdout_open = True
        self._discards = False
        self._changed = anyio.Event()
        self._exited = anyio.Event()
        self.stderr = StderrTail()

    # asyncio calls these -----------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        _living.add(self)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Keep what the program wrote, and stop reading while there is too much of it."""
        piece = cast("bytes", data)
        if fd != _STDOUT:
            self.stderr.receive_data(piece)
        elif not self._discards:
            self._chunks += piece
            if len(self._chunks) >= STDOUT_BYTES_MAX and not self._is_paused:
                self._is_paused = True
                self._stdout.pause_reading()
            self._notify()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note the end of standard output."""
        del exc
        if fd == _STDOUT:
            self._is_stdout_open = False
            self._notify()

    def process_exited(self) -> None:
        """Note that the program is over; its pipes may still hold something."""
        self._exited.set()
        self._notify()

    # The engine calls these --------------------------------------------------------------------
    async def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None,
        stdin: bytes,
        stays_open: bool = False,
    ) -> None:
        """Start ``command`` and hand it ``stdin``, then the end of it unless that stays open.

        Raises:
            EngineError: ``engine_unavailable`` with what to do about it.
        """
        if cwd is not None and not await anyio.Path(cwd).is_dir():
            raise EngineError("engine_unavailable", "Its working directory (cwd) does not exist.")
        name = Path(command[0]).name
        if any("\0" in word for word in (*command, *env, *env.values())):
            # One loop refuses it, the other cuts the word there.
            raise EngineError("engine_unavailable", f"An argument or variable of {name} holds NUL.")
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise EngineError(
                "engine_unavailable",
                f"The program {name} was not found: install it, or correct `command`.",
            ) from None
        except PermissionError:
            raise EngineError(
                "engine_unavailable",
                f"The program {name} may not be run: make it executable, or correct `command`.",
            ) from None
        except OSError as error:
            raise EngineError(
                "engine_unavailable", f"The program {name} could not be started: {error.strerror}."
            ) from None
        self.write_stdin(stdin, is_last=not stays_open)

    def write_stdin(self, data: bytes, *, is_last: bool = False) -> None:
        """Hand the program ``data``, and the end of it where this is the last."""
        # Never awaited: a program that writes before it reads would wait for us for ever. What
        # is buffered here is one request and an answer, whose sizes are capped. A program that does not read
        # breaks the pipe, which the transport takes as the end.
        assert self._transport is not None, "just started"
        pipe = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(_STDIN))
        # uvloop raises where asyncio drops the data: a short program may be over already.
        with suppress(RuntimeError, OSError):
            pipe.write(data)
            if is_last:
                pipe.write_eof()

    async def read(self) -> bytes:
        """Return what the program wrote since the last call; nothing at the end of its output."""
        while not self._chunks and self._is_stdout_open:
            if not self._exited.is_set():
                await self._changed.wait()
                continue
            with anyio.move_on_after(ORPHAN_SILENCE_S) as scope:
                await self._changed.wait()
            if scope.cancelled_caught:
                return b""
        data = bytes(self._chunks)
        self._chunks.clear()
        if self._is_paused:
            self._is_paused = False
            if self._is_stdout_open:
                self._stdout.resume_reading()
        return data

    async def wait(self) -> int:
        """Return the exit status once the program is over; the negative signal that ended it."""
        await self._exited.wait()
        assert self._transport is not None, "it was started"
        return cast("int", self._transport.get_returncode())

    async def stop(self, *, patience_s: float, kill_grace_s: float) -> None:
        """End the whole group and reap the program; harmless when repeated.

        Args:
            patience_s: How long the program may take to end by itself.
            kill_grace_s: Between the polite signal and the other one.
        """
        if self._transport is None:
            return
        self._discards = True
        self._chunks.clear()
        if self._is_paused and self._is_stdout_open:
            self._stdout.resume_reading()
        self._is_paused = False
        try:
            with anyio.move_on_after(patience_s):
                await self._exited.wait()
            if self._signal(signal.SIGTERM) and not await self._is_gone(kill_grace_s):
                self._signal(signal.SIGKILL)
            with anyio.move_on_after(REAP_S):
                await self._exited.wait()
        except BaseException:
            # Whoever stops us for good has no patience left; nothing may outlive us.
            self._signal(signal.SIGKILL)
            with anyio.move_on_after(REAP_S, shield=True):
                await self._exited.wait()
            raise
        finally:
            _living.discard(self)
            # A loop that is closed by then would complain about open pipes.
            self._transport.close()
        # The pipes are let go of in the next turn of the loop; nobody should find them open.
        await anyio.lowlevel.checkpoint()

    def kill(self) -> None:
        """End the whole group now; :meth:`stop` reaps it, if there is time."""
        if self._transport is not None:
            self._signal(signal.SIGKILL)

    async def _is_gone(self, within_s: float) -> bool:
        with anyio.move_on_after(within_s):
            # Nothing tells when a group of other people's children has become empty.
            while not self._exited.is_set() or self._signal(0):  # noqa: ASYNC110 - see above
                await anyio.sleep(POLL_S)
            return True
        return False

    def _signal(self, number: int) -> bool:
        """Send a signal to the whole group; return whether anybody is in it.

        The program's id stays the group's while a member lives. Where none does, it could only
        be somebody else's after all other ids had been given out in the moments since.
        """
        assert self._transport is not None, "it was started"
        try:
            os.killpg(self._transport.get_pid(), number)
        except (ProcessLookupError, PermissionError):
            # macOS refuses permission for a group that holds only zombies.
            return False
        return True

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        assert self._transport is not None, "it was started"
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(_STDOUT))

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
