"""What waits to be written: operations that may still be joined, requests, and ordinary output.

Spec: docs/spec/terminal/application.md, "Joining" and "Healing". Ids are given when something is
written and not before; so what was joined or healed meanwhile has none, and none is used twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from blockwire.terminal.bounds import PROTOCOL_VERSION
from blockwire.terminal.codec import encode_message
from blockwire.terminal.content import Content, Data
from blockwire.terminal.cutting import cut_data, join_data, json_bytes
from blockwire.terminal.framing import FrameIds, encode_frames
from blockwire.terminal.messages import (
    AppendBody,
    BlockAppend,
    BlockExtend,
    BlockReplaceSuffix,
    BlockSeal,
    BlockUpdate,
    ContentSnapshot,
    ContextClose,
    ExtendBody,
    Operation,
    ReplaceSuffixBody,
    Request,
    SealBody,
    UpdateBody,
    WireMessage,
)
from blockwire.terminal.vocabulary import Lifecycle

__all__ = ["JOINED_BYTES_MAX", "OPERATION_COST_BYTES", "Outgoing", "Sent"]

JOINED_BYTES_MAX: Final = 65_536
"""JSON bytes up to which fragments are joined: enough to make frames worth it."""

OPERATION_COST_BYTES: Final = 200
"""What an operation counts beside its content, among what waits."""

ChangeKind: TypeAlias = Literal["append", "update", "extend", "replace_suffix", "seal", "heal"]

_CONTENT_KINDS: Final = frozenset({"append", "update", "extend", "replace_suffix"})
"""An extend may be written as the end of these, and an update instead of them."""


class Sent(Struct, eq=False, kw_only=True):
    """What a Block is on the wire.

    Attributes:
        number: Its place among the Blocks of its Context, from 1; begins its operation ids.
        content: What the terminal should have; None once nothing can heal it any more.
        count: Operations that have been written; the last one's number.
        base: The content state: the id of the operation that changed the content last.
        healed_at: Number of the update that healed it last, and of its last extend if it was
            long; ``(0, 0)`` before.
        is_healing: Whether such an update waits to be written.
    """

    context_id: str
    block_id: str
    number: int
    type: str
    content: Content | None
    count: int = 0
    base: str = ""
    healed_at: tuple[int, int] = (0, 0)
    is_healing: bool = False

    def next_id(self) -> str:
        """Return a fresh operation id; never the same again."""
        self.count += 1
        return f"{self.number}.{self.count}"


class _Change(Struct, eq=False, kw_only=True):
    """An operation that has no id yet."""

    kind: ChangeKind
    sent: Sent
    type: str
    fragments: list[Data]
    size_bytes: int
    retain: int = 0
    lifecycle: Lifecycle = "mutable"

    @property
    def cost_bytes(self) -> int:
        return self.size_bytes + OPERATION_COST_BYTES


class _Bytes(Struct, eq=False):
    """Ordinary output of the program."""

    data: bytes


class Outgoing:
    """A queue that is emptied by each write; its order is the order on the wire."""

    def __init__(self) -> None:
        self._queue: deque[_Change | _Bytes | Request] = deque()
        self._frame_ids = FrameIds()
        self._waiting_bytes = 0

    @property
    def waiting_bytes(self) -> int:
        """About how many bytes the next write has."""
        return self._waiting_bytes

    def add_bytes(self, data: bytes) -> None:
        """Write ``data`` as it is."""
        if data:
            self._queue.append(_Bytes(data))
            self._waiting_bytes += len(data)

    def add_request(self, request: Request) -> None:
        """Ask something."""
        self._queue.append(request)
        self._waiting_bytes += OPERATION_COST_BYTES

    def append(self, sent: Sent, data: Data, lifecycle: Lifecycle) -> None:
        """Add a Block."""
        first, *rest = cut_data(data)
        self._add("append", sent, first, lifecycle="mutable" if rest else lifecycle)
        for piece in rest:
            self._add("extend", sent, piece)
        if rest and lifecycle == "sealed":
            self.seal(sent)

    def update(self, sent: Sent, data: Data) -> None:
        """Replace a Block's content; what it makes pointless is not written."""
        if sent.is_healing:
            return
        first, *rest = cut_data(data)
        if not rest and (last := self._last_of(sent)) and last.kind in _CONTENT_KINDS:
            self._waiting_bytes -= last.cost_bytes
            last.kind = "append" if last.kind == "append" else "update"
            last.type, last.fragments, last.size_bytes = sent.type, [first], json_bytes(first)
            self._waiting_bytes += last.cost_bytes
            return
        self._add("update", sent, first)
        for piece in rest:
            self._add("extend", sent, piece)

    def extend(self, sent: Sent, fragment: Data) -> None:
        """Add to a Block's content, with what was added just before if that still waits."""
        if sent.is_healing:
            return
        for piece in cut_data(fragment):
            size_bytes = json_bytes(piece)
            last = self._last_of(sent)
            if (
                last
                and last.kind in _CONTENT_KINDS
                and last.size_bytes + size_bytes <= JOINED_BYTES_MAX
            ):
                last.fragments.append(piece)
                last.size_bytes += size_bytes
                self._waiting_bytes += size_bytes
            else:
                self._add("extend", sent, piece)

    def replace_suffix(self, sent: Sent, retain: int, replacement: Data) -> None:
        """Replace the end of a Block's content."""
        if sent.is_healing:
            return
        first, *rest = cut_data(replacement)
        self._add("replace_suffix", sent, first, retain=retain)
        for piece in rest:
            self._add("extend", sent, piece)

    def seal(self, sent: Sent) -> None:
        """Seal a Block, after all that was done to it."""
        self._add("seal", sent, "")

    def heal(self, sent: Sent) -> None:
        """Write the whole content once, instead of what waits to change it.

        It takes its place before the seal or the end of the Context, if one of these waits.
        """
        assert sent.content is not None, "it can still be healed"
        self._drop(lambda it: it.sent is sent and it.kind != "seal")
        sent.is_healing = True
        change = _Change(
            kind="heal",
            sent=sent,
            type=sent.type,
            fragments=[],
            size_bytes=sent.content.cost_bytes,
        )
        self._queue.insert(self._end_of(sent), change)
        self._waiting_bytes += change.cost_bytes

    def holds_close(self, context_id: str) -> bool:
        """Tell whether the end of a Context still waits, so that something can go before it."""
        return any(
            isinstance(it, ContextClose) and it.context_id == context_id for it in self._queue
        )

    def drop(self, sent: Sent) -> None:
        """Write nothing more about a Block."""
        self._drop(lambda it: it.sent is sent)

    def drop_context(self, context_id: str) -> None:
        """Write nothing more about the Blocks of a Context."""
        self._drop(lambda it: it.sent.context_id == context_id)

    def take(self) -> bytes:
        """Return everything that waits, as bytes for one write."""
        queue, self._queue = self._queue, deque()
        self._waiting_bytes = 0
        written: list[bytes] = []
        for item in queue:
            if isinstance(item, _Bytes):
                written.append(item.data)
            elif isinstance(item, _Change):
                written += map(self._framed, _operations(item))
            else:
                written.append(self._framed(item))
        return b"".join(written)

    def _framed(self, message: WireMessage) -> bytes:
        return encode_frames(encode_message(message), self._frame_ids.next())

    def _add(
        self,
        kind: ChangeKind,
        sent: Sent,
        data: Data,
        *,
        retain: int = 0,
        lifecycle: Lifecycle = "mutable",
    ) -> None:
        change = _Change(
            kind=kind,
            sent=sent,
            type=sent.type,
            fragments=[data],
            size_bytes=json_bytes(data),
            retain=retain,
            lifecycle=lifecycle,
        )
        self._queue.append(change)
        self._waiting_bytes += change.cost_bytes

    def _last_of(self, sent: Sent) -> _Change | None:
        # Only the very last: joining across something else would change what is seen between.
        last = self._queue[-1] if self._queue else None
        return last if isinstance(last, _Change) and last.sent is sent else None

    def _drop(self, is_dropped: Callable[[_Change], bool]) -> None:
        kept = [it for it in self._queue if not (isinstance(it, _Change) and is_dropped(it))]
        self._waiting_bytes -= sum(
            it.cost_bytes for it in self._queue if isinstance(it, _Change) and is_dropped(it)
        )
        self._queue = deque(kept)

    def _end_of(self, sent: Sent) -> int:
        for index, item in enumerate(self._queue):
            if isinstance(item, _Change):
                if item.sent is sent:
                    return index
            elif isinstance(item, ContextClose) and item.context_id == sent.context_id:
                return index
        return len(self._queue)


def _operations(change: _Change) -> Iterator[Operation]:
    """Yield the messages of one change, and note in its Block that they are on their way."""
    sent = change.sent
    if change.kind == "heal":
        yield from _healing(sent)
        return
    base, operation_id = sent.base, sent.next_id()
    if change.kind != "seal":
        sent.base = operation_id
    if change.kind == "seal" or change.lifecycle == "sealed":
        sent.content = None
    yield _operation(change, base, operation_id, join_data(change.fragments))


def _healing(sent: Sent) -> Iterator[Operation]:
    assert sent.content is not None, "only what can be healed waits to be healed"
    pieces = cut_data(sent.content.data())
    sent.is_healing = False
    sent.healed_at = (sent.count + 1, sent.count + len(pieces))
    for index, piece in enumerate(pieces):
        change = _Change(
            kind="extend" if index else "update",
            sent=sent,
            type=sent.type,
            fragments=[piece],
            size_bytes=0,
        )
        yield from _operations(change)


def _operation(change: _Change, base: str, operation_id: str, data: Data) -> Operation:
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
