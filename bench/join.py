"""Joining a long conversation: by a snapshot, and by everything that was ever said."""

from __future__ import annotations

import http.client
import socket
import statistics
import time
from contextlib import closing
from typing import Any, Final

import msgspec

from bench.figures import Figure
from bench.gateway import REQUEST_S_MAX, Gateway, reader_heads, serving
from bench.load import READ_BYTES

__all__ = ["measure_join"]

TURNS: Final = 5_000
FEW_TURNS: Final = 50
ROUNDS: Final = 7
ANSWER: Final = "Six tests pass, and the seventh says why it does not. " * 8


class _Talk:
    """One connection that asks and answers by itself."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def call(self, path: str, body: bytes, media_type: str = "application/json") -> Any:
        self._connection.request("POST", path, body, {"Content-Type": media_type})
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise ConnectionError(f"{path}: {answer.status} {data[:300]!r}")
        return msgspec.json.decode(data.splitlines()[0])


def fill(gateway: Gateway, turns: int) -> str:
    """Return a conversation of so many finished turns."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=REQUEST_S_MAX)
    submit = msgspec.json.encode({"content": "And now?", "engine": "external"})
    with closing(connection):
        talk = _Talk(connection)
        conversation = talk.call("/v1/conversations", b"{}")["id"]
        path = f"/v1/conversations/{conversation}/turns"
        for _ in range(turns):
            turn = talk.call(path, submit)["id"]
            block = {"id": "b1", "type": "prose", "markdown": ""}
            events: list[dict[str, Any]] = [
                {"type": "content.block.started", "turn_id": turn, "block": block},
                {
                    "type": "content.block.delta", "turn_id": turn, "block_id": "b1",
                    "field": "markdown", "text": ANSWER,
                },
                {"type": "content.block.completed", "turn_id": turn, "block_id": "b1"},
                {"type": "turn.completed", "turn_id": turn, "status": "completed"},
            ]  # fmt: skip
            lines = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
            talk.call(f"{path}/{turn}/events", lines, "application/x-ndjson")
    return str(conversation)


def join_ms(gateway: Gateway, path: str) -> tuple[float, float]:
    """Return how long it takes until the first frame of content, and until nothing runs."""
    first_ms = 0.0
    seen = b""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=REQUEST_S_MAX) as sock:
        started_s = time.perf_counter()
        sock.sendall(reader_heads([path])[0].encode())
        while not seen.endswith(b"0\r\n\r\n"):
            data = sock.recv(READ_BYTES)
            if not data:
                raise ConnectionError("the stream broke off")
            seen = seen[-64:] + data
            if not first_ms and (
                b"event: conversation.snapshot" in seen or b"event: message" in seen
            ):
                first_ms = (time.perf_counter() - started_s) * 1000
        return first_ms, (time.perf_counter() - started_s) * 1000


def _median(gateway: Gateway, path: str, rounds: int) -> tuple[float, float]:
    found = [join_ms(gateway, path) for _ in range(rounds + 1)][1:]
    return statistics.median(f for f, _ in found), statistics.median(w for _, w in found)


def measure_join(*, quick: bool) -> list[Figure]:
    """Measure what a newcomer to a long conversation waits for."""
    rounds = 3 if quick else ROUNDS
    with serving() as gateway:
        few = f"/v1/conversations/{fill(gateway, FEW_TURNS)}/events?until=idle"
        many = f"/v1/conversations/{fill(gateway, TURNS // (10 if quick else 1))}/events?until=idle"
        _, few_ms = _median(gateway, f"{few}&snapshot=1&after=now", rounds)
        _, many_ms = _median(gateway, f"{many}&snapshot=1&after=now", rounds)
        first_ms, whole_ms = _median(gateway, f"{many}&after=0", rounds)
    return [
        Figure(
            what="join of a 5,000-turn conversation by snapshot", ours=many_ms, unit="ms",
            peer=few_ms, peer_name="one of 50 turns", reach=1.5,
        ),
        Figure(
            what="the same from its first event", ours=whole_ms, unit="ms",
            peer=many_ms, peer_name="by snapshot", reach=100.0,
            note=f"the first event came after {first_ms:.1f} ms",
        ),
    ]  # fmt: skip
