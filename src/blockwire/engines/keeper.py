"""What an engine may say, decided event by event; no I/O and no clock.

Spec: docs/spec/gateway/engines.md, "The guard". Above is ``guard``, which asks the engine for the
next event and knows what time it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import msgspec
from msgspec import Struct

from blockwire.content import (
    DELTA_FIELDS,
    ENVELOPE_MEMBERS,
    Block,
    BlockDelta,
    BlockWriter,
    ConversationSnapshot,
    IdKind,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnState,
    UnknownEvent,
    decode_event,
    encode_event,
    end_turn,
    event_members,
    redact_event,
    settle_blocks,
)
from blockwire.content.fields import CODE
from blockwire.content.vocabulary import EXPLAINING_TYPES, GATEWAY_EVENTS
from blockwire.errors import BlockwireError
from blockwire.jsontext import check_json_value

__all__ = ["TurnKeeper", "TurnLimits"]

_FIELDS: Final[frozenset[str]] = frozenset(DELTA_FIELDS.values())


class TurnLimits(Struct, frozen=True, kw_only=True):
    """What one turn may use up.

    Attributes:
        deadline_s: From its start to its end, without the time it waited for a person.
        idle_s: Between two events.
        bytes_max: UTF-8 bytes of text and of everything else it says.
        events_max: Events, however small.
    """

    deadline_s: float = 3600.0
    idle_s: float = 300.0
    bytes_max: int = 16 * 1024 * 1024
    events_max: int = 1_000_000


class _RefusedError(Exception):
    """An event is not allowed; the sentence names no content of it."""


class TurnKeeper:
    """Lets through what is valid, repairs what can be repaired, ends the turn at the first lie.

    Args:
        turn_id: The turn, which the gateway has started already.
        new_id: Returns a fresh id for a kind (``"block"``).
        limits: Of these, sizes and counts are kept here.
        redact: Returns a text without credentials.
    """

    def __init__(
        self,
        turn_id: str,
        *,
        new_id: Callable[[IdKind], str],
        limits: TurnLimits,
        redact: Callable[[str], str],
    ) -> None:
        self._writer = BlockWriter(turn_id, new_id=new_id)
        self._turn_id = turn_id
        self._new_id = new_id
        self._limits = limits
        self._redact = redact
        self._bytes = 0
        self._events = 0
        self._was_answered = False

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has been let through."""
        return self._writer.is_over

    @property
    def is_suspended(self) -> bool:
        """Whether the turn waits for a person."""
        return self.turn.status == "suspended"

    @property
    def turn(self) -> TurnState:
        """The turn as let through so far."""
        return self._writer.turn

    def receive(self, event: StreamEvent) -> list[StreamEvent]:
        """Return the events that ``event`` becomes: itself, a repaired one, none, or the end."""
        if self.is_over:
            return []
        try:
            self._accept(_checked(event, self._turn_id))
        except _RefusedError as refused:
            return self.fail("engine_protocol_error", f"The engine sent {refused}.")
        except BlockwireError as error:
            where = f" at {error.pointer}" if error.pointer else ""
            return self.fail(
                "engine_protocol_error",
                f"The engine sent an event that is not allowed here ({error.code}{where}).",
            )
        if self._bytes > self._limits.bytes_max or self._events > self._limits.events_max:
            return self._too_large()
        return self._writer.drain()

    def resume(self) -> None:
        """Take note of ``turn.resumed``, which the gateway has written with the answer."""
        if self.is_suspended:
            self._writer.write([TurnResumed(self._turn_id)])
            self._writer.drain()
            self._was_answered = True

    def fail(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        reason: str | None = None,
        retry_after_s: float | None = None,
    ) -> list[StreamEvent]:
        """Return the events that end the turn as failed; none when it is over already.

        No second error is added after an engine that ended its message with one itself.
        """
        if self.is_over:
            return []
        blocks = self.turn.blocks
        error: Block | None = None
        if not blocks or blocks[-1].type != "error":
            error = self._error_block(code, message, retryable=retryable)
            if retry_after_s is not None:
                error["retry_after_s"] = retry_after_s
        else:
            code = cast("str", blocks[-1].block["code"])
        events = end_turn(self.turn, "failed", block=error, reason=reason)
        last = cast("TurnEnded", events.pop())
        self._writer.write([*events, msgspec.structs.replace(last, error_code=code)])
        return self._writer.drain()

    def _accept(self, event: StreamEvent) -> None:
        match event:
            case BlockDelta():
                self._write(event, _text_bytes(event.text))
            case TurnEnded():
                self._end(event)
            case TurnStarted():
                # The gateway has said so already; a second start would be a second turn.
                pass
            case TurnResumed() if self._was_answered and not self.is_suspended:
                # The gateway has said so with the answer; an engine may repeat it, once.
                self._was_answered = False
            case MessageCreated() | ConversationSnapshot():
                raise _RefusedError("a message that is not its own")
            case UnknownEvent(type=name) if name in GATEWAY_EVENTS:
                raise _RefusedError("an event that only the gateway sends")
            case _:
                event = redact_event(event, self._redact)
                self._write(event, len(encode_event(event)))

    def _write(self, event: StreamEvent, size_bytes: int) -> None:
        self._bytes += size_bytes
        self._events += 1
        if self._bytes <= self._limits.bytes_max and self._events <= self._limits.events_max:
            self._writer.write([event])

    def _end(self, event: TurnEnded) -> None:
        if self.is_suspended and event.status == "completed":
            raise _RefusedError("an end while the turn waits for an answer")
        self._writer.write(
            settle_blocks(self.turn, event.status, finish_reason=event.finish_reason)
        )
        blocks = [block.block for block in self.turn.blocks if block.type in EXPLAINING_TYPES]
        if event.status == "failed" and not blocks:
            code = event.error_code if _is_code(event.error_code) else "engine_failed"
            sentence = "The engine reported that it failed and did not say why."
            error = self._error_block(cast("str", code), sentence, retryable=False)
            self._writer.add("error", {k: v for k, v in error.items() if k not in {"id", "type"}})
            blocks = [error]
        code = event.error_code
        if event.status == "failed" and code is None:
            errors = [block["code"] for block in blocks if block["type"] == "error"]
            code = cast("str", errors[-1]) if errors else None
        # "interrupted" is what a restart does to a turn; no engine can know of it.
        reason = None if event.reason == "interrupted" else event.reason
        self._writer.write([msgspec.structs.replace(event, error_code=code, reason=reason)])

    def _error_block(self, code: str, message: str, *, retryable: bool) -> Block:
        return {
            "id": self._new_id("block"),
            "type": "error",
            "code": code if _is_code(code) else "engine_failed",
            "message": self._redact(message),
            "retryable": retryable,
        }

    def _too_large(self) -> list[StreamEvent]:
        limits = self._limits
        if self._bytes > limits.bytes_max:
            sentence = f"The answer is larger than {limits.bytes_max} bytes; what fits is kept."
        else:
            sentence = f"The answer has more than {limits.events_max} events; what fits is kept."
        self._bytes = self._events = 0
        return self.fail("answer_too_large", sentence, reason="size")


