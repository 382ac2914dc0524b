"""What the writer's thread and its queue promise."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from blockwire.ports import FaultPoint
from blockwire.stores import SqliteStore
from blockwire.stores.sqlite import checkpoint, ledger, writer
from blockwire.testing.store_contract import numbers_of, plain_append, read_all
from blockwire.testing.store_script import Script, make_turn, new_conversation
from tests.stores.support import opened

pytestmark = pytest.mark.anyio


class Gate:
    """Holds the writer at every commit until it is let go, and counts the commits."""

    def __init__(self) -> None:
        self.commit_count = 0
        self._open = threading.Event()
        self._open.set()

    def close(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def reach(self, point: FaultPoint) -> None:
        if point == "commit.before":
            assert self._open.wait(5), "the test forgot the gate"
            self.commit_count += 1


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def store(tmp_path: Path, gate: Gate) -> AsyncIterator[SqliteStore]:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path, synchronous="NORMAL", faults=gate) as store:
        await store.create_conversation(new_conversation())
        yield store


async def test_what_is_queued_shares_one_commit_and_one_row(store: SqliteStore, gate: Gate) -> None:
    before = gate.commit_count

    async with anyio.create_task_group() as group:
        for index in range(100):
            group.start_soon(store.append, plain_append(str(index)))

    assert gate.commit_count == before + 1
    with opened(store.path) as connection:
        assert connection.execute("SELECT first_seq, last_seq FROM log").fetchall() == [(1, 100)]


async def test_nobody_is_answered_and_nobody_reads_before_the_commit(
    store: SqliteStore, gate: Gate
) -> None:
    gate.close()
    async with anyio.create_task_group() as group:
        group.start_soon(store.append, plain_append())
        # Only the commit holds it; readers do not wait.
        assert await read_all(store) == []
        loaded = await store.load_conversation("conv_1")
        assert loaded is not None
        assert loaded.head_seq == 0
        gate.open()

    assert numbers_of(await read_all(store)) == [1]


async def test_more_than_the_queue_holds_waits_in_order(
    store: SqliteStore, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_QUEUED_COUNT_MAX", 3)
    gate.close()
    numbers: list[int] = []

    async def append(index: int) -> None:
        appended = await store.append(plain_append(str(index)))
        numbers.append(appended.entries[0].seq)

    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            for index in range(20):
                group.start_soon(append, index)
            await asyncio.sleep(0)
            assert store._writer is not None
            assert store._writer._queued_count == 3
            gate.open()

    assert numbers == list(range(1, 21))
    assert [event["text"] for event in await read_all(store)] == [str(i) for i in range(20)]


async def test_the_queue_has_a_size_in_bytes_but_takes_one_of_any_size(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_QUEUED_BYTES_MAX", 1000)
    monkeypatch.setattr(writer, "_GROUP_BYTES_MAX", 1000)

    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(store.append, plain_append("x" * 5000))
                group.start_soon(store.append, plain_append("y"))

    texts = [event["text"] for event in await read_all(store)]
    assert texts == ["x" * 5000, "y"] * 5


async def test_who_gives_up_in_the_queue_is_not_stored(
    store: SqliteStore, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_QUEUED_COUNT_MAX", 1)
    gate.close()
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(store.append, plain_append("first"))
            await asyncio.sleep(0)
            async with anyio.create_task_group() as leaving:
                leaving.start_soon(store.append, plain_append("gave up"))
                await asyncio.sleep(0)
                leaving.cancel_scope.cancel()
            group.start_soon(store.append, plain_append("last"))
            await asyncio.sleep(0)
            gate.open()

    assert [event["text"] for event in await read_all(store)] == ["first", "last"]


async def test_closing_waits_for_those_who_wait_in_line(
    store: SqliteStore, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_QUEUED_COUNT_MAX", 2)
    gate.close()
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            for index in range(9):
                group.start_soon(store.append, plain_append(str(index)))
            await asyncio.sleep(0)
            group.start_soon(store.aclose)
            await asyncio.sleep(0)
            gate.open()
    await store.open()

    assert len(await read_all(store)) == 9


async def test_a_writer_that_is_never_idle_joins_now_and_then(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_GROUPS_PER_TIDY", 2)
    monkeypatch.setattr(ledger, "LOOSE_ROWS_MAX", 4)
    stops = False

    async def keep_busy(name: str) -> None:
        while not stops:
            await store.append(plain_append(conversation_id=name))

    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            await store.create_conversation(new_conversation("conv_2"))
            for _ in range(2):
                group.start_soon(keep_busy, "conv_2")
            for index in range(30):
                await store.append(plain_append(str(index)))
            while True:
                with opened(store.path) as connection:
                    (count,) = connection.execute(
                        "SELECT count(*) FROM log WHERE conversation_no = 1"
                    ).fetchone()
                if count < 10:
                    break
                await store.append(plain_append("one more"))
            stops = True

    await store.join_rows()
    assert await store.check() == []


async def test_caches_that_are_dropped_are_read_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "_CACHED_COUNT_MAX", 0)
    script = Script()
    await store.append(script.start_turn())
    await store.append(script.start_block())
    for producer_seq in range(5):
        turn = make_turn(producer_seq=producer_seq)
        await store.append(plain_append(turn=turn, expected_epoch=1))
    await store.append(script.end_turn())

    assert numbers_of(await read_all(store)) == list(range(1, 11))
    turn_row = await store.load_turn("conv_1", "turn_1")
    assert turn_row is not None
    assert (turn_row.first_seq, turn_row.last_seq) == (2, 10)
    assert await store.check() == []


async def test_checkpoints_keep_the_wal_short_beside_the_writer(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "_COMMITTED_BYTES", 10_000)
    size_before = store.path.stat().st_size

    with anyio.fail_after(10):
        while store.path.stat().st_size == size_before:
            await store.append(plain_append("x" * 5000))

    assert await store.check() == []
