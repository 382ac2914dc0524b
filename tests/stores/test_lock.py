"""One owner a store, found by others through the lock file."""

import os
from pathlib import Path

import pytest

from blockwire.errors import StoreError
from blockwire.stores import SqliteStore, StoreLock, StoreOwner, read_owner
from tests.stores.support import assert_killed, run_script

URL = "http://127.0.0.1:7890"


def test_an_owner_is_found_with_its_url_until_it_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    assert read_owner(path) is None

    lock = StoreLock.acquire(path)
    assert read_owner(path) == StoreOwner(os.getpid(), None)
    lock.write_url(URL)
    assert read_owner(path) == StoreOwner(os.getpid(), URL)

    lock.release()
    lock.release()
    assert read_owner(path) is None


@pytest.mark.requirement("store:lock:second")
def test_a_second_owner_is_refused_and_told_who_and_where(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    lock = StoreLock.acquire(path)
    lock.write_url(URL)

    with pytest.raises(StoreError) as refused:
        StoreLock.acquire(path)

    assert refused.value.code == "store_locked"
    assert f"process {os.getpid()}" in refused.value.detail
    assert URL in refused.value.detail
    lock.release()
    StoreLock.acquire(path).release()


def test_two_names_of_one_file_are_one_store(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    path.touch()
    (tmp_path / "other").symlink_to(path)
    lock = StoreLock.acquire(path)

    with pytest.raises(StoreError) as refused:
        StoreLock.acquire(tmp_path / "other")

    assert refused.value.code == "store_locked"
    lock.release()


@pytest.mark.requirement("store:lock:killed")
def test_the_lock_of_a_killed_process_is_free_although_its_text_is_there(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    script = """
        import os, signal, sys
        from pathlib import Path
        from blockwire.stores import StoreLock
        lock = StoreLock.acquire(Path(sys.argv[1]))
        lock.write_url("http://127.0.0.1:1")
        os.kill(os.getpid(), signal.SIGKILL)
    """

    assert_killed(run_script(script, path))

    assert (tmp_path / "store.sqlite3.lock").read_bytes()
    assert read_owner(path) is None
    StoreLock.acquire(path).release()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"pid":"x","url":null}', b"\xff"])
def test_text_that_is_not_ours_names_nobody(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "store.sqlite3"
    lock = StoreLock.acquire(path)
    (tmp_path / "store.sqlite3.lock").write_bytes(text)

    with pytest.raises(StoreError) as refused:
        StoreLock.acquire(path)

    assert "another process" in refused.value.detail
    assert read_owner(path) is None
    lock.release()


@pytest.mark.anyio
async def test_a_store_holds_the_lock_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    store, second = SqliteStore(path), SqliteStore(path)
    with pytest.raises(StoreError) as refused:
        store.write_url(URL)
    assert refused.value.code == "store_closed"

    async with store:
        store.write_url(URL)
        assert read_owner(path) == StoreOwner(os.getpid(), URL)
        for other in (store, second):
            with pytest.raises(StoreError) as refused:
                await other.open()
            assert refused.value.code == "store_locked"

    assert read_owner(path) is None
    async with second:
        pass
