"""Hypothesis strategies: the events of whole turns and conversations, valid and numbered.

Spec: docs/spec/content/events.md. Needs ``hypothesis``, so this module is imported by its name.

The scripts keep their own small account of what is open; they do not ask the reducer what is
allowed, so that it can be tested with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

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
from blockwire.testing.needs import st
from blockwire.testing.strategies import json_values, messages, texts

__all__ = ["conversation_scripts", "numbered", "numbered_for", "turn_scripts"]

T = TypeVar("T")

_ASSISTANT: Final = st.just("assistant")
_STEPS_MAX: Final = 24
"""Events of one turn between the first and the last, about."""

# Members of blocks as they start. Text and tools come often: they are what events change.
_BLOCKS: Final[tuple[tuple[str, dict[str, Json]], ...]] = (
    ("prose", {"markdown": ""}),
    ("prose", {"markdown": "So: ", "x_unknown": [1]}),
    ("reasoning", {"text": ""}),
    ("reasoning", {"text": "Hm.", "visibility": "private", "provider_data": {"signature": "x"}}),
    ("reasoning", {"text": "", "visibility": "visible"}),
    ("tool", {"tool": "ls", "status": "pending"}),
    ("tool", {"tool": "ls", "status": "running", "input": {"__proto__": 2**70}}),
    ("tool", {"tool": "ls", "status": "completed", "output": None, "provider_data": 1}),
    ("code", {"text": "a\x00b", "language": "c"}),
    ("error", {"code": "oops", "message": "No.", "retryable": True}),
    ("attachment", {"attachment_id": "att_1", "name": "a.png", "media_type": "image/png"}),
    ("notice", {"code": "slow", "message": "Slow."}),
    ("speech", {"text": "Six."}),
    ("acme_chart", {"fallback_text": "a chart", "data": [[1.5, None]]}),
)
_USAGES: Final[tuple[dict[str, Json] | None, ...]] = (None, {"input_tokens": 3})
_STATUS_AFTER: Final[Mapping[str, tuple[str, ...]]] = {
    "pending": ("running", "pending", "completed", "failed", "cancelled"),
    "running": ("running", "completed", "failed", "cancelled"),
    "completed": ("completed",),
    "failed": ("failed",),
    "cancelled": ("cancelled",),
}


class _Dice:
    """One drawn number that many choices are made from: quick to draw, and shrinks to the first."""

    def __init__(self, number: int) -> None:
        self._left = number

    def pick(self, options: Sequence[T]) -> T:
        self._left, index = divmod(self._left, len(options))
        return options[index]


@dataclass
class _Script:
    """The events of one turn so far, and the account of what is open."""

    turn_id: str
    texts: Sequence[str]
    values: Sequence[Json]
    events: list[StreamEvent] = field(default_factory=list)
    open_types: dict[str, str] = field(default_factory=dict)
    tool_status: dict[str, str] = field(default_factory=dict)
    block_count: int = 0
    is_suspended: bool = False

    def start(self, dice: _Dice) -> None:
        kind, members = dice.pick(_BLOCKS)
        block_id = f"b{self.block_count}"
        self.block_count += 1
        block: Block = {"id": block_id, "type": kind, **members}
        self.events.append(BlockStarted(self.turn_id, block))
        self.open_types[block_id] = kind
        if kind == "tool":
            self.tool_status[block_id] = str(members["status"])

    def change(self, dice: _Dice) -> None:
        block_id = dice.pick(list(self.open_types))
        kind = self.open_types[block_id]
        if kind in DELTA_FIELDS:
            text = dice.pick(self.texts)
            self.events.append(BlockDelta(self.turn_id, block_id, DELTA_FIELDS[kind], text))
        elif kind == "tool":
            self._update(block_id, dice)

    def _update(self, block_id: str, dice: _Dice) -> None:
        changes: dict[str, Json] = {
            name: dice.pick(self.values)
            for name in ("input", "output", "error", "provider_data")
            if dice.pick((True, False, False))
        }
        if dice.pick((True, False)):
            status = dice.pick(_STATUS_AFTER[self.tool_status[block_id]])
            self.tool_status[block_id] = changes["status"] = status
        self.events.append(BlockUpdated(self.turn_id, block_id, changes))

    def complete(self, dice: _Dice) -> None:
        block_id = dice.pick(list(self.open_types))
        if self.open_types.pop(block_id) == "tool" and self.tool_status[block_id] == "running":
            self.events.append(BlockUpdated(self.turn_id, block_id, {"status": "failed"}))
        data = dice.pick((None, *self.values))
        self.events.append(BlockCompleted(self.turn_id, block_id, provider_data=data))

    def wait_or_go_on(self, dice: _Dice) -> None:
        if self.is_suspended:
            self.events.append(TurnResumed(self.turn_id))
        else:
            request: dict[str, Json] = {"id": "req_1", "kind": "question", "prompt": "Which?"}
            block_id = dice.pick(("", *self.open_types))
            if block_id:
                request["block_id"] = block_id
            self.events.append(TurnSuspended(self.turn_id, request))
        self.is_suspended = not self.is_suspended

    def say_something_new(self, dice: _Dice) -> None:
        members: dict[str, Json] = {"turn_id": self.turn_id, "x": dice.pick(self.values)}
        self.events.append(UnknownEvent("acme.progress", members))

    def end(self, dice: _Dice) -> None:
        while self.open_types:
            self.complete(dice)
        statuses: list[TerminalStatus] = ["failed", "cancelled"]
        if not self.is_suspended:
            statuses.append("completed")
        ended = TurnEnded(
            self.turn_id,
            dice.pick(statuses),
            usage=dice.pick(_USAGES),
            finish_reason=dice.pick((None, "stop")),
            reason=dice.pick((None, "interrupted")),
            error_code=dice.pick((None, "oops")),
        )
        self.events.append(ended)


def _take_step(script: _Script, number: int) -> None:
    dice = _Dice(number)
    # Growing text is most of what happens.
    steps = [script.change] * 5 + [script.complete] if script.open_types else []
    steps = [*steps, script.start, script.start, script.wait_or_go_on, script.say_something_new]
    dice.pick(steps)(dice)


@st.composite
def turn_scripts(
    draw: st.DrawFn,
    *,
    turn_id: str = "turn_1",
    role: st.SearchStrategy[str] = _ASSISTANT,
    steps_max: int = _STEPS_MAX,
    ended: bool | None = None,
) -> list[StreamEvent]:
    """Return the events of one turn, from ``turn.started``, without numbers; all are valid.

    Several blocks may be open at once; there are private and visible reasoning, tools, unknown
    blocks and events, and waiting for a person.

    Args:
        draw: Given by hypothesis.
        turn_id: The turn.
        role: Of its message.
        steps_max: Events between the first and the last, about.
        ended: Whether the turn is over at the end; None for either.
    """
    more_texts, more_values = draw(_MORE_TEXTS), draw(_MORE_VALUES)
    script = _Script(turn_id, (*_TEXTS, *more_texts), (*_VALUES, *more_values))
    script.events.append(TurnStarted(turn_id, draw(role), 1000, model="m-1"))
    for number in draw(_numbers(steps_max)):
        _take_step(script, number)
    if ended is None:
        ended = draw(st.booleans())
    if ended:
        script.end(_Dice(draw(_NUMBER)))
    return script.events


_TEXTS: Final = ("a", "Six tests", "\n\n", "", "\U0001f469\u200d\U0001f4bb", "\x00")
_VALUES: Final[tuple[Json, ...]] = ({"a": 1}, "text", None, [2**70, 1.5], {"__proto__": {}})
_MORE_TEXTS: Final = st.lists(texts(), max_size=3)
_MORE_VALUES: Final = st.lists(json_values(max_leaves=3), max_size=1)
_NUMBER: Final = st.integers(0, 2**32 - 1)


def _numbers(count_max: int) -> st.SearchStrategy[list[int]]:
    # Plain lists are short on average, whatever their bound.
    return st.integers(0, count_max).flatmap(
        lambda count: st.lists(_NUMBER, min_size=count, max_size=count)
    )


_FIRST_MESSAGES: Final = messages(message_id=st.just("msg_1"))
_SECOND_ROLES: Final = st.sampled_from(("assistant", "assistant", "system"))


@st.composite
def conversation_scripts(draw: st.DrawFn, *, steps_max: int = _STEPS_MAX) -> list[StreamEvent]:
    """Return the events of a conversation, without numbers: messages and one or two turns.

    The events of two turns are interleaved; one of them may be a turn of role ``system``.
    """
    events: list[StreamEvent] = []
    if draw(st.booleans()):
        events.append(MessageCreated(draw(_FIRST_MESSAGES)))
    first = draw(turn_scripts(turn_id="turn_1", steps_max=steps_max))
    if draw(st.booleans()):
        return events + first
    second = draw(turn_scripts(turn_id="turn_2", role=_SECOND_ROLES, steps_max=steps_max))
    dice = _Dice(draw(st.integers(0, 2 ** len(first + second))))
    while first and second:
        events.append(dice.pick((first, second)).pop(0))
    return events + first + second


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
