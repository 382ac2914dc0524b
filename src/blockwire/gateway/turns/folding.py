"""A turn from its log: what a restart, or a commit of unknown outcome, leaves us to read.

Spec: docs/spec/gateway/turns.md, "Recovery".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from blockwire.content import ConversationState, StreamEvent, apply, decode_event
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.jsontext import ENVELOPED_DEPTH_MAX, Json, decode_json
from blockwire.ports import Store, TurnRow

__all__ = ["fold_turn", "frame_values"]

PAGE_BYTES: Final = 1_048_576
"""Frames read from the log at a time."""

_DATA: Final = b"data: "


def frame_values(frames: bytes) -> Iterator[Json]:
    """Yield the JSON of each event in joined SSE frames, as our stores write them."""
    for line in frames.split(b"\n"):
        if line.startswith(_DATA):
            yield decode_json(line[len(_DATA) :], depth_max=ENVELOPED_DEPTH_MAX)


async def fold_turn(
    store: Store, state: ConversationState, row: TurnRow, head_seq: int
) -> ConversationState:
    """Return ``state`` with the turn of ``row`` as its events up to ``head_seq`` made it.

    The cursor of the result is that of ``state``. A turn that is over adds nothing.

    Raises:
        StoreError: ``store_corrupt`` when the log does not fold, and what reading it raises.
    """
    after = row.first_seq - 1
    folded = ConversationState(row.conversation_id, after)
    while after < head_seq:
        page = await store.read_frames(
            row.conversation_id, after, view="owner", bytes_max=PAGE_BYTES, up_to=head_seq
        )
        try:
            folded = _apply_all(folded, page.frames, row.id)
        except RemoteProtocolError as error:
            raise StoreError(
                "store_corrupt", f"the log of turn {row.id} does not fold: {error.code}"
            ) from error
        if page.at_end or page.last_seq <= after:
            break
        after = page.last_seq
    turn = folded.running.get(row.id)
    return state if turn is None else state.with_running(turn)


def _apply_all(state: ConversationState, frames: bytes, turn_id: str) -> ConversationState:
    for value in frame_values(frames):
        event = decode_event(value, keys_checked=True)
        if _concerns(event, turn_id):
            state = apply(state, event)
        else:
            state = state.at(event.seq, event.conversation_id)
    return state


def _concerns(event: StreamEvent, turn_id: str) -> bool:
    return getattr(event, "turn_id", None) == turn_id
