"""Output items of an OpenAI response: messages, reasoning, calls, and what the server runs itself.

Spec: docs/spec/providers.md, "OpenAI Responses". Above is ``openai_responses``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
# Calls that the client is to run, and the members that hold their input. Every other ``*_call``
# is run by the server; handing one out would run it twice.
_CLIENT_CALLS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "function_call": ("arguments",),
        "custom_tool_call": ("input",),
        "computer_call": ("action", "actions"),
        "local_shell_call": ("action",),
        "shell_call": ("action",),
        "apply_patch_call": ("operation",),
        "tool_search_call": ("arguments",),
    }
)
# With its tools, of which this is one, xAI tells what it runs itself as custom calls. A client's
# custom tools are declared, by themselves or in a namespace.
_X_SEARCH: Final = "x_search"
_CUSTOM_TOOLS: Final = frozenset({"custom", "namespace"})
_APPROVAL: Final = "mcp_approval_request"
_NEEDS_APPROVAL: Final = (
    "approval_required",
    "The provider asks for leave to run this call; it was not run.",
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

    def __init__(self, answer: Answer, item: dict[str, Json], tools: Sequence[Json] = ()) -> None:
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
        if self.item_type.endswith("_call") or self.item_type == _APPROVAL:
            self.call = self._new_call(item, is_client=_is_client_call(item, tools))

    @property
    def item_id(self) -> str:
        """Id of the item when it began; empty where there is none."""
        return str(self._data.get("item_id", ""))

    @property
    def call_id(self) -> str:
        """Id by which a result names the call; empty where there is none."""
        return str(self._data.get("call_id", ""))

    def _new_call(self, item: dict[str, Json], *, is_client: bool) -> ToolCall:
        call = self._answer.add_call(
            "client" if is_client else "provider",
            **self._data,
            item_type=clean_name(self.item_type),
        )
        call.is_free_text = is_client and self.item_type == "custom_tool_call"
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
        call_id = text_of(item, "call_id")
        if call_id and call_id != self.call_id:
            # The id that came last is the one that a result has to name.
            self._data["call_id"] = clean_name(call_id)
            call.sign("call_id", self._data["call_id"])
        names = _CLIENT_CALLS[self.item_type]
        name = next((name for name in names if item.get(name) is not None), names[0])
        whole = item.get(name)
        if isinstance(whole, str):
            call.set_arguments(whole)
        elif whole is not None:
            text = (member_source(source, [name]) or b"").decode()
            # An input is an object: several actions at once are a member of one.
            call.set_arguments(text if isinstance(whole, dict) else f'{{"{name}":{text}}}')
        if text_of(item, "status") in _FAILED:
            call.fail("tool_call_cut", "The provider did not finish the call.")
        else:
            call.end_arguments()

    def _finish_server_call(self, call: ToolCall, item: dict[str, Json], source: bytes) -> None:
        call.set_arguments(_server_input(item, source))
        call.end_arguments()
        error = item.get("error")
        output = next((name for name in _SERVER_OUTPUTS if item.get(name) is not None), None)
        if self.item_type == _APPROVAL:
            call.fail(*_NEEDS_APPROVAL)
        elif error is not None:
            call.set_output(member_source(source, ["error"]) or b"", is_error=True)
        elif text_of(item, "status") in _FAILED:
            call.fail("tool_failed", "The provider could not run the call.")
        elif output is not None:
            call.set_output(member_source(source, [output]) or b"")
        elif self.item_type not in _CLIENT_CALLS or self.item_type == "custom_tool_call":
            call.end_run()
        # The result of the rest is an item of its own; without one there is none.

    def take_result(self, item: dict[str, Json], source: bytes) -> None:
        """Complete the call with its result, which is another item."""
        name = "tools" if "tools" in item else "output"
        if self.call is not None and self.call.runner == "provider":
            self.call.set_output(member_source(source, [name]) or b"null")


def _is_client_call(item: dict[str, Json], tools: Sequence[Json]) -> bool:
    """Return whether the client runs a call; some that it usually runs a server may run.

    Args:
        item: The call.
        tools: What the response says may be called; nothing where it does not say.
    """
    item_type = text_of(item, "type")
    if item_type == "tool_search_call":
        return text_of(item, "execution") == "client"
    if item_type == "shell_call":
        place = item.get("environment")
        return not (isinstance(place, dict) and text_of(place, "type").startswith("container"))
    if item_type == "custom_tool_call":
        known = [tool for tool in tools if isinstance(tool, dict)]
        if any(text_of(tool, "name") == text_of(item, "name") for tool in known):
            return True
        types = {text_of(tool, "type") for tool in known}
        return not types or (_X_SEARCH not in types and not types.isdisjoint(_CUSTOM_TOOLS))
    return item_type in _CLIENT_CALLS


def _server_input(item: dict[str, Json], source: bytes) -> str:
    """Return the input of a call that the server ran, as JSON text."""
    for name in _SERVER_INPUTS:
        if isinstance(item.get(name), str):
            return text_of(item, name)
        if item.get(name) is not None:
            return (member_source(source, [name]) or b"").decode()
    named: dict[str, Json] = {name: item[name] for name in _SERVER_OBJECT_INPUTS if name in item}
    return encode_json(named).decode()
