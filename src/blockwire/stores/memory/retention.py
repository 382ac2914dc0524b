"""Merging and retention in memory, and reading what they leave.

Spec: docs/spec/gateway/persistence.md, "Keeping it small". A step is a whole conversation: nobody
waits for a disk here.
"""

from __future__ import annotations

from collections.abc import Callable

from blockwire.content import TURN_TERMINAL_STATUSES, View
from blockwire.errors import StoreError
from blockwire.ports import BackupProgress, FramePage, RetentionLimits
from blockwire.stores.entries import frame_ts
from blockwire.stores.memory.base import MemoryBase
from blockwire.stores.memory.state import MemoryConversation
from blockwire.stores.merging import completed_blocks, merge_spans
from blockwire.stores.spans import Run, Span, cursor_expired, cut_frame

__all__ = ["MemoryRetention", "read_page"]


class MemoryRetention(MemoryBase):
    """The part of the memory store that makes logs shorter."""

    async def log_start(self, conversation_id: str) -> int:
        """Return the seq up to which events have left the log."""
        conversation = self._find(conversation_id)
        return 0 if conversation is None else conversation.start_seq

    async def merge_step(self) -> bool:
        """Merge one conversation that is due; return whether there was one."""
        self._check_open()
        due = (it for it in self._conversations.values() if it.is_mergeable)
        conversation = next(due, None)
        if conversation is None:
            return False
        log = conversation.log
        closed = {key for span in log for key in completed_blocks(span.owner)}
        conversation.log = merge_spans(log, closed).spans
        conversation.is_mergeable = False
        return True

    async def trim_step(self, limits: RetentionLimits) -> bool:
        """Shorten one log that is too old or too large; return whether there was one."""
        self._check_open()
        before = limits.pairs_before
        for conversation in self._conversations.values():
            if before is not None:
                _drop_lengths(conversation, before)
            if limits.events_before is not None and _cut(
                conversation, _old_cut(conversation, limits.events_before), grows=False
            ):
                return True
            size_max = limits.conversation_bytes_max
            if size_max is not None and _shrink(conversation, _log_bytes(conversation) - size_max):
                return True
        if limits.total_bytes_max is None:
            return False
        excess_bytes = sum(map(_log_bytes, self._conversations.values())) - limits.total_bytes_max
        by_age = sorted(self._conversations.values(), key=_oldest_ts)
        return any(_shrink(conversation, excess_bytes) for conversation in by_age)

    async def vacuum_step(self) -> bool:
        """Return that there is nothing to do."""
        self._check_open()
        return False

    async def backup(
        self, target: str, *, on_progress: Callable[[BackupProgress], None] | None = None
    ) -> None:
        """Refuse: there is no file, and a copy would forget, too."""
        del target, on_progress
        self._check_open()
        raise StoreError("backup_unsupported", "a store in memory has nothing to copy; export it")


# reading ------------------------------------------------------------------------------------
def read_page(
    conversation: MemoryConversation,
    view: View,
    bounds: tuple[int, int | None],
    bytes_max: int,
) -> FramePage:
    """Return a stretch of the log for one view; ``bounds`` are ``after`` and ``up_to``.

    Raises:
        StoreError: ``cursor_expired``, ``cursor_inside_delta``.
    """
    after, up_to = max(bounds[0], 0), bounds[1]
    if after < conversation.start_seq:
        raise cursor_expired()
    log = conversation.log
    end = conversation.row.head_seq if up_to is None else min(conversation.row.head_seq, up_to)
    frames: list[bytes] = []
    size_bytes = 0
    last_seq = after
    for span in log[conversation.index_after(after) :]:
        if last_seq >= end or span.first_seq > end:
            break
        frame = _frame_between(span, view, after=last_seq, up_to=end)
        if frame:
            if frames and size_bytes + len(frame) > bytes_max:
                return FramePage(b"".join(frames), last_seq, len(frames), at_end=False)
            frames.append(frame)
            size_bytes += len(frame)
        last_seq = min(span.seq, end)
    return FramePage(b"".join(frames), last_seq, len(frames), at_end=last_seq >= end)


def _frame_between(span: Span, view: View, *, after: int, up_to: int) -> bytes | None:
    frame = span.owner if view == "owner" else span.public
    if frame is None or (span.first_seq > after and span.seq <= up_to):
        return frame
    return cut_frame(frame, Run(span.first_seq, span.seq, span.lengths), after=after, up_to=up_to)


# trimming -----------------------------------------------------------------------------------
def _span_bytes(span: Span) -> int:
    return len(span.owner) + (0 if span.public == span.owner else len(span.public or b""))


def _log_bytes(conversation: MemoryConversation) -> int:
    return sum(map(_span_bytes, conversation.log))


def _oldest_ts(conversation: MemoryConversation) -> int:
    ts = frame_ts(conversation.log[0].owner) if conversation.log else None
    return ts or 0


def _drop_lengths(conversation: MemoryConversation, before: int) -> None:
    conversation.log = [
        span._replace(lengths=None) if span.is_merged and (frame_ts(span.owner) or 0) < before
        else span
        for span in conversation.log
    ]  # fmt: skip


def _old_cut(conversation: MemoryConversation, before: int) -> int:
    """Return the last number whose stamp, and all before it, is below ``before``; 0 without one."""
    cut = 0
    for span in conversation.log:
        ts = frame_ts(span.owner)
        if ts is None or ts >= before:
            break
        cut = span.seq
    return cut


def _shrink(conversation: MemoryConversation, excess_bytes: int) -> bool:
    cut = 0
    for span in conversation.log:
        if excess_bytes <= 0:
            break
        excess_bytes -= _span_bytes(span)
        cut = span.seq
    return _cut(conversation, cut, grows=True)


def _cut(conversation: MemoryConversation, cut: int, *, grows: bool) -> bool:
    """Let events up to ``cut`` leave, or as many as may; return whether any did.

    No message is split: for age the cut moves towards the beginning, for size towards the end.
    """
    unfinished = [
        turn.first_seq
        for turn in conversation.turns.values()
        if turn.status not in TURN_TERMINAL_STATUSES and turn.first_seq
    ]
    end = min(unfinished) - 1 if unfinished else conversation.row.head_seq
    cut = min(cut, end)
    whole = [(row.created_seq, row.finished_seq) for row, _ in conversation.messages.values()]
    whole += [(span.first_seq, span.seq) for span in conversation.log]
    while cut > conversation.start_seq:
        across = [ends for ends in whole if ends[0] <= cut < ends[1]]
        if not across:
            break
        last = max(seq for _, seq in across)
        if grows and last <= end:
            cut = last
        else:
            grows = False
            cut = min(seq for seq, _ in across) - 1
    if cut <= conversation.start_seq:
        return False
    conversation.log = conversation.log[conversation.index_after(cut) :]
    conversation.start_seq = cut
    return True
