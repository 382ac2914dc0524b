"""The search index in the file: nothing private, nothing deleted, made again when it has to be."""

import sqlite3
import unicodedata
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blockwire.content import Block
from blockwire.errors import RemoteProtocolError, StoreError
from blockwire.jsontext import encode_json
from blockwire.ports import SearchRequest
from blockwire.stores import MemoryStore, SqliteStore, check_store
from blockwire.stores.sqlite import documents, indexer
from blockwire.stores.sqlite import search as sqlite_search
from blockwire.stores.sqlite.queries import MIGRATIONS, split_statements
from blockwire.stores.sqlite.schema import APPLICATION_ID
from blockwire.testing.store_contract.search import (
    block_ids,
    find,
    make_message,
    prose,
    store_blocks,
    store_message,
)
from blockwire.testing.store_script import new_conversation
from blockwire.text import parse_query
from tests.stores.support import assert_killed, change, opened, run_script

pytestmark = pytest.mark.anyio

CANARY: Final = "zqxcanary"


def vocabulary(path: Path) -> set[str]:
    """Return all that the index can be made to say."""
    with opened(path) as connection:
        connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, search_words, row)")
        return {term for (term,) in connection.execute("SELECT term FROM temp.v")}


def index_bytes(path: Path) -> bytes:
    with opened(path) as connection:
        return b"".join(
            block for (block,) in connection.execute("SELECT block FROM search_words_data")
        )


def files_with(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.iterdir() if text.encode() in path.read_bytes()]


async def wait_built(store: SqliteStore) -> None:
    while (await store.index_state()).waiting_count:
        await store.ping()


# nothing private ----------------------------------------------------------------------------
@pytest.mark.requirement("search:private:not-indexed")
async def test_the_index_can_say_nothing_that_is_private(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store.create_conversation(new_conversation(title=CANARY, tags=(CANARY,)))
        thought: Block = {"id": "r1", "type": "reasoning", "text": CANARY}
        said = prose("b1", "visible") | {"provider_data": {"signature": CANARY}}
        await store_message(store, make_message("msg_1", thought, said))
        for role in ("system", "developer"):
            message = make_message(f"msg_{role}", prose("b1", CANARY), role=role)
            await store_message(store, message)
        assert block_ids(await find(store, "visible")) == ["b1"]

    assert not [word for word in vocabulary(path) if CANARY in word]
    assert CANARY.encode() not in index_bytes(path)
    assert CANARY.encode() in path.read_bytes(), "it is stored, as the owner's"
    assert "visible" in vocabulary(path), "the test looks in the right place"


@pytest.mark.requirement("search:index:no-text")
async def test_the_index_has_no_text_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_blocks(store, "a Sentence that stands somewhere")
    with opened(path) as connection:
        rows = connection.execute("SELECT words, strong, scope FROM search_words ('sentence')")
        assert rows.fetchall() == [(None, None, None)]
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    assert {name for name in tables if name.startswith("search_words_")} == {
        "search_words_config",
        "search_words_data",
        "search_words_idx",
    }
    assert b"Sentence" not in index_bytes(path)


# nothing deleted ----------------------------------------------------------------------------
async def fill(store: SqliteStore, count: int) -> None:
    await store.create_conversation(new_conversation("conv_kept"))
    for number in range(count):
        text = " ".join(f"w{number}x{word}" for word in range(40))
        message = make_message(f"msg_{number}", prose("b1", text))
        await store_message(store, message, "conv_kept")


@pytest.mark.requirement("search:delete:purged")
@pytest.mark.parametrize(("pages", "steps"), [(250, 4), (1, 0), (1, 1)])
async def test_deleted_words_leave_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int, steps: int
) -> None:
    path = tmp_path / "store.sqlite3"
    monkeypatch.setattr(indexer, "_PURGE_PAGES", pages)
    monkeypatch.setattr(indexer, "_PURGE_STEPS_AT_ONCE", steps)
    async with SqliteStore(path) as store:
        await fill(store, 30)
        texts = [f"{CANARY}{n} {CANARY}_{n}x {CANARY}Part{n}" for n in range(30)]
        await store_blocks(store, *texts)
        await fill_more(store)
        assert CANARY.encode() in index_bytes(path)

        await store.delete_conversation("conv_1")

        assert block_ids(await find(store, f"{CANARY}*")) == []
        await wait_purged(store, path)
        await store.ping()
        assert files_with(tmp_path, CANARY) == []
        assert block_ids(await find(store, "w7x7")) == ["b1"]
        assert await store.check() == []


