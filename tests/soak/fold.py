"""What a reader makes of what it gets, and how that is held against the store at any moment."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, Final, NamedTuple

from blockwire.content import (
    BlockDelta,
    ConversationSnapshot,
    ConversationState,
    StreamEvent,
    View,
    apply,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, encode_json
from tests.soak.world import CANARY, Folded, Step, World

HISTORY_EVENTS: Final = 256


class _Wanted(NamedTuple):
    turn_id: str
    seq: int
    message: dict[str, Any]


class Fold:
    """One conversation in one view, as its events made it.

    Attributes:
        state: The newest.
    """

    def __init__(
        self, world: World, conversation_id: str, view: View, *, is_timed: bool = True
    ) -> None:
        self._world = world
        self._is_timed = is_timed
        self.conversation_id = conversation_id
        self.view: View = view
        self._empty = world.empties.setdefault((conversation_id, view), ConversationState())
        self.state = self._empty
        self._history: deque[Step] = deque(maxlen=HISTORY_EVENTS)
        self._wanted: list[_Wanted] = []
        # Of the last numbered event on this connection; None before the first.
        self._last_seq: int | None = None
        # What is newer than this has been committed since the connection was made.
        self._live_after = 0

    # connections --------------------------------------------------------------------------
    def begin(self, head_seq: int) -> None:
        """Begin a connection, which said where the conversation stands."""
        self._last_seq = None
        self._live_after = head_seq

    def restart(self) -> None:
        """Forget everything."""
        self._history.clear()
        self.state = self._empty

    def go_back(self, rng: random.Random) -> None:
        """Go back to an earlier state, if one is remembered."""
        if self._history:
            keep = rng.randrange(1, len(self._history) + 1)
            while len(self._history) > keep:
                self._history.pop()
            self.state = self._history[-1].state

    # events -------------------------------------------------------------------------------
    def take(self, event: StreamEvent, now_ms: int) -> bool:
        """Apply a numbered event, which came at ``now_ms``; return whether it fitted."""
        if isinstance(event, ConversationSnapshot):
            self._history.clear()
            # Its number is that of the log, which the view may get no event of.
            self._last_seq = None
            self._pass_by(event.seq)
            self._step(event)
            return True
        last_seq = self._last_seq
        if last_seq is None:
            self._note_first(event)
        elif event.prev_seq != last_seq:
            kind = "doubled" if event.seq <= last_seq else "broken chain"
            self._world.fault(kind, f"{self.view} after {last_seq}: {event}")
        if event.seq <= self.state.seq:
            self._world.fault("seen before", f"{self.view} at {self.state.seq}: {event}")
        self._last_seq = event.seq
        if self._wanted:
            self._judge(event)
        if self._is_timed and event.seq > self._live_after:
            self._world.sample_latency(now_ms - event.ts)
        return self._step(event)

    def _note_first(self, event: StreamEvent) -> None:
        """Count a connection that began inside a merged delta: it goes on in the block it was in."""
        if isinstance(event, BlockDelta) and event.seq > event.prev_seq + 1 and self._history:
            last = self._history[-1]
            is_same = last.delta is not None and last.delta.block_id == event.block_id
            if is_same and last.state.seq == event.prev_seq:
                self._world.counts["began inside a merged delta"] += 1

    def _step(self, event: StreamEvent) -> bool:
        before = self.state
        key = id(before), id(event)
        # While an entry is there, so are its objects: no other ones have these identities.
        known = self._world.steps.get(key)
        if known is None:
            try:
                after = apply(before, event)
            except RemoteProtocolError as refused:
                self._world.fault(f"fold: {refused.code}", f"{self.view} {refused}: {event}")
                return False
            known = Folded(before, event, Step.make(after, event))
            self._world.steps.put(key, known)
            self._world.counts["folded"] += 1
        self.state = known.step.state
        self._history.append(known.step)
        return True

    def keep(self, state: ConversationState, event: StreamEvent) -> None:
        """Take a state that somebody else made, and by what."""
        self.state = state
        self._history.append(Step.make(state, event))

    # spot checks --------------------------------------------------------------------------
    def pick_turn(self, rng: random.Random) -> str | None:
        """Return a turn to look at, rather a running one."""
        running = list(self.state.running)
        if running:
            return rng.choice(running)
        turns = self.state.turns[-3:]
        return rng.choice(turns).turn_id if turns else None

    def expect(self, turn: dict[str, Any]) -> None:
        """Hold what GET answered against the state at the same number, when it is there."""
        wanted = _Wanted(turn["id"], turn["seq"], turn["message"])
        if self.state.seq < wanted.seq:
            self._wanted.append(wanted)
            return
        after: Step | None = None
        for step in reversed(self._history):
            if step.state.seq <= wanted.seq:
                if after is None or after.prev_seq <= wanted.seq:
                    self._compare(step.state, wanted, None if after is None else after.delta)
                return
            after = step
        self._world.counts["spot checks too old"] += 1

    def _judge(self, event: StreamEvent) -> None:
        """Settle what waited, now that the event after it has come."""
        for wanted in [item for item in self._wanted if item.seq < event.seq]:
            self._wanted.remove(wanted)
            if event.prev_seq <= wanted.seq:
                delta = event if isinstance(event, BlockDelta) else None
                self._compare(self.state, wanted, delta)
            else:
                self._world.counts["spot checks that a snapshot passed by"] += 1

    def _pass_by(self, seq: int) -> None:
        """Give up what waits for a state before ``seq``: a snapshot of that number has come."""
        left = [item for item in self._wanted if item.seq >= seq]
        passed_count = len(self._wanted) - len(left)
        self._world.counts["spot checks that a snapshot passed by"] += passed_count
        self._wanted = left

    def settle(self) -> None:
        """Settle what still waits: nothing more is to come."""
        for wanted in self._wanted:
            self._compare(self.state, wanted, None)
        self._wanted.clear()

    def _compare(self, state: ConversationState, wanted: _Wanted, delta: BlockDelta | None) -> None:
        """Hold ``state`` against what GET said; ``delta`` is what came to it next."""
        own = state.find_message(wanted.turn_id)
        if own is None and state.more_before is not None:
            return
        self._world.counts["spot checks"] += 1
        if encode_json(own) == encode_json(wanted.message):
            return
        if own is not None and delta is not None and _is_between(own, wanted, delta):
            self._world.counts["spot checks inside a merged delta"] += 1
            return
        self._world.fault(
            "state differs from GET",
            f"{self.view} {wanted.turn_id} at {wanted.seq}, own {state.seq}: "
            f"{_difference(own, wanted.message)}",
        )

    def difference(self, truth: list[Json]) -> str:
        """Return how the state differs from the stored messages; empty when it does not."""
        own = self.state.messages
        # Behind a snapshot there may be older messages than it held.
        expected = truth[len(truth) - len(own) :] if self.state.more_before is not None else truth
        if encode_json(list(own)) == encode_json(expected):
            return ""
        for mine, theirs in zip(own, expected, strict=False):
            if encode_json(mine) != encode_json(theirs):
                return f"{encode_json(mine)!r} != {encode_json(theirs)!r}"
        return f"{len(own)} messages, {len(expected)} are stored"

    @property
    def shows_canary(self) -> bool:
        """Whether anything private is in the state."""
        return CANARY.encode() in encode_json(list(self.state.messages))


def _is_between(own: dict[str, Any], wanted: _Wanted, delta: BlockDelta) -> bool:
    """Return whether ``wanted`` is ``own`` with a beginning of ``delta``, and nothing else."""
    if delta.turn_id != wanted.turn_id or delta.seq <= delta.prev_seq + 1:
        return False
    blocks: list[dict[str, Any]] = own["content"]
    for index, block in enumerate(blocks):
        if block["id"] == delta.block_id:
            if index >= len(wanted.message["content"]):
                return False
            text: str = block[delta.field]
            theirs = wanted.message["content"][index].get(delta.field, "")
            grown = {**block, delta.field: text + delta.text[: len(theirs) - len(text)]}
            content: list[Any] = [*blocks[:index], grown, *blocks[index + 1 :]]
            return encode_json({**own, "content": content}) == encode_json(wanted.message)
    return False


def _difference(own: dict[str, Any] | None, wanted: dict[str, Any]) -> str:
    """Return where two spellings part, with a little of both."""
    ours, theirs = encode_json(own), encode_json(wanted)
    at = next(
        (i for i, pair in enumerate(zip(ours, theirs, strict=False)) if len(set(pair)) > 1), 0
    )
    start = max(at - 80, 0)
    return f"from byte {at}: {ours[start : at + 120]!r} != {theirs[start : at + 120]!r}"
