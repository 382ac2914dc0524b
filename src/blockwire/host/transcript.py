"""Running the host in its process, and what stays on the terminal after it.

Spec: docs/spec/host/leaving.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Final, NoReturn

from blockwire.errors import BlockwireError
from blockwire.host.driver import HostDriver
from blockwire.host.drivercore import HostSettings, NewSession
from blockwire.host.outer import window_size
from blockwire.host.programenv import ProgramError
from blockwire.host.watchdog import ENDING, Lifeline, Outcome
from blockwire.text import label_controls

__all__ = ["run_host"]

PIECE_CHARS: Final = 16_384
WRITE_S_MAX: Final = 10
"""An end that a signal has begun does not wait longer for the terminal to take a piece."""

STATUS_FAILED: Final = 1


class _Enough(Exception):  # noqa: N818 - what was said, not what went wrong
    """Whoever sits there does not want to read all of it."""


def run_host(
    settings: HostSettings,
    new_session: NewSession,
    lifeline: Lifeline,
    *,
    transcript_screens: int | None,
) -> Outcome:
    """Run the host to its end, the terminal given back and the transcript written.

    Args:
        settings: What it has to know.
        new_session: Makes the session.
        lifeline: To the watchdog.
        transcript_screens: How many windows full of rows stay; None for all.
    """
    # The loop has handlers of its own, and until then the signal is blocked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run = _Run(settings, new_session, lifeline)
    try:
        return asyncio.run(run.main())
    except ProgramError as error:
        _say(error)
        return Outcome(error.status)
    except BlockwireError as error:
        _say(error)
        return Outcome(STATUS_FAILED)
    finally:
        # Also of a host that has failed: what was read in it is not lost.
        driver = run.driver
        if driver is not None and driver.is_terminal_ours and transcript_screens != 0:
            _print_transcript(driver, settings, transcript_screens)


class _Run:
    """What is left of a run when its loop is gone."""

    def __init__(self, settings: HostSettings, new_session: NewSession, lifeline: Lifeline) -> None:
        self._given = (settings, new_session, lifeline)
        self.driver: HostDriver | None = None

    async def main(self) -> Outcome:
        self.driver = HostDriver(*self._given)
        return await self.driver.run()


def _print_transcript(driver: HostDriver, settings: HostSettings, screens: int | None) -> None:
    if driver.core is None:
        return
    last_rows = None
    if screens is not None:
        last_rows = screens * window_size(settings.output_fd, settings.env)[1]
    for number in ENDING:
        # The signal that has begun the end may come twice: to the whole job, and from the watchdog.
        is_known = number == driver.ending_signal
        signal.signal(number, signal.SIG_IGN if is_known else _end_printing)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        for piece in _pieces(driver.core.transcript(last_rows=last_rows)):
            if signal.alarm(0):
                signal.alarm(WRITE_S_MAX)
            _write(settings.output_fd, settings.charset.encode(piece))
    except (_Enough, OSError):
        # The row that was cut, and its style, end here.
        with contextlib.suppress(_Enough, OSError):
            _write(settings.output_fd, b"\x1b[0m\n")
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)


def _end_printing(_number: int, _frame: FrameType | None) -> NoReturn:
    # It comes twice, to the whole job and from the watchdog, and would hit what ends the printing.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.alarm(WRITE_S_MAX)
    raise _Enough


def _pieces(rows: Iterator[str]) -> Iterator[str]:
    piece: list[str] = []
    chars = 0
    for row in rows:
        piece.append(f"{row}\n")
        chars += len(row) + 1
        if chars >= PIECE_CHARS:
            yield "".join(piece)
            piece.clear()
            chars = 0
    yield "".join(piece)


def _write(fd: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            # Somebody who shares it has made it so.
            select.select((), (fd,), ())


def _say(error: BlockwireError) -> None:
    with contextlib.suppress(OSError, ValueError):
        sentence = label_controls(error.detail, breaks="label", tabs="label")
        sys.stderr.write(f"blockwire: {sentence} [{error.code}]\n")
        sys.stderr.flush()
