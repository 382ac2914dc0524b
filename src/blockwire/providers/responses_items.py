"""Output items of an OpenAI response: messages, reasoning, calls, and what the server runs itself.

Spec: docs/spec/providers.md, "OpenAI Responses". Above is ``openai_responses``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from blockwire.jsontext import Json, encode_json, member_source
from blockwire.providers.answer import Answer
from blockwire.providers.members import clean_name, opaque, records_of, text_of
from blockwire.providers.parts import Runner, TextKind, TextPart, ToolCall
from blockwire.providers.responses_calls import (
    APPROVAL,
    CLIENT_CALLS,
    PROGRAM,
    SENT_BACK,
    call_name,
    client_input,
    is_call,
    is_client_call,
    output_member,
    server_input,
)

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
_NEEDS_APPROVAL: Final = (
    "approval_required",
    "The provider asks for leave to run this call; it was not run.",
)
_FAILED: Final = frozenset({"failed", "incomplete"})
_COMPACTION: Final = "compaction"
_LIST_OF_TOOLS: Final = "mcp_list_tools"
# Their parts are all that there is of them.
_SPOKEN: Final = frozenset({"", "message", "reasoning"})
# Type of a part of the content -> what it is, and the member with its text.
_PARTS: Final[Mapping[str, tuple[PartKind, str]]] = MappingProxyType(
    {
        "": ("output_text", "text"),
        "text": ("output_text", "text"),
        "output_text": ("output_text", "text"),
        "refusal": ("refusal", "refusal"),
        "reasoning_text": ("reasoning_text", "text"),
    }
)


class ResponseItem:
    """One output item as it grows.

    Args:
        answer: Receives the blocks.
        item: The item as it began.
        tools: What the response says may be called.
        losses: How often something may have been lost when it began; None where that was before
            the first that is known of it.

    Attributes:
        item_type: Its type; empty where only arguments of it came.
        call: The call, for a type that is one.
        is_done: The provider has ended it.
        losses: As given.
    """

    def __init__(
        self,
        answer: Answer,
        item: dict[str, Json],
        tools: Sequence[Json] = (),
        *,
        losses: int | None = None,
    ) -> None:
        self._answer = answer
        self._data: dict[str, Json] = {}
        self._parts: dict[tuple[PartKind, int], TextPart] = {}
        self._last_part: TextPart | None = None
        self._encrypted = text_of(item, "encrypted_content")
        self.item_type = text_of(item, "type")
        self.call: ToolCall | None = None
        self.is_done = False
        self.losses = losses
        for name in ("id", "phase", "call_id"):
            if text_of(item, name):
                self._data["item_id" if name == "id" else name] = clean_name(text_of(item, name))
        if is_call(self.item_type):
            self.call = self._new_call("client" if is_client_call(item, tools) else "provider")
            self.call.is_free_text = (
                self.call.runner == "client" and self.item_type == "custom_tool_call"
            )
            self._keep_sent_back(self.call, item)
            self.call.set_name(call_name(item))

    @property
    def item_id(self) -> str:
        """Id of the item when it began; empty where there is none."""
        return str(self._data.get("item_id", ""))

    @property
    def call_id(self) -> str:
        """Id by which a result names the call; empty where there is none."""
        return str(self._data.get("call_id", ""))

    def _new_call(self, runner: Runner) -> ToolCall:
        return self._answer.add_call(runner, **self._data, item_type=clean_name(self.item_type))

    @staticmethod
    def _keep_sent_back(call: ToolCall, item: dict[str, Json]) -> None:
        for name in SENT_BACK:
            value = item.get(name)
            if value is not None:
                kept = opaque(value)
                if kept != call.data.get(name):
                    call.spend(len(encode_json(kept)))
                    call.sign(name, kept)

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

    def finish(self, item: dict[str, Json], source: bytes, *, is_lossless: bool) -> None:
        """Take the item as the provider says that it is, whole, and end it.

        Args:
            item: The item.
            source: Its text.
            is_lossless: All that the provider sent of it has come.
        """
        if self.is_done:
            return
        self.is_done = True
        for name, value in (("item_id", item.get("id")), ("phase", item.get("phase"))):
            if name not in self._data and isinstance(value, str) and value:
                self._data[name] = clean_name(value)
        self._repair_parts(item, is_lossless=is_lossless)
        if self.call is None:
            self._finish_parts(item)
            self._finish_rest(item, source)
            return
        self._name(self.call, item)
        if self.call.runner == "client":
            self._finish_client_call(self.call, item, source)
        else:
            self._finish_server_call(self.call, item, source)

    def _name(self, call: ToolCall, item: dict[str, Json]) -> None:
        call.set_name(text_of(item, "name"))
        self._keep_sent_back(call, item)
        call_id = text_of(item, "call_id")
        if call_id and call_id != self.call_id:
            # The id that came last is the one that a result has to name.
            self._data["call_id"] = clean_name(call_id)
            call.sign("call_id", self._data["call_id"])

    def _repair_parts(self, item: dict[str, Json], *, is_lossless: bool) -> None:
        for index, part in records_of(item, "summary"):
            whole = text_of(part, "text")
            self.part("summary_text", index).repair(whole, is_lossless=is_lossless)
        whole = text_of(item, "content")
        content = records_of(item, "content")
        if whole:
            content = [(0, {"type": "output_text", "text": whole})]
        for index, part in content:
            kind, member = _PARTS.get(text_of(part, "type"), (None, ""))
            if kind is None:
                if self.item_type == "message":
                    self._answer.add_notice(
                        "content_not_supported",
                        f"The answer holds a part ({clean_name(text_of(part, 'type'))})"
                        " that is not kept.",
                    )
                continue
            if self.item_type == "reasoning" and (kind, index) not in self._parts:
                # Whatever a server calls the parts of its reasoning, they are not the answer.
                kind = "reasoning_text"
            text_part = self.part(kind, index)
            text_part.repair(text_of(part, member), is_lossless=is_lossless)
            if "annotations" not in text_part.data:
                for _, annotation in records_of(part, "annotations"):
                    self._answer.collect(text_part.data, "annotations", annotation)

    def _finish_parts(self, item: dict[str, Json]) -> None:
        encrypted = text_of(item, "encrypted_content") or self._encrypted
        if encrypted and self.item_type != _COMPACTION:
            part = self._last_part or self.part("summary_text", 0)
            part.data["encrypted_content"] = encrypted
        for part in self._parts.values():
            part.data.update(self._data)
            part.close()

    def _finish_rest(self, item: dict[str, Json], source: bytes) -> None:
        """Keep what is neither text nor a call."""
        item_type = clean_name(self.item_type)
        if item_type == _COMPACTION:
            self._answer.add_notice(
                "context_compacted",
                "The provider compacted the conversation so far.",
                **self._data,
                item_type=item_type,
                encrypted_content=text_of(item, "encrypted_content") or self._encrypted,
            )
        elif item_type == _LIST_OF_TOOLS:
            # A list of tools is no part of an answer, but that there is none explains it.
            if item.get("error") is not None:
                self.call = self._new_call("provider")
                self.call.set_name(item_type)
                self.call.set_output(member_source(source, ["error"]) or b"", is_error=True)
        elif not (self._parts or item_type in _SPOKEN or item_type.endswith("_output")):
            self._answer.add_item(item_type, **self._data, item=opaque(item))

    def _finish_client_call(self, call: ToolCall, item: dict[str, Json], source: bytes) -> None:
        whole = client_input(self.item_type, item, source)
        if whole:
            call.set_arguments(whole)
        if text_of(item, "status") in _FAILED:
            call.fail("tool_call_cut", "The provider did not finish the call.")
        else:
            call.end_arguments()

    def _finish_server_call(self, call: ToolCall, item: dict[str, Json], source: bytes) -> None:
        call.set_arguments(server_input(item, source, call.arguments))
        call.end_arguments()
        output = output_member(item)
        if self.item_type == APPROVAL:
            call.fail(*_NEEDS_APPROVAL)
        elif item.get("error") is not None:
            call.set_output(member_source(source, ["error"]) or b"", is_error=True)
        elif text_of(item, "status") in _FAILED:
            call.fail("tool_failed", "The provider could not run the call.")
        elif output:
            call.set_output(member_source(source, [output]) or b"")
        elif not self._has_result_of_its_own():
            call.end_run()

    def _has_result_of_its_own(self) -> bool:
        """Return whether the result of the call is another item; without that there is none."""
        if self.item_type == "custom_tool_call":
            return False
        return self.item_type in CLIENT_CALLS or self.item_type == PROGRAM

    def take_result(self, item: dict[str, Json], source: bytes) -> None:
        """Complete the call with its result, which is another item."""
        name = "tools" if "tools" in item else output_member(item)
        if self.call is not None and self.call.runner == "provider":
            self.call.set_output(member_source(source, [name]) or b"null")

    def stand_alone(self, item: dict[str, Json], source: bytes) -> None:
        """Show the result that this item is, of a call in an earlier answer."""
        if self.call is None:
            self.call = self._new_call("provider")
            self.call.set_name(self.item_type.removesuffix("_output").removesuffix("_call"))
            self.take_result(item, source)

    def rest(self) -> None:
        """Complete a program that goes on in a later answer, once it has what it called for."""
        if self.item_type == PROGRAM and self.is_done and self.call is not None:
            self.call.end_run()
