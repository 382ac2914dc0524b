"""What the gateway answers with, as values of Python.

Spec: docs/spec/gateway/reading.md, "Shapes". Times are Unix milliseconds. Members that this version does
not know are not lost: ``members`` holds each object as it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from blockwire.client.failures import ClientError
from blockwire.content import TURN_TERMINAL_STATUSES, TurnStatus
from blockwire.jsontext import Json

__all__ = ["Acknowledgement", "Capabilities", "Conversation", "Turn", "read_shape"]

# The values are JSON; msgspec knows no type that contains itself.
JsonObject = dict[str, Any]
_NOTHING: Final[JsonObject] = {}


class Conversation(Struct, frozen=True, kw_only=True):
    """A conversation.

    Attributes:
        id: Its id.
        tags: Words that its owner gave it.
        created_at: When it was made.
        updated_at: When it changed last.
        head_seq: Its last committed event.
        title: Its title.
        metadata: What its owner keeps with it.
        running_turn_id: Its turn that is not over.
        queued_turn_ids: Turns that wait for that, in order.
        system: System prompt of its turns, for its owner.
        usage: What its turns came to: ``turns``, token counts, ``cost`` by currency.
        members: The whole object as it came.
    """

    id: str
    tags: list[str]
    created_at: int
    updated_at: int
    head_seq: int
    title: str | None = None
    metadata: JsonObject | None = None
    running_turn_id: str | None = None
    queued_turn_ids: list[str] = []
    system: str | None = None
    usage: JsonObject | None = None
    members: JsonObject = _NOTHING


class Turn(Struct, frozen=True, kw_only=True):
    """A turn; where one turn was read, with its message as committed at ``seq``.

    Attributes:
        id: Its id, and that of its message.
        conversation_id: Where it belongs.
        status: How it stands.
        engine: What runs it.
        created_at: When it was submitted.
        request_message_id: The message that it answers.
        seq: The last event that this reflects.
        durable: Whether it survives a crash of the gateway; a queued turn does not.
        model: As its engine named it.
        provider: As its engine named it.
        started_at: When it began.
        completed_at: When it ended.
        usage: Token counts.
        cost: By currency, where prices are configured.
        retry_of: The turn whose question it asks again.
        position: Its place in the line while it is queued; the next one has 1.
        content: What was asked, while it is queued or when it was handed back.
        error: ``{code, message, ...}`` of what failed.
        finish_reason: Why the model stopped.
        reason: Why the turn did not complete.
        request: What a suspended turn waits for.
        message: The answer so far.
        open_block_ids: Blocks that may still change.
        epoch: Fencing token for an outside producer, from the answer to a submit.
        is_new: False when the submit attached to a turn that its key had started before.
        members: The whole object as it came.
    """

    id: str
    conversation_id: str
    status: TurnStatus
    engine: str
    created_at: int
    request_message_id: str
    seq: int
    durable: bool
    model: str | None = None
    provider: str | None = None
    started_at: int | None = None
    completed_at: int | None = None
    usage: JsonObject | None = None
    cost: JsonObject | None = None
    retry_of: str | None = None
    position: int | None = None
    content: list[JsonObject] | None = None
    error: JsonObject | None = None
    finish_reason: str | None = None
    reason: str | None = None
    request: JsonObject | None = None
    message: JsonObject | None = None
    open_block_ids: list[str] | None = None
    epoch: int | None = None
    is_new: bool = True
    members: JsonObject = _NOTHING

    @property
    def is_over(self) -> bool:
        """Whether nothing can change it any more."""
        return self.status in TURN_TERMINAL_STATUSES


class Acknowledgement(Struct, frozen=True):
    """What of an upload is committed.

    Attributes:
        producer_seq: The last line; 0 when nothing is.
        seq: The last event that came of it.
    """

    producer_seq: int
    seq: int


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a gateway can.

    Attributes:
        protocol: Version of the protocol.
        version: Version of the program.
        engines: Names for ``engine``; the first is the default.
        dialects: Other wires that it speaks.
        scopes: What the caller's token allows.
        limits: Bounds by name.
        members: The whole object as it came.
    """

    protocol: int
    version: str
    engines: list[str]
    dialects: list[str] = []
    scopes: list[str] = []
    limits: JsonObject = _NOTHING
    members: JsonObject = _NOTHING


_Shape = TypeVar("_Shape", Conversation, Turn, Acknowledgement, Capabilities)


def read_shape(shape: type[_Shape], value: Json, **more: object) -> _Shape:
    """Return ``value`` as a ``shape``.

    Args:
        shape: What it should be.
        value: A decoded JSON value.
        more: Members that the answer's status and headers tell.

    Raises:
        ClientError: ``invalid_answer``.
    """
    try:
        if shape is Acknowledgement:
            return msgspec.convert(value, shape)
        members: Mapping[str, object] = value if isinstance(value, dict) else {}
        return msgspec.convert({**members, **more, "members": members}, shape)
    except msgspec.ValidationError as error:
        raise ClientError(
            "invalid_answer", f"the gateway's {shape.__name__.lower()} is none: {error}"
        ) from None
