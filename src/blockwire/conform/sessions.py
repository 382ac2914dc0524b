"""Rows of steps: ids of requests are made unique, ids of Contexts are the terminal's.

Spec: docs/spec/terminal/tools.md, "Vectors".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from blockwire.conform.answers import code_of, compare, plain, with_types
from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.probes import context_probes, try_probes
from blockwire.conform.wire import Item, Message, Ordinary, Said, WireReader, encode_message, frames

__all__ = ["NotShown", "Session"]

CONTEXTS_SURE: Final = 8
"""So many Contexts of a case have to find room; where there are more, a terminal may have none."""
_CONTEXT_NAME: Final = re.compile(r"context-[1-9][0-9]*\Z")
_CONTEXT_IN_TEXT: Final = re.compile(r'"context-[1-9][0-9]*"')
_CONTEXT_MEMBER: Final = re.compile(r'("context_id"\s*:\s*)"((?:[^"\\]|\\.)*)"')
_PLAIN_NAME: Final = re.compile(r"[a-z]+\Z")
"""Of a Context that never was, and any name would do; blanks or capitals are there for a reason."""
_BLANKS: Final = re.compile(r"\s*")


class NotShown(Exception):  # noqa: N818 - a verdict, not an accident
    """The case is about something that this wire does not show.

    Attributes:
        reason: Why.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Session:
    """A row of steps; ids of requests are made unique, ids of Contexts are the terminal's."""

    def __init__(self, row: Mapping[str, Any], connection: Connection, tag: str) -> None:
        self._row = row
        self._connection = connection
        self._tag = tag
        self._is_tagged = all(set(step["send"]) == {"message"} for step in row["steps"])
        self._bound: dict[str, str] = {}
        self._others: dict[str, str] = {}
        self._unsent = WireReader()

    def play(self) -> None:
        """Play every step, and ask what is true then; raises :class:`Mismatch`."""
        for number, step in enumerate(self._row["steps"], 1):
            try:
                self._play_step(step)
            except Mismatch as mismatch:
                raise Mismatch(f"step {number}: {mismatch.detail}") from None
        for context in self._row.get("final_contexts", ()):
            try:
                self._probe(context)
            except Mismatch as mismatch:
                raise Mismatch(f"afterwards: {mismatch.detail}") from None

    def _play_step(self, step: Mapping[str, Any]) -> None:
        data = self._data(step)
        self._unsent.receive_data(data)
        if self._unsent.is_amid_frame:
            if step["out"]:
                raise NotShown("an answer is expected amid a frame, where no barrier can stand")
            self._connection.tell(data)
            return
        replies = [plain(reply) for reply in self._connection.ask(data)]
        for reply, wanted in zip(replies, step["out"], strict=False):
            self._bind(reply, wanted)
        expected = [
            plain(with_types(self._mapped(wanted), self._connection)) for wanted in step["out"]
        ]
        if len(self._bound) >= CONTEXTS_SURE and any(map(_is_full, replies)):
            raise NotShown("the terminal has no room for as many Contexts")
        compare(replies, expected, step.get("acceptable_codes", ()))

    def _bind(self, reply: Message, wanted: Message) -> None:
        name = wanted.get("context_id", "")
        is_opened = wanted["kind"] == "context.open.response" and name
        if not is_opened or name in self._bound or reply["body"].get("outcome") != "opened":
            return
        given = reply["context_id"]
        if given in self._connection.opened:
            raise Mismatch(f"the id {given} of a Context was given before")
        self._connection.opened.add(given)
        self._bound[name] = given

    def _data(self, step: Mapping[str, Any]) -> bytes:
        send = step["send"]
        if "message" in send:
            return self._connection.encode(self._mapped(send["message"]))
        if "json" in send:
            return frames(self._mapped_text(send["json"]).encode(), 1)
        return self._rewritten(base64.b64decode(step["bytes_base64"]))

    def _rewritten(self, data: bytes) -> bytes:
        """Return raw bytes with the ids of this terminal's Contexts in them."""
        reader = WireReader()
        items = [*reader.receive_data(data), *reader.end()]
        if self._names_unknown(items):
            raise NotShown("it names a Context in the write that opens it")
        if all(isinstance(item, Said | Ordinary) for item in items):
            return b"".join(
                item.data
                if isinstance(item, Ordinary)
                else frames(self._mapped_text(item.source.decode()).encode(), item.frame_id)
                for item in items
                if isinstance(item, Said | Ordinary)
            )
        if self._bound or _is_naming_context(data):
            raise NotShown("its bytes hold the id of a Context where it cannot be replaced")
        return data

    def _names_unknown(self, items: Iterable[Item]) -> bool:
        names = {item.message.get("context_id") for item in items if isinstance(item, Said)}
        return any(
            isinstance(name, str) and _CONTEXT_NAME.fullmatch(name) and name not in self._bound
            for name in names
        )

    def _mapped_text(self, text: str) -> str:
        # What it calls a Context of its own cannot stand for one that never was.
        text = _CONTEXT_MEMBER.sub(
            lambda match: (
                match[1] + encode_json_text(self._context(match[2]))
                if self._is_given(match[2])
                else match[0]
            ),
            text,
        )
        return _CONTEXT_IN_TEXT.sub(
            lambda match: encode_json_text(self._context(match[0][1:-1])), text
        )

    def _mapped(self, message: Message) -> Message:
        mapped = dict(message)
        if isinstance(mapped.get("context_id"), str):
            mapped["context_id"] = self._context(mapped["context_id"])
        if self._is_tagged and isinstance(mapped.get("request_id"), str):
            mapped["request_id"] = self._request(mapped["request_id"])
        return mapped

    def _context(self, name: str) -> str:
        if name in self._bound:
            return self._bound[name]
        if name not in self._others:
            is_replaced = (
                _CONTEXT_NAME.fullmatch(name) is not None
                or (self._is_tagged and _PLAIN_NAME.fullmatch(name) is not None)
                or self._is_given(name)
            )
            self._others[name] = f"{self._tag}-never-{name}" if is_replaced else name
        return self._others[name]

    def _is_given(self, name: str) -> bool:
        return _CONTEXT_NAME.fullmatch(name) is None and name in self._connection.given

    def _request(self, name: str) -> str:
        # Before the first character that is no blank, so that what trims or folds is still found.
        blanks = _BLANKS.match(name)
        assert blanks is not None, "it matches nothing at least"
        return f"{blanks[0]}{self._tag}~{name[blanks.end() :]}"

    # what the row says of the end, made visible -------------------------------------------
    def _probe(self, context: Mapping[str, Any]) -> None:
        context_id = self._bound.get(context["id"])
        if context_id is None:
            return
        try_probes(self._connection, context_id, self._tag, context_probes(context))


def _is_full(reply: Message) -> bool:
    return reply["kind"] == "context.open.response" and code_of(reply) == "resource_exhausted"


def _is_naming_context(data: bytes) -> bool:
    text = b"".join(
        base64.b64decode(match) for match in re.findall(rb";([A-Za-z0-9+/]{4,}=*)\x1b", data)
    )
    return b'"context-' in text


def encode_json_text(value: str) -> str:
    """Return a string as JSON."""
    return encode_message({"": value}).decode()[len('{"":') : -1]
