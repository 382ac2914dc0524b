"""Searching in a million blocks, beside a plain FTS5 table that has the same texts.

The peer is what one would write in an afternoon: a table with its own copy of the text, the tokenizer
that comes with it, ``ORDER BY rank`` and ``snippet()``. It finds no pair of characters in Chinese or
Japanese, so there it has to look at every text.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from bench.figures import Figure
from blockwire.content import block_parts
from blockwire.jsontext import encode_json
from blockwire.ports import ConversationRow, SearchRequest
from blockwire.stores import SqliteStore
from blockwire.text import cut_snippet, parse_query

__all__ = ["measure_search"]

BLOCKS: Final = 1_000_000
BLOCKS_PER_MESSAGE: Final = 10
MESSAGES_PER_CONVERSATION: Final = 20
ROUNDS: Final = 5
HITS: Final = 20
TS: Final = 1_740_000_000_000

VOCABULARY: Final = 50_000
HALVES: Final = 4_000
WORDS_OF_HALF: Final = 25
# One half in so many is Japanese, about something else.
SOLID_EVERY: Final = 20
SOLID_OTHER: Final = (
    "\u96e8\u304c\u964d\u3063\u305f\u306e\u3067\u672c\u3092\u8aad\u3093\u3067\u5bdd\u305f"
)

RARE: Final = "quetzalcoatl"
PHRASE: Final = "kettle drum whistle"
COMMON: Final = "the"
SOLID: Final = "\u6771\u4eac"
# In one block of a thousand.
SOLID_TEXT: Final = (
    "\u660e\u65e5\u6771\u4eac\u306b\u884c\u304f\u304b\u3089\u5730\u56f3\u3092\u898b\u308b"
)


def halves(rng: random.Random) -> list[str]:
    """Return halves of texts: words as frequent as in a language, some Japanese."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = [COMMON] + [
        "".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(VOCABULARY)
    ]
    cumulative = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(words))))
    return [
        SOLID_OTHER
        if number % SOLID_EVERY == 0
        else " ".join(rng.choices(words, cum_weights=cumulative, k=WORDS_OF_HALF))
        for number in range(HALVES)
    ]


def texts(count: int) -> Iterator[str]:
    """Yield the texts of so many blocks, always the same ones."""
    rng = random.Random(7)
    parts = halves(rng)
    for number in range(count):
        text = f"{rng.choice(parts)} {rng.choice(parts)}"
        if number % 100_000 == 500:
            text += f" {RARE}"
        if number % 1_000 == 300:
            text += f" {PHRASE}"
        if number % 1_000 == 700:
            text += f" {SOLID_TEXT}"
        yield text


