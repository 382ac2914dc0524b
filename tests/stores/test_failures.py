"""What the disk can do to a store, with real files."""

import asyncio
import os
import resource
import signal
import sqlite3
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from blockwire.errors import StoreError
from blockwire.stores import SqliteStore, check_store
from blockwire.stores.sqlite import checkpoint
from blockwire.stores.sqlite.joining import LOOSE_ROWS_MAX
from blockwire.stores.sqlite.ledger import Ledger
from blockwire.testing.store_contract import numbers_of, plain_append, read_all, refuses
from blockwire.testing.store_script import Script, make_turn, new_conversation
from tests.stores.support import change, opened

pytestmark = pytest.mark.anyio

NOBODY = 65534
MEGABYTE = "0123456789" * 100_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        yield store


def set_pragma(ledger: Ledger, setting: str) -> None:
    ledger._connection.execute(f"PRAGMA {setting}")


async def set_page_limit(store: SqliteStore, more_pages: int) -> None:
    """Let the file grow by so many pages: a disk that fills up, without filling one."""
    writer = store._writer
    assert writer is not None

    def limit(ledger: Ledger) -> None:
        (count,) = ledger._connection.execute("PRAGMA page_count").fetchone()
        set_pragma(ledger, f"max_page_count = {count + more_pages}")

    await writer.perform(limit)


@pytest.mark.requirement("store:failure:full")
@pytest.mark.case("P08")
async def test_a_full_disk_refuses_what_is_too_large_and_nothing_else(store: SqliteStore) -> None:
    await store.append(plain_append("before"))
    await set_page_limit(store, 20)

    with refuses("store_full"):
        await store.append(plain_append(MEGABYTE))
    await store.append(plain_append("small"))
    await set_page_limit(store, 10_000)
    await store.append(plain_append(MEGABYTE))

    texts = [event["text"] for event in await read_all(store)]
    assert texts == ["before", "small", MEGABYTE]
    assert await store.check() == []


async def test_neighbours_of_what_does_not_fit_are_committed(store: SqliteStore) -> None:
    await set_page_limit(store, 20)
    outcomes: list[str] = []

    async def append(text: str) -> None:
        try:
            await store.append(plain_append(text))
        except StoreError as error:
            outcomes.append(error.code)
        else:
            outcomes.append(text)

    async with anyio.create_task_group() as group:
        for text in ("a", MEGABYTE, "b"):
            group.start_soon(append, text)

    assert sorted(outcomes) == ["a", "b", "store_full"]
    assert [event["text"] for event in await read_all(store)] == ["a", "b"]


