"""Answers as agents give them: several blocks at once, tools, thoughts, things nobody knows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.soak.world import CANARY

Event = dict[str, Any]
_TEXT_FIELDS = {"prose": "markdown", "reasoning": "text"}


def _starts(rng: random.Random) -> list[Event]:
    blocks: list[Event] = [
        {"type": "prose", "markdown": ""},
        {"type": "reasoning", "text": "", "visibility": "private"},
        {"type": "reasoning", "text": ""},
        {
            "type": "reasoning",
            "text": "",
            "visibility": "visible",
            "provider_data": {"signature": CANARY},
        },
        {"type": "prose", "markdown": "> "},
        {"type": "code", "text": "print('é\\u0000 ~')\n", "language": "python"},
        {"type": "chart", "points": [1, 2.5, None], "fallback_text": "a chart"},
        {"type": "tool", "tool": "run_tests", "status": "pending", "input": {"n": 1}},
    ]
    rng.shuffle(blocks)
    count = rng.randrange(2, len(blocks) + 1)
    return [{"id": f"b{number}", **block} for number, block in enumerate(blocks[:count])]


def _delta(block: Event, number: int, rng: random.Random) -> Event:
    is_private = block["type"] == "reasoning" and block.get("visibility", "private") == "private"
    secret = f" {CANARY}" if is_private and rng.random() < 0.3 else ""
    text = f"{number}{secret} {'wörd 👩‍👩‍👧 '[: rng.randrange(8)]}{'x' * rng.randrange(30)}\n"
    field = _TEXT_FIELDS[block["type"]]
    return {"type": "content.block.delta", "block_id": block["id"], "field": field, "text": text}


def _tool_steps(block: Event, rng: random.Random) -> Iterator[Event]:
    step = {"type": "content.block.updated", "block_id": block["id"]}
    yield {**step, "set": {"status": "running"}}
    yield {**step, "set": {"provider_data": {"id": CANARY}}}
    yield {**step, "set": {"output": {"lines": ["ok"] * rng.randrange(20)}, "status": "completed"}}


def answer(turn_id: str, rng: random.Random, delta_count: int) -> list[Event]:
    """Return the events of one answer, without numbers, its end included."""
    blocks = _starts(rng)
    waiting = list(blocks)
    texts: list[Event] = []
    closing: list[Event] = []
    events: list[Event] = []
    for number in range(delta_count):
        if waiting and (not texts or rng.random() < 0.2):
            block = waiting.pop(0)
            events.append({"type": "content.block.started", "block": block})
            if block["type"] == "tool":
                events += _tool_steps(block, rng)
            (texts if block["type"] in _TEXT_FIELDS else closing).append(block)
        if texts:
            events.append(_delta(rng.choice(texts), number, rng))
        if rng.random() < 0.02:
            events.append({"type": "agent.progress", "share": number / delta_count})
    # Some answers end with blocks open: the gateway settles them.
    is_tidy = rng.random() < 0.8
    if is_tidy:
        done = {"type": "content.block.completed"}
        events += [{**done, "block_id": block["id"]} for block in [*texts, *closing]]
    word = "completed" if rng.random() < 0.9 else "failed"
    events.append({"type": f"turn.{word}", "status": word, "usage": {"output_tokens": 7}})
    return [{"turn_id": turn_id, **event} for event in events]


def texts_of(events: list[Event]) -> dict[str, str]:
    """Return what the deltas and starts of ``events`` say, by block."""
    texts: dict[str, str] = {}
    for event in events:
        if event["type"] == "content.block.started":
            block = event["block"]
            field = _TEXT_FIELDS.get(block["type"])
            if field is not None:
                texts[block["id"]] = block[field]
        elif event["type"] == "content.block.delta":
            texts[event["block_id"]] += event["text"]
    return texts


def text_of(block: Event) -> str | None:
    """Return the text of a streamed block; None for another."""
    field = _TEXT_FIELDS.get(block["type"])
    return None if field is None else str(block[field])
