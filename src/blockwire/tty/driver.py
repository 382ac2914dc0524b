"""A program's terminal: the sans-I/O application on real file descriptors, in asyncio.

Spec: docs/spec/terminal/application.md. There is no decision about the protocol here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self, TypeAlias

from blockwire.errors import BlockwireError
from blockwire.terminal import (
    AppendOnlyFallback,
    Application,
    ApplicationLimits,
    BlockFailed,
    BlockHandle,
    ContextEnded,
    ContextHandle,
    ContextLost,
    ContextReady,
    ContextRefused,
    Fallback,
    GivenData,
    Input,
    Lifecycle,
    Negotiated,
    News,
    answer_s,
    reason_not_to_ask,
)
from blockwire.tty.guard import ExitGuard
from blockwire.tty.modes import REPLY_S_MAX, Keys, TerminalModes
from blockwire.tty.streams import InputStream, OutputStream, open_again

__all__ = ["OpenContext", "Terminal", "TerminalError", "TerminalOptions", "open_terminal"]

RANDOM_BYTES: Final = 12
"""Of the ids of our requests."""

DRAINED_BYTES: Final = 65_536
"""So little may wait to be written when :meth:`Terminal.drain` returns."""

INPUT_BYTES_MAX: Final = 1_048_576
"""When so much has been typed that the program has not read, the rest stays with the terminal."""

Failure: TypeAlias = BlockFailed | ContextLost


class TerminalError(BlockwireError):
    """The terminal has refused a Context, or is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalOptions:
    r"""What a program may choose.

    Attributes:
        input_fd: Where is read.
        output_fd: Where is written.
        keys: Whether Ctrl-C, Ctrl-\\ and Ctrl-Z are signals or bytes.
        on_enter: Written each time the program gets the terminal; not in a pipe, nor where TERM
            says that the terminal knows no control sequences.
        on_leave: Written each time it gives it back, likewise.
        answer_s: How long an answer is waited for; by default longer over ssh.
        environment: What the variables are read from.
        on_failure: Told of each Block and Context that is not shown as it should be; without it the
            end of the Context raises.
        on_resume: Told when the program has been stopped and goes on: paint again.
    """

    input_fd: int = 0
    output_fd: int = 1
    keys: Keys = "signals"
    on_enter: bytes = b""
    on_leave: bytes = b""
    answer_s: float | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    on_failure: Callable[[Failure], None] | None = None
    on_resume: Callable[[], None] = lambda: None


class OpenContext:
    """A Context that is open; ``async with`` closes it at the end."""

    def __init__(self, terminal: Terminal, handle: ContextHandle) -> None:
        self._terminal = terminal
        self.handle = handle

    def append(
        self,
        content: GivenData,
        *,
        type: str = "text/plain",  # noqa: A002 - the word of the wire
        lifecycle: Lifecycle = "mutable",
        block_id: str | None = None,
    ) -> BlockHandle:
        """Add a Block at the end; see :meth:`blockwire.terminal.ContextHandle.append`."""
        return self.handle.append(content, type=type, lifecycle=lifecycle, block_id=block_id)

    async def close(self) -> None:
        """Seal what is mutable, and return when the terminal has done all that was asked.

        Raises:
            TerminalError: With the code of the terminal, ``no_answer`` or ``end_of_input``; also
                for a Block that has failed, if nobody was told.
        """
        await self._terminal.close_context(self.handle)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self.handle.state in {"open", "lost"}:
            await self.close()


