"""What a program prints, read as events: NDJSON, or plain text as one prose block. No I/O.

Spec: docs/spec/gateway/engines.md, "Programs". Bytes in, events out; the caller stops at the
first error, so every reader here is a generator: what came before the error is yielded first.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Final, Literal, cast

from blockwire.content import (
    DELTA_FIELDS,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    IdKind,
    StreamEvent,
    TurnEnded,
    decode_event,
)
from blockwire.content.vocabulary import TURN_ENDS
from blockwire.errors import EngineError, RemoteProtocolError
from blockwire.jsontext import Json, decode_json

__all__ = ["LINE_BYTES_MAX", "EventLines", "OutputFormat", "PlainText", "ProgramOutput"]

OutputFormat = Literal["auto", "ndjson", "text"]

LINE_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of one line of NDJSON, without its line break."""

# How a JSON object with a member begins, a byte-order mark before it included. What begins
# otherwise is text at once.
_OBJECT_START: Final = re.compile(
    rb"(?:\xef(?:\Z|\xbb(?:\Z|\xbf)))?[ \t\r\n]*(?:\{[ \t\r]*(?:\"|\Z)|\Z)"
)

_IN_BLOCK: Final = frozenset(
    {"content.block.delta", "content.block.updated", "content.block.completed"}
)


class EventLines:
    """NDJSON: one event a line, with what a short script may leave out filled in.

    Filled in are ``turn_id``; the id of a new block; ``block_id``, when left out: the block that
    was started last and is open; ``field`` of a delta; the empty text of a new prose or reasoning
    block; ``status`` of a terminal event. Blank lines are skipped.
    """

    def __init__(self, turn_id: str, *, new_id: Callable[[IdKind], str]) -> None:
        self._turn_id = turn_id
        self._new_id = new_id
        self._pending = bytearray()
        self._searched = 0
        self._line = 0
        # Block id -> type, of the blocks that are open, in order.
        self._open: dict[str, str] = {}
        self.is_over = False

    def receive_data(self, data: bytes) -> Iterator[StreamEvent]:
        """Yield the events of the lines that ``data`` completes.

        Raises:
            EngineError: ``engine_protocol_error``, naming the line.
        """
        self._pending += data
        while (end := self._pending.find(b"\n", self._searched)) >= 0:
            line = bytes(self._pending[:end])
            del self._pending[: end + 1]
            self._searched = 0
            yield from self._receive_line(line)
        self._searched = len(self._pending)
        if self._searched > LINE_BYTES_MAX:
            raise self._too_long()

    def receive_eof(self) -> Iterator[StreamEvent]:
        """Yield the event of a last line that has no line break."""
        line = bytes(self._pending)
        self._pending.clear()
        yield from self._receive_line(line)

    def _receive_line(self, line: bytes) -> Iterator[StreamEvent]:
        self._line += 1
        if self._line == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) > LINE_BYTES_MAX:
            raise self._too_long()
        if not line.strip():
            return
        try:
            value = decode_json(line)
            if isinstance(value, dict):
                value = self._filled_in(value)
            event = decode_event(value)
        except RemoteProtocolError as error:
            raise EngineError(
                "engine_protocol_error", f"Line {self._line} of the program's output: {error}"
            ) from None
        self._note(event)
        yield event

    def _too_long(self) -> EngineError:
        return EngineError(
            "engine_protocol_error",
            f"Line {self._line + 1} of the program's output is longer than {LINE_BYTES_MAX} bytes.",
        )

    def _filled_in(self, value: dict[str, Json]) -> dict[str, Json]:
        name = str(value.get("type"))
        filled: dict[str, Json] = {**value}
        filled.setdefault("turn_id", self._turn_id)
        if name == "content.block.started" and isinstance(value.get("block"), dict):
            filled["block"] = self._filled_in_block(cast("dict[str, Json]", value["block"]))
        elif name in _IN_BLOCK and self._open:
            block_id = filled.setdefault("block_id", next(reversed(self._open)))
            kind = self._open.get(block_id, "") if isinstance(block_id, str) else ""
            if name == "content.block.delta" and kind in DELTA_FIELDS:
                filled.setdefault("field", DELTA_FIELDS[kind])
        elif name in TURN_ENDS:
            filled.setdefault("status", TURN_ENDS[name])
        return filled

    def _filled_in_block(self, block: dict[str, Json]) -> dict[str, Json]:
        filled: dict[str, Json] = {**block}
        if "id" not in filled:
            filled = {"id": self._new_id("block"), **filled}
        kind = filled.get("type")
        if isinstance(kind, str) and kind in DELTA_FIELDS:
            filled.setdefault(DELTA_FIELDS[kind], "")
        return filled

    def _note(self, event: StreamEvent) -> None:
        match event:
            case BlockStarted(block=block):
                self._open[cast("str", block["id"])] = cast("str", block["type"])
            case BlockCompleted(block_id=block_id):
                self._open.pop(block_id, None)
            case TurnEnded():
                self.is_over = True
            case _:
                pass


