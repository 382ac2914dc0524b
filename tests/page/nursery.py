"""Gateways without the wait for Python: copies of a process that has imported all that ``serve`` needs.

Each test has a gateway of its own, and a third of a second of one core would go into the same imports
each time. What is copied is the program before its first line; from there on it is ``blockwire serve``,
a process of its own that can be killed.

Run as ``python nursery.py FD``, by :class:`Nursery`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json  # between our own processes
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["Born", "Nursery", "close_shared", "shared"]

_REQUEST_BYTES_MAX: Final = 65_536
_IMPORTED: Final = (
    "blockwire.__main__",
    "blockwire.cli.ending",
    "blockwire.cli.commands.serve",
    "blockwire.cli.wiring",
    "blockwire.cli.reload",
    "blockwire.gateway",
    "blockwire.stores.sqlite",
)


class Born:
    """A gateway of the nursery, with what tests use of ``subprocess.Popen``."""

    def __init__(self, output: int, errors: int, end: int) -> None:
        self.returncode: int | None = None
        self.stdout = os.fdopen(output, "rb")
        self._errors = os.fdopen(errors, "rb")
        # Who waits for it says its number first, and in the end its status.
        self._end = os.fdopen(end, "rb", buffering=0)
        self.pid = int(self._end.readline())

    def poll(self) -> int | None:
        """Return its exit status, negative where a signal ended it; None while it runs."""
        self._wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it without warning."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """End it politely."""
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Return what it still said, when it has ended; raises ``TimeoutExpired`` when it does not."""
        self._wait(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("blockwire serve", timeout or 0)
        with self.stdout, self._errors, self._end:
            return self.stdout.read(), self._errors.read()

    def _wait(self, timeout_s: float | None) -> None:
        if self.returncode is None and select.select([self._end], [], [], timeout_s)[0]:
            self.returncode = os.waitstatus_to_exitcode(int(self._end.readline()))


class Nursery:
    """The process that gateways are copied from."""

    def __init__(self) -> None:
        self._socket, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(Path(__file__)), str(far.fileno())],
                pass_fds=[far.fileno()],
                stdin=subprocess.DEVNULL,
                # Pipes, as those of its copies: what is no file cannot be sought in.
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )

    def serve(self, arguments: list[str], env: dict[str, str], cwd: Path) -> Born:
        """Start ``blockwire serve`` with ``arguments``."""
        pipes = [os.pipe() for _ in range(3)]
        request = json.dumps([["serve", *arguments], env, str(cwd)]).encode()
        writers = [writer for _, writer in pipes]
        try:
            socket.send_fds(self._socket, [request], writers)
        except OSError as error:
            raise AssertionError(self._process.communicate()[1].decode()) from error
        finally:
            for writer in writers:
                os.close(writer)
        return Born(*(reader for reader, _ in pipes))

    def close(self) -> None:
        """Take no more requests; gateways that run are left as they are."""
        self._socket.close()
        self._process.communicate()


_shared: list[Nursery] = []


def shared() -> Nursery:
    """Return the nursery of this run of tests; it begins with the first gateway."""
    if not _shared:
        _shared.append(Nursery())
    return _shared[0]


def close_shared() -> None:
    """End the nursery, when nobody needs another gateway."""
    while _shared:
        _shared.pop().close()


def main() -> None:
    """Copy this process for each request, until nobody asks any more."""
    for name in _IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    # Those who wait are waited for by nobody.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        while True:
            data, fds, _, _ = socket.recv_fds(requests, _REQUEST_BYTES_MAX, 3)
            if not data:
                return
            if os.fork() == 0:
                requests.close()
                _watch(data, *fds)
                return
            for fd in fds:
                os.close(fd)


def _watch(request: bytes, output: int, errors: int, end: int) -> None:
    # Waits for the gateway that it starts; returns in the gateway only.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (pid := os.fork()) > 0:
        os.close(output)
        os.close(errors)
        with open(end, "wb", buffering=0) as told:
            told.write(b"%d\n" % pid)
            told.write(b"%d\n" % os.waitpid(pid, 0)[1])
        os._exit(0)
    os.close(end)
    for fd, number in ((output, 1), (errors, 2)):
        os.dup2(fd, number)
        os.close(fd)
    arguments, env, cwd = json.JSONDecoder().decode(request.decode())
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = ["blockwire", *arguments]
    importlib.import_module("blockwire.__main__").run()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
