"""Hypothesis strategies: the events of whole turns and conversations, valid and numbered.

Spec: docs/spec/content/events.md. Needs ``hypothesis``, so this module is imported by its name.

The scripts keep their own small account of what is open; they do not ask the reducer what is
allowed, so that it can be tested with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st
from msgspec.structs import replace

from blockwire.content import (
    DELTA_FIELDS,
    Block,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    ConversationState,
    MessageCreated,
    StreamEvent,
    TurnEnded,
    TurnResumed,
    TurnStarted,
    TurnSuspended,
    UnknownEvent,
    View,
    advance,
    visible_event,
)
from blockwire.content.vocabulary import TerminalStatus
from blockwire.jsontext import Json
from blockwire.testing.strategies import (
    BLOCK_TYPES,
    blocks,
    json_objects,
    messages,
    names,
    opaque_values,
    texts,
    times,
)

__all__ = ["conversation_scripts", "numbered", "numbered_for", "turn_scripts"]

_ASSISTANT: Final = st.just("assistant")


@dataclass
class _Script:
    """The events of one turn so far, and the account of what is open."""

    turn_id: str
    events: list[StreamEvent] = field(default_factory=list)
    open_types: dict[str, str] = field(default_factory=dict)
    tool_status: dict[str, str] = field(default_factory=dict)
    block_count: int = 0
    is_suspended: bool = False

    def start(self, block: Block) -> None:
        self.block_count += 1
        self.events.append(BlockStarted(self.turn_id, block))
        block_id, kind = str(block["id"]), str(block["type"])
        self.open_types[block_id] = kind
        if kind == "tool":
            self.tool_status[block_id] = str(block["status"])

    def update(self, block_id: str, changes: dict[str, Json]) -> None:
        self.events.append(BlockUpdated(self.turn_id, block_id, changes))
        if "status" in changes:
            self.tool_status[block_id] = str(changes["status"])

    def complete(self, block_id: str, provider_data: Json = None) -> None:
        if self.open_types.pop(block_id) == "tool" and self.tool_status[block_id] == "running":
            self.events.append(BlockUpdated(self.turn_id, block_id, {"status": "failed"}))
        self.events.append(BlockCompleted(self.turn_id, block_id, provider_data=provider_data))


_STATUS_AFTER: Final = {
    "pending": ("pending", "running", "completed", "failed", "cancelled"),
    "running": ("running", "completed", "failed", "cancelled"),
    "completed": ("completed",),
    "failed": ("failed",),
    "cancelled": ("cancelled",),
}


def _start_some_block(draw: st.DrawFn, script: _Script) -> None:
    # Text and tools are what most turns consist of, and what events can change.
    kinds = st.sampled_from((*BLOCK_TYPES, "prose", "prose", "reasoning", "reasoning", "tool"))
    name = f"b{script.block_count}"
    script.start(draw(blocks(block_type=kinds, block_id=st.just(name))))


def _change_some_block(draw: st.DrawFn, script: _Script) -> None:
    block_id = draw(st.sampled_from(sorted(script.open_types)))
    kind = script.open_types[block_id]
    if kind in DELTA_FIELDS:
        text = draw(texts())
        script.events.append(BlockDelta(script.turn_id, block_id, DELTA_FIELDS[kind], text))
    elif kind == "tool":
        status = st.sampled_from(_STATUS_AFTER[script.tool_status[block_id]])
        optional: dict[str, st.SearchStrategy[Json]] = {
            "status": status,
            "input": opaque_values(),
            "output": opaque_values(),
            "error": st.none(),
            "output_json": texts(),
            "completed_at": times(),
            "provider_data": opaque_values(),
        }
        script.update(block_id, draw(st.fixed_dictionaries({}, optional=optional)))


def _complete_some_block(draw: st.DrawFn, script: _Script) -> None:
    block_id = draw(st.sampled_from(sorted(script.open_types)))
    provider_data: st.SearchStrategy[Json] = st.none() | opaque_values()
    script.complete(block_id, draw(provider_data))


def _wait_or_go_on(draw: st.DrawFn, script: _Script) -> None:
    if script.is_suspended:
        script.events.append(TurnResumed(script.turn_id))
    else:
        request: dict[str, Json] = {"id": "req_1", "kind": "question", "prompt": draw(texts())}
        names_block = draw(st.booleans())
        if names_block and script.open_types:
            request["block_id"] = draw(st.sampled_from(sorted(script.open_types)))
        script.events.append(TurnSuspended(script.turn_id, request))
    script.is_suspended = not script.is_suspended


def _say_something_new(draw: st.DrawFn, script: _Script) -> None:
    members: dict[str, Json] = {"turn_id": script.turn_id, "x": draw(opaque_values())}
    script.events.append(UnknownEvent("acme.progress", members))


_STEPS: Final = (
    _start_some_block,
    _change_some_block,
    _change_some_block,
    _change_some_block,
    _complete_some_block,
    _wait_or_go_on,
    _say_something_new,
)
_NEED_AN_OPEN_BLOCK: Final = frozenset({_change_some_block, _complete_some_block})


def _draw_end(draw: st.DrawFn, script: _Script) -> TurnEnded:
    statuses: list[TerminalStatus] = ["failed", "cancelled"]
    if not script.is_suspended:
        statuses.append("completed")
    return TurnEnded(
        script.turn_id,
        draw(st.sampled_from(statuses)),
        usage=draw(st.none() | json_objects()),
        finish_reason=draw(st.none() | names()),
        reason=draw(st.none() | st.sampled_from(("interrupted", "deadline"))),
    )


@st.composite
def turn_scripts(
    draw: st.DrawFn,
    *,
    turn_id: str = "turn_1",
    role: st.SearchStrategy[str] = _ASSISTANT,
    max_steps: int = 12,
    ended: bool | None = None,
) -> list[StreamEvent]:
    """Return the events of one turn, from ``turn.started``, without numbers; all are valid.

    Several blocks may be open at once; there are private and visible reasoning, tools, unknown
    blocks and events, and waiting for a person.

    Args:
        draw: Given by hypothesis.
        turn_id: The turn.
        role: Of its message.
        max_steps: Events between the first and the last, about.
        ended: Whether the turn is over at the end; None for either.
    """
    model = draw(st.none() | names())
    script = _Script(turn_id)
    script.events.append(TurnStarted(turn_id, draw(role), draw(times()), model=model))
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=max_steps)):
        if script.open_types or step not in _NEED_AN_OPEN_BLOCK:
            step(draw, script)
    if ended or (ended is None and draw(st.booleans())):
        for block_id in list(script.open_types):
            script.complete(block_id)
        script.events.append(_draw_end(draw, script))
    return script.events


@st.composite
def conversation_scripts(draw: st.DrawFn, *, max_steps: int = 10) -> list[StreamEvent]:
    """Return the events of a conversation, without numbers: messages and one or two turns.

    The events of two turns are interleaved; one of them may be a turn of role ``system``.
    """
    events: list[StreamEvent] = []
    if draw(st.booleans()):
        events.append(MessageCreated(draw(messages(message_id=st.just("msg_1")))))
    roles = st.sampled_from(("assistant", "assistant", "system"))
    lanes = [draw(turn_scripts(turn_id="turn_1", max_steps=max_steps))]
    if draw(st.booleans()):
        lanes.append(draw(turn_scripts(turn_id="turn_2", role=roles, max_steps=max_steps)))
    lanes = [list(reversed(lane)) for lane in lanes]
    while any(lanes):
        lane = draw(st.sampled_from([lane for lane in lanes if lane]))
        events.append(lane.pop())
    return events


def numbered(
    events: Sequence[StreamEvent], *, first_seq: int = 1, conversation_id: str = "conv_1"
) -> list[StreamEvent]:
    """Return ``events`` as a gateway stamps them for owner views; ``ts`` is 1000 plus ``seq``."""
    return [
        replace(event, conversation_id=conversation_id, seq=seq, prev_seq=seq - 1, ts=1000 + seq)
        for seq, event in enumerate(events, start=first_seq)
    ]


def numbered_for(view: View, events: Sequence[StreamEvent]) -> list[StreamEvent]:
    """Return numbered owner's ``events`` as ``view`` gets them: the rest withheld, the gaps closed.

    Args:
        view: The audience.
        events: From the start of a conversation.
    """
    state = ConversationState()
    shown: list[StreamEvent] = []
    prev_seq = events[0].prev_seq if events else 0
    for event in events:
        seen = visible_event(view, event, state)
        if seen is not None:
            shown.append(replace(seen, prev_seq=prev_seq))
            prev_seq = seen.seq
        state = advance(state, event)
    return shown
