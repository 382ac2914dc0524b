"""The public payloads as one turn of an outside producer: each of them in every member of a message."""

from __future__ import annotations

import json  # what a producer sends is written with other code than ours
from typing import Any, Final

from tests.suites import suite_json

__all__ = ["CASES", "blocks_of", "lines_of", "mark"]

CASES: Final[list[dict[str, Any]]] = suite_json("terminal/payloads.json")["cases"]


def mark(number: int) -> str:
    """Return what stands before the blocks of a payload."""
    return f"CASE{number:04}."


def blocks_of(number: int, payload: str) -> list[dict[str, Any]]:
    """Return the payload in every member that may hold such a text."""
    members: list[dict[str, Any]] = [
        {"type": "prose", "markdown": payload},
        {"type": "prose", "markdown": f"> - `` {payload} ``\n\n# {payload}"},
        {"type": "code", "text": payload},
        {"type": "tool", "tool": "t", "status": "completed", "input": payload, "output": payload},
        {
            "type": "tool",
            "tool": "t",
            "status": "failed",
            "input": {"path": [payload]},
            "error": payload,
        },
        {"type": "error", "code": "c", "message": payload},
        {"type": "notice", "code": "c", "message": payload},
        {"type": "reasoning", "text": payload},
        {"type": "chart", "fallback_text": payload, "points": payload},
    ]
    return [{"id": f"b{number}_{index}", **block} for index, block in enumerate(members)]


def lines_of(turn_id: str) -> bytes:
    """Return the lines of the whole turn."""
    events: list[dict[str, Any]] = []
    for number, case in enumerate(CASES):
        begin = {"id": f"m{number}", "type": "notice", "code": "c", "message": mark(number)}
        events += [
            event
            for block in (begin, *blocks_of(number, case["payload"]))
            for event in (
                {"type": "content.block.started", "block": block},
                {"type": "content.block.completed", "block_id": block["id"]},
            )
        ]
    events.append({"type": "turn.completed", "status": "completed"})
    return b"".join(
        json.dumps({**event, "turn_id": turn_id, "producer_seq": seq}).encode() + b"\n"
        for seq, event in enumerate(events, 1)
    )
