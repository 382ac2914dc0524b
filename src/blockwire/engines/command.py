"""``command``: any program is an agent. The request on its standard input, an answer on the output.

Spec: docs/spec/gateway/engines.md, "Programs". Below are ``child`` (the process) and ``output``
(what it prints).

What a program may count on: one line of JSON on standard input and then its end (or, where it
takes answers, one more line for each); a small environment; that its exit status says how it went. What nobody else must fear: it runs in a
session of its own, and when its turn is over, cancelled or late, every process of its group is
ended too.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Final

import anyio
from msgspec import Struct

from blockwire.content import (
    BlockCompleted,
    BlockStarted,
    StreamEvent,
    TurnEnded,
)
from blockwire.engines.child import ChildProcess
from blockwire.engines.files import RunFolder
from blockwire.engines.output import OutputFormat, ProgramOutput
from blockwire.engines.request import encode_answer, encode_request
from blockwire.errors import EngineError
from blockwire.jsontext import Json
from blockwire.ports import EngineRequest, IdFactory
from blockwire.ports.tracing import CURRENT_TRACEPARENT

__all__ = ["CommandEngine", "CommandSettings", "child_environment"]

# What a program needs to find its own files, and nothing that opens a door.
INHERITED_NAMES: Final[tuple[str, ...]] = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
)
# A program that has written its terminal event may still clean up.
END_PATIENCE_S: Final = 2.0

# What a POSIX shell answers for a program that it cannot start.
SHELL_NOT_EXECUTABLE: Final = 126
SHELL_NOT_FOUND: Final = 127

_log: Final = logging.getLogger(__name__)


class CommandSettings(Struct, frozen=True, kw_only=True):
    """How to run the program.

    Attributes:
        command: Program and arguments; no shell is involved.
        env: Its whole environment.
        cwd: Its working directory; None is the gateway's own.
        output: Format of its standard output.
        kill_grace_s: Between the polite signal to its group and the other one.
        answers: Leave standard input open and write answers there, one a line.
    """

    command: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None = None
    output: OutputFormat = "auto"
    kill_grace_s: float = 2.0
    answers: bool = False


def child_environment(
    environment: Mapping[str, str], *, names: Sequence[str] = (), env: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a program: a short list, ``names`` beside it, then ``env``."""
    inherited = {
        name: environment[name] for name in (*INHERITED_NAMES, *names) if name in environment
    }
    return {**inherited, **env}


class CommandEngine:
    """Starts one program a turn.

    Args:
        settings: How.
        ids: Makes the ids of blocks.
        redact: Returns a text without credentials; for what goes to the log.
    """

    def __init__(
        self, settings: CommandSettings, *, ids: IdFactory, redact: Callable[[str], str]
    ) -> None:
        self._settings = settings
        self._ids = ids
        self._redact = redact
        self._children: set[ChildProcess] = set()
        self._folder = RunFolder()

    async def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield what the program says, and the end that its exit status means.

        Raises:
            EngineError: ``engine_unavailable`` (not started), ``engine_failed`` (exit status),
                ``engine_protocol_error`` (a line that is no event).
        """
        async with (
            self._folder.files(request) as given,
            aclosing(self._run(given)) as events,
        ):
            async for event in events:
                yield event

    async def _run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        output = ProgramOutput(self._settings.output, request.turn_id, new_id=self._ids.new_id)
        child = ChildProcess()
        self._children.add(child)
        try:
            await self._start(child, request)
            if self._settings.answers and request.answers is not None:
                request.answers.listen(
                    lambda answer: child.write_stdin(encode_answer(request.turn_id, answer))
                )
            while data := await child.read():
                for event in output.receive_data(data):
                    yield event
            for event in output.receive_eof():
                yield event
            status = await child.wait()
            for event in self._last_events(request.turn_id, output, status):
                yield event
        finally:
            with anyio.CancelScope(shield=True):
                await child.stop(
                    patience_s=END_PATIENCE_S if output.is_over else 0,
                    kill_grace_s=self._settings.kill_grace_s,
                )
            self._children.discard(child)
            self._log_stderr(request, child)

    async def _start(self, child: ChildProcess, request: EngineRequest) -> None:
        settings = self._settings
        env = {
            **settings.env,
            "BLOCKWIRE_CONVERSATION_ID": request.conversation_id,
            "BLOCKWIRE_TURN_ID": request.turn_id,
        }
        traceparent = CURRENT_TRACEPARENT.get()
        if traceparent is not None:
            env["TRACEPARENT"] = traceparent
        await child.start(
            settings.command,
            env=env,
            cwd=settings.cwd,
            stdin=encode_request(request),
            stays_open=settings.answers and request.answers is not None,
        )

    def _last_events(
        self, turn_id: str, output: ProgramOutput, status: int
    ) -> Iterator[StreamEvent]:
        if output.is_over:
            return
        _check_status(status)
        if output.is_empty:
            notice: dict[str, Json] = {
                "id": self._ids.new_id("block"),
                "type": "notice",
                "code": "no_output",
                "message": "The program ended without printing anything.",
            }
            yield BlockStarted(turn_id, notice)
            yield BlockCompleted(turn_id, str(notice["id"]))
        yield TurnEnded(turn_id, "completed", finish_reason="stop")

    def _log_stderr(self, request: EngineRequest, child: ChildProcess) -> None:
        # Redacted as a whole: a key of many lines is no key line by line.
        text = self._redact(child.stderr.text)
        for line in text.split("\n") if text else ():
            # Content: a level that nobody has without asking for it.
            _log.debug("engine %s, turn %s: %s", request.engine, request.turn_id, line)

    async def aclose(self) -> None:
        """End the programs of all turns that still run."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for child in list(self._children):
                    tasks.start_soon(self._stop_now, child)
            self._folder.close()

    async def _stop_now(self, child: ChildProcess) -> None:
        await child.stop(patience_s=0, kill_grace_s=self._settings.kill_grace_s)


def _check_status(status: int) -> None:
    """Raise EngineError unless the program ended with status 0."""
    if status == 0:
        return
    if status == SHELL_NOT_FOUND:
        raise EngineError(
            "engine_unavailable",
            "The program ended with status 127: its shell did not find a command. Install it, or"
            " add its folder to PATH in the engine's `env`.",
        )
    if status == SHELL_NOT_EXECUTABLE:
        raise EngineError(
            "engine_unavailable",
            "The program ended with status 126: its shell may not run a command. Make it"
            " executable.",
        )
    if status < 0:
        raise EngineError("engine_failed", f"The program was ended by signal {-status}.")
    raise EngineError("engine_failed", f"The program ended with status {status}.")
