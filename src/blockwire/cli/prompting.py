"""Answers of the person at the terminal, to what a turn waits for.

Spec: docs/reference/cli.md. The prompt stands on standard error, what is typed is read line by line
from the terminal, and an answer that came from elsewhere meanwhile ends the wait.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.abc

from blockwire.cli.output import note
from blockwire.client import AsyncClient, ClientError
from blockwire.content import TurnState
from blockwire.content.answers import read_answer
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json
from blockwire.render import request_text

__all__ = ["Prompter", "can_prompt", "prompting", "read_line"]

LINE_BYTES_MAX: Final = 65_536
"""Of one line; a terminal gives no more than 4,096 at a time."""

_TOO_LATE: Final = frozenset({"turn_not_suspended", "request_mismatch", "turn_terminal"})


def can_prompt() -> bool:
    """Return whether there is a person who can be asked and can type."""
    return sys.stdin.isatty() and (sys.stderr.isatty() or sys.stdout.isatty())


async def read_line() -> str | None:
    """Return the next line that is typed at the terminal; None at its end (Ctrl-D)."""
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    readable = anyio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
    data = os.read(descriptor, LINE_BYTES_MAX)
    return data.decode("utf-8", "replace").rstrip("\r\n") if data else None


class Prompter:
    """Asks the person at the terminal while a turn waits.

    Args:
        tasks: Where the asking runs.
        client: Returns the client of the gateway where it is now.
        is_drawn: What is asked is on the screen already.
    """

    def __init__(
        self,
        tasks: anyio.abc.TaskGroup,
        client: Callable[[], AsyncClient],
        *,
        is_drawn: bool,
    ) -> None:
        self._tasks = tasks
        self._client = client
        self._is_drawn = is_drawn
        self._asked: object = None
        self._is_asking = False
        self._scope: anyio.CancelScope | None = None

    def show(self, conversation_id: str, turn: TurnState | None) -> None:
        """Ask what ``turn`` waits for; stop asking when it does not wait any more."""
        request = None if turn is None else turn.request
        asked = None if request is None else request["id"]
        if asked == self._asked:
            return
        if self._scope is not None:
            if self._is_asking:
                # Whoever looks at the prompt must not go on typing into nothing.
                note("it waits no more: somebody else answered, or it has ended")
                self._is_asking = False
            self._scope.cancel()
            self._scope = None
        self._asked = asked
        if request is not None and turn is not None:
            self._scope = anyio.CancelScope()
            self._tasks.start_soon(self._ask, conversation_id, turn.turn_id, request, self._scope)

    async def _ask(
        self,
        conversation_id: str,
        turn_id: str,
        request: Mapping[str, Json],
        scope: anyio.CancelScope,
    ) -> None:
        with scope:
            if not self._is_drawn:
                note(request_text(request))
            while True:
                hint = "yes or no" if request["kind"] == "approval" else "your answer"
                note(f"{hint}, then Enter:")
                self._is_asking = True
                text = await read_line()
                self._is_asking = False
                if text is None:
                    note(f"it waits; later: blockwire answer {conversation_id} ANSWER")
                    return
                try:
                    answer = read_answer(request, text)
                except LocalProtocolError as error:
                    note(error.detail)
                    continue
                await self._send(conversation_id, turn_id, str(request["id"]), answer)
                return

    async def _send(
        self, conversation_id: str, turn_id: str, request_id: str, answer: Json
    ) -> None:
        try:
            await self._client().resume(conversation_id, turn_id, request_id, answer)
        except ClientError as error:
            if error.code in _TOO_LATE:
                note("somebody else answered before")
            else:
                note(f"the answer did not arrive: {error.detail} [{error.code}]")
                self._asked = None


@asynccontextmanager
async def prompting(
    client: Callable[[], AsyncClient], *, is_drawn: bool
) -> AsyncIterator[Prompter | None]:
    """Yield what asks the person at the terminal; None where there is none."""
    if not can_prompt():
        yield None
        return
    async with anyio.create_task_group() as tasks:
        yield Prompter(tasks, client, is_drawn=is_drawn)
        tasks.cancel_scope.cancel()
