"""What ``doctor`` finds, each with what to do about it."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from blockwire.cli import checkup
from blockwire.cli.checkup import look_at_clock, look_at_limits
from blockwire.jsontext import decode_json
from blockwire.stores import SqliteStore, backup_store
from blockwire.stores.sqlite.lock import StoreLock
from blockwire.testing.store_script import new_conversation
from tests.cli.conftest import Run
from tests.cli.test_migrate import make_store

NOW_MS = 1_790_000_000_000


@pytest.fixture(autouse=True)
def free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCKWIRE_PORT", "0")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"

    async def make() -> None:
        async with SqliteStore(path) as made:
            await made.create_conversation(new_conversation())

    anyio.run(make)
    return path


def found(blockwire: Run, path: Path, *more: str) -> dict[str, tuple[str, str]]:
    ended = blockwire("doctor", "--json", "--store", f"sqlite:///{path}", *more)
    findings: Any = decode_json(ended.out.encode())
    assert ended.status == int(any(f["verdict"] == "problem" for f in findings))
    return {f["what"]: (f["verdict"], f["detail"]) for f in findings}


@pytest.mark.requirement("gateway:operations:doctor")
def test_a_store_in_order(blockwire: Run, store: Path) -> None:
    before = store.read_bytes()

    findings = found(blockwire, store)

    for what in ("store", "disk", "clock", "backups", "configuration", "sqlite"):
        assert findings[what][0] == "ok", findings[what]
    assert "gateway" not in findings
    assert store.read_bytes() == before


def test_who_has_the_store(blockwire: Run, store: Path) -> None:
    lock = StoreLock.acquire(store)
    try:
        findings = found(blockwire, store)
    finally:
        lock.release()

    assert str(os.getpid()) in findings["gateway"][1]


class Usage(NamedTuple):
    free: int


DISKS = [(10, "problem"), (100 << 20, "warning"), (10 << 30, "ok")]


@pytest.mark.parametrize(("free", "verdict"), DISKS)
def test_room_on_the_disk(
    blockwire: Run, store: Path, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(free))

    assert found(blockwire, store)["disk"][0] == verdict


@pytest.mark.requirement("gateway:operations:doctor")
def test_a_damaged_file(blockwire: Run, store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    store.write_bytes(data)

    findings = found(blockwire, store)

    assert findings["store"][0] == "problem"


def test_a_file_that_is_too_large_to_read(
    blockwire: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blockwire.stores.sqlite.health.QUICK_BYTES_MAX", 10)

    verdict, detail = found(blockwire, store)["store"]

    assert verdict == "warning"
    assert "blockwire check" in detail


def test_an_older_schema_others_who_can_read_and_much_that_is_unused(
    blockwire: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    make_store(path, 1)
    path.chmod(0o644)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE filler AS SELECT zeroblob(2000000) AS x")
        connection.execute("DROP TABLE filler")
    monkeypatch.setattr(checkup, "WAL_BYTES_MAX", -1)
    monkeypatch.setattr(checkup, "MIB", 1)

    findings = found(blockwire, path)

    assert findings["store schema"][0] == "warning"
    assert "blockwire migrate" in findings["store schema"][1]
    assert "chmod 600" in findings["store mode"][1]
    assert findings["store wal"][0] == "warning"


BACKUPS = [(0, "ok"), (3 * 86_400, "warning")]


@pytest.mark.parametrize(("age_s", "verdict"), BACKUPS)
def test_the_age_of_the_newest_backup(
    blockwire: Run, store: Path, tmp_path: Path, age_s: int, verdict: str
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "notes.txt").write_text("no copy", encoding="utf-8")
    backup_store(store, folder / "monday.db")
    stamp = (folder / "monday.db").stat().st_mtime - age_s
    os.utime(folder / "monday.db", (stamp, stamp))

    told, detail = found(blockwire, store, "--backups", str(folder))["backups"]

    assert told == verdict
    assert "monday.db" in detail


@pytest.mark.parametrize("folder", [".", "none"])
def test_no_backup_where_some_should_be(
    blockwire: Run, store: Path, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "empty").mkdir()
    named = tmp_path / ("empty" if folder == "." else folder)

    verdict, detail = found(blockwire, store, "--backups", str(named))["backups"]

    assert verdict == "problem"
    assert str(named) in detail


CLOCKS = [
    # now, verdict
    (0, "problem"),
    (NOW_MS, "ok"),
]


@pytest.mark.parametrize(("now_ms", "verdict"), CLOCKS)
def test_a_clock(now_ms: int, verdict: str) -> None:
    assert [f.verdict for f in look_at_clock(None, now_ms)] == [verdict]


def test_a_clock_behind_the_store(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE conversations SET created_at = ?", (NOW_MS + 3_600_000,))

    (finding,) = look_at_clock(store, NOW_MS)

    assert finding.verdict == "warning"
    assert "3600 s" in finding.detail


LIMITS = [
    # soft, hard, verdict, what to do
    (256, 1024, "problem", "ulimit -n"),
    (4_096, 4_096, "warning", "LimitNOFILE="),
    (4_096, 1 << 20, "warning", "ulimit -n"),
    (65_536, 65_536, "ok", "65472 connections"),
    (resource.RLIM_INFINITY, resource.RLIM_INFINITY, "ok", "no limit"),
]


@pytest.mark.parametrize(("soft", "hard", "verdict", "words"), LIMITS)
def test_the_limit_of_open_files(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, verdict: str, words: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (soft, hard))

    (finding,) = look_at_limits()

    assert finding.verdict == verdict
    assert words in finding.detail


PROXIES: list[tuple[str, str | None]] = [
    # configuration, verdict
    ("", None),
    ('host = "0.0.0.0"\n', "warning"),
    ('allowed_hosts = ["gateway.example"]\n', "ok"),
    ('trusted_proxies = ["127.0.0.1"]\n', "ok"),
]


@pytest.mark.parametrize(("config", "verdict"), PROXIES)
def test_what_a_proxy_has_to_be_told(
    blockwire: Run, store: Path, tmp_path: Path, config: str, verdict: str | None
) -> None:
    (tmp_path / "c.toml").write_text(config, encoding="utf-8")

    findings = found(blockwire, store, "--config", "c.toml")

    assert findings.get("proxy", (None,))[0] == verdict
    if verdict == "ok":
        assert "proxy_buffering off" in findings["proxy"][1]
