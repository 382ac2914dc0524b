"""What a right terminal would hold and answer, while an application is judged.

Spec: docs/spec/terminal/operations.md. It is asked about operations whose form is valid; of the
content it keeps the logical text, which is what positions count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from blockwire.conform.shape import fragment_text
from blockwire.conform.wire import Message

__all__ = ["Block", "Context", "find_refusal", "perform"]

LINES: Final = "text/lines"
PLAIN: Final = "text/plain"


@dataclass(slots=True)
class Block:
    """One Block.

    Attributes:
        of_type: Its content type.
        text: Its logical text.
        state: Id of the operation that its content comes from.
        is_sealed: Whether it is.
    """

    of_type: str
    text: str
    state: str
    is_sealed: bool


@dataclass(slots=True)
class Context:
    """One Context: its Blocks, and the operation ids that are used up."""

    is_open: bool = True
    blocks: dict[str, Block] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def find_refusal(context: Context | None, message: Message, types: tuple[str, ...]) -> str | None:
    """Return the code that an operation is refused with; None if it is not."""
    body = message["body"]
    if context is None or not context.is_open:
        return "context_not_open"
    if message["operation_id"] in context.used:
        return "operation_id_reused"
    block = context.blocks.get(body["block_id"])
    if message["kind"] == "block.append":
        return _refused_type(body, types) if block is None else "block_id_reused"
    return _refused_to(block, message, types)


def _refused_to(block: Block | None, message: Message, types: tuple[str, ...]) -> str | None:
    if block is None or block.is_sealed:
        return "block_not_found" if block is None else "block_sealed"
    if message["kind"] == "block.update":
        return _refused_type(message["body"], types)
    return None if message["kind"] == "block.seal" else _refused_change(block, message["body"])


def _refused_type(body: dict[str, Any], types: tuple[str, ...]) -> str | None:
    return None if body["content"]["type"] in types else "unsupported_content_type"


def _refused_change(block: Block, body: dict[str, Any]) -> str | None:
    if body["base_operation_id"] != block.state:
        return "content_state_mismatch"
    piece = body.get("fragment", body.get("replacement"))
    if not _fits(piece, block.of_type):
        return "invalid_content"
    if "retain" in body and body["retain"] >= len(block.text):
        return "invalid_content_boundary"
    return None


def _fits(piece: Any, of_type: str) -> bool:
    if isinstance(piece, str) or of_type == PLAIN:
        return isinstance(piece, str) and of_type == PLAIN
    return all(("spans" in item) == (of_type == LINES) for item in piece)


def perform(context: Context, message: Message) -> None:
    """Do an operation that is not refused."""
    body, operation_id = message["body"], message["operation_id"]
    context.used.add(operation_id)
    if message["kind"] == "block.append":
        content = body["content"]
        text = fragment_text(content["data"], content["type"])
        is_sealed = body["lifecycle"] == "sealed"
        context.blocks[body["block_id"]] = Block(content["type"], text, operation_id, is_sealed)
        return
    block = context.blocks[body["block_id"]]
    match message["kind"]:
        case "block.seal":
            block.is_sealed = True
            return
        case "block.update":
            block.of_type = body["content"]["type"]
            block.text = fragment_text(body["content"]["data"], block.of_type)
        case "block.extend":
            block.text += fragment_text(body["fragment"], block.of_type)
        case _:
            kept = block.text[: body["retain"]]
            block.text = kept + fragment_text(body["replacement"], block.of_type)
    block.state = operation_id
