"""``migrate``: an older store, a copy of it, and what goes wrong."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from blockwire.stores.sqlite.lock import StoreLock
from blockwire.stores.sqlite.queries import MIGRATIONS, split_statements
from blockwire.stores.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from tests.cli.conftest import Run
from tests.stores.support import change, opened

CONVERSATION = (
    "INSERT INTO conversations (id, created_at, updated_at, tags) VALUES ('c', 1, 1, '[]')"
)


def make_store(path: Path, version: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for migration in MIGRATIONS[:version]:
        for statement in split_statements(migration):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(CONVERSATION)
    connection.close()


def look(path: Path) -> tuple[int, int]:
    """Return schema and number of conversations."""
    connection = sqlite3.connect(path)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (count,) = connection.execute("SELECT count(*) FROM conversations").fetchone()
    finally:
        connection.close()
    return version, count


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.db"
    make_store(path, 1)
    return path


@pytest.mark.requirement("gateway:operations:migrate")
@pytest.mark.parametrize("has_name", [False, True])
def test_an_older_store_is_copied_and_brought_up(
    blockwire: Run, old: Path, *, has_name: bool
) -> None:
    named = old.with_name("named.db")
    extra = ["--backup", str(named)] if has_name else []
    copy = named if has_name else old.with_name("old.db.schema-1")

    ended = blockwire("migrate", "--store", f"sqlite:///{old}", *extra)

    assert (ended.status, ended.err) == (0, "")
    assert f"schema 1 -> {SCHEMA_VERSION}" in ended.out
    assert str(copy) in ended.out
    assert look(old) == (SCHEMA_VERSION, 1)
    assert look(copy) == (1, 1)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert blockwire("check", "--store", f"sqlite:///{old}").out == "ok\n"
    assert [p.name for p in old.parent.glob("*.part")] == []


def test_a_dry_run_changes_nothing(blockwire: Run, old: Path) -> None:
    before = {p.name: p.read_bytes() for p in old.parent.iterdir() if p.is_file()}

    ended = blockwire("migrate", "--dry-run", "--store", f"sqlite:///{old}")

    assert ended.status == 0
    assert f"schema 1 -> {SCHEMA_VERSION}" in ended.out
    assert "nothing was done" in ended.out
    after = {p.name: p.read_bytes() for p in old.parent.iterdir() if p.is_file()}
    assert after.keys() - before.keys() <= {"old.db-wal", "old.db-shm"}
    assert after["old.db"] == before["old.db"]


def test_no_copy_is_made_where_none_is_wanted(blockwire: Run, old: Path) -> None:
    ended = blockwire("migrate", "--no-backup", "--store", f"sqlite:///{old}")

    assert ended.status == 0
    assert look(old) == (SCHEMA_VERSION, 1)
    assert list(old.parent.glob("*.schema-1")) == []


def test_a_store_of_this_release_is_left_alone(blockwire: Run, old: Path) -> None:
    blockwire("migrate", "--no-backup", "--store", f"sqlite:///{old}")

    ended = blockwire("migrate", "--store", f"sqlite:///{old}")

    assert ended.status == 0
    assert "already" in ended.out
    assert list(old.parent.glob("*.schema-*")) == []


def test_a_copy_never_overwrites_a_file(blockwire: Run, old: Path) -> None:
    target = old.with_name("old.db.schema-1")
    target.write_text("mine", encoding="utf-8")

    ended = blockwire("migrate", "--store", f"sqlite:///{old}")

    assert ended.status == 1
    assert "[backup_exists]" in ended.err
    assert "--backup" in ended.err
    assert target.read_text(encoding="utf-8") == "mine"
    assert look(old) == (1, 1)


def test_a_copy_keeps_the_damage_too(blockwire: Run, old: Path) -> None:
    # An entry of no conversation: whoever finds that later goes back to this copy.
    change(old, "INSERT INTO log VALUES (99, 1, 1, 1, 1, x'', NULL)")

    ended = blockwire("migrate", "--store", f"sqlite:///{old}")

    assert (ended.status, ended.err) == (0, "")
    with opened(old.with_name("old.db.schema-1")) as copy:
        assert copy.execute("SELECT conversation_no FROM log").fetchall() == [(99,)]


def test_a_store_in_use_is_left_alone(blockwire: Run, old: Path) -> None:
    lock = StoreLock.acquire(old)
    try:
        ended = blockwire("migrate", "--store", f"sqlite:///{old}")
    finally:
        lock.release()

    assert ended.status == 1
    assert "[store_locked]" in ended.err
    assert str(os.getpid()) in ended.err
    assert look(old) == (1, 1)


def test_without_room_for_a_copy_nothing_is_begun(
    blockwire: Run, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 10

    monkeypatch.setattr("shutil.disk_usage", lambda _path: Usage)

    ended = blockwire("migrate", "--store", f"sqlite:///{old}")

    assert ended.status == 1
    assert "[store_full]" in ended.err
    assert "--backup" in ended.err
    assert look(old) == (1, 1)


def test_a_failed_step_leaves_the_store_as_it_was(
    blockwire: Run, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = (
        MIGRATIONS[0],
        *MIGRATIONS[1:-1],
        MIGRATIONS[-1] + "\nINSERT INTO nowhere VALUES (1);\n",
    )
    monkeypatch.setattr("blockwire.stores.sqlite.schema.MIGRATIONS", broken)

    ended = blockwire("migrate", "--store", f"sqlite:///{old}")

    version, count = look(old)
    assert ended.status == 1
    assert version < SCHEMA_VERSION
    assert count == 1
    assert look(old.with_name("old.db.schema-1")) == (1, 1)


REFUSED = [
    # url, code
    ("memory:", "invalid_store_url"),
    ("sqlite:///no/such.db", "store_not_found"),
]


@pytest.mark.parametrize(("url", "code"), REFUSED)
def test_what_cannot_be_migrated(blockwire: Run, url: str, code: str) -> None:
    ended = blockwire("migrate", "--store", url)

    assert ended.status == 1
    assert f"[{code}]" in ended.err


def test_two_wishes_that_contradict_each_other_are_wrong_usage(blockwire: Run) -> None:
    assert blockwire("migrate", "--backup", "x", "--no-backup").status == 2


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be looked at" * 99, b""]
)
def test_a_file_of_somebody_else(blockwire: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(content)

    ended = blockwire("migrate", "--store", f"sqlite:///{path}")

    if content:
        assert ended.status == 1
        assert path.read_bytes() == content
    else:
        # An empty file is a store that has not begun.
        assert ended.status == 0
