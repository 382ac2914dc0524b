"""Whether what is stored of one conversation agrees with its log.

Spec: docs/spec/gateway/persistence.md, "Integrity". Pure: a store brings rows and frames, in order;
what is kept in memory is the running turns and how each other one ended, never the whole
conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from blockwire.content import (
    TURN_TERMINAL_STATUSES,
    BlockDelta,
    ConversationState,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
    apply,
    decode_event,
    encode_event,
    event_type,
    visible_event,
)
from blockwire.content.settle import closing_error
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json, equal_json
from blockwire.ports import CheckProblem, ConversationRow, MessageRow, TurnRow
from blockwire.stores.entries import STORED_DEPTH_MAX
from blockwire.stores.spans import Span, sum_lengths

__all__ = ["check_conversation"]

_DATA: Final = b"\ndata: "


class _Told(NamedTuple):
    """What the log says of a turn: where it begins, and once it is over how and where it ended."""

    first_seq: int
    model: str | None
    provider: str | None
    request: Json = None
    last_seq: int = 0
    status: str = ""
    completed_at: Json = None
    usage: Json = None
    finish_reason: Json = None
    reason: Json = None
    error: Json = None


class _Log:
    """Follows the log of one conversation: its numbers per view, and what its events make."""

    def __init__(self, conversation_id: str, start_seq: int) -> None:
        self.conversation_id = conversation_id
        self.state = ConversationState(conversation_id, start_seq)
        self.start_seq = start_seq
        self.seq = start_seq
        # Not known before the first one behind the beginning.
        self.public_seq = None if start_seq else 0
        self.message_count = 0
        self.turns: dict[str, _Told] = {}
        self.problems: list[CheckProblem] = []
        self._folds = True

    def report(self, code: str, detail: str) -> None:
        self.problems.append(CheckProblem(self.conversation_id, code, detail))

    def follow(self, span: Span) -> MessageRow | None:
        """Take the next entry; return the message that it made final."""
        before_seq, self.seq = self.seq, span.seq
        if span.first_seq != before_seq + 1:
            self._folds = False
        event = self._decode(span.owner, before_seq)
        public = event
        if span.public is None:
            public = None
        elif span.public != span.owner or self.public_seq != before_seq:
            public = self._decode(span.public, self.public_seq)
        if span.public is not None:
            self.public_seq = self.seq
        if event is None:
            return None
        if span.is_merged:
            self._check_merged(span, event)
        before = self.state
        row = self._fold(event)
        if self._folds:
            self._compare_public(event, public, before)
        return row

    def _check_merged(self, span: Span, event: StreamEvent) -> None:
        """Report an entry that stands for several events, and cannot."""
        if isinstance(event, BlockDelta):
            if span.lengths is None:
                return
            expected = (len(event.text), span.seq - span.first_seq + 1)
            if sum_lengths(span.lengths) == expected:
                return
        self.report("merge_wrong", f"entry {self.seq} is not what was merged")

    def _compare_public(
        self, event: StreamEvent, public: StreamEvent | None, before: ConversationState
    ) -> None:
        """Report a public frame that shows something else than what public views get of it."""
        shown = visible_event("public", event, before)
        if shown is public or isinstance(event, UnknownEvent):
            # A release that knew the type decided who sees it.
            return
        if shown is not None and public is not None:
            shown = replace(shown, prev_seq=public.prev_seq)
            if encode_event(shown) == encode_event(public):
                return
        self.report("public_differs", f"entry {self.seq} is not what the public view gets of it")

    def _decode(self, frame: bytes, prev_seq: int | None) -> StreamEvent | None:
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
        elif not head.endswith(b"\nevent: " + event_type(event).encode()):
            self.report("type_wrong", f"entry {self.seq} is announced as another type")
        elif event.prev_seq != prev_seq and (
            prev_seq is not None or event.prev_seq > self.start_seq
        ):
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
            turn = self.state.find_turn(event.turn_id)
            assert turn is not None, "the event was applied"
            # Where it began is not known when that has left the log.
            told = self.turns.get(event.turn_id) or _Told(0, None, None)
            row = MessageRow(turn.message, told.first_seq, self.seq)
            self.turns[event.turn_id] = told._replace(
                request=None,
                last_seq=self.seq,
                status=turn.turn_status,
                completed_at=turn.message.get("completed_at"),
                usage=event.usage,
                finish_reason=event.finish_reason,
                reason=event.reason,
                error=closing_error(turn) if turn.status == "failed" else None,
            )
        else:
            self._note_turn(event)
            return None
        self.message_count += 1
        self.state = self.state.without_finished()
        return row

    def _note_turn(self, event: StreamEvent) -> None:
        if isinstance(event, TurnStarted):
            self.turns[event.turn_id] = _Told(self.seq, event.model, event.provider)
        elif isinstance(event, TurnSuspended | TurnResumed) and event.turn_id in self.turns:
            request = event.request if isinstance(event, TurnSuspended) else None
            self.turns[event.turn_id] = self.turns[event.turn_id]._replace(request=request)

    def ends_at(self, row: ConversationRow) -> bool:
        """Return whether the log ends where the head of the conversation says."""
        if self.public_seq is None:
            return row.head_seq == self.seq and row.public_head_seq <= self.start_seq
        return (row.head_seq, row.public_head_seq) == (self.seq, self.public_seq)

    @property
    def folds(self) -> bool:
        """Whether every event so far could be read and applied."""
        return self._folds


def check_conversation(  # noqa: PLR0913 - what is stored of a conversation
    row: ConversationRow,
    spans: Iterable[Span],
    *,
    start_seq: int,
    turns: Iterable[TurnRow],
    message_count: int,
    find_message: Callable[[str], MessageRow | None],
) -> list[CheckProblem]:
    """Return what is wrong with one conversation.

    Args:
        row: As stored.
        spans: Every entry of the log, in order.
        start_seq: Events up to here have left the log; what they made cannot be verified.
        turns: All its turns.
        message_count: How many messages are stored that were finished behind ``start_seq``.
        find_message: Looks one up.
    """
    log = _Log(row.id, start_seq)
    for span in spans:
        made = log.follow(span)
        if made is not None:
            _compare_message(log, made, find_message(str(made.message["id"])))
    if not log.ends_at(row):
        log.report("head_wrong", f"the log ends at {log.seq}, the head says {row.head_seq}")
    if log.folds and message_count != log.message_count:
        log.report(
            "message_count_wrong",
            f"{message_count} messages are stored, the log finishes {log.message_count}",
        )
    keys: set[str] = set()
    for turn in turns:
        log.problems += _turn_problems(turn, keys, has_message=find_message(turn.id) is not None)
        _compare_turn(log, turn)
    for turn_id in log.turns if log.folds else ():
        log.report("turn_missing", f"the log tells of turn {turn_id}, which is not stored")
    return log.problems


def _compare_turn(log: _Log, turn: TurnRow) -> None:
    """Report a turn whose row says something else than the log; then the turn is done with."""
    told = log.turns.pop(turn.id, None)
    if told is None or not log.folds:
        return
    stored = _Told(turn.first_seq, turn.model, turn.provider, turn.request)
    if turn.status in TURN_TERMINAL_STATUSES:
        stored = stored._replace(
            last_seq=turn.last_seq,
            status=turn.status,
            completed_at=turn.completed_at,
            usage=turn.usage,
            finish_reason=turn.finish_reason,
            reason=turn.reason,
            error=turn.error,
        )
    if stored != told:
        log.report("turn_differs", f"the row of turn {turn.id} is not what its events say")


def _compare_message(log: _Log, made: MessageRow, stored: MessageRow | None) -> None:
    message_id = made.message["id"]
    if stored is None:
        log.report("message_missing", f"the log finishes message {message_id}, which is not stored")
    elif not equal_json(stored.message, made.message):
        log.report("message_differs", f"message {message_id} is not the fold of its events")
    elif (stored.created_seq, stored.finished_seq) != (made.created_seq, made.finished_seq):
        log.report("message_misplaced", f"message {message_id} is stored at another place")


def _turn_problems(turn: TurnRow, keys: set[str], *, has_message: bool) -> Iterator[CheckProblem]:
    is_terminal = turn.status in TURN_TERMINAL_STATUSES
    if turn.epoch < 1 or turn.producer_seq < 0:
        # No event tells of them; what they can be is all that is known.
        yield CheckProblem(
            turn.conversation_id,
            "turn_differs",
            f"turn {turn.id} cannot have epoch {turn.epoch} and line {turn.producer_seq}",
        )
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
