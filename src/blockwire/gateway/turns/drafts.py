"""The events of one commit: checked on the committed state, encoded once.

Spec: docs/spec/content/events.md; docs/spec/gateway/turns.md.

A batch is built on what is committed and thrown away when the commit fails, so there is nothing
to roll back. Above is ``conversation``, which commits it; nothing here waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

import msgspec

from blockwire.content import (
    Block,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    ConversationState,
    Message,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnState,
    advance,
    encode_event,
    event_type,
    settle_blocks,
    visible_event,
)
from blockwire.content.fields import CODE
from blockwire.content.naming import event_attachments
from blockwire.content.settle import closing_error
from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.ports import Draft

__all__ = ["Batch", "closing_block", "whole_block"]

FAILED_MESSAGE: Final = "The turn failed; its producer did not say why."
CANCELLED_MESSAGE: Final = "Stopped."

_DELTA_TYPE: Final = "content.block.delta"

# How a turn ended -> blocks that tell the reader why; a notice reports no failure.
_EXPLAINING_TYPES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"failed": frozenset({"error"}), "cancelled": frozenset({"error", "notice"})}
)


class Batch:
    """Events on their way into the log of one conversation.

    Nearly all events are deltas that follow one another in the same block. Such a run is checked
    once and enters the state as one delta: by the law of merging that is the same state.

    Attributes:
        ts: The stamp of all of them, Unix milliseconds.
        drafts: The events, encoded, in order.
        finished: Messages that became final, as ``Append.finished`` wants them.
        ended: Turns that the batch ended.
        size_bytes: Length of the owner's encoded events.
        attachments: Ids that the events name, each with whether one that the public gets does.
    """

    __slots__ = (
        "_run",
        "_state",
        "_texts",
        "attachments",
        "drafts",
        "ended",
        "finished",
        "size_bytes",
        "ts",
    )

    def __init__(self, state: ConversationState, ts: int) -> None:
        self._state = state
        self.ts = ts
        self.drafts: list[Draft] = []
        self.finished: list[tuple[Message, int | None]] = []
        self.ended: dict[str, TurnState] = {}
        self.size_bytes = 0
        self.attachments: dict[str, bool] = {}
        # The last delta, and whether the public gets it; the texts of those that followed it.
        self._run: tuple[BlockDelta, bool] | None = None
        self._texts: list[str] = []

    @property
    def state(self) -> ConversationState:
        """The state with the events of the batch."""
        if self._texts and self._run is not None:
            first = self._run[0]
            text = "".join(self._texts)
            self._texts = []
            self._state = advance(
                self._state, BlockDelta(first.turn_id, first.block_id, first.field, text)
            )
        return self._state

    def add(self, event: StreamEvent) -> None:
        """Add one event; what it says about its own numbers is ignored.

        Raises:
            RemoteProtocolError: The codes of :func:`~blockwire.content.advance`, and
                ``invalid_json_value`` for what could not be encoded. Nothing changed then.
        """
        if event.seq or event.prev_seq or event.ts or event.conversation_id:
            event = msgspec.structs.replace(event, seq=0, prev_seq=0, ts=0, conversation_id="")
        if type(event) is BlockDelta:
            self.add_delta(event)
            return
        before = self.state
        self._run = None
        if isinstance(event, TurnEnded):
            # The message ends at the stamp, which only the encoded event must not hold.
            after = advance(before, msgspec.structs.replace(event, ts=self.ts))
        else:
            after = advance(before, event)
        if isinstance(event, BlockCompleted):
            event = _with_final_tool(event, after)
        self._take(event, before, after)
        self._note_finished(event)

    def add_delta(self, event: BlockDelta) -> None:
        """Add a delta that has no numbers; see :meth:`add`."""
        run = self._run
        if run is not None and _continues(run[0], event):
            owner = _encoded(event)
            # Without members that this version does not know, its encoding is plain.
            self.drafts.append(Draft(_DELTA_TYPE, owner, owner if run[1] else None, is_plain=True))
            self.size_bytes += len(owner)
            self._texts.append(event.text)
            return
        before = self.state
        self._run = None
        self._take(event, before, advance(before, event))
        if event.extra is None:
            self._run = (event, self.drafts[-1].public is not None)

    def _take(
        self, event: StreamEvent, before: ConversationState, after: ConversationState
    ) -> None:
        names = event_attachments(event)
        owner = _encoded(event)
        shown = visible_event("public", event, before)
        if names:
            shown_names = frozenset[str]() if shown is None else event_attachments(shown)
            for name in names:
                self.attachments[name] = self.attachments.get(name, False) or name in shown_names
        public: bytes | None = owner
        if shown is None:
            public = None
        elif shown is not event:
            public = _encoded(shown)
            public = owner if public == owner else public
        self.drafts.append(Draft(event_type(event), owner, public))
        self.size_bytes += len(owner)
        self._state = after

    def _note_finished(self, event: StreamEvent) -> None:
        if isinstance(event, MessageCreated):
            self.finished.append((event.message, len(self.drafts) - 1))
        elif isinstance(event, TurnEnded):
            turn = self.state.find_turn(event.turn_id)
            assert turn is not None, "it has just ended"
            self.ended[turn.turn_id] = turn
            self.finished.append((turn.message, None))

    def turn(self, turn_id: str) -> TurnState | None:
        """Return the turn as the batch leaves it, also when the batch ended it."""
        return self.ended.get(turn_id) or self.state.running.get(turn_id)

    def add_end(self, event: TurnEnded, closing_block_id: str) -> None:
        """Add a terminal event after what the spec wants before it.

        Open blocks are settled, and a failed or cancelled turn whose message does not say so gets
        an ``error`` or ``notice`` block with the id ``closing_block_id``.

        Raises:
            RemoteProtocolError: See :meth:`add`; the batch may then hold settled blocks.
        """
        turn = self.state.running.get(event.turn_id)
        if turn is not None and not (turn.status == "suspended" and event.status == "completed"):
            for settled in settle_blocks(turn, event.status, finish_reason=event.finish_reason):
                self.add(settled)
            block = _missing_word(turn, event, closing_block_id)
            if block is not None:
                for part in whole_block(event.turn_id, block):
                    self.add(part)
            event = _with_error_code(self.state.running[event.turn_id], event)
        self.add(event)


def closing_block(block_id: str, code: str, message: str, *, retryable: bool | None) -> Block:
    """Return the block that says how a turn ended: an ``error``, or a notice if None."""
    if retryable is None:
        return {"id": block_id, "type": "notice", "code": code, "message": message}
    return {
        "id": block_id,
        "type": "error",
        "code": code,
        "message": message,
        "retryable": retryable,
    }


def whole_block(turn_id: str, block: Block) -> list[StreamEvent]:
    """Return the events of a block that comes whole."""
    return [BlockStarted(turn_id, block), BlockCompleted(turn_id, cast("str", block["id"]))]


def _continues(last: BlockDelta, event: BlockDelta) -> bool:
    """Return whether what was found out about ``last`` holds for ``event``, which follows it."""
    return (
        event.block_id == last.block_id
        and event.turn_id == last.turn_id
        and event.field == last.field
        and event.extra is None
    )


def _encoded(event: StreamEvent) -> bytes:
    try:
        return encode_event(event)
    except (LocalProtocolError, UnicodeEncodeError):
        raise RemoteProtocolError(
            "invalid_json_value", "the event holds a value that cannot be encoded"
        ) from None


def _with_final_tool(event: BlockCompleted, after: ConversationState) -> BlockCompleted:
    """Return ``event`` with the final block of a tool, so that nobody needs its updates."""
    block = after.running[event.turn_id].find(event.block_id)
    if block is None or block.type != "tool":
        return event
    return msgspec.structs.replace(event, block=block.block)


def _missing_word(turn: TurnState, event: TurnEnded, block_id: str) -> Block | None:
    """Return the block that tells readers of a bad end, where the producer told them nothing."""
    explaining = _EXPLAINING_TYPES.get(event.status)
    if explaining is None or any(block.type in explaining for block in turn.blocks):
        return None
    if event.status == "cancelled":
        return closing_block(block_id, "turn_cancelled", CANCELLED_MESSAGE, retryable=None)
    code = event.error_code
    if code is None or CODE.match(code) is None:
        code = "turn_failed"
    return closing_block(block_id, code, FAILED_MESSAGE, retryable=False)


def _with_error_code(turn: TurnState, event: TurnEnded) -> TurnEnded:
    """Return ``event`` with the code of the error that the reader sees, where it names none."""
    error = closing_error(turn)
    if event.status != "failed" or event.error_code is not None or error is None:
        return event
    return msgspec.structs.replace(event, error_code=error["code"])
