"""Diagnostics pass the redactor wherever they stand; the answer itself does not."""

from __future__ import annotations

import pytest

from blockwire.content import (
    Block,
    BlockCompleted,
    BlockDelta,
    BlockStarted,
    BlockUpdated,
    Message,
    StreamEvent,
    redact_event,
    redact_message,
)

SECRET = "sk-secret"


def redact(text: str) -> str:
    return text.replace(SECRET, "[redacted]")


def block(kind: str, **members: object) -> Block:
    return {"id": "b", "type": kind, **members}  # type: ignore[dict-item]


ERROR = block("error", code="failed", message=f"key {SECRET}")
NOTICE = block("notice", code="said", message=f"key {SECRET}")
TOOL = block("tool", tool="t", status="failed", output=SECRET, error={"why": [SECRET, 1, None]})
PROSE = block("prose", markdown=SECRET)

CASES: list[tuple[StreamEvent, StreamEvent]] = [
    (BlockStarted("t", ERROR), BlockStarted("t", {**ERROR, "message": "key [redacted]"})),
    (BlockStarted("t", NOTICE), BlockStarted("t", {**NOTICE, "message": "key [redacted]"})),
    (
        BlockCompleted("t", "b", TOOL),
        BlockCompleted("t", "b", {**TOOL, "error": {"why": ["[redacted]", 1, None]}}),
    ),
    (
        BlockUpdated("t", "b", {"output": SECRET, "error_json": f'"{SECRET}"'}),
        BlockUpdated("t", "b", {"output": SECRET, "error_json": '"[redacted]"'}),
    ),
    (BlockStarted("t", PROSE), BlockStarted("t", PROSE)),
    (BlockCompleted("t", "b"), BlockCompleted("t", "b")),
    (BlockUpdated("t", "b", {"output": SECRET}), BlockUpdated("t", "b", {"output": SECRET})),
    (BlockDelta("t", "b", "markdown", SECRET), BlockDelta("t", "b", "markdown", SECRET)),
]


@pytest.mark.parametrize(("event", "expected"), CASES)
def test_only_diagnostics_are_redacted(event: StreamEvent, expected: StreamEvent) -> None:
    assert redact_event(event, redact) == expected


def test_a_message_from_elsewhere_is_redacted_and_one_of_ours_comes_back_equal() -> None:
    message: Message = {"id": "m", "role": "user", "content": [PROSE, ERROR, TOOL]}

    kept = redact_message(message, redact)

    assert kept["content"] == [
        PROSE,
        {**ERROR, "message": "key [redacted]"},
        {**TOOL, "error": {"why": ["[redacted]", 1, None]}},
    ]
    assert redact_message(kept, redact) == kept
