"""What a projector asks of whoever holds terminal Blocks.

Spec: docs/spec/rendering/projector.md, "Operations". One for each method of
``terminal.ContextHandle`` and ``terminal.BlockHandle``; the names of Blocks are the projector's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from blockwire.terminal import Data

__all__ = [
    "AppendBlock",
    "BlockOperation",
    "ExtendBlock",
    "ReplaceSuffix",
    "SealBlock",
    "UpdateBlock",
]


@dataclass(frozen=True, slots=True)
class AppendBlock:
    """A new Block at the tail, which may change.

    Attributes:
        name: Unique for the projector; every later operation names it so.
        type: The content type of its data, for good.
        data: As the type says.
    """

    name: str
    type: str
    data: Data


@dataclass(frozen=True, slots=True)
class ExtendBlock:
    """More at the end of a Block; never empty."""

    name: str
    fragment: Data


@dataclass(frozen=True, slots=True)
class ReplaceSuffix:
    """Something else behind the first ``retain`` scalars (at least 1); perhaps nothing."""

    name: str
    retain: int
    replacement: Data


@dataclass(frozen=True, slots=True)
class UpdateBlock:
    """Other data of the same type."""

    name: str
    data: Data


@dataclass(frozen=True, slots=True)
class SealBlock:
    """No change any more."""

    name: str


BlockOperation: TypeAlias = AppendBlock | ExtendBlock | ReplaceSuffix | UpdateBlock | SealBlock
