"""Small rows of the log become segments, and no reader can tell."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from blockwire.content import View
from blockwire.stores import SqliteStore, check_store
from blockwire.stores.sqlite.joining import LOOSE_ROWS_AT_END, LOOSE_ROWS_MAX
from blockwire.testing.store_contract import numbers_of, plain_append, read_all
from blockwire.testing.store_script import Script, new_conversation
from tests.stores.support import change, opened

pytestmark = pytest.mark.anyio

VIEWS: list[View] = ["owner", "public"]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation())
        yield store


def row_spans(store: SqliteStore) -> list[tuple[int, int]]:
    with opened(store.path) as connection:
        return connection.execute(
            "SELECT first_seq, last_seq FROM log ORDER BY last_seq"
        ).fetchall()


async def write_mixed(store: SqliteStore, count: int) -> Script:
    """Append single events, every third of them private; leave the turn running."""
    script = Script()
    await store.append(script.start_turn())
    await store.append(script.start_block())
    await store.append(script.start_thought())
    for index in range(count):
        block_id = "b1" if index % 3 else "r1"
        await store.append(script.write(f"{index} ", block_id=block_id))
    return script


async def test_a_long_run_of_rows_is_joined_into_segments(store: SqliteStore) -> None:
    for index in range(500):
        await store.append(plain_append(str(index)))

    await store.join_rows()

    spans = row_spans(store)
    assert len(spans) <= 3 + LOOSE_ROWS_MAX
    assert spans[0] == (1, 200)
    assert spans[1] == (201, 400)
    assert [first for first, _ in spans[1:]] == [last + 1 for _, last in spans[:-1]]


@pytest.mark.requirement("store:log:segments")
async def test_every_cursor_reads_the_same_before_and_after(store: SqliteStore) -> None:
    script = await write_mixed(store, LOOSE_ROWS_MAX - 10)
    before = {view: await read_all(store, view) for view in VIEWS}
    rows_before = len(row_spans(store))
    end = numbers_of(before["owner"])[-1]

    for index in range(20):
        await store.append(script.write(f"more {index}"))
    await store.join_rows()

    assert len(row_spans(store)) < rows_before
    for view in VIEWS:
        for after in range(end + 1):
            expected = [event for event in before[view] if event["seq"] > after]
            for bytes_max in (1, 700, 1 << 20):
                events = await read_all(store, view, after=after, up_to=end, bytes_max=bytes_max)
                assert events == expected
    assert await store.check() == []


async def test_the_end_of_a_turn_joins_what_is_there(store: SqliteStore) -> None:
    script = await write_mixed(store, LOOSE_ROWS_AT_END + 5)

    await store.append(script.end_turn())
    await store.join_rows()

    assert len(row_spans(store)) <= 2
    assert await store.check() == []


async def test_numbers_go_on_after_joining_and_after_a_restart(store: SqliteStore) -> None:
    for index in range(LOOSE_ROWS_MAX + 1):
        await store.append(plain_append(str(index)))
    await store.join_rows()

    await store.append(plain_append())
    await store.aclose()
    await store.open()
    await store.append(plain_append())

    assert numbers_of(await read_all(store)) == list(range(1, LOOSE_ROWS_MAX + 4))


async def test_what_was_due_at_the_end_of_a_process_is_joined_by_the_next(
    store: SqliteStore, tmp_path: Path
) -> None:
    for index in range(40):
        await store.append(plain_append(str(index)))
    await store.aclose()
    change(store.path, "INSERT INTO segments VALUES (1, 0, 1)")

    await store.open()
    await store.join_rows()

    assert row_spans(store) == [(1, 40)]
    await store.aclose()
    assert check_store(tmp_path / "store.sqlite3") == []
    await store.open()


async def test_more_rows_than_one_step_takes_are_joined_in_several(store: SqliteStore) -> None:
    await store.append(plain_append("0"))
    await store.aclose()
    with opened(store.path) as connection:
        # As a process left it that never had a quiet moment.
        (frame,) = connection.execute("SELECT owner FROM log").fetchone()
        connection.execute("BEGIN")
        for seq in range(2, 1301):
            text = frame.replace(b"id: 1\n", b"id: %d\n" % seq).replace(
                b'"seq":1,', b'"seq":%d,' % seq
            )
            text = text.replace(b'"prev_seq":0', b'"prev_seq":%d' % (seq - 1))
            connection.execute(
                "INSERT INTO log VALUES (1, ?, ?, ?, 1, ?, NULL, 0)", (seq, seq, seq, text)
            )
        connection.execute("COMMIT")
    await store.open()

    await store.append(plain_append("last"))
    await store.join_rows()

    assert [last for _, last in row_spans(store)] == [200, 400, 600, 800, 1000, 1200, 1301]
    assert await store.check() == []


async def test_a_conversation_that_is_gone_is_not_joined(store: SqliteStore) -> None:
    async with anyio.create_task_group() as group:
        for index in range(3 * LOOSE_ROWS_MAX):
            group.start_soon(store.append, plain_append(str(index)))
    for index in range(LOOSE_ROWS_MAX):
        await store.append(plain_append(str(index)))

    await store.delete_conversation("conv_1")
    await store.join_rows()

    assert row_spans(store) == []
    writer = store._writer
    assert writer is not None
    assert await writer.perform(lambda ledger: ledger.join("conv_1")) is True
