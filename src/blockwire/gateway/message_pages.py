"""Pages of messages: in conversation order, joined in both directions, running ones as they stand.

Spec: docs/spec/gateway/reading.md; visibility is decided by ``content``. Functions of a conversation
that the caller has pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blockwire.content import View, visible_message
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.shapes import list_shape
from blockwire.gateway.turns.conversation import Conversation
from blockwire.jsontext import Json, encode_json
from blockwire.ports import MessageRow, Store

__all__ = ["read_message_page", "read_messages_around"]

_SEQ_DIGITS_MAX: Final = 16


async def read_message_page(  # noqa: PLR0913 - a page has two ends and two sizes
    store: Store,
    conversation: Conversation,
    *,
    before: str | None,
    after: str | None,
    limit: int,
    bytes_max: int,
    view: View,
) -> dict[str, Json]:
    """Return a page of messages in conversation order, running ones as they stand.

    With ``after`` the messages after that cursor, and ``next_cursor`` goes on after them; else the
    newest before ``before`` (or of all), and ``next_cursor`` goes on before them. By
    ``previous_cursor`` the other parameter goes on at the other end; null where the page is empty.

    Raises:
        RemoteProtocolError: ``invalid_cursor``.
    """
    before_seq, after_seq = _cursor_seq(before, "before"), _cursor_seq(after, "after")
    if before_seq is not None and after_seq is not None:
        raise RemoteProtocolError("invalid_cursor", "a page has one end: before or after")
    rows, has_more = await _read_rows(
        store,
        conversation,
        before_seq=before_seq,
        after_seq=after_seq,
        limit=limit,
        bytes_max=bytes_max,
    )
    near, far = (str(rows[at].created_seq) if rows else "0" for at in (0, -1))
    if after_seq is None:
        rows.reverse()
    return _page_shape(rows, view, far if has_more else None, near if rows else None)


async def read_messages_around(  # noqa: PLR0913 - a place and two sizes
    store: Store,
    conversation: Conversation,
    message_id: str,
    *,
    limit: int,
    bytes_max: int,
    view: View,
) -> dict[str, Json]:
    """Return a page of messages in conversation order that holds one of them.

    About half of it is before that message. ``next_cursor`` goes on before the page,
    ``previous_cursor`` after it; null where nothing is there.

    Raises:
        RemoteProtocolError: ``message_not_found``, also of one that the view does not get.
    """
    row = await _find_row(store, conversation, message_id)
    if row is None or visible_message(view, row.message) is None:
        raise RemoteProtocolError("message_not_found", "no such message in the conversation")
    older, has_older = await _read_rows(
        store,
        conversation,
        before_seq=row.created_seq + 1,
        after_seq=None,
        limit=limit // 2 + 1,
        # Of what is before it; the message itself is given whatever its size.
        bytes_max=_size(row) + (bytes_max - _size(row)) // 2,
    )
    newer, has_newer = await _read_rows(
        store,
        conversation,
        before_seq=None,
        after_seq=row.created_seq,
        limit=limit - len(older),
        bytes_max=bytes_max - sum(map(_size, older)),
        is_one_given=False,
    )
    rows = [*reversed(older), *newer]
    first, last = str(rows[0].created_seq), str(rows[-1].created_seq)
    return _page_shape(rows, view, first if has_older else None, last if has_newer else None)


def _page_shape(
    rows: Sequence[MessageRow], view: View, next_cursor: str | None, previous_cursor: str | None
) -> dict[str, Json]:
    items = [shown for row in rows if (shown := visible_message(view, row.message)) is not None]
    return {**list_shape(items, next_cursor), "previous_cursor": previous_cursor}


def _cursor_seq(cursor: str | None, name: str) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _SEQ_DIGITS_MAX):
        raise RemoteProtocolError("invalid_cursor", f"{name} is no cursor of ours")
    return int(cursor)


async def _find_row(store: Store, conversation: Conversation, message_id: str) -> MessageRow | None:
    """Return a message as committed, running or finished."""
    if (running := _running_rows(conversation).get(message_id)) is not None:
        return running
    row = await store.load_message(conversation.id, message_id)
    # What is stored but not committed here yet is nobody's to see.
    return row if row is not None and row.finished_seq <= conversation.committed.seq else None


def _running_rows(conversation: Conversation) -> dict[str, MessageRow]:
    committed = conversation.committed
    return {
        str(turn.message["id"]): MessageRow(
            turn.message, conversation.turns[turn_id].row.first_seq, committed.seq
        )
        for turn_id, turn in committed.running.items()
    }


async def _read_rows(  # noqa: PLR0913 - a page has two ends and two sizes
    store: Store,
    conversation: Conversation,
    *,
    before_seq: int | None,
    after_seq: int | None,
    limit: int,
    bytes_max: int,
    is_one_given: bool = True,
) -> tuple[list[MessageRow], bool]:
    """Return the messages nearest to a cursor, the nearest first, and whether there are more."""
    up_to_seq = conversation.committed.seq
    running = list(_running_rows(conversation).values())
    # One more than asked for, to know whether there are more.
    stored = await store.list_messages(
        conversation.id,
        before_seq=before_seq,
        after_seq=after_seq,
        up_to_seq=up_to_seq,
        limit=limit + 1,
        bytes_max=max(1, bytes_max),
    )
    is_newest_first = after_seq is None
    has_more = await _is_more(store, conversation, stored, is_newest_first=is_newest_first)
    if has_more:
        # A running message beyond the edge of what the store gave belongs to a later page.
        edge = stored[-1].created_seq
        running = [row for row in running if (row.created_seq > edge) == is_newest_first]
    rows = [
        row
        for row in (*stored, *running)
        if (before_seq is None or row.created_seq < before_seq)
        and (after_seq is None or row.created_seq > after_seq)
    ]
    rows.sort(key=lambda row: row.created_seq, reverse=is_newest_first)
    page = _fitting(rows, limit, bytes_max, is_one_given=is_one_given)
    return page, has_more or len(page) < len(rows)


def _fitting(
    rows: Sequence[MessageRow], limit: int, bytes_max: int, *, is_one_given: bool
) -> list[MessageRow]:
    page: list[MessageRow] = []
    for row in rows[:limit]:
        bytes_max -= _size(row)
        if bytes_max < 0 and (page or not is_one_given):
            break
        page.append(row)
    return page


def _size(row: MessageRow) -> int:
    return len(encode_json(row.message))


async def _is_more(
    store: Store,
    conversation: Conversation,
    stored: Sequence[MessageRow],
    *,
    is_newest_first: bool,
) -> bool:
    """Return whether the store has messages beyond these, which a bound may have cut."""
    if not stored:
        return False
    edge = stored[-1].created_seq
    beyond = await store.list_messages(
        conversation.id,
        before_seq=edge if is_newest_first else None,
        after_seq=None if is_newest_first else edge,
        up_to_seq=None,
        limit=1,
        bytes_max=1,
    )
    return bool(beyond)
