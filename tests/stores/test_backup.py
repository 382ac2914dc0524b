"""A backup has everything that was acknowledged before it began."""

from pathlib import Path

import pytest

from blockwire.errors import StoreError
from blockwire.stores import SqliteStore, backup_store, check_store
from blockwire.testing.store_contract import numbers_of, plain_append, read_all, tell_turn
from blockwire.testing.store_script import Script, new_conversation

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