async def fill_more(store: SqliteStore) -> None:
    await store.create_conversation(new_conversation("conv_more"))
    for number in range(20):
        message = make_message(f"msg_{number}", prose("b1", f"more words {number}"))
        await store_message(store, message, "conv_more")


async def wait_purged(store: SqliteStore, path: Path) -> None:
    def is_purged() -> bool:
        with opened(path) as connection:
            (purge,) = connection.execute("SELECT purge FROM search_state").fetchone()
            return bool(purge == 0)

    while not is_purged():
        await store.ping()


async def test_a_purge_goes_on_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite3"
    monkeypatch.setattr(indexer, "_PURGE_STEPS_AT_ONCE", 0)
    monkeypatch.setattr(indexer.Indexer, "is_due", False)
    async with SqliteStore(path) as store:
        await store_blocks(store, f"{CANARY} one")
        await fill_more(store)
        await store.delete_conversation("conv_1")
        assert CANARY.encode() in index_bytes(path)
    monkeypatch.undo()
    async with SqliteStore(path) as store:
        await wait_purged(store, path)
    assert CANARY.encode() not in path.read_bytes()


# made again ---------------------------------------------------------------------------------
BUILD: Final = """
    import asyncio, os, signal, sys
    from blockwire.stores import SqliteStore
    from blockwire.stores.sqlite import indexer

    class Kill:
        def __init__(self):
            self.left = 4

        def reach(self, point):
            if point == "commit.before":
                self.left -= 1
                if not self.left:
                    os.kill(os.getpid(), signal.SIGKILL)

    async def main():
        indexer._BUILD_COUNT_MAX = 5
        async with SqliteStore(sys.argv[1], faults=Kill()) as store:
            await store.rebuild_index()
            await asyncio.sleep(10)

    asyncio.run(main())
"""


