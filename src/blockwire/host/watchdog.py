"""The parent of the host: it waits, and puts the terminal right when the host cannot any more.

Spec: docs/spec/host/process.md, "Processes". It must outlive everything that may kill the host, so
it does next to nothing and imports next to nothing: no event loop, no room of ours but the bytes of
:mod:`blockwire.host.leaving`.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import sys
import termios
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn

from blockwire.host.leaving import CANCEL, LEAVE

__all__ = ["STOP", "Lifeline", "Outcome", "end_as", "wait_for_foreground", "watch"]

STOP: Final = b"stop\n"
"""From the watchdog to the host: somebody has asked the watchdog to stop."""

WRITE_S_MAX: Final = 1.0
"""How long a terminal that takes no bytes is waited for."""

REPORT_BYTES_MAX: Final = 64
STATUS_FAILED: Final = 1
STATUS_SIGNAL: Final = 128

ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_HELD: Final = (*ENDING, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH, signal.SIGCHLD)


class Outcome(NamedTuple):
    """How the program ended, or what the host had to say instead.

    Attributes:
        status: Exit status, if no signal ended it.
        signal_number: The signal that ended it; 0 for none.
    """

    status: int = 0
    signal_number: int = 0


class Lifeline:
    """The host's end of the connection with the watchdog.

    It is readable when the watchdog asks for a stop (:data:`STOP`), and at its end when there is no
    watchdog any more.
    """

    def __init__(self, near: socket.socket) -> None:
        self._near = near
        near.settimeout(0)

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._near.fileno()

    def receive(self) -> bytes | None:
        """Return what the watchdog has said; nothing at the end, None for nothing yet."""
        try:
            return self._near.recv(REPORT_BYTES_MAX)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def report(self, outcome: Outcome) -> None:
        """Tell how it ended. Only when the terminal is given back: nobody does it after that."""
        with contextlib.suppress(OSError):
            self._near.send(b"%d %d\n" % outcome)


def wait_for_foreground(terminal_fd: int) -> bool:
    """Stop, as programs do that are started in the background, until somebody lets us go on.

    Returns:
        Whether the terminal is ours now.
    """
    if not _is_foreground(terminal_fd):
        os.killpg(0, signal.SIGTTOU)
    return _is_foreground(terminal_fd)


def watch(run_host: Callable[[Lifeline], Outcome], terminal_fd: int) -> Outcome:
    """Run the host in a process of its own, and return how it ended, the terminal as it was.

    Args:
        run_host: Called in the child. Signals are blocked there until it lets them through.
        terminal_fd: The outer terminal, as it has to be in the end.
    """
    found = termios.tcgetattr(terminal_fd)
    near, far = socket.socketpair()
    # From here on no signal may come between the two.
    signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    pid = os.fork()
    if not pid:
        near.close()
        _be_host(run_host, Lifeline(far))
    far.close()
    return _Watch(pid, near, terminal_fd, found).run()


def end_as(outcome: Outcome) -> int:
    """Return the exit status; or end this process by the signal that ended the program."""
    if not outcome.signal_number:
        return outcome.status
    # The program has left its core, if it was to leave one.
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    with contextlib.suppress(OSError, ValueError):
        # SIGKILL has no handler to be replaced.
        signal.signal(outcome.signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), outcome.signal_number)
    return STATUS_SIGNAL + outcome.signal_number


def _be_host(run_host: Callable[[Lifeline], Outcome], lifeline: Lifeline) -> NoReturn:
    """Run in the child, which never returns to what called :func:`watch`."""
    outcome = Outcome(STATUS_FAILED)
    try:
        outcome = run_host(lifeline)
    except BaseException:  # noqa: BLE001 - the interpreter's own way, and nobody is behind us
        sys.excepthook(*sys.exc_info())
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    lifeline.report(outcome)
    os._exit(outcome.status)


class _Watch:
    def __init__(self, pid: int, near: socket.socket, terminal_fd: int, found: list[Any]) -> None:
        self._pid = pid
        self._near = near
        self._fd = terminal_fd
        self._found = found

    def run(self) -> Outcome:
        before = {number: signal.getsignal(number) for number in (*ENDING, signal.SIGTSTP)}
        for number in ENDING:
            signal.signal(number, self._pass_on)
        signal.signal(signal.SIGTSTP, self._ask_for_stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
        try:
            while True:
                _, status = os.waitpid(self._pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    self._pid = 0
                    return self._outcome(os.waitstatus_to_exitcode(status))
                self._stop_too()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._near.close()

    def _pass_on(self, number: int, _frame: object) -> None:
        # A key of the terminal reaches the host by itself, too; its first signal counts.
        if self._pid:
            # It may have ended just now.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, number)

    def _ask_for_stop(self, _number: int, _frame: object) -> None:
        # By word and not by signal: the host has perhaps got the signal itself, and would stop once
        # more when it goes on. It can forget a word.
        with contextlib.suppress(OSError):
            self._near.send(STOP, socket.MSG_DONTWAIT)

    def _stop_too(self) -> None:
        """Stop as the host has, and let it go on with us."""
        if self._settings() != self._found:
            # It was stopped by a signal that nobody can catch.
            self._restore()
        # By the signal that needs no handler to be taken away, and so leaves no moment without one.
        # The host has stopped, so there is a shell that lets us go on.
        os.kill(os.getpid(), signal.SIGSTOP)
        os.kill(self._pid, signal.SIGCONT)

    def _outcome(self, code: int) -> Outcome:
        report = b""
        with contextlib.suppress(OSError):
            report = self._near.recv(REPORT_BYTES_MAX, socket.MSG_DONTWAIT)
        if report:
            status, number = report.split()
            return Outcome(int(status), int(number))
        self._restore()
        if code >= 0:
            what = f"the host ended with status {code} and said nothing"
        else:
            what = f"the host was ended by {_name(-code)}"
        _say(f"blockwire term: {what}; the terminal is restored, and the program was hung up on")
        return Outcome(STATUS_SIGNAL - code if code < 0 else code or STATUS_FAILED)

    def _settings(self) -> list[Any]:
        try:
            return termios.tcgetattr(self._fd)
        except termios.error:
            return self._found

    def _restore(self) -> None:
        if not _is_foreground(self._fd):
            # Somebody else has it, and has it as they want it.
            return
        _write(self._fd, CANCEL + LEAVE)
        with contextlib.suppress(termios.error):
            # Not drained: a terminal that takes no bytes would hold us here.
            termios.tcsetattr(self._fd, termios.TCSANOW, self._found)


def _is_foreground(fd: int) -> bool:
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        # It is not the controlling terminal, so nobody is stopped for it.
        return True


def _write(fd: int, data: bytes) -> None:
    end_s = time.monotonic() + WRITE_S_MAX
    with contextlib.suppress(OSError):
        while data and (left_s := end_s - time.monotonic()) > 0:
            if select.select((), (fd,), (), left_s)[1]:
                data = data[os.write(fd, data) :]


def _say(sentence: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
