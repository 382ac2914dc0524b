"""Uploads of events: lines go up, acknowledgements come down, at the same time.

Spec: docs/spec/gateway/producers.md.

Many clients read nothing before they have sent everything. If they never did, a gateway that waits
for its acknowledgements to be read would stop reading, and both would wait for ever. So what
cannot be sent is kept, and beyond a bound only the newest is: an acknowledgement stands for all
before it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import anyio

from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.http.answer import Answer
from blockwire.gateway.http.call import Call, PeerGoneError
from blockwire.gateway.http.http_errors import error_body
from blockwire.gateway.streams.direct import DirectWriter, direct_writer
from blockwire.jsontext import SAFE_INTEGER_MAX, Json, encode_json

__all__ = ["answer_upload", "read_epoch"]

PENDING_BYTES_MAX: Final = 65_536
"""Acknowledgements that wait for the peer to read; beyond it only the newest is kept."""

_MEDIA_TYPE: Final = b"application/x-ndjson"
_Acknowledgements = AsyncGenerator[dict[str, Json], None]


def read_epoch(text: str | None) -> int | None:
    """Return the fencing token of ``Blockwire-Epoch``, or None without it.

    Raises:
        RemoteProtocolError: ``invalid_parameter``.
    """
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= len(text) <= 16:
        raise RemoteProtocolError("invalid_parameter", "Blockwire-Epoch is a number")
    return min(int(text), SAFE_INTEGER_MAX)


async def answer_upload(call: Call, acknowledgements: _Acknowledgements) -> Answer | None:
    """Send acknowledgements as they come; None when the answer was sent piece by piece.

    Raises:
        BlockwireError: What the first line was refused for.
        PeerGoneError: The upload was cut off; what was acknowledged is committed.
    """
    async with aclosing(acknowledgements):
        try:
            first = await anext(acknowledgements)
        except StopAsyncIteration:
            return Answer(media_type=_MEDIA_TYPE.decode())
        await call.start([(b"content-type", _MEDIA_TYPE), (b"cache-control", b"no-store")])
        writer = _Writer(call, direct_writer(call.send))
        writer.put(first)
        async with anyio.create_task_group() as group:
            group.start_soon(writer.run)
            try:
                async for acknowledgement in acknowledgements:
                    writer.put(acknowledgement)
            except PeerGoneError:
                # Sending to whoever is gone waits for nothing.
                pass
            except BlockwireError as error:
                writer.put(error_body(error))
            writer.finish()
    return None


class _Writer:
    """Sends what is pending, whenever the peer takes it."""

    def __init__(self, call: Call, direct: DirectWriter | None) -> None:
        self._call = call
        self._direct = direct
        self._pending = bytearray()
        self._is_sending = False
        self._is_finished = False
        self._news = anyio.Event()

    def put(self, line: dict[str, Json]) -> None:
        if self._direct is not None and not self._pending and not self._is_sending:
            # The usual case: the peer reads, so no task need be woken.
            data = encode_json(line) + b"\n"
            if self._direct.write(b"%x\r\n%b\r\n" % (len(data), data)):
                return
        if len(self._pending) > PENDING_BYTES_MAX:
            self._pending.clear()
        self._pending += encode_json(line) + b"\n"
        self._news.set()

    def finish(self) -> None:
        self._is_finished = True
        self._news.set()

    async def run(self) -> None:
        is_finished = False
        while not is_finished:
            await self._news.wait()
            self._news = anyio.Event()
            is_finished = self._is_finished
            body = bytes(self._pending)
            self._pending.clear()
            self._is_sending = True
            await self._call.send(
                {"type": "http.response.body", "body": body, "more_body": not is_finished}
            )
            self._is_sending = False
