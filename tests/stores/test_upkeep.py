"""Upkeep of the SQLite file: what is written, what is found by an index, what a kill leaves."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from blockwire.content import BlockCompleted
from blockwire.errors import StoreError
from blockwire.ports import RetentionLimits
from blockwire.stores import SqliteStore, check_store
from blockwire.stores.sqlite import ledger, merging, schema, trimming, writer
from blockwire.stores.sqlite.retention import vacuum_once
from blockwire.testing.store_contract import (
    fold,
    list_messages,
    merge_all,
    plain_append,
    read_all,
    same,
    tell_turn,
    trim_all,
)
from blockwire.testing.store_script import T0, Script, new_conversation
from tests.stores.support import assert_killed, change, opened, run_script

pytestmark = pytest.mark.anyio

DAY_MS = 86_400_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "store.sqlite3", synchronous="NORMAL") as store:
        await store.create_conversation(new_conversation())
        yield store


def rows(store: SqliteStore, statement: str) -> list[tuple[Any, ...]]:
    with opened(store.path) as connection:
        return connection.execute(statement).fetchall()


async def write_long(store: SqliteStore, script: Script, count: int, text: str = "word ") -> None:
    await store.append(script.start_turn())
    await store.append(script.start_block())
    for _ in range(count // 50):
        await store.append(script.write(*[text] * 50))


# merging ------------------------------------------------------------------------------------
async def test_a_long_answer_becomes_few_rows_and_few_bytes(store: SqliteStore) -> None:
    script = Script()
    await write_long(store, script, 5_000)
    before = rows(store, "SELECT sum(length(owner)) FROM log")[0][0]
    whole = fold(await read_all(store))
    await store.append(script.end_turn())

    await merge_all(store)

    after, count = rows(store, "SELECT sum(length(owner)), count(*) FROM log")[0]
    lengths = rows(store, "SELECT sum(length(lengths)) FROM merges")[0][0]
    assert count == 1
    assert (after + lengths) * 20 < before
    known = fold(await read_all(store, up_to=2_000))
    assert same(fold(await read_all(store, after=2_000), known), script.state)
    assert whole.running
    assert await store.check() == []


async def test_what_is_merged_is_settled_and_read_no_more(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "SEGMENT_FRAMES", 8)
    script = Script()
    for number in range(10):
        await tell_turn(store, script, "a", "b", turn_id=f"turn_{number}")
    await merge_all(store)
    (settled, due) = rows(store, "SELECT settled_seq, is_due FROM upkeep")[0]
    spans = rows(store, f"SELECT last_seq, first_seq, owner FROM log WHERE last_seq <= {settled}")
    assert due == 0
    assert settled > 80

    await tell_turn(store, script, "c", turn_id="turn_10")
    await merge_all(store)
    await store.join_rows()

    later = rows(store, f"SELECT last_seq, first_seq, owner FROM log WHERE last_seq <= {settled}")
    assert later == spans
    assert rows(store, "SELECT settled_seq FROM upkeep")[0][0] > settled
    assert await store.check() == []


async def test_blocks_completed_behind_an_open_one_are_merged(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "SEGMENT_FRAMES", 3)
    monkeypatch.setattr(merging, "_WINDOW_EVENTS", 4)
    script = Script()
    await store.append(script.start_turn())
    await store.append(script.start_block())
    await store.append(script.write("open ", "from ", "here"))
    for number in range(2, 7):
        await store.append(script.start_block(block_id=f"b{number}"))
        await store.append(script.write("a", "b", "c", block_id=f"b{number}"))
        completed = BlockCompleted(turn_id="turn_1", block_id=f"b{number}")
        await store.append(script.tell(completed))
        await merge_all(store)

    texts = [event["text"] for event in await read_all(store) if "text" in event]
    assert texts == ["open ", "from ", "here", *["abc"] * 5]
    assert rows(store, "SELECT settled_seq FROM upkeep")[0][0] < 4
    await store.append(script.end_turn())
    await merge_all(store)
    assert same(fold(await read_all(store)), script.state)
    assert rows(store, "SELECT settled_seq FROM upkeep")[0][0] > 20
    assert await store.check() == []


async def test_what_is_due_is_found_again_after_a_restart(store: SqliteStore) -> None:
    script = Script()
    await tell_turn(store, script, "a", "b", "c")
    await store.merge_step()
    await store.aclose()
    await store.open()

    await merge_all(store)

    assert [e["text"] for e in await read_all(store) if "text" in e] == ["hmwell", "abc"]


async def test_a_busy_conversation_does_not_starve_the_others(store: SqliteStore) -> None:
    scripts = [Script(), Script("conv_2")]
    await store.create_conversation(new_conversation("conv_2"))
    for script in scripts:
        await tell_turn(store, script, "a", "b")
    for number in range(2, 6):
        # Something is completed in the first one between any two steps.
        await store.merge_step()
        await store.merge_step()
        await store.merge_step()
        await tell_turn(store, scripts[0], "a", turn_id=f"turn_{number}")

    texts = [e["text"] for e in await read_all(store, conversation_id="conv_2") if "text" in e]
    assert texts == ["hmwell", "ab"]


async def test_a_damaged_row_is_left_for_the_check_and_the_rest_goes_on(
    store: SqliteStore,
) -> None:
    await store.create_conversation(new_conversation("conv_2"))
    script = Script("conv_2")
    await tell_turn(store, Script(), "a", "b")
    await tell_turn(store, script, "a", "b")
    change(store.path, "UPDATE log SET owner = x'00' WHERE last_seq = 3 AND conversation_no = 1")

    await merge_all(store)

    assert rows(store, "SELECT length(owner) FROM log WHERE last_seq = 3 AND conversation_no = 1")
    texts = [e["text"] for e in await read_all(store, conversation_id="conv_2") if "text" in e]
    assert texts == ["hmwell", "ab"]
    assert {problem.where for problem in await store.check()} == {"conv_1"}


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE merges SET lengths = x'0101'", "merge_wrong"),
        ("DELETE FROM merges WHERE last_seq = (SELECT max(last_seq) FROM merges)", "log_gap"),
        ("INSERT INTO merges VALUES (1, 1000, 999, 1, NULL)", "merge_wrong"),
        ("UPDATE log SET is_merged = 0", "log_gap"),
        ("UPDATE upkeep SET expired_seq = 3", "event_refused"),
        ("UPDATE turns SET model = 'other'", "turn_differs"),
        ("UPDATE turns SET provider = 'other'", "turn_differs"),
        ('UPDATE turns SET error = \'{"code":"x"}\'', "turn_differs"),
        ("UPDATE turns SET epoch = 0", "turn_differs"),
        ("UPDATE turns SET producer_seq = -1", "turn_differs"),
        ('UPDATE turns SET request = \'{"id":"x"}\'', "turn_differs"),
    ],
)
@pytest.mark.requirement("store:check:finds")
async def test_the_check_understands_merged_logs(
    store: SqliteStore, statement: str, code: str
) -> None:
    await tell_turn(store, Script(), "a", "b", "c")
    await merge_all(store)
    assert await store.check() == []

    change(store.path, statement)

    assert code in {problem.code for problem in await store.check()}


async def test_a_chore_that_fails_is_told_and_nothing_is_lost(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script()
    await tell_turn(store, script, "a", "b")

    def broken(*_: object) -> None:
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(merging, "merge_spans", broken)
        with pytest.raises(StoreError) as refused:
            await merge_all(store)
    assert refused.value.code == "store_unavailable"
    await store.append(plain_append())

    # Others come first: one that always fails must not keep them waiting.
    assert await store.merge_step() is False
    await merge_all(store)
    assert [e["text"] for e in await read_all(store) if "block_id" in e and "text" in e] == [
        "hmwell", "ab",
    ]  # fmt: skip


async def test_chores_of_a_store_that_is_closed_are_refused(store: SqliteStore) -> None:
    await store.aclose()
    with pytest.raises(StoreError) as refused:
        await store.merge_step()
    assert refused.value.code == "store_closed"
    await store.open()


async def test_a_chore_that_waits_at_the_end_is_told_and_one_given_up_is_not_done(
    store: SqliteStore,
) -> None:
    done: list[str] = []
    held = asyncio.Event()
    loop = asyncio.get_running_loop()
    owner = store._writer
    assert owner is not None

    def hold(_ledger: object) -> None:
        loop.call_soon_threadsafe(held.set)
        # The thread is busy until the chores behind it are queued.
        asyncio.run_coroutine_threadsafe(_queue_more(), loop).result(10)

    waiting: list[asyncio.Future[None]] = []

    async def _queue_more() -> None:
        waiting.append(owner.do_chore(lambda _: done.append("first")))
        waiting.append(owner.do_chore(lambda _: done.append("second")))
        waiting[1].cancel()

    await owner.do_chore(hold)
    await waiting[0]
    await store.append(plain_append())

    assert done == ["first"]


async def test_a_writer_that_is_never_idle_does_a_chore_now_and_then(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_GROUPS_PER_TIDY", 2)
    await tell_turn(store, Script(), "a", "b")
    is_done = False

    async def append_on() -> None:
        while not is_done:
            await store.append(plain_append())

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(append_on)
            await merge_all(store)
            is_done = True


# trimming -----------------------------------------------------------------------------------
async def test_rows_before_the_beginning_leave_a_few_at_a_time(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trimming, "_ROWS_MAX", 3)
    monkeypatch.setattr(ledger, "LOOSE_ROWS_AT_END", 10**6)
    script = Script()
    for day in range(6):
        script.ts = T0 + day * DAY_MS
        await tell_turn(store, script, "a", "b", turn_id=f"turn_{day}")
    count = rows(store, "SELECT count(*) FROM log")[0][0]
    limits = RetentionLimits(events_before=T0 + 4 * DAY_MS)

    counts = [count]
    starts = [0]
    while await store.trim_step(limits):
        counts.append(rows(store, "SELECT count(*) FROM log")[0][0])
        starts.append(await store.log_start("conv_1"))
        # Readers go by the beginning, wherever the rows are.
        with pytest.raises(StoreError):
            await read_all(store, after=starts[-1] - 1)
        assert (await read_all(store, after=starts[-1]))[0]["seq"] == starts[-1] + 1
        assert await store.check() == []

    assert max(before - after for before, after in pairwise(counts)) <= 3
    assert starts == sorted(starts)
    assert rows(store, "SELECT min(first_seq) FROM log")[0][0] == starts[-1] + 1
    assert rows(store, "SELECT is_trimming FROM upkeep") == [(0,)]


async def test_a_segment_of_several_turns_is_cut_between_them(store: SqliteStore) -> None:
    script = Script()
    for day in range(4):
        script.ts = T0 + day * DAY_MS
        await tell_turn(store, script, "a", "b", turn_id=f"turn_{day}")
    await merge_all(store)
    assert rows(store, "SELECT count(*) FROM log")[0][0] == 1

    await trim_all(store, RetentionLimits(events_before=T0 + 2 * DAY_MS))

    start = await store.log_start("conv_1")
    assert rows(store, "SELECT first_seq FROM log") == [(start + 1,)]
    assert rows(store, f"SELECT count(*) FROM merges WHERE last_seq <= {start}") == [(0,)]
    assert await store.check() == []


async def test_what_a_log_holds_is_counted_as_it_is(store: SqliteStore) -> None:
    script = Script()
    total = "SELECT coalesce(sum(length(owner) + coalesce(length(public), 0)), 0) FROM log"
    for number in range(30):
        await tell_turn(store, script, *["words "] * 30, turn_id=f"turn_{number}")
        if number % 7 == 0:
            await store.join_rows()
    await merge_all(store)
    size_bytes = rows(store, total)[0][0]
    assert rows(store, "SELECT log_bytes FROM upkeep") == [(size_bytes,)]
    assert rows(store, "SELECT log_bytes FROM log_usage") == [(size_bytes,)]

    await trim_all(store, RetentionLimits(total_bytes_max=size_bytes // 2))

    left = rows(store, total)[0][0]
    assert 0 < left <= size_bytes // 2
    assert rows(store, "SELECT log_bytes FROM log_usage") == [(left,)]
    await store.delete_conversation("conv_1")
    assert rows(store, "SELECT log_bytes FROM log_usage") == [(0,)]


async def test_what_cannot_leave_is_not_looked_at_again(store: SqliteStore) -> None:
    script = Script()
    await store.append(script.start_turn())
    await store.append(script.start_block())
    await store.append(script.tell(BlockCompleted(turn_id="turn_1", block_id="b1")))
    await merge_all(store)

    limits = RetentionLimits(events_before=T0 + DAY_MS)
    steps = 0
    while await store.trim_step(limits):
        steps += 1

    assert steps == 3, "the question leaves, its rows, and then it is known that nothing can"
    assert rows(store, "SELECT oldest_ts FROM upkeep") == [(None,)]
    await store.append(script.end_turn())
    await merge_all(store)
    assert rows(store, "SELECT oldest_ts FROM upkeep") == [(T0,)]


async def test_an_answer_that_takes_long_is_looked_at_when_it_can_be_old(
    store: SqliteStore,
) -> None:
    script = Script()
    await store.append(script.start_turn())
    await store.append(script.start_block())
    script.ts = T0 + 5 * DAY_MS
    await store.append(script.write("late"))
    await store.append(script.end_turn())
    await merge_all(store)

    await trim_all(store, RetentionLimits(events_before=T0 + DAY_MS))

    assert await store.log_start("conv_1") == 1, "the question is a message of its own"
    assert rows(store, "SELECT oldest_ts FROM upkeep") == [(T0 + 5 * DAY_MS,)]
    await trim_all(store, RetentionLimits(events_before=T0 + 6 * DAY_MS))
    assert await store.log_start("conv_1") == 6


# vacuum -------------------------------------------------------------------------------------
@pytest.mark.requirement("store:vacuum:online")
async def test_free_space_is_given_back_while_writers_go_on(store: SqliteStore) -> None:
    await store.create_conversation(new_conversation("conv_2"))
    for _ in range(40):
        await store.append(plain_append("x" * 100_000))
    await store.delete_conversation("conv_1")
    (free,) = rows(store, "PRAGMA freelist_count")[0]
    (before,) = rows(store, "PRAGMA page_count")[0]
    assert free > 500
    appended = 0
    is_done = False

    async def append_on() -> None:
        nonlocal appended
        while not is_done:
            await store.append(plain_append(conversation_id="conv_2"))
            appended += 1

    steps: list[int] = []
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(append_on)
            while await store.vacuum_step():
                steps.append(appended)
            is_done = True

    (after,) = rows(store, "PRAGMA page_count")[0]
    assert before - after > 300
    # Somebody was served between most steps.
    assert len(set(steps)) > len(steps) // 2
    assert await store.check() == []


async def test_a_file_of_the_first_release_keeps_its_free_pages(tmp_path: Path) -> None:
    connection = schema.connect_writer(tmp_path / "new.sqlite3", synchronous="NORMAL")
    assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)
    connection.close()
    old = tmp_path / "old.sqlite3"
    change(old, "CREATE TABLE t (x)")
    with opened(old) as connection:
        connection.execute("INSERT INTO t VALUES (zeroblob(4000000))")
        connection.execute("DELETE FROM t")
        assert vacuum_once(connection) is False


# kills --------------------------------------------------------------------------------------
WORK = """
    import asyncio, os, signal, sys
    from blockwire.ports import RetentionLimits
    from blockwire.stores import SqliteStore
    from blockwire.stores.sqlite import merging, trimming
    from blockwire.testing.store_contract import tell_turn
    from blockwire.testing.store_script import T0, Script, new_conversation

    merging.SEGMENT_FRAMES, merging._WINDOW_EVENTS, trimming._ROWS_MAX = 6, 8, 2

    class Kill:
        def __init__(self, point, times):
            self.point, self.times = point, times
        def reach(self, point):
            if point == self.point:
                self.times -= 1
                if self.times == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

    async def main(path, point, times):
        store = SqliteStore(path, faults=Kill(point, int(times)))
        await store.open()
        await store.create_conversation(new_conversation())
        script = Script()
        number = 0
        while True:
            number += 1
            script.ts = T0 + number
            await tell_turn(store, script, *"some words", turn_id=f"turn_{number}")
            for _ in range(3):
                await store.merge_step()
            await store.trim_step(RetentionLimits(events_before=T0 + number - 3))
            await store.vacuum_step()

    asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("point", ["compact.before", "compact.after"])
