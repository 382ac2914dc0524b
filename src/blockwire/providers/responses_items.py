"""Output items of an OpenAI response: messages, reasoning, calls, and what the server runs itself.

Spec: docs/spec/providers.md, "OpenAI Responses". Above is ``openai_responses``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from blockwire.jsontext import Json, encode_json, member_source
from blockwire.providers.answer import Answer
from blockwire.providers.members import clean_name, records_of, text_of
from blockwire.providers.parts import TextKind, TextPart, ToolCall

__all__ = ["PartKind", "ResponseItem"]

PartKind = Literal["output_text", "refusal", "reasoning_text", "summary_text"]

_TEXT_KINDS: Final[Mapping[PartKind, TextKind]] = MappingProxyType(
    {
        "output_text": "prose",
        "refusal": "prose",
        "reasoning_text": "reasoning",
        "summary_text": "reasoning",
    }
)
# Calls that the client is to run, and the member that holds their input. Every other ``*_call``
# is run by the server; handing one out would run it twice.
_CLIENT_CALLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "function_call": "arguments",
        "custom_tool_call": "input",
        "computer_call": "action",
        "local_shell_call": "action",
        "shell_call": "action",
        "apply_patch_call": "operation",
    }
)
# Where calls that the server runs have their input and their result; the first that is there.
_SERVER_INPUTS: Final = ("action", "arguments", "input")
_SERVER_OUTPUTS: Final = ("output", "outputs", "results", "result")
_SERVER_OBJECT_INPUTS: Final = ("queries", "code", "prompt")
_FAILED: Final = frozenset({"failed", "incomplete"})


class ResponseItem:
    """One output item as it grows.

    Attributes:
        item_type: Its type.
        call: The call, for a type that is one.
        is_done: The provider has ended it.
    """

    def __init__(self, answer: Answer, item: dict[str, Json]) -> None:
        self._answer = answer
        self._data: dict[str, Json] = {}
        self._parts: dict[tuple[PartKind, int], TextPart] = {}
        self._last_part: TextPart | None = None
        self.item_type = text_of(item, "type")
        self.call: ToolCall | None = None
        self.is_done = False
        for name in ("id", "phase", "call_id"):
            if text_of(item, name):
                self._data["item_id" if name == "id" else name] = clean_name(text_of(item, name))
        if self.item_type.endswith("_call"):
            self.call = self._new_call(item)

    @property
    def call_id(self) -> str:
        """Id by which a result names the call; empty where there is none."""
        return str(self._data.get("call_id", ""))

    def _new_call(self, item: dict[str, Json]) -> ToolCall:
        is_client = self.item_type in _CLIENT_CALLS
        call = self._answer.add_call(
            "client" if is_client else "provider",
            **self._data,
            item_type=clean_name(self.item_type),
        )
        call.is_free_text = self.item_type == "custom_tool_call"
        call.set_name(text_of(item, "name") or self.item_type.removesuffix("_call"))
        return call

    def part(self, kind: PartKind, index: int) -> TextPart:
        """Return the part of this kind and index, which may be a new one."""
        part = self._parts.get((kind, index))
        if part is None:
            part = self._answer.add_part(_TEXT_KINDS[kind], **self._data)
            self._parts[kind, index] = part
        if kind == "refusal":
            self._answer.has_refusal = True
        self._last_part = part
        return part

    def add_annotation(self, index: int, annotation: Json) -> None:
        """Keep a citation with the text that it belongs to."""
        self._answer.collect(self.part("output_text", index).data, "annotations", annotation)

    def finish(self, item: dict[str, Json], source: bytes) -> None:
        """Take the item as the provider says that it is, whole, and end it.

        Args:
            item: The item.
            source: Its text.
        """
        if self.is_done:
            return
        self.is_done = True
        self._repair_parts(item)
        if self.call is None:
            self._finish_parts(item)
        elif self.call.runner == "client":
            self._finish_client_call(self.call, item, source)
        else:
            self._finish_server_call(self.call, item, source)

    def _repair_parts(self, item: dict[str, Json]) -> None:
        for index, part in records_of(item, "summary"):
            self.part("summary_text", index).repair(text_of(part, "text"))
        for index, part in records_of(item, "content"):
            kind = text_of(part, "type")
            if kind == "refusal":
                self.part("refusal", index).repair(text_of(part, "refusal"))
            elif kind in {"output_text", "text"}:
                text_part = self.part("output_text", index)
                text_part.repair(text_of(part, "text"))
                if "annotations" not in text_part.data:
                    for _, annotation in records_of(part, "annotations"):
                        self._answer.collect(text_part.data, "annotations", annotation)
            elif kind == "reasoning_text":
                self.part("reasoning_text", index).repair(text_of(part, "text"))

    def _finish_parts(self, item: dict[str, Json]) -> None:
        encrypted = text_of(item, "encrypted_content")
        if encrypted:
            part = self._last_part or self.part("summary_text", 0)
            part.data["encrypted_content"] = encrypted
        for part in self._parts.values():
            part.close()

    def _finish_client_call(self, call: ToolCall, item: dict[str, Json], source: bytes) -> None:
        call.set_name(text_of(item, "name"))
        name = _CLIENT_CALLS[self.item_type]
        whole = item.get(name)
        if isinstance(whole, str):
            call.set_arguments(whole)
        elif whole is not None:
            call.set_arguments((member_source(source, [name]) or b"").decode())
        if text_of(item, "status") in _FAILED:
            call.fail("tool_call_cut", "The provider did not finish the call.")
        else:
            call.end_arguments()

    def _finish_server_call(self, call: ToolCall, item: dict[str, Json], source: bytes) -> None:
        call.set_arguments(_server_input(item, source))
        call.end_arguments()
        error = item.get("error")
        output = next((name for name in _SERVER_OUTPUTS if item.get(name) is not None), None)
        if error is not None:
            call.set_output(member_source(source, ["error"]) or b"", is_error=True)
        elif text_of(item, "status") in _FAILED:
            call.fail("tool_failed", "The provider could not run the call.")
        elif output is not None:
            call.set_output(member_source(source, [output]) or b"")
        else:
            call.end_run()


def _server_input(item: dict[str, Json], source: bytes) -> str:
    """Return the input of a call that the server ran, as JSON text."""
    for name in _SERVER_INPUTS:
        if isinstance(item.get(name), str):
            return text_of(item, name)
        if item.get(name) is not None:
            return (member_source(source, [name]) or b"").decode()
    named: dict[str, Json] = {name: item[name] for name in _SERVER_OBJECT_INPUTS if name in item}
    return encode_json(named).decode()
