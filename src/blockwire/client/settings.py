"""How long a client waits for what, and how often it tries again.

Spec: docs/spec/gateway/stream.md; docs/how-to/python-client.md.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

__all__ = ["EVENT_BYTES_MAX", "HEARTBEAT_S", "ClientSettings"]

HEARTBEAT_S: Final = 15.0
"""Silence after which a gateway writes a comment (docs/spec/gateway/stream.md)."""


EVENT_BYTES_MAX: Final = 134_217_728
"""Bytes of one event: a snapshot holds a running turn whole, and twice the largest that a gateway
takes by default fits."""


class ClientSettings(Struct, frozen=True, kw_only=True):
    """Bounds of one client.

    Attributes:
        connect_s: How long a connection may take to be made.
        call_s: How long a call may be without a byte from the gateway.
        call_tries_max: Attempts at a call that may be repeated; others get one.
        call_retry_s: Longest first pause between two attempts; it doubles.
        call_retry_s_max: Longest such pause, unless the gateway asks for a longer one.
        call_wait_s_max: A gateway that asks to wait longer than this is not waited for: the
            caller gets the error, which says how long.
        stream_silence_s: An event stream without a byte for so long is dead: it is dropped, and
            read on from its cursor. Three missed heartbeats.
        stream_retry_s: Longest first pause before a reconnection; it doubles. A stream's own
            ``retry:`` takes its place.
        stream_retry_s_max: Longest such pause, unless the gateway asks for a longer one.
        stream_give_up_s: How long a stream may fail without a new event before it ends in an
            error; None tries for ever. ``ask`` has a bound of its own.
        ask_give_up_s: The same for ``ask``.
        resyncs_max: Snapshots asked for in a row, without an event in between that fits.
        event_bytes_max: Bytes of one event; a larger one is reported and passed over.
        upload_bytes_max: Lines of one request when events are posted, in bytes.
        upload_events_max: The same, as a count.
        page_items: Items of one page of a list.
        wait_s: Longest single wait for a turn; longer ones are put together from such.
    """

    connect_s: float = 10.0
    call_s: float = 30.0
    call_tries_max: int = 4
    call_retry_s: float = 0.5
    call_retry_s_max: float = 8.0
    call_wait_s_max: float = 60.0
    stream_silence_s: float = 3 * HEARTBEAT_S
    stream_retry_s: float = 1.0
    stream_retry_s_max: float = 30.0
    stream_give_up_s: float | None = None
    ask_give_up_s: float | None = 120.0
    resyncs_max: int = 3
    event_bytes_max: int = EVENT_BYTES_MAX
    upload_bytes_max: int = 262_144
    upload_events_max: int = 1_000
    page_items: int = 100
    wait_s: float = 30.0

    def __post_init__(self) -> None:
        assert self.call_tries_max >= 1, "a call is tried at least once"
        assert self.stream_silence_s > HEARTBEAT_S, "a healthy stream may be silent that long"