class PlainText:
    """Text in UTF-8 as one prose block; what is not UTF-8 becomes U+FFFD."""

    def __init__(self, turn_id: str, *, new_id: Callable[[IdKind], str]) -> None:
        self._turn_id = turn_id
        self._new_id = new_id
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._block_id = ""
        self.is_over = False

    def receive_data(self, data: bytes) -> Iterator[StreamEvent]:
        """Yield the delta that ``data`` becomes, after the start of the block."""
        yield from self._receive_text(self._decoder.decode(data))

    def receive_eof(self) -> Iterator[StreamEvent]:
        """Yield what was held back of an unfinished character, and the end of the block."""
        yield from self._receive_text(self._decoder.decode(b"", final=True))
        if self._block_id:
            yield BlockCompleted(self._turn_id, self._block_id)

    def _receive_text(self, text: str) -> Iterator[StreamEvent]:
        if not text:
            return
        if not self._block_id:
            self._block_id = self._new_id("block")
            block: dict[str, Json] = {"id": self._block_id, "type": "prose", "markdown": ""}
            yield BlockStarted(self._turn_id, block)
        yield BlockDelta(self._turn_id, self._block_id, "markdown", text)


class ProgramOutput:
    """A program's standard output in the configured format, or in the one that it begins with.

    ``auto`` reads NDJSON if the first line that is not blank is a JSON object with a string
    ``type``, else text; at most one line is held back until that is known.
    """

    def __init__(
        self, output: OutputFormat, turn_id: str, *, new_id: Callable[[IdKind], str]
    ) -> None:
        self._turn_id = turn_id
        self._new_id = new_id
        self._held = bytearray()
        self._reader: EventLines | PlainText | None = None
        if output != "auto":
            self._reader = self._new_reader(is_ndjson=output == "ndjson")
        self.is_empty = True

    @property
    def is_over(self) -> bool:
        """Whether the program has written its terminal event."""
        return self._reader is not None and self._reader.is_over

    def _new_reader(self, *, is_ndjson: bool) -> EventLines | PlainText:
        kind = EventLines if is_ndjson else PlainText
        return kind(self._turn_id, new_id=self._new_id)

    def receive_data(self, data: bytes) -> Iterator[StreamEvent]:
        """Yield the events that ``data`` completes.

        Raises:
            EngineError: ``engine_protocol_error``, naming the line of NDJSON.
        """
        if self._reader is None:
            self._held += data
            self._reader = self._chosen_reader()
            if self._reader is None:
                return
            data = bytes(self._held)
            self._held.clear()
        for event in self._reader.receive_data(data):
            self.is_empty = False
            yield event

    def receive_eof(self) -> Iterator[StreamEvent]:
        """Yield what is left; the turn's end is not among it unless the program wrote it."""
        if self._reader is None:
            line = bytes(self._held.removeprefix(codecs.BOM_UTF8)).strip()
            self._reader = self._new_reader(is_ndjson=_is_event(line))
            yield from self.receive_data(bytes(self._held))
        for event in self._reader.receive_eof():
            self.is_empty = False
            yield event

    def _chosen_reader(self) -> EventLines | PlainText | None:
        """Return the reader for what was held back, or None while it may still be either."""
        held = bytes(self._held)
        if _OBJECT_START.match(held) is None:
            return self._new_reader(is_ndjson=False)
        text = held.removeprefix(codecs.BOM_UTF8).lstrip()
        line, line_break, _rest = text.partition(b"\n")
        if line_break:
            return self._new_reader(is_ndjson=_is_event(line))
        if len(held) > LINE_BYTES_MAX:
            return self._new_reader(is_ndjson=False)
        return None


def _is_event(line: bytes) -> bool:
    try:
        value = decode_json(line)
    except RemoteProtocolError:
        return False
    return isinstance(value, dict) and isinstance(value.get("type"), str)
