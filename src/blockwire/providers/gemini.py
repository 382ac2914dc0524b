"""Gemini: an event stream of ``generateContent`` chunks.

Spec: docs/spec/providers.md, "Gemini".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from blockwire.jsontext import Json, member_source
from blockwire.providers.answer import Answer, Ending
from blockwire.providers.decoder import Chunk, StreamDecoder
from blockwire.providers.failures import ProviderFailure, failure_of
from blockwire.providers.framing import EventStream
from blockwire.providers.members import (
    add_counts,
    clean_name,
    opaque,
    record_of,
    records_of,
    text_of,
)
from blockwire.providers.partial_args import PartialArguments
from blockwire.providers.parts import ToolCall

__all__ = ["GeminiDecoder"]

_ENDINGS: Final[Mapping[str, Ending]] = MappingProxyType(
    {
        "STOP": "stop",
        "MAX_TOKENS": "length",
        "SAFETY": "content_filter",
        "RECITATION": "content_filter",
        "LANGUAGE": "content_filter",
        "BLOCKLIST": "content_filter",
        "PROHIBITED_CONTENT": "content_filter",
        "SPII": "content_filter",
        "MODEL_ARMOR": "content_filter",
        "IMAGE_SAFETY": "content_filter",
        "IMAGE_PROHIBITED_CONTENT": "content_filter",
        "IMAGE_RECITATION": "content_filter",
    }
)
# The model failed, not the request: the same one may work.
_FAILURES: Final = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "NO_IMAGE",
        "IMAGE_OTHER",
        "OTHER",
    }
)
_NO_REASON: Final = frozenset({"", "FINISH_REASON_UNSPECIFIED"})
_USAGE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "input_tokens": "promptTokenCount",
        "output_tokens": "candidatesTokenCount",
        "reasoning_tokens": "thoughtsTokenCount",
        "cached_input_tokens": "cachedContentTokenCount",
    }
)


class GeminiDecoder(StreamDecoder):
    """Reads the chunks of one answer; only candidate 0. It is over when the body ends."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(EventStream(), answer)
        self._open_call: ToolCall | None = None
        self._partial = PartialArguments()
        self._code_call: ToolCall | None = None
        self._server_calls: dict[str, ToolCall] = {}
        self._finish_reason = ""
        self._finish_message = ""

    def _receive(self, chunk: Chunk) -> None:
        value = chunk.value
        self._set_model(text_of(value, "modelVersion"))
        add_counts(self._answer.usage, record_of(value, "usageMetadata"), _USAGE)
        if value.get("error") is not None:
            self._answer.fail(failure_of(value["error"]))
            return
        feedback = record_of(value, "promptFeedback")
        reason = text_of(feedback, "blockReason")
        if reason:
            detail = text_of(feedback, "blockReasonMessage")
            self._answer.finish("content_filter", detail=detail, provider_code=clean_name(reason))
            return
        for index, candidate in records_of(value, "candidates"):
            if not candidate.get("index"):
                self._take_candidate(chunk, index, candidate)

    def _take_candidate(self, chunk: Chunk, index: int, candidate: dict[str, Json]) -> None:
        path = ("candidates", index, "content", "parts")
        for position, part in records_of(record_of(candidate, "content"), "parts"):
            self._take_part(chunk, (*path, position), part)
        grounding = candidate.get("groundingMetadata")
        if isinstance(grounding, dict) and self._answer.segment is not None:
            self._answer.segment.data["grounding_metadata"] = opaque(grounding)
        reason = text_of(candidate, "finishReason")
        if reason not in _NO_REASON:
            self._finish_reason = reason
            self._finish_message = text_of(candidate, "finishMessage")

    def _take_part(self, chunk: Chunk, path: tuple[str | int, ...], part: dict[str, Json]) -> None:
        signature = text_of(part, "thoughtSignature")
        if "functionCall" in part:
            self._take_call(chunk, path, record_of(part, "functionCall"), signature)
        elif "executableCode" in part:
            self._take_code(chunk, path, signature)
        elif "codeExecutionResult" in part:
            self._take_code_result(chunk, path, record_of(part, "codeExecutionResult"))
        elif "toolCall" in part:
            self._take_server_call(chunk, path, record_of(part, "toolCall"), signature)
        elif "toolResponse" in part:
            self._take_server_result(chunk, path, record_of(part, "toolResponse"))
        elif "inlineData" in part or "fileData" in part:
            data = record_of(part, "inlineData") or record_of(part, "fileData")
            kind = clean_name(text_of(data, "mimeType")) or "of unknown type"
            self._answer.add_notice(
                "content_not_supported", f"The answer holds a file ({kind}) that is not kept."
            )
        else:
            is_thought = part.get("thought") is True
            self._answer.say("reasoning" if is_thought else "prose", text_of(part, "text"))
            self._sign_text(signature)

    def _sign_text(self, signature: str) -> None:
        """Keep a signature with the text before it, else with the last call, else by itself."""
        if not signature:
            return
        if self._answer.segment is not None:
            self._answer.segment.data["thought_signature"] = signature
        elif self._answer.calls and not self._answer.calls[-1].is_closed:
            self._answer.calls[-1].sign("thought_signature", signature)
        else:
            self._answer.add_part("reasoning", thought_signature=signature).close()

    def _take_call(
        self, chunk: Chunk, path: tuple[str | int, ...], call: dict[str, Json], signature: str
    ) -> None:
        name = text_of(call, "name")
        if name or self._open_call is None:
            if not name and not call.get("args"):
                return
            self._begin_call(call, name, signature)
        open_call = self._open_call
        assert open_call is not None, "begun now or before"
        for _index, piece in records_of(call, "partialArgs"):
            open_call.spend(self._partial.add(piece))
        if call.get("willContinue") is True:
            return
        source = member_source(chunk.source, (*path, "functionCall", "args"))
        self._end_call(open_call, source)

    def _begin_call(self, call: dict[str, Json], name: str, signature: str) -> None:
        # A call that was still open stays so, and fails at the end: it was never finished.
        data: dict[str, Json] = {"call_id": text_of(call, "id")} if text_of(call, "id") else {}
        if signature:
            data["thought_signature"] = signature
        self._open_call = self._answer.add_call("client", **data)
        self._open_call.set_name(name)
        self._partial = PartialArguments()

    def _end_call(self, call: ToolCall, source: bytes | None) -> None:
        self._open_call = None
        if source is not None:
            call.set_arguments(source.decode())
        else:
            call.set_arguments(self._partial.text)
        if self._partial.is_whole:
            call.end_arguments()
        else:
            call.fail("invalid_tool_call", "The pieces of the arguments do not fit together.")

    def _take_code(self, chunk: Chunk, path: tuple[str | int, ...], signature: str) -> None:
        data: dict[str, Json] = {"thought_signature": signature} if signature else {}
        self._code_call = self._answer.add_call("provider", **data)
        self._code_call.set_name("code_execution")
        source = member_source(chunk.source, (*path, "executableCode")) or b""
        self._code_call.set_arguments(source.decode())
        self._code_call.end_arguments()

    def _take_code_result(
        self, chunk: Chunk, path: tuple[str | int, ...], result: dict[str, Json]
    ) -> None:
        call = self._code_call or self._answer.add_call("provider")
        self._code_call = None
        call.set_name("code_execution")
        source = member_source(chunk.source, (*path, "codeExecutionResult")) or b""
        call.set_output(source, is_error=text_of(result, "outcome") not in {"", "OUTCOME_OK"})

    def _take_server_call(
        self, chunk: Chunk, path: tuple[str | int, ...], call: dict[str, Json], signature: str
    ) -> None:
        call_id = text_of(call, "id")
        data: dict[str, Json] = {"call_id": call_id} if call_id else {}
        if signature:
            data["thought_signature"] = signature
        server_call = self._answer.add_call("provider", **data)
        server_call.set_name(text_of(call, "toolType").lower())
        source = member_source(chunk.source, (*path, "toolCall", "args")) or b""
        server_call.set_arguments(source.decode())
        server_call.end_arguments()
        self._server_calls[call_id] = server_call

    def _take_server_result(
        self, chunk: Chunk, path: tuple[str | int, ...], result: dict[str, Json]
    ) -> None:
        call = self._server_calls.pop(text_of(result, "id"), None)
        if call is not None:
            source = member_source(chunk.source, (*path, "toolResponse", "response"))
            call.set_output(source or b"null")

    def _receive_end(self) -> None:
        reason = self._finish_reason
        if not reason:
            self._answer.truncate()
        elif reason in _FAILURES:
            message = self._finish_message or f"The model ended with {clean_name(reason)}."
            self._answer.fail(
                ProviderFailure(
                    code=reason.lower(), message=message, retryable=True, provider_code=reason
                )
            )
        else:
            self._answer.finish(
                _ENDINGS.get(reason, "unknown"),
                detail="" if reason == "STOP" else self._finish_message,
                provider_code=clean_name(reason),
            )
