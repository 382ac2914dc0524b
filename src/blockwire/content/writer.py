"""``BlockWriter``: how provider decoders and engines say what a turn contains.

Spec: docs/spec/content/events.md.

It makes events without numbers, checks each one with the reducer, and knows how to end well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from blockwire.content.codec import check_event
from blockwire.content.events import (
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationSnapshot,
    MessageCreated,
    StreamEvent,
    TurnStarted,
)
from blockwire.content.ids import IdKind
from blockwire.content.reducer import advance
from blockwire.content.settle import end_turn
from blockwire.content.state import BlockState, ConversationState, TurnState
from blockwire.content.vocabulary import Block, Message, TerminalStatus
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import Json, check_json_value

__all__ = ["BlockWriter"]


class BlockWriter:
    """Builds the events of one turn; :meth:`drain` hands out those made since the last call.

    Every method refuses what the reducer would refuse, with :class:`LocalProtocolError` and the
    reducer's code, and changes nothing then.

    Args:
        turn_id: The turn, which its gateway has started already.
        new_id: Returns a fresh id for a kind (``"block"``).
    """

    def __init__(self, turn_id: str, *, new_id: Callable[[IdKind], str]) -> None:
        self.turn_id = turn_id
        self._new_id = new_id
        self._events: list[StreamEvent] = []
        started = TurnStarted(turn_id, "assistant", 0)
        self._state = advance(ConversationState(), started)

    @property
    def turn(self) -> TurnState:
        """The turn as written so far."""
        turn = self._state.find_turn(self.turn_id)
        assert turn is not None, "the constructor started it"
        return turn

    @property
    def message(self) -> Message:
        """The message as written so far; its times are the gateway's to set."""
        return self.turn.message

    @property
    def is_over(self) -> bool:
        """Whether the terminal event has been written."""
        return self.turn.is_terminal

    def drain(self) -> list[StreamEvent]:
        """Return the events written since the last call, in order."""
        events, self._events = self._events, []
        return events

    def write(self, events: Iterable[StreamEvent]) -> None:
        """Add ready-made events of this turn, all of them or, when one is refused, none.

        Raises:
            LocalProtocolError: The codes of :func:`~blockwire.content.decode_event` and
                :func:`~blockwire.content.advance`; ``invalid_json_value`` for what no receiver
                could decode; ``invalid_event`` for an event that concerns no turn.
        """
        state, written = self._state, []
        for event in events:
            if isinstance(event, MessageCreated | ConversationSnapshot):
                raise LocalProtocolError("invalid_event", "a turn consists of its own events only")
            try:
                _check(event)
                state = advance(state, event)
            except RemoteProtocolError as error:
                raise LocalProtocolError(error.code, error.detail, pointer=error.pointer) from error
            written.append(event)
        self._state = state
        self._events += written

    def start(self, block_type: str, members: Mapping[str, Json], *, block_id: str = "") -> str:
        """Start a block and return its id.

        Args:
            block_type: Any type; a known one is checked against its table.
            members: Everything but ``id`` and ``type``.
            block_id: A fresh id is made when empty.
        """
        block: Block = {"id": block_id or self._new_id("block"), "type": block_type, **members}
        self.write([BlockStarted(self.turn_id, block)])
        return cast("str", block["id"])

    def add(self, block_type: str, members: Mapping[str, Json], *, block_id: str = "") -> str:
        """Start and complete a block that comes whole; return its id."""
        block_id = self.start(block_type, members, block_id=block_id)
        self.complete(block_id)
        return block_id

    def append(self, block_id: str, text: str) -> None:
        """Add ``text`` to the growing field of an open block; empty text adds no event."""
        if not text:
            return
        block = self.turn.find(block_id)
        name = "" if block is None else block.field or ""
        self.write([BlockDelta(self.turn_id, block_id, name, text)])

    def update(self, block_id: str, changes: Mapping[str, Json]) -> None:
        """Replace members of an open tool block."""
        self.write([BlockUpdated(self.turn_id, block_id, dict(changes))])

    def complete(self, block_id: str) -> None:
        """Complete a block as it stands; a tool's final form goes with it."""
        block = self.turn.find(block_id)
        is_tool = block is not None and block.type == "tool"
        final = cast("BlockState", block).block if is_tool else None
        self.write([BlockCompleted(self.turn_id, block_id, final)])

    def end(
        self,
        status: TerminalStatus,
        *,
        block: Mapping[str, Json] | None = None,
        usage: Mapping[str, Json] | None = None,
        finish_reason: str | None = None,
        reason: str | None = None,
    ) -> None:
        """End the turn: settle what is open, add ``block`` (an error or notice), end.

        Args:
            status: How the turn ends.
            block: Members of the closing ``error`` or ``notice`` block, without an id.
            usage: Token counts.
            finish_reason: Why the model stopped.
            reason: Why the turn did not complete.
        """
        closing = None if block is None else {"id": self._new_id("block"), **block}
        self.write(
            end_turn(
                self.turn,
                status,
                block=closing,
                usage=usage,
                finish_reason=finish_reason,
                reason=reason,
            )
        )

    def fail(  # noqa: PLR0913 - the members of an error and of a terminal event
        self,
        code: str,
        message: str,
        *,
        retryable: bool,
        usage: Mapping[str, Json] | None = None,
        finish_reason: str | None = None,
        reason: str | None = None,
    ) -> None:
        """End the turn as failed, with an ``error`` block of this code."""
        error: Block = {"type": "error", "code": code, "message": message, "retryable": retryable}
        self.end("failed", block=error, usage=usage, finish_reason=finish_reason, reason=reason)


def _check(event: StreamEvent) -> None:
    if type(event) is BlockDelta and event.extra is None:
        # Its other members are those of an open block, or the reducer refuses it.
        check_json_value(event.text)
    else:
        check_event(event)
