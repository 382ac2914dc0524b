"""One connection to a terminal under test: bytes to it, its replies back, and a barrier between.

Spec: docs/spec/terminal/tools.md, "How a terminal is judged". A terminal answers in order, so the
answer to a query with a fresh id says that everything before it has been answered. Nothing sleeps.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from blockwire.conform.child import Child, Silent
from blockwire.conform.shape import FROM_TERMINAL, find_fault
from blockwire.conform.wire import (
    Message,
    Ordinary,
    Said,
    WireReader,
    Wrong,
    encode_message,
    frames,
)

__all__ = ["Connection", "Mismatch"]

START_S: Final = 15.0
"""How long a program has to answer for the first time."""
ASK_AGAIN_S: Final = 3.0
"""When it is asked again: programs that set up a terminal may forget what came before."""


class Mismatch(Exception):  # noqa: N818 - a verdict, not an accident
    """The program did something else than the specification says.

    Attributes:
        detail: What, in one sentence.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Connection:
    """A program that plays the terminal, and what was said on its wire.

    Attributes:
        optional_types: What it advertises beside ``text/plain``; None if it answers ``unsupported``.
        request_ids: Those used by cases so far, with what they were used for.
        opened: Ids of Contexts that it gave.
    """

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], answer_s: float) -> None:
        self._child = Child(command, env=env)
        self._reader = WireReader()
        self._answer_s = answer_s
        self._early: set[str] = set()
        self._barriers = itertools.count(1)
        self._frame_ids = itertools.cycle(range(1, 2**31))
        self.request_ids: dict[str, object] = {}
        self.opened: set[str] = set()
        self.optional_types: tuple[str, ...] | None = None
        try:
            self.optional_types = self._greet()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the program."""
        self._child.end()

    def encode(self, message: Message) -> bytes:
        """Return a message as frames with a fresh frame id."""
        return frames(encode_message(message), next(self._frame_ids))

    def _greet(self) -> tuple[str, ...] | None:
        end_s = time.monotonic() + START_S
        while True:
            try:
                answer = self._ask_barrier(b"", ASK_AGAIN_S)[1]
            except Mismatch:
                if time.monotonic() > end_s or not self._child.is_open:
                    raise
                continue
            break
        body = answer["body"]
        if body["outcome"] != "supported":
            return None
        return tuple(body["optional_content_types"])

    def ask(self, data: bytes) -> list[Message]:
        """Return the replies to ``data``, in order.

        Args:
            data: Ends where the program expects a new frame.

        Raises:
            Mismatch: It answered something that is no valid message, or not in time.
        """
        return self._ask_barrier(data, self._answer_s)[0]

    def tell(self, data: bytes) -> None:
        """Send bytes after which nothing can be asked yet: the beginning of a frame."""
        self._child.write(data)

    def _ask_barrier(self, data: bytes, within_s: float) -> tuple[list[Message], Message]:
        barrier = f"conform-barrier-{next(self._barriers)}"
        query = {"version": 1, "kind": "capability.query", "request_id": barrier, "body": {}}
        self._child.write(data + self.encode(query))
        end_s = time.monotonic() + within_s
        replies: list[Message] = []
        while True:
            try:
                piece = self._child.read(end_s)
            except Silent:
                self._early.add(barrier)
                raise Mismatch(f"no answer within {within_s:g} s to a query") from None
            if not piece:
                raise Mismatch("the program ended")
            for item in self._reader.receive_data(piece):
                message = _reply_of(item)
                if message is None:
                    continue
                if message.get("request_id") in self._early:
                    continue
                if message.get("request_id") == barrier:
                    if message["kind"] != "capability.response":
                        raise Mismatch(f"a query was answered with {message['kind']}")
                    return replies, message
                replies.append(message)


def _reply_of(item: Ordinary | Said | Wrong) -> dict[str, Any] | None:
    match item:
        case Ordinary():
            return None
        case Wrong(detail):
            raise Mismatch(f"it wrote: {detail}")
        case Said(message):
            fault = find_fault(message)
            if fault is not None:
                raise Mismatch(f"it wrote an invalid message: {fault}")
            if message["kind"] not in FROM_TERMINAL:
                raise Mismatch(f"it wrote {message['kind']}, which only applications send")
            return message