@pytest.mark.parametrize("times", [1, 4, 23, 60])
@pytest.mark.requirement("store:upkeep:harmless")
async def test_upkeep_that_is_killed_is_done_or_not(tmp_path: Path, point: str, times: int) -> None:
    path = tmp_path / "store.sqlite3"

    assert_killed(run_script(WORK, path, point, times))

    assert check_store(path) == []
    async with SqliteStore(path) as store:
        start = await store.log_start("conv_1")
        messages = await list_messages(store, limit=10_000, bytes_max=1 << 30)
        # The next process goes on where that one was.
        await merge_all(store)
        assert await store.check() == []
        await trim_all(store, RetentionLimits(events_before=T0 + 10_000))
        assert await store.check() == []
        assert await list_messages(store, limit=10_000, bytes_max=1 << 30) == messages
        assert await store.log_start("conv_1") > start or not messages


# growth -------------------------------------------------------------------------------------
@pytest.mark.requirement("store:upkeep:index")
async def test_what_upkeep_reads_does_not_grow_with_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    steps: list[tuple[int, ...]] = []
    limits = RetentionLimits(
        events_before=T0 - 1, conversation_bytes_max=10**9, total_bytes_max=10**9, pairs_before=1
    )
    async with SqliteStore(path, synchronous="NORMAL") as store:
        for first, last in ((0, 20), (20, 400)):
            for index in range(first, last):
                name = f"conv_{index}"
                await store.create_conversation(new_conversation(name))
                await tell_turn(store, Script(name), "a", "b")
            await merge_all(store)
            await tell_turn(store, Script("conv_3"), "a", turn_id=f"turn_{last}")
            steps.append(await _count_steps(store, limits))
            await merge_all(store)

    assert all(new <= 1.3 * old + 50 for old, new in zip(*steps, strict=True)), steps


async def _count_steps(store: SqliteStore, limits: RetentionLimits) -> tuple[int, ...]:
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1

    owner = store._writer
    assert owner is not None
    await owner.perform(lambda ledger: ledger.connection.set_progress_handler(count, 1))
    found: list[int] = []
    for step in (store.merge_step(), store.trim_step(limits), store.vacuum_step()):
        counted = 0
        await step
        found.append(counted)
    await owner.perform(lambda ledger: ledger.connection.set_progress_handler(None, 0))
    return tuple(found)
