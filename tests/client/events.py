"""A conversation as its gateway tells it: numbered events, and the frames that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from blockwire.content import ConversationState, apply, decode_event, make_snapshot
from blockwire.content.codec import event_members
from blockwire.jsontext import Json, encode_json
from blockwire.sse import encode_comment, encode_retry, encode_sse

CONVERSATION: Final = "conv_a"
TURN: Final = "turn_1"

Event = dict[str, Any]


def numbered(*events: Mapping[str, Any], first: int = 1) -> list[Event]:
    """Return the events as a gateway stamps them, one after the other."""
    return [
        {**event, "conversation_id": CONVERSATION, "seq": seq, "prev_seq": seq - 1, "ts": seq}
        for seq, event in enumerate(events, start=first)
    ]


def started(turn_id: str = TURN) -> Event:
    return {"type": "turn.started", "turn_id": turn_id, "role": "assistant", "created_at": 1}


def block(block_id: str = "b1", turn_id: str = TURN, **members: Any) -> Event:
    content = {"id": block_id, "type": "prose", "markdown": "", **members}
    if content["type"] != "prose":
        del content["markdown"]
    return {"type": "content.block.started", "turn_id": turn_id, "block": content}


def delta(text: str, block_id: str = "b1", field: str = "markdown", turn_id: str = TURN) -> Event:
    return {
        "type": "content.block.delta",
        "turn_id": turn_id,
        "block_id": block_id,
        "field": field,
        "text": text,
    }


def completed(block_id: str = "b1", turn_id: str = TURN, **more: Any) -> Event:
    return {"type": "content.block.completed", "turn_id": turn_id, "block_id": block_id, **more}


def ended(turn_id: str = TURN, status: str = "completed") -> Event:
    return {"type": f"turn.{status}", "turn_id": turn_id, "status": status}


def answer(*pieces: str) -> list[Event]:
    """Return a whole turn that says ``pieces``."""
    return numbered(started(), block(), *map(delta, pieces), completed(), ended())


def frame(event: Mapping[str, Any]) -> bytes:
    """Return the frame of one event; one without a number has no id."""
    seq = event.get("seq")
    return encode_sse(
        encode_json(dict(event)), event=event["type"], id=None if seq is None else str(seq)
    )


def frames(events: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(map(frame, events))


def ready(cursor: int = 0, head_seq: int = 0) -> bytes:
    """Return what a stream begins with."""
    event: dict[str, Json] = {
        "type": "subscription.ready",
        "conversation_id": CONVERSATION,
        "cursor": cursor,
        "head_seq": head_seq,
        "running_turn_ids": [],
    }
    return encode_retry(1000) + encode_sse(
        encode_json(event), event="subscription.ready", id=str(cursor)
    )


def heartbeat() -> bytes:
    return encode_comment("")


def folded(events: Sequence[Mapping[str, Any]]) -> ConversationState:
    """Return the state that all events make."""
    state = ConversationState()
    for event in events:
        state = apply(state, decode_event(dict(event)))
    return state


def snapshot(events: Sequence[Mapping[str, Any]], *, reset: bool = False) -> Event:
    """Return the snapshot of what ``events`` make."""
    return event_members(make_snapshot(folded(events), reset=reset))


def text_of(state: ConversationState, turn_id: str = TURN, block_id: str = "b1") -> str:
    turn = state.find_turn(turn_id)
    assert turn is not None
    found = turn.find(block_id)
    assert found is not None
    return str(found.block.get("markdown", found.block.get("text")))