class Terminal:
    """The terminal of a program, from :func:`open_terminal`."""

    def __init__(
        self, application: Application, options: TerminalOptions, modes: TerminalModes | None
    ) -> None:
        self._application = application
        self._options = options
        self._modes = modes
        self._loop = asyncio.get_running_loop()
        self._input = InputStream(open_again(options.input_fd, os.O_RDONLY), self._receive)
        self._output = OutputStream(
            open_again(options.output_fd, os.O_WRONLY), self._take, self._note_progress
        )
        application.changed = self._output.wake
        if modes is not None:
            modes.is_cut = lambda: self._output.is_cut
            modes.is_reply_expected = lambda: application.is_reply_expected
            modes.reply_wait_s = lambda: application.reply_until_s - self._loop.time()
        self._is_writing = False
        self._typed = bytearray()
        self._is_at_end = False
        self._timer: asyncio.TimerHandle | None = None
        self._negotiated: Negotiated | None = None
        self._waiters: set[asyncio.Future[None]] = set()
        self._ends: dict[ContextHandle, News] = {}
        self._failures: dict[ContextHandle, BlockFailed] = {}
        self._contexts: list[ContextHandle] = []
        self._unwanted: set[ContextHandle] = set()

    # what a program sees ------------------------------------------------------------------
    @property
    def negotiated(self) -> Negotiated:
        """How Blocks are shown, and why."""
        assert self._negotiated is not None, "a program gets it after that"
        return self._negotiated

    @property
    def content_types(self) -> frozenset[str]:
        """The types that a Block may have."""
        return self._application.content_types

    async def open_context(self) -> OpenContext:
        """Return a Context that is open, on the terminal or in the fallback.

        Raises:
            TerminalError: With the code of the terminal, ``no_answer`` or ``end_of_input``.
            LocalProtocolError: ``unsupported`` if there is no fallback.
        """
        handle = self._application.open_context()
        self._contexts.append(handle)
        try:
            await self._until(lambda: handle.state != "opening")
        except asyncio.CancelledError:
            # Nobody will close it.
            self._unwanted.add(handle)
            self._close_unwanted(handle)
            raise
        if handle.state != "open":
            raise self._error(handle)
        return OpenContext(self, handle)

    async def close_context(self, handle: ContextHandle) -> None:
        """Close a Context; see :meth:`OpenContext.close`."""
        if handle.state != "lost":
            handle.close()
        await self._until(lambda: handle.state != "closing")
        if handle.state != "closed":
            raise self._error(handle)
        if (failure := self._failures.pop(handle, None)) is not None:
            raise TerminalError(
                failure.code, f"{failure.block.block_id} is not shown as it should be"
            )

    def _close_unwanted(self, handle: ContextHandle) -> None:
        if handle in self._unwanted and handle.state == "open":
            handle.close()

    def write(self, data: bytes) -> None:
        """Write ordinary output, in its place among the operations."""
        self._application.write(data)

    async def drain(self) -> None:
        """Wait until so little waits to be written that more may be.

        Raises:
            OSError: If nothing can be written any more.
        """
        await self._until(lambda: self._waiting_bytes <= DRAINED_BYTES)
        self._check_output()

    async def flush(self) -> None:
        """Wait until everything is written; raises as :meth:`drain`."""
        await self._until(lambda: not self._waiting_bytes)
        self._check_output()

    async def read(self) -> bytes:
        """Return what was typed or pasted since the last call, and nothing at the end of input."""
        self._input.resume()
        await self._until(lambda: bool(self._typed) or self._is_at_end)
        data = bytes(self._typed)
        self._typed.clear()
        return data

    # its life -----------------------------------------------------------------------------
    async def negotiate(self) -> None:
        """Find out who shows the Blocks."""
        options = self._options
        is_terminal = self._modes is not None
        reason = reason_not_to_ask(
            options.environment,
            is_input_terminal=is_terminal,
            is_output_terminal=is_terminal,
            is_foreground=self._modes is None or self._modes.is_foreground,
        )
        if reason is None:
            self._input.resume()
            self._application.negotiate()
            await self._until(lambda: self._negotiated is not None)
            self._check_output()
        else:
            self._tell(self._application.skip(reason))

    def finish_writing(self) -> None:
        """Write what is begun, before a stop; what cannot be written is cancelled, and healed.

        Then read what was asked for, as far as it comes soon: the next reader is the shell.
        """
        self._output.finish()
        wait_s = min(self._application.reply_until_s - self._loop.time(), REPLY_S_MAX)
        end_s = time.monotonic() + wait_s
        while self._application.is_reply_expected and (left_s := end_s - time.monotonic()) > 0:
            if not self._input.read_within(left_s):
                break

    def resumed(self) -> None:
        """Go on after a stop."""
        if self._output.is_cut:
            self._output.drop()
            self._application.output_lost()
        self._output.wake()
        self._options.on_resume()

    async def leave(self) -> None:
        """Close what is open, and wait until all is written and answered.

        It gives up when the terminal has neither taken nor said anything for as long as an answer
        may take.
        """
        self._tell(self._application.finish_fallback())
        for handle in self._contexts:
            if handle.state == "open":
                handle.close()
        with contextlib.suppress(TimeoutError):
            while not (self._is_quiet or self._output.error):
                waiting_bytes = self._waiting_bytes
                async with asyncio.timeout(self._application.limits.answer_s):
                    await self._until(
                        lambda: self._is_quiet or self._waiting_bytes != waiting_bytes  # noqa: B023 - awaited here
                    )

    def close(self) -> None:
        """Let go of the descriptors."""
        if self._timer is not None:
            self._timer.cancel()
        self._input.close()
        self._output.close()

    # the circle ---------------------------------------------------------------------------
    @property
    def _waiting_bytes(self) -> int:
        return self._application.waiting_bytes + self._output.rest_bytes

    @property
    def _is_quiet(self) -> bool:
        return not (self._waiting_bytes or self._application.is_reply_expected)

    def _take(self) -> bytes:
        data = self._application.data_to_send(self._loop.time())
        self._set_timer()
        return data

    def _receive(self, data: bytes) -> None:
        if data:
            if self._modes is not None:
                data = self._modes.as_typed(data)
            self._tell(self._application.receive_input(data, self._loop.time()))
        else:
            self._is_at_end = True
            self._tell(self._application.end_of_input())
        if len(self._typed) >= INPUT_BYTES_MAX:
            self._input.pause()

    def _tick(self) -> None:
        self._timer = None
        self._tell(self._application.tick(self._loop.time()))

    def _tell(self, news: list[News]) -> None:
        for event in news:
            match event:
                case Input(data=data):
                    self._typed += data
                case Negotiated():
                    self._negotiated = event
                case BlockFailed() | ContextLost():
                    self._note_failure(event)
                case ContextRefused(context=context):
                    self._ends[context] = event
                case ContextReady(context=context):
                    self._close_unwanted(context)
                case ContextEnded():
                    pass
        self._set_timer()
        self._wake_waiters()

    def _note_failure(self, event: Failure) -> None:
        if isinstance(event, ContextLost):
            self._ends[event.context] = event
        elif self._options.on_failure is None:
            self._failures.setdefault(event.block.context, event)
        if self._options.on_failure is not None:
            self._options.on_failure(event)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        at_s = self._application.next_tick_at_s
        self._timer = None if at_s is None else self._loop.call_at(at_s, self._tick)

    def _note_progress(self) -> None:
        is_writing = bool(self._output.rest_bytes)
        if is_writing or self._is_writing:
            self._application.note_writing(self._loop.time())
        self._is_writing = is_writing
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not (is_so() or self._output.error):
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)

    def _check_output(self) -> None:
        if self._output.error is not None:
            raise self._output.error

    def _error(self, handle: ContextHandle) -> BlockwireError:
        self._check_output()
        end = self._ends[handle]
        assert isinstance(end, ContextRefused | ContextLost), "other Contexts have no error"
        return TerminalError(end.code, "the terminal has not kept the Context")