@contextmanager
def file_size_limit(limit_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


async def test_a_write_that_the_system_cuts_off_is_a_full_store(store: SqliteStore) -> None:
    """Quotas and size limits fail in the middle of a write, unlike SQLite's own limit."""
    await store.append(plain_append("before"))

    with file_size_limit(1024 * 1024):
        with refuses("store_full"):
            await store.append(plain_append(MEGABYTE * 3))
        await store.append(plain_append("small"))
    await store.append(plain_append(MEGABYTE * 3))

    assert numbers_of(await read_all(store)) == [1, 2, 3]
    await store.aclose()
    assert check_store(store.path) == []
    await store.open()


@contextmanager
def as_somebody_who_may_not_write(folder: Path) -> Iterator[None]:
    """Root may write everywhere, so become somebody else."""
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can reach, unlike ``tmp_path``."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


async def test_a_store_that_cannot_be_written_says_so_and_can_be_checked(folder: Path) -> None:
    path = folder / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await store.append(plain_append())

    with as_somebody_who_may_not_write(folder):
        with pytest.raises(StoreError) as refused:
            await SqliteStore(path).open()
        problems = check_store(path)

    assert refused.value.code == "store_readonly"
    assert problems == []


async def test_a_file_that_became_readonly_refuses_writes_only(store: SqliteStore) -> None:
    await store.append(plain_append())
    writer = store._writer
    assert writer is not None
    await writer.perform(lambda ledger: set_pragma(ledger, "query_only = ON"))

    with refuses("store_readonly"):
        await store.append(plain_append())
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(_append_refused, store, "store_readonly")

    assert numbers_of(await read_all(store)) == [1]


async def _append_refused(store: SqliteStore, code: str) -> None:
    with refuses(code):
        await store.append(plain_append())


async def test_a_folder_that_is_not_there_is_named_by_a_code(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "store.sqlite3"

    with pytest.raises(StoreError) as refused:
        await SqliteStore(path).open()
    with pytest.raises(StoreError) as refused_too:
        check_store(path)

    assert refused.value.code == refused_too.value.code == "store_unavailable"


async def test_a_store_that_somebody_else_writes_is_busy(store: SqliteStore) -> None:
    writer = store._writer
    assert writer is not None
    await writer.perform(lambda ledger: set_pragma(ledger, "busy_timeout = 10"))
    with opened(store.path) as other:
        other.execute("BEGIN IMMEDIATE")

        with refuses("store_busy"):
            await store.append(plain_append())

        other.execute("ROLLBACK")
    await store.append(plain_append())
    assert numbers_of(await read_all(store)) == [1]


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    path.write_bytes(b"not a database" * 1000)

    with pytest.raises(StoreError) as refused:
        await SqliteStore(path).open()

    assert refused.value.code == "store_corrupt"
    assert "backup" in refused.value.detail


async def write_two(path: Path) -> None:
    async with SqliteStore(path) as store:
        for name in ("conv_1", "conv_2"):
            await store.create_conversation(new_conversation(name))
            script = Script(name)
            await store.append(script.start_turn())
            await store.append(script.start_block())
            for index in range(100):
                await store.append(script.write(f"text {index} " * 20))
            await store.append(script.end_turn())


def damage(path: Path, text: bytes, length: int) -> None:
    """Put a run of NUL bytes where ``text`` is, as a power cut does."""
    data = bytearray(path.read_bytes())
    at = data.index(text)
    data[at : at + length] = bytes(length)
    path.write_bytes(data)


@pytest.mark.requirement("store:check:isolated")
@pytest.mark.case("P07")
async def test_a_hole_in_the_log_is_loud_and_stays_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    await write_two(path)
    damage(path, b"text 50 text 50", 100)

    problems = check_store(path)
    async with SqliteStore(path) as store:
        outcomes = {}
        for name in ("conv_1", "conv_2"):
            try:
                outcomes[name] = len(await read_all(store, conversation_id=name))
            except StoreError as error:
                outcomes[name] = error.code  # type: ignore[assignment]
        page = await store.list_conversations(tenant=None, cursor=None, limit=5)

    assert sorted(map(str, outcomes.values())) == ["105", "store_corrupt"]
    assert {problem.code for problem in problems} & {"entry_damaged", "store_corrupt"}
    assert len(page.items) == 2


async def test_a_damaged_page_is_reported_by_reads_and_by_the_check(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    await write_two(path)
    with opened(path) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'messages'"
        ).fetchone()
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    data[(root - 1) * page_size : root * page_size] = b"\xa5" * page_size
    path.write_bytes(data)

    async with SqliteStore(path) as store:
        with refuses("store_corrupt"):
            await store.load_message("conv_1", "turn_1")
        # The rest is there, and the writer lives.
        assert len(await read_all(store)) == 105
        await store.append(plain_append())
        problems = await store.check()

    assert "store_corrupt" in {problem.code for problem in problems}
    assert {problem.where for problem in problems} >= {"file", "conv_1"}


async def test_text_that_is_not_utf_8_and_json_that_is_none_are_damage(store: SqliteStore) -> None:
    await store.append(plain_append())
    change(store.path, "UPDATE conversations SET title = CAST(x'ff' AS TEXT)")
    with refuses("store_corrupt"):
        await store.load_conversation("conv_1")
    change(store.path, "UPDATE conversations SET title = NULL, tags = '{'")
    with refuses("store_corrupt"):
        await store.load_conversation("conv_1")


async def test_values_that_cannot_be_stored_are_refused_alone(store: SqliteStore) -> None:
    for row in (
        new_conversation("\ud800"),
        new_conversation("conv_2", created_at=2**80),
        new_conversation("conv_3", title="\udfff"),
    ):
        with refuses("invalid_value"):
            await store.create_conversation(row)
    with refuses("invalid_value"):
        await store.load_conversation("\ud800")
    with refuses("invalid_value"):
        await store.append(plain_append(turn=make_turn(model="\ud800"), new_turn=True))
    with refuses("invalid_value"):
        await store.append(plain_append(turn=make_turn(epoch=2**80), new_turn=True))

    await store.append(plain_append(turn=make_turn(), new_turn=True))
    assert numbers_of(await read_all(store)) == [1]


async def test_a_turn_that_cannot_be_advanced_does_not_hurt_its_group(store: SqliteStore) -> None:
    await store.append(plain_append(turn=make_turn(), new_turn=True))
    outcomes: list[str] = []

    async def append(producer_seq: int) -> None:
        try:
            await store.append(plain_append(turn=make_turn(producer_seq=producer_seq)))
        except StoreError as error:
            outcomes.append(error.code)
        else:
            outcomes.append("committed")

    async with anyio.create_task_group() as group:
        for producer_seq in (1, 2, 2**80):
            group.start_soon(append, producer_seq)

    assert sorted(outcomes) == ["committed", "committed", "invalid_value"]
    turn = await store.load_turn("conv_1", "turn_1")
    assert turn is not None
    assert (turn.producer_seq, turn.last_seq) == (2, 3)


async def test_a_fault_in_our_own_code_fails_one_request_and_not_the_thread(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    writer = store._writer
    assert writer is not None

    def fail(_ledger: object) -> None:
        raise ZeroDivisionError("a secret")

    with refuses("store_unavailable"):
        await writer.perform(fail)

    await store.append(plain_append())
    assert "ZeroDivisionError" in caplog.text
    assert "a secret" not in caplog.text


def fail_as_the_disk(*_arguments: object, **_options: object) -> None:
    raise sqlite3.OperationalError("disk I/O error")


async def test_joining_that_fails_is_put_off_and_appends_go_on(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("blockwire.stores.sqlite.ledger.join_rows", fail_as_the_disk)
        patch.setattr("blockwire.stores.sqlite.writer._GROUPS_PER_TIDY", 1)
        for index in range(LOOSE_ROWS_MAX + 1):
            await store.append(plain_append(str(index)))
        with anyio.fail_after(15):
            while "OperationalError" not in caplog.text:
                await store.ping()

    await store.append(plain_append("last"))
    await store.join_rows()

    with opened(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM log").fetchone() == (1,)
    assert len(await read_all(store)) == LOOSE_ROWS_MAX + 2


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_store_without_a_checkpointer_leaves_it_to_the_writer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    is_late: bool,
) -> None:
    monkeypatch.setattr(checkpoint, "_COMMITTED_BYTES", 1)
    name = "_checkpoint_once" if is_late else "connect_checkpointer"
    module = "checkpoint" if is_late else "store"
    monkeypatch.setattr(f"blockwire.stores.sqlite.{module}.{name}", fail_as_the_disk)
    path = tmp_path / "store.sqlite3"

    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        with anyio.fail_after(15):
            while "OperationalError" not in caplog.text:
                await store.append(plain_append())

    assert check_store(path) == []


async def test_an_open_that_is_cancelled_lets_go_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    store = SqliteStore(path)

    async with anyio.create_task_group() as group:
        group.start_soon(store.open)
        await asyncio.sleep(0)
        group.cancel_scope.cancel()

    writer = store._writer
    assert writer is None
    for thread in threading.enumerate():
        if thread.name == "blockwire-store-writer":
            await asyncio.to_thread(thread.join, 5)
    async with SqliteStore(path) as second:
        await second.ping()


def test_a_loop_that_is_closed_over_an_open_store_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    store = SqliteStore(path)
    waits: list[asyncio.Future[None]] = []

    async def abandon() -> None:
        await store.open()
        await store.create_conversation(new_conversation())
        writer = store._writer
        assert writer is not None
        # Nobody waits for it when it is done.
        waits.append(writer.perform(Ledger.ping))

    asyncio.run(abandon())
    writer = store._writer
    assert writer is not None
    writer._inbox.put([])
    writer._inbox.put(None)
    writer._thread.join(timeout=5)
    assert not writer._thread.is_alive()
    assert store._readers is not None
    asyncio.run(store._readers.aclose())
    assert check_store(path) == []


async def test_a_connection_that_fails_to_open_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite3"
    with monkeypatch.context() as patch:
        patch.setattr("blockwire.stores.sqlite.store.migrate", fail_as_the_disk)
        with pytest.raises(StoreError):
            await SqliteStore(path).open()

    async with SqliteStore(path) as store:
        await store.ping()
