"""Bounds of the HTTP surface, counted per caller.

Spec: docs/spec/gateway/limits.md. Each refusal is a 413 or a 429 with ``Retry-After``.
"""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict
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

BUCKETS_MAX: Final = 10_000
"""Callers whose rate, and addresses whose failed logins are remembered."""


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
        attachment_idle_s: Silence of whoever sends or takes the bytes of an attachment.
        failed_logins_burst: Failed logins of one address at once.
        failed_login_pause_s: Seconds after which such an address may fail once more.
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
    attachment_idle_s: float = 30.0
    failed_logins_burst: int = 10
    failed_login_pause_s: float = 30.0
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

    def give_back(self) -> None:
        """Undo one :meth:`take`."""
        self._level = min(self._level + 1, self._burst)


class _Buckets:
    """A bucket for each of many keys, the ones used last; a key that was dropped begins anew."""

    def __init__(self, rate_per_s: float, burst: int) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._by_key: OrderedDict[str, TokenBucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def take(self, key: str, now_s: float) -> float:
        bucket = self._by_key.get(key)
        if bucket is None:
            bucket = self._by_key[key] = TokenBucket(self._rate_per_s, self._burst, now_s)
            if len(self._by_key) > BUCKETS_MAX:
                self._by_key.popitem(last=False)
        else:
            self._by_key.move_to_end(key)
        return bucket.take(now_s)

    def give_back(self, key: str) -> None:
        if key in self._by_key:
            self._by_key[key].give_back()


class LimitError(RemoteProtocolError):
    """A bound was reached.

    Attributes:
        retry_after_s: Whole seconds to wait.
    """

    def __init__(self, code: str, detail: str, retry_after_s: float = RETRY_AFTER_S) -> None:
        super().__init__(code, detail, retryable=True)
        self.retry_after_s = max(math.ceil(retry_after_s), 1)


class Limits:
    """What each caller has open and how fast it asks, and who fails to log in."""

    def __init__(self, settings: HttpSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._streams: dict[str, int] = {}
        self._requests = _Buckets(settings.requests_per_s, settings.requests_burst)
        self._logins = _Buckets(1 / settings.failed_login_pause_s, settings.failed_logins_burst)

    @property
    def key_count(self) -> int:
        """How many callers and addresses are remembered."""
        return len(self._requests) + len(self._logins)

    def use_rate(self, settings: HttpSettings) -> None:
        """Let callers ask as fast as ``settings`` says, from now on; what they asked is forgotten."""
        self._settings = settings
        self._requests = _Buckets(settings.requests_per_s, settings.requests_burst)

    def count_request(self, caller: str) -> None:
        """Count a request.

        Raises:
            LimitError: ``rate_limited``.
        """
        rate_per_s = self._settings.requests_per_s
        if not rate_per_s:
            return
        wait_s = self._requests.take(caller, self._clock.monotonic_s())
        if wait_s:
            raise LimitError("rate_limited", f"more than {rate_per_s:g} requests/s", wait_s)

    def begin_login(self, address: str) -> None:
        """Count an attempt to log in as a failed one; :meth:`note_login` when it was none.

        Raises:
            LimitError: ``too_many_failed_logins``, before the attempt is looked at.
        """
        wait_s = self._logins.take(_network_of(address), self._clock.monotonic_s())
        if wait_s:
            raise LimitError("too_many_failed_logins", "too many logins failed here", wait_s)

    def note_login(self, address: str) -> None:
        """Count an attempt as a good one."""
        self._logins.give_back(_network_of(address))

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


def _network_of(address: str) -> str:
    """Return what counts as one address: of IPv6, the network that one household is given."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False))
