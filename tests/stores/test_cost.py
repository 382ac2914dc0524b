"""What is opened or listed costs by the page, not by the size of the store."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blockwire.stores import SqliteStore
from blockwire.stores.sqlite import reader, schema
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.stores.sqlite.queries import SQL
from blockwire.testing.store_contract import plain_append, tell_turn
from blockwire.testing.store_script import Script, new_conversation
from tests.stores.support import values_for

pytestmark = pytest.mark.anyio

READS: dict[str, Callable[[sqlite3.Connection], Any]] = {
    "list": lambda c: reader.list_conversations(c, None, None, 5),
    "list of a tenant": lambda c: reader.list_conversations(c, "t1", None, 5),
    "load": lambda c: reader.load_conversation(c, "conv_1"),
    "tail": lambda c: reader.read_frames(c, "conv_1", "owner", (40, None), 1000),
    "last messages": lambda c: reader.list_messages(c, "conv_1", (None, None, None), 3, 10_000),
    "last turns": lambda c: reader.list_turns(c, "conv_1", None, 3),
    "unfinished turns": reader.list_unfinished_turns,
    "open": Ledger,
}


def steps_of(path: Path) -> dict[str, int]:
    """Return how many instructions of SQLite's machine each read takes."""
    counts = {}
    for name, read in READS.items():
        connection = schema.connect_reader(path)
        steps = 0

        def count() -> None:
            nonlocal steps
            steps += 1

        connection.set_progress_handler(count, 1)
        read(connection)
        connection.close()
        counts[name] = steps
    return counts


# One row; what is due or unfinished (partial indexes); a subquery that has a limit.
MAY_SCAN = {
    "ping": {"pings"},
    "list_due": {"s"},
    "next_trimmed": {"u"},
    # For a check, which reads everything.
    "count_conversations": {"conversations"},
    "list_unfinished_turns": {"t"},
    "count_loose": {"(subquery-1)"},
    # Conversations that are being made right now.
    "list_hidden": {"h"},
    # The gateway bounds them and asks once.
    "list_tokens": {"tokens"},
    # An index that is made again, or checked; how many words match is up to a virtual table.
    "clear_indexed_messages": {"search_messages"},
    "count_all_messages": {"messages"},
    "count_documents": {"search_words"},
    "has_document": {"search_words"},
    "list_documents": {"w", "json_each"},
    # One row for each tenant, for a check.
    "list_usage": {"attachment_usage"},
}


async def write(store: SqliteStore, first: int, last: int) -> None:
    for index in range(first, last):
        name = f"conv_{index}"
        await store.create_conversation(new_conversation(name, index, tenant="t1"))
        await tell_turn(store, Script(name), "a")


async def test_rows_touched_do_not_grow_with_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path, synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation("conv_1", 10**6, tenant="t1"))
        script = Script()
        for turn_id in ("turn_a", "turn_b", "turn_c", "turn_d"):
            await tell_turn(store, script, "a", turn_id=turn_id)
        await write(store, 10, 20)
        before = steps_of(path)

        await write(store, 20, 120)
        for number in range(40):
            await tell_turn(store, script, "a", turn_id=f"turn_{number}")
        after = steps_of(path)

    # The tail grew by what was written behind the cursor; its page did not.
    grown = {name: (before[name], after[name]) for name in before}
    assert {name for name, (old, new) in grown.items() if new > 1.3 * old + 30} == set(), grown


@pytest.mark.parametrize("name", sorted(SQL))
async def test_no_statement_scans_a_table_or_sorts(tmp_path: Path, name: str) -> None:
    connection = schema.connect_writer(tmp_path / "store.sqlite3", synchronous="NORMAL")
    schema.migrate(connection)
    text = SQL[name]

    plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + text, values_for(text))]
    connection.close()

    scans = {step.split()[1] for step in plan if step.startswith("SCAN")} - {"CONSTANT"}
    assert scans <= MAY_SCAN.get(name, set())
    assert not [step for step in plan if "TEMP B-TREE" in step]


async def test_a_page_reads_no_message_that_does_not_fit(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        await store.append(plain_append("x" * 10_000_000))
        await store.append(plain_append("y"))

        page = await store.read_frames("conv_1", 1, view="owner", bytes_max=1000)

    assert (page.count, page.at_end) == (1, True)
