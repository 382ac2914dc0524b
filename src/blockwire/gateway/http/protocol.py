"""The server's connection, with bounds on how much and how long a request's head may be.

Spec: docs/spec/gateway/limits.md.

The parser that uvicorn uses has no bound of its own: without one, whoever can connect could send
header lines for ever, or one byte a minute on thousands of connections.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.http.answer import with_base
from blockwire.gateway.http.http_errors import error_body, status_of
from blockwire.jsontext import encode_json

__all__ = ["HEAD_BYTES_MAX", "HEAD_S_MAX", "BoundedProtocol"]

HEAD_BYTES_MAX: Final = 65_536
"""Bytes of request line and headers; what is read in one go may be a little more."""

LINGER_S: Final = 1.0
"""Seconds in which what a refused peer still sends is read and thrown away: closing at once would
reset the connection, and the peer might never see why."""

HEAD_S_MAX: Final = 30.0
"""Seconds from the connection, or the first byte of a later request, to the end of the head."""

_PHRASES: Final = {400: b"Bad Request", 431: b"Request Header Fields Too Large"}


class BoundedProtocol(HttpToolsProtocol):
    """Refuses heads that are too large, gives up those that take too long."""

    # Slots: a few more attributes would cost each connection a dictionary of its own, 1.5 KB.
    __slots__ = ("_answering", "_head_bytes", "_head_timer", "_is_in_head", "_is_refused")

    head_s_max = HEAD_S_MAX

    # uvicorn narrows what asyncio hands over in the same way.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._answering: RequestResponseCycle | None = None
        self._head_bytes = 0
        self._is_in_head = True
        self._is_refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of the timer."""
        self._stop_timer()
        super().connection_lost(exc)
        self._answering = None

    def data_received(self, data: bytes) -> None:
        """Parse ``data``; refuse when the head has not ended within its bound."""
        if self._is_refused:
            return
        self._head_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_bytes > HEAD_BYTES_MAX and not self._is_refused:
            self._answer_error("headers_too_large", f"a head has at most {HEAD_BYTES_MAX} bytes")

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._is_in_head = True
        self._head_bytes = 0
        self._await_head()

    def on_headers_complete(self) -> None:
        """End a head."""
        self._is_in_head = False
        self._stop_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP at all, in the shape of every other refusal."""
        del msg
        self._answer_error("invalid_http", "this is not an HTTP/1.1 request")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _abandon(self) -> bool:
        """Let nobody answer any more what came before; return whether somebody had begun to.

        Two answers where the peer, or a proxy before it, counts one request would be taken for
        the answers of two.
        """
        cycles = [self._answering, self.cycle, *(cycle for cycle, _app in self.pipeline)]
        self.pipeline.clear()
        has_begun = False
        for cycle in cycles:
            if cycle is not None and not cycle.response_complete:
                has_begun = has_begun or cycle.response_started
                cycle.disconnected = True
                cycle.waiting_for_100_continue = False
                cycle.message_event.set()
        return has_begun

    def _answer_error(self, code: str, detail: str) -> None:
        self._is_refused = True
        self._stop_timer()
        if self._abandon():
            self.transport.close()
            return
        error = RemoteProtocolError(code, detail)
        body = encode_json(cast("Any", error_body(error)))
        headers = b"".join(b"%b: %b\r\n" % pair for pair in with_base([]))
        self.transport.write(
            b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
            b"connection: close\r\n%b\r\n%b"
            % (status_of(error), _PHRASES[status_of(error)], len(body), headers, body)
        )
        self.transport.write_eof()
        # What still comes is thrown away, and the end of it is noticed.
        self.flow.resume_reading()
        # A peer that reads nothing is not waited for.
        self._head_timer = self.loop.call_later(LINGER_S, self.transport.abort)

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_s_max, self._give_up)

    def _give_up(self) -> None:
        self._head_timer = None
        self.transport.close()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
