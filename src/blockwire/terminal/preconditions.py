"""Rule 1: every rule about which operation is allowed when lives in :data:`PRECONDITIONS`.

Spec: docs/spec/terminal/errors.md, "Order of the checks"; a test compares its table with this one.
A check looks, and changes nothing but the work sheet that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from blockwire.terminal.content import Content
from blockwire.terminal.contexts import Block, Context, Ledger
from blockwire.terminal.messages import (
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    Operation,
)
from blockwire.terminal.vocabulary import OperationErrorCode, OperationKind

Precondition: TypeAlias = Literal[
    "context open",
    "ids left",
    "operation new",
    "block new",
    "block found",
    "block mutable",
    "block retained",
    "type available",
    "base current",
    "shape",
    "boundary",
    "resources",
]

# Checked left to right; the first that fails is the one reported.
PRECONDITIONS: Final[Mapping[OperationKind, tuple[Precondition, ...]]] = MappingProxyType(
    {
        "block.append": (
            "context open", "ids left", "operation new", "block new", "type available", "shape",
            "resources",
        ),
        "block.update": (
            "context open", "ids left", "operation new", "block found", "block mutable",
            "block retained", "type available", "shape", "resources",
        ),
        "block.extend": (
            "context open", "ids left", "operation new", "block found", "block mutable",
            "block retained", "base current", "shape", "resources",
        ),
        "block.replace_suffix": (
            "context open", "ids left", "operation new", "block found", "block mutable",
            "block retained", "base current", "shape", "boundary", "resources",
        ),
        "block.seal": (
            "context open", "ids left", "operation new", "block found", "block mutable",
        ),
    }
)  # fmt: skip

# What is answered when a check fails.
FAILURES: Final[Mapping[Precondition, OperationErrorCode]] = MappingProxyType(
    {
        "context open": "context_not_open",
        "ids left": "resource_exhausted",
        "operation new": "operation_id_reused",
        "block new": "block_id_reused",
        "block found": "block_not_found",
        "block mutable": "block_sealed",
        "block retained": "resource_exhausted",
        "type available": "unsupported_content_type",
        "base current": "content_state_mismatch",
        "shape": "invalid_content",
        "boundary": "invalid_content_boundary",
        "resources": "resource_exhausted",
    }
)


class Sheet(Struct, eq=False, gc=False):
    """What the checks of one operation look at, and what they have found for its commit.

    Attributes:
        context: Named by the operation, if it ever was.
        block: Named by the operation, if it is there.
        content: Of an append or update, made for the check of resources.
        revision: Of the ledger when it was looked at.
    """

    ledger: Ledger
    operation: Any
    context: Context | None
    block: Block | None
    revision: int
    content: Content | None = None


def _is_context_open(sheet: Sheet) -> bool:
    return sheet.context is not None and sheet.context.state == "open"


def _are_ids_left(sheet: Sheet) -> bool:
    assert sheet.context is not None, "checked before"
    return sheet.ledger.can_record(sheet.context, sheet.operation.operation_id)


def _is_operation_new(sheet: Sheet) -> bool:
    assert sheet.context is not None, "checked before"
    return sheet.operation.operation_id not in sheet.context.operation_ids


def _is_block_new(sheet: Sheet) -> bool:
    return sheet.block is None


def _is_block_found(sheet: Sheet) -> bool:
    return sheet.block is not None


def _is_block_mutable(sheet: Sheet) -> bool:
    assert sheet.block is not None, "checked before"
    return sheet.block.lifecycle == "mutable"


def _is_block_retained(sheet: Sheet) -> bool:
    assert sheet.block is not None, "checked before"
    return sheet.block.content is not None


def _is_type_available(sheet: Sheet) -> bool:
    return sheet.operation.body.content.type in sheet.ledger.content_types


def _is_base_current(sheet: Sheet) -> bool:
    assert sheet.block is not None, "checked before"
    return bool(sheet.operation.body.base_operation_id == sheet.block.content_state)


def _is_data_valid(sheet: Sheet) -> bool:
    snapshot = sheet.operation.body.content
    return sheet.ledger.content_types[snapshot.type].refuse_data(snapshot.data) is None


def _is_fragment_valid(sheet: Sheet) -> bool:
    return _content(sheet).refuse_extend(sheet.operation.body.fragment) is None


def _is_replacement_valid(sheet: Sheet) -> bool:
    body = sheet.operation.body
    refusal = _content(sheet).refuse_replace_suffix(body.retain, body.replacement)
    return refusal != FAILURES["shape"]


def _is_boundary_inside(sheet: Sheet) -> bool:
    retain: int = sheet.operation.body.retain
    return retain < _content(sheet).scalar_count


def _has_room_for_block(sheet: Sheet) -> bool:
    context = sheet.context
    assert context is not None, "checked before"
    limits = sheet.ledger.limits
    return (
        len(sheet.operation.body.block_id) <= limits.id_chars_max
        and len(context.blocks) < limits.blocks_max
        and sheet.ledger.block_count < limits.connection_blocks_max
        and _has_room_for_content(sheet)
    )


def _has_room_for_content(sheet: Sheet) -> bool:
    snapshot = sheet.operation.body.content
    sheet.content = sheet.ledger.content_types[snapshot.type].new_content(snapshot.data)
    old = sheet.block and sheet.block.content
    old_bytes = old.cost_bytes if old else 0
    return _has_room(sheet, old_bytes, sheet.content.cost_bytes - old_bytes)


def _has_room_for_fragment(sheet: Sheet) -> bool:
    content = _content(sheet)
    growth_bytes = content.growth_bytes(content.scalar_count, sheet.operation.body.fragment)
    return _has_room(sheet, content.cost_bytes, growth_bytes)


def _has_room_for_replacement(sheet: Sheet) -> bool:
    content = _content(sheet)
    body = sheet.operation.body
    growth_bytes = content.growth_bytes(body.retain, body.replacement)
    return _has_room(sheet, content.cost_bytes, growth_bytes)


def _has_room(sheet: Sheet, block_bytes: int, growth_bytes: int) -> bool:
    assert sheet.context is not None, "checked before"
    limits = sheet.ledger.limits
    # What is there is within the limits, so what does not grow is, too.
    return (
        block_bytes + growth_bytes <= limits.block_bytes_max
        and sheet.context.cost_bytes + growth_bytes <= limits.context_bytes_max
        and sheet.ledger.cost_bytes + growth_bytes <= limits.connection_bytes_max
    )


def _content(sheet: Sheet) -> Content:
    assert sheet.block is not None, "checked before"
    assert sheet.block.content is not None, "checked before"
    return sheet.block.content


Check: TypeAlias = Callable[[Sheet], bool]

_CHECKS: Final[Mapping[Precondition, Check]] = MappingProxyType(
    {
        "context open": _is_context_open,
        "ids left": _are_ids_left,
        "operation new": _is_operation_new,
        "block new": _is_block_new,
        "block found": _is_block_found,
        "block mutable": _is_block_mutable,
        "block retained": _is_block_retained,
        "type available": _is_type_available,
        "base current": _is_base_current,
        "boundary": _is_boundary_inside,
    }
)

# What is looked at depends on what an operation carries.
_CHECKS_OF_KIND: Final[Mapping[tuple[OperationKind, Precondition], Check]] = MappingProxyType(
    {
        ("block.append", "shape"): _is_data_valid,
        ("block.update", "shape"): _is_data_valid,
        ("block.extend", "shape"): _is_fragment_valid,
        ("block.replace_suffix", "shape"): _is_replacement_valid,
        ("block.append", "resources"): _has_room_for_block,
        ("block.update", "resources"): _has_room_for_content,
        ("block.extend", "resources"): _has_room_for_fragment,
        ("block.replace_suffix", "resources"): _has_room_for_replacement,
    }
)

_OPERATION_TYPES: Final[Mapping[OperationKind, type[Operation]]] = MappingProxyType(
    {
        "block.append": BlockAppend,
        "block.update": BlockUpdate,
        "block.extend": BlockExtend,
        "block.replace_suffix": BlockReplaceSuffix,
        "block.seal": BlockSeal,
    }
)

CHECKS: Final[Mapping[type[Operation], tuple[tuple[Check, OperationErrorCode], ...]]] = (
    MappingProxyType(
        {
            _OPERATION_TYPES[kind]: tuple(
                (_CHECKS.get(name) or _CHECKS_OF_KIND[kind, name], FAILURES[name]) for name in names
            )
            for kind, names in PRECONDITIONS.items()
        }
    )
)
"""The table, ready to be run: type of operation -> checks and what is answered when one fails."""
