"""One event stream: what a connection has been handed, and how it is kept up to date.

Spec: docs/spec/gateway/stream.md.

A stream is *live* while its readers stand at the end of their rings; then the hub writes to it
directly. The write is the server's ``send``, stepped once by hand: nearly always it is done with
that. When it is not, because the peer does not read, the stream becomes *busy*: a task waits for
the peer, reads the log where the ring has moved on, and ends when the stream is live again. So a
stream costs a task only while it is behind, a slow peer delays nobody, and no stream holds more
than :data:`STREAM_BYTES_MAX` plus one event:

* a server makes us wait above 64 KiB of unsent bytes;
* a live write is at most 64 KiB, and so is the one that may be waiting after it;
* a larger one is composed only when the server has room again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final

from blockwire.content import View
from blockwire.errors import BlockwireError
from blockwire.gateway.reading import NO_WAY_ON
from blockwire.gateway.streams.catchup import merge_frames, relabel_frames
from blockwire.gateway.streams.direct import DirectWriter, direct_writer
from blockwire.gateway.streams.hub import Hub, deleted_frame
from blockwire.gateway.streams.ring import PIECE_BYTES_MAX
from blockwire.gateway.streams.source import Audience, StreamSource
from blockwire.gateway.streams.stepping import Step, rest_of

__all__ = ["LOG_PAGE_BYTES", "STREAM_BYTES_MAX", "SseReader", "SseStream"]

STREAM_BYTES_MAX: Final = 256 * 1024
"""What one connection holds at most, besides one event (docs/spec/gateway/stream.md)."""

LOG_PAGE_BYTES: Final = STREAM_BYTES_MAX - 64 * 1024
"""Bytes of one page of the log: what is left beside the server's own 64 KiB."""

MERGE_EVENTS_MIN: Final = 16
"""Events in a page from which on merging saves a reader that fell behind more than it costs."""

_NOTHING: Final[dict[str, Any]] = {"type": "http.response.body", "body": b"", "more_body": True}
_THE_END: Final[dict[str, Any]] = {"type": "http.response.body", "body": b"", "more_body": False}

_log: Final = logging.getLogger(__name__)

_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class SseReader:
    """One conversation on a stream.

    Attributes:
        cursor: Everything up to this seq was handed over, or is withheld from the view.
        position: The same in the channel's ring, while the stream is live.
        is_synced: The log was read to its end after the channel was opened, so that the ring can
            take over.
        was_live: It has been at the end before, so it is behind because its peer is slow.
    """

    __slots__ = ("channel", "cursor", "hub", "is_synced", "position", "stream", "was_live")

    def __init__(self, stream: SseStream, hub: Hub, conversation_id: str) -> None:
        self.stream = stream
        self.hub = hub
        self.cursor = 0
        self.position = 0
        self.is_synced = False
        self.was_live = False
        self.channel = hub.open_channel(conversation_id, self)

    def write_new(self) -> None:
        """Hand over what the ring holds after this reader's position; never raises."""
        try:
            self._write_new()
        except Exception as error:  # noqa: BLE001 - all other readers have their turn after this
            _log.error("a stream ends early: %s", type(error).__name__)
            self.stream.cut()

    def _write_new(self) -> None:
        stream = self.stream
        ring = self.channel.ring
        while self.position != ring.end and not stream.is_busy:
            piece = ring.piece(self.position, stream.view)
            if piece is None or piece.length_bytes > PIECE_BYTES_MAX:
                stream.become_busy()
                return
            if piece.first_seq <= self.cursor:
                # Published after the log was read, which had it already.
                position = ring.position_after(self.cursor)
                assert position is not None, "an entry before the cursor is held"
                self.position = position
                continue
            self.position = piece.end
            self.cursor = piece.seq
            if piece.length_bytes:
                direct = stream.direct
                if direct is None or not direct.write(piece.chunk):
                    stream.hand_over(piece.message, self)
                else:
                    stream.quiet_since_s = self.hub.now_s
            if piece.ends_turn and stream.until_idle and not stream.is_busy:
                stream.become_busy()

    def tell(self, frame: bytes) -> None:
        """Hand over a frame that has no number; nothing while the stream is busy."""
        if not self.stream.is_busy:
            self.stream.hand_over({**_NOTHING, "body": frame}, self)
        if self.stream.until_idle:
            # It may have told that nothing waits any more; what else is told now comes first.
            asyncio.get_running_loop().call_soon(self._look_whether_idle)

    def _look_whether_idle(self) -> None:
        if not self.stream.is_busy:
            self.stream.become_busy()

    def end_deleted(self) -> None:
        """Tell that the conversation is gone, and end when it was the last."""
        if not self.stream.is_busy:
            self.stream.become_busy()

    @property
    def is_current(self) -> bool:
        """Whether all that was committed and published has been handed over."""
        if not self.is_synced:
            return False
        position = self.channel.ring.position_after(self.cursor)
        if position is None:
            return False
        self.position = position
        return position == self.channel.ring.end


