"""Anthropic Messages.

Spec: docs/spec/providers.md, "Anthropic Messages".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from blockwire.jsontext import Json, member_source
from blockwire.providers.answer import Answer, Ending
from blockwire.providers.decoder import Chunk, StreamDecoder
from blockwire.providers.failures import failure_of
from blockwire.providers.framing import EventStream
from blockwire.providers.members import (
    add_counts,
    clean_name,
    count_of,
    record_of,
    records_of,
    text_of,
)
from blockwire.providers.parts import TextKind, TextPart, ToolCall, protocol_error

__all__ = ["AnthropicDecoder"]

_ENDINGS: Final[Mapping[str, Ending]] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "pause_turn": "paused",
        "compaction": "paused",
        "refusal": "blocked",
    }
)
_USAGE: Final[Mapping[str, str | tuple[str, str]]] = MappingProxyType(
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cached_input_tokens": "cache_read_input_tokens",
        "cache_write_tokens": "cache_creation_input_tokens",
        "reasoning_tokens": ("output_tokens_details", "thinking_tokens"),
    }
)
_KINDS_OF_DELTA: Final[Mapping[str, TextKind]] = MappingProxyType(
    {"text_delta": "prose", "thinking_delta": "reasoning", "signature_delta": "reasoning"}
)
_RESULT_SUFFIX: Final = "_tool_result"

_Block = TextPart | ToolCall | None
_Path = tuple[str | int, ...]


class _Slot:
    """What stands at one index.

    Attributes:
        key: Type and id, by which a repeated start is known.
        block: None for a type that is not kept.
        is_closed: The provider has ended it.
        given_input: Text of an input that came whole with the start.
    """

    __slots__ = ("block", "given_input", "is_closed", "key")

    def __init__(self, key: tuple[str, str], block: _Block, given_input: str = "") -> None:
        self.key = key
        self.block = block
        self.is_closed = False
        self.given_input = given_input


class AnthropicDecoder(StreamDecoder):
    """Reads the events of one message."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(EventStream(), answer)
        self._slots: dict[int, _Slot] = {}
        self._calls_by_id: dict[str, ToolCall] = {}
        self._message_id: str | None = None
        self._stop_reason = ""
        self._stop_details: dict[str, Json] = {}
        self._events: Final[Mapping[str, Callable[[Chunk], None]]] = {
            "message_start": self._start_message,
            "content_block_start": self._start_block,
            "content_block_delta": self._extend_block,
            "content_block_stop": self._stop_block,
            "message_delta": self._take_message_delta,
            "message_stop": self._finish,
            "error": self._take_error,
        }

    def _receive(self, chunk: Chunk) -> None:
        event_type = text_of(chunk.value, "type")
        event = self._events.get(event_type or chunk.name)
        if event_type == "message":
            # A server that does not stream answers with the whole message.
            self._take_message(chunk, chunk.value, ())
            self._finish(chunk)
        elif event is not None:
            event(chunk)
        elif "error" in chunk.value:
            self._take_error(chunk)

    def _start_message(self, chunk: Chunk) -> None:
        self._take_message(chunk, record_of(chunk.value, "message"), ("message",))

    def _take_message(self, chunk: Chunk, message: dict[str, Json], path: _Path) -> None:
        message_id = text_of(message, "id")
        if self._message_id is not None and message_id != self._message_id:
            # A proxy tried again and spliced the second answer into the first.
            raise protocol_error("A second answer began in the middle of the first.")
        is_repeated = self._message_id is not None
        self._message_id = message_id
        self._set_model(text_of(message, "model"))
        add_counts(self._answer.usage, record_of(message, "usage"), _USAGE)
        self._stop_reason = text_of(message, "stop_reason") or self._stop_reason
        self._stop_details = record_of(message, "stop_details") or self._stop_details
        if is_repeated:
            return
        # What it begins with, as after calls that a program of the server made.
        for index, block in records_of(message, "content"):
            self._open_block(chunk, index, block, (*path, "content", index))
            self._end_block(index)

    def _start_block(self, chunk: Chunk) -> None:
        block = record_of(chunk.value, "content_block")
        self._open_block(chunk, self._index_of(chunk), block, ("content_block",))

    def _open_block(self, chunk: Chunk, index: int, block: dict[str, Json], path: _Path) -> None:
        key = (text_of(block, "type"), text_of(block, "id"))
        slot = self._slots.get(index)
        if slot is not None and not slot.is_closed:
            if slot.key == key:
                return
            raise protocol_error("A block began before the one at its place had ended.")
        given = b""
        if record_of(block, "input"):
            given = member_source(chunk.source, (*path, "input")) or b""
        self._slots[index] = _Slot(key, self._new_block(chunk, block, path), given.decode())

    def _new_block(self, chunk: Chunk, block: dict[str, Json], path: _Path) -> _Block:
        block_type = text_of(block, "type")
        if block_type == "text":
            part = self._answer.add_part("prose")
            part.append(text_of(block, "text"))
            for _index, citation in records_of(block, "citations"):
                self._answer.collect(part.data, "citations", citation)
            return part
        if block_type == "thinking":
            part = self._answer.add_part("reasoning")
            part.append(text_of(block, "thinking"))
            self._sign(part, text_of(block, "signature"))
            return part
        if block_type == "redacted_thinking":
            self._answer.add_part("reasoning", redacted_data=text_of(block, "data")).close()
        elif block_type.endswith("tool_use"):
            return self._new_call(block, block_type)
        elif block_type.endswith(_RESULT_SUFFIX):
            self._take_result(chunk, block, (*path, "content"))
        else:
            self._answer.skip()
        return None

    def _new_call(self, block: dict[str, Json], block_type: str) -> ToolCall:
        call_id = text_of(block, "id")
        if call_id and call_id in self._calls_by_id:
            raise protocol_error("The provider repeated a tool call.")
        data: dict[str, Json] = {"call_id": call_id} if call_id else {}
        if block_type == "tool_use":
            call = self._answer.add_call("client", **data)
        else:
            call = self._answer.add_call("provider", **data, block_type=clean_name(block_type))
        if call_id:
            self._calls_by_id[call_id] = call
        call.set_name(text_of(block, "name"))
        return call

    def _take_result(self, chunk: Chunk, block: dict[str, Json], path: _Path) -> None:
        block_type = text_of(block, "type")
        call_id = text_of(block, "tool_use_id")
        call = self._calls_by_id.get(call_id)
        if call is None:
            # The call was in an earlier answer, which paused.
            call = self._answer.add_call("provider", call_id=call_id, block_type=block_type)
            call.set_name(block_type.removesuffix(_RESULT_SUFFIX))
        if call.runner == "client":
            raise protocol_error("The provider told a result of a call that it does not run.")
        source = member_source(chunk.source, path) or b"null"
        content = record_of(block, "content")
        is_error = block.get("is_error") is True or text_of(content, "type").endswith("_error")
        call.set_output(source, is_error=is_error)

    def _extend_block(self, chunk: Chunk) -> None:
        index = self._index_of(chunk)
        delta = record_of(chunk.value, "delta")
        delta_type = text_of(delta, "type")
        slot = self._slots.get(index)
        if slot is None:
            slot = self._slots[index] = self._begin_with(delta_type)
        block = slot.block
        if isinstance(block, TextPart):
            self._extend_part(block, delta, delta_type)
        elif block is not None and delta_type == "input_json_delta":
            piece = text_of(delta, "partial_json")
            if piece and slot.is_closed:
                raise protocol_error("The provider added arguments to a call that it had ended.")
            block.add_arguments(piece)

    def _begin_with(self, delta_type: str) -> _Slot:
        """Return the slot of a block whose start is missing; a call without one is no call."""
        if delta_type == "input_json_delta":
            raise protocol_error("The provider sent arguments of a call that had not begun.")
        kind: TextKind | None = _KINDS_OF_DELTA.get(delta_type)
        if kind is None:
            self._answer.skip()
            return _Slot(("", ""), None)
        return _Slot(("", ""), self._answer.add_part(kind))

    def _extend_part(self, part: TextPart, delta: dict[str, Json], delta_type: str) -> None:
        if delta_type == "text_delta":
            part.append(text_of(delta, "text"))
        elif delta_type == "thinking_delta":
            part.append(text_of(delta, "thinking"))
        elif delta_type == "signature_delta":
            self._sign(part, text_of(delta, "signature"))
        elif delta_type == "citations_delta":
            self._answer.collect(part.data, "citations", delta.get("citation"))

    def _sign(self, part: TextPart, signature: str) -> None:
        if signature:
            so_far = part.data.get("signature", "")
            part.data["signature"] = f"{so_far}{signature}"

    def _stop_block(self, chunk: Chunk) -> None:
        self._end_block(self._index_of(chunk))

    def _end_block(self, index: int) -> None:
        slot = self._slots.get(index)
        if slot is None:
            return
        slot.is_closed = True
        if isinstance(slot.block, ToolCall):
            if not slot.block.arguments:
                slot.block.set_arguments(slot.given_input)
            slot.block.end_arguments()
        elif slot.block is not None:
            slot.block.close()

    def _take_message_delta(self, chunk: Chunk) -> None:
        delta = record_of(chunk.value, "delta")
        self._stop_reason = text_of(delta, "stop_reason") or self._stop_reason
        self._stop_details = record_of(delta, "stop_details") or self._stop_details
        add_counts(self._answer.usage, record_of(chunk.value, "usage"), _USAGE)

    def _finish(self, _chunk: Chunk) -> None:
        ending = _ENDINGS.get(self._stop_reason or "end_turn", "unknown")
        details = self._stop_details
        self._answer.finish(
            ending,
            detail=text_of(details, "explanation"),
            provider_code=clean_name(text_of(details, "category") or self._stop_reason),
        )

    def _take_error(self, chunk: Chunk) -> None:
        error = chunk.value.get("error")
        self._answer.fail(failure_of(chunk.value if error is None else error))

    def _index_of(self, chunk: Chunk) -> int:
        index = count_of(chunk.value, "index")
        return 0 if index is None else index
