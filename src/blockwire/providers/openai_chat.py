"""OpenAI Chat Completions, and what compatible servers make of it.

Spec: docs/spec/providers.md, "OpenAI Chat Completions".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.errors import EngineError
from blockwire.jsontext import Json, member_source
from blockwire.providers.answer import OPAQUE_ITEMS_MAX, Answer, Ending
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
from blockwire.providers.parts import TextKind, ToolCall
from blockwire.providers.think_tags import ThinkTags

__all__ = ["OpenAIChatDecoder"]

# What servers call the reasoning; the first that holds text counts, since some send two.
_REASONING_MEMBERS: Final = ("reasoning_content", "reasoning", "thinking", "reasoning_text")

_ENDINGS: Final[Mapping[str, Ending]] = MappingProxyType(
    {
        "stop": "stop",
        "eos": "stop",
        "end_turn": "stop",
        "stop_sequence": "stop",
        "complete": "stop",
        "eos_token": "stop",
        "tool_call": "tool_calls",
        "tool_calls": "tool_calls",
        "tool_use": "tool_calls",
        "function_call": "tool_calls",
        "length": "length",
        "max_tokens": "length",
        "max_output_tokens": "length",
        "model_context_window_exceeded": "length",
        "model_length": "length",
        "content_filter": "content_filter",
        "safety": "content_filter",
        "sensitive": "content_filter",
        "refusal": "blocked",
    }
)
# Members of a call that hold its name and its input: as JSON, as free text, and from before there
# could be several calls.
_CALL_KINDS: Final = ("function", "custom", "function_call")
# Finish reasons that are failures.
_FAILURES: Final = frozenset({"error", "insufficient_system_resource", "network_error"})
_USAGE: Final[Mapping[str, str | tuple[str, str]]] = MappingProxyType(
    {
        "input_tokens": "prompt_tokens",
        "output_tokens": "completion_tokens",
        "cached_input_tokens": ("prompt_tokens_details", "cached_tokens"),
        "reasoning_tokens": ("completion_tokens_details", "reasoning_tokens"),
    }
)


class OpenAIChatDecoder(StreamDecoder):
    """Reads the chunks of a chat completion; only choice 0."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(EventStream(), answer)
        self._text = ThinkTags(answer)
        self._calls = _CallIndex(answer)
        self._finish_reason = ""
        self._has_reasoning = False
        self._citations: list[Json] = []

    def _receive(self, chunk: Chunk) -> None:
        value = chunk.value
        self._set_model(text_of(value, "model"))
        add_counts(self._answer.usage, record_of(record_of(value, "x_groq"), "usage"), _USAGE)
        add_counts(self._answer.usage, record_of(value, "usage"), _USAGE)
        for index, choice in records_of(value, "choices"):
            if not choice.get("index"):
                self._take_choice(chunk, index, choice)
        error = value.get("error")
        kinds = (chunk.name, text_of(value, "object"), text_of(value, "type"))
        if error is None and ("error" in kinds or _is_complaint(value)):
            error = value
        if error is not None:
            self._fail_with(error)

    def _fail_with(self, error: Json) -> None:
        self._text.drop()
        if not self.is_over:
            self._answer.fail(failure_of(error))

    def _take_choice(self, chunk: Chunk, index: int, choice: dict[str, Json]) -> None:
        add_counts(self._answer.usage, record_of(choice, "usage"), _USAGE)
        # A server that does not stream answers with the whole message.
        name = "delta" if isinstance(choice.get("delta"), dict) else "message"
        delta = record_of(choice, name)
        self._take_reasoning(delta)
        self._take_content(delta)
        self._take_calls(chunk, ["choices", index, name], delta)
        self._finish_reason = text_of(choice, "finish_reason") or self._finish_reason
        if choice.get("error") is not None:
            self._fail_with(choice["error"])

    def _take_calls(self, chunk: Chunk, path: list[str | int], delta: dict[str, Json]) -> None:
        for position, piece in records_of(delta, "tool_calls"):
            self._text.flush()
            self._calls.add(piece, chunk.source, [*path, "tool_calls", position])
        if isinstance(delta.get("function_call"), dict):
            # How a call was written before there could be several.
            self._text.flush()
            piece = {"index": 0, "function_call": delta["function_call"]}
            self._calls.add(piece, chunk.source, path)

    def _take_reasoning(self, delta: dict[str, Json]) -> None:
        details = [detail for _index, detail in records_of(delta, "reasoning_details")]
        pieces = [text_of(delta, name) for name in _REASONING_MEMBERS]
        reasoning = next(filter(None, pieces), "")
        self._has_reasoning = self._has_reasoning or bool(reasoning)
        if not self._has_reasoning:
            # Where there is no member for the text, the details hold it.
            reasoning = "".join(map(_text_of_detail, details))
        if reasoning:
            self._text.no_tags()
            self._say("reasoning", reasoning)
        for detail in details:
            # The text of the details is said already; what is signed or encrypted is to go back.
            if text_of(detail, "data") or text_of(detail, "signature"):
                self._keep_detail(detail)

    def _say(self, kind: TextKind, text: str) -> None:
        self._calls.show()
        self._answer.say(kind, text)

    def _keep_detail(self, detail: dict[str, Json]) -> None:
        self._calls.show()
        segment = self._answer.segment
        if segment is not None and segment.kind == "reasoning":
            self._answer.collect(segment.data, "reasoning_details", detail)
        else:
            part = self._answer.add_part("reasoning")
            self._answer.collect(part.data, "reasoning_details", detail)
            part.close()

    def _take_content(self, delta: dict[str, Json]) -> None:
        self._add_text(text_of(delta, "content"))
        # What is spoken has its words beside it.
        self._add_text(text_of(record_of(delta, "audio"), "transcript"))
        for _index, part in records_of(delta, "content"):
            thinking = [text_of(piece, "text") for _, piece in records_of(part, "thinking")]
            reasoning = text_of(part, "thinking") or "".join(thinking)
            if reasoning:
                self._text.no_tags()
                self._say("reasoning", reasoning)
            self._add_text(text_of(part, "text"))
        refusal = text_of(delta, "refusal")
        if refusal:
            self._text.flush()
            self._answer.has_refusal = True
            self._say("prose", refusal)
        self._take_citations(delta)
        if records_of(delta, "images"):
            self._calls.show()
            self._text.flush()
            self._answer.add_notice(
                "content_not_supported", "The answer holds a picture that is not kept."
            )

    def _take_citations(self, delta: dict[str, Json]) -> None:
        """Keep citations with the text; those that come before it wait for it."""
        self._citations += [item for _index, item in records_of(delta, "annotations")]
        segment = self._answer.segment
        if segment is not None and segment.kind == "prose":
            for citation in self._citations:
                self._answer.collect(segment.data, "annotations", citation)
            self._citations.clear()
        elif len(self._citations) > OPAQUE_ITEMS_MAX:
            raise EngineError("answer_too_large", "A block has more citations than it may have.")

    def _add_text(self, text: str) -> None:
        if text:
            self._calls.show()
            self._text.add(text)

    def _receive_done(self) -> None:
        self._finish(self._finish_reason or "stop")

    def _receive_end(self) -> None:
        if self._finish_reason:
            self._finish(self._finish_reason)
        else:
            self._text.drop()
            self._answer.truncate()

    def _finish(self, reason: str) -> None:
        self._text.flush()
        if reason in _FAILURES:
            message = "The provider broke off the answer."
            self._answer.fail(failure_of({"code": reason, "message": message}))
            return
        ending = _ENDINGS.get(reason.lower(), "unknown")
        if ending in {"stop", "tool_calls"}:
            for call in self._answer.calls:
                call.end_arguments()
        self._answer.finish(ending, provider_code=clean_name(reason))


