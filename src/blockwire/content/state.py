"""What the reducer makes: the state of a conversation, its turns and their blocks.

Spec: docs/spec/content/reducer.md.

States are immutable. A message or a block is spelled out as JSON only when somebody reads it, and
the text of an open block is an :class:`AppendLog` of its pieces, so neither a long answer nor a
long conversation makes the next event dearer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from blockwire.content.appendlog import AppendLog
from blockwire.content.vocabulary import DELTA_FIELDS, TERMINAL_STATUSES, Block, Message
from blockwire.jsontext import Json

__all__ = ["BlockState", "ConversationState", "TurnState", "is_private_block"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def is_private_block(block: Block) -> bool:
    """Return whether only owner views may see ``block``: reasoning that does not say otherwise."""
    return block["type"] == "reasoning" and block.get("visibility") != "visible"


class BlockState:
    """One block as it stands.

    Attributes:
        id: Unique in its message.
        type: Open vocabulary.
        is_open: Whether events may still change it.
        length_chars: Unicode scalar values in its growing text; 0 where the type has none.
    """

    __slots__ = ("_block", "_pieces", "field", "id", "is_open", "length_chars", "type")

    def __init__(self, block: Block, *, is_open: bool) -> None:
        self.id = cast("str", block["id"])
        self.type = cast("str", block["type"])
        self.is_open = is_open
        self.field = DELTA_FIELDS.get(self.type)
        self._block = block
        text = cast("str", block[self.field]) if self.field is not None else ""
        self.length_chars = len(text)
        self._pieces: AppendLog[str] | None = None

    def _with(
        self, block: Block, pieces: AppendLog[str] | None, length_chars: int, *, is_open: bool
    ) -> BlockState:
        new: BlockState = BlockState.__new__(BlockState)
        new.id = self.id
        new.type = self.type
        new.field = self.field
        new.is_open = is_open
        new.length_chars = length_chars
        new._block = block
        new._pieces = pieces
        return new

    def with_text(self, text: str) -> BlockState:
        """Return the block with ``text`` at the end of its declared field."""
        pieces = self._pieces
        if pieces is None:
            pieces = AppendLog([cast("str", self._block[cast("str", self.field)])])
        return self._with(
            self._block, pieces.append(text), self.length_chars + len(text), is_open=True
        )

    def with_members(self, changes: Mapping[str, Json]) -> BlockState:
        """Return the block with whole members replaced."""
        return self._with({**self._block, **changes}, None, 0, is_open=True)

    def completed(self, final: Block | None = None) -> BlockState:
        """Return the block as it stays; ``final`` replaces it where the event carried one."""
        return self._with(
            self.block if final is None else final, None, self.length_chars, is_open=False
        )

    @property
    def block(self) -> Block:
        """The block as JSON; treat it as frozen. Costs its text once per state."""
        if self._pieces is None:
            return self._block
        # Collapsing keeps repeated reads of one state cheap and lets go of the pieces.
        self._block = {**self._block, cast("str", self.field): "".join(self._pieces)}
        self._pieces = None
        return self._block

    def text_since(self, offset_chars: int) -> str:
        """Return what its growing text holds from ``offset_chars`` on; costs only that part."""
        if self._pieces is None:
            return "" if self.field is None else cast("str", self._block[self.field])[offset_chars:]
        wanted = self.length_chars - offset_chars
        parts: list[str] = []
        for index in range(len(self._pieces) - 1, -1, -1):
            if wanted <= 0:
                break
            parts.append(self._pieces[index])
            wanted -= len(parts[-1])
        return "".join(reversed(parts))[max(-wanted, 0) :]

    @property
    def is_private(self) -> bool:
        """Whether only owner views may see it: private reasoning, also when it does not say so."""
        return is_private_block(self._block)

    @property
    def status(self) -> str | None:
        """The status of a tool block."""
        return cast("str | None", self._block.get("status")) if self.type == "tool" else None


class TurnState:
    """One turn and its message.

    Attributes:
        turn_id: Also the id of its message.
        ordinal: Position of the message among all of the conversation.
        envelope: ``role``, ``created_at`` and what else the message says about itself.
        status: Message status: ``streaming``, ``suspended`` or a terminal one.
        blocks: In message order.
        request: What a suspended turn waits for.
        ended: Members of the terminal event (``reason``, ``finish_reason``, ``error_code``, ...).
    """

    __slots__ = (
        "_index",
        "blocks",
        "ended",
        "envelope",
        "ordinal",
        "request",
        "status",
        "turn_id",
    )

    def __init__(  # noqa: PLR0913 - what a turn consists of
        self,
        turn_id: str,
        ordinal: int,
        envelope: Mapping[str, Json],
        *,
        status: str = "streaming",
        blocks: tuple[BlockState, ...] = (),
        request: Mapping[str, Json] | None = None,
        ended: Mapping[str, Json] = _NOTHING,
    ) -> None:
        self.turn_id = turn_id
        self.ordinal = ordinal
        self.envelope = envelope
        self.status = status
        self.blocks = blocks
        self.request = request
        self.ended = ended
        # Shared by successive states: an entry counts only below len(blocks).
        self._index = {block.id: position for position, block in enumerate(blocks)}

    def _copy(self) -> TurnState:
        # Spelled out: this runs once a delta, and a loop over the slots costs three times as much.
        new: TurnState = TurnState.__new__(TurnState)
        new.turn_id = self.turn_id
        new.ordinal = self.ordinal
        new.envelope = self.envelope
        new.status = self.status
        new.blocks = self.blocks
        new.request = self.request
        new.ended = self.ended
        new._index = self._index
        return new

    def position(self, block_id: str) -> int | None:
        """Return where the block stands in the message, or None."""
        position = self._index.get(block_id)
        if position is None or position >= len(self.blocks):
            return None
        # A branch of an older state may have put another block there. Had this state put it
        # elsewhere, it would have an index of its own (with_new_block).
        return position if self.blocks[position].id == block_id else None

    def find(self, block_id: str) -> BlockState | None:
        """Return the block with this id, or None."""
        position = self.position(block_id)
        return None if position is None else self.blocks[position]

    def with_new_block(self, block: BlockState) -> TurnState:
        """Return the turn with ``block`` at the end of its message."""
        new: TurnState = self._copy()
        new.blocks = (*self.blocks, block)
        if self._index.setdefault(block.id, len(self.blocks)) != len(self.blocks):
            new._index = {b.id: i for i, b in enumerate(new.blocks)}
        return new

    def with_block(self, position: int, block: BlockState) -> TurnState:
        """Return the turn with the block at ``position`` replaced by its next state."""
        new = self._copy()
        blocks = self.blocks
        new.blocks = blocks[:position] + (block,) + blocks[position + 1 :]  # noqa: RUF005 - faster
        return new

    def with_status(
        self,
        status: str,
        *,
        request: Mapping[str, Json] | None = None,
        ended: Mapping[str, Json] = _NOTHING,
        envelope: Mapping[str, Json] | None = None,
    ) -> TurnState:
        """Return the turn in another status."""
        new = self._copy()
        new.status = status
        new.request = request
        new.ended = ended
        if envelope is not None:
            new.envelope = envelope
        return new

    @property
    def is_terminal(self) -> bool:
        """Whether nothing can change it any more."""
        return self.status in TERMINAL_STATUSES

    @property
    def open_blocks(self) -> list[BlockState]:
        """The blocks that events may still change, in message order."""
        return [block for block in self.blocks if block.is_open]

    @property
    def turn_status(self) -> str:
        """The status of the turn, which tells more than that of its message."""
        if self.status == "streaming":
            return "running"
        if self.status == "failed" and self.ended.get("reason") == "interrupted":
            return "interrupted"
        return self.status

    @property
    def message(self) -> Message:
        """The message as JSON: equal whatever road it took. Treat it as frozen."""
        envelope = dict(self.envelope)
        message: Message = {
            "id": self.turn_id,
            "role": envelope.pop("role"),
            "status": self.status,
            "content": [block.block for block in self.blocks],
            "created_at": envelope.pop("created_at"),
        }
        message.update(envelope)
        return message


class ConversationState:
    """A conversation as the events up to ``seq`` made it.

    Attributes:
        conversation_id: Empty until an event named it.
        seq: The receiver's cursor.
        running: Turns that are not terminal, by id.
        more_before: Cursor for messages older than a snapshot held.
        next_ordinal: The position that the next message takes.
    """

    __slots__ = (
        "_finished",
        "_index",
        "conversation_id",
        "more_before",
        "next_ordinal",
        "running",
        "seq",
    )

    def __init__(
        self,
        conversation_id: str = "",
        seq: int = 0,
        *,
        running: Mapping[str, TurnState] = _NOTHING,
        more_before: str | None = None,
    ) -> None:
        self.conversation_id = conversation_id
        self.seq = seq
        self.running = running
        self.more_before = more_before
        self.next_ordinal = max((turn.ordinal + 1 for turn in running.values()), default=0)
        self._finished: AppendLog[tuple[int, Message, TurnState | None]] = AppendLog()
        # Shared by successive states: an entry counts only below len(_finished).
        self._index: dict[Json, int] = {}

    def _copy(self) -> ConversationState:
        new: ConversationState = ConversationState.__new__(ConversationState)
        new.conversation_id = self.conversation_id
        new.seq = self.seq
        new.running = self.running
        new.more_before = self.more_before
        new.next_ordinal = self.next_ordinal
        new._finished = self._finished
        new._index = self._index
        return new

    def at(self, seq: int, conversation_id: str) -> ConversationState:
        """Return the state with its cursor at ``seq``."""
        new = self._copy()
        new.seq = seq
        new.conversation_id = conversation_id or self.conversation_id
        return new

    def with_running(self, turn: TurnState) -> ConversationState:
        """Return the state with ``turn``, which is not terminal, as its turn of that id."""
        new = self._copy()
        new.running = {**self.running, turn.turn_id: turn}
        if turn.ordinal >= new.next_ordinal:
            new.next_ordinal = turn.ordinal + 1
        return new

    def with_finished(
        self, ordinal: int, message: Message, turn: TurnState | None = None
    ) -> ConversationState:
        """Return the state with one more message that never changes again."""
        new: ConversationState = self._copy()
        if turn is not None and turn.turn_id in self.running:
            new.running = {k: v for k, v in self.running.items() if k != turn.turn_id}
        if ordinal >= new.next_ordinal:
            new.next_ordinal = ordinal + 1
        position = len(self._finished)
        new._finished = self._finished.append((ordinal, message, turn))
        if self._index.setdefault(message["id"], position) != position:
            new._index = {item[1]["id"]: i for i, item in enumerate(new._finished)}
        return new

    def without_finished(self) -> ConversationState:
        """Return the state without its finished messages, for a holder that keeps them elsewhere."""
        new: ConversationState = self._copy()
        new._finished = AppendLog()
        new._index = {}
        return new

    @property
    def finished_count(self) -> int:
        """How many messages will never change again."""
        return len(self._finished)

    def finished_since(self, count: int) -> Iterator[tuple[int, Message, TurnState | None]]:
        """Yield the messages that became final after the first ``count``, as they did.

        Each comes with its position in the conversation and, for an answer, its turn.
        """
        return self._finished.since(count)

    def _finished_entry(self, message_id: str) -> tuple[int, Message, TurnState | None] | None:
        position = self._index.get(message_id)
        if position is None or position >= len(self._finished):
            return None
        entry = self._finished[position]
        return entry if entry[1]["id"] == message_id else None

    def find_turn(self, turn_id: str) -> TurnState | None:
        """Return the turn, running or finished, or None."""
        turn = self.running.get(turn_id)
        if turn is not None:
            return turn
        entry = self._finished_entry(turn_id)
        return None if entry is None else entry[2]

    def has_message(self, message_id: str) -> bool:
        """Return whether a message or a running turn has this id."""
        return message_id in self.running or self._finished_entry(message_id) is not None

    def find_message(self, message_id: str) -> Message | None:
        """Return the message as it stands, or None."""
        turn = self.running.get(message_id)
        if turn is not None:
            return turn.message
        entry = self._finished_entry(message_id)
        return None if entry is None else entry[1]

    def iter_messages(self) -> Iterator[Message]:
        """Yield all messages in conversation order, running ones as they stand."""
        entries = [(ordinal, message) for ordinal, message, _turn in self._finished]
        entries += [(turn.ordinal, turn.message) for turn in self.running.values()]
        entries.sort(key=lambda entry: entry[0])
        return (message for _ordinal, message in entries)

    @property
    def messages(self) -> list[Message]:
        """All messages in conversation order."""
        return list(self.iter_messages())

    @property
    def turns(self) -> list[TurnState]:
        """All turns in conversation order."""
        turns = [turn for _ordinal, _message, turn in self._finished if turn is not None]
        turns += self.running.values()
        return sorted(turns, key=lambda turn: turn.ordinal)
