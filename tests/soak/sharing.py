"""Work that many readers have in common is done once; whoever stands elsewhere does its own.

Readers of one conversation in one view get the same bytes. What these decode to, and what a state
becomes by an event, depends on nothing else, so one process keeps the newest of both.
"""

from __future__ import annotations

from typing import Final, Generic, NamedTuple, TypeVar

from blockwire.content import ConversationSnapshot, StreamEvent, decode_event
from blockwire.jsontext import decode_json
from blockwire.sse import SseDecoder, SseEvent
from tests.soak.wire import Body

PIECES_MAX: Final = 4_096
PIECE_BYTES_MAX: Final = 16_384
EVENTS_MAX: Final = 16_384
EVENT_CHARS_MAX: Final = 16_384

_UNNUMBERED: Final = frozenset({"subscription.ready", "turn.queued", "conversation.deleted"})
_READY: Final = "subscription.ready"

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A map of what was put or asked for last: at least ``count_max`` entries, at most twice that."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._new: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return what was put under ``key``, unless that is too long ago."""
        value = self._new.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Remember ``value``."""
        if len(self._new) >= self._count_max:
            self._old, self._new = self._new, {}
        self._new[key] = value


class Known(NamedTuple):
    """What the data of an event says."""

    conversation_id: str
    # None where the event has no number.
    event: StreamEvent | None
    # Of a ``subscription.ready``.
    head_seq: int | None
    is_reset: bool


class Item(NamedTuple):
    """One event of a stream.

    Attributes:
        cursor: Its id, where that is one number.
    """

    type: str
    known: Known
    event_id: str
    cursor: int | None


class Decoding:
    """What bytes decode to, for all readers of a process."""

    def __init__(self) -> None:
        self.pieces: Recent[bytes, tuple[Item, ...]] = Recent(PIECES_MAX)
        self._events: Recent[tuple[str, str], Known] = Recent(EVENTS_MAX)

    def item(self, read: SseEvent) -> Item:
        """Return what was read; equal data gives the same event object."""
        key = read.type, read.data
        known = self._events.get(key)
        if known is None:
            known = _decode(read)
            if len(read.data) <= EVENT_CHARS_MAX:
                self._events.put(key, known)
        event_id = read.last_event_id
        cursor = int(event_id) if event_id.isdecimal() else None
        return Item(read.type, known, event_id, cursor)


def _decode(read: SseEvent) -> Known:
    value = decode_json(read.data.encode())
    assert isinstance(value, dict), "events are objects"
    conversation_id = str(value.get("conversation_id"))
    if read.type in _UNNUMBERED:
        head_seq = value["head_seq"] if read.type == _READY else None
        assert head_seq is None or isinstance(head_seq, int), "documented"
        return Known(conversation_id, None, head_seq, False)
    event = decode_event(value)
    is_reset = isinstance(event, ConversationSnapshot) and value.get("reset") is True
    return Known(conversation_id, event, None, is_reset)


class Feed:
    """The bytes of one connection to events.

    Attributes:
        body: Of the answer.
        refused: The body of an answer that is no stream.
    """

    def __init__(self, decoding: Decoding, canary: bytes) -> None:
        self._decoding = decoding
        self._canary = canary
        self._tail = b""
        self._decoder = SseDecoder()
        # Whether all bytes so far are whole events in whole chunks.
        self._is_between = False
        self.body = Body()
        self.refused = b""
        self.saw_canary = False

    def receive(self, data: bytes) -> tuple[Item, ...]:
        """Return the events that ``data`` completes."""
        if self._canary in data:
            self.saw_canary = True
        was_between = self._is_between
        if was_between:
            known = self._decoding.pieces.get(data)
            if known is not None:
                return known
        payload = self.body.receive(data)
        # It may be spread over pieces, or over chunks.
        seam = self._tail + payload
        if self._canary in seam:
            self.saw_canary = True
        self._tail = seam[-len(self._canary) :]
        if self.body.status != 200:
            self.refused += payload
            return ()
        items = tuple(self._items(payload))
        self._is_between = (
            self.body.is_between_chunks
            and payload.endswith(b"\n\n")
            and not self._decoder.retained_bytes
        )
        if was_between and self._is_between and len(data) <= PIECE_BYTES_MAX:
            self._decoding.pieces.put(data, items)
        return items

    def _items(self, payload: bytes) -> list[Item]:
        items = []
        for read in self._decoder.receive_data(payload):
            assert isinstance(read, SseEvent), "nothing here is that large"
            items.append(self._decoding.item(read))
        return items
