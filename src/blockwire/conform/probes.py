"""Questions whose answers show what a terminal holds: state, lifecycle, content state, type, length.

Spec: docs/spec/terminal/tools.md, "What is made visible".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from blockwire.conform.answers import compare, failure, plain
from blockwire.conform.connection import Connection
from blockwire.conform.shape import fragment_text
from blockwire.conform.wire import Message

__all__ = ["block_probes", "context_probes", "operation", "try_operation", "try_probes"]

PLAIN: Final = "text/plain"
Probe: TypeAlias = tuple[str, Message, str | None]
"""Kind and body of an operation, and the code that it has to be answered with, if any."""


def operation(kind: str, context_id: str, operation_id: str, body: Message) -> Message:
    """Return an operation as a message."""
    ids = {"operation_id": operation_id, "context_id": context_id}
    return {"version": 1, "kind": kind, **ids, "body": body}


def try_operation(connection: Connection, message: Message, code: str | None) -> None:
    """Send an operation; ``code`` is what it has to be refused with, if anything."""
    replies = [plain(reply) for reply in connection.ask(connection.encode(message))]
    compare(replies, [] if code is None else [failure(message, code)])


def try_probes(
    connection: Connection,
    context_id: str,
    tag: str,
    probes: Iterable[Probe],
) -> None:
    """Send probes in one write, and compare the answers."""
    data, expected = [], []
    for number, (kind, body, code) in enumerate(probes):
        message = operation(kind, context_id, f"{tag}-probe-{number}", body)
        data.append(connection.encode(message))
        if code is not None:
            expected.append(failure(message, code))
    compare([plain(reply) for reply in connection.ask(b"".join(data))], expected)


def context_probes(context: Mapping[str, Any]) -> Iterator[Probe]:
    """Yield operations whose answers show state, lifecycle, content state, type and length."""
    if context["state"] != "open":
        yield "block.seal", {"block_id": "any"}, "context_not_open"
        return
    for block in context["blocks"]:
        yield from block_probes(block)


def block_probes(block: Mapping[str, Any]) -> Iterator[Probe]:
    """Yield operations on one Block with the code that each has to be answered with, if any."""
    block_id = block.get("id", block.get("block_id"))
    if block["lifecycle"] == "sealed":
        yield "block.seal", {"block_id": block_id}, "block_sealed"
        return
    target = {"block_id": block_id, "base_operation_id": block["content_state"]}
    is_plain = block["type"] == PLAIN
    text = fragment_text(block["data"], block["type"])
    other_shape: Any = [{"text": "x"}] if is_plain else "x"
    yield "block.extend", {**target, "fragment": other_shape}, "invalid_content"
    empty: Any = "" if is_plain else []
    beyond = {"retain": len(text), "replacement": empty}
    yield "block.replace_suffix", {**target, **beyond}, "invalid_content_boundary"
    if text:
        # The same text again: it is accepted only where there is a last scalar to replace.
        last = {"retain": len(text) - 1, "replacement": _piece(text[-1], block["type"])}
        yield "block.replace_suffix", {**target, **last}, None
        stale = {"retain": 0, "replacement": empty}
        yield "block.replace_suffix", {**target, **stale}, "content_state_mismatch"


def _piece(scalar: str, of_type: str) -> Any:
    if of_type == PLAIN:
        return scalar
    if of_type == "text/styled":
        return [{"text": scalar}]
    return [{"spans": []}, {"spans": []}] if scalar == "\n" else [{"spans": [{"text": scalar}]}]