class SseStream:
    """One connection with one reader or several.

    Attributes:
        readers: By conversation, in the order in which they were asked for.
        view: What this audience may see.
        until_idle: End when all is handed over and no turn runs.
        is_busy: A task works for this stream, or it has not begun or is over.
        direct: Where live writes of a plain stream may go instead of through ``send``.
        is_closed: Nothing is written any more.
        is_cut: The stream gave up its own request.
        quiet_since_s: See :class:`~blockwire.gateway.streams.hub.LiveStream`.
    """

    __slots__ = (
        "_audience", "_hub", "_is_labelled", "_request", "_send", "_source", "_task", "direct",
        "is_busy", "is_closed", "is_cut", "quiet_since_s", "readers", "until_idle", "view",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - where to listen, to what, for whom
        self,
        hub: Hub,
        source: StreamSource,
        conversation_ids: Sequence[str],
        audience: Audience,
        *,
        until_idle: bool = False,
        is_labelled: bool = False,
    ) -> None:
        """Join the channels of the conversations; :meth:`start` begins to write.

        Args:
            hub: Where to listen.
            source: The log.
            conversation_ids: At least one, all different; they need not exist.
            audience: Who reads.
            until_idle: See the attribute.
            is_labelled: ``id:`` is the list of all cursors.
        """
        self._hub = hub
        self._source = source
        self._audience = audience
        self._is_labelled = is_labelled
        self._send: _Send | None = None
        self._request: asyncio.Task[Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self.view: View = audience.view
        self.until_idle = until_idle
        self.is_busy = True
        self.direct: DirectWriter | None = None
        self.is_closed = False
        self.is_cut = False
        self.quiet_since_s = 0.0
        self.readers = [SseReader(self, hub, name) for name in conversation_ids]

    def start(self, send: _Send) -> None:
        """Begin: read the log from each reader's cursor, then go live.

        Called by the task that serves the request, which then waits for the peer to leave.
        """
        self._send = send
        self.direct = None if self._is_labelled else direct_writer(send)
        self._request = asyncio.current_task()
        if self._hub.is_stopping:
            # It began to stop while this stream was opening, and did not know of it.
            self.is_busy = False
            self.end_soon()
            return
        self._hub.add_stream(self)
        self.become_busy()

    def close(self) -> None:
        """Let go of everything at once. Harmless when repeated."""
        if self.is_closed:
            return
        self.is_closed = True
        self.is_busy = True
        self._hub.remove_stream(self)
        for reader in self.readers:
            if self._task is not None:
                reader.channel.busy_count -= 1
            reader.channel.remove(reader)
        # They know this stream: all would wait for the collector of cycles, which hardly runs.
        self.readers, self.direct, self._request = [], None, None
        task, self._task, self._send = self._task, None, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def write_beat(self, message: dict[str, Any]) -> None:
        """Hand over a comment; nothing while busy, for then bytes are waiting already."""
        if not self.is_busy:
            self._step(message)

    def end_soon(self) -> None:
        """End the stream. A busy one is cut off: its peer does not read, and has its cursor."""
        if not self.is_busy:
            self._step(_THE_END)
        (self.cut if self.is_busy else self.close)()

    def cut(self) -> None:
        """Give up the connection: its peer has its cursor."""
        request, self.is_cut = self._request, True
        self._hub.dropped_count += not self.is_closed
        self.close()
        if request is not None:
            request.cancel()

    # live ---------------------------------------------------------------------------------
    def hand_over(self, message: dict[str, Any], reader: SseReader) -> None:
        """Write ``reader``'s frames; if the server makes us wait, a task goes on from there."""
        if self._is_labelled:
            message = {**message, "body": self.framed(message["body"], reader)}
        self._step(message)

    def _step(self, message: MutableMapping[str, Any]) -> None:
        assert self._send is not None, "only live streams are written to"
        self.quiet_since_s = self._hub.now_s
        step: Step = self._send(message).__await__()
        try:
            waits_for = next(step)
        except StopIteration:
            return
        except OSError:
            # The peer is gone (ASGI 2.4); the request's own task hears of it too.
            self.close()
            return
        self.become_busy(rest_of(step, waits_for))

    def become_busy(self, rest: Awaitable[None] | None = None) -> None:
        """Let a task finish the write and bring every reader to the end of its log."""
        for reader in self.readers:
            reader.channel.busy_count += 1
        self.is_busy = True
        # A bare task: it outlives the callback that found the peer slow, and there is no task
        # group around a callback. The stream keeps the reference and cancels it when it closes.
        self._task = asyncio.get_running_loop().create_task(self._work(rest))

    # busy ---------------------------------------------------------------------------------
    async def _work(self, rest: Awaitable[None] | None) -> None:
        try:
            if rest is not None:
                await rest
            while await self._advance():
                pass
        except OSError:
            # The peer is gone (ASGI 2.4); the request's own task hears of it too.
            self.close()
        except Exception as error:  # noqa: BLE001 - whatever it was, no peer may wait for ever
            code = error.code if isinstance(error, BlockwireError) else type(error).__name__
            _log.error("a stream ends early: %s", code)
            await self._end()

    async def _advance(self) -> bool:
        """Do one thing that is left to do; return False when the stream is live, or over.

        Between the last look at the rings and the moment at which the stream is live nothing is
        awaited, so no entry can come in between.
        """
        for reader in self.readers:
            if reader.channel.is_deleted:
                return await self._end_reader(reader)
            if not reader.is_current:
                await self._bring_forward(reader)
                return True
        if self.until_idle:
            if await self._is_idle():
                await self._end()
                return False
            if not all(reader.is_current for reader in self.readers):
                return True
        for reader in self.readers:
            reader.was_live = True
            reader.channel.busy_count -= 1
        self._task = None
        self.is_busy = False
        return False

    async def _is_idle(self) -> bool:
        is_idle = True
        for reader in self.readers:
            name = reader.channel.conversation_id
            try:
                head = await self._source.head(name, self._audience.tenant)
            except BlockwireError:
                # Gone in the meantime; the notice is on its way.
                return False
            if reader.cursor < head.head_seq:
                # Committed and not published yet: the log has it.
                reader.is_synced = False
                is_idle = False
            is_idle = is_idle and not (head.running_turn_ids or head.has_queue)
        return is_idle and all(reader.is_current for reader in self.readers)

    async def _bring_forward(self, reader: SseReader) -> None:
        """Hand over the next stretch: from the ring where it reaches back far enough."""
        await self._write(b"")
        ring = reader.channel.ring
        position = ring.position_after(reader.cursor) if reader.is_synced else None
        if position is not None:
            piece = ring.piece(position, self.view) if position != ring.end else None
            if piece is not None:
                reader.cursor = piece.seq
                await self._write_frames(piece.message["body"], reader)
            return
        await self._write_page(reader)

    async def _write_page(self, reader: SseReader) -> None:
        name = reader.channel.conversation_id
        try:
            page = await self._source.store.read_frames(
                name, reader.cursor, view=self.view, bytes_max=LOG_PAGE_BYTES
            )
        except BlockwireError as error:
            if error.code not in NO_WAY_ON:
                raise
            frame, reader.cursor = await self._source.snapshot_frame(name, self.view, reset=False)
            await self._write_frames(frame, reader)
            return
        reader.cursor = page.last_seq
        reader.is_synced = page.at_end
        frames = page.frames
        if reader.was_live and page.count >= MERGE_EVENTS_MIN:
            frames = merge_frames(frames)
        del page
        await self._write_frames(frames, reader)

    async def _write_frames(self, frames: bytes, reader: SseReader) -> None:
        if not frames:
            return
        frames = self.framed(frames, reader)
        await self._write(frames)
        if len(frames) > PIECE_BYTES_MAX:
            # Wait for room before anything else is composed.
            del frames
            await self._write(b"")

    async def _write(self, body: bytes) -> None:
        """Write ``body``; nothing is a barrier: it waits until the server has room."""
        if self._send is not None:
            self.quiet_since_s = self._hub.now_s if body else self.quiet_since_s
            await self._send({**_NOTHING, "body": body} if body else _NOTHING)

    async def _end_reader(self, reader: SseReader) -> bool:
        self.readers.remove(reader)
        reader.channel.busy_count -= 1
        reader.channel.remove(reader)
        await self._write(deleted_frame(reader.channel.conversation_id))
        if not self.readers:
            await self._end()
        return not self.is_closed

    async def _end(self) -> None:
        if self._send is not None:
            await self._send(_THE_END)
        self.close()

    def framed(self, frames: bytes, reader: SseReader) -> bytes:
        """Return ``frames`` of ``reader`` as they go out on this stream.

        On one of several conversations each ``id`` carries the cursors of all: ``a:12,b:3``.
        """
        if not self._is_labelled:
            return frames
        own = self.readers.index(reader)
        cursors = [f"{other.channel.conversation_id}:{other.cursor}" for other in self.readers]
        before = ",".join([*cursors[:own], f"{reader.channel.conversation_id}:"])
        after = "".join(f",{cursor}" for cursor in cursors[own + 1 :])
        return relabel_frames(frames, before.encode(), after.encode())
