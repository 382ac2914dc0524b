# ruff: noqa: D102, D103, INP001 - a program beside its data, not a package
"""Write the session vectors of terminal blocks: conversations, and what a terminal answers.

Usage: ``python -m vectors.generate_terminal_session [FOLDER]``. All that is expected is written by
hand in ``terminal_session_inputs``; of blockwire only the framing is used.
``vectors/terminal/README.md`` says how a row is read.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

from blockwire.terminal.framing import encode_frames
from vectors.terminal_session_inputs import PLAIN, SCRIPTS, Record, Script, Step

FOLDER: Final = Path(__file__).parent / "terminal"

_RESPONSES: Final = {
    "capability.query": "capability.response",
    "context.open": "context.open.response",
    "context.close": "context.close.response",
}
_OUTCOMES: Final = frozenset({"supported", "unsupported", "opened", "closed"})


class Answers:
    """What comes back, with the ids that it repeats and those of Contexts in order."""

    def __init__(self, optional_content_types: list[str]) -> None:
        self._optional_content_types = optional_content_types
        self._context_ids: dict[str, str] = {}

    def to(self, message: Record, expected: str) -> Record:
        version, kind = message["version"], message["kind"]
        if kind not in _RESPONSES:
            names = ("operation_id", "context_id")
            return {"version": 1, "kind": "protocol.error", **_some(message, names),
                    "body": {"code": expected}}  # fmt: skip
        answer = {"version": version, "kind": _RESPONSES[kind],
                  **_some(message, ("request_id", "context_id"))}  # fmt: skip
        if expected == "opened":
            known = self._context_ids
            request_id = message["request_id"]
            answer["context_id"] = known.setdefault(request_id, f"context-{len(known) + 1}")
        if expected not in _OUTCOMES:
            return {**answer, "body": {"outcome": "error", "error": {"code": expected}}}
        body: Record = {"outcome": expected}
        if expected == "supported":
            body["optional_content_types"] = self._optional_content_types
        return {**answer, "body": body}


def _some(message: Record, names: tuple[str, ...]) -> Record:
    return {name: message[name] for name in names if name in message}


def step_row(step: Step, answers: Answers, frame_ids: Iterator[int]) -> Record:
    if step.host:
        return {**step.host, "out": []}
    send: Record
    if step.raw:
        data = b"".join(
            part.encode() if isinstance(part, str) else _frames(part, next(frame_ids))
            for part in step.raw
        )
        send = {"raw": True}
    elif step.text:
        data = encode_frames(step.text.encode(), next(frame_ids))
        send = {"json": step.text}
    else:
        assert step.message is not None
        data = _frames(step.message, next(frame_ids))
        send = {"message": step.message}
    asked = step.message or step.identity or {}
    out = [*step.answered, *(answers.to(asked, expected) for expected in step.expected)]
    row: Record = {"send": send, "bytes_base64": base64.b64encode(data).decode(), "out": out}
    if step.others:
        row["acceptable_codes"] = list(step.others)
    kind = asked.get("kind", "")
    if not step.expected and "operation_id" in asked and kind in _ACCEPTED and not step.text:
        row["accepted_operation_ids"] = [asked["operation_id"]]
    return row


_ACCEPTED: Final = frozenset(
    f"block.{name}" for name in ("append", "update", "extend", "replace_suffix", "seal")
)


def _frames(message: Record, frame_id: int) -> bytes:
    return encode_frames(_compact(message), frame_id)


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def script_row(script: Script) -> Record:
    options = {"complete_baseline_supported": True, **script.options}
    answers = Answers(options.get("optional_content_types", []))
    frame_ids = count(1)
    return {
        "name": script.name,
        "group": script.group,
        "requirement": list(script.requirement),
        "normative": True,
        "options": options,
        "steps": [step_row(step, answers, frame_ids) for step in script.steps],
        "final_contexts": [
            {"id": f"context-{number}", "state": state,
             "blocks": [_block_row(*block) for block in blocks]}
            for number, (state, blocks) in enumerate(script.final, start=1)
        ],
    }  # fmt: skip


def _block_row(
    block_id: str, lifecycle: str, data: Any, content_state: str, type_name: str = PLAIN
) -> Record:
    return {"id": block_id, "lifecycle": lifecycle, "type": type_name, "data": data,
            "content_state": content_state}  # fmt: skip


def session_text() -> bytes:
    return b"".join(_compact(script_row(script)) + b"\n" for script in SCRIPTS)


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "session.jsonl").write_bytes(session_text())


if __name__ == "__main__":
    main(sys.argv[1:])
