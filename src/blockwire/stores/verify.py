"""Whether what is stored of one conversation agrees with its log.

Spec: docs/spec/gateway/persistence.md, "Integrity". Pure: a store brings rows and frames, in order;
what is kept in memory is the running turns, never the whole conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from blockwire.content import (
    TURN_TERMINAL_STATUSES,
    ConversationState,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    apply,
    decode_event,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, equal_json
from blockwire.ports import CheckProblem, ConversationRow, MessageRow, TurnRow
from blockwire.stores.entries import STORED_DEPTH_MAX

__all__ = ["check_conversation"]

_DATA: Final = b"\ndata: "


class _Log:
    """Follows the log of one conversation: its numbers per view, and what its events make."""

    def __init__(self, conversation_id: str) -> None:
        self.conversation_id = conversation_id
        self.state = ConversationState(conversation_id)
        self.seq = 0
        self.public_seq = 0
        self.message_count = 0
        self.started_seqs: dict[str, int] = {}
        self.problems: list[CheckProblem] = []
        self._folds = True

    def report(self, code: str, detail: str) -> None:
        self.problems.append(CheckProblem(self.conversation_id, code, detail))

    def follow(self, owner_frame: bytes, public_frame: bytes | None) -> MessageRow | None:
        """Take the next entry; return the message that it made final."""
        self.seq += 1
        event = self._decode(owner_frame, self.seq - 1)
        if public_frame is not None:
            if public_frame != owner_frame or self.public_seq != self.seq - 1:
                self._decode(public_frame, self.public_seq)
            self.public_seq = self.seq
        return None if event is None else self._fold(event)

    def _decode(self, frame: bytes, prev_seq: int) -> StreamEvent | None:
        head, _, data = frame.partition(_DATA)
        try:
            # Line breaks between JSON tokens became lines of their own.
            value = decode_json(data.replace(_DATA, b"\n"), depth_max=STORED_DEPTH_MAX)
            event = decode_event(value, keys_checked=True)
        except RemoteProtocolError as error:
            self._folds = False
            self.report("entry_damaged", f"entry {self.seq} cannot be read: {error.code}")
            return None
        if not head.startswith(b"id: %d\nevent: " % self.seq) or event.seq != self.seq:
            self._folds = False
            self.report("seq_wrong", f"entry {self.seq} has the number {event.seq}")
        elif event.prev_seq != prev_seq:
            self.report("prev_seq_wrong", f"entry {self.seq} follows {prev_seq} and says otherwise")
        if event.conversation_id != self.conversation_id:
            self.report("conversation_wrong", f"entry {self.seq} names another conversation")
        return event

    def _fold(self, event: StreamEvent) -> MessageRow | None:
        if not self._folds:
            return None
        try:
            self.state = apply(self.state, event)
        except RemoteProtocolError as error:
            self._folds = False
            self.report("event_refused", f"entry {self.seq} does not apply: {error.code}")
            return None
        return self._finished(event)

    def _finished(self, event: StreamEvent) -> MessageRow | None:
        if isinstance(event, MessageCreated):
            row = MessageRow(event.message, self.seq, self.seq)
        elif isinstance(event, TurnEnded):
            message = self.state.find_message(event.turn_id)
            assert message is not None, "the event was applied"
            row = MessageRow(message, self.started_seqs.pop(event.turn_id, 0), self.seq)
        else:
            turn_id = getattr(event, "turn_id", None)
            if turn_id is not None:
                self.started_seqs.setdefault(turn_id, self.seq)
            return None
        self.message_count += 1
        self.state = self.state.without_finished()
        return row

    @property
    def folds(self) -> bool:
        """Whether every event so far could be read and applied."""
        return self._folds


def check_conversation(
    row: ConversationRow,
    entries: Iterable[tuple[bytes, bytes | None]],
    *,
    turns: Iterable[TurnRow],
    message_count: int,
    find_message: Callable[[str], MessageRow | None],
) -> list[CheckProblem]:
    """Return what is wrong with one conversation.

    Args:
        row: As stored.
        entries: Owner frame and public frame of every entry, in order.
        turns: All its turns.
        message_count: How many finished messages are stored.
        find_message: Looks one up.
    """
    log = _Log(row.id)
    for owner_frame, public_frame in entries:
        made = log.follow(owner_frame, public_frame)
        if made is not None:
            _compare_message(log, made, find_message(str(made.message["id"])))
    if (row.head_seq, row.public_head_seq) != (log.seq, log.public_seq):
        log.report("head_wrong", f"the log ends at {log.seq}, the head says {row.head_seq}")
    if log.folds and message_count != log.message_count:
        log.report(
            "message_count_wrong",
            f"{message_count} messages are stored, the log finishes {log.message_count}",
        )
    keys: set[str] = set()
    for turn in turns:
        log.problems += _turn_problems(turn, keys, find_message(turn.id) is not None)
    return log.problems


def _compare_message(log: _Log, made: MessageRow, stored: MessageRow | None) -> None:
    message_id = made.message["id"]
    if stored is None:
        log.report("message_missing", f"the log finishes message {message_id}, which is not stored")
    elif not equal_json(stored.message, made.message):
        log.report("message_differs", f"message {message_id} is not the fold of its events")
    elif (stored.created_seq, stored.finished_seq) != (made.created_seq, made.finished_seq):
        log.report("message_misplaced", f"message {message_id} is stored at another place")


def _turn_problems(turn: TurnRow, keys: set[str], has_message: bool) -> Iterator[CheckProblem]:  # noqa: FBT001 - private
    is_terminal = turn.status in TURN_TERMINAL_STATUSES
    if is_terminal and not has_message:
        yield CheckProblem(
            turn.conversation_id, "turn_without_message", f"turn {turn.id} ended without a message"
        )
    if not is_terminal and has_message:
        yield CheckProblem(
            turn.conversation_id, "turn_not_ended", f"turn {turn.id} runs and has a final message"
        )
    if turn.idempotency_key is not None:
        if turn.idempotency_key in keys:
            yield CheckProblem(
                turn.conversation_id, "idempotency_key_repeated", f"turn {turn.id} shares its key"
            )
        keys.add(turn.idempotency_key)