def fill_store(path: Path, count: int) -> None:
    """Write the messages as they are stored; the store makes the index when it is opened."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        source = texts(count)
        per_conversation = BLOCKS_PER_MESSAGE * MESSAGES_PER_CONVERSATION
        for number in range(count // per_conversation):
            row = (number + 10, f"conv_{number}", TS, TS, "[]")
            connection.execute(
                "INSERT INTO conversations (no, id, created_at, updated_at, tags) VALUES (?,?,?,?,?)",
                row,
            )
        for number in range(count // BLOCKS_PER_MESSAGE):
            blocks = [
                {"id": f"block_{place}", "type": "prose", "markdown": text}
                for place, text in enumerate(itertools.islice(source, BLOCKS_PER_MESSAGE))
            ]
            message = {
                "id": f"msg_{number}", "role": "assistant", "status": "completed",
                "content": blocks, "created_at": TS + number,
            }  # fmt: skip
            data = encode_json(message)  # type: ignore[arg-type]  # it is JSON
            place, seq = divmod(number, MESSAGES_PER_CONVERSATION)
            values = (place + 10, f"msg_{number}", seq + 1, seq + 1, len(data), data)
            connection.execute(
                "INSERT INTO messages (conversation_no, id, created_seq, finished_seq, message_bytes, "
                "message) VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT))",
                values,
            )
        connection.execute("UPDATE search_state SET words_version = ''")
        connection.execute("COMMIT")


def make_peer(path: Path, count: int) -> float:
    """Return how long the peer takes to index the texts."""
    started_s = time.perf_counter()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE VIRTUAL TABLE plain USING fts5 (text)")
        source = texts(count)
        while rows := [(text,) for text in itertools.islice(source, 640)]:
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO plain (text) VALUES (?)", rows)
            connection.execute("COMMIT")
    return time.perf_counter() - started_s


def peer_search(connection: sqlite3.Connection, query: str) -> int:
    """Return how many hits the first page of the peer has."""
    if query == SOLID:
        found = connection.execute(
            "SELECT rowid, text FROM plain WHERE text LIKE ? ORDER BY rowid DESC LIMIT ?",
            (f"%{query}%", HITS),
        )
    else:
        found = connection.execute(
            "SELECT rowid, snippet(plain, 0, '[', ']', '', 20) FROM plain WHERE plain MATCH ? "
            "ORDER BY rank LIMIT ?",
            (query, HITS),
        )
    return len(found.fetchall())


async def our_search(store: SqliteStore, query: str) -> int:
    """Return how many hits our first page has, snippets cut."""
    parsed = parse_query(query)
    page = await store.search(SearchRequest(query=parsed, limit=HITS))
    for hit in page.hits:
        for part in block_parts(hit.block):
            cut_snippet(parsed, part)
    return len(page.hits)


def _median_ms(work: Callable[[], Any]) -> float:
    spans_ms: list[float] = []
    for _ in range(ROUNDS + 1):
        started_s = time.perf_counter()
        work()
        spans_ms.append((time.perf_counter() - started_s) * 1000)
    return statistics.median(spans_ms[1:])


async def _build(path: Path) -> float:
    started_s = time.perf_counter()
    async with SqliteStore(path) as store:
        while (await store.index_state()).waiting_count:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.05)
        return time.perf_counter() - started_s


def _index_bytes(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (size_bytes,) = connection.execute(f"SELECT sum(length(block)) FROM {table}").fetchone()
        return int(size_bytes)


def measure_search(*, quick: bool) -> list[Figure]:
    """Measure the first page of four queries, the size of the index and how fast it is made."""
    count = BLOCKS // (20 if quick else 1)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", ".")) as folder:
        ours, peer = Path(folder) / "ours.sqlite3", Path(folder) / "peer.sqlite3"
        asyncio.run(_make_empty(ours))
        fill_store(ours, count)
        build_s = asyncio.run(_build(ours))
        peer_s = make_peer(peer, count)
        text_bytes = sum(len(text.encode()) for text in texts(count))
        figures = _queries(ours, peer)
        our_bytes = _index_bytes(ours, "search_words_data") / text_bytes
        peer_bytes = _index_bytes(peer, "plain_data") / text_bytes
    return [
        *figures,
        Figure(
            what="index bytes a byte of text", ours=our_bytes, unit="B", peer=peer_bytes,
            peer_name="plain FTS5, beside its copy of the text", reach=1.6,
            note=f"{count:,} blocks, {text_bytes / 1e6:,.0f} MB of text",
        ),
        Figure(
            what="index of all blocks made again", ours=count / build_s, unit="blocks/s",
            peer=count / peer_s, peer_name="plain FTS5", reach=0.3, more_is_better=True,
            note="in the background, in steps of 64 messages",
        ),
    ]  # fmt: skip


async def _make_empty(path: Path) -> None:
    async with SqliteStore(path) as store:
        await store.create_conversation(
            ConversationRow(id="conv_first", created_at=TS, updated_at=TS)
        )


def _queries(ours: Path, peer: Path) -> list[Figure]:
    figures: list[Figure] = []
    with (
        asyncio.Runner() as runner,
        closing(sqlite3.connect(peer, check_same_thread=False)) as connection,
    ):
        store = SqliteStore(ours)
        runner.run(store.open())
        for name, query in (
            ("a common word", COMMON),
            ("a rare word", RARE),
            ("a phrase", f'"{PHRASE}"'),
            ("two characters of Japanese", SOLID),
        ):
            hits = runner.run(our_search(store, query)), peer_search(connection, query)
            our_ms = _median_ms(lambda query=query: runner.run(our_search(store, query)))  # type: ignore[misc]
            peer_ms = _median_ms(lambda query=query: peer_search(connection, query))  # type: ignore[misc]
            figures.append(
                Figure(
                    what=f"search for {name}, first page with snippets", ours=our_ms, unit="ms",
                    peer=peer_ms, peer_name="plain FTS5" if query != SOLID else "LIKE",
                    reach=0.5 if query == COMMON else 50.0,
                    note=f"hits of the page: {hits[0]}, of the peer {hits[1]}",
                )
            )  # fmt: skip
        runner.run(store.aclose())
    return figures
