"""What an application learns from its terminal, in order.

Spec: docs/spec/terminal/application.md, "Events".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from blockwire.terminal.detection import NoQueryReason
from blockwire.terminal.vocabulary import ControlErrorCode, OperationErrorCode

if TYPE_CHECKING:
    from blockwire.terminal.blocks import BlockHandle, ContextHandle

__all__ = [
    "BlockFailed",
    "ContextEnded",
    "ContextLost",
    "ContextReady",
    "ContextRefused",
    "Input",
    "Negotiated",
    "NegotiationReason",
    "News",
]

NegotiationReason: TypeAlias = (
    Literal["supported", "unsupported", "refused", "device_answered", "no_answer", "end_of_input"]
    | NoQueryReason
)
LossCode: TypeAlias = OperationErrorCode | ControlErrorCode | Literal["no_answer", "end_of_input"]


class Input(Struct, frozen=True):
    """Bytes that were typed or pasted: the program's own input, with nothing of ours in it."""

    data: bytes


class Negotiated(Struct, frozen=True):
    """It is decided, for the whole connection, how Blocks are shown.

    Attributes:
        is_supported: By the terminal; else by the fallback.
        optional_content_types: What the terminal advertises beside ``text/plain``.
        reason: Why.
    """

    is_supported: bool
    optional_content_types: tuple[str, ...]
    reason: NegotiationReason


class ContextReady(Struct, frozen=True):
    """A Context can take Blocks."""

    context: ContextHandle


class ContextRefused(Struct, frozen=True):
    """A Context has not come into being."""

    context: ContextHandle
    code: LossCode


class ContextEnded(Struct, frozen=True):
    """A Context is closed: everything before is done, and what was mutable is sealed."""

    context: ContextHandle


class ContextLost(Struct, frozen=True):
    """A Context takes nothing any more, and how its Blocks look nobody knows."""

    context: ContextHandle
    code: LossCode


class BlockFailed(Struct, frozen=True):
    """What the terminal shows of a Block is not its content, and cannot be made so."""

    block: BlockHandle
    code: LossCode


News: TypeAlias = (
    Input | Negotiated | ContextReady | ContextRefused | ContextEnded | ContextLost | BlockFailed
)
