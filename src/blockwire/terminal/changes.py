"""What happens once it is allowed: Contexts come and go, Blocks appear, grow and are sealed.

Spec: docs/spec/terminal/operations.md. Nothing here asks whether; that is over.
"""

from __future__ import annotations

from blockwire.terminal.content import Content
from blockwire.terminal.contexts import Block, Context, Ledger
from blockwire.terminal.effects import (
    BlockAppended,
    BlockExtended,
    BlockSealed,
    BlockSuffixReplaced,
    BlockUpdated,
    Change,
    ContextClosed,
    ContextOpened,
)
from blockwire.terminal.messages import (
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    Closed,
    ContextCloseResponse,
    ContextOpenResponse,
    Opened,
    Operation,
    Response,
)
from blockwire.terminal.preconditions import Sheet


def change_context(ledger: Ledger, response: Response) -> tuple[Change, ...]:
    """Do what the answer to a new request says is done."""
    match response.body:
        case Opened():
            assert isinstance(response, ContextOpenResponse), "nothing else is opened"
            assert response.context_id, "what is opened has an id"
            ledger.contexts[response.context_id] = Context(response.context_id)
            ledger.open_count += 1
            return (ContextOpened(response.context_id),)
        case Closed():
            assert isinstance(response, ContextCloseResponse), "nothing else is closed"
            return close_context(ledger, ledger.contexts[response.context_id])
        case _:
            return ()


def close_context(ledger: Ledger, context: Context) -> tuple[Change, ...]:
    """Seal what is mutable in an open Context, and take no more."""
    if context.state != "open":
        return ()
    changes: list[Change] = []
    for block in context.blocks.values():
        if block.lifecycle == "mutable":
            block.lifecycle = "sealed"
            changes.append(BlockSealed(block, None))
    ledger.leave_open(context, "closed")
    return (*changes, ContextClosed(context.context_id))


def do_operation(ledger: Ledger, sheet: Sheet) -> Change:
    """Change what the operation changes. All checks have passed."""
    context = sheet.context
    assert context is not None, "checked before"
    operation: Operation = sheet.operation
    ledger.add_operation_id(context, operation.operation_id)
    if isinstance(operation, BlockAppend):
        return _append(ledger, operation, context, sheet)
    block = sheet.block
    assert block is not None, "checked before"
    if isinstance(operation, BlockSeal):
        block.lifecycle = "sealed"
        return BlockSealed(block, operation.operation_id)
    return _change_content(ledger, operation, context, block, sheet.content)


def _change_content(
    ledger: Ledger,
    operation: BlockExtend | BlockReplaceSuffix | BlockUpdate,
    context: Context,
    block: Block,
    new_content: Content | None,
) -> Change:
    content = block.content
    assert content is not None, "checked before"
    operation_id = operation.operation_id
    old_bytes = content.cost_bytes
    change: Change
    if isinstance(operation, BlockExtend):
        fragment = operation.body.fragment
        change = BlockExtended(block, operation_id, content.scalar_count, fragment)
        content.extend(fragment)
    elif isinstance(operation, BlockReplaceSuffix):
        body = operation.body
        change = BlockSuffixReplaced(block, operation_id, body.retain, body.replacement)
        content.replace_suffix(body.retain, body.replacement)
    else:
        change = BlockUpdated(block, operation_id)
        assert new_content is not None, "made by the check of resources"
        content = block.content = new_content
        block.content_type = operation.body.content.type
    block.content_state = operation_id
    ledger.count(context, content.cost_bytes - old_bytes)
    return change


def _append(
    ledger: Ledger, operation: BlockAppend, context: Context, sheet: Sheet
) -> BlockAppended:
    body = operation.body
    assert sheet.content is not None, "made by the check of resources"
    block = Block(
        context.context_id, body.block_id, body.content.type, sheet.content,
        operation.operation_id, body.lifecycle,
    )  # fmt: skip
    context.blocks[body.block_id] = block
    ledger.count_id(context, len(body.block_id))
    ledger.block_count += 1
    ledger.count(context, sheet.content.cost_bytes)
    return BlockAppended(block, operation.operation_id)
