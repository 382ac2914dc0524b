"""What the tests of engines share: time that a test moves, ids that count, turns that are read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from itertools import count
from typing import Any

import anyio

from blockwire.content import (
    ConversationState,
    IdKind,
    StreamEvent,
    TurnEnded,
    TurnStarted,
    advance,
)
from blockwire.engines import TurnLimits, guard
from blockwire.ports import EngineRequest

TURN = "turn_1"


class CountingIds:
    """``block_1``, ``block_2``, ..."""

    def __init__(self, prefix: str = "new") -> None:
        self._numbers = count(1)
        self._prefix = prefix

    def new_id(self, kind: IdKind) -> str:
        return f"{kind}_{self._prefix}_{next(self._numbers)}"


class ManualTime:
    """A clock and a timer that move when the test says so."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self._scopes: list[tuple[float, anyio.CancelScope]] = []
        self.slept: list[float] = []

    def now_ms(self) -> int:
        return int(self.now_s * 1000)

    def monotonic_s(self) -> float:
        return self.now_s

    def move_on_after(self, delay_s: float) -> anyio.CancelScope:
        scope = anyio.CancelScope()
        self._scopes.append((self.now_s + delay_s, scope))
        return scope

    async def sleep(self, delay_s: float) -> None:
        """Note the wish and take the time at once."""
        self.slept.append(delay_s)
        self.now_s += delay_s
        await anyio.lowlevel.checkpoint()

    async def advance(self, by_s: float) -> None:
        """Move on, and cancel what is over by then."""
        self.now_s += by_s
        for deadline_s, scope in self._scopes:
            if deadline_s <= self.now_s:
                scope.cancel()
        self._scopes = [item for item in self._scopes if item[0] > self.now_s]
        await anyio.lowlevel.checkpoint()


def request(**members: Any) -> EngineRequest:
    """A turn to run."""
    values: dict[str, Any] = {
        "conversation_id": "conv_1",
        "turn_id": TURN,
        "engine": "test",
        "messages": [],
        "options": {},
    }
    return EngineRequest(**{**values, **members})


def user(text: str, message_id: str = "msg_1") -> dict[str, Any]:
    """A question."""
    return {
        "id": message_id,
        "role": "user",
        "status": "completed",
        "content": [{"id": f"{message_id}_b", "type": "prose", "markdown": text}],
        "created_at": 1,
    }


def assistant(*blocks: dict[str, Any], turn_id: str = "turn_0", **members: Any) -> dict[str, Any]:
    """An answer that is over."""
    return {
        "id": turn_id,
        "role": "assistant",
        "status": "completed",
        "content": list(blocks),
        "created_at": 1,
        **members,
    }


async def stream(events: Iterable[Any]) -> AsyncGenerator[StreamEvent, None]:
    """Play events that are ready."""
    for event in events:
        yield event


def guarded(
    events: AsyncGenerator[StreamEvent, None],
    *,
    time: ManualTime | None = None,
    limits: TurnLimits | None = None,
    redact: Callable[[str], str] = str,
) -> AsyncGenerator[StreamEvent, None]:
    """The guard around ``events``, on time that a test moves."""
    time = time or ManualTime()
    return guard(
        events,
        request(),
        ids=CountingIds("guard"),
        clock=time,
        limits=limits or TurnLimits(),
        redact=redact,
        timer=time.move_on_after,
    )


async def collect(events: AsyncGenerator[StreamEvent, None]) -> list[StreamEvent]:
    """All events, within bounds."""
    with anyio.fail_after(15):
        return [event async for event in events]


def fold(events: Iterable[StreamEvent]) -> dict[str, Any]:
    """The message that the events make; fails where the reducer refuses one."""
    state = advance(ConversationState(), TurnStarted(TURN, "assistant", 0))
    for event in events:
        state = advance(state, event)
    message = state.find_message(TURN)
    assert message is not None
    return message


def ends(events: Iterable[StreamEvent]) -> list[TurnEnded]:
    """The terminal events among ``events``."""
    return [event for event in events if isinstance(event, TurnEnded)]


def last_error(events: Iterable[StreamEvent]) -> dict[str, Any]:
    """The error block that closes the message."""
    block = fold(events)["content"][-1]
    assert block["type"] == "error", block
    return dict(block)


def text_of(events: list[StreamEvent]) -> str:
    """Return the prose of the message that ``events`` make."""
    return "".join(block.get("markdown", "") for block in fold(events)["content"])
