"""What readers are shown: always the last committed state, never a word that could be taken back.

Spec: docs/spec/gateway/reading.md; visibility is decided by
``content``. Functions of a conversation that the caller has pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

import anyio

from blockwire.content import (
    TURN_TERMINAL_STATUSES,
    ConversationSnapshot,
    View,
    event_members,
    visible_event,
    visible_message,
)
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.shapes import list_shape, open_block_ids, snapshot_turn, turn_shape
from blockwire.gateway.turns.conversation import Conversation, conversation_not_found
from blockwire.gateway.turns.folding import frame_values
from blockwire.jsontext import Json, encode_json
from blockwire.ports import MessageRow, Store, TurnRow
from blockwire.sse import encode_sse

__all__ = [
    "NO_WAY_ON",
    "Head",
    "load_turn_row",
    "read_event_page",
    "read_head",
    "read_snapshot",
    "read_turn",
    "turn_not_found",
]

NO_WAY_ON: Final = frozenset({"cursor_expired", "cursor_inside_delta"})
"""Refusals of the log that mean: from this cursor there is no way on but a snapshot."""


class Head(NamedTuple):
    """Where a conversation stands.

    Attributes:
        head_seq: Number of the last committed event, whichever view it is for.
        running_turn_ids: Turns that are not over at that number, oldest first.
        has_queue: Turns wait for those to end.
    """

    head_seq: int
    running_turn_ids: tuple[str, ...]
    has_queue: bool = False


def turn_not_found() -> RemoteProtocolError:
    """Return the refusal of a turn id that the conversation does not have."""
    return RemoteProtocolError("turn_not_found", "no such turn in the conversation")


def read_head(conversation: Conversation) -> Head:
    """Return where the conversation stands; both views share its numbers."""
    running = tuple(conversation.committed.running)
    return Head(conversation.head_seq, running, has_queue=bool(conversation.queue))


# turns ------------------------------------------------------------------------------------
async def load_turn_row(store: Store, conversation: Conversation, turn_id: str) -> TurnRow:
    """Return the turn as committed.

    Raises:
        RemoteProtocolError: ``turn_not_found``.
    """
    live = conversation.turns.get(turn_id)
    if live is not None:
        return live.row
    row = await store.load_turn(conversation.id, turn_id)
    live = conversation.turns.get(turn_id)
    if live is not None:
        return live.row
    if row is not None and row.status not in TURN_TERMINAL_STATUSES:
        # Committed a moment ago: its commit is being taken over under the lock.
        async with conversation.changing():
            live = conversation.turns.get(turn_id)
        row = live.row if live is not None else await store.load_turn(conversation.id, turn_id)
    if row is None:
        raise turn_not_found()
    return row


async def read_turn(
    store: Store, conversation: Conversation, turn_id: str, view: View
) -> dict[str, Json]:
    """Return the turn with its message as it stands, and the blocks that may still change.

    ``message`` is null where the view does not get it.

    Raises:
        RemoteProtocolError: ``turn_not_found``.
    """
    row = await load_turn_row(store, conversation, turn_id)
    state = conversation.committed.running.get(turn_id)
    if state is not None:
        # Nothing was awaited since, so these three are of one moment.
        row = conversation.turns[turn_id].row
        message, still_open = state.message, open_block_ids(state, view)
    else:
        stored = await store.load_message(conversation.id, turn_id)
        if stored is None:
            # It ended between two looks; what the store has now is final.
            row = await load_turn_row(store, conversation, turn_id)
            stored = await store.load_message(conversation.id, turn_id)
        if stored is None:
            raise turn_not_found()
        message, still_open = stored.message, []
    return {
        **turn_shape(row, view=view, state=state),
        "message": visible_message(view, message),
        "open_block_ids": cast("list[Json]", still_open),
    }


# events -----------------------------------------------------------------------------------
async def read_event_page(  # noqa: PLR0913 - a cursor, a size, a time
    store: Store,
    conversation: Conversation,
    *,
    after: int,
    snapshot: bool,
    view: View,
    bytes_max: int,
    wait_s: float,
    settings: GatewaySettings,
    now_ms: int,
) -> dict[str, Json]:
    """Return ``{items, next_cursor, at_end}``: events after the cursor, waiting for the first.

    A cursor ahead of the log gives a snapshot with ``reset``; one from which there is no way on,
    and whoever asks for it, a snapshot. ``next_cursor`` is always there, and goes on after it.
    """

    async def snapshot_page(*, reset: bool) -> dict[str, Json]:
        whole, seq = await read_snapshot(
            store, conversation, view, reset=reset, settings=settings, now_ms=now_ms
        )
        return {**list_shape([whole], str(seq)), "at_end": seq >= conversation.head_seq}

    is_ahead = after > conversation.head_seq
    if is_ahead or snapshot:
        return await snapshot_page(reset=is_ahead)
    items: list[dict[str, Json]] = []
    deadline_s = anyio.current_time() + wait_s
    while True:
        is_at_end = after >= conversation.head_seq
        if not is_at_end:
            try:
                page = await store.read_frames(
                    conversation.id, after, view=view, bytes_max=bytes_max
                )
            except StoreError as error:
                if error.code not in NO_WAY_ON:
                    raise
                return await snapshot_page(reset=False)
            items = cast("list[dict[str, Json]]", list(frame_values(page.frames)))
            after, is_at_end = page.last_seq, page.at_end
        left_s = deadline_s - anyio.current_time()
        if items or left_s <= 0:
            return {**list_shape(items, str(after)), "at_end": is_at_end}
        if after >= conversation.head_seq:
            # What is withheld from the view is no news: it ends no wait.
            with anyio.move_on_after(left_s):
                await conversation.wait_changed()
            if conversation.is_gone:
                raise conversation_not_found()


# snapshots --------------------------------------------------------------------------------
async def read_snapshot(  # noqa: PLR0913 - for whom, how much, when
    store: Store,
    conversation: Conversation,
    view: View,
    *,
    reset: bool,
    settings: GatewaySettings,
    now_ms: int,
) -> tuple[dict[str, Json], int]:
    """Return a ``conversation.snapshot`` and the committed number that it reflects exactly.

    Running turns whole, then finished messages, newest first, within the bounds of ``settings``.
    """
    committed = conversation.committed
    live = {turn_id: conversation.turns[turn_id].row for turn_id in committed.running}
    rows = await store.list_messages(
        conversation.id,
        before_seq=None,
        after_seq=None,
        up_to_seq=committed.seq,
        limit=settings.snapshot_messages_max,
        bytes_max=settings.snapshot_bytes_max,
    )
    edge = rows[-1].created_seq if rows else 0
    older = edge and await store.list_messages(
        conversation.id, before_seq=edge, after_seq=None, up_to_seq=None, limit=1, bytes_max=1
    )
    placed = [(row.created_seq, row.message) for row in rows]
    placed += [
        (live[turn_id].first_seq, turn.message) for turn_id, turn in committed.running.items()
    ]
    placed.sort(key=lambda pair: pair[0])
    turns = await _finished_turns(store, conversation.id, rows)
    shapes = [snapshot_turn(row, None) for row in turns]
    shapes += [snapshot_turn(live[turn_id], turn) for turn_id, turn in committed.running.items()]
    snapshot = ConversationSnapshot(
        [message for _seq, message in placed],
        shapes,
        [block.id for turn in committed.running.values() for block in turn.open_blocks],
        reset=reset,
        more_before=str(edge) if older else None,
        conversation_id=conversation.id,
        seq=committed.seq,
        ts=now_ms,
    )
    shown = visible_event(view, snapshot, committed)
    assert shown is not None, "everybody may see a snapshot of what they may see"
    return event_members(shown), committed.seq


async def _finished_turns(
    store: Store, conversation_id: str, rows: Sequence[MessageRow]
) -> list[TurnRow]:
    """Return the turns that the messages of ``rows`` (newest first) answer, oldest first."""
    wanted = {row.message["id"] for row in rows if row.message["role"] == "assistant"}
    found: list[TurnRow] = []
    cursor: str | None = None
    while wanted:
        page = await store.list_turns(conversation_id, cursor=cursor, limit=len(rows))
        for row in page.items:
            if row.id in wanted:
                wanted.discard(row.id)
                found.append(row)
        cursor = page.next_cursor
        # An imported answer has no turn: nobody looks through all of them for it.
        if cursor is None or page.items[-1].first_seq < rows[-1].created_seq:
            break
    return found[::-1]


def snapshot_frame(snapshot: dict[str, Json], seq: int) -> bytes:
    """Return the SSE frame of a snapshot."""
    return encode_sse(encode_json(snapshot), event="conversation.snapshot", id=str(seq))