class _CallIndex:
    """Finds the call that a piece belongs to: by its id first, then by its index."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._by_index: dict[int, ToolCall] = {}
        self._by_id: dict[str, ToolCall] = {}
        self._last: ToolCall | None = None

    def add(self, piece: dict[str, Json], source: bytes, path: list[str | int]) -> None:
        """Add a piece to its call, which may be a new one.

        Args:
            piece: An item of ``tool_calls``.
            source: The text of the chunk.
            path: Where the piece is in it.
        """
        kind = next((name for name in _CALL_KINDS if name in piece), "function")
        function = record_of(piece, kind)
        last = self._last
        call = self._find(piece, function)
        if call is None:
            return
        if last is not None and last is not call:
            last.show()
        call.add_name(text_of(function, "name"))
        call.is_free_text = call.is_free_text or kind == "custom"
        arguments = text_of(function, "input" if kind == "custom" else "arguments")
        if isinstance(function.get("arguments"), dict):
            arguments = (member_source(source, [*path, kind, "arguments"]) or b"").decode()
            call.set_arguments(arguments)
        else:
            call.add_arguments(arguments)
        if arguments:
            call.show()

    def show(self) -> None:
        """Show the last call, whose name may have been waiting for more of it."""
        if self._last is not None:
            self._last.show()

    def _find(self, piece: dict[str, Json], function: dict[str, Json]) -> ToolCall | None:
        call_id = text_of(piece, "id")
        index = count_of(piece, "index")
        name = text_of(function, "name")
        if call_id in self._by_id:
            call: ToolCall | None = self._by_id[call_id]
        elif index is not None:
            call = self._by_index.get(index)
        else:
            # Without an index, every name begins a call.
            call = None if name else self._last
        is_new = call is None or _is_another(call, call_id, name)
        if is_new:
            if not (call_id or function):
                return None
            call = self._answer.add_call("client", **({"call_id": call_id} if call_id else {}))
        elif call is not None and call_id and "call_id" not in call.data:
            call.sign("call_id", call_id)
        assert call is not None, "found or made"
        self._last = call
        if index is not None:
            self._by_index[index] = call
        if call_id:
            self._by_id[call_id] = call
        return call


def _is_another(call: ToolCall, call_id: str, name: str) -> bool:
    """Return whether a piece at the index of ``call`` begins another call.

    Some gateways give every call index 0. A new id tells them apart; without ids, a name that
    comes after arguments that are whole already.
    """
    if call_id:
        return call.data.get("call_id", call_id) != call_id
    return bool(name) and call.has_whole_arguments()


def _is_complaint(value: dict[str, Json]) -> bool:
    """Return whether a proxy says what is wrong in words of its own, instead of a chunk."""
    return "choices" not in value and bool(text_of(value, "detail") or text_of(value, "message"))


def _text_of_detail(detail: dict[str, Json]) -> str:
    return text_of(detail, "text") or text_of(detail, "summary")
