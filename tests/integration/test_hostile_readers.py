"""Readers that stall, vanish or mean harm: bounded memory, and nobody else waits for them."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.jsontext import encode_json
from blockwire.sse import SseDecoder, SseEvent
from tests.client.events import block, delta
from tests.support.programs import WAIT_S, Gateway, call, decoded, environment

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
]

STALLED: Final = 150
VANISHING: Final = 60
SILENT: Final = 40
# One connection may hold 256 KiB and one event; the server's own buffer is part of it.
STREAM_BYTES: Final = 256 * 1024
# What an interpreter needs for everything else that goes on meanwhile.
SLACK_BYTES: Final = 48 * 1024 * 1024
TEXT: Final = "0123456789abcdef" * 512
DELTAS: Final = 1_000
# Connections to the store that open when they are first needed, with the files beside it.
STORE_FDS_MAX: Final = 12


def rss_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def fd_count(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def connect(port: int, request: bytes, *, receive_bytes: int = 0) -> socket.socket:
    sock = socket.socket()
    if receive_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    sock.settimeout(WAIT_S)
    sock.connect(("127.0.0.1", port))
    sock.sendall(request)
    return sock


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode()


def vanish(sock: socket.socket) -> None:
    """Leave as a machine does whose network was pulled: the peer hears a reset at most."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


class GoodReader:
    """Reads everything, and knows what it has."""

    def __init__(self, port: int, path: str) -> None:
        self._sock = connect(port, get(path))
        self._decoder = SseDecoder()
        self._head = b""
        self.seqs: list[int] = []
        self.text_length = 0

    def read_to(self, seq: int) -> None:
        """Return when the event ``seq`` is here."""
        while not self.seqs or self.seqs[-1] < seq:
            data = self._sock.recv(1 << 18)
            assert data, "the stream ended"
            for event in self._events(data):
                value: dict[str, Any] = decoded(event.data)
                if "seq" in value:
                    self.seqs.append(value["seq"])
                    self.text_length += len(value.get("text", ""))

    def _events(self, data: bytes) -> Iterator[SseEvent]:
        if b"\r\n\r\n" not in self._head:
            self._head += data
            _, _, data = self._head.partition(b"\r\n\r\n")
        # The sizes of chunks stand on lines of their own, which no field is.
        for item in self._decoder.receive_data(data):
            assert isinstance(item, SseEvent)
            yield item

    def close(self) -> None:
        self._sock.close()


@pytest.mark.requirement("gateway:slow:bounded", "gateway:slow:nobody-waits")
def test_hostile_readers_cost_bounded_memory_and_nobody_elses_time(tmp_path: Path) -> None:
    env = environment(tmp_path)
    with contextlib.ExitStack() as stack:
        gateway = stack.enter_context(
            Gateway(env, "--store", f"sqlite:///{tmp_path}/s.db", "--engine", "external")
        )
        pid, port = gateway.process.pid, gateway.port
        conversation = call(gateway.url, "/v1/conversations", method="POST", body={})["id"]
        turn = call(
            gateway.url,
            f"/v1/conversations/{conversation}/turns",
            method="POST",
            body={"content": "hello"},
        )["id"]
        path = f"/v1/conversations/{conversation}/events"

        def post(*events: dict[str, Any]) -> int:
            body = b"".join(encode_json(event) + b"\n" for event in events)
            seq: int = call(
                gateway.url,
                f"/v1/conversations/{conversation}/turns/{turn}/events",
                method="POST",
                body=body,
            )[-1]["seq"]
            return seq

        last = post(block(turn_id=turn))
        good = GoodReader(port, path)
        stack.callback(good.close)
        good.read_to(last)
        fds_before, rss_before = fd_count(pid), rss_bytes(pid)
        bad: list[socket.socket] = []
        stack.callback(_close_all, bad)

        # They read nothing at all; some are of several conversations, some ask for a page.
        bad += [connect(port, get(path), receive_bytes=2048) for _ in range(STALLED // 2)]
        many = f"/v1/events?conversations={conversation}"
        bad += [connect(port, get(many), receive_bytes=2048) for _ in range(STALLED // 2)]
        # They never say what they want.
        bad += [connect(port, b"GET /v1/conv") for _ in range(SILENT)]
        # They say more and more while they are answered.
        talkers = [connect(port, get(path), receive_bytes=2048) for _ in range(SILENT)]
        bad += talkers
        for sock in talkers:
            sock.setblocking(False)

        for number in range(0, DELTAS, 20):
            last = post(*(delta(TEXT, turn_id=turn) for _ in range(20)))
            # It has everything that was acknowledged, whatever the others do.
            good.read_to(last)
            if number < VANISHING * 20:
                vanish(connect(port, get(f"{path}?after=0")))
            for sock in talkers:
                with contextlib.suppress(BlockingIOError, OSError):
                    sock.send(get(path) * 8)

        grown_bytes = rss_bytes(pid) - rss_before
        assert good.seqs == list(range(good.seqs[0], last + 1))
        assert good.text_length == DELTAS * len(TEXT)
        held = (STALLED + SILENT) * (STREAM_BYTES + 2 * len(TEXT))
        assert grown_bytes < held + SLACK_BYTES

        for sock in bad:
            vanish(sock)
        bad.clear()
        _until_freed(pid, fds_before)
        assert gateway.process.poll() is None
        post(delta("after all that", turn_id=turn))


def _close_all(socks: list[socket.socket]) -> None:
    for sock in socks:
        sock.close()


def _until_freed(pid: int, fds_before: int) -> None:
    """Return when no descriptor of the readers is left; looks again and again within a bound."""
    ends_at_s = time.monotonic() + WAIT_S
    with selectors.DefaultSelector() as nothing:
        while fd_count(pid) > fds_before + STORE_FDS_MAX:
            assert time.monotonic() < ends_at_s, "connections were not freed"
            nothing.select(0.05)
