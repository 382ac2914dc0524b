"""How fast the SQLite store acknowledges and replays: ``python bench/store.py``.

Everything durable (``synchronous=FULL``), in a temporary folder inside the working folder; set
``BENCH_DIR`` for another disk.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import uvloop

from blockwire.ports import Append, ConversationRow, Draft
from blockwire.stores import SqliteStore
from blockwire.testing.store_script import Script, new_conversation

APPENDERS = 1_000
ROUNDS = 3
ROUND_S = 2.0
REPLAY_EVENTS = 100_000
REPLAY_ROUNDS = 7
PAGE_BYTES = 1024 * 1024
SIZE_EVENTS = 20_000
TOKEN = "word "
TS = 1_740_000_000_000


def delta(number: int) -> Draft:
    """Return a delta of a few words, as an engine makes them."""
    data = (
        b'{"type":"content.block.delta","turn_id":"turn_%026d","block_id":"block_%026d",'
        b'"field":"markdown","text":"a few words "}' % (number, number)
    )
    return Draft("content.block.delta", data, data)


def conversation(number: int) -> ConversationRow:
    return ConversationRow(id=f"conv_{number:026d}", created_at=TS, updated_at=TS)


async def measure_appends(folder: Path, events_per_append: int) -> dict[str, float]:
    """Return acknowledged events a second, and how long 99 of 100 appends wait at most."""
    waits_s: list[float] = []
    async with SqliteStore(folder / f"{os.urandom(8).hex()}.sqlite3") as store:
        async with asyncio.TaskGroup() as group:
            for number in range(APPENDERS):
                group.create_task(store.create_conversation(conversation(number)))
        started_s = time.perf_counter()
        end_s = started_s + ROUND_S

        async def append_again_and_again(number: int) -> None:
            change = Append(
                conversation_id=conversation(number).id,
                drafts=[delta(number)] * events_per_append,
                ts=TS,
            )
            while (asked_s := time.perf_counter()) < end_s:
                await store.append(change)
                waits_s.append(time.perf_counter() - asked_s)

        async with asyncio.TaskGroup() as group:
            for number in range(APPENDERS):
                group.create_task(append_again_and_again(number))
        duration_s = time.perf_counter() - started_s
    waits_s.sort()
    return {
        "events_per_s": len(waits_s) * events_per_append / duration_s,
        "p99_ms": waits_s[int(len(waits_s) * 0.99)] * 1000,
    }


async def replay_ms(store: SqliteStore, conversation_id: str) -> float:
    """Return how long it takes to read a whole log."""
    started_s = time.perf_counter()
    after = count = 0
    is_at_end = False
    while not is_at_end:
        page = await store.read_frames(conversation_id, after, view="owner", bytes_max=PAGE_BYTES)
        after, is_at_end = page.last_seq, page.at_end
        count += page.count
    assert count >= REPLAY_EVENTS
    return (time.perf_counter() - started_s) * 1000


async def median_replay_ms(store: SqliteStore, conversation_id: str) -> float:
    return statistics.median(
        [await replay_ms(store, conversation_id) for _ in range(REPLAY_ROUNDS)]
    )


async def measure_replay(folder: Path) -> dict[str, float]:
    """Return milliseconds to read 100,000 events: a row an event, and joined to segments."""
    row = conversation(0)
    change = Append(conversation_id=row.id, drafts=[delta(0)], ts=TS)
    path = folder / f"{os.urandom(8).hex()}.sqlite3"
    with patch("blockwire.stores.sqlite.ledger.LOOSE_ROWS_MAX", REPLAY_EVENTS * 2):
        # A row holds what one group commit has of a conversation, so: one append a commit.
        async with SqliteStore(path, synchronous="NORMAL") as store:
            await store.create_conversation(row)
            for _ in range(REPLAY_EVENTS):
                await store.append(change)
            rows_ms = await median_replay_ms(store, row.id)
    async with SqliteStore(path) as store:
        started_s = time.perf_counter()
        await store.append(change)
        await store.join_rows()
        joining_ms = (time.perf_counter() - started_s) * 1000
        segments_ms = await median_replay_ms(store, row.id)
    return {"rows_ms": rows_ms, "joining_ms": joining_ms, "segments_ms": segments_ms}


def used_bytes(path: Path) -> int:
    """Return what the tables of a closed store take, free pages left out."""
    with closing(sqlite3.connect(path)) as connection:
        count, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int((count - free) * size)


async def measure_sizes(folder: Path) -> dict[str, float]:
    """Return bytes on disk for a byte of an answer: a row an event, joined, merged."""
    path = folder / f"{os.urandom(8).hex()}.sqlite3"
    script = Script()
    async with SqliteStore(path, synchronous="NORMAL"):
        pass
    empty = used_bytes(path)
    sizes: list[int] = []
    with patch("blockwire.stores.sqlite.ledger.LOOSE_ROWS_MAX", SIZE_EVENTS * 2):
        async with SqliteStore(path, synchronous="NORMAL") as store:
            await store.create_conversation(new_conversation())
            await store.append(script.start_turn())
            await store.append(script.start_block())
            for _ in range(SIZE_EVENTS):
                await store.append(script.write(TOKEN))
    sizes.append(used_bytes(path))
    async with SqliteStore(path, synchronous="NORMAL") as store:
        await store.append(script.end_turn())
        await store.join_rows()
    sizes.append(used_bytes(path))
    async with SqliteStore(path, synchronous="NORMAL") as store:
        started_s = time.perf_counter()
        while await store.merge_step():
            pass
        merging_s = time.perf_counter() - started_s
    sizes.append(used_bytes(path))
    answer = SIZE_EVENTS * len(TOKEN)
    plain, joined, merged = ((size - empty) / answer for size in sizes)
    return {
        "plain": plain, "joined": joined, "merged": merged,
        "merging_us": merging_s / SIZE_EVENTS * 1e6,
    }  # fmt: skip


async def measure() -> dict[str, dict[str, float]]:
    result: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", ".")) as name:
        for events_per_append in (1, 5):
            rounds = [await measure_appends(Path(name), events_per_append) for _ in range(ROUNDS)]
            rounds.sort(key=lambda one: one["events_per_s"])
            result[f"append_{events_per_append}"] = rounds[ROUNDS // 2]
        result["replay"] = await measure_replay(Path(name))
        result["sizes"] = await measure_sizes(Path(name))
    return result


def main() -> dict[str, dict[str, float]]:
    """Return all figures, the median of several rounds."""
    return uvloop.run(measure())


if __name__ == "__main__":
    for title, figures in main().items():
        print(f"{title:10}", "  ".join(f"{name} {value:,.1f}" for name, value in figures.items()))