def _checked(event: StreamEvent, turn_id: str) -> StreamEvent:
    """Return ``event`` as its JSON says it, without the numbers that only the gateway gives.

    An engine is code of somebody else: an object of our class may hold anything.
    """
    if type(event) is BlockDelta and _is_plain(event) and event.turn_id == turn_id:
        # Nearly all events are this one; spelled out so that they cost no detour over JSON.
        check_json_value(event.text)
        return event
    if not isinstance(event, StreamEvent):
        raise _RefusedError("something that is no event")
    try:
        members = event_members(event)
        check_json_value(members)
    except BlockwireError:
        raise
    except Exception:  # noqa: BLE001 - whatever the object holds, the engine put it there
        raise _RefusedError("an event with members of the wrong type") from None
    for name in ENVELOPE_MEMBERS:
        members.pop(name, None)
    if members.get("turn_id", turn_id) != turn_id:
        raise _RefusedError("an event of another turn")
    return decode_event(members)


def _is_plain(event: BlockDelta) -> bool:
    """Return whether only its own members are set, and to text."""
    if event.extra is not None or event.seq or event.prev_seq or event.ts or event.conversation_id:
        return False
    return type(event.text) is str and type(event.block_id) is str and event.field in _FIELDS


def _is_code(code: object) -> bool:
    return isinstance(code, str) and CODE.match(code) is not None


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
