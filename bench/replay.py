"""Replay: a long log from SQLite to one reader over a socket."""

from __future__ import annotations

import http.client
import socket
import statistics
import time
from contextlib import closing
from typing import Final

import msgspec

from bench.figures import Figure
from bench.gateway import REQUEST_S_MAX, Gateway, Target, reader_heads, serving
from bench.load import MARK, READ_BYTES
from bench.peer import ROWS_COUNT, running_peer

__all__ = ["measure_replay"]

EVENTS: Final = 100_000
LINES_PER_REQUEST: Final = 2_000
ROUNDS: Final = 7
REPLAY_MS: Final = 28.0
_MARK: Final = MARK.encode()

assert EVENTS == ROWS_COUNT, "the peer replays as many"


def fill(gateway: Gateway, target: Target) -> None:
    """Store the events of one turn, one character each besides the mark."""
    path = f"/v1/conversations/{target.conversation_id}/turns/{target.turn_id}/events"
    event = {
        "type": "content.block.delta", "turn_id": target.turn_id, "block_id": target.block_id,
        "field": "markdown", "text": f"{MARK} a few words",
    }  # fmt: skip
    line = msgspec.json.encode(event) + b"\n"
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=REQUEST_S_MAX)
    with closing(connection):
        for _ in range(EVENTS // LINES_PER_REQUEST):
            headers = {"Content-Type": "application/x-ndjson"}
            connection.request("POST", path, line * LINES_PER_REQUEST, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise ConnectionError(f"an upload was answered {answer.status}")


def read_ms(port: int, path: str) -> float:
    """Return how long it takes from the request until the last event has been read."""
    buffer = bytearray(READ_BYTES)
    count = 0
    with socket.create_connection(("127.0.0.1", port), timeout=REQUEST_S_MAX) as sock:
        started_s = time.perf_counter()
        sock.sendall(reader_heads([path])[0].encode())
        while count < EVENTS:
            size = sock.recv_into(buffer)
            if not size:
                raise ConnectionError(f"{count} of {EVENTS} events arrived")
            count += buffer.count(_MARK, 0, size)
        return (time.perf_counter() - started_s) * 1000


def median_ms(port: int, path: str, rounds: int) -> float:
    """Return the median of some rounds, the first of which only warms up."""
    return statistics.median([read_ms(port, path) for _ in range(rounds + 1)][1:])


def measure_replay(*, quick: bool) -> list[Figure]:
    """Measure 100,000 events from SQLite to one reader, against one read and write a row."""
    rounds = 3 if quick else ROUNDS
    with serving() as gateway:
        (target,) = gateway.targets(1)
        fill(gateway, target)
        ours_ms = median_ms(gateway.port, f"{target.events_path}?after=0", rounds)
    with running_peer("rows") as peer:
        rows_ms = median_ms(peer.port, "/sub", 1)
    return [
        Figure(
            what="replay of 100,000 events to one reader", ours=ours_ms, unit="ms",
            peer=REPLAY_MS, peer_name="prototype", reach=2.0,
            note="the limit is an absolute time on another machine; its ratio moves with this one",
        ),
        Figure(
            what="the same against a row and a write an event", ours=ours_ms, unit="ms",
            peer=rows_ms, peer_name="SELECT and StreamingResponse", reach=0.2,
        ),
    ]  # fmt: skip
