"""Exports of a large conversation: how much memory a gateway needs for them, and how fast they are."""

from __future__ import annotations

import http.client
import sqlite3
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from bench.figures import Figure
from bench.gateway import Gateway, serving
from bench.processes import rss_bytes
from blockwire.archives import ArchiveWriter

__all__ = ["measure_exports"]

MESSAGES: Final = 5_000
ROUNDS: Final = 3
QUICK_SHARE: Final = 10
EXPORT_S_MAX: Final = 600.0
READ_BYTES: Final = 1_048_576
MEGABYTE: Final = 1_000_000

PARAGRAPH: Final = (
    "The seventh test says *why* it does not pass: `collect()` ran before the last write. "
    "Give it the moment, as [the others](https://example.org/notes) do.\n\n"
)
CODE: Final = "    for item in items:\n        yield item  # in order\n" * 6


def archive(count: int) -> Iterator[bytes]:
    """Yield an archive of a conversation of so many messages of about 10 KiB."""
    writer = ArchiveWriter()
    yield writer.start(created_at=1, generator="bench", view="owner")
    yield writer.start_conversation({"id": "conv_1", "created_at": 1, "tags": [], "title": "Long"})
    text = PARAGRAPH * 58
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        yield writer.add_message(
            {
                "id": f"msg_{number}",
                "role": role,
                "status": "completed",
                "content": [
                    {"id": "b1", "type": "prose", "markdown": f"{number}. {text}"},
                    {"id": "b2", "type": "code", "text": CODE, "language": "python"},
                ],
                "created_at": number,
            }
        )
    yield writer.end_conversation()
    yield writer.end()


def fill(gateway: Gateway, count: int) -> str:
    """Import the conversation and return its id."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=EXPORT_S_MAX)
    with closing(connection):
        headers = {"Content-Type": "application/x-ndjson"}
        connection.request("POST", "/v1/import", archive(count), headers, encode_chunked=True)
        answer = connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise ConnectionError(f"import: {answer.status} {data[:300]!r}")
        result: Any = msgspec.json.decode(data)
    return str(result["conversations"][0]["id"])


def export(gateway: Gateway, conversation: str, export_format: str) -> tuple[float, int, int]:
    """Return seconds, bytes, and the most memory that the gateway had meanwhile."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=EXPORT_S_MAX)
    peak_bytes = size_bytes = 0
    with closing(connection):
        started_s = time.perf_counter()
        path = f"/v1/conversations/{conversation}/export?format={export_format}"
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200:
            raise ConnectionError(f"export: {answer.status} {answer.read()[:300]!r}")
        while data := answer.read(READ_BYTES):
            size_bytes += len(data)
            peak_bytes = max(peak_bytes, rss_bytes(gateway.pid))
        return time.perf_counter() - started_s, size_bytes, peak_bytes


def read_rows(path: Path) -> tuple[float, int]:
    """Return seconds and bytes of reading the rows of all messages, and nothing else."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        started_s = time.perf_counter()
        size_bytes = 0
        for (text,) in connection.execute("SELECT message FROM messages ORDER BY created_seq"):
            size_bytes += len(text)
        return time.perf_counter() - started_s, size_bytes


def measure_exports(*, quick: bool) -> list[Figure]:
    """Measure the exports of a conversation of some 50 MB."""
    count = MESSAGES // (QUICK_SHARE if quick else 1)
    figures: list[Figure] = []
    with serving() as gateway:
        conversation = fill(gateway, count)
        # A page is rendered, which takes its time: a tenth says as much.
        short = fill(gateway, count // 10)
        (path,) = Path(f"/proc/{gateway.pid}/cwd").glob("build/bench-*/bench.sqlite3")
        rows = [read_rows(path) for _ in range(ROUNDS)]
        plain_mb_s = statistics.median(size / s / MEGABYTE for s, size in rows)
        # Once before, so that what every export needs is there.
        export(gateway, short, "markdown")
        for name, export_format, reach in (
            (conversation, "jsonl", 0.05),
            (conversation, "json", 0.05),
            (short, "markdown", 0.001),
        ):
            before_bytes = rss_bytes(gateway.pid)
            runs = [export(gateway, name, export_format) for _ in range(ROUNDS)]
            size_mb = runs[0][1] / MEGABYTE
            grown_mb = max(max(peak for *_, peak in runs) - before_bytes, 0) / MEGABYTE
            mb_s = statistics.median(size / s / MEGABYTE for s, size, _ in runs)
            figures += [
                Figure(
                    what=f"export of {size_mb:.0f} MB as {export_format}", ours=mb_s, unit="MB/s",
                    peer=plain_mb_s, peer_name="SELECT of its messages", reach=reach,
                    more_is_better=True,
                ),
                Figure(
                    what=f"what the gateway grows by, {export_format}", ours=grown_mb, unit="MB",
                    peer=size_mb, peer_name="the export", reach=0.2 if name == conversation else 1.0,
                ),
            ]  # fmt: skip
    return figures
