"""What may stand between a page and its gateway and answer instead: a proxy out of order."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

__all__ = ["HTML", "Fault", "FaultyProxy", "html", "refusal"]

HEAD_END: Final = b"\r\n\r\n"
HTML: Final = b"<!doctype html><title>Sign in</title><h1>Welcome to our network</h1>"


@dataclass
class Fault:
    """An answer that is given instead of the gateway's.

    Attributes:
        what: Matches the beginning of the request line, ``METHOD PATH``.
        answer: The whole answer, as bytes; nothing is a connection that breaks.
        times: For so many requests; the others reach the gateway.
        reaches: Whether the gateway gets the request all the same, and only its answer is lost.
        hits: Requests that were answered so.
    """

    what: str
    answer: bytes = b""
    times: int = 1_000_000
    reaches: bool = False
    hits: int = field(default=0, init=False)


def plain_answer(status: str, body: bytes, *headers: str, kind: str = "application/json") -> bytes:
    """Return an answer that says how long it is."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
    ]
    return "\r\n".join(lines).encode() + HEAD_END + body


def html(status: str = "200 OK") -> bytes:
    """Return what a proxy or the login page of a network answers."""
    return plain_answer(status, HTML, kind="text/html")


def refusal(status: str, code: str, *headers: str, retryable: bool = True) -> bytes:
    """Return a refusal in the gateway's own words."""
    flag = "true" if retryable else "false"
    body = f'{{"error":{{"code":"{code}","message":"Not now.","retryable":{flag}}}}}'
    return plain_answer(status, body.encode(), "Blockwire-Protocol: 1", *headers)


class FaultyProxy:
    """Passes requests on to a port, one on each connection, but for those that a fault is for."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self.seen: list[str] = []
        """``METHOD PATH`` of each request, in order."""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    @contextlib.contextmanager
    def fault(
        self, what: str, answer: bytes = b"", *, times: int = 1_000_000, reaches: bool = False
    ) -> Iterator[Fault]:
        """Answer so to requests like ``what`` until this is left; see :class:`Fault`."""
        fault = Fault(what, answer, times, reaches)
        with self._lock:
            self._faults.append(fault)
        try:
            yield fault
        finally:
            with self._lock:
                self._faults.remove(fault)

    def count(self, what: str) -> int:
        """Return how many requests like ``what`` came."""
        with self._lock:
            return sum(re.match(what, line) is not None for line in self.seen)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError), near:
            head, rest = _read_head(near)
            if not head:
                return
            fault = self._fault_for(head)
            if fault is None or fault.reaches:
                with socket.create_connection(("127.0.0.1", self._target)) as far:
                    _pass_on(head, rest, near, far, is_answered=fault is None)
            else:
                for _piece in _body(head, rest, near):
                    pass
            if fault is not None:
                near.sendall(fault.answer)
            # Whoever still listens to this connection in another thread would keep it open.
            near.shutdown(socket.SHUT_RDWR)

    def _fault_for(self, head: bytes) -> Fault | None:
        line = " ".join(head.split(b"\r\n", 1)[0].decode().split(" ")[:2])
        with self._lock:
            self.seen.append(line)
            for fault in self._faults:
                if fault.hits < fault.times and re.match(fault.what, line):
                    fault.hits += 1
                    return fault
        return None


def _read_head(near: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while HEAD_END not in data:
        piece = near.recv(65_536)
        if not piece:
            return b"", b""
        data += piece
    head, _, rest = data.partition(HEAD_END)
    return head, rest


def _body(head: bytes, rest: bytes, near: socket.socket) -> Iterator[bytes]:
    found = re.search(rb"(?im)^content-length: *(\d+)", head)
    left = int(found[1]) if found else 0
    while left > 0:
        piece = rest or near.recv(65_536)
        if not piece:
            return
        rest = b""
        left -= len(piece)
        yield piece


def _pass_on(
    head: bytes, rest: bytes, near: socket.socket, far: socket.socket, *, is_answered: bool
) -> None:
    kept = [row for row in head.split(b"\r\n") if not row.lower().startswith(b"connection:")]
    far.sendall(b"\r\n".join([*kept, b"Connection: close"]) + HEAD_END)
    for piece in _body(head, rest, near):
        far.sendall(piece)
    # Who closes the page ends the request behind it, too.
    threading.Thread(target=_hang_up_after, args=(near, far), daemon=True).start()
    while piece := far.recv(65_536):
        if is_answered:
            near.sendall(piece)


def _hang_up_after(near: socket.socket, far: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while near.recv(65_536):
            pass
    with contextlib.suppress(OSError):
        far.shutdown(socket.SHUT_RDWR)
