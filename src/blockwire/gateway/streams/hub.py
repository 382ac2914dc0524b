"""Live fan-out: who reads which conversation, when to write to them, and heartbeats.

Spec: docs/spec/gateway/stream.md.

One subscription to the bus feeds a :class:`Channel` for each conversation that somebody reads. What
was committed since the last pass goes out in one pass over the readers, some hundred to a turn of
the event loop, and readers at the same position are handed the same bytes. An idle reader has no
task and no timer of its own: it is an entry in a dict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from blockwire.gateway.access.limits import HEARTBEAT_S
from blockwire.gateway.streams.ring import Ring
from blockwire.jsontext import Json, encode_json
from blockwire.ports import Bus, BusNotice, Clock, Committed
from blockwire.sse import encode_comment, encode_sse

__all__ = ["Channel", "Hub", "LiveReader", "LiveStream", "Readers", "deleted_frame"]

BEATS_PER_HEARTBEAT: Final = 15
"""Looks at who is silent within that time; a comment comes at most one of them early."""

SLICE_READERS: Final = 500
"""Readers served in one turn of the event loop: 5,000 at once would hold it for 10-20 ms."""

TICK_READERS_MIN: Final = 100
"""Readers from which on a conversation is big enough to wait for the tick."""

_LINE_EVENTS: Final = {"queued": "turn.queued", "dequeued": "turn.dequeued"}
"""What live readers hear of the line of turns, by kind of notice."""

_HEARTBEAT: Final[dict[str, Any]] = {
    "type": "http.response.body",
    "body": encode_comment(),
    "more_body": True,
}


class LiveReader(Protocol):
    """One conversation on one connection, as its channel sees it.

    Attributes:
        channel: Whose it is.
        cursor: Everything up to this seq was handed over.
    """

    channel: Channel
    cursor: int

    def write_new(self) -> None:
        """Hand over what the ring holds after the reader's position; nothing while it is busy."""
        ...

    def tell(self, frame: bytes) -> None:
        """Hand over a frame that has no number; nothing while it is busy."""
        ...

    def end_deleted(self) -> None:
        """Tell that the conversation is gone, and end."""
        ...


class LiveStream(Protocol):
    """One connection, as the hub sees it.

    Attributes:
        quiet_since_s: :attr:`Hub.now_s` when something was last written.
        is_busy: It is not live: behind, or about to be.
    """

    quiet_since_s: float
    is_busy: bool

    @property
    def readers(self) -> Sequence[LiveReader]:
        """One for each conversation."""
        ...

    def write_beat(self, message: dict[str, Any]) -> None:
        """Hand over a comment; nothing while it is busy."""
        ...

    def end_soon(self) -> None:
        """End, the cursor intact."""
        ...


class Readers(NamedTuple):
    """How the readers are doing.

    Attributes:
        connected: Open connections.
        lagging: Of these, those that are behind.
        lag_events: Events by which the last one is.
        dropped: Connections that were cut off since the start.
    """

    connected: int
    lagging: int
    lag_events: int
    dropped: int


def deleted_frame(conversation_id: str) -> bytes:
    """Return the frame that tells a live reader that the conversation is gone; it has no id."""
    event: dict[str, Json] = {"type": "conversation.deleted", "conversation_id": conversation_id}
    return encode_sse(encode_json(event), event="conversation.deleted")


class Channel:
    """The readers of one conversation, and the ring that they read from.

    Attributes:
        conversation_id: Whose entries these are.
        ring: What was committed since the channel was opened.
        busy_count: Readers that write or read the log right now; they may still need the ring.
        is_deleted: The conversation is gone.
    """

    __slots__ = (
        "_hub", "_is_due", "_is_passing", "_readers", "busy_count", "conversation_id",
        "is_deleted", "ring",
    )  # fmt: skip

    def __init__(self, hub: Hub, conversation_id: str) -> None:
        self._hub = hub
        self._is_due = False
        self._is_passing = False
        self._readers: dict[LiveReader, None] = {}
        self.busy_count = 0
        self.conversation_id = conversation_id
        self.is_deleted = False
        self.ring = Ring()

    def add(self, reader: LiveReader) -> None:
        """Begin to write to ``reader``."""
        self._readers[reader] = None

    def remove(self, reader: LiveReader) -> None:
        """Forget ``reader``, and the channel with its last one. Harmless when repeated."""
        self._readers.pop(reader, None)
        if not self._readers:
            self._hub.close_channel(self)

    def take(self, notice: Committed) -> None:
        """Keep what was committed, and write it to the readers soon."""
        if self.ring.extend(notice.entries) and not self._is_due:
            self._is_due = True
            if not self._is_passing:
                self._is_passing = True
                self._hub.soon(self._start_pass, reader_count=len(self._readers))

    def tell(self, frame: bytes) -> None:
        """Write a frame without a number to whoever reads live."""
        for reader in list(self._readers):
            reader.tell(frame)

    def delete(self) -> None:
        """End every reader."""
        self.is_deleted = True
        for reader in list(self._readers):
            reader.end_deleted()

    def _start_pass(self) -> None:
        # What is committed from here on gets the next pass: this one may be half through.
        self._is_due = False
        self._continue_pass(list(self._readers), 0)

    def _continue_pass(self, readers: Sequence[LiveReader], start: int) -> None:
        end = start + SLICE_READERS
        for reader in readers[start:end]:
            reader.write_new()
        if end < len(readers):
            asyncio.get_running_loop().call_soon(self._continue_pass, readers, end)
        elif self._is_due:
            self._hub.soon(self._start_pass, reader_count=len(self._readers))
        else:
            self._is_passing = False
            if self.busy_count == 0:
                self.ring.clear()


