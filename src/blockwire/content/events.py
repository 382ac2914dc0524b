"""The streaming events: one frozen class each, and the open objects they are on the wire.

Spec: docs/spec/content/events.md.

An engine makes events without numbers; the gateway stamps ``conversation_id``, ``seq``,
``prev_seq`` and ``ts`` last. Events are open objects: members that this version does not know are
kept in ``extra`` and written back, and a type that it does not know becomes an
:class:`UnknownEvent`, which moves the cursor and nothing else.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from blockwire.content.vocabulary import Block, Message, TerminalStatus
from blockwire.jsontext import Json

__all__ = [
    "ENVELOPE_MEMBERS",
    "BlockCompleted",
    "BlockDelta",
    "BlockStarted",
    "BlockUpdated",
    "ConversationSnapshot",
    "MessageCreated",
    "StreamEvent",
    "TurnEnded",
    "TurnResumed",
    "TurnStarted",
    "TurnSuspended",
    "UnknownEvent",
]

ENVELOPE_MEMBERS: Final[tuple[str, ...]] = ("conversation_id", "seq", "prev_seq", "ts")
"""What the gateway stamps on an event, whatever the payload says."""


class _Event(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The members that every event may carry once the gateway has stamped it.

    Attributes:
        conversation_id: Empty before the stamp.
        seq: Rises within a conversation for its whole life; 0 before the stamp.
        prev_seq: The seq of the event before it in this view.
        ts: Unix milliseconds of the stamp.
        extra: Unknown members, kept as they came.
    """

    conversation_id: str = ""
    seq: int = 0
    prev_seq: int = 0
    ts: int = 0
    extra: dict[str, Json] | None = None


class TurnStarted(_Event, frozen=True, tag_field="type", tag="turn.started"):
    """A turn began; its message is empty and streaming. Times are Unix milliseconds."""

    turn_id: str
    role: str
    created_at: int
    model: str | None = None
    provider: str | None = None


class BlockStarted(_Event, frozen=True, tag_field="type", tag="content.block.started"):
    """A block took its place in the message; it stays there."""

    turn_id: str
    block: Block


# gc: what a JSON text or an engine puts into ``extra`` has no cycles, and most objects are these.
class BlockDelta(_Event, frozen=True, tag_field="type", tag="content.block.delta", gc=False):
    """Text was added to the declared field of an open block."""

    turn_id: str
    block_id: str
    field: str
    text: str


class BlockUpdated(_Event, frozen=True, tag_field="type", tag="content.block.updated"):
    """Members of an open tool block were replaced whole."""

    turn_id: str
    block_id: str
    set: dict[str, Json]


class BlockCompleted(_Event, frozen=True, tag_field="type", tag="content.block.completed"):
    """A block is final.

    Attributes:
        turn_id: The turn.
        block_id: The block.
        block: For a tool, the block as it stays.
        provider_data: What the provider signed the block with, known only at its end (a
            signature, encrypted reasoning); becomes the block's. Owner view only.
    """

    turn_id: str
    block_id: str
    block: Block | None = None
    provider_data: Json = None


class TurnSuspended(_Event, frozen=True, tag_field="type", tag="turn.suspended"):
    """A turn waits for a person; ``request`` is ``{id, kind, prompt, options?, block_id?}``."""

    turn_id: str
    request: dict[str, Json]


class TurnResumed(_Event, frozen=True, tag_field="type", tag="turn.resumed"):
    """A suspended turn goes on."""

    turn_id: str


class TurnEnded(_Event, frozen=True):
    """A turn is over: ``turn.completed``, ``turn.failed`` or ``turn.cancelled``.

    Attributes:
        turn_id: The turn.
        status: The word that the type repeats.
        usage: Token counts, kept with the message.
        finish_reason: Why the model stopped (``stop``, ``length``, ``tool_calls``, ...).
        reason: Why the turn did not complete (``interrupted``, ``deadline``, ...).
        error_code: Code of the error block, so that lists need not read the message.
    """

    turn_id: str
    status: TerminalStatus
    usage: dict[str, Json] | None = None
    finish_reason: str | None = None
    reason: str | None = None
    error_code: str | None = None


class MessageCreated(_Event, frozen=True, tag_field="type", tag="message.created"):
    """A complete message entered the conversation (the user's, an import, a tool result)."""

    message: Message


class ConversationSnapshot(_Event, frozen=True, tag_field="type", tag="conversation.snapshot"):
    """All state at an exact committed ``seq``; it replaces whatever the receiver held.

    Attributes:
        messages: In conversation order, running ones as they stand.
        turns: Turn metadata, in the shape of ``GET .../turns``.
        open_block_ids: Blocks of running turns that may still grow.
        reset: The receiver's cursor was ahead of the log.
        more_before: Cursor for older messages at ``GET .../messages``.
    """

    messages: list[Message]
    turns: list[dict[str, Json]]
    open_block_ids: list[str]
    reset: bool = False
    more_before: str | None = None


class UnknownEvent(_Event, frozen=True):
    """An event of a newer peer, or one that concerns the connection only.

    Attributes:
        type: Its type.
        members: Everything but ``type`` and the envelope, as it came.
    """

    type: str
    members: dict[str, Json]


StreamEvent: TypeAlias = (
    TurnStarted
    | BlockStarted
    | BlockDelta
    | BlockUpdated
    | BlockCompleted
    | TurnSuspended
    | TurnResumed
    | TurnEnded
    | MessageCreated
    | ConversationSnapshot
    | UnknownEvent
)
