"""Rows about the content of one Block, whose length is asked after every step.

Spec: docs/spec/terminal/tools.md, "Vectors".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from blockwire.conform.answers import compare, plain, response
from blockwire.conform.connection import Connection, Mismatch
from blockwire.conform.probes import block_probes, operation, try_operation, try_probes
from blockwire.conform.shape import fragment_text

__all__ = ["play_algebra"]

PLAIN: Final = "text/plain"
_CHANGE_MEMBERS: Final = {"extend": "fragment", "retain": "retain", "replacement": "replacement"}
"""Of a step, and what it is called in a body."""


def play_algebra(row: Mapping[str, Any], connection: Connection, tag: str) -> None:
    """Play a row about the content of one Block; its length shows after every step."""
    context_id = _open_context(connection, tag)
    block_id, state = f"{tag}-block", f"{tag}-0"
    snapshot = {"type": row["type"], "data": row["data"]}
    append = {"block_id": block_id, "lifecycle": "mutable", "content": snapshot}
    try_operation(connection, operation("block.append", context_id, state, append), row["code"])
    if row["code"] is not None:
        return
    text = fragment_text(row["data"], row["type"])
    for number, step in enumerate(row["steps"], 1):
        kind = "block.extend" if "extend" in step else "block.replace_suffix"
        change = {name: step[key] for key, name in _CHANGE_MEMBERS.items() if key in step}
        body = {"block_id": block_id, "base_operation_id": state, **change}
        message = operation(kind, context_id, f"{tag}-{number}", body)
        try:
            try_operation(connection, message, step["code"])
            if step["code"] is None:
                state, text = message["operation_id"], step["text"]
            body = {"retain": len(text), "replacement": "" if row["type"] == PLAIN else []}
            body |= {"block_id": block_id, "base_operation_id": state}
            probe = operation("block.replace_suffix", context_id, f"{tag}-{number}-p", body)
            try_operation(connection, probe, "invalid_content_boundary")
        except Mismatch as mismatch:
            raise Mismatch(f"step {number}: {mismatch.detail}") from None
    block = {"id": block_id, "lifecycle": "mutable", "content_state": state}
    block |= {"type": row["type"], "data": row["content"]}
    try_probes(connection, context_id, tag, block_probes(block))


def _open_context(connection: Connection, tag: str) -> str:
    request = {"version": 1, "kind": "context.open", "request_id": f"{tag}-open", "body": {}}
    replies = connection.ask(connection.encode(request))
    opened = response(request, {"outcome": "opened"}) | {"context_id": None}
    compare([plain(reply) for reply in replies], [opened])
    context_id: str = replies[0]["context_id"]
    if context_id in connection.opened:
        raise Mismatch(f"the id {context_id} of a Context was given before")
    connection.opened.add(context_id)
    return context_id
