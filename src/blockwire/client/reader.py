"""Drives a :class:`Subscription` over HTTP.

Spec: docs/spec/gateway/stream.md.

The driver decides nothing. It connects, reads, waits and tells what the connection does; a byte
that does not come for too long is a failure like any other.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from http import HTTPStatus
from typing import Final, Literal

import httpx
from msgspec import Struct

from blockwire.client.failures import ClientError
from blockwire.client.http import REFUSAL_BYTES_MAX, Http
from blockwire.client.stream import (
    Effect,
    Failed,
    Finished,
    Received,
    Reconnect,
    Reported,
    Subscription,
)
from blockwire.client.timing import sleep

__all__ = ["ConnectionChange", "ConnectionStatus", "OnConnection", "OnReport", "StreamReader"]

ConnectionStatus = Literal["connecting", "connected", "waiting"]

_log: Final = logging.getLogger(__name__)


class ConnectionChange(Struct, frozen=True, kw_only=True):
    """What a stream's connection does now.

    Attributes:
        status: ``waiting`` is the pause before the next attempt.
        error: Why the connection before this one is no more; None at first.
        retry_in_s: How long it waits.
    """

    status: ConnectionStatus
    error: ClientError | None = None
    retry_in_s: float = 0.0


OnConnection = Callable[[ConnectionChange], None]
OnReport = Callable[[ClientError], None]


def log_report(error: ClientError) -> None:
    """Write to the log what nobody else listens for."""
    _log.warning("%s", error)


class StreamReader:
    """Reads one subscription to its end; used once.

    Args:
        http: How to call the gateway.
        path: Of the stream.
        subscription: What is read.
        on_connection: Called at each change of the connection.
        on_report: Called with what was lost for good; by default it is logged.
    """

    def __init__(
        self,
        http: Http,
        path: str,
        subscription: Subscription,
        *,
        on_connection: OnConnection | None = None,
        on_report: OnReport | None = None,
    ) -> None:
        self._http = http
        self._path = path
        self._subscription = subscription
        self._on_connection = on_connection
        self._on_report = on_report if on_report is not None else log_report
        self._response: httpx.Response | None = None
        self._chunks: AsyncGenerator[bytes, None] | None = None
        self._last_error: ClientError | None = None

    async def batches(self) -> AsyncGenerator[list[Received], None]:
        """Yield what each read brought, never nothing. Close it when you stop early.

        Raises:
            ClientError: There is no way on.
        """
        try:
            while True:
                if self._chunks is None:
                    effects = await self._connect()
                else:
                    effects = await self._read(self._chunks)
                received = self._sorted(effects)
                last = effects[-1] if effects else None
                if isinstance(last, Reconnect | Finished | Failed):
                    await self._drop()
                if received:
                    yield received
                if isinstance(last, Finished):
                    return
                if isinstance(last, Failed):
                    raise last.error
                if isinstance(last, Reconnect):
                    await self._pause(last)
        finally:
            await self._drop()

    def _sorted(self, effects: list[Effect]) -> list[Received]:
        """Return what was received; tell what was lost."""
        for effect in effects:
            if isinstance(effect, Reported):
                self._on_report(effect.error)
        return [effect for effect in effects if isinstance(effect, Received)]

    async def _connect(self) -> list[Effect]:
        self._tell("connecting")
        asked = self._subscription.connect()
        request = self._http.build("GET", self._path, query=asked.query, headers=asked.headers)
        effects: list[Effect] | None = None
        with self._http.timing.limit(self._http.settings.stream_silence_s):
            try:
                self._response = await self._http.send(request)
                effects = await self._open(self._response)
            except ClientError as error:
                effects = self._failed(error)
        return effects if effects is not None else self._silent()

    async def _open(self, response: httpx.Response) -> list[Effect]:
        is_stream = response.status_code == HTTPStatus.OK
        body = b"" if is_stream else await self._http.read(response, REFUSAL_BYTES_MAX)
        timing = self._http.timing
        effects = self._subscription.receive_response(
            response.status_code,
            response.headers,
            body,
            now_s=timing.monotonic_s(),
            now_ms=timing.now_ms(),
        )
        if not effects:
            self._chunks = self._http.chunks(response)
            self._tell("connected")
            self._last_error = None
        return effects

    async def _read(self, chunks: AsyncGenerator[bytes, None]) -> list[Effect]:
        effects: list[Effect] | None = None
        with self._http.timing.limit(self._http.settings.stream_silence_s):
            try:
                chunk = await anext(chunks)
            except StopAsyncIteration:
                now_s = self._http.timing.monotonic_s()
                effects = self._subscription.receive_eof(now_s=now_s)
            except ClientError as error:
                effects = self._failed(error)
            else:
                effects = self._subscription.receive_data(chunk)
        return effects if effects is not None else self._silent()

    def _silent(self) -> list[Effect]:
        silence_s = self._http.settings.stream_silence_s
        detail = f"no byte from {self._http.base_url} for {silence_s:g} s"
        return self._failed(ClientError("connection_silent", detail, retryable=True))

    def _failed(self, error: ClientError) -> list[Effect]:
        now_s = self._http.timing.monotonic_s()
        return self._subscription.receive_failure(error, now_s=now_s)

    async def _pause(self, reconnect: Reconnect) -> None:
        self._last_error = reconnect.error
        if reconnect.delay_s:
            self._tell("waiting", retry_in_s=reconnect.delay_s)
            await sleep(self._http.timing, reconnect.delay_s)

    async def _drop(self) -> None:
        response, self._response = self._response, None
        chunks, self._chunks = self._chunks, None
        if chunks is not None:
            await chunks.aclose()
        if response is not None:
            await response.aclose()

    def _tell(self, status: ConnectionStatus, retry_in_s: float = 0.0) -> None:
        if self._on_connection is not None:
            change = ConnectionChange(status=status, error=self._last_error, retry_in_s=retry_in_s)
            self._on_connection(change)