@pytest.mark.requirement("search:index:rebuilt")
async def test_building_goes_on_where_a_kill_ended_it(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_blocks(store, *[f"word {n}" for n in range(40)])
        before = await find(store, "word", limit=50)

    assert_killed(run_script(BUILD, path))

    with opened(path) as connection:
        (waiting_no,) = connection.execute("SELECT waiting_no FROM search_state").fetchone()
    assert 0 < waiting_no < 40, "some are in it, some are not"
    async with SqliteStore(path) as store:
        await wait_built(store)
        assert await find(store, "word", limit=50) == before
        assert await store.check() == []


@pytest.mark.requirement("search:index:building")
async def test_what_is_stored_while_the_index_is_built_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_blocks(store, *[f"word {n}" for n in range(10)])
        await store_blocks(store, "word last", conversation_id="conv_2")
        monkeypatch.setattr(indexer.Indexer, "is_due", False)
        await store.rebuild_index()
        assert (await store.index_state()).waiting_count == 11
        await store.delete_conversation("conv_2")
        # Has the number of the one that was deleted, which waits.
        await store_message(store, make_message("again", prose("again", "word again")))
        await store_message(store, make_message("new", prose("new", "word new")))

        page = await find(store, "word")
        assert (block_ids(page), page.is_building) == (["new"], True)
        monkeypatch.undo()
        await wait_built(store)

        page = await find(store, "word", limit=3)
        assert (block_ids(page), page.is_building) == (["new", "again", "b10"], False)
        assert await store.check() == []


@pytest.mark.requirement("search:index:building")
async def test_a_store_of_the_first_schema_is_indexed_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    with opened(path) as connection:
        for statement in split_statements(MIGRATIONS[0]):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute(
            "INSERT INTO conversations (no, id, created_at, updated_at, tags) VALUES (5, 'c', 1, 1, '[]')"
        )
        for number in range(1, 101):
            message = make_message(f"m{number}", prose("b1", f"word {number}"))
            data = encode_json(message).decode()
            connection.execute(
                "INSERT INTO messages (conversation_no, id, created_seq, finished_seq, message_bytes, "
                "message) VALUES (5, ?, ?, ?, ?, ?)",
                (f"m{number}", number, number, len(data), data),
            )
    async with SqliteStore(path) as store:
        await wait_built(store)
        page = await find(store, "word", limit=200)
    assert [hit.envelope["id"] for hit in page.hits] == [f"m{n}" for n in range(100, 0, -1)]
    assert not page.is_building


@pytest.mark.requirement("search:index:words-version")
async def test_an_index_of_other_words_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_blocks(store, "word")
    change(path, "UPDATE search_state SET words_version = '0/1'")
    change(path, "INSERT INTO search_words (search_words) VALUES ('delete-all')")
    assert check_store(path) == []
    async with SqliteStore(path) as store:
        await wait_built(store)
        assert block_ids(await find(store, "word")) == ["b1"]
        assert await store.check() == []


async def test_a_damaged_index_is_made_again_and_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await fill(store, 12)
    change(path, "UPDATE search_words_data SET block = zeroblob(length(block)) WHERE id > 10")
    async with SqliteStore(path) as store:
        await store_blocks(store, *[f"word {n}" for n in range(40)])
        await wait_built(store)
        assert "the search index is damaged" in caplog.text
        assert len(block_ids(await find(store, "word", limit=50))) == 40
        assert await store.check() == []


# check --------------------------------------------------------------------------------------
@pytest.mark.requirement("search:index:check")
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO search_words (search_words) VALUES ('delete-all')",
        "INSERT INTO search_words (rowid, words, strong, scope) VALUES (7 << 12, 'x', '', 'ruser')",
        "DELETE FROM search_messages WHERE message_no = 2",
        "UPDATE search_messages SET created_at = 1 WHERE message_no = 3",
        """INSERT INTO search_words (search_words, rowid, words, strong, scope)
        VALUES ('delete', 2 << 12, 'word 2', 'word 2', 'c1 rassistant bprose')""",
    ],
)
async def test_a_check_finds_an_index_that_differs(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_blocks(store, "word 1", "word 2", "word 3")
    assert check_store(path) == []
    change(path, statement)
    problems = check_store(path)
    assert {problem.code for problem in problems} == {"index_differs"}
    assert all("--rebuild" in problem.detail for problem in problems)


# cost ---------------------------------------------------------------------------------------
@pytest.mark.requirement("search:cost:window")
async def test_a_page_reads_a_window_however_much_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[int] = []
    real = sqlite_search._Index.load

    def load(index: Any, document: int) -> Any:
        loaded.append(document)
        return real(index, document)

    monkeypatch.setattr(sqlite_search._Index, "load", load)
    async with SqliteStore(tmp_path / "store.sqlite3") as store:
        blocks = [prose(f"b{n}", f"word {n}") for n in range(1000)]
        await store.create_conversation(new_conversation())
        for start in range(0, 1000, 100):
            await store_message(store, make_message(f"m{start}", *blocks[start : start + 100]))
        counts = []
        for query in ("word", "word -3", '"word 999"', "word 999"):
            loaded.clear()
            await find(store, query)
            counts.append(len(loaded))
    assert counts == [200, 200, 1, 1]


# against a plain look at everything ---------------------------------------------------------
ALPHABET: Final = st.sampled_from(
    "aAbB1_- \n.\u00e9\u0301\u00df\u6771\u4eac\u90fd\u304b\u3099\uff76\uff9e\uc5b4\u0e01\u0e31"
    "\U0001f680\U0001f1e9\u200d\u00ad\u0130\u00bd\ufdfa\u0000"
)
TEXTS: Final = st.text(ALPHABET, max_size=12)
QUERIES: Final = st.lists(
    st.builds(
        lambda before, text, behind: f"{before}{text}{behind}",
        st.sampled_from(["", "", "-", '"']),
        st.text(ALPHABET, min_size=1, max_size=4),
        st.sampled_from(["", "", "*", '"', '"*']),
    ),
    min_size=1,
    max_size=3,
).map(" ".join)


@pytest.mark.requirement("search:query:meaning")
@settings(max_examples=60, deadline=None, suppress_health_check=[*HealthCheck])
@given(texts=st.lists(TEXTS, min_size=1, max_size=8), queries=st.lists(QUERIES, max_size=12))
async def test_the_index_finds_what_a_look_at_everything_finds(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], queries: list[str]
) -> None:
    path = tmp_path_factory.mktemp("search") / "store.sqlite3"
    plain = MemoryStore()
    await plain.open()
    async with SqliteStore(path, synchronous="NORMAL") as indexed:
        for store in (indexed, plain):
            await store_blocks(store, *texts)
        for text in queries:
            try:
                request = SearchRequest(query=parse_query(text))
            except RemoteProtocolError:
                continue
            assert await indexed.search(request) == await plain.search(request), text
        await indexed.delete_conversation("conv_1")
        assert vocabulary(path) == set(), "whatever was indexed was taken out again"


def test_the_version_of_words_names_the_tables_that_make_them() -> None:
    assert documents.WORDS_VERSION.endswith(f"/{unicodedata.unidata_version}")


async def test_a_search_of_a_damaged_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    async with SqliteStore(path) as store:
        await store_blocks(store, "word")
        change(path, "DELETE FROM search_words_data WHERE id > 10")
        with pytest.raises(StoreError) as caught:
            await find(store, "word")
    assert caught.value.code == "store_corrupt"
    assert isinstance(caught.value.__cause__, sqlite3.Error)