class Hub:
    """All live readers of this process.

    Attributes:
        now_s: Monotonic time of the last beat; precise enough for silence, and free to read.
        dropped_count: Connections that were cut off.
    """

    def __init__(
        self, bus: Bus, clock: Clock, *, tick_ms: int = 0, heartbeat_s: float = HEARTBEAT_S
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._tick_s = tick_ms / 1000
        self._beat_period_s = heartbeat_s / BEATS_PER_HEARTBEAT
        self._silence_s = heartbeat_s - self._beat_period_s
        self._channels: dict[str, Channel] = {}
        self._streams: dict[LiveStream, None] = {}
        self._unsubscribe: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.is_stopping = False
        self.dropped_count = 0
        self.now_s = clock.monotonic_s()

    @property
    def stream_count(self) -> int:
        """Open connections."""
        return len(self._streams)

    @property
    def channel_count(self) -> int:
        """Conversations with a reader."""
        return len(self._channels)

    def readers(self) -> Readers:
        """Return how the readers are doing; looks at each of them."""
        lags = [
            max((r.channel.ring.last_seq - r.cursor for r in stream.readers), default=0)
            for stream in self._streams
            if stream.is_busy
        ]
        behind = [lag for lag in lags if lag > 0]
        return Readers(len(self._streams), len(behind), max(behind, default=0), self.dropped_count)

    def start(self) -> None:
        """Listen to the bus, and begin to beat. Needs a running event loop."""
        self._unsubscribe = self._bus.subscribe(self._deliver)
        self._arm()

    def stop(self) -> None:
        """End every stream with its cursor intact, and let go of bus and timer."""
        self.is_stopping = True
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for stream in list(self._streams):
            stream.end_soon()

    def open_channel(self, conversation_id: str, reader: LiveReader) -> Channel:
        """Return the channel of the conversation with ``reader`` on it.

        From now on the ring holds what is committed, so ``reader`` loses nothing when it reads the
        log to its end first and then goes on from the ring.
        """
        channel = self._channels.get(conversation_id)
        if channel is None:
            channel = self._channels[conversation_id] = Channel(self, conversation_id)
        channel.add(reader)
        return channel

    def close_channel(self, channel: Channel) -> None:
        """Forget a channel that nobody reads."""
        if self._channels.get(channel.conversation_id) is channel:
            del self._channels[channel.conversation_id]

    def add_stream(self, stream: LiveStream) -> None:
        """Begin to watch over the silence of ``stream``."""
        stream.quiet_since_s = self.now_s
        self._streams[stream] = None

    def remove_stream(self, stream: LiveStream) -> None:
        """Forget ``stream``. Harmless when repeated."""
        self._streams.pop(stream, None)

    def soon(self, start: Callable[[], None], *, reader_count: int) -> None:
        """Call ``start`` once the current turn of the loop is over, or with the tick."""
        loop = asyncio.get_running_loop()
        if self._tick_s and reader_count >= TICK_READERS_MIN:
            loop.call_later(self._tick_s, start)
        else:
            loop.call_soon(start)

    def beat(self) -> None:
        """Write a comment to every stream that was silent for long enough."""
        self.now_s = self._clock.monotonic_s()
        # A hair of tolerance: fifteen fifteenths do not add up to one in binary.
        threshold_s = self.now_s - self._silence_s + self._beat_period_s / 100
        silent = [stream for stream in self._streams if stream.quiet_since_s <= threshold_s]
        self._write_beats(silent, 0)

    def _write_beats(self, silent: Sequence[LiveStream], start: int) -> None:
        end = start + SLICE_READERS
        for stream in silent[start:end]:
            stream.write_beat(_HEARTBEAT)
        if end < len(silent):
            asyncio.get_running_loop().call_soon(self._write_beats, silent, end)

    def _arm(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._beat_period_s, self._on_timer)

    def _on_timer(self) -> None:
        self.beat()
        self._arm()

    def _deliver(self, notice: BusNotice) -> None:
        channel = self._channels.get(notice.conversation_id)
        if channel is None:
            return
        if isinstance(notice, Committed):
            channel.take(notice)
        elif notice.kind == "deleted":
            # Whoever comes from now on gets a channel of its own, and a 404.
            del self._channels[notice.conversation_id]
            channel.delete()
        elif notice.kind in _LINE_EVENTS:
            channel.tell(encode_sse(notice.payload, event=_LINE_EVENTS[notice.kind]))
