"""A terminal that follows a script, and writes down what the application does.

Spec: docs/spec/terminal/tools.md, "How an application is judged". What is right in every script
is judged here; what only one script asks for, in :mod:`blockwire.conform.scenarios`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from blockwire.conform.child import Child, Silent
from blockwire.conform.model import Context, find_refusal, perform
from blockwire.conform.replies import (
    CHECK_OF_CODE,
    DA1_ANSWER,
    TYPES,
    WINDOWS,
    Answer,
    Windows,
    check_of_wrong,
    operation_error,
    query_answer,
    supported,
)
from blockwire.conform.shape import (
    FROM_APPLICATION,
    OPERATION_KINDS,
    RESPONSE_KINDS,
    find_fault,
)
from blockwire.conform.wire import (
    Item,
    Message,
    Ordinary,
    Said,
    WireReader,
    Wrong,
    encode_message,
    frames,
)

__all__ = ["Fault", "Script", "ScriptedTerminal"]

Refuse: TypeAlias = Callable[[Message], str | None]

APART_S: Final = 0.002
"""What comes so much later was not written at once."""
_DA1: Final = re.compile(rb"\x1b\[0?c")
_DA1_BYTES_MAX: Final = 4


class Fault(NamedTuple):
    """Something that no application may do.

    Attributes:
        check: Which rule; a key of ``scenarios.REQUIREMENTS``.
        detail: What it did.
    """

    check: str
    detail: str


class Script(NamedTuple):
    """What the terminal answers.

    Attributes:
        answer: To the query.
        has_da1: Whether it answers the request for its attributes.
        is_da1_first: Whether it does so some time before it answers the query.
        answers_after_s: When it answers, counted from the query; None for as soon as may be.
        is_too_late: Whether that is when the application has to have gone on without an answer.
        open_code: What a request for a Context fails with, if it does.
        refuse: Code for an operation that is to be refused though nothing is wrong with it.
        keys: Typed around every reply.
        is_split: Whether replies come byte by byte.
    """

    answer: Answer = "supported"
    has_da1: bool = True
    is_da1_first: bool = False
    answers_after_s: float | None = None
    is_too_late: bool = False
    open_code: str | None = None
    refuse: Refuse = lambda _message: None
    keys: bytes = b""
    is_split: bool = False


class ScriptedTerminal:
    """Answers one application, and judges what it writes.

    Attributes:
        faults: What was wrong, in order.
        heard: All messages, in order.
        ordinary: All bytes that were no frames.
        supported_at: How many messages had been heard when ``supported`` was said; None before.
        refused: Operations that were refused by the script.
        has_heard_at: How many messages had been heard when it surely knew of the first error.
        healed_count: Updates that came for Blocks whose state had been said not to match.
        told_after_s: When it was answered, counted from the query; None if it had ended before.
        is_apart: Whether the request for attributes came later than the query.
    """

    def __init__(self, child: Child, script: Script, windows: Windows = WINDOWS) -> None:
        self.faults: list[Fault] = []
        self.heard: list[Message] = []
        self.ordinary = b""
        self.query: Said | None = None
        self.supported_at: int | None = None
        self.refused: list[Message] = []
        self.is_asked_for_da1 = False
        self.healed_count = 0
        self.has_heard_at: int | None = None
        self.told_after_s: float | None = None
        self.is_apart = False
        self._windows = windows
        self._query_s = 0.0
        self._held_back: list[Message] = []
        self._child = child
        self._script = script
        self._reader = WireReader()
        self._contexts: dict[str, Context] = {}
        self._request_ids: set[str] = set()
        self._operation_ids: set[tuple[str, str]] = set()
        self._lost: set[str] = set()
        self._healing: dict[tuple[str, str], Message | None] = {}
        self._follows_query: bytes | None = None

    # reading --------------------------------------------------------------------------------
    def run(self, end_s: float) -> bool:
        """Play to the end of the program; return whether it came in time."""
        try:
            self._await_query(end_s)
            self._answer_query()
            while piece := self._read_on(end_s):
                self._take(self._reader.receive_data(piece))
        except Silent:
            self._judge_query()
            return False
        self._take(self._reader.end())
        self._judge_query()
        return True

    def _read_on(self, end_s: float) -> bytes:
        """Return what comes next; while an answer is held back, only for as long as it is watched."""
        while self._held_back:
            try:
                return self._child.read(time.monotonic() + self._windows.settle_s)
            except Silent:
                # Nothing comes until this is answered; so what comes then has heard of the error.
                self.has_heard_at = len(self.heard)
                self._say(self._held_back.pop(0))
        return self._child.read(end_s)

    def _await_query(self, end_s: float) -> None:
        """Read until the query and what follows it are there, and a little longer."""
        while self.query is None:
            piece = self._child.read(end_s)
            if not piece:
                return
            self._take(self._reader.receive_data(piece))
        self._query_s = time.monotonic()
        if not self.is_asked_for_da1:
            # What was written at once may still be read in two pieces, one right behind the other.
            self._watch(self._query_s + APART_S)
            self.is_apart = not self.is_asked_for_da1
        self._watch(self._query_s + self._windows.watch_s)

    def _watch(self, end_s: float) -> None:
        try:
            while piece := self._child.read(end_s):
                self._take(self._reader.receive_data(piece))
        except Silent:
            return

    def _take(self, items: Iterable[Item]) -> None:
        for item in items:
            match item:
                case Ordinary(data):
                    self._hear_ordinary(data)
                case Wrong(detail, data):
                    self._blame(check_of_wrong(detail), f"{detail}: {data[:60]!r}")
                case Said():
                    self._hear(item)

    def _hear_ordinary(self, data: bytes) -> None:
        if self._follows_query is not None and len(self._follows_query) < _DA1_BYTES_MAX:
            self._follows_query += data
        tail = self.ordinary[-(_DA1_BYTES_MAX - 1) :]
        self.ordinary += data
        asked = len(_DA1.findall(tail + data)) - len(_DA1.findall(tail))
        if asked > 0:
            self.is_asked_for_da1 = True
            if self.told_after_s is not None and self._script.has_da1:
                self._say_bytes(DA1_ANSWER * asked)

    def _blame(self, check: str, detail: str) -> None:
        self.faults.append(Fault(check, detail))

    # answering ------------------------------------------------------------------------------
    def _answer_query(self) -> None:
        script = self._script
        if self.query is None:
            return
        if script.answers_after_s is not None:
            self._watch(self._query_s + script.answers_after_s)
        if not self._child.is_open:
            return
        self.told_after_s = time.monotonic() - self._query_s
        answer = query_answer(script.answer, self.query.message["request_id"])
        said = b"" if answer is None else frames(encode_message(answer))
        attributes = DA1_ANSWER if script.has_da1 and self.is_asked_for_da1 else b""
        if script.is_da1_first:
            self._say_bytes(attributes)
            # A program that waits for more than the attributes would wait now.
            self._watch(time.monotonic() + self._windows.watch_s)
            self._say_bytes(said)
            return
        if script.answer == "supported" and not script.is_too_late:
            self.supported_at = len(self.heard)
        self._say_bytes(said)
        self._say_bytes(attributes)

    def _say(self, message: Message | None) -> None:
        if message is not None:
            self._say_bytes(frames(encode_message(message)))

    def _say_bytes(self, data: bytes) -> None:
        if not data:
            return
        keys = self._script.keys
        data = keys + data + keys
        if self._script.is_split:
            for at in range(len(data)):
                self._child.write_now(data[at : at + 1])
        else:
            self._child.write(data)

    # hearing --------------------------------------------------------------------------------
    def _hear(self, said: Said) -> None:
        message = said.message
        fault = find_fault(message)
        if fault is not None:
            self._blame("messages", fault)
            return
        if message["kind"] not in FROM_APPLICATION:
            self._blame("messages", f"it wrote {message['kind']}, which only terminals send")
            return
        is_query = self.query is None and message["kind"] == "capability.query"
        if self.supported_at is None and not is_query:
            self._blame("no frames", f"{message['kind']} before it was told that it is supported")
        self.heard.append(message)
        if is_query:
            self.query, self._follows_query = said, b""
        if message["kind"] in OPERATION_KINDS:
            self._hear_operation(message)
        else:
            self._hear_request(message, is_query=is_query)

    def _judge_query(self) -> None:
        query = self.query
        if query is None:
            return
        if query.wire_bytes >= 250:
            self._blame("query", f"the query is {query.wire_bytes} bytes long")
        if _DA1.match(self._follows_query or b"") is None:
            self._blame("query", f"the query is followed by {self._follows_query!r}, not ESC [ c")

    def _hear_request(self, message: Message, *, is_query: bool) -> None:
        request_id, kind = message["request_id"], message["kind"]
        if request_id in self._request_ids:
            self._blame("ids", f"{kind}: the request id {request_id} was used before")
        self._request_ids.add(request_id)
        if is_query or self.supported_at is None:
            return
        if kind == "capability.query":
            self._answer(supported(request_id))
        elif kind == "context.open":
            self._answer(self._open(request_id))
        else:
            self._answer(self._close(request_id, message["context_id"]))

    def _answer(self, reply: Message) -> None:
        """Answer a request: at once, but for the first one behind an error."""
        if self.refused and self.has_heard_at is None:
            self._held_back.append(reply)
        else:
            self._say(reply)

    def _open(self, request_id: str) -> Message:
        reply: Message = {"version": 1, "kind": RESPONSE_KINDS["context.open"]}
        reply["request_id"] = request_id
        if self._script.open_code is not None:
            error = {"code": self._script.open_code}
            return reply | {"body": {"outcome": "error", "error": error}}
        context_id = f"conform-{len(self._contexts) + 1}"
        self._contexts[context_id] = Context()
        return reply | {"context_id": context_id, "body": {"outcome": "opened"}}

    def _close(self, request_id: str, context_id: str) -> Message:
        reply: Message = {"version": 1, "kind": RESPONSE_KINDS["context.close"]}
        reply |= {"request_id": request_id, "context_id": context_id}
        context = self._contexts.get(context_id)
        if context is None:
            self._blame("contexts", f"it closes {context_id}, which it was not given")
            error = {"code": "context_not_open"}
            return reply | {"body": {"outcome": "error", "error": error}}
        context.is_open = False
        return reply | {"body": {"outcome": "closed"}}

    def _hear_operation(self, message: Message) -> None:
        context_id, operation_id = message["context_id"], message["operation_id"]
        context = self._contexts.get(context_id)
        if (context_id, operation_id) in self._operation_ids:
            self._blame("ids", f"the operation id {operation_id} was used before")
        self._operation_ids.add((context_id, operation_id))
        self._watch_healing(message)
        code = find_refusal(context, message, ("text/plain", *TYPES))
        if code is not None:
            self._refuse(message, code)
            return
        assert context is not None, "it was found"
        code = self._script.refuse(message)
        if code is not None:
            self.refused.append(message)
            context.used.add(operation_id)
            self._lose(message)
            self._healing[context_id, message["body"]["block_id"]] = None
            self._say(operation_error(message, code))
            return
        perform(context, message)

    def _lose(self, message: Message) -> None:
        """Remember what may still be built on, until the application has heard of it."""
        self._lost.add(message["operation_id"])
        if message["kind"] == "block.append":
            self._lost.add(message["body"]["block_id"])

    def _refuse(self, message: Message, code: str) -> None:
        body = message["body"]
        is_excused = body.get("base_operation_id") in self._lost or body["block_id"] in self._lost
        if is_excused:
            self._lost.add(message["operation_id"])
        else:
            check = CHECK_OF_CODE.get(code, "content")
            self._blame(check, f"{message['kind']} {message['operation_id']} is refused: {code}")
        context = self._contexts.get(message["context_id"])
        if context is not None:
            context.used.add(message["operation_id"])
        self._say(operation_error(message, code))

    def _watch_healing(self, message: Message) -> None:
        """Count the updates after a mismatch: there has to be one before anything else."""
        body = message["body"]
        target = (message["context_id"], body["block_id"])
        if target not in self._healing or body.get("base_operation_id") in self._lost:
            return
        healed = self._healing[target]
        if healed is None and message["kind"] == "block.update":
            self._healing[target] = body
            self.healed_count += 1
        elif healed is None and message["kind"] != "block.seal":
            self._blame("healing", f"{body['block_id']}: {message['kind']} before an update")
        elif healed == body:
            # Another one that changes nothing; one of the program's own has other content.
            self._blame("healing", f"{body['block_id']}: more than one update after a mismatch")
        else:
            del self._healing[target]

    @property
    def texts(self) -> tuple[str, ...]:
        """What its Blocks hold, in the order of their appends."""
        return tuple(
            block.text for context in self._contexts.values() for block in context.blocks.values()
        )

    @property
    def open_contexts(self) -> list[str]:
        """Ids of the Contexts that it left open."""
        return [name for name, context in self._contexts.items() if context.is_open]

    def count(self, kind: str) -> int:
        """Return how many messages of a kind were heard."""
        return sum(message["kind"] == kind for message in self.heard)
