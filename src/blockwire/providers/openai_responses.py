"""OpenAI Responses, streamed, resumed, and as compatible servers send it.

Spec: docs/spec/providers.md, "OpenAI Responses".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from blockwire.jsontext import Json, encode_json, member_source
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
from blockwire.providers.parts import TextPart
from blockwire.providers.responses_identity import find_places, is_another, is_same
from blockwire.providers.responses_items import PartKind, ResponseItem
from blockwire.providers.responses_numbers import SequenceNumbers

__all__ = ["OpenAIResponsesDecoder"]

# Event -> kind of the part, member with the text, member with the index of the part.
_DELTAS: Final[Mapping[str, tuple[PartKind, str]]] = MappingProxyType(
    {
        "response.output_text.delta": ("output_text", "content_index"),
        "response.refusal.delta": ("refusal", "content_index"),
        "response.reasoning_text.delta": ("reasoning_text", "content_index"),
        "response.reasoning.delta": ("reasoning_text", "content_index"),
        "response.reasoning_summary_text.delta": ("summary_text", "summary_index"),
    }
)
_WHOLES: Final[Mapping[str, tuple[PartKind, str, str]]] = MappingProxyType(
    {
        "response.output_text.done": ("output_text", "content_index", "text"),
        "response.refusal.done": ("refusal", "content_index", "refusal"),
        "response.reasoning_text.done": ("reasoning_text", "content_index", "text"),
        "response.reasoning_summary_text.done": ("summary_text", "summary_index", "text"),
    }
)
# Type of the item whose first event was lost -> by the beginning of the events that it has.
_ITEM_TYPES: Final[Mapping[PartKind, str]] = MappingProxyType(
    {
        "output_text": "message",
        "refusal": "message",
        "reasoning_text": "reasoning",
        "summary_text": "reasoning",
    }
)
_ARGUMENT_DELTAS: Final = frozenset(
    {
        "response.function_call_arguments.delta",
        "response.custom_tool_call_input.delta",
        "response.mcp_call_arguments.delta",
        "response.code_interpreter_call_code.delta",
    }
)
_ARGUMENT_WHOLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "response.function_call_arguments.done": "arguments",
        "response.custom_tool_call_input.done": "input",
        "response.mcp_call_arguments.done": "arguments",
        "response.code_interpreter_call_code.done": "code",
    }
)
# What ends a response -> its status, where the response itself does not say.
_ENDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "response.completed": "completed",
        "response.done": "completed",
        "response.incomplete": "incomplete",
        "response.failed": "failed",
        "response.cancelled": "cancelled",
        "error": "failed",
    }
)
_INCOMPLETE: Final[Mapping[str, Ending]] = MappingProxyType(
    {
        "max_output_tokens": "length",
        "max_tokens": "length",
        "content_filter": "content_filter",
    }
)
_USAGE: Final[Mapping[str, str | tuple[str, str]]] = MappingProxyType(
    {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cached_input_tokens": ("input_tokens_details", "cached_tokens"),
        "cache_write_tokens": ("input_tokens_details", "cache_write_tokens"),
        "reasoning_tokens": ("output_tokens_details", "reasoning_tokens"),
    }
)


class OpenAIResponsesDecoder(StreamDecoder):
    """Reads the events of one response; items are joined by index, since ids may rotate."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(EventStream(), answer)
        self._items: list[ResponseItem] = []
        self._by_index: dict[int, ResponseItem] = {}
        self._numbers = SequenceNumbers()
        self._tools: Sequence[Json] = ()
        self._events: Final[Mapping[str, Callable[[Chunk], None]]] = {
            **dict.fromkeys(_ENDS, self._take_end),
            **dict.fromkeys(_DELTAS, self._take_delta),
            **dict.fromkeys(_WHOLES, self._take_whole),
            **dict.fromkeys(_ARGUMENT_DELTAS, self._take_arguments),
            **dict.fromkeys(_ARGUMENT_WHOLES, self._take_whole_arguments),
            "response.created": self._take_response,
            "response.queued": self._take_response,
            "response.in_progress": self._take_response,
            "response.content_part.done": self._take_whole_part,
            "response.reasoning_summary_part.done": self._take_whole_part,
            "response.output_item.added": self._add_item,
            "response.output_item.done": self._finish_item,
            "response.output_text.annotation.added": self._take_annotation,
            "error": self._take_error,
        }

    @property
    def sequence_number(self) -> int | None:
        """Number of the last event: a new connection asks for those after it."""
        return self._numbers.last

    def _receive(self, chunk: Chunk) -> None:
        name = text_of(chunk.value, "type") or chunk.name
        if text_of(chunk.value, "object") == "response":
            # A server that does not stream answers with the whole response.
            self._end_with(chunk.value, chunk.source)
            return
        is_new = self._numbers.is_new(count_of(chunk.value, "sequence_number"), name)
        # An end cannot have been seen before, whatever its number.
        if not is_new and name not in _ENDS:
            return
        event = self._events.get(name)
        if event is not None:
            event(chunk)
        elif chunk.value.get("error") is not None and "item_id" not in chunk.value:
            self._take_error(chunk)
        elif "delta" in chunk.value:
            self._numbers.losses += 1

    def _take_response(self, chunk: Chunk) -> None:
        response = record_of(chunk.value, "response")
        self._set_model(text_of(response, "model"))
        tools = response.get("tools")
        if isinstance(tools, list):
            self._tools = tools

    def _index_of(self, chunk: Chunk) -> int:
        index = count_of(chunk.value, "output_index")
        if index is not None:
            return index
        # Some servers leave the index out: then it is the item with the id, or that came last.
        last = max(self._by_index, default=0)
        item_id = text_of(chunk.value, "item_id") or text_of(record_of(chunk.value, "item"), "id")
        named = (index for index, item in self._by_index.items() if item.item_id == item_id)
        return next(named, last) if item_id else last

    def _add_item(self, chunk: Chunk) -> None:
        item = record_of(chunk.value, "item")
        index = count_of(chunk.value, "output_index")
        if index is None:
            index = self._next_index()
        known = self._by_index.get(index)
        if known is None or not is_same(known, item):
            self._new_item(index, item, losses=self._numbers.losses)

    def _next_index(self) -> int:
        return max(self._by_index, default=-1) + 1

    def _new_item(
        self, index: int, item: dict[str, Json], *, losses: int | None = None
    ) -> ResponseItem:
        self._answer.skip()
        new = ResponseItem(self._answer, item, self._tools, losses=losses)
        self._items.append(new)
        self._by_index[index] = new
        return new

    def _item_of(self, chunk: Chunk, item_type: str) -> ResponseItem:
        index = self._index_of(chunk)
        return self._by_index.get(index) or self._new_item(index, {"type": item_type})

    def _is_lossless(self, item: ResponseItem) -> bool:
        """Return whether every event of the item has come since it began."""
        return item.losses == self._numbers.losses

    def _part_of(self, chunk: Chunk, kind: PartKind, index_member: str) -> TextPart:
        item = self._item_of(chunk, _ITEM_TYPES[kind])
        return item.part(kind, count_of(chunk.value, index_member) or 0)

    def _repair_part(self, chunk: Chunk, kind: PartKind, index_member: str, whole: str) -> None:
        item = self._item_of(chunk, _ITEM_TYPES[kind])
        part = item.part(kind, count_of(chunk.value, index_member) or 0)
        part.repair(whole, is_lossless=self._is_lossless(item))

    def _take_delta(self, chunk: Chunk) -> None:
        kind, index_member = _DELTAS[text_of(chunk.value, "type") or chunk.name]
        delta = chunk.value.get("delta")
        if not isinstance(delta, str):
            self._numbers.losses += 1
        elif delta:
            self._part_of(chunk, kind, index_member).append(delta)

    def _take_whole(self, chunk: Chunk) -> None:
        kind, index_member, member = _WHOLES[text_of(chunk.value, "type") or chunk.name]
        whole = text_of(chunk.value, member)
        if whole:
            self._repair_part(chunk, kind, index_member, whole)

    def _take_whole_part(self, chunk: Chunk) -> None:
        part = record_of(chunk.value, "part")
        for kind, index_member, member in _WHOLES.values():
            whole = text_of(part, member)
            if whole and text_of(part, "type") == kind:
                self._repair_part(chunk, kind, index_member, whole)

    def _take_arguments(self, chunk: Chunk) -> None:
        call = self._item_of(chunk, "").call
        if call is not None:
            call.add_arguments(text_of(chunk.value, "delta"))

    def _take_whole_arguments(self, chunk: Chunk) -> None:
        call = self._item_of(chunk, "").call
        member = _ARGUMENT_WHOLES[text_of(chunk.value, "type") or chunk.name]
        whole = text_of(chunk.value, member)
        if call is None or not whole:
            # What came in pieces is not made empty; the item itself ends the call.
            return
        call.set_arguments(encode_json({"code": whole}).decode() if member == "code" else whole)
        call.end_arguments()

    def _take_annotation(self, chunk: Chunk) -> None:
        item = self._item_of(chunk, "message")
        item.add_annotation(
            count_of(chunk.value, "content_index") or 0, chunk.value.get("annotation")
        )

    def _finish_item(self, chunk: Chunk) -> None:
        item = record_of(chunk.value, "item")
        index = self._index_of(chunk)
        is_placed = count_of(chunk.value, "output_index") is not None
        known = self._by_index.get(index)
        if known is None or known.item_type != text_of(item, "type"):
            known = self._new_item(index, item)
        elif is_another(known, item, has_index=is_placed):
            known = self._new_item(self._next_index(), item)
        self._finish(known, item, member_source(chunk.source, ["item"]) or b"")

    def _finish(self, known: ResponseItem, item: dict[str, Json], source: bytes) -> None:
        known.finish(item, source, is_lossless=self._is_lossless(known))
        if known.item_type.endswith("_output"):
            self._take_result(known, item, source)

    def _take_result(self, result: ResponseItem, item: dict[str, Json], source: bytes) -> None:
        """Hand a result of the server to its call: the one with its id, else the one before it.

        One whose call is in an earlier answer stands alone.
        """
        call_id = text_of(item, "call_id")
        named = [each for each in self._items if each.call_id == call_id and each is not result]
        stem = result.item_type.removesuffix("_output").removesuffix("_call")
        alike = [each for each in self._items if each.item_type in {stem, f"{stem}_call"}]
        if call_id and named:
            alike = [each for each in named if each in alike]
        elif not alike:
            result.stand_alone(item, source)
        for call in alike[-1:]:
            call.take_result(item, source)

    def _take_end(self, chunk: Chunk) -> None:
        response = record_of(chunk.value, "response")
        status = text_of(response, "status") or _ENDS[text_of(chunk.value, "type") or chunk.name]
        source = member_source(chunk.source, ["response"]) or b""
        self._end_with({**response, "status": status}, source)

    def _end_with(self, response: dict[str, Json], source: bytes) -> None:
        self._set_model(text_of(response, "model"))
        add_counts(self._answer.usage, record_of(response, "usage"), _USAGE)
        status = text_of(response, "status")
        if status == "failed" or response.get("error") is not None:
            self._answer.fail(failure_of(response.get("error")))
            return
        if status == "cancelled":
            self._answer.finish("cancelled")
            return
        self._repair_items(response, source)
        if status == "incomplete":
            reason = text_of(record_of(response, "incomplete_details"), "reason")
            ending = _INCOMPLETE.get(reason, "unknown")
            self._answer.finish(ending, provider_code=clean_name(reason))
        elif status == "completed":
            for item in self._items:
                item.rest()
            self._answer.finish("stop")
        else:
            self._answer.truncate()

    def _repair_items(self, response: dict[str, Json], source: bytes) -> None:
        """Add what was lost on the way, where the items that were seen are in the final list."""
        final = dict(records_of(response, "output"))
        places = find_places(self._by_index, self._items, final)
        for place, item in final.items() if places is not None else ():
            known = places.get(place) if places else None
            known = known or self._new_item(place, item)
            self._finish(known, item, member_source(source, ["output", place]) or b"")

    def _take_error(self, chunk: Chunk) -> None:
        error = chunk.value.get("error")
        self._answer.fail(failure_of(error if isinstance(error, dict) else chunk.value))
