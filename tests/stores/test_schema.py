"""Schema versions: forward only, whole or not at all, and no other program's file is touched."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from blockwire.content import View
from blockwire.errors import StoreError
from blockwire.ports import RetentionLimits
from blockwire.stores import SqliteStore, check_store
from blockwire.stores.sqlite import schema
from blockwire.stores.sqlite.queries import MIGRATIONS, SQL, split_statements
from blockwire.testing.store_contract import (
    fold,
    merge_all,
    read_all,
    same,
    states_by_cursor,
    tell_turn,
    trim_all,
)
from blockwire.testing.store_script import Script, new_conversation
from tests.stores.support import (
    assert_killed,
    change,
    first_release,
    opened,
    run_script,
    values_for,
)

pytestmark = pytest.mark.anyio

VIEWS: list[View] = ["owner", "public"]

KILLED_AT = """
    import asyncio, os, signal, sys
    from blockwire.stores import SqliteStore

    class Kill:
        def reach(self, point):
            if point == sys.argv[2]:
                os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(SqliteStore(sys.argv[1], faults=Kill()).open())
"""


def versions(path: Path) -> tuple[int, int, int]:
    with opened(path) as connection:
        return (
            connection.execute("PRAGMA application_id").fetchone()[0],
            connection.execute("PRAGMA user_version").fetchone()[0],
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0],
        )


async def test_a_new_store_has_the_newest_schema_and_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"

    async with SqliteStore(path):
        pass

    application_id, version, _ = versions(path)
    assert (application_id, version) == (schema.APPLICATION_ID, len(MIGRATIONS))


@pytest.mark.parametrize(("point", "is_done"), [("migrate.before", False), ("migrate.after", True)])
@pytest.mark.requirement("store:schema:migration")
async def test_a_migration_is_whole_or_not_there_when_it_is_killed(
    tmp_path: Path, point: str, is_done: bool
) -> None:
    path = tmp_path / "store.sqlite3"

    assert_killed(run_script(KILLED_AT, path, point))

    application_id, version, table_count = versions(path)
    if is_done:
        assert (application_id, version) == (schema.APPLICATION_ID, 1), "one step, and whole"
    else:
        assert (application_id, version, table_count) == (0, 0, 0)
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
    assert check_store(path) == []


async def test_a_migration_that_fails_leaves_the_old_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation())
    before = versions(path)
    with monkeypatch.context() as patch:
        broken = "CREATE TABLE new (a); INSERT INTO nowhere VALUES (1);"
        broken = broken.replace("; ", ";\n")
        patch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, broken))
        patch.setattr(schema, "SCHEMA_VERSION", len(MIGRATIONS) + 1)

        with pytest.raises(StoreError):
            await SqliteStore(path).open()

    assert versions(path) == before
    async with SqliteStore(path) as store:
        assert await store.load_conversation("conv_1") == new_conversation()


@pytest.mark.requirement("store:schema:foreign")
async def test_a_store_of_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path):
        pass
    change(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()

    with pytest.raises(StoreError) as refused:
        await SqliteStore(path).open()
    with pytest.raises(StoreError) as refused_too:
        check_store(path)

    assert refused.value.code == refused_too.value.code == "store_too_new"
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE theirs (a)", "PRAGMA user_version = 3", "PRAGMA application_id = 7"]
)
@pytest.mark.requirement("store:schema:foreign")
async def test_a_database_of_another_program_is_left_alone(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "theirs.sqlite3"
    change(path, statement)
    before = path.read_bytes()

    with pytest.raises(StoreError) as refused:
        await SqliteStore(path).open()

    assert refused.value.code == "store_foreign"
    assert path.read_bytes() == before
    # The lock was let go.
    with pytest.raises(StoreError) as refused:
        await SqliteStore(path).open()
    assert refused.value.code == "store_foreign"


async def test_an_old_sqlite_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))

    with pytest.raises(StoreError) as refused:
        await SqliteStore(tmp_path / "store.sqlite3").open()

    assert refused.value.code == "store_unavailable"
    assert "3.37" in refused.value.detail


def test_every_query_is_a_statement_of_its_own_and_compiles(tmp_path: Path) -> None:
    connection = schema.connect_writer(tmp_path / "store.sqlite3", synchronous="NORMAL")
    schema.migrate(connection)
    for text in SQL.values():
        assert len(list(split_statements(text))) == 1
        assert connection.execute("EXPLAIN " + text, values_for(text)).fetchall()
    connection.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_a_new_store_is_for_its_owner_alone_and_an_old_one_keeps_its_mode(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    for mode in (0o600, 0o640):
        async with SqliteStore(path) as store:
            await store.create_conversation(new_conversation(f"conv_{mode}"))
            modes = {stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(tmp_path)}

        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert modes <= {0o600, mode}
        path.chmod(0o640)


async def fill_first_release(path: Path, folder: Path) -> None:
    """Make a store as the first release wrote it, with finished, running and suspended turns."""
    source = folder / "source.sqlite3"
    async with SqliteStore(source) as store:
        for name in ("conv_1", "conv_2", "conv_3"):
            await store.create_conversation(new_conversation(name, tenant="t1", title=name))
        script = Script()
        for number in range(40):
            await tell_turn(store, script, *["some ", "words"] * 3, turn_id=f"turn_{number}")
        await store.append(script.start_turn("turn_99"))
        await store.append(script.start_block("turn_99"))
        await store.append(script.write("still ", "running", turn_id="turn_99"))
        await tell_turn(store, Script("conv_2"), "a")
        await store.join_rows()
    first_release(path)
    with opened(path) as connection:
        connection.execute("ATTACH ? AS source", (source.as_posix(),))
        tables = connection.execute(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'pings'"
        ).fetchall()
        for (table,) in tables:
            info = connection.execute(f"PRAGMA main.table_info({table})").fetchall()
            columns = ", ".join(column[1] for column in info)
            connection.execute(
                f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}"
            )


@pytest.mark.requirement("store:schema:migration")
async def test_a_filled_store_of_the_first_release_is_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    await fill_first_release(path, tmp_path)
    with opened(path) as connection:
        rows = connection.execute("SELECT last_seq, owner, public FROM log").fetchall()
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    async with SqliteStore(tmp_path / "source.sqlite3") as source:
        states = await states_by_cursor(source, "owner")
        before = [await read_all(source, view) for view in VIEWS]

    async with SqliteStore(path) as store:
        with opened(path) as connection:
            columns = "SELECT last_seq, owner, public FROM log"
            assert connection.execute(columns).fetchall() == rows, "nothing is rewritten"
        assert await store.check() == []
        assert [await read_all(store, view) for view in VIEWS] == before
        assert [turn.id for turn in await store.list_unfinished_turns()] == ["turn_99"]

        # What an older release wrote is merged and trimmed like what comes.
        await merge_all(store)
        assert await store.check() == []
        assert sum("text" in event for event in await read_all(store)) == 40 * 2 + 2
        for after in (0, 7, 100, max(states)):
            events = await read_all(store, after=after)
            assert same(fold(events, states[after].at(after, "conv_1")), states[max(states)])
        await trim_all(store, RetentionLimits(conversation_bytes_max=5_000))
        assert await store.log_start("conv_1") > 0
        assert await store.check() == []
    assert versions(path)[1] == len(MIGRATIONS)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
@pytest.mark.requirement("store:schema:migration")
async def test_a_filled_store_is_brought_up_from_every_version(
    tmp_path: Path, version: int
) -> None:
    path = tmp_path / "store.sqlite3"
    await fill_first_release(path, tmp_path)
    with opened(path) as connection:
        # As a migration that was killed after some of its steps.
        for script in MIGRATIONS[1:version]:
            for statement in split_statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")

    async with SqliteStore(path) as store:
        assert await store.check() == []
        assert len(await read_all(store)) > 400


@pytest.mark.requirement("store:schema:older")
async def test_turns_that_ended_before_anybody_counted_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    await fill_first_release(path, tmp_path)
    huge = 2**53 - 1
    with opened(path) as connection:
        usages = [
            '{"output_tokens":7,"turns":3,"is_new":true,"share":0.5,"of":{"a":1},"below":-1}',
            f'{{"output_tokens":3,"many":{huge},"too_many":{huge + 1},"beyond":{2**70}}}',
            f'{{"many":{huge}}}',
            None,
        ]
        for number, usage in enumerate(usages):
            connection.execute(
                "UPDATE turns SET usage = ? WHERE id = ? AND conversation_no = 1",
                (usage, f"turn_{number}"),
            )
        connection.execute("UPDATE turns SET usage = ? WHERE id = 'turn_99'", ('{"late":1}',))
        connection.execute("UPDATE turns SET usage = NULL WHERE conversation_no <> 1")

    async with SqliteStore(path) as store:
        rows = [await store.load_conversation(f"conv_{number}") for number in (1, 2, 3)]

    assert [{} if row is None else row.totals for row in rows] == [
        {"turns": 40, "output_tokens": 10, "many": huge},
        {"turns": 1},
        {},
    ]


@pytest.mark.requirement("store:schema:older")
async def test_what_an_older_release_named_before_there_were_attachments_is_no_damage(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    await fill_first_release(path, tmp_path)
    change(
        path,
        """UPDATE messages SET message = json_set(message, '$.content[#]', json('{"id":"a",
        "type":"attachment","attachment_id":"att_1","name":"a","media_type":"a/b"}'))
        WHERE id = 'turn_1'""",
    )

    async with SqliteStore(path) as store:
        codes = [problem.code for problem in await store.check()]

    # The message itself was changed behind the store's back, and nothing else is told.
    assert set(codes) == {"message_differs"}
