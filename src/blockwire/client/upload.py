"""Events of an outside producer on their way up, each exactly once.

Spec: docs/spec/gateway/producers.md.

While one request is answered the next lines gather, and the next request takes all of them: a
slow producer has each event committed at once, a fast one pays for few requests, and no proxy can
hold back a request that never ends. Lines are numbered, so what was sent and not acknowledged is
simply sent again: the gateway ignores what it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

import anyio
import httpx
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from blockwire.client.failures import (
    PROTOCOL_HEADER,
    ClientError,
    check_protocol,
    connection_lost,
    refusal,
    refusal_of,
)
from blockwire.client.http import REFUSAL_BYTES_MAX, Http
from blockwire.client.shapes import Acknowledgement, read_shape
from blockwire.content import StreamEvent
from blockwire.content.codec import event_members
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, decode_json, encode_json

__all__ = ["Event", "Events", "Upload"]

Event = StreamEvent | Mapping[str, Json]
Events = AsyncIterable[Event] | Iterable[Event]

_NOTHING_YET: Final = 0


class _Line(NamedTuple):
    producer_seq: int
    data: bytes


class Upload:
    """One producer's lines for one turn; used once.

    Args:
        http: How to call the gateway.
        path: Of the turn's events.
        epoch: Fencing token from the submit; None for whichever is in force.
        producer_seq: The last line that an earlier upload had acknowledged.
        on_acknowledged: Called at each acknowledgement that says something new.
    """

    def __init__(
        self,
        http: Http,
        path: str,
        *,
        epoch: int | None,
        producer_seq: int,
        on_acknowledged: Callable[[Acknowledgement], None] | None,
    ) -> None:
        self._http = http
        self._path = path
        self._headers = {
            "accept": "application/x-ndjson, application/json",
            "content-type": "application/x-ndjson",
            **({} if epoch is None else {"blockwire-epoch": str(epoch)}),
        }
        self._on_acknowledged = on_acknowledged
        self._acknowledged = Acknowledgement(producer_seq, _NOTHING_YET)
        self._next_producer_seq = producer_seq + 1
        self._source_failure: Exception | None = None

    async def run(self, events: Events) -> Acknowledgement:
        """Post all ``events``; return the last acknowledgement.

        Raises:
            ClientError: What the gateway refused a line for, or why it cannot be reached. What
                was acknowledged before is committed.
        """
        # No more events are taken from their source than one request holds.
        size = self._http.settings.upload_events_max
        sender, receiver = anyio.create_memory_object_stream[_Line](size)
        failure: Exception | None = None
        async with anyio.create_task_group() as group, receiver:
            group.start_soon(self._gather, events, sender)
            try:
                await self._post_all(receiver)
            except ClientError as error:
                # Raised below as it is, and not as a group of one.
                failure = error
                group.cancel_scope.cancel()
        failure = failure or self._source_failure
        if failure is not None:
            raise failure
        return self._acknowledged

    async def _gather(self, events: Events, sender: MemoryObjectSendStream[_Line]) -> None:
        async with sender:
            try:
                async for event in _each(events):
                    await sender.send(self._line(event))
            except Exception as error:  # noqa: BLE001 - the caller's own; raised once all is posted
                self._source_failure = error

    def _line(self, event: Event) -> _Line:
        members = event if isinstance(event, Mapping) else event_members(event)
        number = self._next_producer_seq
        self._next_producer_seq += 1
        return _Line(number, encode_json({**members, "producer_seq": number}) + b"\n")

    async def _post_all(self, receiver: MemoryObjectReceiveStream[_Line]) -> None:
        async for first in receiver:
            lines = [first]
            size_bytes = len(first.data)
            settings = self._http.settings
            while (
                size_bytes < settings.upload_bytes_max and len(lines) < settings.upload_events_max
            ):
                try:
                    line = receiver.receive_nowait()
                except (anyio.WouldBlock, anyio.EndOfStream):
                    break
                lines.append(line)
                size_bytes += len(line.data)
            await self._post(lines)

    async def _post(self, lines: list[_Line]) -> None:
        """Post ``lines`` until all are acknowledged."""
        failure_count = 0
        while True:
            known = self._acknowledged.producer_seq
            try:
                await self._post_once(b"".join(line.data for line in lines))
            except ClientError as error:
                if not error.retryable:
                    raise
                failure = error
            else:
                failure = connection_lost(self._http.base_url, "not all was acknowledged")
            lines = [line for line in lines if line.producer_seq > self._acknowledged.producer_seq]
            if not lines:
                return
            failure_count = 1 if self._acknowledged.producer_seq > known else failure_count + 1
            if not await self._http.pauses_after(failure, failure_count):
                raise failure

    async def _post_once(self, data: bytes) -> None:
        http = self._http
        request = http.build("POST", self._path, query={}, headers=self._headers, content=data)
        with http.timing.limit(http.settings.call_s) as scope:
            response = await http.send(request)
            try:
                check_protocol(response.headers.get(PROTOCOL_HEADER), http.base_url)
                if response.status_code != HTTPStatus.OK:
                    raise await self._refusal(response)
                await self._read_acknowledgements(response)
            finally:
                await response.aclose()
        if scope.cancelled_caught:
            reason = f"no acknowledgement for {http.settings.call_s:g} s"
            raise connection_lost(http.base_url, reason)

    async def _refusal(self, response: httpx.Response) -> ClientError:
        http = self._http
        return refusal(
            response.status_code,
            response.headers,
            await http.read(response, REFUSAL_BYTES_MAX),
            base_url=http.base_url,
            now_ms=http.timing.now_ms(),
        )

    async def _read_acknowledgements(self, response: httpx.Response) -> None:
        rest = b""
        async for chunk in self._http.chunks(response):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._take_answer(line)
            if len(rest) > REFUSAL_BYTES_MAX:
                raise ClientError("invalid_answer", "an acknowledgement is too long")

    def _take_answer(self, line: bytes) -> None:
        try:
            value = decode_json(line)
        except RemoteProtocolError as error:
            detail = f"an acknowledgement is no JSON: {error.detail}"
            raise ClientError("invalid_answer", detail) from None
        refused = refusal_of(value)
        if refused is not None:
            raise refused
        acknowledged = read_shape(Acknowledgement, value)
        if acknowledged.producer_seq > self._acknowledged.producer_seq:
            self._acknowledged = acknowledged
            if self._on_acknowledged is not None:
                self._on_acknowledged(acknowledged)


async def _each(events: Events) -> AsyncIterator[Event]:
    if isinstance(events, AsyncIterable):
        async for event in events:
            yield event
    else:
        for event in events:
            yield event
