"""Bounds of the HTTP surface, counted per caller.

Spec: docs/spec/gateway/limits.md. Each refusal is a 413 or a 429 with ``Retry-After``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from blockwire.errors import RemoteProtocolError
from blockwire.ports import Clock

__all__ = ["HEARTBEAT_S", "RETRY_AFTER_S", "HttpSettings", "LimitError", "Limits", "TokenBucket"]

HEARTBEAT_S: Final = 15.0
"""Seconds of silence after which a reader gets a comment (docs/spec/gateway/stream.md)."""

RETRY_AFTER_S: Final = 5
"""Seconds that a refused client is asked to wait where nobody can know better."""


class HttpSettings(Struct, frozen=True, kw_only=True):
    """What the HTTP surface allows.

    Attributes:
        streams_per_caller_max: Event streams and long polls that one token holds open.
        stream_conversations_max: Conversations on one stream.
        requests_per_s: Requests of one token, sustained; 0 for no bound.
        requests_burst: Requests of one token at once, before the rate counts.
        query_bytes_max: Of a URL's query.
        body_s_max: Of one JSON body, from its first piece to its last.
        upload_bytes_max: Of one streamed upload of events; 0 for no bound.
        tick_ms: Live readers of a big conversation wait that long for company, so that one write
            serves more events; 0 writes at once, 10-50 saves up to two thirds of the work.
        heartbeat_s: Silence after which a stream gets a comment.
        drain_s_max: How long a stop waits for answers that are under way.
        idle_s_max: How long a connection may sit idle between requests.
    """

    streams_per_caller_max: int = 10_000
    stream_conversations_max: int = 64
    requests_per_s: float = 0
    requests_burst: int = 200
    query_bytes_max: int = 16_384
    body_s_max: float = 60.0
    upload_bytes_max: int = 0
    tick_ms: int = 0
    heartbeat_s: float = HEARTBEAT_S
    drain_s_max: int = 5
    idle_s_max: int = 60


class TokenBucket:
    """A rate with a burst."""

    __slots__ = ("_burst", "_level", "_rate_per_s", "_updated_s")

    def __init__(self, rate_per_s: float, burst: int, now_s: float) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._level = float(burst)
        self._updated_s = now_s

    def take(self, now_s: float) -> float:
        """Take one; return 0, or the seconds after which one will be there."""
        gained = max(now_s - self._updated_s, 0) * self._rate_per_s
        self._level = min(self._level + gained, self._burst)
        self._updated_s = now_s
        if self._level >= 1:
            self._level -= 1
            return 0.0
        return (1 - self._level) / self._rate_per_s


class LimitError(RemoteProtocolError):
    """A bound was reached.

    Attributes:
        retry_after_s: Whole seconds to wait.
    """

    def __init__(self, code: str, detail: str, retry_after_s: float = RETRY_AFTER_S) -> None:
        super().__init__(code, detail, retryable=True)
        self.retry_after_s = max(math.ceil(retry_after_s), 1)


class Limits:
    """What each caller has open and how fast it asks. Callers are as many as tokens."""

    def __init__(self, settings: HttpSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._streams: dict[str, int] = {}
        self._buckets: dict[str, TokenBucket] = {}

    def count_request(self, caller: str) -> None:
        """Count a request.

        Raises:
            LimitError: ``rate_limited``.
        """
        rate_per_s = self._settings.requests_per_s
        if not rate_per_s:
            return
        now_s = self._clock.monotonic_s()
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = TokenBucket(rate_per_s, self._settings.requests_burst, now_s)
            self._buckets[caller] = bucket
        wait_s = bucket.take(now_s)
        if wait_s:
            raise LimitError("rate_limited", f"more than {rate_per_s:g} requests/s", wait_s)

    @contextmanager
    def open_stream(self, caller: str) -> Iterator[None]:
        """Count a connection that stays, for as long as it does.

        Raises:
            LimitError: ``too_many_streams``.
        """
        self.take_stream(caller)
        try:
            yield
        finally:
            self.release_stream(caller)

    def take_stream(self, caller: str) -> None:
        """Count a connection that stays; :meth:`release_stream` when it goes.

        Raises:
            LimitError: ``too_many_streams``.
        """
        count = self._streams.get(caller, 0)
        if count >= self._settings.streams_per_caller_max:
            raise LimitError("too_many_streams", f"{count} streams are open with this token")
        self._streams[caller] = count + 1

    def release_stream(self, caller: str) -> None:
        """Count a connection as gone."""
        self._streams[caller] -= 1
        if not self._streams[caller]:
            del self._streams[caller]

    def stream_count(self, caller: str) -> int:
        """Return how many connections of the caller stay open."""
        return self._streams.get(caller, 0)
