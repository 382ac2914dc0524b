"""Replay: a long log from SQLite to one reader over a socket."""

from __future__ import annotations

import http.client
import socket
import statistics
import time
from contextlib import closing
from typing import Final, NamedTuple

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
COMPACTED_MS: Final = 2.0
MERGE_S_MAX: Final = 60.0
_MARK: Final = MARK.encode()

assert EVENTS == ROWS_COUNT, "the peer replays as many"


class Replay(NamedTuple):
    """One replay: milliseconds from the request to the first and the last event, and its bytes."""

    first_ms: float
    last_ms: float
    size_bytes: int


def fill(gateway: Gateway, target: Target) -> None:
    """Store the events of one turn, a token of five characters each."""
    event = {
        "type": "content.block.delta", "turn_id": target.turn_id, "block_id": target.block_id,
        "field": "markdown", "text": f"{MARK}ord ",
    }  # fmt: skip
    line = msgspec.json.encode(event) + b"\n"
    for _ in range(EVENTS // LINES_PER_REQUEST):
        post(gateway, target, line * LINES_PER_REQUEST)


def finish(gateway: Gateway, target: Target) -> None:
    """Complete the block and the turn, so that the deltas can be merged."""
    turn = {"turn_id": target.turn_id}
    events = [
        {"type": "content.block.completed", "block_id": target.block_id, **turn},
        {"type": "turn.completed", "status": "completed", **turn},
    ]
    post(gateway, target, b"".join(msgspec.json.encode(event) + b"\n" for event in events))


def post(gateway: Gateway, target: Target, lines: bytes) -> None:
    path = f"/v1/conversations/{target.conversation_id}/turns/{target.turn_id}/events"
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=REQUEST_S_MAX)
    with closing(connection):
        connection.request("POST", path, lines, {"Content-Type": "application/x-ndjson"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise ConnectionError(f"an upload was answered {answer.status}")


def replay(port: int, path: str) -> Replay:
    """Read until the text of the last event is there."""
    buffer = bytearray(READ_BYTES)
    count = size_bytes = 0
    first_ms = 0.0
    with socket.create_connection(("127.0.0.1", port), timeout=REQUEST_S_MAX) as sock:
        started_s = time.perf_counter()
        sock.sendall(reader_heads([path])[0].encode())
        while count < EVENTS:
            size = sock.recv_into(buffer)
            if not size:
                raise ConnectionError(f"{count} of {EVENTS} events arrived")
            size_bytes += size
            count += buffer.count(_MARK, 0, size)
            if count and not first_ms:
                first_ms = (time.perf_counter() - started_s) * 1000
        return Replay(first_ms, (time.perf_counter() - started_s) * 1000, size_bytes)


def median_replay(port: int, path: str, rounds: int) -> Replay:
    """Return the medians of some rounds, the first of which only warms up."""
    replays = [replay(port, path) for _ in range(rounds + 1)][1:]
    return Replay._make(statistics.median(values) for values in zip(*replays, strict=True))


def wait_merged(port: int, path: str, full: Replay) -> None:
    """Return once upkeep has made the log as short as it gets."""
    ends_at_s = time.monotonic() + MERGE_S_MAX
    before, now = full.size_bytes, replay(port, path).size_bytes
    while now != before or now * 10 > full.size_bytes:
        if time.monotonic() > ends_at_s:
            raise TimeoutError("the log was not merged")
        # A round begins every second.
        time.sleep(1.5)
        before, now = now, replay(port, path).size_bytes


def measure_replay(*, quick: bool) -> list[Figure]:
    """Measure 100,000 events from SQLite to one reader: full, merged, and a read and write a row."""
    rounds = 3 if quick else ROUNDS
    with serving(upkeep_s=1) as gateway:
        (target,) = gateway.targets(1)
        path = f"{target.events_path}?after=0"
        fill(gateway, target)
        full = median_replay(gateway.port, path, rounds)
        finish(gateway, target)
        wait_merged(gateway.port, path, full)
        compacted = median_replay(gateway.port, path, rounds * 3)
    with running_peer("rows") as peer:
        rows = median_replay(peer.port, "/sub", 1)
    return [
        Figure(
            what="replay of 100,000 events to one reader", ours=full.last_ms, unit="ms",
            peer=REPLAY_MS, peer_name="prototype", reach=2.0,
            note="the limit is an absolute time on another machine; its ratio moves with this one; "
            f"the first event was there after {full.first_ms:.1f} ms",
        ),
        Figure(
            what="the same against a row and a write an event", ours=full.last_ms, unit="ms",
            peer=rows.last_ms, peer_name="SELECT and StreamingResponse", reach=0.2,
        ),
        Figure(
            what="the same, merged", ours=compacted.last_ms, unit="ms",
            peer=COMPACTED_MS, peer_name="limit", reach=1.0,
            note=f"{compacted.last_ms / full.last_ms:.3f} of the full replay in this run; the first "
            f"text was there after {compacted.first_ms:.1f} ms",
        ),
        Figure(
            what="bytes of the merged replay", ours=compacted.size_bytes, unit="bytes",
            peer=full.size_bytes, peer_name="full", reach=0.05,
            note="each event brings 5 bytes of text here",
        ),
    ]  # fmt: skip
