"""How fast the SQLite store acknowledges and replays: ``python bench/store.py``.

Everything durable (``synchronous=FULL``), in a temporary folder on the disk of the working folder;
set ``BENCH_DIR`` for another one.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from blockwire.ports import Append, ConversationRow, Draft
from blockwire.stores import SqliteStore

APPENDERS = 1_000
ROUNDS = 3
APPEND_S = 2.0
REPLAY_EVENTS = 100_000
PAGE_BYTES = 1024 * 1024


def draft(turn: int, text: str = "a few words ") -> Draft:
    data = (
        b'{"type":"content.block.delta","turn_id":"turn_%026d","block_id":"block_%026d",'
        b'"field":"markdown","text":"%b"}' % (turn, turn, text.encode())
    )
    return Draft("content.block.delta", data, data)


async def measure_appends(folder: Path, events_per_append: int) -> dict[str, float]:
    """Return acknowledged events a second and the 99th percentile of waiting, in milliseconds."""
    async with SqliteStore(folder / f"append{events_per_append}-{os.urandom(4).hex()}.sqlite3") as store:
        names = [f"conv_{index:026d}" for index in range(APPENDERS)]
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(
                    store.create_conversation(ConversationRow(id=name, created_at=1, updated_at=1))
                )
        waits: list[float] = []
        total = 0
        end = time.perf_counter() + APPEND_S

        async def produce(index: int, name: str) -> None:
            nonlocal total
            change = Append(
                conversation_id=name, drafts=[draft(index)] * events_per_append, ts=1_700_000_000_000
            )
            while (started := time.perf_counter()) < end:
                await store.append(change)
                waits.append(time.perf_counter() - started)
                total += events_per_append

        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for index, name in enumerate(names):
                group.create_task(produce(index, name))
        duration = time.perf_counter() - started
        waits.sort()
        return {"events_per_s": total / duration, "p99_ms": waits[int(len(waits) * 0.99)] * 1e3}


async def replay(store: SqliteStore, name: str) -> float:
    started = time.perf_counter()
    after = count = 0
    while True:
        page = await store.read_frames(name, after, view="owner", bytes_max=PAGE_BYTES)
        after = page.last_seq
        count += page.count
        if page.at_end:
            break
    assert count == REPLAY_EVENTS, count
    return (time.perf_counter() - started) * 1e3


async def measure_replay(folder: Path) -> dict[str, float]:
    """Return milliseconds to read 100,000 events, from rows of single events and from segments."""
    result = {}
    path = folder / f"replay-{os.urandom(4).hex()}.sqlite3"
    store = SqliteStore(path)
    await store.open()
    name = "conv_x"
    await store.create_conversation(ConversationRow(id=name, created_at=1, updated_at=1))
    committer_joins = True
    from blockwire.stores.sqlite import writer

    tidy_up = writer._Committer.tidy_up
    patience = writer._Committer.patience_s
    writer._Committer.tidy_up = lambda self: None  # type: ignore[method-assign]
    writer._Committer.patience_s = None  # type: ignore[assignment, method-assign]
    for start in range(0, REPLAY_EVENTS, 1000):
        # One row an event: a row holds what one group has of a conversation.
        for _ in range(1000):
            await store.append(Append(conversation_id=name, drafts=[draft(start)], ts=1))
    result["rows_ms"] = statistics.median([await replay(store, name) for _ in range(5)])
    writer._Committer.tidy_up = tidy_up  # type: ignore[method-assign]
    writer._Committer.patience_s = patience  # type: ignore[method-assign]
    assert committer_joins
    started = time.perf_counter()
    await store.ping()
    await store.append(Append(conversation_id=name, drafts=[draft(1)] * 0, ts=1))
    while store._writer is not None and await is_due(store):
        await asyncio.sleep(0.01)
    result["joining_ms"] = (time.perf_counter() - started) * 1e3
    result["segments_ms"] = statistics.median([await replay(store, name) for _ in range(7)])
    await store.aclose()
    return result


async def is_due(store: SqliteStore) -> bool:
    assert store._writer is not None
    return bool(await store._writer.perform(lambda ledger: bool(ledger.due)))


async def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", ".")) as name:
        folder = Path(name)
        result: dict[str, Any] = {}
        for events in (1, 5):
            rounds = [await measure_appends(folder, events) for _ in range(ROUNDS)]
            rounds.sort(key=lambda r: r["events_per_s"])
            result[f"append_{events}"] = rounds[ROUNDS // 2]
        result["replay"] = await measure_replay(folder)
        return result


def main() -> dict[str, Any]:
    return asyncio.run(run(), loop_factory=uvloop.new_event_loop) if False else uvloop.run(run())


if __name__ == "__main__":
    for key, value in main().items():
        print(key, {k: round(v, 2) for k, v in value.items()})
