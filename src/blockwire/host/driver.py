"""The host's loop: the program on one side, the outer terminal on the other, the session between.

Spec: docs/spec/host/process.md, "The loop". There is no decision here about what is shown or what a
key does: :class:`Core` has taken them all.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from types import FrameType
from typing import Any, Final

from blockwire.host.commands import (
    Command,
    CopyText,
    OuterSequence,
    Quit,
    RingBell,
    SetTitle,
    Suspend,
)
from blockwire.host.drivercore import Core, HostSettings, NewSession
from blockwire.host.leaving import CANCEL, LEAVE
from blockwire.host.outer import OuterTerminal, is_remote
from blockwire.host.program import Program
from blockwire.host.programenv import program_environment
from blockwire.host.watchdog import ENDING, STOP, Lifeline, Outcome
from blockwire.tty.clipboard import copy_text
from blockwire.tty.guard import ExitGuard

__all__ = ["HostDriver"]

FRAME_S: Final = 0.016
FRAME_SLOW_S: Final = 0.033
"""Between two frames: at hand, and over a network or while the terminal cannot keep up."""

PAINT_SHARE: Final = 3
"""Of the time that painting a frame took, so much is left for everything else."""

FRAME_S_MAX: Final = 0.1
"""However long that is."""

IDLE_S: Final = 0.010
"""Work that can wait begins when nothing has come for so long."""

IDLE_POSTPONED_MAX: Final = 25
"""So often it waits for a program that writes all the time."""

STOP_GRACE_S: Final = 0.05
"""A stop that was asked for of the watchdog is left to a signal that came to both."""

DRAIN_S_MAX: Final = 5.0
"""An end waits so long for a terminal that takes nothing of the last frame."""

QUIT_S_MAX: Final = 2.0
"""How long a program that was hung up on has to end."""

ENDING_S_MAX: Final = 10
"""A host that was told to end and has not got on for so long is ended by SIGALRM."""

SEQUENCES_BYTES_MAX: Final = 131_072
"""What waits for the outer terminal beside the frame; more is dropped."""


class HostDriver:
    """One run of the host, from a terminal as it was found to a terminal as it was found.

    Args:
        settings: What it has to know.
        new_session: Makes the session once the terminal has said what it looks like.
        lifeline: To the watchdog.

    Attributes:
        core: The session, once there is one.
        is_terminal_ours: Whether a transcript may be written in the end.
        ending_signal: The signal by which we were told to end; 0 for none.
    """

    def __init__(self, settings: HostSettings, new_session: NewSession, lifeline: Lifeline) -> None:
        self._settings = settings
        self._new_session = new_session
        self._lifeline = lifeline
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[Outcome] = self._loop.create_future()
        self.core: Core | None = None
        self.is_terminal_ours = True
        self.ending_signal = 0
        self._is_watched = True
        self._program: Program | None = None
        self._outer = OuterTerminal(
            input_fd=settings.input_fd,
            output_fd=settings.output_fd,
            env=settings.env,
            has_mouse=settings.has_mouse,
            take=self._take,
            on_input=self._receive_input,
            on_progress=self._note_progress,
        )
        self._guard = ExitGuard(
            self._outer.modes, finish_writing=self._finish_writing, on_resume=self._resumed
        )
        self._is_slow_line = is_remote(settings.env)
        self._is_backed_up = False
        self._is_due = False
        self._is_resized = False
        self._frame_s = 0.0
        self._paint_s = 0.0
        self._frame_timer: asyncio.TimerHandle | None = None
        self._tick_timer: asyncio.TimerHandle | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._is_busy = False
        self._postponed_count = 0
        self._title: str | None = None
        self._sequences = bytearray()

    async def run(self) -> Outcome:
        """Run the program, and return how it ended, or how we were told to end.

        Raises:
            ProgramError: It cannot be started.
        """
        self._loop.set_exception_handler(self._fail)
        # Setting a terminal never stops us; whose it is is asked for before.
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        for number in ENDING:
            signal.signal(number, self._end_by)
        self._loop.add_signal_handler(signal.SIGWINCH, self._note_resize)
        self._loop.add_reader(self._lifeline.fileno(), self._hear)
        try:
            self._guard.begin()
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            await self._outer.ask()
            if not self._over.done():
                self._start()
            return await self._over
        finally:
            await self._leave()

    def _start(self) -> None:
        settings = self._settings
        columns, rows = self._outer.size
        self.core = self._new_session(columns, rows, self._outer.colours)
        columns, rows = self.core.program_size
        self._program = Program(
            settings.command,
            env=program_environment(settings.env, ambiguous_width=settings.ambiguous_width),
            columns=columns,
            rows=rows,
            on_output=self._receive_output,
            on_end=self._note_end,
            on_room=self._outer.input.resume,
        )
        self._outer.begin()
        self._go_on()

    # what comes ---------------------------------------------------------------------------
    def _receive_output(self, data: bytes) -> None:
        if self.core is not None:
            self._is_busy = True
            self.core.receive_output(data, self._loop.time())
            self._go_on()

    def _receive_input(self, data: bytes) -> None:
        if not data:
            # The window is closed.
            self.is_terminal_ours = False
            self._finish(Outcome(signal_number=signal.SIGHUP))
        elif self.core is not None:
            self.core.receive_input(data, self._loop.time())
            self._go_on()
            if self._program is not None and self._program.is_full:
                self._outer.input.pause()

    def _note_end(self, outcome: Outcome) -> None:
        if self.core is not None:
            self.core.program_ended()
        self._finish(outcome)

    def _note_resize(self) -> None:
        self._is_resized = True
        self._wake()

    def _hear(self) -> None:
        heard = self._lifeline.receive()
        if heard == b"":
            self._loop.remove_reader(self._lifeline.fileno())
            self._is_watched = False
            self._finish(Outcome(signal_number=signal.SIGHUP))
        elif heard and STOP in heard and self._stop_timer is None:
            self._stop_timer = self._loop.call_later(STOP_GRACE_S, self._stop)

    def _tick(self) -> None:
        self._tick_timer = None
        if self.core is not None:
            self.core.tick(self._loop.time())
            self._go_on()

    def _go_on(self) -> None:
        """Do what the core wants after anything that it was told."""
        core = self.core
        assert core is not None, "it was told something"
        if self._program is not None:
            self._program.write(core.data_for_program())
        for command in core.take_commands():
            self._perform(command)
        if self._tick_timer is not None:
            self._tick_timer.cancel()
            self._tick_timer = None
        if (at_s := core.wake_at_s) is not None:
            self._tick_timer = self._loop.call_at(at_s, self._tick)
        if self._idle_timer is None:
            self._idle_timer = self._loop.call_later(IDLE_S, self._use_idle_time)
        self._wake()

    def _use_idle_time(self) -> None:
        self._idle_timer = None
        core = self.core
        if core is None or self._over.done():
            return
        is_busy, self._is_busy = self._is_busy, False
        if is_busy and self._postponed_count < IDLE_POSTPONED_MAX:
            self._postponed_count += 1
            self._idle_timer = self._loop.call_later(IDLE_S, self._use_idle_time)
            return
        self._postponed_count = 0
        if core.idle():
            self._idle_timer = self._loop.call_later(0, self._use_idle_time)
        # What was found is perhaps on the screen.
        self._wake()

    # what it wants ------------------------------------------------------------------------
    def _perform(self, command: Command) -> None:
        match command:
            case CopyText(text=text):
                self._queue(copy_text(text, self._settings.env))
            case SetTitle(text=text):
                self._title = text
            case RingBell():
                if not self._sequences.endswith(b"\x07"):
                    self._queue(b"\x07")
            case OuterSequence(data=data):
                self._queue(data)
            case Suspend():
                self._stop()
            case Quit():
                self._quit()

    def _queue(self, data: bytes) -> None:
        if len(self._sequences) + len(data) <= SEQUENCES_BYTES_MAX:
            self._sequences += data

    def _quit(self) -> None:
        if self._program is not None:
            self._program.hang_up()
            outcome = Outcome(signal_number=signal.SIGHUP)
            self._loop.call_later(QUIT_S_MAX, self._finish, outcome)

    # frames -------------------------------------------------------------------------------
    def _wake(self) -> None:
        """Draw soon, but not sooner than a frame after the last one."""
        if self._frame_timer is None:
            is_slow = self._is_slow_line or self._is_backed_up
            pause_s = max(FRAME_SLOW_S if is_slow else FRAME_S, PAINT_SHARE * self._paint_s)
            at_s = self._frame_s + min(pause_s, FRAME_S_MAX)
            self._frame_timer = self._loop.call_at(at_s, self._draw)

    def _draw(self) -> None:
        self._frame_timer = None
        if self._over.done():
            return
        if self._is_resized:
            self._is_resized = False
            self._resize()
        self._is_due = True
        # Without effect while a frame is on its way: the next one is drawn when it is written.
        self._outer.output.wake()

    def _take(self) -> bytes:
        if not self._is_due or self.core is None or not self._outer.modes.is_entered:
            return b""
        self._is_due = False
        title, self._title = self._title, None
        begun_s = self._loop.time()
        frame = self.core.paint()
        self._paint_s = self._loop.time() - begun_s
        data = bytes(self._sequences) + frame
        self._sequences.clear()
        if title is not None:
            data = b"\x1b]2;" + self._settings.charset.encode(title) + b"\x1b\\" + data
        if data:
            self._frame_s = self._loop.time()
        return data

    def _note_progress(self) -> None:
        self._is_backed_up = self._outer.output.rest_bytes > 0
        if self._outer.output.error is not None:
            self.is_terminal_ours = False
            self._finish(Outcome(signal_number=signal.SIGHUP))

    def _resize(self) -> None:
        if self.core is None or self._program is None:
            return
        self.core.resize(*self._outer.size)
        self._program.resize(*self.core.program_size)
        self._go_on()

    # stops --------------------------------------------------------------------------------
    def _stop(self) -> None:
        self._forget_stop()
        # To ourselves: the guard gives the terminal back first.
        os.kill(os.getpid(), signal.SIGTSTP)

    def _forget_stop(self) -> None:
        if self._stop_timer is not None:
            self._stop_timer.cancel()
            self._stop_timer = None

    def _finish_writing(self) -> None:
        self._forget_stop()
        # In the background (bg) the keys are the shell's, and whoever reads them is stopped.
        self._outer.input.pause()
        self._outer.output.finish()

    def _resumed(self) -> None:
        # What the watchdog was asked in the meantime has happened.
        with contextlib.suppress(OSError):
            if self._lifeline.receive() == b"":
                self._is_watched = False
        self._forget_stop()
        self._outer.output.drop()
        if self.core is not None:
            self.core.repaint()
        self._outer.input.resume()
        self._resize()

    # ends ---------------------------------------------------------------------------------
    def _end_by(self, number: int, _frame: FrameType | None) -> None:
        # Not in the loop, which may never get to it: then this alarm ends us, and the watchdog does
        # the rest.
        signal.alarm(ENDING_S_MAX)
        self.ending_signal = self.ending_signal or number
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._finish, Outcome(signal_number=number))

    def _finish(self, outcome: Outcome) -> None:
        if not self._over.done():
            self._over.set_result(outcome)

    def _fail(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception") or RuntimeError(context["message"])
        if not self._over.done():
            self._over.set_exception(error)

    async def _leave(self) -> None:
        # An end that is under way is not begun again; the transcript lets signals through later.
        for timer in (self._frame_timer, self._tick_timer, self._stop_timer, self._idle_timer):
            if timer is not None:
                timer.cancel()
        if self._program is not None:
            self._program.close()
        modes = self._outer.modes
        if not (self._is_watched or modes.is_foreground):
            # A shell has the terminal, and has set it as it wants it.
            self.is_terminal_ours = False
            with contextlib.suppress(OSError):
                os.write(self._settings.output_fd, CANCEL + LEAVE)
            return
        await self._drain()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        if modes.is_reply_expected():
            modes.leave(is_waiting=True)
        self._guard.end()
        self._outer.close()

    async def _drain(self) -> None:
        """Let the terminal take what is under way, so that it takes what comes behind it."""
        output = self._outer.output
        end_s = self._loop.time() + DRAIN_S_MAX
        rest_bytes = output.rest_bytes
        while output.rest_bytes and output.error is None and self._loop.time() < end_s:
            await asyncio.sleep(FRAME_S)
            if output.rest_bytes != rest_bytes:
                rest_bytes = output.rest_bytes
                end_s = self._loop.time() + DRAIN_S_MAX