@contextlib.asynccontextmanager
async def open_terminal(
    options: TerminalOptions = TerminalOptions(),
    *,
    fallback: Fallback | None = None,
) -> AsyncIterator[Terminal]:
    """Yield the program's terminal, and give it back however the program ends.

    Args:
        options: What a program may choose.
        fallback: Shows the Blocks where the terminal does not; by default each is printed once.
    """
    environment = options.environment
    application = Application(
        process_id=secrets.token_hex(RANDOM_BYTES),
        limits=ApplicationLimits(
            answer_s=answer_s(environment) if options.answer_s is None else options.answer_s
        ),
        fallback=AppendOnlyFallback() if fallback is None else fallback,
    )
    is_terminal = os.isatty(options.input_fd) and os.isatty(options.output_fd)
    modes = None
    if is_terminal:
        has_controls = environment.get("TERM", "") not in {"", "dumb"}
        modes = TerminalModes(
            options.input_fd,
            options.output_fd,
            keys=options.keys,
            on_enter=options.on_enter if has_controls else b"",
            on_leave=options.on_leave if has_controls else b"",
        )
    terminal = Terminal(application, options, modes)
    guard = modes and ExitGuard(
        modes, finish_writing=terminal.finish_writing, on_resume=terminal.resumed
    )
    try:
        if guard:
            guard.begin()
        await terminal.negotiate()
        yield terminal
    finally:
        try:
            await terminal.leave()
        finally:
            if guard:
                guard.end()
            terminal.close()
