"""One conversation read to its end over as many connections as it takes; bytes in, effects out.

Spec: docs/spec/gateway/stream.md; docs/spec/content/reducer.md.

A :class:`Subscription` opens no connection and reads no clock. Its driver does what the effects
say: hands on what was received, connects anew after a pause, stops. What must outlive a connection
lives here: the state with its cursor, the pauses, the bounds.

What happens when:

========================================  ====================================================
an event that was seen already            nothing
an event that does not fit, or is no JSON  a new connection with a snapshot, so often at most
an event that is too large                one report; reading goes on after it
cut, clean end, silence, 408, 429, 5xx    a new connection from the cursor, after a pause
204                                       the end
any other answer, a deletion              the end, with an error
========================================  ====================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple, TypeAlias

from blockwire.client.failures import (
    PROTOCOL_HEADER,
    ClientError,
    check_protocol,
    connection_lost,
    is_passing,
    refusal,
    unexpected,
)
from blockwire.client.settings import ClientSettings
from blockwire.client.timing import pause_s
from blockwire.content import (
    ConversationSnapshot,
    ConversationState,
    StreamEvent,
    TurnEnded,
    UnknownEvent,
    View,
    advance,
    apply,
    decode_event,
    settle_blocks,
)
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import ENVELOPED_DEPTH_MAX, decode_json
from blockwire.sse import SseDecoder, SseEvent, SseEventTooLarge, SseItem
from blockwire.text import label_controls

__all__ = [
    "Effect",
    "Failed",
    "Finished",
    "Received",
    "Reconnect",
    "Reported",
    "StreamRequest",
    "Subscription",
]

RETRY_S_MIN: Final = 0.1
"""A stream that asks for shorter pauses than this would be asked in a busy loop."""

RETRY_S_MAX: Final = 60.0
"""Longest first pause that a stream may ask for by ``retry:``."""

_MEDIA_TYPE: Final = "text/event-stream"


class StreamRequest(NamedTuple):
    """What the next connection asks for."""

    query: dict[str, str]
    headers: dict[str, str]


class Received(NamedTuple):
    """An event and the state after it. One without a number changed nothing."""

    state: ConversationState
    event: StreamEvent


class Reported(NamedTuple):
    """Something was lost that no new connection brings back; reading goes on."""

    error: ClientError


class Reconnect(NamedTuple):
    """Drop the connection, and connect again after ``delay_s`` because of ``error``."""

    delay_s: float
    error: ClientError


class Finished(NamedTuple):
    """Nothing is to come."""


class Failed(NamedTuple):
    """There is no way on."""

    error: ClientError


Effect: TypeAlias = Received | Reported | Reconnect | Finished | Failed


class Subscription:
    """Reads one conversation.

    Attributes:
        state: What the events so far made of the conversation; its ``seq`` is the cursor.

    Args:
        conversation_id: Which one.
        base_url: Of the gateway, for the sentences of errors.
        settings: Bounds.
        random: Returns a number in [0, 1), for pauses.
        state: Where an earlier subscription ended; reading goes on there.
        with_snapshot: Begin with a snapshot instead of all events.
        after: Events up to this seq only go into the state.
        until_idle: Finish when nothing runs and all was received.
        view: Ask for less than the caller may see.
        give_up_s: Seconds without a new event after which failures are final; None for never.
    """

    def __init__(  # noqa: PLR0913 - what to read, from where, how patiently
        self,
        conversation_id: str,
        *,
        base_url: str,
        settings: ClientSettings,
        random: Callable[[], float],
        state: ConversationState | None = None,
        with_snapshot: bool = False,
        after: int = 0,
        until_idle: bool = False,
        view: View | None = None,
        give_up_s: float | None = None,
    ) -> None:
        self.state = state if state is not None else ConversationState()
        self._conversation_id = conversation_id
        self._base_url = base_url
        self._settings = settings
        self._random = random
        self._wants_snapshot = with_snapshot
        self._after = after
        self._until_idle = until_idle
        self._view = view
        self._give_up_s = give_up_s
        self._decoder: SseDecoder | None = None
        self._was_open = False
        # An event was passed over, so later ones may refer to what is not there.
        self._has_hole = False
        self._retry_s = settings.stream_retry_s
        self._failure_count = 0
        self._failing_since_s: float | None = None
        self._resync_count = 0

    def connect(self) -> StreamRequest:
        """Return what the next connection asks for: everything after the cursor."""
        query: dict[str, str] = {}
        if self._until_idle:
            query["until"] = "idle"
        if self._view is not None:
            query["view"] = self._view
        if self._wants_snapshot:
            query["snapshot"] = "1"
        headers = {"accept": _MEDIA_TYPE, "cache-control": "no-store"}
        # With an id the gateway knows a reader that comes back, and tells it when all is over.
        if self._was_open or self.state.seq:
            headers["last-event-id"] = str(self.state.seq)
        return StreamRequest(query, headers)

    def receive_response(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float, now_ms: int
    ) -> list[Effect]:
        """Return what an answer's head asks for; nothing when its stream is to be read.

        Args:
            status: HTTP status.
            headers: With names in lower case.
            body: Unless the status is 200, the beginning of the body.
            now_s: Monotonic.
            now_ms: Unix time, for a ``Retry-After`` that is a date.
        """
        try:
            check_protocol(headers.get(PROTOCOL_HEADER), self._base_url)
        except ClientError as error:
            return [Failed(error)]
        if status == HTTPStatus.NO_CONTENT:
            return [Finished()]
        if status != HTTPStatus.OK:
            refused = refusal(status, headers, body, base_url=self._base_url, now_ms=now_ms)
            return [self._retry(refused, now_s) if is_passing(status) else Failed(refused)]
        content_type = headers.get("content-type", "")
        if content_type.partition(";")[0].strip().lower() != _MEDIA_TYPE:
            found = label_controls(content_type[:64], breaks="label", tabs="label")
            what = f"with {found or 'no content type'} where an event stream was asked for"
            return [Failed(unexpected("unexpected_content_type", self._base_url, what, status))]
        self._was_open = True
        self._decoder = SseDecoder(event_bytes_max=self._settings.event_bytes_max)
        return []

    def receive_data(self, data: bytes) -> list[Effect]:
        """Return what the bytes of an open stream bring, in order.

        The last effect may be a :class:`Reconnect` or the end; what follows of the connection's
        bytes is then of no interest, and returns nothing.
        """
        if self._decoder is None:
            return []
        comment_count = self._decoder.comment_count
        items = self._decoder.receive_data(data)
        if self._decoder.retry_ms is not None:
            self._retry_s = min(max(self._decoder.retry_ms / 1000, RETRY_S_MIN), RETRY_S_MAX)
        if self._decoder.comment_count > comment_count:
            # A heartbeat: the way to the gateway is good, even if there is nothing to tell.
            self._failure_count, self._failing_since_s = 0, None
        return self._take(items)

    def receive_eof(self, *, now_s: float) -> list[Effect]:
        """Return what a clean end of the stream asks for: it never is the end of an answer."""
        if self._decoder is None:
            return []
        effects = self._take(self._decoder.receive_eof())
        if effects and isinstance(effects[-1], Failed):
            return effects
        error = connection_lost(self._base_url, "it was closed at the other end")
        # The end of a stream that ends when all is told is confirmed by asking once more.
        is_expected = self._until_idle and self._failure_count == 0
        return [*effects, self._retry(error, now_s, at_once=is_expected)]

    def receive_failure(self, error: ClientError, *, now_s: float) -> list[Effect]:
        """Return what a connection that failed, broke or fell silent asks for."""
        return [self._retry(error, now_s) if error.retryable else Failed(error)]

    # reconnecting -------------------------------------------------------------------------
    def _retry(self, error: ClientError, now_s: float, *, at_once: bool = False) -> Effect:
        self._decoder = None
        self._failure_count += 1
        if self._failing_since_s is None:
            self._failing_since_s = now_s
        delay_s = 0.0 if at_once else self._pause_s(self._failure_count)
        # Whoever was asked to wait does not come back in step with all others.
        delay_s += error.retry_after_s or 0.0
        if (
            self._give_up_s is not None
            and now_s + delay_s - self._failing_since_s > self._give_up_s
        ):
            return Failed(error)
        return Reconnect(delay_s, error)

    def _resync(self, refused: RemoteProtocolError) -> Effect:
        self._decoder = None
        self._resync_count += 1
        self._wants_snapshot = True
        error = ClientError(
            "stream_inconsistent",
            f"events of {self._base_url} do not fit what came before ({refused.code})",
            retryable=True,
        )
        if self._resync_count > self._settings.resyncs_max:
            return Failed(error)
        # The first is at once: most likely it heals all.
        is_first = self._resync_count == 1
        return Reconnect(0.0 if is_first else self._pause_s(self._resync_count - 1), error)

    def _pause_s(self, failure_count: int) -> float:
        longest_s = max(self._settings.stream_retry_s_max, self._retry_s)
        return pause_s(failure_count, self._retry_s, longest_s, self._random)

    # events -------------------------------------------------------------------------------
    def _take(self, items: list[SseItem]) -> list[Effect]:
        effects: list[Effect] = []
        for item in items:
            if isinstance(item, SseEventTooLarge):
                effect = self._pass_over(item)
            else:
                effect = self._take_event(item)
            if effect is not None:
                effects.append(effect)
            if isinstance(effect, Reconnect | Failed):
                self._decoder = None
                break
        return effects

    def _take_event(self, item: SseEvent) -> Effect | None:
        try:
            event = self._decoded(item)
            state = self._applied(event)
        except RemoteProtocolError as refused:
            return self._resync(refused)
        if isinstance(event, UnknownEvent) and not event.seq:
            return self._take_notice(event)
        if state is self.state:
            return None
        self.state = state
        if isinstance(event, ConversationSnapshot):
            self._wants_snapshot = self._has_hole = False
            return Received(state, event)
        self._failure_count, self._failing_since_s = 0, None
        self._resync_count = 0
        return Received(state, event) if event.seq > self._after else None

    def _decoded(self, item: SseEvent) -> StreamEvent:
        event = decode_event(decode_json(item.data.encode(), depth_max=ENVELOPED_DEPTH_MAX))
        # What a cache in between mixes up must not be folded into this conversation.
        if event.conversation_id not in {"", self._conversation_id}:
            raise RemoteProtocolError("conversation_mismatch", "of another conversation")
        return event

    def _take_notice(self, event: UnknownEvent) -> Effect | None:
        if event.type == "subscription.ready":
            return None
        if event.type == "conversation.deleted":
            return Failed(ClientError("conversation_deleted", "the conversation was deleted"))
        return Received(self.state, event)

    def _applied(self, event: StreamEvent) -> ConversationState:
        try:
            return apply(self.state, event)
        except RemoteProtocolError as refused:
            if not self._has_hole or refused.code == "sequence_gap":
                raise
        # A snapshot would hold what is too large once more. What refers to it is passed over, too;
        # only the end of a turn must not be missed.
        return self._ended_with_hole(event).at(event.seq, event.conversation_id)

    def _ended_with_hole(self, event: StreamEvent) -> ConversationState:
        state = self.state
        turn = state.running.get(event.turn_id) if isinstance(event, TurnEnded) else None
        if not isinstance(event, TurnEnded) or turn is None:
            return state
        for closing in settle_blocks(turn, event.status, finish_reason=event.finish_reason):
            state = advance(state, closing)
        return advance(state, event)

    def _pass_over(self, item: SseEventTooLarge) -> Effect | None:
        bytes_max = self._settings.event_bytes_max
        if item.type == "conversation.snapshot":
            detail = f"the conversation's snapshot is larger than {bytes_max} bytes"
            return Failed(ClientError("event_too_large", detail))
        text = item.last_event_id
        seq = int(text) if text.isascii() and text.isdecimal() and len(text) <= 16 else 0
        if seq <= self.state.seq:
            # Seen before; or without a number, and then the next event tells of a gap.
            return None
        self.state = self.state.at(seq, self._conversation_id)
        self._has_hole = True
        detail = (
            f"event {seq} is larger than {bytes_max} bytes and was passed over; "
            "the turn can be read as a whole"
        )
        return Reported(ClientError("event_too_large", detail))
