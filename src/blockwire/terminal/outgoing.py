"""What waits to be written: operations that may still be joined, requests, and ordinary output.

Spec: docs/spec/terminal/application.md, "Joining" and "Healing". Ids are given when something is
written and not before; so what was joined or healed meanwhile has none, and none is used twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from blockwire.terminal.codec import encode_message
from blockwire.terminal.content import Data
from blockwire.terminal.cutting import cut_data, json_bytes
from blockwire.terminal.framing import FrameIds, encode_frames
from blockwire.terminal.messages import ContextClose, Request, WireMessage
from blockwire.terminal.sent import OPERATION_COST_BYTES, Change, ChangeKind, Sent, operations_of
from blockwire.terminal.vocabulary import Lifecycle

__all__ = ["JOINED_BYTES_MAX", "Outgoing"]

JOINED_BYTES_MAX: Final = 65_536
"""JSON bytes up to which fragments are joined: enough to make frames worth it."""

_CONTENT_KINDS: Final = frozenset({"append", "update", "extend", "replace_suffix"})
"""An extend may be written as the end of these, and an update instead of them."""


class _Bytes(Struct, eq=False):
    """Ordinary output of the program."""

    data: bytes


class _Close(Struct, eq=False):
    """The end of a Context, and what is to be written just before it."""

    request: ContextClose
    first: list[Change]


class Outgoing:
    """A queue that is emptied by each write; its order is the order on the wire."""

    def __init__(self) -> None:
        self._queue: list[Change | _Bytes | _Close | Request] = []
        self._closes: dict[str, _Close] = {}
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
        if isinstance(request, ContextClose):
            close = self._closes[request.context_id] = _Close(request, [])
            self._queue.append(close)
        else:
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
        if sent.healing is not None:
            self._fit(sent.healing)
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
        if sent.healing is not None:
            self._fit(sent.healing)
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
        if sent.healing is not None:
            self._fit(sent.healing)
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
        seal = sent.waiting[-1] if sent.waiting and sent.waiting[-1].kind == "seal" else None
        self._drop(it for it in sent.waiting if it is not seal)
        sent.waiting = [] if seal is None else [seal]
        change = sent.healing = Change(
            kind="heal",
            sent=sent,
            type=sent.type,
            fragments=[],
            size_bytes=sent.content.cost_bytes,
        )
        self._waiting_bytes += change.cost_bytes
        if seal is not None:
            seal.first = change
        elif (close := self._closes.get(sent.context_id)) is not None:
            close.first.append(change)
        else:
            self._queue.append(change)

    def holds_close(self, context_id: str) -> bool:
        """Tell whether the end of a Context still waits, so that something can go before it."""
        return context_id in self._closes

    def drop(self, sent: Sent) -> None:
        """Write nothing more about a Block."""
        self._drop(sent.waiting)
        sent.waiting = []
        if sent.healing is not None:
            self._drop([sent.healing])
            sent.healing = None

    def take(self) -> bytes:
        """Return everything that waits, as bytes for one write."""
        queue, self._queue = self._queue, []
        self._closes.clear()
        self._waiting_bytes = 0
        written: list[bytes] = []
        for item in queue:
            if isinstance(item, _Bytes):
                written.append(item.data)
            elif isinstance(item, Change):
                written += map(self._framed, operations_of(item))
            elif isinstance(item, _Close):
                for change in item.first:
                    written += map(self._framed, operations_of(change))
                written.append(self._framed(item.request))
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
        change = Change(
            kind=kind,
            sent=sent,
            type=sent.type,
            fragments=[data],
            size_bytes=json_bytes(data),
            retain=retain,
            lifecycle=lifecycle,
        )
        self._queue.append(change)
        sent.waiting.append(change)
        self._waiting_bytes += change.cost_bytes

    def _fit(self, healing: Change) -> None:
        # What changes meanwhile goes into it, and has to be counted as what waits.
        assert healing.sent.content is not None, "it can still be healed"
        self._waiting_bytes -= healing.size_bytes
        healing.size_bytes = healing.sent.content.cost_bytes
        self._waiting_bytes += healing.size_bytes

    def _last_of(self, sent: Sent) -> Change | None:
        # Only the very last: joining across something else would change what is seen between.
        last = self._queue[-1] if self._queue else None
        return last if isinstance(last, Change) and last.sent is sent else None

    def _drop(self, changes: Iterable[Change]) -> None:
        # They keep their place: looking for it takes time that grows with all that waits.
        for change in changes:
            change.is_dropped = True
            change.fragments = []
            self._waiting_bytes -= change.cost_bytes
        while self._queue and isinstance(last := self._queue[-1], Change) and last.is_dropped:
            self._queue.pop()
