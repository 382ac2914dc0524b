"""Ollama's own API: one object per line, ``/api/chat`` and ``/api/generate``.

Spec: docs/spec/providers.md, "Ollama".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from blockwire.jsontext import Json, member_source
from blockwire.providers.answer import Answer, Ending
from blockwire.providers.decoder import Chunk, StreamDecoder
from blockwire.providers.failures import failure_of
from blockwire.providers.framing import JsonLines
from blockwire.providers.members import (
    add_counts,
    clean_name,
    count_of,
    record_of,
    records_of,
    text_of,
)
from blockwire.providers.think_tags import ThinkTags

__all__ = ["OllamaDecoder"]

_ENDINGS: Final[Mapping[str, Ending]] = MappingProxyType(
    {
        "": "stop",
        "stop": "stop",
        "tool_calls": "tool_calls",
        "length": "length",
        # A request without a prompt only loads or unloads the model; the answer is empty.
        "load": "stop",
        "unload": "stop",
    }
)
_USAGE: Final[Mapping[str, str]] = MappingProxyType(
    {"input_tokens": "prompt_eval_count", "output_tokens": "eval_count"}
)


class OllamaDecoder(StreamDecoder):
    """Reads the lines of one answer.

    Args:
        answer: Receives the blocks.
        operation: ``generate`` has the text at the top, ``chat`` has it in a message.
    """

    def __init__(self, answer: Answer, *, operation: Literal["chat", "generate"]) -> None:
        super().__init__(JsonLines(), answer)
        self._operation = operation
        self._text = ThinkTags(answer)

    def _receive(self, chunk: Chunk) -> None:
        value = chunk.value
        self._set_model(text_of(value, "model"))
        if value.get("error") is not None:
            self._text.drop()
            # The status stands beside the error, if at all.
            self._answer.fail(failure_of(value, status=count_of(value, "status_code")))
            return
        if self._operation == "generate":
            self._take_text(text_of(value, "thinking"), text_of(value, "response"))
        else:
            message = record_of(value, "message")
            self._take_text(text_of(message, "thinking"), text_of(message, "content"))
            self._take_calls(chunk, message)
        if value.get("done") is True:
            self._finish(value)

    def _take_text(self, thinking: str, text: str) -> None:
        if thinking:
            self._text.no_tags()
            self._answer.say("reasoning", thinking)
        self._text.add(text)

    def _take_calls(self, chunk: Chunk, message: dict[str, Json]) -> None:
        for index, item in records_of(message, "tool_calls"):
            self._text.flush()
            function = record_of(item, "function")
            call_id = text_of(item, "id")
            call = self._answer.add_call("client", **({"call_id": call_id} if call_id else {}))
            call.set_name(text_of(function, "name"))
            arguments = function.get("arguments")
            if isinstance(arguments, str):
                call.set_arguments(arguments)
            elif arguments is not None:
                path = ("message", "tool_calls", index, "function", "arguments")
                call.set_arguments((member_source(chunk.source, path) or b"").decode())
            call.end_arguments()

    def _finish(self, value: dict[str, Json]) -> None:
        self._text.flush()
        add_counts(self._answer.usage, value, _USAGE)
        reason = text_of(value, "done_reason")
        self._answer.finish(_ENDINGS.get(reason, "unknown"), provider_code=clean_name(reason))

    def _receive_end(self) -> None:
        self._text.drop()
        self._answer.truncate()
