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
"""How long a program has to answer for the first time, at least."""
START_ANSWERS: Final = 3
"""The same as a multiple of the time for an answer, where that is more."""
ASK_AGAIN_S: Final = 3.0
"""When it is asked again, at least: programs that set up a terminal may forget what came before."""


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
        optional_types: What it advertises beside ``text/plain``; None if it supports nothing.
        answered: What it said to the first query: an outcome or a code.
        request_ids: Those used by cases so far, with what they were used for.
        opened: Ids of Contexts that it gave to cases that look whether one comes twice.
        given: Ids of all Contexts that it gave.
        asked_count: How many queries the runner has sent between what the cases sent.
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
        self.given: set[str] = set()
        self.answered = ""
        self.asked_count = 0
        self._left_open: dict[str, None] = {}
        self._closes = itertools.count(1)
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
        end_s = time.monotonic() + max(START_S, START_ANSWERS * self._answer_s)
        while True:
            try:
                answer = self._ask_barrier(b"", max(ASK_AGAIN_S, self._answer_s))[1]
            except Mismatch:
                if time.monotonic() > end_s or not self._child.is_open:
                    raise
                continue
            break
        body = answer["body"]
        self.answered = body.get("error", {}).get("code", body["outcome"])
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
        return [item for item in self.listen(data) if not isinstance(item, bytes)]

    def listen(self, data: bytes) -> list[Message | bytes]:
        """Return all that comes for ``data``, in order: replies, and bytes that are none.

        Raises:
            Mismatch: As :meth:`ask`.
        """
        return self._ask_barrier(data, self._answer_s)[0]

    def close_contexts(self) -> None:
        """Close what was left open: a terminal has room for a number of Contexts only.

        Raises:
            Mismatch: As :meth:`ask`.
        """
        left, self._left_open = self._left_open, {}
        requests: list[Message] = [
            {
                "version": 1,
                "kind": "context.close",
                "request_id": f"close-{next(self._closes)}",
                "context_id": context_id,
                "body": {},
            }
            for context_id in left
        ]
        if requests:
            self.ask(b"".join(map(self.encode, requests)))

    def tell(self, data: bytes) -> None:
        """Send bytes after which nothing can be asked yet: the beginning of a frame."""
        self._child.write(data)

    def _ask_barrier(self, data: bytes, within_s: float) -> tuple[list[Message | bytes], Message]:
        # Short: a terminal has a limit for ids, and this is no case of it.
        self.asked_count += 1
        barrier = f"conform-{next(self._barriers)}"
        query = {"version": 1, "kind": "capability.query", "request_id": barrier, "body": {}}
        self._child.write(data + self.encode(query))
        end_s = time.monotonic() + within_s
        heard: list[Message | bytes] = []
        while True:
            try:
                piece = self._child.read(end_s)
            except Silent:
                self._early.add(barrier)
                raise Mismatch(f"no answer within {within_s:g} s to a query") from None
            if not piece:
                raise Mismatch("the program ended")
            for item in self._reader.receive_data(piece):
                if isinstance(item, Ordinary):
                    heard.append(item.data)
                    continue
                message = _reply_of(item)
                if message.get("request_id") in self._early:
                    continue
                if message.get("request_id") == barrier:
                    if message["kind"] != "capability.response":
                        raise Mismatch(f"a query was answered with {message['kind']}")
                    return heard, message
                self._note_context(message)
                heard.append(message)

    def _note_context(self, reply: Message) -> None:
        if reply["kind"] == "context.open.response" and "context_id" in reply:
            self.given.add(reply["context_id"])
            self._left_open[reply["context_id"]] = None


def _reply_of(item: Said | Wrong) -> dict[str, Any]:
    match item:
        case Wrong(detail):
            raise Mismatch(f"it wrote: {detail}")
        case Said(message):
            fault = find_fault(message)
            if fault is not None:
                raise Mismatch(f"it wrote an invalid message: {fault}")
            if message["kind"] not in FROM_TERMINAL:
                raise Mismatch(f"it wrote {message['kind']}, which only applications send")
            return message
