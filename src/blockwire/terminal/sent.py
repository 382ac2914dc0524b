"""What a Block is on the wire, and how a change of it becomes operations.

Spec: docs/spec/terminal/application.md, "Contexts and Blocks" and "Healing". Ids are given here,
when something is written and not before; so what was joined or healed meanwhile has none, and none
is used twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.content import Content, Data
from blockwire.terminal.cutting import cut_data, join_data
from blockwire.terminal.messages import (
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    ContentSnapshot,
    ExtendBody,
    Operation,
    ReplaceSuffixBody,
    SealBody,
    UpdateBody,
)
from blockwire.terminal.vocabulary import Lifecycle

__all__ = ["OPERATION_COST_BYTES", "Change", "ChangeKind", "Sent", "operations_of"]

OPERATION_COST_BYTES: Final = 200
"""What an operation counts beside its content, among what waits."""

ChangeKind: TypeAlias = Literal["append", "update", "extend", "replace_suffix", "seal", "heal"]


class Sent(Struct, eq=False, kw_only=True):
    """What a Block is on the wire.

    Attributes:
        number: Its place among the Blocks of its Context, from 1; begins its operation ids.
        content: What the terminal should have; None once nothing can heal it any more.
        count: Operations that have been written; the last one's number.
        base: The content state: the id of the operation that changed the content last.
        healed_at: Number of the update that healed it last, and of its last extend if it was
            long; ``(0, 0)`` before.
        healing: Such an update that waits to be written.
        waiting: Other changes that do.
    """

    context_id: str
    block_id: str
    number: int
    type: str
    content: Content | None
    count: int = 0
    base: str = ""
    healed_at: tuple[int, int] = (0, 0)
    healing: Change | None = None
    waiting: list[Change] = field(default_factory=list)

    def next_id(self) -> str:
        """Return a fresh operation id; never the same again."""
        self.count += 1
        return f"{self.number}.{self.count}"


class Change(Struct, eq=False, kw_only=True):
    """An operation that has no id yet.

    Attributes:
        size_bytes: Of its content.
        first: What is to be written just before it.
        is_dropped: Whether nothing is to be written any more.
    """

    kind: ChangeKind
    sent: Sent
    type: str
    fragments: list[Data]
    size_bytes: int
    retain: int = 0
    lifecycle: Lifecycle = "mutable"
    first: Change | None = None
    is_dropped: bool = False

    @property
    def cost_bytes(self) -> int:
        """What it counts among what waits."""
        return self.size_bytes + OPERATION_COST_BYTES


def operations_of(change: Change) -> Iterator[Operation]:
    """Yield the messages of one change, and note in its Block that they are on their way."""
    if change.is_dropped:
        return
    if change.first is not None:
        yield from operations_of(change.first)
    sent = change.sent
    if change.kind == "heal":
        yield from _healing(sent)
        return
    sent.waiting.clear()
    base, operation_id = sent.base, sent.next_id()
    if change.kind != "seal":
        sent.base = operation_id
    if change.kind == "seal" or change.lifecycle == "sealed":
        sent.content = None
    yield _operation(change, base, operation_id, join_data(change.fragments))


def _healing(sent: Sent) -> Iterator[Operation]:
    assert sent.content is not None, "only what can be healed waits to be healed"
    pieces = cut_data(sent.content.data())
    sent.healing = None
    sent.healed_at = (sent.count + 1, sent.count + len(pieces))
    for index, piece in enumerate(pieces):
        change = Change(
            kind="extend" if index else "update",
            sent=sent,
            type=sent.type,
            fragments=[piece],
            size_bytes=0,
        )
        yield from operations_of(change)


def _operation(change: Change, base: str, operation_id: str, data: Data) -> Operation:
    sent = change.sent
    snapshot = ContentSnapshot(type=change.type, data=data)
    body: AppendBody | UpdateBody | ExtendBody | ReplaceSuffixBody | SealBody
    match change.kind:
        case "append":
            body = AppendBody(block_id=sent.block_id, lifecycle=change.lifecycle, content=snapshot)
        case "update":
            body = UpdateBody(block_id=sent.block_id, content=snapshot)
        case "extend":
            body = ExtendBody(block_id=sent.block_id, base_operation_id=base, fragment=data)
        case "replace_suffix":
            body = ReplaceSuffixBody(
                block_id=sent.block_id,
                base_operation_id=base,
                retain=change.retain,
                replacement=data,
            )
        case _:
            body = SealBody(block_id=sent.block_id)
    message: Operation = _MESSAGES[change.kind](
        version=PROTOCOL_VERSION,
        operation_id=operation_id,
        context_id=sent.context_id,
        body=body,
    )
    return message


_MESSAGES: Final[Mapping[ChangeKind, type[Any]]] = MappingProxyType(
    {
        "append": BlockAppend,
        "update": BlockUpdate,
        "extend": BlockExtend,
        "replace_suffix": BlockReplaceSuffix,
        "seal": BlockSeal,
    }
)
