"""A program with Blocks that does what it is told: a list of steps, as JSON in its first argument.

Each step is a list, its name first; ``{n}`` in a text is the number of the innermost round, from 0:

====================================  ============================================================
``["block", id, text]``               append a Block; ``["block", id, text, "sealed"]`` likewise
``["box", id, [row, ...]]``           append a Block whose lines are never wrapped
``["extend", id, text]``              add to a Block
``["update", id, text]``              give it another text
``["seal", id]``                      end it
``["print", text]``                   ordinary output
``["title", text]``                   give the window a title: tells a test that it came so far
``["key"]``                           wait for one key
``["until", path]``                   wait until a file is there: typing would end what is read
``["repeat", count, [step, ...]]``    do steps so many times
``["every", ms, count, [step, ...]]`` the same, with so long from one to the next
``["exit", status]``                  end with a status; without it, with 0
====================================  ============================================================
"""

from __future__ import annotations

import asyncio
import json  # what a test says, not what is tested
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from blockwire.terminal import Layout, Lifecycle, Line, Span
from blockwire.terminal.blocks import BlockHandle
from blockwire.terminal.vocabulary import LINES
from blockwire.tty import OpenContext, Terminal, open_terminal

Step: TypeAlias = Sequence[Any]

_LOOK_S: Final = 0.01
_NEVER_WRAPPED: Final = Layout(wrap="none")


def blocks_program(*steps: Step) -> list[str]:
    """Return the command of a program that does ``steps``."""
    return [sys.executable, "-m", "tests.acceptance.terminals.blocksprogram", json.dumps(steps)]


def streamer(tokens: int = 500, *, every_ms: int = 4, block_id: str = "answer") -> list[Step]:
    """Return steps that stream a text of so many short lines, token by token."""
    return [
        ["block", block_id, ""],
        ["every", every_ms, tokens, [["extend", block_id, "token {n}\n"]]],
        ["seal", block_id],
    ]


def spinner(block_id: str, *, count: int = 24, every_ms: int = 83) -> list[Step]:
    """Return steps that turn a Block round and round, at 12 Hz."""
    return [["every", every_ms, count, [["update", block_id, "working {n}"]]]]


def table(block_id: str = "table") -> list[Step]:
    """Return steps that show a table in a box, 56 columns wide."""
    rows = [f"│ {f'name {n}':<24} │ {f'value {n}':<25} │" for n in range(3)]
    line = "─" * 26, "─" * 27
    return [["box", block_id, ["┌{}┬{}┐".format(*line), *rows, "└{}┴{}┘".format(*line)]]]


class _Performer:
    """Does steps on a terminal."""

    def __init__(self, terminal: Terminal, context: OpenContext) -> None:
        self._terminal = terminal
        self._context = context
        self._blocks: dict[str, BlockHandle] = {}
        self._typed = b""
        self.status = 0

    async def perform(self, steps: Sequence[Step], number: int = 0) -> None:
        for name, *given in steps:
            words = [it.replace("{n}", str(number)) if isinstance(it, str) else it for it in given]
            does = getattr(self, f"_{name}")(*words)
            if does is not None:
                await does
            await self._terminal.drain()

    def _block(self, block_id: str, text: str, lifecycle: Lifecycle = "mutable") -> None:
        block = self._context.append(text, block_id=block_id, lifecycle=lifecycle)
        self._blocks[block_id] = block

    def _box(self, block_id: str, rows: Sequence[str]) -> None:
        lines = tuple(Line(spans=(Span(text=row),), layout=_NEVER_WRAPPED) for row in rows)
        self._blocks[block_id] = self._context.append(lines, type=LINES, block_id=block_id)

    def _extend(self, block_id: str, text: str) -> None:
        self._blocks[block_id].extend(text)

    def _update(self, block_id: str, text: str) -> None:
        self._blocks[block_id].update(text)

    def _seal(self, block_id: str) -> None:
        self._blocks[block_id].seal()

    def _print(self, text: str) -> None:
        self._terminal.write(text.encode())

    def _title(self, text: str) -> None:
        self._terminal.write(f"\x1b]2;{text}\x1b\\".encode())

    async def _key(self) -> None:
        while not self._typed:
            self._typed = await self._terminal.read()
        self._typed = self._typed[1:]

    async def _until(self, path: str) -> None:
        while not Path(path).exists():  # noqa: ASYNC110, ASYNC240 - another process makes it
            await asyncio.sleep(_LOOK_S)

    async def _repeat(self, count: int, steps: Sequence[Step]) -> None:
        for at in range(count):
            await self.perform(steps, at)

    async def _every(self, pause_ms: int, count: int, steps: Sequence[Step]) -> None:
        loop = asyncio.get_running_loop()
        begin_s = loop.time()
        for at in range(count):
            await self.perform(steps, at)
            # Its own pace is what such a program is about.
            await asyncio.sleep(begin_s + (at + 1) * pause_ms / 1_000 - loop.time())

    def _exit(self, status: int) -> None:
        self.status = status


async def _main(steps: Sequence[Step]) -> int:
    async with open_terminal() as terminal, await terminal.open_context() as context:
        performer = _Performer(terminal, context)
        await performer.perform(steps)
    return performer.status


if __name__ == "__main__":
    sys.exit(asyncio.run(_main(json.JSONDecoder().decode(sys.argv[1]))))
