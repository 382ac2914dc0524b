"""A backup has everything that was acknowledged before it began."""

import asyncio
import errno
import os
import stat
import threading
from functools import partial
from pathlib import Path

import anyio
import pytest

from blockwire.errors import StoreError
from blockwire.ports import BackupProgress
from blockwire.stores import MemoryStore, SqliteStore, backup_store, check_store
from blockwire.stores.sqlite import copying
from blockwire.testing.store_contract import numbers_of, plain_append, read_all, tell_turn
from blockwire.testing.store_script import Script, new_conversation
from tests.stores.support import change, first_release, opened

pytestmark = pytest.mark.anyio


@pytest.mark.case("P06")
async def test_a_backup_of_an_open_store_has_what_is_still_in_the_wal(tmp_path: Path) -> None:
    path, target = tmp_path / "store.sqlite3", tmp_path / "backup.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b")
        expected = await read_all(store)

        backup_store(path, target)

        await store.append(plain_append("after"))
        assert check_store(target) == []
        async with SqliteStore(target) as copy:
            assert await read_all(copy) == expected
            await copy.append(plain_append("goes on"))
            assert numbers_of(await read_all(copy))[-1] == len(expected) + 1
    assert check_store(path) == []


@pytest.mark.requirement("store:backup:whole")
async def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    path, target = tmp_path / "store.sqlite3", tmp_path / "backup.sqlite3"
    async with SqliteStore(path):
        target.write_bytes(b"precious")

        with pytest.raises(StoreError) as refused:
            backup_store(path, target)

    assert refused.value.code == "backup_exists"
    assert target.read_bytes() == b"precious"


async def test_a_backup_of_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"not a database" * 1000)

    for name, code in (("nothing", "store_unavailable"), ("other", "store_corrupt")):
        with pytest.raises(StoreError) as refused:
            backup_store(tmp_path / name, tmp_path / "target")
        assert refused.value.code == code
    assert not (tmp_path / "target").exists()


@pytest.mark.requirement("store:backup:acknowledged")
async def test_a_backup_beside_writers_has_what_was_acknowledged_before_it_began(
    tmp_path: Path,
) -> None:
    target = tmp_path / "backup.sqlite3"
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b")
        is_done = False
        acknowledged = 0
        enough = anyio.Event()

        async def append_on() -> None:
            nonlocal acknowledged
            while not is_done:
                acknowledged = (await store.append(plain_append("x" * 500))).entries[-1].seq
                if acknowledged > 100:
                    enough.set()

        with anyio.fail_after(15):
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(append_on)
                await enough.wait()
                before = acknowledged
                await store.backup(str(target))
                is_done = True
        after = acknowledged

    assert check_store(target) == []
    async with SqliteStore(target) as copy:
        head = numbers_of(await read_all(copy))[-1]
    assert before <= head <= after
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


async def test_a_backup_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "STEPS_PER_LOOK", 200)
    seen: list[BackupProgress] = []
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        for _ in range(50):
            await store.append(plain_append("x" * 20_000))

        await store.backup(str(tmp_path / "copy"), on_progress=seen.append)

    copies = [step for step in seen if step.stage == "copy"]
    assert len(copies) > 3
    assert [step.done_bytes for step in copies] == sorted(step.done_bytes for step in copies)
    assert all(step.done_bytes <= step.total_bytes for step in seen)
    assert seen[-1].stage == "check"


@pytest.mark.requirement("store:backup:whole")
@pytest.mark.parametrize("stage", ["copy", "check"])
async def test_a_backup_that_is_cancelled_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.setattr(copying, "STEPS_PER_LOOK", 100)
    folder = tmp_path / "copies"
    folder.mkdir()
    begun = anyio.Event()
    loop = asyncio.get_running_loop()

    def note(step: BackupProgress) -> None:
        if step.stage == stage:
            loop.call_soon_threadsafe(begun.set)
            # The thread waits for the one who gives up.
            stopped.wait(10)

    stopped = threading.Event()
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        await store.create_conversation(new_conversation())
        for _ in range(50):
            await store.append(plain_append("x" * 20_000))
        async with anyio.create_task_group() as group:
            group.start_soon(partial(store.backup, str(folder / "copy"), on_progress=note))
            await begun.wait()
            loop.call_later(0.01, stopped.set)
            group.cancel_scope.cancel()

        assert list(folder.iterdir()) == []
        await store.backup(str(folder / "copy"))
    assert [path.name for path in folder.iterdir()] == ["copy"]


@pytest.mark.requirement("store:backup:whole")
async def test_a_copy_that_is_not_sound_is_not_kept(tmp_path: Path) -> None:
    path, folder = tmp_path / "store.sqlite3", tmp_path / "copies"
    folder.mkdir()
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
        await tell_turn(store, Script(), "a", "b")
    change(path, "UPDATE messages SET finished_seq = 99 WHERE id = 'turn_1'")

    with pytest.raises(StoreError) as refused:
        backup_store(path, folder / "copy")

    assert refused.value.code == "backup_failed"
    assert "message_misplaced" in refused.value.detail
    assert list(folder.iterdir()) == []


async def test_whatever_appears_in_its_place_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, target = tmp_path / "store.sqlite3", tmp_path / "copy"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())

    def appear(step: BackupProgress) -> None:
        if step.stage == "check":
            target.write_bytes(b"precious")

    for has_links in (True, False):
        if not has_links:
            monkeypatch.setattr(os, "link", _no_links)
        with pytest.raises(StoreError) as refused:
            backup_store(path, target, on_progress=appear)
        assert refused.value.code == "backup_exists"
        assert target.read_bytes() == b"precious"
        target.unlink()
    backup_store(path, target)
    assert check_store(target) == []
    assert [it.name for it in os.scandir(tmp_path) if "part" in it.name] == []


def _no_links(*_: object) -> None:
    raise OSError(errno.EPERM, "no links here")


async def test_a_backup_into_no_folder_is_refused(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        with pytest.raises(StoreError) as refused:
            await store.backup(str(tmp_path / "no" / "copy"))
    assert refused.value.code == "backup_failed"
    assert "make it first" in refused.value.detail


async def test_a_store_in_memory_has_nothing_to_copy(tmp_path: Path) -> None:
    store = MemoryStore()
    await store.open()

    with pytest.raises(StoreError) as refused:
        await store.backup(str(tmp_path / "copy"))

    assert refused.value.code == "backup_unsupported"
    assert not (tmp_path / "copy").exists()


async def test_a_backup_is_packed_and_can_give_space_back(tmp_path: Path) -> None:
    path, target = tmp_path / "old.sqlite3", tmp_path / "new.sqlite3"
    first_release(path)
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation("conv_9"))
        for _ in range(40):
            await store.append(plain_append("x" * 100_000, "conv_9"))
        await store.delete_conversation("conv_9")
        assert await store.vacuum_step() is False

        await store.backup(str(target))

    with opened(path) as old, opened(target) as new:
        assert old.execute("PRAGMA auto_vacuum").fetchone() == (0,)
        assert new.execute("PRAGMA auto_vacuum").fetchone() == (2,)
        assert new.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert target.stat().st_size * 5 < path.stat().st_size


@pytest.mark.requirement("store:schema:older")
async def test_a_store_of_an_older_release_is_copied_as_it_is(tmp_path: Path) -> None:
    path, target = tmp_path / "old.sqlite3", tmp_path / "copy.sqlite3"
    first_release(path)

    backup_store(path, target)

    for file in (path, target):
        with opened(file) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert [problem.code for problem in check_store(file)] == ["schema_outdated"]
    async with SqliteStore(target) as store:
        assert await store.check() == []
