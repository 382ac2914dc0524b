"""A million events in one conversation, a hundred thousand conversations: nothing that is opened grows.

What SQLite does is counted, in instructions of its machine. The large store is filled by SQL, in the layout that the store itself leaves behind.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from blockwire.ports import Append, Draft, RetentionLimits
from blockwire.stores import SqliteStore
from blockwire.stores.sqlite import reader, schema
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.testing.store_contract import merge_all, read_all, tell_turn
from blockwire.testing.store_script import T0, Script, make_turn, new_conversation
from tests.stores.support import opened

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(300)]

EVENTS: Final = 1_000_000
SEGMENT: Final = 200
CONVERSATIONS: Final = 100_000
TURNS: Final = 5_000

CONTROL: Final = "control: something that does grow"

READS: Final[dict[str, Callable[[sqlite3.Connection, int], Any]]] = {
    "list": lambda c, _: reader.list_conversations(c, None, None, 20),
    "list of a tenant": lambda c, _: reader.list_conversations(c, "t1", None, 20),
    "open": lambda c, _: reader.load_conversation(c, "conv_big"),
    "head": lambda c, end: reader.read_frames(c, "conv_big", "owner", (end, None), 1000),
    "tail": lambda c, end: reader.read_frames(c, "conv_big", "owner", (end - 50, None), 200_000),
    "tail of the public": lambda c, end: reader.read_frames(
        c, "conv_big", "public", (end - 50, None), 200_000
    ),
    "page in the middle": lambda c, end: reader.read_frames(
        c, "conv_big", "owner", (end // 2, None), 50_000
    ),
    "last messages": lambda c, _: reader.list_messages(c, "conv_big", (None,) * 3, 20, 64_000),
    "last turns": lambda c, _: reader.list_turns(c, "conv_big", None, 20),
    "unfinished turns": lambda c, _: reader.list_unfinished_turns(c),
    "beginning": lambda c, _: reader.log_start(c, "conv_big"),
    "start of a gateway": lambda c, _: Ledger(c),
    CONTROL: lambda c, _: c.execute(
        "SELECT count(*) FROM conversations WHERE title = 'x'"
    ).fetchone(),
}


def costs(path: Path) -> dict[str, int]:
    """Return what each read costs on a connection that has nothing in its cache."""
    with opened(path) as connection:
        (end,) = connection.execute(
            "SELECT max(last_seq) FROM log JOIN conversations c ON c.no = conversation_no "
            "WHERE c.id = 'conv_big'"
        ).fetchone()
    found = {}
    for name, read in READS.items():
        connection = schema.connect_reader(path)
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        connection.set_progress_handler(count, 1)
        read(connection, end)
        connection.set_progress_handler(None, 0)
        found[name] = steps
        connection.close()
    return found


async def submit_cost(store: SqliteStore, turn_id: str) -> dict[str, int]:
    """Return what a submit, an event, an end and a step of each kind of upkeep cost the writer."""
    owner = store._writer
    assert owner is not None
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    row = await store.load_conversation("conv_big")
    assert row is not None
    turn = make_turn(turn_id, "conv_big", idempotency_key=turn_id)
    data = msgspec.json.encode({"type": "test.said", "text": "x"})
    drafts = [Draft("test.said", data, data)]
    begin = Append(conversation_id="conv_big", drafts=drafts, ts=T0, turn=turn, new_turn=True)
    more = Append(conversation_id="conv_big", drafts=drafts, ts=T0, turn=turn)
    limits = RetentionLimits(
        events_before=1, conversation_bytes_max=2**60, total_bytes_max=2**60, pairs_before=1
    )
    await owner.perform(lambda ledger: ledger.connection.set_progress_handler(count, 1))
    found = {}
    for name, call in (
        ("submit", store.append(begin)),
        ("event", store.append(more)),
        ("key", store.find_turn_by_key("conv_big", turn_id)),
        ("trim", store.trim_step(limits)),
        ("vacuum", store.vacuum_step()),
    ):
        steps = 0
        await call
        found[name] = steps
    await owner.perform(lambda ledger: ledger.connection.set_progress_handler(None, 0))
    return found


async def fill_small(path: Path) -> None:
    async with SqliteStore(path, synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation("conv_big", T0, tenant="t1"))
        script = Script("conv_big")
        for number in range(60):
            await tell_turn(store, script, "a", "b", turn_id=f"turn_{number}")
        for number in range(60):
            name = f"conv_{number}"
            await store.create_conversation(new_conversation(name, number, tenant="t1"))
            await tell_turn(store, Script(name), "a")
        await merge_all(store)


def fill_large(path: Path) -> None:
    """Add conversations, turns, messages, and segments of the log, as SQL alone can."""
    with opened(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO conversations (id, created_at, updated_at, tags, tenant) "
            "VALUES (?, ?, 1, '[]', 't1')",
            ((f"conv_x{number}", number) for number in range(CONVERSATIONS)),
        )
        connection.execute(
            "INSERT INTO log SELECT no, 1, 1, 1, 1, x'', NULL, 0 FROM conversations "
            "WHERE id LIKE 'conv_x%'"
        )
        connection.execute(
            "INSERT INTO upkeep (conversation_no, is_due, settled_seq, oldest_ts) "
            "SELECT no, 0, 1, 5 FROM conversations WHERE id LIKE 'conv_x%'"
        )
        (number,) = connection.execute(
            "SELECT no FROM conversations WHERE id = 'conv_big'"
        ).fetchone()
        (last,) = connection.execute(
            "SELECT max(last_seq) FROM log WHERE conversation_no = ?", (number,)
        ).fetchone()
        template = (
            b"id: %d\nevent: test.said\n"
            b'data: {"type":"test.said","conversation_id":"conv_big","seq":%d,"prev_seq":%d,"ts":1}\n\n'
        )

        def segments() -> Any:
            for first in range(last + 1, last + EVENTS, SEGMENT):
                end = first + SEGMENT - 1
                frames = b"".join([template % (seq, seq, seq - 1) for seq in range(first, end + 1)])
                yield number, end, first, end, T0, frames

        connection.executemany(
            "INSERT INTO log (conversation_no, last_seq, first_seq, public_seq, ts, owner) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            segments(),
        )
        connection.executemany(
            "INSERT INTO turns (conversation_no, id, status, engine, created_at, "
            "request_message_id, first_seq, last_seq, epoch, producer_seq) "
            "VALUES (?, ?, 'completed', 'test', 1, 'm', ?, ?, 1, 0)",
            ((number, f"turn_x{n}", last + 1 + n * 10, last + 9 + n * 10) for n in range(TURNS)),
        )
        connection.executemany(
            "INSERT INTO messages (conversation_no, id, created_seq, finished_seq, message_bytes, "
            "message) VALUES (?, ?, ?, ?, 200, ?)",
            (
                (number, f"turn_x{n}", last + 1 + n * 10, last + 9 + n * 10,
                 f'{{"id":"turn_x{n}","role":"assistant","content":[]}}')
                for n in range(TURNS)
            ),
        )  # fmt: skip
        connection.execute(
            "UPDATE upkeep SET settled_seq = ?, log_bytes = 100 WHERE conversation_no = ?",
            (last + EVENTS, number),
        )
        connection.execute(
            "UPDATE segments SET joined_seq = ? WHERE conversation_no = ?", (last + EVENTS, number)
        )
        connection.execute("COMMIT")


async def test_nothing_that_is_opened_costs_more_in_a_store_that_is_a_thousand_times_larger(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    await fill_small(path)
    before = costs(path)
    async with SqliteStore(path, synchronous="NORMAL") as store:
        before |= await submit_cost(store, "turn_s1")

    fill_large(path)

    after = costs(path)
    async with SqliteStore(path, synchronous="NORMAL") as store:
        after |= await submit_cost(store, "turn_s2")
        row = await store.load_conversation("conv_big")
        assert row is not None
        assert row.head_seq > EVENTS
        assert len(await read_all(store, conversation_id="conv_big", after=row.head_seq - 5)) == 5
    with opened(path) as connection:
        assert connection.execute("SELECT count(*) FROM conversations").fetchone() > (
            CONVERSATIONS,
        )
    grown = {
        name: (before[name], after[name])
        for name in before
        if after[name] > 1.3 * before[name] + 60
    }
    assert grown.keys() == {CONTROL}, grown
