"""Straight to the server's transport: a shortcut for live writes, with ASGI as the way around.

Spec: docs/spec/gateway/stream.md.

``send`` costs a coroutine, a dict and a copy of the bytes for each reader: more than half of what a
live write takes besides the system call. Where the server is one whose inside is known, a live
write hands the same chunk to every reader's transport instead. It is only taken while the
server's own buffer has room; everything else, waiting above all, goes through ``send``.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

__all__ = ["DirectWriter", "direct_writer"]


class DirectWriter:
    """Writes chunks to one response that has begun."""

    __slots__ = ("_cycle", "_flow", "_transport")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle
        self._flow = cycle.flow
        self._transport = cycle.transport

    def write(self, chunk: bytes) -> bool:
        """Write one chunk, framed for HTTP/1.1; return False, having done nothing, without room."""
        if self._flow.write_paused or self._cycle.disconnected:
            return False
        self._transport.write(chunk)
        return True


def direct_writer(send: Any) -> DirectWriter | None:
    """Return a writer to the response that ``send`` belongs to; None if there is no shortcut.

    Args:
        send: ASGI's, after the headers were sent.
    """
    cycle = getattr(send, "__self__", None)
    # Exactly this class, and the chunked encoding that it chose for a body of unknown length.
    if type(cycle) is not RequestResponseCycle or cycle.chunked_encoding is not True:
        return None
    return DirectWriter(cycle)
