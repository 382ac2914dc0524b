"""A snapshot: all state at one number, as one event, and back.

Spec: docs/spec/content/reducer.md, "Snapshots".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from blockwire.content.events import ConversationSnapshot
from blockwire.content.state import BlockState, ConversationState, TurnState
from blockwire.content.vocabulary import END_MEMBERS, TERMINAL_STATUSES, Block, Message
from blockwire.jsontext import Json

__all__ = ["load_snapshot", "make_snapshot"]

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


def make_snapshot(state: ConversationState, *, reset: bool = False) -> ConversationSnapshot:
    """Return the owner's snapshot of ``state``: :func:`load_snapshot` gives an equal state.

    Args:
        state: Any.
        reset: Tell the receiver that its cursor was ahead of the log.
    """
    running = list(state.running.values())
    return ConversationSnapshot(
        messages=state.messages,
        turns=[_turn_info(turn) for turn in state.turns],
        open_block_ids=[block.id for turn in running for block in turn.open_blocks],
        reset=reset,
        more_before=state.more_before,
        conversation_id=state.conversation_id,
        seq=state.seq,
    )


def _turn_info(turn: TurnState) -> dict[str, Json]:
    info: dict[str, Json] = {"id": turn.turn_id, "status": turn.turn_status}
    info.update((name, turn.ended[name]) for name in END_MEMBERS if name in turn.ended)
    if turn.request is not None:
        info["request"] = dict(turn.request)
    if not turn.is_terminal:
        # A block id is unique in its message only; this says which turn's block it is.
        info["open_block_ids"] = [block.id for block in turn.open_blocks]
    return info


def load_snapshot(event: ConversationSnapshot) -> ConversationState:
    """Return the state that ``event`` holds, whatever was before."""
    infos = {cast("str", info["id"]): info for info in event.turns}
    state = ConversationState(event.conversation_id, event.seq, more_before=event.more_before)
    for ordinal, message in enumerate(event.messages):
        info = infos.get(cast("str", message["id"]))
        turn = _load_turn(ordinal, message, info or _NOTHING, event.open_block_ids)
        if not turn.is_terminal:
            state = state.with_running(turn)
        else:
            state = state.with_finished(ordinal, message, None if info is None else turn)
    return state


def _load_turn(
    ordinal: int, message: Message, info: Mapping[str, Json], open_block_ids: list[str]
) -> TurnState:
    status = cast("str", message["status"])
    still_open: frozenset[Any] = frozenset()
    if status not in TERMINAL_STATUSES:
        still_open = frozenset(cast("list[str]", info.get("open_block_ids", open_block_ids)))
    ended = {name: info[name] for name in END_MEMBERS if name in info}
    if info.get("status") == "interrupted":
        ended["reason"] = "interrupted"
    return TurnState(
        cast("str", message["id"]),
        ordinal,
        {k: v for k, v in message.items() if k not in {"id", "status", "content"}},
        status=status,
        blocks=tuple(
            BlockState(block, is_open=block["id"] in still_open)
            for block in cast("list[Block]", message["content"])
        ),
        ended=ended,
        request=cast("Mapping[str, Json] | None", info.get("request")),
    )
