"""What an append changes beside the log: the same decisions for every store.

Spec: docs/spec/gateway/persistence.md. Pure functions; a store brings what is stored and keeps what
they return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from blockwire.errors import StoreError
from blockwire.ports import Append, Entry, MessageRow, TurnRow

__all__ = [
    "added_totals",
    "check_new_messages",
    "check_turn",
    "conversation_not_found",
    "finished_rows",
    "last_public_seq",
    "numbered_turn",
]


def conversation_not_found() -> StoreError:
    """Return the refusal of a change to a conversation that is not there."""
    return StoreError("conversation_not_found", "there is no such conversation")


def check_turn(change: Append, stored: TurnRow | None, key_owner: str | None) -> None:
    """Refuse what the turn row of ``change`` may not do.

    Args:
        change: With a turn.
        stored: The row that it would replace.
        key_owner: Id of the turn that holds the idempotency key of the new row, if any.

    Raises:
        StoreError: ``turn_exists``, ``epoch_fenced``, ``idempotency_key_exists``.
    """
    turn = change.turn
    assert turn is not None, "the caller looked"
    if change.new_turn and stored is not None:
        raise StoreError("turn_exists", "a turn with this id exists in the conversation")
    if change.expected_epoch is not None and (
        stored is None or stored.epoch != change.expected_epoch
    ):
        raise StoreError("epoch_fenced", "somebody else owns the turn now")
    if key_owner is not None and key_owner != turn.id:
        raise StoreError("idempotency_key_exists", "another turn was submitted with this key")


def numbered_turn(turn: TurnRow, stored: TurnRow | None, entries: Sequence[Entry]) -> TurnRow:
    """Return ``turn`` as it is to be stored: zero numbers filled in, an old ``first_seq`` kept."""
    first_seq = (stored.first_seq if stored is not None else 0) or turn.first_seq
    last_seq = turn.last_seq
    if entries:
        # The question stands before the turn that answers it, in the same append.
        started = (entry.seq for entry in entries if entry.type == "turn.started")
        first_seq = first_seq or next(started, entries[0].seq)
        last_seq = last_seq or entries[-1].seq
    if not last_seq and stored is not None:
        last_seq = stored.last_seq
    if first_seq == turn.first_seq and last_seq == turn.last_seq:
        return turn
    return msgspec.structs.replace(turn, first_seq=first_seq, last_seq=last_seq)


def last_public_seq(entries: Sequence[Entry], before: int) -> int:
    """Return the number of the last entry that public views get, else ``before``."""
    for entry in reversed(entries):
        if entry.public_frame is not None:
            return entry.seq
    return before


def finished_rows(
    change: Append,
    turn: TurnRow | None,
    entries: Sequence[Entry],
    *,
    head_seq: int,
    find_turn: Callable[[str], TurnRow | None],
) -> list[MessageRow]:
    """Return the rows of the messages that ``change`` finished.

    Args:
        change: The change.
        turn: Its turn row, numbered.
        entries: Its events, numbered.
        head_seq: Head of the log after them.
        find_turn: Looks up another turn of the conversation.

    Raises:
        StoreError: ``turn_not_found`` if a message names no event and is not a turn's.
    """
    rows: list[MessageRow] = []
    for message, index in change.finished:
        if index is not None:
            seq = entries[index].seq
            rows.append(MessageRow(message, seq, seq))
            continue
        message_id = str(message["id"])
        owner = turn if turn is not None and turn.id == message_id else find_turn(message_id)
        if owner is None:
            raise StoreError("turn_not_found", "a finished message belongs to no turn")
        rows.append(MessageRow(message, owner.first_seq, head_seq))
    return rows


def check_new_messages(rows: Sequence[MessageRow], exists: Callable[[str], bool]) -> None:
    """Refuse messages that are there already, or twice in ``rows``.

    Raises:
        StoreError: ``message_exists``.
    """
    ids = [str(row.message["id"]) for row in rows]
    if len(set(ids)) < len(ids) or any(map(exists, ids)):
        raise StoreError("message_exists", "a message with this id exists in the conversation")


def added_totals(totals: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Return ``totals`` with ``more`` added, name by name."""
    return {**totals, **{name: totals.get(name, 0) + count for name, count in more.items()}}
