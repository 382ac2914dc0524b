"""Rows as the JSON that routes answer with.

Spec: docs/spec/gateway/reading.md, "Shapes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import msgspec

from blockwire.content import TurnState, View, visible_block, visible_request
from blockwire.gateway.turns.accounts import cost_shape, totals_shape
from blockwire.jsontext import Json
from blockwire.ports import ConversationRow, TurnRow

__all__ = [
    "conversation_shape",
    "list_shape",
    "open_block_ids",
    "shared_row",
    "shared_shape",
    "snapshot_turn",
    "turn_shape",
]

_SHARED: Final = frozenset(
    {"id", "title", "created_at", "updated_at", "head_seq", "running_turn_id"}
)


def _set(shape: dict[str, Json], members: Mapping[str, Json]) -> dict[str, Json]:
    shape.update({name: value for name, value in members.items() if value is not None})
    return shape


def conversation_shape(
    row: ConversationRow,
    *,
    head_seq: int,
    running_turn_id: str | None,
    queued_turn_ids: Sequence[str] = (),
    view: View = "public",
) -> dict[str, Json]:
    """Return a conversation; its system prompt only for the owner.

    ``running_turn_id`` is there while a turn is not over, ``queued_turn_ids`` while others wait.
    """
    shape: dict[str, Json] = {
        "id": row.id,
        "tags": list(row.tags),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "head_seq": head_seq,
        "usage": totals_shape(row.totals),
    }
    return _set(
        shape,
        {
            "title": row.title if row.title is not None else row.auto_title,
            "metadata": row.metadata,
            "system": row.system if view == "owner" else None,
            "running_turn_id": running_turn_id,
            "queued_turn_ids": [*queued_turn_ids] or None,
        },
    )


def shared_row(row: ConversationRow) -> ConversationRow:
    """Return a conversation as it is seen through a share link: without its owner's notes.

    Tags, metadata and costs are how its owner keeps house.
    """
    return msgspec.structs.replace(row, tags=(), metadata=None, system=None, totals={})


def shared_shape(shape: Mapping[str, Json]) -> dict[str, Json]:
    """Return the shape of a conversation as it is seen through a share link."""
    return {name: value for name, value in shape.items() if name in _SHARED} | {"tags": []}


def turn_shape(
    row: TurnRow, *, view: View = "public", state: TurnState | None = None
) -> dict[str, Json]:
    """Return a turn without its message; all that a store holds is durable.

    Args:
        row: The turn.
        view: Who sees what a suspended turn waits for; without it, what everybody may see.
        state: The turn as it stands, for blocks that the request names.
    """
    request = None
    if row.request is not None:
        request = dict(visible_request(view, row.request, state))
    shape: dict[str, Json] = {
        "id": row.id,
        "conversation_id": row.conversation_id,
        "status": row.status,
        "engine": row.engine,
        "created_at": row.created_at,
        "request_message_id": row.request_message_id,
        "message_id": row.id,
        "seq": row.last_seq,
        "durable": True,
    }
    return _set(
        shape,
        {
            "model": row.model,
            "provider": row.provider,
            "started_at": row.started_at,
            "completed_at": row.completed_at,
            "usage": row.usage,
            "cost": None if row.cost is None else cost_shape(row.cost),
            "retry_of": row.retry_of,
            "error": row.error,
            "finish_reason": row.finish_reason,
            "reason": row.reason,
            "request": request,
        },
    )


def snapshot_turn(row: TurnRow, state: TurnState | None) -> dict[str, Json]:
    """Return a turn of a snapshot, in owner view.

    It tells more than the shape: what a reducer needs to hold the state of one who saw it all.

    Args:
        row: The turn.
        state: The turn as it stands, None when it is over.
    """
    shape = turn_shape(row, view="owner", state=state)
    if state is not None:
        shape["open_block_ids"] = [block.id for block in state.open_blocks]
    return _set(shape, {"error_code": None if row.error is None else row.error["code"]})


def open_block_ids(turn: TurnState, view: View) -> list[str]:
    """Return the ids of the blocks of ``turn`` that may still change and that ``view`` sees."""
    return [
        block.id
        for block in turn.open_blocks
        if view == "owner" or visible_block(view, block.block) is not None
    ]


def list_shape(items: Iterable[Mapping[str, Json]], next_cursor: str | None) -> dict[str, Json]:
    """Return one page of a list."""
    return {"items": cast("list[Json]", list(items)), "next_cursor": next_cursor}
