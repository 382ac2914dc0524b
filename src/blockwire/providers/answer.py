"""An answer as its blocks appear, and the ways in which it ends.

Spec: docs/spec/providers.md, "Endings". Above are the decoders; below are ``parts`` and ``draft``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from blockwire.content import IdKind, StreamEvent
from blockwire.content.vocabulary import TerminalStatus
from blockwire.errors import EngineError
from blockwire.jsontext import Json, encode_json
from blockwire.providers.base import ProviderApi
from blockwire.providers.draft import Draft
from blockwire.providers.failures import ProviderFailure
from blockwire.providers.members import opaque
from blockwire.providers.parts import Runner, TextKind, TextPart, ToolCall

__all__ = ["Answer", "Ending"]

Ending = Literal[
    "stop",
    "tool_calls",
    "length",
    "refusal",
    "blocked",
    "content_filter",
    "paused",
    "cancelled",
    "unknown",
]
"""Why the provider stopped: ``refusal`` is said by the model, ``blocked`` is done to it."""


class _Closing(NamedTuple):
    """How a turn ends that does not simply succeed."""

    status: TerminalStatus
    block_type: Literal["error", "notice"]
    code: str
    finish_reason: str
    message: str


# None of these may look like a plain success, so each leaves a block that says what happened.
_CLOSINGS: Final[Mapping[str, _Closing]] = MappingProxyType(
    {
        "length": _Closing(
            "completed",
            "notice",
            "answer_truncated",
            "length",
            "The answer was cut at the token limit.",
        ),
        "refusal": _Closing(
            "completed", "notice", "refusal", "refusal", "The model refused this request."
        ),
        "blocked": _Closing(
            "failed", "error", "refusal", "refusal", "The model refused this request."
        ),
        "content_filter": _Closing(
            "failed",
            "error",
            "content_filter",
            "content_filter",
            "The provider's content filter stopped the answer.",
        ),
        "paused": _Closing(
            "completed",
            "notice",
            "answer_paused",
            "paused",
            "The provider paused this long answer; it goes on when asked again.",
        ),
        "cancelled": _Closing(
            "cancelled",
            "notice",
            "turn_cancelled",
            "cancelled",
            "The provider cancelled the answer.",
        ),
        "unknown": _Closing(
            "completed",
            "notice",
            "unknown_finish_reason",
            "unknown",
            "The provider ended the answer for a reason that is not known here.",
        ),
        "empty": _Closing(
            "completed", "notice", "empty_answer", "stop", "The model ended without an answer."
        ),
    }
)
# Items of one opaque list of a block, docs/spec/providers.md, "Bounds".
OPAQUE_ITEMS_MAX: Final = 4096

_CUT_CALL: Final = ("tool_call_cut", "The answer ended before the arguments were whole.")
_NOT_RUN: Final = ("tool_call_not_run", "The answer did not end well, so the call was not run.")
_NO_RESULT: Final = ("tool_result_missing", "The provider told no result of this call.")

TRUNCATED_MESSAGE: Final = (
    "The connection ended before the answer was complete; what had arrived is kept."
)


class Answer:
    """The blocks of one answer, in the order in which they first appeared.

    Attributes:
        usage: Token counts so far, normalised.
        has_refusal: The model said in so many words that it refuses.
        calls: The tool calls so far.
    """

    def __init__(
        self,
        api: ProviderApi,
        turn_id: str,
        *,
        new_id: Callable[[IdKind], str],
        redact: Callable[[str], str],
    ) -> None:
        self._api = api
        self._draft = Draft(turn_id, new_id=new_id)
        self._redact = redact
        self._parts: list[TextPart] = []
        self._segment: TextPart | None = None
        self.calls: list[ToolCall] = []
        self.usage: dict[str, Json] = {}
        self.has_refusal = False

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has been written."""
        return self._draft.is_over

    def drain(self) -> list[StreamEvent]:
        """Return the events written since the last call."""
        return self._draft.drain()

    def add_part(self, kind: TextKind, **data: Json) -> TextPart:
        """Return a new part; its place in the answer is that of its first character."""
        self._draft.announce()
        part = TextPart(self._draft, kind, {"provider": self._api, **data})
        self._parts.append(part)
        return part

    def say(self, kind: TextKind, text: str) -> None:
        """Add text where the API does not say to which part it belongs: to the last of its kind.

        Another kind, or a call in between, begins a new block.
        """
        if not text:
            return
        segment = self._segment
        if segment is None or segment.kind != kind:
            self.end_segment()
            segment = self._segment = self.add_part(kind)
        segment.append(text)

    @property
    def segment(self) -> TextPart | None:
        """The part to which :meth:`say` adds now."""
        return self._segment

    def end_segment(self) -> None:
        """Complete what :meth:`say` has written."""
        if self._segment is not None:
            self._segment.close()
            self._segment = None

    def add_call(self, runner: Runner, **data: Json) -> ToolCall:
        """Return a new call; its place in the answer is that of its name."""
        self._draft.announce()
        self.end_segment()
        call = ToolCall(self._draft, runner, {"provider": self._api, **data})
        self.calls.append(call)
        return call

    def collect(self, data: dict[str, Json], name: str, item: Json) -> None:
        """Add ``item`` to the opaque list ``name`` of a part's data.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self._draft.spend(len(encode_json(item)))
        so_far = data.get(name)
        items = so_far if isinstance(so_far, list) else []
        if len(items) >= OPAQUE_ITEMS_MAX:
            raise EngineError("answer_too_large", "A block has more citations than it may have.")
        # A new list: the old one may be part of an event already.
        data[name] = [*items, opaque(item)]

    def skip(self) -> None:
        """Count a block or item that is not kept: the decoder remembers where it was.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self._draft.announce()

    def add_notice(self, code: str, message: str, **data: Json) -> None:
        """Add a notice at this place, with what goes back to the provider, if there is such.

        Raises:
            EngineError: ``answer_too_large``.
        """
        self._add_whole("notice", {"code": code, "message": message}, data)

    def add_item(self, item_type: str, **data: Json) -> None:
        """Keep something of the provider's that is not known here, as a block of its own.

        Raises:
            EngineError: ``answer_too_large``.
        """
        text = f"An item of the provider that is not known here: {item_type}"
        self._add_whole("provider_item", {"fallback_text": text}, {**data, "item_type": item_type})

    def _add_whole(
        self, block_type: str, members: dict[str, Json], data: Mapping[str, Json]
    ) -> None:
        self._draft.announce()
        self.end_segment()
        if data:
            members["provider_data"] = {"provider": self._api, **data}
            self._draft.spend(len(encode_json(members)))
        self._draft.complete(self._draft.start(block_type, members))

    def finish(self, ending: Ending, *, detail: str = "", provider_code: str | None = None) -> None:
        """End the turn as the provider said.

        Args:
            ending: Why it stopped.
            detail: The provider's own sentence, if it gave one.
            provider_code: The provider's own word, for blocks that tell more than success.
        """
        if ending in {"stop", "tool_calls"}:
            self._finish_well(ending)
        else:
            self._finish_with(_CLOSINGS[ending], detail=detail, provider_code=provider_code)

    def _finish_well(self, ending: Ending) -> None:
        self._close_parts()
        ready = [call for call in self._client_calls() if call.is_ready and not call.is_closed]
        for call in self.calls:
            if call not in ready:
                call.fail(*(_CUT_CALL if call.runner == "client" else _NO_RESULT))
        if ready:
            for call in ready:
                call.hand_out()
            self._draft.end(
                "completed", block=None, usage=self._usage(), finish_reason="tool_calls"
            )
        elif ending == "tool_calls" or self._client_calls():
            self.fail(
                ProviderFailure(
                    code="invalid_tool_call",
                    message="The provider asked for a tool call that cannot be run.",
                    retryable=True,
                )
            )
        elif self.has_refusal:
            self._finish_with(_CLOSINGS["refusal"])
        elif all(block.type == "reasoning" for block in self._draft.turn.blocks):
            self._finish_with(_CLOSINGS["empty"])
        else:
            self._draft.end("completed", block=None, usage=self._usage(), finish_reason="stop")

    def _client_calls(self) -> list[ToolCall]:
        return [call for call in self.calls if call.runner == "client"]

    def _finish_with(
        self, closing: _Closing, *, detail: str = "", provider_code: str | None = None
    ) -> None:
        self._settle()
        detail = detail.strip()
        message = f"{closing.message} {self._redact(detail)}" if detail else closing.message
        block: dict[str, Json] = {
            "type": closing.block_type,
            "code": closing.code,
            "message": message,
        }
        if closing.block_type == "error":
            block["retryable"] = False
        if provider_code:
            block["provider_code"] = provider_code
        self._draft.end(
            closing.status, block=block, usage=self._usage(), finish_reason=closing.finish_reason
        )

    def fail(self, failure: ProviderFailure, *, finish_reason: str | None = None) -> None:
        """End the turn as failed, with one error block."""
        self._settle()
        block: dict[str, Json] = {
            "type": "error",
            "code": failure.code,
            "message": self._redact(failure.message),
            "retryable": failure.retryable,
        }
        if failure.provider_code is not None:
            block["provider_code"] = failure.provider_code
        self._draft.end("failed", block=block, usage=self._usage(), finish_reason=finish_reason)

    def truncate(self) -> None:
        """End the turn as cut: the bytes ended before the provider said that it was done."""
        self.fail(
            ProviderFailure(code="stream_truncated", message=TRUNCATED_MESSAGE, retryable=True)
        )

    def _settle(self) -> None:
        """Complete what is open when nothing more is to be run."""
        self._close_parts()
        for call in self.calls:
            if call.runner == "provider":
                call.fail(*_NO_RESULT)
            else:
                call.fail(*(_NOT_RUN if call.is_ready else _CUT_CALL))

    def _close_parts(self) -> None:
        self.end_segment()
        for part in self._parts:
            part.close()

    def _usage(self) -> dict[str, Json] | None:
        return self.usage or None
