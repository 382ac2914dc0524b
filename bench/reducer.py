"""The reducer: one more delta costs the same at any length."""

from __future__ import annotations

import time
from typing import Any, Final

from bench.figures import Figure
from blockwire.content import BlockStarted, ConversationState, TurnStarted, apply, decode_event
from blockwire.jsontext import decode_json

__all__ = ["measure_deltas"]

SIZES_CHARS: Final = (1_000, 100_000, 10_000_000)
TOKEN: Final = "it. "
DELTAS: Final = 2_000
FLAT: Final = 1.3


def wire_delta(seq: int) -> bytes:
    """Return a delta as it stands behind ``data:``."""
    return (
        b'{"type":"content.block.delta","turn_id":"turn_1","block_id":"block_1","field":"markdown",'
        b'"text":"it. ","conversation_id":"conv_1","seq":%d,"prev_seq":%d,"ts":1740000000000}'
        % (seq, seq - 1)
    )


def state_of(chars: int) -> ConversationState:
    """Return a state whose open block has grown to ``chars`` characters, token by token."""
    state = ConversationState("conv_1")
    block: dict[str, Any] = {"id": "block_1", "type": "prose", "markdown": ""}
    state = apply(state, TurnStarted("turn_1", "assistant", 1, seq=1))
    state = apply(state, BlockStarted("turn_1", block, seq=2, prev_seq=1))
    template = decode_event(decode_json(wire_delta(3)))
    for _ in range(chars // len(TOKEN)):
        seq = state.seq + 1
        state = apply(state, _numbered(template, seq))
    return state


def _numbered(event: Any, seq: int) -> Any:
    return type(event)(
        event.turn_id, event.block_id, event.field, event.text,
        conversation_id="conv_1", seq=seq, prev_seq=seq - 1, ts=event.ts,
    )  # fmt: skip


class _Growing:
    """A state that each round makes longer, as a stream does."""

    def __init__(self, chars: int) -> None:
        self._state = state_of(chars)

    def delta_us(self) -> float:
        """Return what it costs to read one delta off the wire and to apply it."""
        now = self._state
        lines = [wire_delta(now.seq + 1 + index) for index in range(DELTAS)]
        started_s = time.process_time()
        for line in lines:
            now = apply(now, decode_event(decode_json(line)))
        spent_s = time.process_time() - started_s
        self._state = now
        return spent_s / DELTAS * 1e6


def measure_deltas(*, quick: bool) -> list[Figure]:
    """Measure one delta at 1 kB, 100 kB and 10 MB, interleaved; and 100,000 chained."""
    sizes = SIZES_CHARS[:2] if quick else SIZES_CHARS
    states = {size: _Growing(size) for size in sizes}
    costs: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(5 if quick else 15):
        for size, state in states.items():
            costs[size].append(state.delta_us())
    # The least of many: what others do on the machine only ever adds.
    base_us = min(costs[sizes[0]])
    return [
        Figure(
            what=f"one delta at {size:,} characters",
            ours=min(costs[size]),
            unit="us",
            peer=base_us,
            peer_name=f"at {sizes[0]:,}",
            reach=FLAT,
        )
        for size in sizes[1:]
    ]
